"""Recipes for pre-training: sizes, rates and amounts that were found to work on two cores, and on
one GPU for some minutes.

The schedule counts what was read, not time: the same recipe gives the same rates on a slow and a
fast machine. Used by ``lessons pretrain``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import check_choice, check_float, check_int, check_seed, shown
from .lesson_bert import BertSize

__all__ = ["RECIPES", "Recipe", "moments"]


@dataclass(frozen=True)
class Recipe:
    """How a LessonBert is trained.

    dim, layers, heads, feed_forward, dropout: its size. row: pieces in a row, [CLS] and [SEP]
    included; batch: rows per step, over all processes; accumulate: parts that a step is worked on
    in, one after the other, to save memory; tokens: places to read in all; learning_rate, reached
    after the share ``warmup`` of them, then falling to 0 in a straight line; weight_decay, of
    matrices; clip: longest gradient; masked: share of hidden pieces; whole_words: hide the pieces
    of a word together; next_sentence: two segments a row, and the head that tells whether they
    belong together; precision: float32 or bfloat16; compiled: by ``torch.compile``; seed: decides
    start weights, order, masks, dropout. Raises TypeError, ValueError.
    """

    dim: int = 256
    layers: int = 4
    heads: int = 4
    feed_forward: int = 1024
    dropout: float = 0.0
    row: int = 64
    batch: int = 32
    accumulate: int = 1
    tokens: int = 65_000_000
    learning_rate: float = 1e-3
    warmup: float = 0.05
    weight_decay: float = 0.01
    clip: float = 1.0
    masked: float = 0.15
    whole_words: bool = False
    next_sentence: bool = False
    precision: str = "float32"
    compiled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_int("row", self.row, low=8)
        for name in ("batch", "tokens"):
            check_int(name, getattr(self, name))
        check_int("accumulate", self.accumulate, high=self.batch)
        for name in ("learning_rate", "clip"):
            check_float(name, getattr(self, name), low=0.0, open_low=True)
        check_float("masked", self.masked, low=0.0, high=0.5, open_low=True)
        check_float("warmup", self.warmup, low=0.0, high=0.9)
        check_float("weight_decay", self.weight_decay, low=0.0)
        check_choice("precision", self.precision, ("float32", "bfloat16"))
        for name in ("whole_words", "next_sentence", "compiled"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}={shown(getattr(self, name))} is "
                                f"{type(getattr(self, name)).__name__}; expected True or False")
        check_seed(self.seed)

    def size(self, vocabulary: int) -> BertSize:
        """The sizes of the model for a vocabulary.

        Raises ValueError when they do not fit each other.
        """
        return BertSize(vocabulary, self.dim, self.layers, self.heads, self.feed_forward, self.row,
                        self.dropout)

    @property
    def tokens_per_step(self) -> int:
        """Places read in one step."""
        return self.batch * self.row

    @property
    def steps(self) -> int:
        """Steps in all."""
        return -(-self.tokens // self.tokens_per_step)

    @property
    def hidden(self) -> int:
        """Places to hide in a row."""
        return max(1, round(self.masked * (self.row - 2)))

    def rate(self, step: int) -> float:
        """The learning rate of a step (counted from 0): up in a straight line during the warm-up,
        then down to 0.
        """
        done, warm = (step + 0.5) / self.steps, self.warmup
        return self.learning_rate * (done / warm if done < warm else (1 - done) / (1 - warm))


RECIPES = {
    "smoke": Recipe(dim=32, layers=2, heads=2, feed_forward=64, row=32, batch=8, tokens=20_000),
    "laptop": Recipe(), "gpu": Recipe(dim=384, layers=6, heads=6, dropout=0.1, row=128, batch=1024,
                                      tokens=800_000_000, precision="bfloat16"),
}


def moments(steps: int, n: int = 24) -> list[int]:
    """Numbers of steps done, 0 first and ``steps`` last, ever further apart: when the word table is
    looked at.
    """
    later = np.geomspace(max(1, steps // 2000), steps, n - 1).round().astype(int) if steps else []
    return sorted({0, *map(int, later)})
