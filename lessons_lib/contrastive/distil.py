"""Distillation: a small model learns to put sentences where a large one has put them.

No label is needed, only sentences and what a teacher says of them. What the pupil then shows is
what the teacher knew: it is a way to make a model small, no evidence for a way to train one. Used
by ``lessons train distil``; taught in ``16_outlook``. [reimers2020making; park2019relational]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..contextual import ContextualEncoder
from ..core import Encoder, check_array, check_int, shown
from ..core.parameters import Float
from ..datasets import load
from ..vectors import WordVectors
from .bag import trainable_bag
from .examples import Column, Examples, sentences
from .reading import Reading
from .sbert import LabelledObjective
from .trainer import Trainer
from .training import Objective

__all__ = ["Distil", "bag_for", "principal_rotation"]

WORDS = 20_000              # of a bag that is taught, so that 256 numbers of each stay below 12 MB


def principal_rotation(vectors: np.ndarray, dim: int) -> np.ndarray:
    """The ``dim`` orthonormal directions (d, dim) in which vectors (n, d) are largest: ``vectors @
    rotation`` keeps as much of all their dot products as so few numbers can. Raises ValueError.
    """
    if dim > vectors.shape[1]:
        raise ValueError(f"dim={dim} is more than the {vectors.shape[1]} columns of the teacher's "
                         "vectors; expected a pupil that is no wider than its teacher")
    wide = vectors.astype(np.float64)
    return np.linalg.eigh(wide.T @ wide)[1][:, ::-1][:, :dim].astype(vectors.dtype)


def bag_for(teacher: Encoder, vectors: np.ndarray, *, dim: int | None = None,
            buckets: int = 24_576, words: Sequence[str] | None = None,
            seed: int = 0) -> ContextualEncoder:
    """A bag that begins with what a teacher says of single words.

    Parameters
    ----------
    teacher : Encoder
    vectors : (n, d) real
        The teacher's of the sentences that will be learned: their ``dim`` principal directions are
        those of the bag.
    dim : int in [1, d], optional
        None: 256, or d where that is less.
    buckets : int >= 0, default 24,576
        Rows for character n-grams; with 20,000 words of 256 numbers they make 11 MB in 8 bits.
    words : sequence of str, optional
        None: the 20,000 most frequent of the course's vectors.
    seed : int >= 0, default 0
        Of the rows of n-grams.

    Returns
    -------
    ContextualEncoder

    Raises
    ------
    TypeError, ValueError, DataMissing
    """
    unit = _unit(vectors)
    directions = principal_rotation(unit, min(256, unit.shape[1]) if dim is None
                                    else check_int("dim", dim))
    words = load("course-vectors").tokens[:WORDS] if words is None else list(words)
    alone = teacher.encode(words)
    table = (alone - alone.mean(axis=0)) @ directions
    return trainable_bag(WordVectors(words, table), buckets=buckets, seed=seed)


def _unit(vectors: Any) -> np.ndarray:
    """Vectors at norm 1 (n, d) float32. Raises TypeError, ValueError."""
    vectors = check_array("vectors", vectors).astype(np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not norms.all():
        raise ValueError(f"vectors[{int(np.argmin(norms))}] is zero and has no direction to "
                         "learn; drop its sentence")
    return vectors / norms


class Distil(Trainer):
    """An encoder taught by the vectors of another.

    Notes
    -----
    Data for `fit`: (sentences, vectors (n, d)), row i the teacher's vector of sentence i, d not
    below the pupil's dim. With u of the pupil, v of the teacher, and t = v on its dim principal
    directions, the loss is

        L = mean_i (1 - cos(u_i, t_i)) + β mean_ij (cos(u_i, u_j) - cos(v_i, v_j))²

    The first part is that of [reimers2020making] with cosines, the second that of
    [park2019relational].
    """

    words = "distilled"

    relations = Float(1.0, "β, weight of the cosines between sentences of a batch", low=0)

    def _examples(self, data: Any) -> Examples:
        if not isinstance(data, (tuple, list)) or len(data) != 2:
            raise TypeError(f"data={shown(data)} is {type(data).__name__}; distillation needs "
                            "(sentences, vectors of the teacher)")
        texts = sentences(data[0])
        vectors = _unit(data[1])
        if len(vectors) != len(texts):
            raise ValueError(f"there are {len(texts):,} sentences and {len(vectors):,} vectors; "
                             "expected one vector per sentence")
        return Examples(texts.columns, vectors)

    def _objective(self, learner: Reading, examples: Examples) -> Objective:
        rotation = torch.from_numpy(principal_rotation(examples.labels, learner.dim))

        def loss(vectors: Sequence[Tensor], teacher: Tensor) -> Tensor:
            u, v = F.normalize(vectors[0], dim=1), teacher.to(vectors[0])
            near = 1 - (u * F.normalize(v @ rotation.to(v), dim=1)).sum(dim=1).mean()
            return near + self.relations * (u @ u.T - v @ v.T).square().mean()

        return LabelledObjective([Column(examples.columns[0], learner.number)], examples.labels,
                                 loss)
