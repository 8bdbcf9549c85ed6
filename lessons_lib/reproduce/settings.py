"""Settings that differ from those of a scale, as ``lessons reproduce --set encoder=my-bert`` says.

A value is read as the setting's kind: a number, a word, a list with commas between, "none"; a group
is entered by a dot, as in ``training.steps=5``. Settings say how much is measured and with which
model, never what is claimed.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..core import check_choice, shown
from .entry import SCALES, Entry

__all__ = ["given_settings", "settings_of"]


def given_settings(words: Iterable[str], entries: Iterable[Entry]) -> dict[str, str]:
    """The settings in words like ``key=value``, of the entries that are to be run. Raises
    ValueError for a word without "=", a key given twice, or one that no entry has."""
    known = sorted({key for entry in entries for s in SCALES for key in _flat(entry.scales[s])})
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"--set {shown(word)} is no key=value; keys here: {', '.join(known)}")
        key = check_choice("--set key", key.strip(), known)
        if key in given:
            raise ValueError(f"--set {key} is given twice: {shown(given[key])} and {shown(value)}")
        given[key] = value.strip()
    return given


def settings_of(entry: Entry, scale: str, given: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a scale with the given ones, as far as the entry has them. Raises ValueError
    for another scale, or a value of another kind."""
    check_choice("scale", scale, SCALES)
    own = entry.scales[scale]
    settings = {k: dict(v) if isinstance(v, Mapping) else v for k, v in own.items()}
    every = [_flat(entry.scales[other]) for other in (scale, *SCALES)]
    for key, word in given.items():
        kinds = [flat[key] for flat in every if key in flat]
        if not kinds:
            continue
        like = next((kind for kind in kinds if kind is not None), None)
        value = _as_kind(f"{entry.id}: {key}", word, like)
        group, dot, name = key.partition(".")
        if dot:
            settings.setdefault(group, {})[name] = value
        else:
            settings[key] = value
    return settings


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with those of groups under "group.key"."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        group = isinstance(value, Mapping)
        flat |= {f"{key}.{own}": kind for own, kind in value.items()} if group else {key: value}
    return flat


def _as_kind(name: str, word: str, like: Any) -> Any:
    """A word as a value of the kind of another one; None stands for an unknown kind of number."""
    if isinstance(like, (list, tuple)):
        parts = [part.strip() for part in word.split(",") if part.strip()]
        wanted = "a list"
        if parts:
            return [_as_kind(name, part, like[0] if like else "") for part in parts]
    elif isinstance(like, str):
        wanted = "a word"
        if word:
            return word
    elif word.lower() == "none":
        return None
    elif isinstance(like, bool):
        wanted = "true or false"
        if word.lower() in ("true", "false"):
            return word.lower() == "true"
    else:
        wanted = "a finite number" if isinstance(like, float) else "a whole number"
        with contextlib.suppress(ValueError, OverflowError):
            value = float(word) if isinstance(like, float) else int(word)
            if math.isfinite(value):
                return value
    raise ValueError(f"{name}={shown(word)}; expected {wanted}")
