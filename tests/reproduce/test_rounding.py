"""Flow and whitening on all sets: what is fitted on, how files are joined, exact identities."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from lessons_lib.datasets.records import SentencePairs, Triplets
from lessons_lib.reproduce import entries, rounding, rounding_grid, run
from lessons_lib.reproduce.flow import nulled
from lessons_lib.reproduce.models import CONTROL
from lessons_lib.reproduce.rounding_grid import (
    FITS, RAW, Pairs, beta_gamma_grid, encoded, grid, score_against_k, scored)
from lessons_lib.reproduce.trained import SETS

NAMES = [entry.id for entry in rounding.ENTRIES if entry.id != "su2022_tuned"]


def fake_load(name: str, split: str = "test"):
    if name == "nli":
        return Triplets(*([f"{letter} {i}" for i in range(30)] for letter in "pec"))
    rng = np.random.default_rng({"train": 1, "dev": 2, "test": 3}[split])
    texts = [[f"{name} {i}" for i in row] for row in rng.integers(0, 60, size=(2, 40))]
    files = [f"f{i % 2}" for i in range(40)] if name == "sts13" else None
    return SentencePairs(*texts, rng.uniform(0, 5, 40), name=name, split=split, subset=files)


class Drawn:
    """Encodes a text as a vector drawn from a seed that is the text."""

    dim, n_encoded = 6, 0

    def __init__(self, name: str, seed: int = 0):
        self.shift = seed + 10 * (name == "lesson-bert")

    def encode_each(self, texts, poolings):
        Drawn.n_encoded += len(texts)
        seeds = [[self.shift, *text.encode()] for text in texts]
        x = np.stack([np.random.default_rng(seed).normal(size=6) for seed in seeds])
        x = x.astype(np.float32)
        return [x * (1 + np.arange(6)) + 3 + k for k, _ in enumerate(poolings)]


@pytest.fixture
def drawn(monkeypatch):
    """Drawn vectors of toy sentences, kept in caches of this test: the real ones stay."""
    monkeypatch.setattr(rounding_grid, "load", fake_load)
    monkeypatch.setattr(rounding_grid, "model_of", Drawn)
    for name in ("gathered", "_vectors"):
        kept = getattr(rounding_grid, name)
        size = kept.cache_parameters()["maxsize"]
        monkeypatch.setattr(rounding_grid, name, functools.lru_cache(size)(kept.__wrapped__))


def test_every_sentence_is_numbered_once_and_the_target_holds_all_parts(drawn):
    s = rounding_grid.gathered(("sts13", "stsb"), 10, 0)
    assert len(s.texts) == len(set(s.texts)) and len(s.nli) == 30
    assert len(s.target["stsb"]) == 3 * 80 and len(s.target["sts13"]) == 80  # with repetition
    pairs, test = s.tests["sts13"], fake_load("sts13")
    assert [s.texts[i] for i in pairs.left] == test.sentence1
    assert [s.texts[i] for i in pairs.right] == test.sentence2
    assert sorted(pairs.files) == ["f0", "f1"]
    assert [s.texts[i] for i in s.dev.left] == fake_load("stsb", "dev").sentence1


def test_a_sentence_is_encoded_once_for_each_model_however_often_it_is_asked_for(drawn):
    Drawn.n_encoded = 0
    for sets in (("stsb",), ("stsb", "sts13"), ("sts13",)):
        s, tables = encoded("lesson-bert", 0, sets, 5)
        assert {len(table) for table in tables.values()} == {len(s.texts)}
        own = Drawn("lesson-bert").encode_each(s.texts, [0, 1])[1]
        assert np.allclose(tables["last"], own)
        Drawn.n_encoded -= len(s.texts)  # those of the line above
    assert Drawn.n_encoded == len(rounding_grid.gathered(("stsb", "sts13"), 5, 0).texts)


def test_the_weighted_mean_weighs_files_by_their_pairs_and_is_that_of_all_for_one_file():
    gold, cosines = np.array([1.0, 2, 3, 1, 2]), np.array([0.1, 0.2, 0.3, 0.9, 0.8])
    i = np.arange(5)
    two, one = Pairs(i, i, gold, {"a": i[:3], "b": i[3:]}), Pairs(i, i, gold, {"a": i})
    assert scored(cosines, two) == pytest.approx(100 * (3 * 1 + 2 * -1) / 5)
    assert scored(cosines, one) == pytest.approx(scored(cosines, one, "all"))
    assert scored(cosines, two, "all") != pytest.approx(scored(cosines, two))


def test_rows_stand_at_the_place_of_their_set_and_gamma_0_changes_nothing(drawn):
    methods, fitted = ["β = γ = 0", "whitening", "whitening, a third"], ("NLI", "target")
    table = grid("lesson-bert", methods, sets=["sts13", "stsb"], n_nli=10)
    assert set(table) == {RAW, *(f"{name} ({data})" for name in methods for data in fitted)}
    assert all(sorted(row) == [1, 5] for row in table.values()) and SETS[5] == "stsb"
    for data in fitted:
        assert table[f"β = γ = 0 ({data})"] == pytest.approx(table[RAW], abs=1e-3)
    assert table["whitening (NLI)"] != pytest.approx(table["whitening (target)"], abs=1e-6)


def test_a_fit_for_each_file_is_the_fit_on_the_target_where_there_is_one_file(drawn, monkeypatch):
    data, ways = ("target", "each file"), ("all", "wmean")
    own = {"sets": ["sts13"], "n_nli": 5, "data": data, "protocols": ways}
    table = grid("lesson-bert", ["whitening"], **own)
    rows = (RAW, *(f"whitening ({name})" for name in data))
    assert set(table) == {f"{row}, {way}" for row in rows for way in ways}
    target = table["whitening (target), all"][1]
    assert table["whitening (each file), all"][1] != pytest.approx(target, abs=1e-6)
    pairs = rounding_grid.gathered(("sts13",), 5, 0, None).tests["sts13"]
    monkeypatch.setitem(pairs.files, "f0", np.arange(40))
    monkeypatch.delitem(pairs.files, "f1")
    one = grid("lesson-bert", ["whitening"], **own)["whitening (each file), all"][1]
    assert one == pytest.approx(target, abs=1e-3)


def test_standardisation_is_a_flow_without_a_step_and_a_rising_curve_refutes_fewer_dimensions():
    x = np.random.default_rng(0).normal(size=(200, 6)) * (1 + np.arange(6)) + 3
    z = FITS["standardised"](x, 0).transform(x)
    assert np.allclose(z.mean(axis=0), 0, atol=1e-5) and np.allclose(z.std(axis=0), 1, atol=1e-3)
    claim = entries()["su2021_dimensions"].claims[0]
    assert not claim.holds({"SICK-R (NLI)": {0.1: 1.0, 0.5: 2.0, 1.0: 3.0}})


def test_the_last_k_is_full_whitening_and_corners_of_the_grid_are_what_they_are_called(drawn):
    s, tables = encoded("lesson-bert", 0, ("stsb",), 5)
    given = tables["first-last"], s.target["stsb"], s.tests["stsb"]
    table = grid("lesson-bert", ["whitening"], sets=["stsb"], n_nli=5)
    by_k = score_against_k(*given, shares=(1 / 3, 1.0))
    assert list(by_k) == [0.3333, 1.0]
    assert by_k[1.0] == pytest.approx(table["whitening (target)"][5], abs=1e-3)
    corners = beta_gamma_grid(*given, betas=[0.0, 1.0], gammas=[0.0, 1.0])
    ends = corners[0, 0], corners[1, 1]
    assert ends == pytest.approx((table[RAW][5], by_k[1.0]), abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_can_be_measured_drawn_and_judged(drawn, name, tmp_path):
    outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    assert len(outcome.files) == 2 and outcome.verdicts
    if name in ("su2021_table1", "su2022_parameters", "li2020_table2"):
        printed = entries()[name].printed
        assert {*printed, *(row + CONTROL for row in printed)} <= set(outcome.measured)


def test_nothing_is_left_along_directions_that_are_taken_away_and_the_rest_stays():
    x = np.random.default_rng(0).normal(size=(30, 5)) + 2
    axes = np.linalg.svd(x)[2]
    left = nulled(x, x, 2)
    assert np.allclose(left @ axes[:2].T, 0) and np.allclose(left @ axes[2:].T, x @ axes[2:].T)
    assert np.allclose(nulled(x, x, 0), x)
