"""The tables of Sentence-BERT: which trainings they are made of, and what stands where."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.datasets import LabelledPairs, SentencePairs, Triplets, load
from lessons_lib.reproduce import run, sbert
from lessons_lib.reproduce.models import CONTROL
from lessons_lib.reproduce.sbert import (
    ALL, ENTRIES, NLI, POOLINGS, STS, VARIANTS, nli_pairs, pairs_of_triplets, short_rows)
from lessons_lib.reproduce.trained import PLACES, SD, SETS

BY_ID = {entry.id: entry for entry in ENTRIES}


@pytest.fixture
def drawn(monkeypatch):
    """Scores instead of trainings, one for each name, and small sets; gives what was asked for."""
    asked = []

    def rows(name, train, *, entry, settings, sets, seeds, seed, controls, n_pairs):
        asked.append((name, seeds, controls))
        score = {PLACES.index(place): 40.0 + len(name) for place in sets}
        spread = {name + SD: dict.fromkeys(score, 1.0)} if seeds > 1 else {}
        control = {name + CONTROL: {x: y - 5 for x, y in score.items()}} if controls else {}
        return {name: score} | spread | control

    def small(name, split=None, dataset=None):
        if name == "nli-pairs":
            labels = ["neutral", "entailment", "contradiction"] * 2
            return LabelledPairs(["a b", "c"] * 3, ["d", "e f g"] * 3, labels, [dataset] * 6)
        if name == "nli":
            return Triplets(["a b", "c", "d"], ["e", "f " * 14, "u"], ["v", "w", "x"])
        return SentencePairs(["a", "b"], ["c", "d e"], np.array([0.0, 5.0]))

    monkeypatch.setattr(sbert, "trained_rows", rows)
    monkeypatch.setattr(sbert, "load", small)
    return asked


def test_rows_are_kept_when_all_their_sentences_are_short_and_sources_are_joined(drawn):
    pairs = LabelledPairs(["a b", "c", "d"], ["e", "f g h", "i"], [0, 1, 0], ["x"] * 3)
    assert short_rows(pairs, 2).sentence1 == ["a b", "d"] and short_rows(pairs, None) is pairs
    triplets = Triplets(["a b", "c", "d"], ["e", "f g h", "i"], ["j", "k", "l m n"])
    assert short_rows(triplets, 2).premise == ["a b"]
    pairs = nli_pairs(2, sources=("one", "two"))
    assert pairs.dataset == ["one"] * 3 + ["two"] * 3 and set(pairs.sentence2) == {"d"}


def test_triplets_give_each_premise_three_labels_and_the_neutral_one_is_of_its_topic():
    columns = ([f"{letter}{i}" for i in range(4)] for letter in "pec")
    pairs = pairs_of_triplets(Triplets(*columns, columns={"topic": ["x", "y", "x", "z"]}))
    rows = list(zip(pairs.sentence1, pairs.sentence2, pairs.label, strict=True))
    assert [row for row in rows if row[0] in ("p0", "p3")] == [
        ("p0", "e0", "entailment"), ("p0", "e2", "neutral"), ("p0", "c0", "contradiction"),
        ("p3", "e3", "entailment"), ("p3", "c3", "contradiction")]
    labels = list(pairs_of_triplets(load("course-nli")).label)
    counts = [labels.count(kind) for kind in ("entailment", "neutral", "contradiction")]
    assert min(counts) > 0.9 * max(counts)


def test_table_6_has_every_row_and_one_training_stands_in_two_of_them(drawn):
    entry = BY_ID["reimers2019_table6"]
    settings = entry.scales["paper"] | {"others": 1}
    table = entry.measure(settings, 0)
    assert {*POOLINGS, *VARIANTS} <= set(table)
    assert all(set(table[row]) == {NLI, STS} for row in POOLINGS)
    assert all(set(table[row]) == {NLI} for row in VARIANTS)
    assert table[ALL] == {NLI: table["MEAN"][NLI]}
    seeds = {name: n for name, n, _ in drawn}
    assert len(drawn) == len(seeds) == 2 * len(POOLINGS) + len(VARIANTS) - 1
    many = settings["seeds"]
    assert seeds["MEAN, NLI"] == seeds["(u, v), NLI"] == many > seeds["CLS, NLI"] == 1
    assert table["MEAN" + SD][NLI] == 1.0
    assert table["MEAN" + CONTROL][NLI] == table["MEAN"][NLI] - 5


def test_where_the_encoder_has_one_pooling_only_poolings_are_those_of_another(drawn):
    entry = BY_ID["reimers2019_table6"]
    own, pooled = entry.scales["smoke"], entry.scales["smoke"]["poolings"]
    assert (own["encoder"], pooled["encoder"]) == ("bag", "lesson-bert")
    table = entry.measure(own, 0)
    assert {*POOLINGS, *VARIANTS} <= set(table) and set(table[ALL]) == {NLI}
    assert len({name for name, _, _ in drawn}) == 2 * len(POOLINGS) + len(VARIANTS)


def test_rows_with_grades_are_scored_on_stsb_alone_and_every_entry_is_drawn(drawn, tmp_path):
    entry = BY_ID["reimers2019_tables1_2"]
    table = entry.measure(entry.scales["laptop"], 0)
    every = (sbert.RAW, sbert.ON_NLI, sbert.TRIPLETS)
    assert all(set(table[row]) == set(range(7)) for row in every)
    assert set(table[sbert.ON_STS]) == {SETS.index("stsb")} == set(table[sbert.ON_BOTH])
    for entry in ENTRIES:
        outcome = run(entry, scale="laptop", folder=tmp_path)
        assert len(outcome.files) == 2 and outcome.verdicts
