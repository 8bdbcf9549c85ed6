"""The tables of Sentence-BERT: which trainings they are made of, what stands where, and what the paper's numbers say."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import DataMissing
from lessons_lib.datasets import LabelledPairs, SentencePairs, Triplets, load
from lessons_lib.reproduce import run, sbert
from lessons_lib.reproduce.bert import CONTROL, averages
from lessons_lib.reproduce.sbert import ALL, ENTRIES, NLI, POOLINGS, STS, STSB, VARIANTS, nli_pairs, pairs_of_triplets, short_rows
from lessons_lib.reproduce.trained import PLACES, SD

BY_ID = {entry.id: entry for entry in ENTRIES}


@pytest.fixture
def drawn(monkeypatch):
    """Scores instead of trainings, one for each name, and small sets; gives what was asked for."""
    asked = []

    def rows(name, train, *, entry, settings, sets, seeds, seed, controls):
        asked.append((name, seeds, controls))
        score = {PLACES.index(place): 40.0 + len(name) for place in sets}
        found = {name: score} | ({name + SD: dict.fromkeys(score, 1.0)} if seeds > 1 else {})
        return found | ({name + CONTROL: {x: y - 5 for x, y in score.items()}} if controls else {})

    def small(name, split=None, dataset=None):
        if name == "nli-pairs":
            return LabelledPairs(["a b", "c"] * 3, ["d", "e f g"] * 3, ["neutral", "entailment", "contradiction"] * 2, [dataset] * 6)
        if name == "nli":
            return Triplets(["a b", "c", "d"], ["e", "f g h i j k l m n o p q r s t", "u"], ["v", "w", "x"])
        return SentencePairs(["a", "b"], ["c", "d e"], np.array([0.0, 5.0]))

    monkeypatch.setattr(sbert, "trained_rows", rows)
    monkeypatch.setattr(sbert, "load", small)
    return asked


def test_rows_are_kept_when_all_their_sentences_are_short():
    pairs = LabelledPairs(["a b", "c", "d"], ["e", "f g h", "i"], [0, 1, 0], ["x"] * 3)
    assert short_rows(pairs, 2).sentence1 == ["a b", "d"] and short_rows(pairs, None) is pairs
    assert short_rows(Triplets(["a b", "c", "d"], ["e", "f g h", "i"], ["j", "k", "l m n"]), 2).premise == ["a b"]


def test_sources_are_joined_in_their_order(drawn):
    pairs = nli_pairs(2, sources=("one", "two"))
    assert pairs.dataset == ["one"] * 3 + ["two"] * 3 and set(pairs.sentence2) == {"d"}


def test_triplets_give_each_premise_three_labels_and_the_neutral_one_is_of_its_topic():
    triplets = Triplets(["p0", "p1", "p2", "p3"], ["e0", "e1", "e2", "e3"], ["c0", "c1", "c2", "c3"], columns={"topic": ["x", "y", "x", "z"]})
    pairs = pairs_of_triplets(triplets)
    assert [row for row in zip(pairs.sentence1, pairs.sentence2, pairs.label, strict=True) if row[0] in ("p0", "p3")] == [
        ("p0", "e0", "entailment"), ("p0", "e2", "neutral"), ("p0", "c0", "contradiction"), ("p3", "e3", "entailment"), ("p3", "c3", "contradiction")]
    counts = [list(pairs_of_triplets(load("course-nli")).label).count(kind) for kind in ("entailment", "neutral", "contradiction")]
    assert min(counts) > 0.9 * max(counts)


def test_table_6_has_every_pooling_and_every_choice_of_features_and_one_training_stands_in_two_rows(drawn):
    entry = BY_ID["reimers2019_table6"]
    found = entry.measure(entry.scales["laptop"], 0)
    assert set(POOLINGS) | set(VARIANTS) <= set(found) and all(set(found[row]) == {NLI, STS} for row in POOLINGS)
    assert all(set(found[row]) == {NLI} for row in VARIANTS if row != ALL) and found[ALL] == {NLI: found["MEAN"][NLI]}
    names = [name for name, *_ in drawn]
    assert len(names) == len(set(names)) == 2 * len(POOLINGS) + len(VARIANTS) - 1
    seeds = {name: n for name, n, _ in drawn}
    assert seeds["MEAN, NLI"] == seeds["(u, v), NLI"] == entry.scales["laptop"]["seeds"] > seeds["CLS, NLI"] == 1
    assert found["MEAN" + SD][NLI] == 1.0 and found["MEAN" + CONTROL][NLI] == found["MEAN"][NLI] - 5


def test_rows_with_grades_are_scored_on_stsb_alone(drawn):
    entry = BY_ID["reimers2019_tables1_2"]
    found = entry.measure(entry.scales["laptop"], 0)
    assert all(set(found[row]) == set(range(7)) for row in (sbert.RAW, sbert.ON_NLI, sbert.TRIPLETS))
    assert set(found[sbert.ON_STS]) == {STSB} == set(found[sbert.ON_BOTH])


@pytest.mark.parametrize("name", list(BY_ID))
def test_every_entry_can_be_drawn_and_judged(drawn, name, tmp_path):
    outcome = run(BY_ID[name], scale="laptop", folder=tmp_path)
    assert len(outcome.files) == 2 and outcome.verdicts


def test_a_set_without_a_number_stays_an_empty_cell():
    fig = BY_ID["reimers2019_tables1_2"].draw(BY_ID["reimers2019_tables1_2"], BY_ID["reimers2019_tables1_2"].printed)
    cells = [text.get_text() for text in fig.axes[0].texts]
    assert cells.count("") == 2 * 2 * 6 and cells.count("84.7") == 2            # two rows of one number, printed and here


@pytest.mark.parametrize("name", list(BY_ID))
def test_all_claims_hold_of_what_is_printed(name):
    assert [claim.text for claim in BY_ID[name].claims if not claim.holds(BY_ID[name].printed)] == []


@pytest.mark.parametrize("name", list(BY_ID))
def test_no_claim_holds_where_all_scores_are_equal(name):
    equal = {row: dict.fromkeys(points, 50.0) for row, points in BY_ID[name].printed.items()}
    assert not any(claim.holds(equal) for claim in BY_ID[name].claims)


def test_the_printed_average_is_not_the_mean_of_its_cells():
    """Table 1 prints 74.89 for SBERT-NLI-base; its cells have another mean."""
    assert averages({"row": BY_ID["reimers2019_tables1_2"].printed[sbert.ON_NLI]})["row"] == pytest.approx(74.86, abs=0.005)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", list(BY_ID))
def test_two_steps_of_every_row_leave_scores_of_the_right_size(name, tmp_path, lessons_data):
    try:
        outcome = run(BY_ID[name], scale="smoke", folder=tmp_path)
    except DataMissing as error:
        pytest.skip(str(error))
    assert all(20 < value < 95 for row in outcome.measured.values() for value in row.values())
