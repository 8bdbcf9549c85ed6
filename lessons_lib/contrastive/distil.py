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

from ..core import check_array, shown
from ..core.parameters import Float
from .examples import Column, Examples, sentences
from .reading import Reading
from .sbert import LabelledObjective
from .trainer import Trainer
from .training import Objective

__all__ = ["Distil", "principal_rotation"]


def principal_rotation(vectors: np.ndarray, dim: int) -> np.ndarray:
    """The ``dim`` orthonormal directions (d, dim) in which vectors (n, d) are largest: ``vectors @
    rotation`` keeps as much of all their dot products as so few numbers can. Raises ValueError.
    """
    if dim > vectors.shape[1]:
        raise ValueError(f"dim={dim} is more than the {vectors.shape[1]} columns of the teacher's "
                         "vectors; expected a pupil that is no wider than its teacher")
    wide = vectors.astype(np.float64)
    return np.linalg.eigh(wide.T @ wide)[1][:, ::-1][:, :dim].astype(vectors.dtype)


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
        vectors = check_array("vectors", data[1]).astype(np.float32)
        if len(vectors) != len(texts):
            raise ValueError(f"there are {len(texts):,} sentences and {len(vectors):,} vectors; "
                             "expected one vector per sentence")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not norms.all():
            raise ValueError(f"vectors[{int(np.argmin(norms))}] is zero and has no direction to "
                             "learn; drop its sentence")
        return Examples(texts.columns, vectors / norms)

    def _objective(self, learner: Reading, examples: Examples) -> Objective:
        rotation = torch.from_numpy(principal_rotation(examples.labels, learner.dim))

        def loss(vectors: Sequence[Tensor], teacher: Tensor) -> Tensor:
            u, v = F.normalize(vectors[0], dim=1), teacher.to(vectors[0])
            near = 1 - (u * F.normalize(v @ rotation.to(v), dim=1)).sum(dim=1).mean()
            return near + self.relations * (u @ u.T - v @ v.T).square().mean()

        return LabelledObjective([Column(examples.columns[0], learner.number)], examples.labels,
                                 loss)
