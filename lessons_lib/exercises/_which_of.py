"""A question of the kind "which of these?": a set of texts is asked for, and what is wrong is
hinted at without naming it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..core import shown
from ._compare import written
from .base import Exercise, labelled

__all__ = ["judge_which", "which_of"]

_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def judge_which(answer: Any, reasons: Mapping[str, str], right: Collection[str], *,
                look: str = "Think about this") -> str | None:
    """What is wrong with a set of texts, None where nothing is.

    Parameters: answer, the learner's; reasons, for each of at most ten texts, in the order of the
    question, why it belongs in the set or does not; right, those that belong; look, the words
    before the first reason.
    """
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return f'expected a set of texts: {{"...", "..."}}, yours is {type(answer).__name__}'
    if (other := next((name for name in answer if not isinstance(name, str)), None)) is not None:
        return (f'expected a set of texts: {{"...", "..."}}, yours holds {type(other).__name__}: '
                f'{written(other)}')
    mine, count = set(answer), _NUMBERS[len(reasons)]
    if unknown := sorted(mine - set(reasons)):
        return f"{shown(unknown[0])} is none of the {count}: {', '.join(reasons)}"
    wrong = [name for name in reasons if (name in mine) != (name in right)]
    # no name: as many tries are not enough
    return f"{len(wrong)} of {count} are wrong. {look}: {reasons[wrong[0]]}" if wrong else None


def which_of(name: str, question: str, reasons: Mapping[str, str], right: Collection[str], *,
             wrong: tuple[Collection[str], ...], hints: tuple[str, ...],
             look: str = "Think about this") -> Exercise:
    """An exercise that asks which of the texts belong in the set; as `judge_which`."""
    return Exercise(name, lambda answer: judge_which(answer, reasons, right, look=look), set(right),
                    labelled(*wrong), hints, question)
