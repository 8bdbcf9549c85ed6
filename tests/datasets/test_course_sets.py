"""The course's own sets: as many as promised, no repeats, no leaks, and the figures that data/README.md states."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lessons_lib import datasets, evaluation
from lessons_lib.core import PROJECT

NOTES = (PROJECT / "data" / "README.md").read_text("utf-8")
NEGATION = re.compile(r"\b(not|no|never|nobody|none|nothing|nor|neither|nowhere|cannot|without)\b|n't\b", re.I)


def words(sentence: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", sentence.lower()))


def by_split(name: str, columns: tuple[str, ...]) -> dict[str, list[str]]:
    found = {}
    for split in ("train", "dev", "test"):
        record = datasets.load(name, split=split)
        found[split] = [s for column in columns for s in getattr(record, column)]
    return found


SETS = {"course-sts": ("sentence1", "sentence2"), "course-nli": ("premise", "entailment", "contradiction")}


@pytest.mark.parametrize("name", SETS)
def test_no_sentence_stands_twice(name):
    sentences = [s.lower() for part in by_split(name, SETS[name]).values() for s in part]
    assert len(sentences) == len(set(sentences))


@pytest.mark.parametrize("name", SETS)
def test_no_sentence_of_one_split_resembles_one_of_another(name):
    parts = {split: [words(s) for s in sentences] for split, sentences in by_split(name, SETS[name]).items()}
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        closest = max(len(a & b) / len(a | b) for a in parts[one] for b in parts[other])
        assert closest < 0.65, (one, other, closest)


def test_the_pairs_are_balanced_over_grades_and_topics():
    pairs = datasets.load("course-sts", split="all")
    assert len(pairs) == 660 and pairs.score.min() == 0 and pairs.score.max() == 5
    bands = np.histogram(pairs.score, bins=[0, 1, 2, 3, 4, 5.01])[0]
    assert bands.min() >= 60
    topics, counts = np.unique(pairs.columns["topic"], return_counts=True)
    assert len(topics) == 20 and set(counts) == {33}


def test_the_grades_are_the_mean_of_two_graders_who_agree_as_stated():
    pairs = datasets.load("course-sts", split="all")
    one, two = (np.array(pairs.columns[c], dtype=float) for c in ("grade1", "grade2"))
    assert np.allclose(pairs.score, (one + two) / 2, atol=0.011)
    assert f"Pearson {evaluation.pearson(one, two):.2f}" in NOTES and f"mean difference {np.abs(one - two).mean():.2f}" in NOTES
    assert (np.abs(one - two) > 1).sum() == 3 and "three pairs differ by more than one" in NOTES


def test_no_word_gives_a_contradiction_away():
    triplets = datasets.load("course-nli", split="all")
    assert len(triplets) == 620
    shares = [np.mean([bool(NEGATION.search(s)) for s in side]) for side in (triplets.contradiction, triplets.entailment)]
    assert abs(shares[0] - 1 / 7) < 0.02 and abs(shares[1] - 1 / 6) < 0.02
