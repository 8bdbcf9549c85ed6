"""Where a training run stands, so that it can stop anywhere and go on as if it had not.

A text is worked on in parts; a part counts when all of it is done, else not at all. Used by the methods of lessons ``04_word2vec`` and
``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ..core import check_float, check_int

__all__ = ["Run", "all_or_nothing", "parts_of"]

TOKENS_PER_PART = 2_000_000                     # about a second


@dataclass(frozen=True)
class Run:
    """``epoch`` and ``part`` are the next to be done, ``before`` epochs of former runs; ``loss`` and ``pairs`` were noted so far in this epoch.

    ``rate`` is the learning rate at the run's beginning; ``text`` the `core.fingerprint` of what is read; ``history`` the loss of each epoch, also of
    former runs. Frozen: a step is taken by one assignment, which no interruption can cut in two.
    """

    rate: float
    text: str
    before: int = 0
    epoch: int = 0
    part: int = 0
    loss: float = 0.0
    pairs: int = 0
    history: tuple[float, ...] = ()

    @property
    def epochs_done(self) -> int:
        """Whole epochs of this and all former runs."""
        return self.before + self.epoch

    def after_part(self, loss: float, pairs: int) -> Self:
        """The run when one more part is done."""
        return replace(self, part=self.part + 1, loss=self.loss + loss, pairs=self.pairs + pairs)

    def after_epoch(self) -> Self:
        """The run when all parts of an epoch are done; its mean loss, NaN where none was noted, joins the history."""
        mean = self.loss / self.pairs if self.pairs else float("nan")
        return replace(self, epoch=self.epoch + 1, part=0, loss=0.0, pairs=0, history=(*self.history, mean))

    def saved(self) -> dict[str, Any]:
        """All but the history as JSON."""
        return {name: value for name, value in asdict(self).items() if name != "history"}

    @classmethod
    def loaded(cls, saved: Any, history: np.ndarray) -> Self:
        """The run from what `saved` gave. Raises KeyError, TypeError or ValueError for anything else."""
        whole = {name: check_int(name, saved[name], low=0) for name in ("before", "epoch", "part", "pairs")}
        return cls(check_float("rate", saved["rate"], low=0.0, open_low=True), str(saved["text"]), **whole, loss=float(saved["loss"]),
                   history=tuple(map(float, history)))


@contextmanager
def all_or_nothing(model: Any) -> Iterator[None]:
    """Give a model all its attributes back when what is done to it fails or is interrupted: half changed it could be saved, but not loaded."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        model.__dict__ = before
        raise


def parts_of(pieces: np.ndarray) -> list[tuple[int, int]]:
    """Runs of pieces (first, last + 1) with about `TOKENS_PER_PART` tokens each. Parameters: pieces, where each piece begins, and the end."""
    n = max(1, -(-int(pieces[-1]) // TOKENS_PER_PART))
    cuts = np.searchsorted(pieces, pieces[-1] * np.arange(1, n) // n).tolist()
    return list(pairwise([0, *cuts, len(pieces) - 1]))
