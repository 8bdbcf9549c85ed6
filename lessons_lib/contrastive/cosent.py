"""CoSENT: train what is asked for in the end, the order of cosines.

SBERT learns to classify or to hit grades, and is then asked whether close pairs have the higher
cosine. CoSENT takes exactly this as its loss: each pair of pairs in the wrong order costs. Taught
in ``13_cosent``. [su2022cosent]
"""

from __future__ import annotations

from typing import Any

from ..core.parameters import Float, Int
from .examples import Column, Examples, graded_pairs
from .losses import cosent_loss
from .reading import Reading
from .sbert import LabelledObjective
from .trainer import Trainer
from .training import Objective

__all__ = ["CoSent"]


class CoSent(Trainer):
    """An encoder trained by the order of its cosines.

    Notes
    -----
    Data for `fit`: `SentencePairs`, or (first, second, labels), of whose labels only the order
    counts: grades, or classes such as contradiction 0, neutral 1, entailment 2. A batch with one
    distinct label has nothing to order: its loss is 0, and ``history_.idle`` counts it.
    [su2022cosent]
    """

    words = "CoSENT"

    scale = Float(20.0, "λ, the inverse of a temperature", above=0)
    batch_size = Int(32, "pairs of a step, over all processes", low=2)

    def _examples(self, data: Any) -> Examples:
        return graded_pairs(data, loss="CoSENT", unit=False)

    def _objective(self, learner: Reading, examples: Examples) -> Objective:
        columns = [Column(texts, learner.number) for texts in examples.columns]
        return LabelledObjective(columns, examples.labels,
                                 lambda vectors, y: cosent_loss(*vectors, y, scale=self.scale),
                                 ordered=True)
