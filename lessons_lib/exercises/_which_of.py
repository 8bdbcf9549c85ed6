"""A question of the kind "which of these six?": a set of texts is asked for, and what is wrong is hinted at without naming it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

__all__ = ["judge_which"]


def judge_which(answer: Any, reasons: Mapping[str, str], right: Collection[str]) -> str | None:
    """What is wrong with a set of texts, None where nothing is: ``reasons`` has a hint for each of six texts, ``right`` those that belong in it."""
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return f'expected a set of texts: {{"...", "..."}}, yours is {type(answer).__name__}'
    mine = {str(name) for name in answer}
    if unknown := sorted(mine - set(reasons)):
        return f"{unknown[0]!r} is none of the six: {', '.join(reasons)}"
    wrong = [name for name in reasons if (name in mine) != (name in right)]
    return f"{len(wrong)} of six are wrong. Think about this: {reasons[wrong[0]]}" if wrong else None       # no name: six tries are not enough
