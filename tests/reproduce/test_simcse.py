"""Entries about SimCSE: what each training differs in, that one training serves many tables, and what the paper's numbers say."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.core import BackendUnavailable, DataMissing
from lessons_lib.datasets.records import SentencePairs
from lessons_lib.reproduce import run, simcse, simcse_training, trained
from lessons_lib.reproduce.bert import CONTROL, SETS, averages
from lessons_lib.reproduce.simcse import DEV, ENTRIES
from lessons_lib.reproduce.simcse_training import AUGMENTS, SENTENCES, VARIANTS, looked_at, runs, texts_of, variant

BY_ID = {entry.id: entry for entry in ENTRIES}
SMOKE, PAPER = simcse.SCALES["smoke"], simcse.SCALES["paper"]


class Fake:
    """A model that has learned nothing: drawn vectors and a drawn history."""

    dim = 4

    def __init__(self, seed: int = 0, name: str = "fake"):
        self.name = name
        rng = np.random.default_rng(seed)
        self.history_ = SimpleNamespace(step=np.array([0, 1, 2]), dev=rng.uniform(0.5, 0.7, 3), alignment=rng.uniform(0.1, 0.3, 3),
                                        uniformity=-rng.uniform(1, 3, 3), spectrum=np.array([[1, 0.5, 0.2], [1, 0.6, 0.3], [1, 0.9, 0.8]]))

    def encode(self, texts, **_):
        return np.stack([np.random.default_rng([*text.encode()]).normal(size=4) for text in texts]).astype(np.float32)

    def set_params(self, **_):
        return self

    def read_by(self, pooling):
        return self


def fake_load(name: str, split: str | None = None, **_):
    rng = np.random.default_rng(len(name))
    return SentencePairs(name=name, split=split or "test", sentence1=[f"{name} {i} is a short sentence" for i in range(30)],
                         sentence2=[f"{name} {2 * i} was another one" for i in range(30)], score=rng.uniform(0, 5, 30))


@pytest.fixture
def faked(monkeypatch, tmp_path):
    """Trainings that cost nothing, kept in a folder of this test. Returns the settings that were asked for."""
    asked = []
    monkeypatch.setattr(simcse_training, "_train", lambda encoder, own, seed, dev: asked.append((dict(own), seed)) or Fake(seed))
    for module in (simcse, simcse_training, trained):
        monkeypatch.setattr(module, "load", fake_load, raising=False)
    monkeypatch.setattr(simcse, "load_encoder", lambda *_: Fake())
    monkeypatch.setattr(simcse, "model_of", lambda *_: Fake())
    monkeypatch.setattr(trained, "load_encoder", lambda *_: Fake())
    monkeypatch.setattr(trained, "control_of", lambda *_: Fake(name="start weights"))
    monkeypatch.setattr(trained, "weights_of", lambda model: model.name)
    monkeypatch.setattr(trained, "cache_folder", lambda: tmp_path)
    return asked


@pytest.mark.parametrize("name", list(BY_ID))
def test_every_entry_can_be_measured_drawn_and_judged(faked, name, tmp_path):
    outcome = run(BY_ID[name], scale="smoke", folder=tmp_path)
    assert len(outcome.files) == 2 and outcome.verdicts
    assert any(row.endswith(CONTROL) for row in outcome.measured)


def test_a_training_serves_every_table_that_reads_it(faked):
    for entry in ENTRIES:
        entry.measure(entry.scales["smoke"], 0)
    assert sum(own == variant(SMOKE, "SimCSE") for own, _ in faked) == 4                    # one and its control, again for other poolings


def test_a_training_differs_from_the_plain_one_in_what_its_name_says():
    plain = variant(SMOKE, "SimCSE")
    for name, own in VARIANTS.items():
        changed = {key for key, value in variant(SMOKE, name).items() if plain.get(key) != value}
        assert changed <= {*own, *SMOKE["supervised"]}, name
    assert variant(SMOKE, "dropout 0.2")["dropout"] == 0.2 and variant(SMOKE, "τ = 1")["temperature"] == 1.0
    assert variant(PAPER, "supervised")["batch_size"] == 512 and variant(PAPER, "SimCSE")["batch_size"] == 64


def test_what_a_training_leaves_behind_is_its_history():
    model = Fake(3)
    rows = looked_at(model)
    assert rows[""] == {DEV: pytest.approx(100 * model.history_.dev[-1])}
    assert rows[": dev"] == pytest.approx({0: 100 * model.history_.dev[0], 1: 100 * model.history_.dev[1], 2: 100 * model.history_.dev[2]})
    assert rows[": spectrum"] == {1: 1, 2: 0.9, 3: 0.8} and rows[": spectrum before"] == {1: 1, 2: 0.5, 3: 0.2}


def test_controls_are_trained_for_the_names_that_want_them_and_no_more_than_asked(faked):
    found = runs(["SimCSE", "no dropout"], SMOKE | {"seeds": 2, "controls": 1}, 5, controls=["SimCSE"])
    assert "SimCSE" + CONTROL in found and "no dropout" + CONTROL not in found
    assert [seed for _, seed in faked] == [5, 6, 5, 5, 6]


def test_a_changed_text_has_as_many_words_as_its_name_says():
    text = "one two three four five six seven eight nine ten"
    rng = np.random.default_rng(0)
    assert len(AUGMENTS["crop 30 %"](text, rng).split()) == 7 and len(AUGMENTS["delete one word"](text, rng).split()) == 9
    assert np.mean([len(AUGMENTS["delete 20 %"](text, rng).split()) for _ in range(300)]) == pytest.approx(8, abs=0.3)


def test_sentences_are_told_once_and_those_that_are_cut_have_one_length(faked):
    found = texts_of("STS-B, train")
    assert len(found) == len(set(found)) == 60
    assert {len(text.split()) for text in simcse_training._cut(["a " * 20, "b " * 12, "c c"])} == {12}
    assert {"Wikipedia", "NLI"} < set(SENTENCES)
    with pytest.raises(ValueError, match="sentences='wiki'"):
        texts_of("wiki")


# ------------------------------------------------------------------------------------------------ what was printed


@pytest.mark.parametrize("name", ["gao2021_table1", "gao2021_table3", "gao2021_table5", "gao2021_temperature"])
def test_all_claims_hold_of_what_is_printed_and_fail_where_all_scores_are_equal(name):
    entry = BY_ID[name]
    assert [claim.text for claim in entry.claims if not claim.holds(entry.printed)] == []
    equal = {row: dict.fromkeys(points, 50.0) for row, points in entry.printed.items()}
    assert not any(claim.holds(equal) for claim in entry.claims)


@pytest.mark.parametrize(("row", "mean"), [("first and last layer", 56.70), ("SimCSE", 76.25), ("supervised SimCSE", 81.57)])
def test_the_mean_of_the_cells_is_the_average_that_was_printed(row, mean):
    printed = BY_ID["gao2021_table5"].printed
    assert len(printed[row]) == len(SETS) and averages(printed)[row] == pytest.approx(mean, abs=0.006)


def test_a_path_that_goes_nowhere_refutes_the_claims_about_the_plane():
    still = {f"{name}: {what}": {0: 0.2, 60: 0.2} for name in simcse.PATHS for what in simcse.LOOKS}
    assert not any(claim.holds(still) for claim in BY_ID["gao2021_figure2"].claims)
    one = {name: {0: -2.0, 1: 0.3, 2: 60.0} for name in (*simcse.PLANE, simcse.RAW, "whitening")}
    assert not any(claim.holds(one) for claim in BY_ID["gao2021_figure3"].claims)
    flat = {name: {1: 1.0, 2: 0.5} for name in (*simcse.SPECTRA, simcse.RAW)}
    assert not any(claim.holds(flat) for claim in BY_ID["gao2021_singular_values"].claims)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", list(BY_ID))
def test_real_sentences_give_numbers_of_the_right_size_at_the_smallest_scale(name, tmp_path, lessons_data):
    try:
        outcome = run(BY_ID[name], scale="smoke", folder=tmp_path)
    except (DataMissing, BackendUnavailable) as error:
        pytest.skip(str(error))
    assert all(np.isfinite(list(row.values())).all() for row in outcome.measured.values())


def test_too_few_dev_pairs_for_an_alignment_are_refused_by_name(monkeypatch):
    pairs = SentencePairs(name="stsb", split="dev", sentence1=["a", "b"], sentence2=["c", "d"], score=np.array([1.0, 2.0]))
    monkeypatch.setattr(simcse_training, "load", lambda *_, **__: pairs)
    with pytest.raises(ValueError, match="n_dev=2 leaves no pair graded above 4"):
        simcse_training.dev_pairs({"n_dev": 2})
