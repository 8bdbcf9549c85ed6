"""The race of fastText: all sides know the same words and make vectors for others, and a peer that is not installed is said so."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.bench import PeerMissing, words, words_fasttext
from lessons_lib.bench.measure import measure
from lessons_lib.bench.words_fasttext import Race, Sizes, cases

SMALL = Sizes(tokens=60_000, epochs=1, dim=8, races=(Race(0.0), Race(0.0, cbow=True, program=True)))


@pytest.fixture(autouse=True)
def only_bundled_texts(monkeypatch):
    monkeypatch.delenv("LESSONS_DATA", raising=False)


@pytest.mark.slow
def test_both_sides_know_the_same_words_and_make_vectors_for_others():
    pytest.importorskip("gensim", reason="the peer of this race is an extra")
    races = cases(sizes=SMALL)                      # holds the file
    case = next(races)
    ours, theirs = case.ours(0)(), case.theirs(0)()
    assert set(ours.vectors_.tokens) == set(theirs.index_to_key) and sum(ours.counts_) == case.items
    asked = ["the", "thermometerlike", "unseenly", "qqqq"]
    found = [words_fasttext._made(side, asked) for side in (ours, theirs)]
    assert list(found[0]) == asked[:3] and list(found[1]) == asked and all(x.shape == (8,) for side in found for x in side.values())


@pytest.mark.slow
def test_a_row_of_the_race_says_how_good_both_sides_are(monkeypatch):
    pytest.importorskip("gensim", reason="the peer of this race is an extra")
    monkeypatch.setattr("lessons_lib.bench.word_scores.LEAST", 100.0)
    races = cases(sizes=SMALL)                      # holds the file
    row = measure(next(races), repeats=1)
    assert row.group == "words" and row.met and "skip-gram" in row.name and row.items > 30_000
    assert row.quality.startswith("WordSim-353 ") and "RareWords" not in row.peer_quality and row.quality != row.peer_quality


def test_the_authors_program_gets_the_same_file_and_settings(monkeypatch):
    asked = {}

    def train(path, **settings):
        asked.update(settings, lines=Path(path).read_text("utf-8").count("\n"))
        return SimpleNamespace(get_word_vector=lambda word: np.ones(8))

    monkeypatch.setitem(sys.modules, "fasttext", SimpleNamespace(train_unsupervised=train))
    races = iter(cases(sizes=SMALL))
    next(races)
    case = next(races)
    assert case.theirs(0)().get_word_vector("the").shape == (8,) and "program" in case.name
    assert asked["model"] == "cbow" and asked["dim"] == 8 and asked["thread"] == 1 and asked["lines"] > 10


@pytest.mark.parametrize(("place", "module", "remedy"), [(0, "gensim.models", "pip install gensim"), (1, "fasttext", "pip install fasttext")])
def test_a_peer_that_is_not_installed_is_said_so(place, module, remedy, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    races = iter(cases(sizes=SMALL))
    case = [next(races) for _ in range(place + 1)][-1]
    with pytest.raises(PeerMissing, match=remedy):
        case.theirs(0)()


def test_the_group_asks_for_this_part():
    assert "words_fasttext" in words.PARTS
