"""How a lesson's file declares its exercises: a function with cases, a value, a set of texts.

An exercise reads as data: name, question, solution, cases, fresh inputs, wrong answers, hints.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from ..core import generator, shown
from ._compare import written
from .base import Case, Exercise, judge_function, judge_value

__all__ = ["CaseJudge", "by_name", "function_task", "judge_which", "labelled", "value_task",
           "which_of"]


def labelled(*wrong: Any) -> dict[str, Any]:
    """Wrong answers as ``answer A``, ``answer B``, ...: labels are printed, and must not tell."""
    return {f"answer {chr(ord('A') + i)}": answer for i, answer in enumerate(wrong)}


def function_task(name: str, question: str, solution: Callable, cases: Iterable[Case], *,
                  wrong: Mapping[str, Any], hints: tuple[str, ...],
                  fresh: Callable[[Generator], Iterable[Case]], rtol: float = 1e-6) -> Exercise:
    """An exercise that asks for a function, judged by its solution on ``cases``.

    ``fresh`` draws new cases from a generator.
    """
    return Exercise(name, judge_function(solution, cases, rtol=rtol), solution, wrong, hints,
                    question, lambda seed: fresh(generator(seed)))


def value_task(name: str, question: str, value: Any, *, wrong: Mapping[str, Any] | tuple,
               hints: tuple[str, ...], remark: str, rtol: float = 1e-6) -> Exercise:
    """An exercise that asks for a value; wrong answers by label, or in order."""
    return Exercise(name, judge_value(value, rtol=rtol, remark=remark), value,
                    wrong if isinstance(wrong, Mapping) else labelled(*wrong), hints, question)


def by_name(*exercises: Exercise) -> dict[str, Exercise]:
    """The exercises of a lesson by name, in order."""
    return {exercise.name: exercise for exercise in exercises}


@dataclass(frozen=True)
class CaseJudge:
    """Runs ``check(answer, *case)`` on every case: for answers right in more than one way."""

    check: Callable[..., str | None]
    cases: tuple[tuple, ...]

    def on(self, cases: Iterable[tuple]) -> CaseJudge:
        """The same judge on other cases."""
        return CaseJudge(self.check, tuple(cases))

    def __call__(self, mine: Any) -> str | None:
        if not callable(mine):
            return f"expected a function, yours is {type(mine).__name__}"
        return next((text for case in self.cases if (text := self.check(mine, *case))), None)


_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def judge_which(answer: Any, reasons: Mapping[str, str], right: Collection[str], *,
                look: str = "Think about this") -> str | None:
    """What is wrong with a set of texts, None where nothing is.

    ``reasons`` says for each of at most ten texts why it belongs in the set or does not, ``right``
    which do; ``look`` stands before the first reason.
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
