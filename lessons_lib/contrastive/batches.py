"""Which examples a step reads, in which parts, and what is drawn for them: all of it from the seed
and the number of the step.

Nothing here remembers anything, so a run that was stopped reads on where it stood, and several
processes agree without a word. Used by `training`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ..contextual.numbering import Numbered
from ..core import DataWarning, check_int, check_seed, generator
from .reading import derived_seed

__all__ = ["AugmentedColumn", "Column", "Order", "in_parts", "share_of_equals"]

Number = Callable[[Sequence[str]], Numbered]      # texts to token ids
ORDER, AUGMENT = 1, 2                             # a number of the seed for each purpose


def _generator(*words: int) -> np.random.Generator:
    return generator(derived_seed(*words))


class Order:
    """Examples in a new order every epoch, in batches.

    Parameters: n, number of examples; batch_size; seed. The last batch of an epoch is as large as
    what is left; one example alone, which has no other to be told from, joins the batch before.

    >>> [len(Order(9, batch_size=4, seed=0).batch(step)) for step in range(3)]
    [4, 5, 4]
    """

    def __init__(self, n: int, *, batch_size: int, seed: int) -> None:
        self.n, self.batch_size = check_int("n", n, low=2), check_int("batch_size", batch_size)
        self.seed = check_seed(seed)
        alone = batch_size > 1 and n % batch_size == 1
        self.per_epoch = max(1, math.ceil(n / batch_size) - int(alone))
        self._epoch, self._order = -1, np.zeros(0, np.int64)

    def batch(self, step: int) -> np.ndarray:
        """Numbers of the examples of a step (counted from 0), int64."""
        epoch, place = divmod(step, self.per_epoch)
        if epoch != self._epoch:                  # kept only because a permutation costs time
            order = _generator(ORDER, self.seed, epoch).permutation(self.n)
            self._epoch, self._order = epoch, order
        last = self.n if place == self.per_epoch - 1 else (place + 1) * self.batch_size
        return self._order[place * self.batch_size : last]


def in_parts(n: int, *, chunk: int | None, processes: int = 1) -> list[slice]:
    """A batch of n rows in parts of ``chunk`` rows; None: as many parts as there are processes.

    >>> in_parts(5, chunk=2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = math.ceil(n / processes) if chunk is None else chunk
    return [slice(first, min(n, first + size)) for first in range(0, n, size)]


class Column:
    """One side of the examples: texts that stay as they are; ``number`` makes token ids of them."""

    def __init__(self, texts: Sequence[str], number: Number) -> None:
        self.numbered = number(texts)

    def read(self, examples: np.ndarray, step: int) -> tuple[Numbered, np.ndarray]:
        """Numbered texts, and which of them belong to the examples, in their order."""
        return self.numbered, examples


class AugmentedColumn:
    """Texts that ``augment(text, rng)`` changes anew for every step. What is drawn depends on seed,
    step and the number of the example only.
    """

    def __init__(self, texts: Sequence[str], number: Number,
                 augment: Callable[[str, np.random.Generator], str], *, seed: int) -> None:
        self.texts, self.number, self.augment, self.seed = texts, number, augment, seed

    def read(self, examples: np.ndarray, step: int) -> tuple[Numbered, np.ndarray]:
        """Numbered texts, and which of them belong to the examples, in their order."""
        changed = [self.augment(self.texts[i], _generator(AUGMENT, self.seed, step, i))
                   for i in examples.tolist()]
        for i, text in zip(examples.tolist(), changed, strict=True):
            if not isinstance(text, str):
                raise TypeError(f"augment made {type(text).__name__} of texts[{i}]; expected a "
                                "function of a text and a generator that gives a text")
        # of texts that are too long the first column has spoken, once
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return self.number(changed), np.arange(len(examples))


def share_of_equals(columns: Sequence[Sequence[str]], order: Order) -> float:
    """Share of the examples of the first epoch that meet, in their batch, another example with an
    equal text in the same column: it would be pushed away from what is its own positive.
    """
    codes = [np.unique(np.asarray(column, dtype=object), return_inverse=True)[1]
             for column in columns]
    met = 0
    for step in range(order.per_epoch):
        batch = order.batch(step)
        equal = np.zeros(len(batch), bool)
        for code in codes:
            _, place, count = np.unique(code[batch], return_inverse=True, return_counts=True)
            equal |= count[place] > 1
        met += int(equal.sum())
    return met / order.n
