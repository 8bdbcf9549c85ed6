"""What happens to the space while an encoder learns: loss, dev score, alignment, uniformity and the
singular spectrum, a line per note.

The loss alone says little: it is near 0 after some steps, whether the vectors become better or
worse. Taught in ``14_simcse``, where the lines are drawn as a path through the alignment-uniformity
plane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..core import Encoder, check_kind, generator
from ..datasets import SentencePairs
from ..isotropy import singular_spectrum
from ..kernels import alignment, ranks, uniformity

__all__ = ["History", "Watch", "spearman"]

CLOSE = 0.8  # of the scale: pairs graded above it, 4 of 5, count as true pairs [gao2021simcse]
SAMPLE = 512                                      # sentences whose singular values are looked at
NUMBERS = ("loss", "dev", "alignment", "uniformity", "rate")


@dataclass(frozen=True, eq=False)
class History:
    """What was noted, line 0 before the first step; NaN where nothing was measured.

    Parameters
    ----------
    step : (m,) int64
        Steps done.
    loss : (m,) float64
        Mean of the steps since the line before, NaN in line 0.
    dev : (m,) float64
        Spearman's correlation on the dev pairs.
    alignment, uniformity : (m,) float64
        Of dev pairs graded above 4/5, and of dev sentences, as `evaluation` has them.
    rate : (m,) float64
        The learning rate.
    idle : (m,) int64
        Steps so far whose batch had nothing to order, so that the loss was 0.
    spectrum : (m, k) float64
        Singular values of the unit vectors of a fixed sample of dev sentences, divided by the
        largest.
    best : int
        The line whose weights were kept.
    kept : {"last", "dev"}
        By what.
    """

    step: np.ndarray
    loss: np.ndarray
    dev: np.ndarray
    alignment: np.ndarray
    uniformity: np.ndarray
    rate: np.ndarray
    idle: np.ndarray
    spectrum: np.ndarray = field(repr=False)
    best: int = 0
    kept: str = "last"

    def __len__(self) -> int:
        return len(self.step)

    @classmethod
    def of(cls, lines: Sequence[dict[str, Any]], *, best: int, kept: str) -> History:
        """The history of noted lines.

        Parameters
        ----------
        lines : sequence of dict
        best : int
        kept : {"last", "dev"}

        Returns
        -------
        History
        """
        columns = {name: np.array([line[name] for line in lines], dtype=np.float64)
                   for name in NUMBERS}
        whole = {name: np.array([line[name] for line in lines], dtype=np.int64)
                 for name in ("step", "idle")}
        width = max((len(line["spectrum"]) for line in lines), default=0)
        spectrum = np.full((len(lines), width), math.nan)
        for row, line in zip(spectrum, lines, strict=True):
            row[: len(line["spectrum"])] = line["spectrum"]
        return cls(**columns, **whole, spectrum=spectrum, best=best, kept=kept)


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson correlation of the average ranks; NaN where one side is constant."""
    a, b = (ranks(column, backend="cpu").numpy() - (len(column) + 1) / 2 for column in (x, y))
    spread = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / spread if spread else math.nan


class Watch:
    """Looks at the space of an encoder through graded pairs; None: nothing is measured."""

    def __init__(self, dev: SentencePairs | None, *, seed: int = 0) -> None:
        self.dev = dev
        if dev is None:
            return
        both = [*dev.sentence1, *dev.sentence2]
        self.texts = list(dict.fromkeys(both))
        number = {text: i for i, text in enumerate(self.texts)}
        rows = np.array([number[text] for text in both], dtype=np.int64)
        self.left, self.right = rows[: len(dev)], rows[len(dev) :]
        low, high = dev.scale
        self.close = np.flatnonzero(dev.score > low + CLOSE * (high - low))
        self.sample = np.sort(generator(seed).permutation(len(self.texts))[:SAMPLE])

    @classmethod
    def of(cls, dev: Any, *, seed: int) -> Watch:
        """The same after a look at ``dev``. Raises TypeError, ValueError."""
        if dev is None:
            return cls(None)
        check_kind("dev", dev, SentencePairs,
                   "SentencePairs, as ll.datasets.load('stsb', split='dev') gives them")
        if len(dev) < 2 or dev.score.min() == dev.score.max():
            grades = len(np.unique(dev.score))
            raise ValueError(f"dev holds {len(dev)} pairs with {grades} distinct "
                             f"grade{'s' * (grades != 1)}; a correlation needs >= 2 of each")
        return cls(dev, seed=seed)

    def __call__(self, encoder: Encoder) -> dict[str, Any]:
        """dev, alignment, uniformity and spectrum of an encoder; NaN where nothing measures them.
        """
        if self.dev is None:
            return {"dev": math.nan, "alignment": math.nan, "uniformity": math.nan, "spectrum": []}
        vectors = encoder.encode(self.texts).astype(np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(norms > 0, norms, 1.0)
        cosines = np.einsum("ij,ij->i", unit[self.left], unit[self.right])
        close = [torch.from_numpy(unit[side[self.close]]) for side in (self.left, self.right)]
        everything = torch.from_numpy(unit[np.concatenate([self.left, self.right])])
        # rounded as in evaluation: pairs that tie on paper tie here
        return {"dev": spearman(np.round(cosines, 12), self.dev.score),
                "alignment": float(alignment(*close, backend="cpu")) if len(self.close)
                else math.nan,
                "uniformity": float(uniformity(everything, backend="cpu")),
                "spectrum": singular_spectrum(unit[self.sample]).tolist()}
