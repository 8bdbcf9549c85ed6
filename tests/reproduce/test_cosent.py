"""The entries about CoSENT: the printed numbers bear out the article's claims, labels become numbers, and a run measures every row."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.contextual import character_encoder
from lessons_lib.reproduce import entries, run
from lessons_lib.reproduce.cosent import CHINESE, OBJECTIVES, chinese_pairs, over_training, spearman_of, train_by

PAIRS = (["abcd", "aabb", "dcba", "abab", "ccdd", "dddd"], ["abcd", "aabb", "dcab", "abcd", "abcd", "aaaa"], np.array([2.0, 2, 1, 1, 0, 0]))
SMALL = {"dim": 16, "layers": 1, "heads": 2, "feed_forward": 16}


@pytest.fixture(scope="module")
def reader():
    return character_encoder(PAIRS[0] + PAIRS[1], **SMALL)


def test_what_the_article_prints_bears_out_its_own_claims():
    entry = entries()["su2022_cosent_table"]
    rows = {**entry.printed, "cosine regression": {x: 0.0 for x in range(5)}}
    assert all(claim.holds(rows) for claim in entry.claims)
    assert round(float(np.mean(list(entry.printed["CoSENT"].values()))), 2) == 68.19


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_each_objective_learns_its_pairs_and_leaves_the_encoder_as_it_was(objective, reader):
    before = reader.encode(["abcd"])
    model = train_by(objective, reader, PAIRS, seed=0, steps=40, batch_size=6, learning_rate=5e-3, dropout=0.0)
    assert np.array_equal(reader.encode(["abcd"]), before) and not np.allclose(model.encode(["abcd"]), before)
    assert model.history_.loss[-1] < model.history_.loss[1]
    if objective != "Sentence-BERT":
        assert spearman_of(model, PAIRS) > spearman_of(reader, PAIRS)


def test_the_band_is_as_wide_as_the_standard_deviation_that_was_recorded():
    rows = {"CoSENT, by step": {0.0: 60.0, 5.0: 70.0}, "CoSENT, by step, sd": {0.0: 0.0, 5.0: 2.0}, "CoSENT": {5: 50.0},
            "CoSENT, by step, untrained": {0.0: 61.0, 5.0: 62.0}}
    own, control = (fig := over_training(rows)).axes[0].lines
    assert np.allclose(own.get_ydata(), [60, 70]) and control.get_linestyle() == "--"
    assert np.isclose(fig.axes[0].collections[0].get_paths()[0].vertices[:, 1].max(), 72)


@pytest.mark.data
def test_classes_of_inferences_become_an_order_and_grades_stay(lessons_data):
    first, second, labels = chinese_pairs("SNLI-zh", "dev", 50)
    assert len(first) == len(second) == 50 and set(labels) == {0.0, 1.0, 2.0}
    assert chinese_pairs("STS-B-CNSD", "test")[2].max() == 5


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*were cut")        # sentences of PAWS-X are longer than the small BERT
@pytest.mark.parametrize("name", ["cosent_stsb", "su2022_cosent_table"])
def test_every_row_is_measured(name, tmp_path, monkeypatch, lessons_data):
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path / "cache"))
    outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    assert set(OBJECTIVES) <= set(outcome.measured)
    assert all(-100 <= y <= 100 for points in outcome.measured.values() for y in points.values())
    if name == "su2022_cosent_table":
        assert all(set(outcome.measured[row]) == {place for place, _, _ in CHINESE.values()} for row in (*OBJECTIVES, "start weights"))
