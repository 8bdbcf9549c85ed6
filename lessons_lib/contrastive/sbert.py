"""SBERT: two texts through one encoder, and a loss on the pair (Siamese), or three of them (triplet
network).

Three objectives: tell the class of a pair from u, v and |u - v|; hit its grade with the cosine;
have a text nearer to its positive than to its negative. Taught in ``10_sbert``.
[reimers2019sentence]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core.learned import Learned
from ..core.parameters import Choice, Float, Given, Int
from .examples import Column, Examples, graded_pairs, labelled_pairs, triplets
from .heads import HEAD, Classifier
from .losses import checked_features, cosine_regression, triplet_loss
from .reading import Reading, derived_seed
from .trainer import Trainer
from .training import Objective

__all__ = ["OBJECTIVES", "LabelledObjective", "SBert"]

OBJECTIVES = ("softmax", "cosine", "triplet")


class SBert(Trainer):
    """A Siamese network: one encoder, trained on pairs or triplets.

    Notes
    -----
    Data for `fit`. softmax: `LabelledPairs` or (first, second, labels). cosine: `SentencePairs`,
    whose grades are divided by their scale, or (first, second, grades in [0, 1]). triplet:
    `Triplets` or (anchors, positives, negatives). [reimers2019sentence]
    """

    words = "SBERT"

    objective = Choice(*OBJECTIVES, doc="mean cross-entropy of a linear classifier of "
                       "``features``, which is thrown away afterwards; mean squared error of "
                       "cos(u, v) against grades; or max(‖a - p‖ - ‖a - n‖ + margin, 0)")
    features = Given(("u", "v", "|u-v|"), "of 'softmax', out of 'u', 'v', '|u-v|' and 'u*v'",
                     kind="sequence of str", check=lambda name, value: checked_features(value))
    margin = Float(1.0, "of 'triplet'", low=0)
    batch_size = Int(16, "examples of a step, over all processes", low=2)

    classes_ = Learned("tuple of str or int", "of 'softmax', sorted")

    def _examples(self, data: Any) -> Examples:
        loss = f"objective={self.objective!r}"
        if self.objective == "triplet":
            return triplets(data, loss=loss)
        if self.objective == "softmax":
            return labelled_pairs(data, loss=loss)
        return graded_pairs(data, loss=loss, unit=True)

    def _objective(self, learner: Reading, examples: Examples) -> Objective:
        columns = [Column(texts, learner.number) for texts in examples.columns]
        if self.objective == "triplet":
            return LabelledObjective(columns, None,
                                     lambda vectors, _: triplet_loss(*vectors, margin=self.margin))
        if self.objective == "cosine":
            return LabelledObjective(columns, examples.labels,
                                     lambda vectors, y: cosine_regression(*vectors, y))
        self.classes_ = examples.classes
        head = Classifier(learner.dim, features=self.features, classes=len(examples.classes),
                          seed=derived_seed(HEAD, self.seed))
        return LabelledObjective(columns, examples.labels,
                                 lambda vectors, y: head.loss(*vectors, y), head=head)

    @property
    def classifier_(self) -> dict[str, np.ndarray]:
        """``weight`` (classes, features * dim) and ``bias`` of 'softmax', which are thrown away.

        Raises
        ------
        NotFittedError
        ValueError
            Another objective.
        """
        self._check_fitted("encoder_")
        if self.objective != "softmax":
            raise ValueError(f"objective={self.objective!r} has no classifier; only 'softmax' has")
        return {name: self._state[0][f"model.objective.head.{name}"] for name in ("weight", "bias")}


class LabelledObjective(Objective):
    """A loss of vectors and labels, one per example or None; a head learns along. With ``ordered``
    only the order of labels counts, so that a batch of equal ones is idle.
    """

    def __init__(self, columns: list[Column], labels: np.ndarray | None,
                 loss: Callable[[Sequence[Tensor], Any], Tensor], *,
                 head: torch.nn.Module | None = None, ordered: bool = False) -> None:
        super().__init__()
        self.columns, self.views = columns, list(range(len(columns)))
        self.labels, self.loss, self.ordered = labels, loss, ordered
        if head is not None:
            self.head = head

    def forward(self, vectors: Sequence[Tensor], examples: np.ndarray) -> Tensor:
        """The loss of a batch."""
        labels = None if self.labels is None else torch.from_numpy(self.labels[examples])
        return self.loss(vectors, labels)

    def idle(self, examples: np.ndarray) -> bool:
        """Whether all labels of a batch are equal where only their order counts."""
        return self.ordered and len(np.unique(self.labels[examples])) < 2
