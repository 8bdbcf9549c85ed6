"""Entries that train or read encoders: seeds, controls, sets, and what was finished is kept."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
import torch

from lessons_lib.core import DataWarning
from lessons_lib.datasets.records import SentencePairs
from lessons_lib.reproduce import bert, trained
from lessons_lib.reproduce.models import CONTROL, controlled
from lessons_lib.reproduce.trained import (
    PLACES, SD, SETS, forget, kept_folder, spearman_by_set, trained_rows)

PAIRS = SentencePairs(["0"] * 4, ["10", "40", "80", "60"], np.array([5.0, 4.0, 1.0, 2.0]),
                      name="toy", split="test", scale=(0, 5))


class Start:
    """An encoder to start from, with a weight."""

    def __init__(self, weight: float):
        self.weight, self.reader = weight, self
        self.model = torch.nn.Linear(1, 1, bias=False)
        with torch.no_grad():
            self.model.weight.fill_(weight)


class Trainer:
    """The score is the start weight and ten times the seed; may fail in one of its trainings."""

    def __init__(self, fails_at: int | None = None):
        self.trainings, self.fails_at = [], fails_at

    def __call__(self, encoder, seed):
        if len(self.trainings) == self.fails_at:
            raise KeyboardInterrupt
        self.trainings.append((encoder.weight, seed))
        return encoder.weight + 10 * seed


@pytest.fixture(autouse=True)
def starts(monkeypatch):
    """Start weight 1 of the trained model, 0.5 of the control."""
    known = {"lesson-bert": 1.0}
    monkeypatch.setattr(trained, "model_of", lambda name: Start(known.get(name, 2.0)))
    monkeypatch.setattr(trained, "control_of", lambda name, seed: Start(0.5))


def rows(train, settings=None, **changes):
    given = {"entry": "euclid_1", "seeds": 3, "settings": settings or {"steps": 2},
             "score": lambda model: {"": {5: model}, ", halved": {0: model / 2}}}
    return trained_rows("row", train, **given | changes)


def test_means_and_standard_deviations_over_seeds_with_the_control_beside_them():
    result = rows(Trainer(), seed=1)  # 11, 21, 31
    assert result["row"] == {5: 21.0} and result["row" + SD] == {5: pytest.approx(10.0)}
    assert result["row, untrained"] == {5: 20.5} and len(result) == 8
    assert result["row, halved, untrained" + SD] == {0: pytest.approx(5.0)}
    assert list(rows(Trainer(), seeds=1, controls=0)) == ["row", "row, halved"]


def test_an_interrupted_record_goes_on_with_the_training_that_it_stopped_in():
    stopped, goes_on, again = Trainer(fails_at=2), Trainer(), Trainer()
    with pytest.raises(KeyboardInterrupt):
        rows(stopped)
    result = rows(goes_on)
    every = [(weight, seed) for weight in (1.0, 0.5) for seed in (0, 1, 2)]
    assert stopped.trainings + goes_on.trainings == every
    assert rows(again) == result and not again.trainings


@pytest.mark.parametrize("change", [
    {"settings": {"steps": 3}}, {"settings": {"steps": 2, "encoder": "another"}},
    {"entry": "euclid_2"}, {"seed": 7}])
def test_what_decides_a_training_decides_whether_it_is_known(change, tmp_path, monkeypatch):
    monkeypatch.setattr(trained, "CODE", tmp_path)
    monkeypatch.setattr(trained, "_code", functools.lru_cache(trained._code.__wrapped__))
    rows(Trainer(), seeds=1)
    (tmp_path / "losses.py").write_text("steps = 1\n")
    same, again, other = Trainer(), Trainer(), Trainer()
    rows(same, seeds=1)  # this process still trains by the code that it read
    rows(again, **{"seeds": 1} | change)
    trained._code.cache_clear()
    rows(other, seeds=1)
    assert [len(t.trainings) for t in (same, again, other)] == [0, 2, 2]


def test_a_cut_file_counts_as_none_and_forgetting_begins_anew():
    rows(Trainer(), controls=0)
    files = sorted(kept_folder("euclid_1").glob("*.json"))
    files[0].write_text("{")
    again, anew = Trainer(), Trainer()
    rows(again, controls=0)
    forget("euclid_1")
    with pytest.raises(ValueError, match="sets='stsb deb'.*stsb dev"):
        rows(anew, sets=["stsb deb"])
    assert not anew.trainings  # refused before anything is trained
    rows(anew, controls=0)
    assert len(again.trainings) == 1 and len(anew.trainings) == 3 and len(files) == 3


class Angles:
    """Encodes a text that is an angle; warns, as models do of long sentences."""

    dim, name = 2, "angles"

    def __init__(self, name: str = "", seed: int = 0):
        self.opposite = name.endswith("random") and seed == 1

    def encode(self, texts, *, batch_size=256, progress=False):
        warnings.warn("too long", DataWarning, stacklevel=1)
        t = np.radians([float(text) for text in texts])
        t = np.where(self.opposite & (t > 0), np.pi / 2 - t, t)
        return np.column_stack([np.cos(t), np.sin(t)])

    def encode_each(self, texts, poolings):
        return [self.encode(texts) for _ in poolings]


def test_scores_stand_at_the_place_of_their_set_and_a_split_can_be_named(monkeypatch):
    asked = []
    for module in (trained, bert):
        monkeypatch.setattr(module, "load", lambda n, split=None: asked.append((n, split)) or PAIRS)
    scores = spearman_by_set(Angles(), ["stsb", "stsb dev"])
    assert scores == {5: pytest.approx(100), PLACES.index("stsb dev"): pytest.approx(100)}
    result = bert.scores_by_set(lambda t: [Angles().encode(t)], ["angles"], ["sts13", "sick"])
    assert result == {"angles": {1: pytest.approx(100), 6: pytest.approx(100)}}
    assert SETS[1] == "sts13" and asked == [
        ("stsb", None), ("stsb", "dev"), ("sts13", None), ("sick", None)]


def test_the_control_is_the_mean_over_its_seeds(monkeypatch):
    monkeypatch.setattr(bert, "load", lambda name: PAIRS)
    monkeypatch.setattr(bert, "model_of", Angles)
    settings = {"sets": ["stsb"], "seeds": 2, "encoder": "lesson-bert", "pairs": None}
    result = bert.ENTRIES[1].measure(settings, 0)
    assert set(result) == {*bert.READINGS, *(name + CONTROL for name in bert.READINGS)}
    assert result["h0 + hL"][5] == pytest.approx(100)
    assert result["h0 + hL" + CONTROL][5] == pytest.approx(0)

    @functools.partial(controlled, seeds="n")
    def measure(model, seed, settings):
        return {"a": {0: 5.0 if model == "lesson-bert" else float(seed)}}

    own = {"encoder": "lesson-bert", "n": 3}
    assert measure(own, 1) == {"a": {0: 5.0}, "a" + CONTROL: {0: 2.0}}
    assert measure(own | {"n": 0}, 1) == {"a": {0: 5.0}}
