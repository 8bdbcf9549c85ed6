"""Settings of a run that differ from those of its scale, as ``lessons reproduce --set encoder=my-bert`` gives them.

A value is read as the setting's kind: a number, a word, a list with commas between, "none"; a group of settings is entered by a dot, as in
``training.steps=5``. Settings say how much is measured and with which model, never what is claimed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..core import check_choice, shown
from .entry import SCALES, Entry

__all__ = ["given_settings", "plain", "settings_of"]


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a file gives them back: lists for tuples, so that settings and records can be compared."""
    return json.loads(json.dumps(dict(settings)))


def given_settings(words: Iterable[str], entries: Iterable[Entry]) -> dict[str, str]:
    """The settings in words like ``key=value``.

    Parameters: words; entries that are to be run. Raises ValueError for a word without "=", a key that is given twice, or one that none of the
    entries has (nearest).
    """
    known = sorted({key for entry in entries for scale in SCALES for key in _flat(entry.scales[scale])})
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"--set {shown(word)} is no key=value; keys here: {', '.join(known)}")
        key = check_choice("--set key", key.strip(), known)
        if key in found:
            raise ValueError(f"--set {key} is given twice: {shown(found[key])} and {shown(value)}")
        found[key] = value.strip()
    return found


def settings_of(entry: Entry, scale: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a scale with those that were given in words, as far as the entry has them. Raises ValueError for a value of another kind."""
    check_choice("scale", scale, SCALES)
    flat = {other: _flat(entry.scales[other]) for other in (scale, *SCALES)}
    found = {key: dict(value) if isinstance(value, Mapping) else value for key, value in entry.scales[scale].items()}
    for key, word in given.items():
        kinds = [settings[key] for settings in flat.values() if key in settings]
        if kinds:
            value, (group, dot, own) = _as_kind(f"{entry.id}: {key}", word, next((k for k in kinds if k is not None), None)), key.partition(".")
            (found.setdefault(group, {}) if dot else found)[own if dot else key] = value
    return found


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with those of groups under "group.key"."""
    groups = {key: {f"{key}.{own}": value for own, value in group.items()} if isinstance(group, Mapping) else {key: group}
              for key, group in settings.items()}
    return {key: value for group in groups.values() for key, value in group.items()}


def _as_kind(name: str, word: str, like: Any) -> Any:
    """A word as a value of the kind of another one; None stands for an unknown kind of number."""
    if isinstance(like, (list, tuple)):
        return [_as_kind(name, part.strip(), like[0] if like else "") for part in word.split(",") if part.strip()] or _refused(name, word, "a list")
    if isinstance(like, str):
        return word if word else _refused(name, word, "a word")
    if word.lower() == "none":
        return None
    if isinstance(like, bool):
        return word.lower() == "true" if word.lower() in ("true", "false") else _refused(name, word, "true or false")
    try:
        value = float(word) if isinstance(like, float) else int(word)
    except ValueError:
        _refused(name, word, "a number" if isinstance(like, float) else "a whole number")
    return value if value == value and abs(value) != float("inf") else _refused(name, word, "a finite number")


def _refused(name: str, word: str, wanted: str) -> Any:
    raise ValueError(f"{name}={shown(word)}; expected {wanted}")
