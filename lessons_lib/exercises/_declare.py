"""How a lesson's file declares its exercises: to fill in a function, to predict a value or a set of
texts, to make an experiment, to find a fault.

An exercise reads as data: name, question, solution, cases, fresh inputs, wrong answers, hints.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from ..core import generator, shown
from ._compare import written
from .base import Case, Exercise, FunctionJudge, judge_function, judge_value

__all__ = ["CaseJudge", "ExperimentJudge", "FaultJudge", "by_name", "debug_task",
           "experiment_task", "function_task", "judge_which", "labelled", "value_task", "which_of"]


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
                    wrong if isinstance(wrong, Mapping) else labelled(*wrong), hints, question,
                    kind="predict")


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

    def by_chance(self, cases: Iterable[tuple]) -> int:
        """No constant is right where an answer is right in more than one way."""
        return 0

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
    if not wrong:
        return None
    verb = "is" if len(wrong) == 1 else "are"
    # no name: as many tries are not enough
    return f"{len(wrong)} of {count} {verb} wrong. {look}: {reasons[wrong[0]]}"


def which_of(name: str, question: str, reasons: Mapping[str, str], right: Collection[str], *,
             wrong: tuple[Collection[str], ...], hints: tuple[str, ...],
             look: str = "Think about this") -> Exercise:
    """An exercise that asks which of the texts belong in the set; as `judge_which`."""
    return Exercise(name, lambda answer: judge_which(answer, reasons, right, look=look), set(right),
                    labelled(*wrong), hints, question, kind="predict")


# ------------------------------------------------------------------------------ experiments


@dataclass(frozen=True)
class ExperimentJudge:
    """Compares what a learner expected with what the learner measured.

    ``outcomes`` maps each thing that could happen to the numbers (low, high) that mean it;
    ``happens`` is the one that does.
    """

    outcomes: Mapping[str, tuple[float, float]]
    happens: str

    def __call__(self, mine: Any) -> str | None:
        if not isinstance(mine, (tuple, list)) or len(mine) != 2:
            return ("expected a pair: (what you expect, the number you measured); yours is "
                    f"{type(mine).__name__}: {written(mine)}")
        expected, measured = mine
        if expected is None:
            raise NotImplementedError            # nothing said yet: not attempted
        if expected not in self.outcomes:
            return f"{written(expected)} is none of: {', '.join(map(written, self.outcomes))}"
        if measured is None:
            return f"you expect {written(expected)}. Now run it, and put in the number you measure"
        if np.ndim(measured):
            return ("expected one number that you measured, yours has shape "
                    f"{np.shape(measured)}: {written(measured)}; of an interval put in the width, "
                    "the upper end minus the lower end")
        number = float(measured)
        seen = next((what for what, (low, high) in self.outcomes.items() if low <= number <= high),
                    None)
        if seen != self.happens:
            said = f", which means {written(seen)}" if seen else ""
            asked = "" if seen else "Put in what is asked for, such as a score or a difference. "
            return (f"you measured {number:g}{said}; this setting gives another number. {asked}"
                    "Change nothing else, and run it again")
        if expected != seen:
            return (f"you expected {written(expected)}; you measured {number:g}, which means "
                    f"{written(seen)}. Explain the difference, then put in what happens")
        return None


def experiment_task(name: str, question: str, outcomes: Mapping[str, tuple[float, float]],
                    measured: float, *, why: str, hints: tuple[str, ...]) -> Exercise:
    """An exercise that changes a setting: say what will happen, run it, explain.

    The answer is a pair: one of ``outcomes``, said before the run, and the number of the run.
    ``outcomes`` maps what could happen to the numbers (low, high) that mean it, ``measured`` is
    ours, and ``why`` is the explanation, shown with a right answer.
    """
    happens = next((what for what, (low, high) in outcomes.items() if low <= measured <= high), "")
    if not happens:
        raise ValueError(f"measured={measured:g} lies in none of the outcomes "
                         f"{shown(dict(outcomes))}; expected an outcome for our own number")
    others = {f"answer {chr(ord('A') + k)}": (what, measured)
              for k, what in enumerate(what for what in outcomes if what != happens)}
    return Exercise(name, ExperimentJudge(dict(outcomes), happens), (happens, measured),
                    others | {"expected, and never run": (happens, None)}, hints, question,
                    kind="experiment", why=why)


# ------------------------------------------------------------------------------ faults


@dataclass(frozen=True)
class FaultJudge:
    """Compares a mended function with the right one; what the fault looks like is said while it is
    there.
    """

    right: FunctionJudge
    broken: Callable
    symptom: str

    def on(self, cases: Iterable[Case]) -> FaultJudge:
        """The same judge on other cases."""
        return FaultJudge(self.right.on(cases), self.broken, self.symptom)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The inputs that an answer is tried on."""
        return self.right.cases

    def by_chance(self, cases: Sequence[Case]) -> int:
        """How many of other cases a constant answers, or the code with its fault."""
        unchanged = sum(self.right.on([case])(self.broken) is None for case in cases)
        return max(unchanged, self.right.by_chance(cases))

    def __call__(self, mine: Any) -> str | None:
        if (text := self.right(mine)) is None:
            return None
        unchanged = judge_function(self.broken, self.right.cases, rtol=self.right.rtol,
                                   atol=self.right.atol)(mine) is None
        return f"the fault is still there. {self.symptom}" if unchanged else text


def debug_task(name: str, question: str, broken: Callable, fixed: Callable, cases: Iterable[Case],
               *, symptom: str, wrong: Mapping[str, Any], hints: tuple[str, ...],
               fresh: Callable[[Generator], Iterable[Case]], rtol: float = 1e-6) -> Exercise:
    """An exercise with a planted fault that a loss curve or a gradient gives away.

    The lesson shows ``broken`` and how it trains, the learner mends it. ``symptom`` says where to
    look, as a question; the broken function is one of the wrong answers.
    """
    judge = FaultJudge(judge_function(fixed, cases, rtol=rtol), broken, symptom)
    return Exercise(name, judge, fixed, {"the code as it was": broken} | dict(wrong), hints,
                    question, lambda seed: fresh(generator(seed)), kind="debug")
