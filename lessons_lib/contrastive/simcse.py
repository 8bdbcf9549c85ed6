"""SimCSE: a text read twice under different dropout is its own positive; all other texts of the
batch are its negatives.

Supervised, the positive is a sentence that follows from the text, and one that contradicts it is a
further, hard negative. Taught in ``14_simcse``. [gao2021simcse]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..contextual import ContextualEncoder
from ..core import check_choice, check_float, shown, warn_data
from .batches import AugmentedColumn, Column, Order, share_of_equals
from .examples import Examples, sentences, triplets
from .heads import MlpHead
from .losses import in_batch_loss
from .reading import Reading, derived_seed
from .sbert import HEAD
from .trainer import Trainer
from .training import Objective, Training

__all__ = ["HEADS", "VIEWS", "InBatchObjective", "SimCse"]

VIEWS = {"dropout": (0, 1), "same dropout": (0, 0), "none": (None, None)}
HEADS = ("mlp", "none")
SEVERAL = 0.01  # share of examples with an equal text in their batch that is worth a warning


class SimCse(Trainer):
    """Contrastive learning with the other texts of the batch as negatives, cosine and a
    temperature.

    Parameters
        encoder: see `Trainer` for all settings that are not named here. temperature τ. supervised:
        learn from triplets. hard_weight: log α of the own hard negative. views, how the two
        readings of a text differ: "dropout", other masks; "same dropout", equal masks (both are
        then equal); "none", nothing is left out. augment: ``augment(text, rng) -> text``, such as
        those in `augment`, makes the second reading's text anew for each step; the masks still are
        as ``views`` says. head: "mlp", a dense layer with tanh stands between encoder and loss;
        "none". mask_equal: leave out negatives whose text is that of the anchor, instead of warning
        of them.
    Data for `fit`
        A list of sentences or `Documents`; supervised: `Triplets` or (anchors, positives,
        negatives).
    Notes
        The head is thrown away after training, as in the paper's unsupervised model. Supervised
        with pooling="cls" it stays, as in the paper: it is then the pooler of ``encoder_``, which
        pools by "pooler".
    """

    words = "SimCSE"

    def __init__(self, encoder: ContextualEncoder, *, temperature: float = 0.05,
                 supervised: bool = False, hard_weight: float = 0.0, views: str = "dropout",
                 augment: Callable[[str, np.random.Generator], str] | None = None,
                 head: str = "mlp", mask_equal: bool = False, pooling: str | None = None,
                 dropout: float | None = 0.1, batch_size: int = 64, epochs: float = 1.0,
                 steps: int | None = None, learning_rate: float = 2e-5, warmup: float = 0.1,
                 weight_decay: float = 0.0, clip: float = 1.0, max_length: int | None = None,
                 evaluate_every: int | None = None, patience: int | None = None,
                 chunk: int | None = None, precision: str = "float32", seed: int = 0,
                 device: str = "auto", progress: bool = False):
        self.encoder, self.temperature, self.supervised, self.hard_weight = encoder, temperature, supervised, hard_weight
        self.views, self.augment, self.head, self.mask_equal = views, augment, head, mask_equal
        self.pooling, self.dropout, self.batch_size, self.epochs, self.steps = pooling, dropout, batch_size, epochs, steps
        self.learning_rate, self.warmup, self.weight_decay, self.clip = learning_rate, warmup, weight_decay, clip
        self.max_length, self.evaluate_every, self.patience, self.chunk = max_length, evaluate_every, patience, chunk
        self.precision, self.seed, self.device, self.progress = precision, seed, device, progress

    def _check_own(self) -> None:
        temperature = check_float("temperature", self.temperature, low=0.0, open_low=True)
        if 1 / temperature > torch.finfo(torch.float32).max:
            raise ValueError(f"temperature={temperature!r} is too small; expected 1/temperature "
                             "finite in float32. 0.05 is usual for cosines")
        for name in ("supervised", "mask_equal"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name}={shown(getattr(self, name))} is "
                                f"{type(getattr(self, name)).__name__}; expected True or False")
        if self.hard_weight != -math.inf:
            check_float("hard_weight", self.hard_weight)
        check_choice("views", self.views, VIEWS)
        check_choice("head", self.head, HEADS)
        if self.augment is not None and not callable(self.augment):
            raise TypeError(f"augment={shown(self.augment)} is {type(self.augment).__name__}; "
                            "expected a function augment(text, rng) -> text")
        if self.supervised and (self.augment is not None or self.views != "dropout"):
            raise ValueError("views and augment make a second view of the same text; with "
                             "supervised=True the second text is given. Leave them out")
        if self.hard_weight and not self.supervised:
            raise ValueError(f"hard_weight={self.hard_weight} needs hard negatives: "
                             "supervised=True and triplets")

    def _examples(self, data: Any) -> Examples:
        return triplets(data, loss="supervised SimCSE") if self.supervised else sentences(data)

    def _check_data(self, examples: Examples, order: Order) -> None:
        if not self.supervised and self.augment is None and self.views == "dropout" and self._own_dropout(
        ) == 0:
            warn_data("dropout is 0: both views are equal, and only the other texts of a batch "
                      "teach anything. Set dropout=0.1, or views='none' if "
                      "this is meant", stacklevel=4)
        share = 0.0 if self.mask_equal else share_of_equals(examples.columns[:2], order)
        if share > SEVERAL:
            warn_data(f"{share:.1%} of the examples meet an equal text in their batch, as a "
                      "negative of what is its own positive. "
                      "mask_equal=True masks them; or drop repeats: "
                      "list(dict.fromkeys(texts))", stacklevel=4)

    def _own_dropout(self) -> float:
        if self.dropout is not None:
            return float(self.dropout)
        return max((part.p
                    for part in self.encoder.reader.model.modules()
                    if isinstance(part, nn.Dropout)), default=0.0)

    def _objective(self, reading: Reading, examples: Examples) -> Objective:
        first = Column(examples.columns[0], reading.number)
        if self.supervised:
            columns: list[Any] = [
                first, *(Column(texts, reading.number) for texts in examples.columns[1:])
            ]
        elif self.augment is not None:
            columns = [
                first,
                AugmentedColumn(examples.columns[0], reading.number, self.augment, seed=self.seed)
            ]
        else:
            columns = [first, first]
        head = (MlpHead(reading.dim, seed=derived_seed(HEAD, self.seed))
                if self.head == "mlp"
                else None)
        views = (0, 1, 2) if self.supervised else VIEWS[self.views]
        return InBatchObjective(
            columns, views, temperature=self.temperature, hard_weight=self.hard_weight, head=head,
            groups=_numbers(examples, len(columns)) if self.mask_equal else None)

    # ------------------------------------------------------------------------- the head that stays

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
        pooler, head = training.reading.model.pooler, training.objective.head
        dense = pooler["dense"] if isinstance(pooler, nn.ModuleDict) else pooler.dense
        dense.weight.copy_(head.weight)
        dense.bias.copy_(head.bias)


class InBatchObjective(Objective):
    """`in_batch_loss` of two columns, or of three with hard negatives, behind a head.

    Parameters: columns; views, see `Objective`; temperature; hard_weight; head, None: there is
    none; groups, a number for each text by column, (n,) each, equal for equal texts, which then are
    no negatives; None: all are.
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
        return in_batch_loss(*vectors, temperature=self.temperature, hard_weight=self.hard_weight,
                             groups=groups)


def _numbers(examples: Examples, columns: int) -> list[np.ndarray]:
    """A number for every text of every column, equal ones for equal texts; a second view has that
    of its text.
    """
    sides = examples.columns if len(examples.columns) == columns else examples.columns * columns
    number: dict[str, int] = {}
    return [
        np.array([number.setdefault(text, len(number))
                  for text in side], dtype=np.int64)
        for side in sides
    ]
