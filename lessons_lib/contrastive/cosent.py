"""CoSENT: train what is asked for in the end, the order of cosines.

SBERT learns to classify or to hit grades, and is then asked whether close pairs have the higher
cosine. CoSENT takes exactly this as its loss: each pair of pairs in the wrong order costs. Taught
in ``13_cosent``. [su2022cosent]
"""

from __future__ import annotations

from typing import Any

from ..contextual import ContextualEncoder
from ..core import check_float
from .batches import Column
from .examples import Examples, graded_pairs
from .losses import cosent_loss
from .reading import Reading
from .sbert import LabelledObjective
from .trainer import Trainer
from .training import Objective

__all__ = ["CoSent"]


class CoSent(Trainer):
    """An encoder trained by the order of its cosines.

    Parameters: encoder, see `Trainer` for all settings that are not named here; scale λ, the
    inverse of a temperature. Data for `fit`: `SentencePairs`, or (first, second, labels), of whose
    labels only the order counts: grades, or classes such as contradiction 0, neutral 1, entailment
    2. A batch with one distinct label has nothing to order: its loss is 0, and ``history_.idle``
    counts it.
    """

    words = "CoSENT"

    def __init__(self, encoder: ContextualEncoder, *, scale: float = 20.0,
                 pooling: str | None = None, dropout: float | None = 0.1, batch_size: int = 32,
                 epochs: float = 1.0, steps: int | None = None, learning_rate: float = 2e-5,
                 warmup: float = 0.1, weight_decay: float = 0.0, clip: float = 1.0,
                 max_length: int | None = None, evaluate_every: int | None = None,
                 patience: int | None = None, chunk: int | None = None, precision: str = "float32",
                 seed: int = 0, device: str = "auto", progress: bool = False):
        self.encoder, self.scale = encoder, scale
        self.pooling, self.dropout, self.batch_size, self.epochs, self.steps = pooling, dropout, batch_size, epochs, steps
        self.learning_rate, self.warmup, self.weight_decay, self.clip = learning_rate, warmup, weight_decay, clip
        self.max_length, self.evaluate_every, self.patience, self.chunk = max_length, evaluate_every, patience, chunk
        self.precision, self.seed, self.device, self.progress = precision, seed, device, progress

    def _check_own(self) -> None:
        check_float("scale", self.scale, low=0.0, open_low=True)

    def _examples(self, data: Any) -> Examples:
        return graded_pairs(data, loss="CoSENT", unit=False)

    def _objective(self, reading: Reading, examples: Examples) -> Objective:
        columns = [Column(texts, reading.number) for texts in examples.columns]
        return LabelledObjective(columns, examples.labels,
                                 lambda vectors, y: cosent_loss(*vectors, y, scale=self.scale),
                                 ordered=True)
