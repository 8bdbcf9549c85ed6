"""Matryoshka learning: vectors whose beginning is a good shorter vector, which is good again when
cut shorter.

The contrastive loss is taken at several sizes at once, each time over the first numbers alone,
scaled to norm 1 again. One training serves all sizes; an index can be cut after it was made.
Taught in ``16_outlook``. [kusupati2022matryoshka]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core import Estimator, check_array, check_float, check_int, shown
from ..core.parameters import Flag, Float, Given, Int
from .examples import Column, Examples, graded_pairs, sentences
from .losses import cosent_loss, in_batch_loss
from .reading import Reading
from .sbert import LabelledObjective
from .trainer import Trainer
from .training import Objective

__all__ = ["Matryoshka", "Truncation", "nested_loss"]


def nested_loss(u: Tensor, v: Tensor, sizes: Sequence[int], *, temperature: float = 0.05,
                weights: Sequence[float] | None = None, label: Any = None) -> Tensor:
    """A loss over beginnings of the vectors: InfoNCE, or with grades CoSENT.

        L = Σ_m c_m L( u_1:m, v_1:m ),    both at norm 1 after the cut

    Parameters: u, v (n, dim), row i of v the partner of row i of u; sizes m, whole numbers in 1 to
    dim, each once; temperature τ; weights c_m, one for each size, None: 1; label, (n,) grades of
    the pairs: then L is `cosent_loss` with the scale 1/τ. Raises ValueError.
    [kusupati2022matryoshka]
    """
    sizes = checked_sizes(sizes, int(u.shape[1]))
    weights = [check_float(f"weights[{i}]", w, low=0.0)
               for i, w in enumerate([1.0] * len(sizes) if weights is None else weights)]
    if len(weights) != len(sizes):
        raise ValueError(f"weights has {len(weights)} numbers for {len(sizes)} sizes; expected one "
                         "for each")
    scale = 1 / check_float("temperature", temperature, low=0.0, open_low=True)
    parts = [in_batch_loss(u[:, :m], v[:, :m], temperature=temperature) if label is None
             else cosent_loss(u[:, :m], v[:, :m], label, scale=scale) for m in sizes]
    return torch.stack([c * part for c, part in zip(weights, parts, strict=True)]).sum()


def checked_sizes(sizes: Any, dim: int | None) -> list[int]:
    """Sizes as a list. Raises TypeError, ValueError."""
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise TypeError(f"sizes={shown(sizes)} is {type(sizes).__name__}; expected whole numbers, "
                        "such as [256, 128, 64]")
    result = [check_int(f"sizes[{i}]", m, low=1, high=dim) for i, m in enumerate(sizes)]
    if not result or len(set(result)) < len(result):
        raise ValueError(f"sizes={result} holds {len(result)} sizes, {len(set(result))} of them "
                         "different; expected >= 1, each once")
    return result


class Matryoshka(Trainer):
    """SimCSE or CoSENT whose loss is the `nested_loss`: texts are told apart at every size.

    Notes
    -----
    Data for `fit`: a list of sentences or `Documents`; supervised, where pairs are ordered at every
    size: `SentencePairs` or (first, second, grades). [kusupati2022matryoshka]
    """

    words = "Matryoshka"

    sizes = Given((256, 128, 64, 32, 16), "columns that shall suffice; the whole width should be "
                  "among them, or what lies behind the largest is not trained",
                  kind="sequence of int", check=lambda name, value: checked_sizes(value, None))
    supervised = Flag(False, "learn from graded pairs")
    temperature = Float(0.05, "τ", above=0)

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        checked_sizes(self.sizes, self.encoder.dim)

    def _examples(self, data: Any) -> Examples:
        if self.supervised:
            return graded_pairs(data, loss="supervised Matryoshka", unit=False)
        return sentences(data)

    def _objective(self, learner: Reading, examples: Examples) -> Objective:
        columns = [Column(texts, learner.number) for texts in examples.columns]
        sizes = checked_sizes(self.sizes, learner.dim)
        return LabelledObjective(
            columns if self.supervised else columns * 2, examples.labels,
            lambda vectors, y: nested_loss(*vectors, sizes, temperature=self.temperature, label=y))


class Truncation(Estimator):
    """Keep the first columns of a vector and scale them to norm 1; nothing is fitted.

    Examples
    --------
    >>> Truncation(2).transform(np.array([[3.0, 4.0, 12.0]])).round(2).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """

    k = Int(64, "columns that are kept", positional=1)

    @property
    def dim(self) -> int:
        """Columns of a vector."""
        return self._check_settings()["k"]

    @property
    def name(self) -> str:
        """Such as ``first 64``."""
        return f"first {self.dim}"

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Cut vectors and scale what is left; a row whose first k numbers are 0 stays 0.

        Parameters
        ----------
        x : (n, dim) real

        Returns
        -------
        (n, k) float32
            Rows of norm 1.

        Raises
        ------
        ValueError
            Fewer columns than k.
        """
        x = check_array("x", x, min_rows=0)
        if x.shape[1] < self.dim:
            raise ValueError(f"x has {x.shape[1]} columns; k={self.k} cannot keep more")
        first = np.asarray(x[:, : self.k], dtype=np.float64)
        norms = np.linalg.norm(first, axis=1, keepdims=True)
        return (first / np.where(norms > 0, norms, 1.0)).astype(np.float32)
