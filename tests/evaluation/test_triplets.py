"""Triplets: the share whose entailment is nearer, by hand, and what ties and no triplets give."""

from __future__ import annotations

import numpy as np

from lessons_lib.datasets import Triplets
from lessons_lib.evaluation.triplets import triplet_accuracy


class Angles:
    """Encodes a text that is a number of degrees as a vector of that direction."""

    dim, name = 2, "angles"

    def encode(self, texts):
        turn = np.radians([float(text) for text in texts])
        return (np.column_stack([np.cos(turn), np.sin(turn)]).astype(np.float32)
                * np.arange(1, len(turn) + 1)[:, None])


def test_a_triplet_counts_when_the_entailment_is_nearer_whatever_the_lengths_of_the_vectors():
    triplets = Triplets(["0", "0", "90", "10"], ["10", "50", "80", "20"], ["20", "40", "10", "200"])
    assert triplet_accuracy(Angles(), triplets) == 0.75


def test_a_tie_does_not_count_and_neither_does_a_text_that_equals_its_contradiction():
    assert triplet_accuracy(Angles(), Triplets(["0"], ["0"], ["0"])) == 0.0
    assert triplet_accuracy(Angles(), Triplets(["0"], ["30"], ["0"])) == 0.0
