"""The exercise, its judge, and the proof that the judge is worth something.

An `Exercise` holds a judge, a tested solution, planted wrong answers and hints. `judge_function`
builds the usual judge: run the learner's function and ours on small cases, report the smallest that
differs. `audit` shows that a lesson's judges accept the solution and refuse every planted answer.
Each lesson's tasks live in ``lessons_lib/exercises/<lesson id>.py``.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from ..core import check_choice
from ._compare import difference, size_of, written

__all__ = ["AuditLine", "Exercise", "audit", "for_lesson", "judge_function", "judge_value",
           "solution_text", "stems", "unseen_judge", "verdict"]

Judge = Callable[[Any], str | None]
Case = tuple | dict[str, Any]                   # the arguments of one call: positional, or keywords
NOT_ATTEMPTED = "not attempted yet"
KINDS = ("fill in", "predict", "experiment", "debug")
MAX_ERROR_CHARS = 160


@dataclass(frozen=True)
class Exercise:
    """A task with a check.

    Parameters
    ----------
    name : str
        Lower-case words joined by ``_``.
    judge : callable
        Answers None for a right answer, one sentence for a wrong one.
    solution : object
        An answer that the judge accepts.
    wrong : mapping of str to object
        At least two tempting wrong answers by label.
    hints : tuple of str
        From a nudge to a push, at least one.
    question : str, default ""
        One line for lists of exercises.
    fresh : callable, optional
        Makes cases from a seed, so that a class is graded on inputs that nobody saw.
    kind : {"fill in", "predict", "experiment", "debug"}, default "fill in"
    why : str, default ""
        What `lesson.check` adds to a right answer: the explanation that the learner was asked for.

    Raises
    ------
    ValueError
        Without a name, a hint or two wrong answers; for another kind.
    TypeError
        For ``fresh`` beside a judge that takes no cases.
    """

    name: str
    judge: Judge
    solution: Any
    wrong: Mapping[str, Any]
    hints: tuple[str, ...]
    question: str = ""
    fresh: Callable[[int], Iterable[Case]] | None = None
    kind: str = "fill in"
    why: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise ValueError(f"name={self.name!r} is no exercise name; expected lower-case words "
                             "joined by _")
        if isinstance(self.hints, str) or not self.hints:
            raise ValueError(f"exercise {self.name!r}: hints={self.hints!r}; expected a tuple of "
                             ">= 1 sentences: (hint,)")
        if len(self.wrong) < 2:
            raise ValueError(f"exercise {self.name!r} has {len(self.wrong)} wrong answers; "
                             "expected >= 2 that its judge must refuse")
        check_choice("kind", self.kind, KINDS)
        if self.fresh is not None and not hasattr(self.judge, "on"):
            raise TypeError(f"exercise {self.name!r} has fresh cases but a judge without "
                            ".on(cases); build it with judge_function")


# ------------------------------------------------------------------------------ judges


class _AnswerFailed(Exception):
    """The learner's function raised; carries the call that made it."""

    def __init__(self, call: str):
        self.call = call


def _arguments(case: Any) -> tuple[tuple, dict[str, Any]]:
    """A tuple is positional arguments, a dict keywords; copies, so that no answer changes a case.
    """
    case = copy.deepcopy(case)
    return ((), case) if isinstance(case, dict) else (case, {})


def _call_text(name: str, case: Any) -> str:
    args, keywords = _arguments(case)
    parts = [written(value, 100) for value in args]
    parts += [f"{key}={written(value, 100)}" for key, value in keywords.items()]
    return f"{name}({', '.join(parts)})"


@dataclass(frozen=True)
class FunctionJudge:
    """Runs the learner's function and ``spec`` on every case; made by `judge_function`."""

    spec: Callable
    cases: tuple[Case, ...]
    rtol: float
    atol: float

    def on(self, cases: Iterable[Case]) -> FunctionJudge:
        """The same judge on other cases."""
        return judge_function(self.spec, cases, rtol=self.rtol, atol=self.atol)

    def by_chance(self, cases: Sequence[Case]) -> int:
        """How many of other cases one constant answers: one that is right for a case of this judge,
        or for two of those.
        """
        def answers(asked: Iterable[Case]) -> list[Any]:
            return [self.spec(*args, **keywords) for args, keywords in map(_arguments, asked)]

        known, wanted = answers(self.cases), answers(cases)
        right = [sum(difference(constant, answer, rtol=self.rtol, atol=self.atol) is None
                     for answer in wanted) for constant in [*known, *wanted]]
        return max([*right[: len(known)], *(n for n in right[len(known) :] if n > 1)], default=0)

    def __call__(self, mine: Any) -> str | None:
        if not callable(mine):
            return f"expected a function, yours is {type(mine).__name__}: {written(mine)}"
        name = getattr(mine, "__name__", "your function").removeprefix("_solve_")
        name = name.replace("<lambda>", "f")
        for case in self.cases:
            args, keywords = _arguments(case)
            expected = self.spec(*args, **keywords)
            args, keywords = _arguments(case)
            try:
                got = mine(*args, **keywords)
            except NotImplementedError:
                raise
            except Exception as error:
                raise _AnswerFailed(_call_text(name, case)) from error
            if text := difference(got, expected, rtol=self.rtol, atol=self.atol):
                return f"for {_call_text(name, case)}: {text}"
        return None


def judge_function(spec: Callable, cases: Iterable[Case], *, rtol: float = 1e-6,
                   atol: float = 1e-8) -> FunctionJudge:
    """A judge that runs the learner's function and ``spec``; it names the smallest differing case.

    Parameters
    ----------
    spec : callable
        The right function: an exercise's solution, or one of the library.
    cases : iterable of tuple or dict
        Arguments of one call each, positional or keywords; both sides get copies.
    rtol, atol : float, default 1e-6 and 1e-8
        Tolerance for numbers.

    Returns
    -------
    FunctionJudge
        Called with an answer: None, or what is wrong. ``on(cases)`` is it on other cases.

    Raises
    ------
    TypeError
        For a case that is neither tuple nor dict.
    ValueError
        For no cases.
    """
    ordered = tuple(sorted(cases, key=size_of))
    for case in ordered:
        if not isinstance(case, (tuple, dict)):
            raise TypeError(f"case {written(case)} is {type(case).__name__}; expected a tuple of "
                            f"arguments: ({written(case, 20)},)")
    if not ordered:
        raise ValueError("cases holds 0 cases; expected >= 1")
    return FunctionJudge(spec, ordered, rtol, atol)


def judge_value(expected: Any | Callable[[], Any], *, rtol: float = 1e-6, atol: float = 1e-8,
                remark: str = "") -> Judge:
    """A judge for a number, word or list.

    Parameters
    ----------
    expected : object or callable
        The value, or a function without arguments that measures it at the first check.
    rtol, atol : float, default 1e-6 and 1e-8
        Tolerance; ``rtol=0.1`` accepts a guess within 10 %.
    remark : str, default ""
        Said of wrong answers; without it the judge names the expected value.

    Returns
    -------
    callable
        Called with an answer: None, or what is wrong.
    """
    measure = functools.cache(expected) if callable(expected) else lambda: expected

    def judge(mine: Any) -> str | None:
        text = difference(mine, measure(), rtol=rtol, atol=atol)
        return f"not {written(mine)}. {remark}" if text and remark else text

    return judge


def unseen_judge(exercise: Exercise, seed: int) -> Judge:
    """The judge of an exercise on its own cases and on those made from a seed.

    Parameters
    ----------
    exercise : Exercise
    seed : int
        At least 0.

    Returns
    -------
    callable
        The plain judge where no cases can be made.
    """
    if exercise.fresh is None:
        return exercise.judge
    fresh = exercise.judge.on(exercise.fresh(seed))
    return lambda mine: exercise.judge(mine) or fresh(mine)


# ------------------------------------------------------------------------------ a learner's answer


def _learner_line(answer: Any, traceback: TracebackType | None) -> int | None:
    """Line number, inside the learner's cell, of the innermost frame that is the learner's own."""
    answer = getattr(answer, "func", answer)                   # a functools.partial
    code = getattr(inspect.unwrap(answer), "__code__", None) if callable(answer) else None
    own, line = code.co_filename if code else None, None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file == own or "ipykernel_" in file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _one_line(error: BaseException) -> str:
    message = " ".join(str(error).split())
    message = message if len(message) <= MAX_ERROR_CHARS else message[: MAX_ERROR_CHARS - 1] + "…"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def verdict(exercise: Exercise, answer: Any) -> str:
    """One line for the learner: ``correct``, ``not attempted yet``, or what is wrong.

    Parameters
    ----------
    exercise : Exercise
    answer : object
        None, ``...`` and a function that raises NotImplementedError count as not attempted.

    Returns
    -------
    str
        An error in the learner's code is told with its line number; it is never raised.
    """
    if answer is None or answer is ...:
        return NOT_ATTEMPTED
    try:
        return exercise.judge(answer) or "correct"
    except NotImplementedError:
        return NOT_ATTEMPTED
    except _AnswerFailed as failure:
        error = failure.__cause__
        line = _learner_line(answer, error.__traceback__)
        place = f" in line {line}" if line else ""
        return f"your code stopped{place} with {_one_line(error)} (called as {failure.call})"
    except Exception as error:
        line = _learner_line(answer, error.__traceback__)
        start = (f"your code stopped in line {line}" if line
                 else "your answer cannot be judged: it stopped the check")
        return f"{start} with {_one_line(error)}"


def solution_text(exercise: Exercise) -> str:
    """The tested solution as text.

    Parameters
    ----------
    exercise : Exercise

    Returns
    -------
    str
        The source of a function, without the ``_solve_`` of its name, else the value.
    """
    if not callable(exercise.solution):
        return repr(exercise.solution)
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(exercise.solution)))
    return source.replace("_solve_", "").rstrip()


# ------------------------------------------------------------------------------ the registry


def stems() -> list[str]:
    """Ids of the lessons that have exercises: one file each in this folder.

    Returns
    -------
    list of str
        In alphabetical order.
    """
    return sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)])
                  if m.name != "base" and not m.name.startswith("_"))


def for_lesson(lesson_id: str) -> dict[str, Exercise]:
    """The exercises of one lesson.

    Parameters
    ----------
    lesson_id : str

    Returns
    -------
    dict of str to Exercise
        By name, in the order of the lesson.

    Raises
    ------
    ValueError
        For a lesson without exercises (nearest id, all ids).
    """
    check_choice("lesson_id", lesson_id, stems())
    exercises = importlib.import_module(f"{__package__}.{lesson_id}").EXERCISES
    for key, exercise in exercises.items():
        if key != exercise.name:
            raise ValueError(f"exercises/{lesson_id}.py: the key {key!r} holds the exercise "
                             f"{exercise.name!r}; expected the same name")
    return exercises


@dataclass(frozen=True)
class AuditLine:
    """What the audit of one exercise found.

    Parameters
    ----------
    name : str
    complaint : str or None
        What the judge says of the solution; None where it accepts it.
    refused, missed : tuple of str
        Labels of the wrong answers that the judge refuses, and of those that it accepts.
    """

    name: str
    complaint: str | None
    refused: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Solution accepted, every planted wrong answer refused, stub seen as not attempted."""
        return self.complaint is None and not self.missed

    def __str__(self) -> str:
        start = ("accepts the solution" if self.complaint is None
                 else f"REFUSES THE SOLUTION ({self.complaint})")
        end = f", ACCEPTS {' | '.join(self.missed)}" if self.missed else ""
        return (f"{self.name}: {start}, rejects {len(self.refused)} wrong answers: "
                f"{' | '.join(self.refused)}{end}")


def audit(lesson: str | Mapping[str, Exercise]) -> list[AuditLine]:
    """Judge the solution and every planted wrong answer of a lesson.

    Parameters
    ----------
    lesson : str or mapping of str to Exercise
        A lesson's id, or exercises by name.

    Returns
    -------
    list of AuditLine
        One for each exercise; ``line.ok`` tells whether all went well.
    """
    exercises = for_lesson(lesson) if isinstance(lesson, str) else lesson
    lines = []
    for name, exercise in exercises.items():
        answer = verdict(exercise, exercise.solution)
        passed = {label: verdict(exercise, wrong) in ("correct", NOT_ATTEMPTED)
                  for label, wrong in exercise.wrong.items()}
        lines.append(AuditLine(name, None if answer == "correct" else answer,
                               tuple(k for k, p in passed.items() if not p),
                               tuple(k for k, p in passed.items() if p)))
    return lines
