"""SimCSE: a text read twice under different dropout is its own positive; all other texts of the
batch are its negatives.

Supervised, the positive is a sentence that follows from the text, and one that contradicts it is a
further, hard negative. Taught in ``14_simcse``. [gao2021simcse]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..core import check_float, shown, warn_data
from ..core.parameters import Choice, Flag, Float, Given
from .examples import (AugmentedColumn, Column, Examples, Order, pairs_or_triplets, sentences,
                       share_of_equals)
from .heads import HEAD, MlpHead
from .losses import in_batch_loss
from .reading import Reading, derived_seed
from .trainer import Trainer
from .training import Objective, Training

__all__ = ["HEADS", "VIEWS", "InBatchObjective", "SimCse"]

VIEWS = {"dropout": (0, 1), "same dropout": (0, 0), "none": (None, None)}
HEADS = ("mlp", "none")
SEVERAL = 0.01            # share of examples with an equal text in their batch: worth a warning


def log_weight(name: str, value: Any) -> float:
    """The logarithm of a weight >= 0, so a finite number or -inf."""
    lowest = isinstance(value, float) and value == -math.inf
    return value if lowest else check_float(name, value)


def a_change(name: str, value: Any) -> Callable[[str, np.random.Generator], str]:
    """The function. Raises TypeError for what is none."""
    if not callable(value):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected a function "
                        f"{name}(text, rng) -> text")
    return value


class SimCse(Trainer):
    """Contrastive learning with the other texts of the batch as negatives.

    Notes
    -----
    Data for `fit`: a list of sentences or `Documents`; supervised: `Triplets`, (anchors, positives,
    negatives), or (anchors, positives) without hard negatives. The loss is InfoNCE of cosines.

    The head is thrown away after training, as in the paper's unsupervised model. Supervised with
    pooling="cls" it stays, as in the paper: it is then the pooler of ``encoder_``, which pools by
    "pooler". [gao2021simcse]
    """

    words = "SimCSE"

    temperature = Float(0.05, "τ; 1/τ must be finite in float32", above=0)
    supervised = Flag(False, "learn from triplets, or from pairs")
    hard_weight = Given(0.0, "log α of the own hard negative", kind="float or -inf",
                        check=log_weight)
    views = Choice(*VIEWS, doc="how the two views of a text differ: other dropout masks; equal "
                   "masks, so both are equal; or nothing is left out")
    augment = Given(None, "``augment(text, rng) -> text``, such as those in `augment`, makes the "
                          "text of the second view anew for each step; masks are still as "
                          "``views`` says", kind="callable", check=a_change)
    head = Choice(*HEADS, doc="'mlp': a dense layer with tanh stands between encoder and loss")
    mask_equal = Flag(False, "leave out negatives whose text is that of the anchor, instead of "
                             "warning of them")

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        if 1 / settings["temperature"] > torch.finfo(torch.float32).max:
            raise ValueError(f"temperature={self.temperature!r} is too small; expected "
                             "1/temperature finite in float32. 0.05 is usual for cosines")
        if self.supervised and (self.augment is not None or self.views != "dropout"):
            raise ValueError("views and augment make a second view of the same text; with "
                             "supervised=True the second text is given. Leave them out")
        if self.hard_weight and not self.supervised:
            raise ValueError(f"hard_weight={self.hard_weight} needs hard negatives: "
                             "supervised=True and triplets")

    def _examples(self, data: Any) -> Examples:
        if not self.supervised:
            return sentences(data)
        examples = pairs_or_triplets(data, loss="supervised SimCSE")
        if self.hard_weight and len(examples.columns) == 2:
            raise ValueError(f"hard_weight={self.hard_weight} needs hard negatives, and data holds "
                             "anchors and positives alone. Leave it out, or pass triplets")
        return examples

    def _check_data(self, examples: Examples, order: Order) -> None:
        dropout = self.dropout
        if dropout is None:
            parts = self.encoder.reader.model.modules()
            dropout = max((part.p for part in parts if isinstance(part, nn.Dropout)), default=0.0)
        plain = not self.supervised and self.augment is None and self.views == "dropout"
        if plain and dropout == 0:
            warn_data("dropout is 0: both views are equal, and only the other texts of a batch "
                      "teach anything. Set dropout=0.1, or views='none' if this is meant",
                      stacklevel=4)
        share = 0.0 if self.mask_equal else share_of_equals(examples.columns[:2], order)
        if share > SEVERAL:
            warn_data(f"{share:.1%} of the examples meet an equal text in their batch, as a "
                      "negative of what is its own positive. mask_equal=True masks them; or drop "
                      "repeats: list(dict.fromkeys(texts))", stacklevel=4)

    def _objective(self, learner: Reading, examples: Examples) -> Objective:
        columns: list[Any] = [Column(texts, learner.number) for texts in examples.columns]
        sides = examples.columns
        if not self.supervised:                   # the second view is of the same text
            second = columns[0]
            if self.augment is not None:
                second = AugmentedColumn(sides[0], learner.number, self.augment, seed=self.seed)
            columns, sides = [*columns, second], sides * 2
        groups = None
        if self.mask_equal:                       # a number for every text, equal for equal texts
            number: dict[str, int] = {}
            groups = [np.array([number.setdefault(text, len(number)) for text in side],
                               dtype=np.int64) for side in sides]
        head = None
        if self.head == "mlp":
            head = MlpHead(learner.dim, seed=derived_seed(HEAD, self.seed))
        views = range(len(columns)) if self.supervised else VIEWS[self.views]
        return InBatchObjective(columns, views,
                                temperature=self.temperature, hard_weight=self.hard_weight,
                                head=head, groups=groups)

    @property
    def _keeps_head(self) -> bool:
        pooling = self.encoder.pooling if self.pooling is None else self.pooling
        return (self.supervised and self.head == "mlp" and pooling == "cls"
                and getattr(self.encoder.reader.model, "pooler", None) is not None)

    @property
    def _pooling_after(self) -> str | None:
        return "pooler" if self._keeps_head else None

    def _finish(self, training: Training) -> None:
        if not self._keeps_head:
            return
        pooler, head = training.learner.model.pooler, training.objective.head
        dense = pooler["dense"] if isinstance(pooler, nn.ModuleDict) else pooler.dense
        dense.weight.copy_(head.weight)
        dense.bias.copy_(head.bias)


class InBatchObjective(Objective):
    """`in_batch_loss` of two columns, or of three with hard negatives, behind a head. ``groups``
    hold a number for each text by column, equal for equal texts, which then are no negatives.
    """

    def __init__(self, columns: list[Any], views: Sequence[int | None], *, temperature: float,
                 hard_weight: float = 0.0, head: nn.Module | None = None,
                 groups: list[np.ndarray] | None = None) -> None:
        super().__init__()
        self.columns, self.views = columns, list(views)
        self.temperature, self.hard_weight, self.groups = temperature, hard_weight, groups
        if head is not None:
            self.head = head

    def forward(self, vectors: Sequence[Tensor], examples: np.ndarray) -> Tensor:
        """The loss of a batch."""
        if hasattr(self, "head"):
            vectors = [self.head(x) for x in vectors]
        groups = None
        if self.groups is not None:
            of = [torch.from_numpy(numbers[examples]) for numbers in self.groups]
            groups = (of[0], torch.cat(of[1:]))
        self.negatives = _negatives(sum(map(len, vectors[1:])), groups)
        return in_batch_loss(*vectors, temperature=self.temperature, hard_weight=self.hard_weight,
                             groups=groups)


def _negatives(n_keys: int, groups: tuple[Tensor, Tensor] | None) -> tuple[int, int]:
    """The fewest and the most keys that a row is set against, beside its own: all, or those of
    another text."""
    if groups is None:
        return n_keys - 1, n_keys - 1
    others = (groups[0][:, None] != groups[1]).sum(dim=1)
    return int(others.min()), int(others.max())
