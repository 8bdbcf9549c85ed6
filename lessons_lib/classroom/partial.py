"""Points for a function that is right on some inputs, and what its author is told of the others.

A lesson's examples are shown whole; of an input that stays unseen only its kind is told, because
the seed that made it can be used again. Used by ``lessons grade``.
"""

from __future__ import annotations

import builtins
import inspect
import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ..exercises import Exercise

__all__ = ["CORRECT", "Tried", "kind_of"]

CORRECT = "correct"
PARTS = 10                                       # of a point


@dataclass(frozen=True)
class Tried:
    """What became of a function on the examples of its lesson and on inputs that stay unseen.

    Parameters: exercise; hidden, its judge on the unseen inputs; on_examples and on_hidden, what
    the judge says of each of them, fewer where the rest was not tried and counts as wrong.
    """

    exercise: Exercise
    hidden: Any
    on_examples: Sequence[str]
    on_hidden: Sequence[str]

    @property
    def points(self) -> float:
        """1 where all is right, else the share of the unseen inputs that it solves.

        Those that a constant answer solves, or the code as it was handed out, earn nothing; a
        share is rounded down to tenths and no larger than that of the examples.
        """
        n_examples, n_hidden = len(self.exercise.judge.cases), len(self.hidden.cases)
        examples, hidden = map(_right, (self.on_examples, self.on_hidden))
        if (examples, hidden) == (n_examples, n_hidden):
            return 1.0
        free = self.exercise.judge.by_chance(self.hidden.cases)
        if hidden <= free:
            return 0.0
        return min(PARTS * examples // n_examples,
                   PARTS * (hidden - free) // (n_hidden - free)) / PARTS

    @property
    def _counts(self) -> str:
        return (f"right on {_right(self.on_examples)} of {len(self.exercise.judge.cases)} examples "
                f"of the lesson and on {_right(self.on_hidden)} of {len(self.hidden.cases)} other "
                "inputs")

    @property
    def remark(self) -> str:
        """For the teacher: what is wrong with the first input that fails, and how many do not."""
        wrong = next((r for r in (*self.on_examples, *self.on_hidden) if r != CORRECT), CORRECT)
        some = wrong != CORRECT and CORRECT in self.on_examples
        return f"{wrong[:800]}; {self._counts}" if some else wrong

    @property
    def told(self) -> str:
        """For the student: the first example that fails, else the kind of input that does."""
        text = f"{self._counts.capitalize()}."
        example = next((r for r in self.on_examples if r != CORRECT), None)
        if example is not None:
            return f"{text} The first example that is not: {example}."
        i = next((i for i, r in enumerate(self.on_hidden) if r != CORRECT), None)
        if i is None:
            return text
        return (f"{text} The first input that is not{self._described(self.hidden.cases[i])}: "
                f"there your function {_failure(self.on_hidden[i])}.")

    def _described(self, case: Any) -> str:
        """The arguments of a case, each by its name and its kind."""
        args, keywords = ((), case) if isinstance(case, dict) else (case, {})
        try:
            given = inspect.signature(self.exercise.solution).bind(*args, **keywords).arguments
        except (TypeError, ValueError):          # a kernel, which gets arrays made from its case
            return ""
        return ", with " + " and ".join(f"{name} = {kind_of(value)}"
                                        for name, value in given.items())


def _right(remarks: Sequence[str]) -> int:
    return sum(remark == CORRECT for remark in remarks)


def _failure(remark: str) -> str:
    """What goes wrong, without a word of the student's own: it could hold the input."""
    if re.search(r"took (longer|too|more) ", remark):
        return "takes too long"
    if stop := re.match(r"your code stopped[^:]*?(?: with|:) (\w+)", remark):
        error = getattr(builtins, stop[1], None)
        known = isinstance(error, type) and issubclass(error, BaseException)
        return f"stops with {stop[1]}" if known else "stops with an error"
    return "does not give the expected answer"


def _several(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def kind_of(value: Any) -> str:
    """What a value is, and how large, without what it holds."""
    if callable(value):
        return "a function"
    if isinstance(value, str):
        return f"a text of {_several(len(value), 'character')}" if value else "an empty text"
    if getattr(value, "shape", ()):
        return f"an array of shape {tuple(value.shape)}"
    if isinstance(value, (list, tuple, Set, Mapping)):
        name = next(name for kind, name in ((list, "list"), (tuple, "tuple"), (Set, "set"),
                                            (Mapping, "dict")) if isinstance(value, kind))
        if not value:
            return f"an empty {name}"
        texts = all(isinstance(item, str) for item in value)
        return f"a {name} of {_several(len(value), 'text' if texts else 'item')}"
    if value is None or isinstance(value, bool):
        return str(value)
    number = float(value)
    if not math.isfinite(number) or number == 0:
        return f"{number:g}"
    return f"a {'whole ' if number.is_integer() else ''}number {'>' if number > 0 else '<'} 0"
