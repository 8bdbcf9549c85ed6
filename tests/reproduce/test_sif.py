"""The entries about SIF: the paper's score is the mean over files, and the paper's claims hold at the smallest scale."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.datasets.records import SentencePairs
from lessons_lib.evaluation import pearson
from lessons_lib.reproduce import entries, run
from lessons_lib.reproduce.sif import mean_pearson


class Angles:
    """Encodes a text that is an angle in degrees."""

    name, dim = "angles", 2

    def encode(self, texts, *, batch_size=256, progress=False):
        t = np.radians([float(text) for text in texts])
        return np.column_stack([np.cos(t), np.sin(t)])


def pairs(subset):
    return SentencePairs(name="toy", split="test", sentence1=["0"] * 6, sentence2=["10", "40", "80", "20", "50", "70"],
                         score=np.array([5.0, 4.0, 1.0, 1.0, 2.0, 3.0]), subset=subset, scale=(0, 5))


def test_the_score_of_a_set_is_the_mean_over_its_files_and_not_over_its_pairs():
    score, cosines = pairs(None).score, np.cos(np.radians([10, 40, 80, 20, 50, 70]))
    apart = [pearson(cosines[part], score[part]) for part in (slice(0, 3), slice(3, 6))]
    assert np.isclose(mean_pearson(Angles(), pairs(["one"] * 3 + ["two"] * 3)), 100 * np.mean(apart))
    assert np.isclose(mean_pearson(Angles(), pairs(None)), 100 * pearson(cosines, score))


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["arora2017_table1", "arora2017_figure1"])
def test_the_claims_of_the_paper_hold_at_the_smallest_scale(name, tmp_path, lessons_data):
    outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    assert outcome.ok, outcome.verdicts
    assert all(0 < y < 100 for points in outcome.measured.values() for y in points.values())
