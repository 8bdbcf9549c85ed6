"""Recipes for pre-training: sizes, rates and amounts that were found to work on two cores, and on
one GPU for some minutes.

The schedule counts what was read, not time: the same recipe gives the same rates on a slow and a
fast machine. Used by ``lessons pretrain``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import check_int
from ..core.parameters import Choice, Flag, Float, Int, Seed
from .lesson_bert import BertSize

__all__ = ["RECIPES", "Recipe", "doublings", "moments"]


CHECKED = {
    "row": Int(low=8), "batch": Int(), "tokens": Int(high=10**13), "learning_rate": Float(above=0),
    "clip": Float(above=0), "masked": Float(above=0, high=0.5), "warmup": Float(low=0, high=0.9),
    "weight_decay": Float(low=0), "dropout_from": Float(low=0, high=1),
    "precision": Choice("float32", "bfloat16"), "word_table": Choice("random", "skip-gram"),
    "whole_words": Flag(), "next_sentence": Flag(), "compiled": Flag(), "seed": Seed()}


@dataclass(frozen=True)
class Recipe:
    """How a LessonBert is trained.

    Parameters
    ----------
    dim, layers, heads, feed_forward, dropout
        See `BertSize`.
    row : int >= 8, default 64
        Tokens in a row, [CLS] and [SEP] included.
    batch : int >= 1, default 32
        Rows of a step, over all processes.
    accumulate : int in [1, batch], default 1
        Parts that a step is worked on in, one after the other, to save memory.
    tokens : int >= 1, default 65,000,000
        To read in all.
    learning_rate : float > 0, default 1e-3
        Reached after the share ``warmup`` of them, then falling to 0 in a straight line.
    warmup : float in [0, 0.9], default 0.05
    weight_decay : float >= 0, default 0.01
        Of matrices.
    clip : float > 0, default 1.0
        Norm above which a gradient is scaled down.
    masked : float > 0 and <= 0.5, default 0.15
        Share of hidden tokens.
    dropout_from : float in [0, 1], default 0
        Share of the steps that is done without dropout, before it sets in.
    whole_words : bool, default False
        Hide the tokens of a word together.
    next_sentence : bool, default False
        Two segments a row, and the head that tells whether they belong together.
    precision : {"float32", "bfloat16"}
    word_table : {"random", "skip-gram"}
        What the vectors of whole words begin as: random, or the course's skip-gram.
    compiled : bool, default False
        By ``torch.compile``.
    seed : int >= 0, default 0
        Of the random initialisation, order, masks and dropout.

    Raises
    ------
    TypeError, ValueError
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
    dropout_from: float = 0.0
    whole_words: bool = False
    next_sentence: bool = False
    precision: str = "float32"
    word_table: str = "random"
    compiled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, parameter in CHECKED.items():
            parameter.check(name, getattr(self, name))
        check_int("accumulate", self.accumulate, high=self.batch)

    def size(self, vocabulary: int) -> BertSize:
        """The sizes of the model.

        Parameters
        ----------
        vocabulary : int

        Returns
        -------
        BertSize

        Raises
        ------
        ValueError
            They do not fit each other.
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

    def dropout_at(self, step: int) -> float:
        """The share of units left out in a step.

        Parameters
        ----------
        step : int >= 0

        Returns
        -------
        float
        """
        return self.dropout if step >= self.dropout_from * self.steps else 0.0

    def rate(self, step: int) -> float:
        """The learning rate: up in a straight line during the warm-up, then down to 0.

        Parameters
        ----------
        step : int >= 0

        Returns
        -------
        float
        """
        done, warm = (step + 0.5) / self.steps, self.warmup
        return self.learning_rate * (done / warm if done < warm else (1 - done) / (1 - warm))


RECIPES = {
    "smoke": Recipe(dim=32, layers=2, heads=2, feed_forward=64, row=32, batch=8, tokens=20_000),
    "laptop": Recipe(), "gpu": Recipe(dim=384, layers=6, heads=6, dropout=0.1, row=128, batch=1024,
                                      tokens=800_000_000, precision="bfloat16"),
}


def moments(steps: int, n: int = 24) -> list[int]:
    """When the word table is looked at, in steps done: 0, ever further apart, ``steps`` last."""
    later = np.geomspace(max(1, steps // 2000), steps, n - 1).round().astype(int) if steps else []
    return sorted({0, *map(int, later)})


def doublings(recipe: Recipe) -> list[int]:
    """Numbers of steps after which 1, 2, 4, ... million tokens were read, and the last: when the
    whole model is kept for a curve over tokens.
    """
    millions = [1_000_000 * 2**k for k in range(recipe.tokens.bit_length())]
    return [-(-n // recipe.tokens_per_step) for n in millions if n < recipe.tokens] + [recipe.steps]
