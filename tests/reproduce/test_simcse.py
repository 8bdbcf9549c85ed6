"""Entries about SimCSE: what each training differs in, and that one training serves many tables."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.datasets.records import LabelledPairs, SentencePairs
from lessons_lib.reproduce import run, simcse, simcse_texts, trained
from lessons_lib.reproduce.models import CONTROL
from lessons_lib.reproduce.simcse import (AUGMENTS, DEV, ENTRIES, PATHS, PLANE, RAW,
                                          VARIANTS, looked_at, runs, variant)
from lessons_lib.reproduce.simcse_texts import FEWEST, MOST, PAIRS, SENTENCES, pairs_of, texts_of

BY_ID = {entry.id: entry for entry in ENTRIES}
SMOKE, PAPER = simcse.SCALES["smoke"], simcse.SCALES["paper"]


class Fake:
    """A model that has learned nothing: drawn vectors and a drawn history."""

    dim = 4

    def __init__(self, seed: int = 0, name: str = "fake"):
        self.name = name
        rng = np.random.default_rng(seed)
        self.history_ = SimpleNamespace(
            step=np.array([0, 1, 2]), dev=rng.uniform(0.5, 0.7, 3),
            alignment=rng.uniform(0.1, 0.3, 3), uniformity=-rng.uniform(1, 3, 3),
            spectrum=np.array([[1, 0.5, 0.2], [1, 0.6, 0.3], [1, 0.9, 0.8]]), best=1)

    def encode(self, texts, **_):
        seeds = [[*text.encode()] for text in texts]
        vectors = [np.random.default_rng(seed).normal(size=4) for seed in seeds]
        return np.stack(vectors).astype(np.float32)

    def set_params(self, **_):
        return self

    def read_by(self, pooling):
        return self


def fake_load(name: str, split: str | None = None, **_):
    first = [f"{name} {i} is a short sentence" for i in range(30)]
    second = [f"{name} {2 * i} was another one" for i in range(30)]
    score = np.random.default_rng(len(name)).uniform(0, 5, 30)
    return SentencePairs(first, second, score, name=name, split=split or "test")


@pytest.fixture
def faked(monkeypatch, tmp_path):
    """Trainings that cost nothing, kept in a folder of this test; gives the settings asked for."""
    asked = []

    def train(encoder, own, seed, dev):
        asked.append((dict(own), seed))
        return Fake(seed)

    monkeypatch.setattr(simcse, "_train", train)
    for module in (simcse, simcse_texts, trained):
        monkeypatch.setattr(module, "load", fake_load)
    for module in (simcse, trained):
        monkeypatch.setattr(module, "model_of", lambda *_: Fake())
    monkeypatch.setattr(trained, "control_of", lambda *_: Fake(name="random"))
    monkeypatch.setattr(trained, "weights_of", lambda model: model.name)
    monkeypatch.setattr(trained, "cache_folder", lambda: tmp_path)
    return asked


@pytest.mark.parametrize("name", list(BY_ID))
def test_every_entry_can_be_measured_drawn_and_judged(faked, name, tmp_path):
    outcome = run(BY_ID[name], scale="smoke", folder=tmp_path)
    assert len(outcome.files) == 2 and outcome.verdicts
    assert any(row.endswith(CONTROL) for row in outcome.measured)


def test_a_training_serves_every_table_that_reads_it_and_leaves_its_history_behind(faked):
    for entry in ENTRIES:
        entry.measure(entry.scales["smoke"], 0)
    plain = variant(simcse.BAG_SCALES["smoke"], "SimCSE")
    assert sum(own == plain for own, _ in faked) == 2      # one and its control, for all tables
    faked.clear()  # controls are for the names that want them, and no more than asked
    result = runs(["SimCSE", "no dropout"], SMOKE | {"seeds": 2, "controls": 1}, 5,
                  controls=["SimCSE"])
    assert "SimCSE" + CONTROL in result and "no dropout" + CONTROL not in result
    assert [seed for _, seed in faked] == [5, 6, 5, 5, 6]
    model = Fake(3)
    rows, dev = looked_at(model), 100 * model.history_.dev
    assert rows[""] == {DEV: pytest.approx(dev[-1])}
    assert looked_at(model, best=True)[""] == {DEV: pytest.approx(dev[1])}
    assert rows[": dev"] == pytest.approx(dict(enumerate(dev)))
    assert rows[": spectrum"] == {1: 1, 2: 0.9, 3: 0.8}
    assert rows[": spectrum before"] == {1: 1, 2: 0.5, 3: 0.2}


def test_a_training_differs_from_the_plain_one_in_what_its_name_says():
    plain = variant(SMOKE, "SimCSE")
    for name, own in VARIANTS.items():
        every = variant(SMOKE, name)
        changed = {key for key, value in every.items() if plain.get(key) != value}
        assert changed <= {*own, *SMOKE["supervised"]}, name
    assert variant(SMOKE, "dropout 0.2")["dropout"] == 0.2
    assert variant(SMOKE, "τ = 1")["temperature"] == 1.0
    assert variant(PAPER, "supervised")["batch_size"] == 512
    assert variant(PAPER, "SimCSE")["batch_size"] == 64


def test_a_changed_text_has_as_many_words_as_its_name_says(faked):
    text, rng = "one two three four five six seven eight nine ten", np.random.default_rng(0)
    left = {name: len(change(text, rng).split()) for name, change in list(AUGMENTS.items())
            if name in ("crop 10 %", "crop 30 %", "delete one word")}
    assert left == {"crop 10 %": 9, "crop 30 %": 7, "delete one word": 9}
    lengths = [len(AUGMENTS["delete 20 %"](text, rng).split()) for _ in range(300)]
    assert np.mean(lengths) == pytest.approx(8, abs=0.3)
    texts = texts_of("STS-B, train")  # each once
    assert len(texts) == len(set(texts)) == 60
    assert {len(t.split()) for t in simcse_texts._cut(["a " * 20, "b " * 12, "c c"])} == {12}
    assert {"Wikipedia", "NLI"} < set(SENTENCES)


def test_a_pair_is_of_its_class_or_of_neighbours_in_an_article(monkeypatch):
    numbers = ("one", "two", "three", "four")
    article = ". ".join(f"Sentence {number} stands in here" for number in numbers)
    pairs = LabelledPairs(["a", "b", "c"], ["x", "y", "z"],
                          ["neutral", "entailment", "entailment"], ["snli_devtest"] * 3)
    monkeypatch.setattr(simcse_texts, "load", lambda name, **_: {
        "nli-pairs": pairs, "wikipedia-sample": [article + ".", "Short one."]}[name])
    assert pairs_of("entailment") == (["b", "c"], ["y", "z"])
    assert pairs_of("contradiction") == ([], []) and len(pairs_of("all classes")[0]) == 3
    near, far = pairs_of("next sentence"), pairs_of("next 3 sentences")
    assert [text.split()[1] for text in near[0]] == ["one", "two", "three"]
    assert [text.split()[1] for text in near[1]] == ["two", "three", "four"]
    assert len(far[0]) == len(far[1]) == 3 + 2 + 1 and far[1][-1].split()[1] == "four"
    assert set(PAIRS) >= {"neutral"} and FEWEST < MOST


@pytest.mark.parametrize(("call", "words"), [
    (lambda: texts_of("wiki"), "sentences='wiki'.*Wikipedia"),
    (lambda: pairs_of("wiki"), "pairs='wiki'.*neutral"),
    (lambda: simcse.dev_pairs({"n_dev": 0}), "n_dev=0.*above 4.*28 or more")])
def test_what_cannot_be_learned_from_is_named(faked, call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_training_that_changes_nothing_refutes_the_claims_about_plane_and_spectrum():
    looks = ("dev", "alignment", "uniformity")
    still = {f"{name}: {what}": {0: 0.2, 60: 0.2} for name in PATHS for what in looks}
    one = {name: {0: -2.0, 1: 0.3, 2: 60.0} for name in (*PLANE, RAW, "whitening")}
    flat = {name: {1: 1.0, 2: 0.5} for name in (*PLANE, RAW)}
    given = {"gao2021_figure2": still, "gao2021_figure3": one, "gao2021_singular_values": flat}
    for name, rows in given.items():
        assert not any(claim.holds(rows) for claim in BY_ID[name].claims)
