"""The entries about raw BERT: sets keep their places, the control is a mean over seeds, and the papers' claims hold of what the papers print."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import DataMissing
from lessons_lib.datasets.records import SentencePairs
from lessons_lib.reproduce import bert, entries, run
from lessons_lib.reproduce.bert import CONTROL, ENTRIES, READINGS, SETS, averages, scores_by_set

PAIRS = SentencePairs(name="toy", split="test", sentence1=["0"] * 4, sentence2=["10", "40", "80", "60"], score=np.array([5.0, 4.0, 1.0, 2.0]),
                      subset=None, scale=(0, 5))


def on_a_circle(texts, turn: float = 1.0) -> np.ndarray:
    t = turn * np.radians([float(text) for text in texts])
    return np.column_stack([np.cos(t), np.sin(t)])


class Turning:
    """Encodes a text that is an angle; the untrained one of seed 1 has all pairs in the opposite order."""

    def __init__(self, name: str, seed: int = 0):
        self.opposite = name.endswith("random") and seed == 1

    def encode_each(self, texts, poolings):
        angles = [str(90 - float(t)) if self.opposite and float(t) else t for t in texts]
        return [on_a_circle(angles) for _ in poolings]


def test_scores_stand_at_the_place_of_their_set(monkeypatch):
    monkeypatch.setattr(bert, "load", lambda name: PAIRS)
    found = scores_by_set(lambda texts: [on_a_circle(texts)], ["angles"], ["sts13", "sick"])
    assert found == {"angles": {1: pytest.approx(100), 6: pytest.approx(100)}} and SETS[1] == "sts13"


def test_the_control_is_the_mean_over_its_seeds(monkeypatch):
    monkeypatch.setattr(bert, "load", lambda name: PAIRS)
    monkeypatch.setattr(bert, "model_of", Turning)
    found = bert._of_bert(READINGS, {"sets": ["stsb"], "seeds": 2, "encoder": "lesson-bert", "pairs": None}, 0)
    assert set(found) == {*READINGS, *(name + CONTROL for name in READINGS)}
    assert found["h0 + hL"][5] == pytest.approx(100) and found["h0 + hL" + CONTROL][5] == pytest.approx(0)


def test_averages_are_over_the_sets_that_all_rows_have():
    assert averages({"a": {0: 1.0, 1: 3.0, 2: 100.0}, "b": {0: 5.0, 1: 7.0}}) == {"a": 2.0, "b": 6.0}


@pytest.mark.parametrize(("entry", "name", "printed"), [(0, "mean of GloVe", 61.32), (0, "BERT, mean", 54.81), (0, "BERT, [CLS]", 29.19),
                                                        (1, "h0 + hL", 56.70), (1, "h1 + hL", 60.73)])
def test_the_mean_of_the_cells_is_the_average_that_the_paper_prints(entry, name, printed):
    assert averages(ENTRIES[entry].printed)[name] == pytest.approx(printed, abs=0.006)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_all_claims_hold_of_what_is_printed_and_none_of_equal_scores(entry):
    equal = {name: dict.fromkeys(points, 50.0) for name, points in entry.printed.items()}
    assert all(claim.holds(entry.printed) for claim in entry.claims)
    assert not any(claim.holds(equal) for claim in entry.claims)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_the_picture_has_a_row_for_paper_and_course_and_a_mean_at_the_end(entry):
    ax = entry.draw(entry, entry.printed | {"more": dict.fromkeys(range(7), 1.0)}).axes[0]
    assert len(ax.get_yticklabels()) == 2 * len(entry.printed) + 1
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [*SETS, "mean"]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", [entry.id for entry in ENTRIES])
def test_an_untrained_bert_scores_about_sixty_at_the_smallest_scale(name, tmp_path, lessons_data):
    try:
        outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    except DataMissing as error:
        pytest.skip(str(error))
    row = next(row for key, row in outcome.measured.items() if key.endswith(CONTROL))
    assert 50 < row[SETS.index("stsb")] < 66 and len(outcome.files) == 2
