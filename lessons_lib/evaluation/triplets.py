"""Triplets: whether what follows from a sentence is nearer to it than what contradicts it.

A measure without grades, for texts of which one is known to be closer in meaning. Used in
``10_sbert``; Wikipedia sections are scored in the same way. [reimers2019sentence]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .geometry import pair_cosines

if TYPE_CHECKING:
    from ..core import Encoder
    from ..datasets import Triplets

__all__ = ["triplet_accuracy"]


def triplet_accuracy(encoder: Encoder, triplets: Triplets) -> float:
    """The share of triplets whose entailment has a higher cosine with the premise, ties not.

    Raises ValueError for no triplets, and what the encoder raises.
    """
    n, i = len(triplets), np.arange(len(triplets))
    if not n:
        raise ValueError("triplets holds 0 triplets; expected >= 1")
    texts = [*triplets.premise, *triplets.entailment, *triplets.contradiction]
    vectors = np.asarray(encoder.encode(texts))
    return float(np.mean(pair_cosines(vectors, i, i + n) > pair_cosines(vectors, i, i + 2 * n)))
