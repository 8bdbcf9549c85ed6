"""Settings of a run that differ from those of its scale, as ``lessons reproduce --set encoder=my-bert`` gives them.

A value is read as the setting's kind: a number, a word, a list with commas between, "none". Settings say how much is measured and with which model,
never what is claimed.
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
    known = sorted({key for entry in entries for scale in SCALES for key in entry.scales[scale]})
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
    found = dict(entry.scales[scale])
    for key, word in given.items():
        kinds = [entry.scales[other][key] for other in (scale, *SCALES) if key in entry.scales[other]]
        if kinds:
            found[key] = _as_kind(f"{entry.id}: {key}", word, next((kind for kind in kinds if kind is not None), None))
    return found


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
