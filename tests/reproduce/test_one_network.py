"""One network under every objective: what each row is trained on, and with which weights it begins.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.datasets import SentencePairs
from lessons_lib.reproduce import one_network, run
from lessons_lib.reproduce.entry import judged
from lessons_lib.reproduce.models import CONTROL
from lessons_lib.reproduce.one_network import (
    ENTRIES, ON_BOTH, ON_GRADES, ON_NLI, PLAIN, RAW, READ, ROWS, SCORED, TAUGHT, TAUGHT_FIRST,
    TRAININGS)
from lessons_lib.reproduce.trained import PLACES, SD

(ENTRY,) = ENTRIES
PLACE = [PLACES.index(place) for place in SCORED]


@pytest.fixture
def fitted(monkeypatch):
    """Trainers that only note what they were given, and data that are words."""
    asked = []

    def trainer(kind):
        class Trainer:
            def __init__(self, encoder, **settings):
                self.asked = SimpleNamespace(kind=kind, start=encoder, settings=settings)

            def fit(self, data, dev):
                self.asked.data = data
                asked.append(self.asked)
                self.encoder_ = f"{kind} of {self.asked.start}"
                return self
        return Trainer

    for kind in ("SimCse", "SBert", "CoSent", "Distil"):
        monkeypatch.setattr(one_network, kind, trainer(kind))
    pairs = SentencePairs(["a", "b"], ["c", "d"], np.array([0.0, 5.0]))
    monkeypatch.setattr(one_network, "load",
                        lambda name, split=None: pairs if split == "dev" else f"{name} {split}")
    monkeypatch.setattr(one_network, "texts_of", lambda kind: [kind, "both"])
    monkeypatch.setattr(one_network, "nli_pairs", lambda: "labelled")
    encoder = SimpleNamespace(encode=lambda texts: np.arange(len(texts)))
    monkeypatch.setattr(one_network, "load_encoder", lambda name: encoder)
    one_network._taught_texts.cache_clear()
    yield asked
    one_network._taught_texts.cache_clear()


@pytest.mark.parametrize("scale", ENTRY.scales)
def test_every_row_has_one_training_and_what_goes_on_begins_with_the_weights_before(fitted, scale):
    rows = [row for training in TRAININGS for row in training]
    assert sorted(rows) == sorted(ROWS) and len(set(rows)) == len(rows)
    models = {}
    for training in TRAININGS:
        models |= one_network.trained_by(training, "start", ENTRY.scales[scale], 3)
    assert set(models) == set(ROWS)
    asked = {row: model.asked for row, model in models.items()}
    assert {row: a.start for row, a in asked.items() if a.start != "start"} == {
        ON_BOTH: "SBert of start", TAUGHT_FIRST: "Distil of start"}
    assert asked[PLAIN].data == ["STS-B, train", "both"] and asked[ON_NLI].data == "labelled"
    assert asked[ON_BOTH].data == asked[TAUGHT_FIRST].data == "stsb train"
    texts, vectors = asked[TAUGHT].data
    assert sorted(texts) == ["NLI", "STS-B, train", "both"] and len(vectors) == 3
    assert all(a.settings["seed"] == 3 for a in fitted)
    if scale == "laptop":
        rate, dropout = map(asked[TAUGHT].settings.get, ("learning_rate", "dropout"))
        assert (rate, dropout, asked[ON_GRADES].settings["dropout"]) == (3e-4, 0.0, 0.0)
    rates = {row: a.settings["learning_rate"] for row, a in asked.items()}
    assert rates[ON_BOTH] == rates[ON_NLI] == ENTRY.scales[scale]["all"]["learning_rate"]


def test_rows_are_gathered_in_their_order_with_spreads_and_controls(monkeypatch, tmp_path):
    def rows(name, train, *, entry, settings, seeds, controls, seed, score):
        assert seeds == (1 if TAUGHT in settings["rows"] else 3) and controls == 1
        result = {}
        for row in settings["rows"]:
            result[name + row] = result[name + row + CONTROL] = dict.fromkeys(PLACE, 60.0)
            result[name + row + SD] = dict.fromkeys(PLACE, 1.0)
        return result

    monkeypatch.setattr(one_network, "trained_rows", rows)
    monkeypatch.setattr(one_network, "model_of", lambda name, seed: SimpleNamespace(
        set_params=lambda pooling: name))
    monkeypatch.setattr(one_network, "spearman_by_set",
                        lambda model, sets, n: dict.fromkeys(PLACE, 50.0))
    outcome = run(ENTRY, scale="laptop", folder=tmp_path)
    own = [row for row in outcome.measured if not row.endswith((SD, CONTROL))]
    assert own == [*READ, *ROWS] and RAW + CONTROL in outcome.measured
    told = judged(ENTRY.claims, outcome.measured)
    assert told[ENTRY.claims[0].text] == "holds, and for the control too"
    untaught = ENTRY.measure(ENTRY.scales["paper"] | {"seeds": 3, "controls": 1}, 0)
    assert not {TAUGHT, TAUGHT_FIRST} & set(untaught) and ON_BOTH in untaught
