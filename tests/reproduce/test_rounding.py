"""The grid of flow and whitening: what it is fitted on, how files are joined, that exact identities come out, and what the papers' numbers say."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from lessons_lib.core import BackendUnavailable, DataMissing
from lessons_lib.datasets.records import SentencePairs, Triplets
from lessons_lib.reproduce import entries, rounding_grid, run
from lessons_lib.reproduce.bert import CONTROL, SETS, averages
from lessons_lib.reproduce.rounding import ENTRIES
from lessons_lib.reproduce.rounding_grid import FITS, RAW, Pairs, beta_gamma_grid, grid, score_against_k, scored, with_control

BY_ID = {entry.id: entry for entry in ENTRIES}


def some_pairs(name: str, split: str, seed: int, files: list[str] | None = None) -> SentencePairs:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 60, size=(2, 40))
    return SentencePairs(name=name, split=split, sentence1=[f"{name} {i}" for i in numbers[0]], sentence2=[f"{name} {i}" for i in numbers[1]],
                         score=rng.uniform(0, 5, 40), subset=files)


def fake_load(name: str, split: str | None = None):
    if name == "nli":
        return Triplets([f"p {i}" for i in range(30)], [f"e {i}" for i in range(30)], [f"c {i}" for i in range(30)])
    part = split or "test"
    files = [f"f{i % 2}" for i in range(40)] if name == "sts13" else None
    return some_pairs(name, part, {"train": 1, "dev": 2, "test": 3}[part], files)


class Drawn:
    """Encodes a text as a vector drawn from a seed that is the text."""

    dim, n_encoded = 6, 0

    def __init__(self, name: str, seed: int = 0):
        self.shift = seed + 10 * (name == "lesson-bert")

    def encode_each(self, texts, poolings):
        Drawn.n_encoded += len(texts)
        x = np.stack([np.random.default_rng([self.shift, *text.encode()]).normal(size=6) for text in texts]).astype(np.float32)
        return [x * (1 + np.arange(6)) + 3 + k for k, _ in enumerate(poolings)]


@pytest.fixture
def drawn(monkeypatch):
    """Drawn vectors of toy sentences, kept in caches of this test: the real vectors, a minute's work, stay for the tests that read them."""
    monkeypatch.setattr(rounding_grid, "load", fake_load)
    monkeypatch.setattr(rounding_grid, "model_of", Drawn)
    for name in ("gathered", "_vectors"):
        kept = getattr(rounding_grid, name)
        monkeypatch.setattr(rounding_grid, name, functools.lru_cache(kept.cache_parameters()["maxsize"])(kept.__wrapped__))


def test_every_sentence_is_numbered_once_and_the_target_holds_all_parts_with_repetition(drawn):
    s = rounding_grid.gathered(("sts13", "stsb"), 10, 0)
    assert len(s.texts) == len(set(s.texts)) and len(s.nli) == 30
    assert len(s.target["stsb"]) == 3 * 80 and len(s.target["sts13"]) == 80
    pairs, test = s.tests["sts13"], fake_load("sts13")
    assert [s.texts[i] for i in pairs.left] == test.sentence1 and [s.texts[i] for i in pairs.right] == test.sentence2
    assert sorted(pairs.files) == ["f0", "f1"] and [s.texts[i] for i in s.dev.left] == fake_load("stsb", "dev").sentence1


def test_a_sentence_is_encoded_once_for_each_model_however_often_it_is_asked_for(drawn):
    Drawn.n_encoded = 0
    for sets in (("stsb",), ("stsb", "sts13"), ("sts13",)):
        s, tables = rounding_grid.encoded("lesson-bert", 0, sets, 5)
        assert {len(table) for table in tables.values()} == {len(s.texts)}
        assert np.allclose(tables["last"], Drawn("lesson-bert").encode_each(s.texts, [0, 1])[1])
        Drawn.n_encoded -= len(s.texts)                                      # those of the line above
    assert Drawn.n_encoded == len(rounding_grid.gathered(("stsb", "sts13"), 5, 0).texts)


def test_the_weighted_mean_weighs_files_by_their_pairs_and_agrees_with_all_for_one_file():
    gold, cosines = np.array([1.0, 2, 3, 1, 2]), np.array([0.1, 0.2, 0.3, 0.9, 0.8])
    two = Pairs(np.arange(5), np.arange(5), gold, {"a": np.arange(3), "b": np.arange(3, 5)})
    one = Pairs(np.arange(5), np.arange(5), gold, {"a": np.arange(5)})
    assert scored(cosines, two) == pytest.approx(100 * (3 * 1 + 2 * -1) / 5)
    assert scored(cosines, one) == pytest.approx(scored(cosines, one, "all")) and scored(cosines, two, "all") != pytest.approx(scored(cosines, two))


def test_rows_stand_at_the_place_of_their_set_and_gamma_0_changes_nothing(drawn):
    found = grid("lesson-bert", ["β = γ = 0", "whitening", "whitening, a third"], sets=["sts13", "stsb"], n_nli=10)
    assert set(found) == {RAW, *(f"{name} ({data})" for name in ("β = γ = 0", "whitening", "whitening, a third") for data in ("NLI", "target"))}
    assert all(sorted(row) == [1, 5] for row in found.values()) and SETS[5] == "stsb"
    for data in ("NLI", "target"):
        assert found[f"β = γ = 0 ({data})"] == pytest.approx(found[RAW], abs=1e-3)
    assert found["whitening (NLI)"] != pytest.approx(found["whitening (target)"], abs=1e-6)


def test_a_fit_for_each_file_is_the_fit_on_the_target_where_there_is_one_file(drawn):
    found = grid("lesson-bert", ["whitening"], sets=["sts13"], n_nli=5, data=("target", "each file"), protocols=("all", "wmean"))
    assert set(found) == {f"{row}, {way}" for row in (RAW, "whitening (target)", "whitening (each file)") for way in ("all", "wmean")}
    assert found["whitening (each file), all"][1] != pytest.approx(found["whitening (target), all"][1], abs=1e-6)
    s, tables = rounding_grid.encoded("lesson-bert", 0, ("sts13",), 5)
    one = Pairs(s.tests["sts13"].left, s.tests["sts13"].right, s.tests["sts13"].gold, {"all": np.arange(40)})
    cosines = rounding_grid._by_file(tables["first-last"], one, FITS["whitening"], 0)
    assert scored(cosines, one) == pytest.approx(found["whitening (target), all"][1], abs=1e-3)


def test_standardisation_is_a_flow_without_a_step(drawn):
    x = np.random.default_rng(0).normal(size=(200, 6)) * (1 + np.arange(6)) + 3
    z = FITS["standardised"](x, 0).transform(x)
    assert np.allclose(np.sort(z.mean(axis=0)), 0, atol=1e-5) and np.allclose(z.std(axis=0), 1, atol=1e-3)


def test_the_control_is_the_mean_over_its_seeds():
    def rows(model, seed):
        return {"a": {0: 5.0 if model == "lesson-bert" else float(seed)}}

    assert with_control(rows, 3, 1) == {"a": {0: 5.0}, "a" + CONTROL: {0: 2.0}}


def test_the_last_k_is_full_whitening_and_the_corners_of_the_grid_are_what_they_are_called(drawn):
    s, tables = rounding_grid.encoded("lesson-bert", 0, ("stsb",), 5)
    x, table = tables["first-last"], grid("lesson-bert", ["whitening"], sets=["stsb"], n_nli=5)
    by_k = score_against_k(x, s.target["stsb"], s.tests["stsb"], shares=(1 / 3, 1.0))
    assert list(by_k) == [0.3333, 1.0] and by_k[1.0] == pytest.approx(table["whitening (target)"][5], abs=1e-3)
    corners = beta_gamma_grid(x, s.target["stsb"], s.tests["stsb"], betas=[0.0, 1.0], gammas=[0.0, 1.0])
    assert corners[0, 0] == pytest.approx(table[RAW][5], abs=1e-3) and corners[1, 1] == pytest.approx(by_k[1.0], abs=1e-3)


@pytest.mark.parametrize("name", [name for name in BY_ID if name != "su2022_tuned"])
def test_every_entry_can_be_measured_drawn_and_judged(drawn, name, tmp_path):
    outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    assert len(outcome.files) == 2 and outcome.verdicts
    if name in ("su2021_table1", "su2022_parameters", "li2020_table2"):
        printed = entries()[name].printed
        assert set(printed) <= set(outcome.measured) and {row + CONTROL for row in printed} <= set(outcome.measured)


# ------------------------------------------------------------------------------------------------ what was printed


PAPER = [name for name in BY_ID if BY_ID[name].printed and name != "su2021_dimensions"]


@pytest.mark.parametrize("name", PAPER)
def test_all_claims_hold_of_what_is_printed(name):
    assert [claim.text for claim in BY_ID[name].claims if not claim.holds(BY_ID[name].printed)] == []


@pytest.mark.parametrize("name", PAPER)
def test_a_claim_that_whitening_or_flow_changes_something_fails_where_all_scores_are_equal(name):
    equal = {row: dict.fromkeys(points, 50.0) for row, points in BY_ID[name].printed.items()}
    assert not all(claim.holds(equal) for claim in BY_ID[name].claims)


@pytest.mark.parametrize(("entry", "row", "mean"), [("li2020_table2", "flow (target)", 69.57), ("su2021_table1", "whitening (target)", 69.21),
                                                    ("gao2021_aggregation", "whitening (NLI), wmean", 67.59),
                                                    ("gao2021_aggregation", "whitening (target), all", 64.26)])
def test_the_mean_of_the_cells_is_the_average_that_was_printed_or_added_up_by_hand(entry, row, mean):
    assert averages(BY_ID[entry].printed)[row] == pytest.approx(mean, abs=0.006)


def test_the_best_k_of_the_paper_is_below_all_directions_and_a_rising_curve_refutes_the_claim():
    claim = BY_ID["su2021_dimensions"].claims[0]
    assert claim.holds(BY_ID["su2021_dimensions"].printed) and not claim.holds({"SICK-R (NLI)": {0.1: 1.0, 0.5: 2.0, 1.0: 3.0}})


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", list(BY_ID))
def test_real_sentences_give_numbers_of_the_right_size_at_the_smallest_scale(name, tmp_path, lessons_data):
    try:
        outcome = run(BY_ID[name], scale="smoke", folder=tmp_path)
    except (DataMissing, BackendUnavailable) as error:
        pytest.skip(str(error))
    assert all(20 < value < 95 for row in outcome.measured.values() for value in row.values())
