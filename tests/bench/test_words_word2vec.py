"""The race of word2vec: both sides read the same words, worse vectors do not pass the gate, and the row says how good both are."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.bench import PeerMissing, Verdict, words
from lessons_lib.bench.measure import measure
from lessons_lib.bench.word_scores import compared
from lessons_lib.bench.word_texts import corpus_of, text_file
from lessons_lib.bench.words_word2vec import Race, Sizes, cases
from lessons_lib.datasets import load

SMALL = Sizes(tokens=150_000, races=(Race(8, 0.0), Race(8, 0.0, cbow=True, threads=2), Race(8, 0.0, tree=True)))


@pytest.fixture(autouse=True)
def only_bundled_texts(monkeypatch):
    monkeypatch.delenv("LESSONS_DATA", raising=False)


def test_the_file_holds_the_words_of_the_corpus_document_by_document():
    corpus = corpus_of(20_000)
    with text_file(corpus) as path:
        lines = [line.split() for line in path.read_text("utf-8").splitlines()]
    assert not path.exists()
    assert [len(line) for line in lines] == np.diff(corpus.offsets).tolist()
    assert [corpus.vocabulary.id(token) for line in lines for token in line] == corpus.token_ids.tolist()


@pytest.mark.slow
def test_both_sides_know_the_same_words():
    pytest.importorskip("gensim", reason="the peer of this race is an extra")
    for case in cases(sizes=SMALL):
        ours, theirs = case.ours(0)(), case.theirs(0)()
        assert ours.matrix.shape == theirs.vectors.shape and set(ours.tokens) == set(theirs.index_to_key)
        counts = dict(zip(theirs.index_to_key, map(theirs.get_vecattr, theirs.index_to_key, ["count"] * len(theirs)), strict=True))
        assert sum(counts.values()) == case.items


@pytest.mark.slow
def test_a_row_of_the_race_says_how_good_both_sides_are(monkeypatch):
    pytest.importorskip("gensim", reason="the peer of this race is an extra")
    monkeypatch.setattr("lessons_lib.bench.word_scores.LEAST", 100.0)
    races = cases(sizes=SMALL)                      # holds the file
    row = measure(next(races), repeats=1)
    assert row.group == "words" and row.met and "8" in row.name
    assert row.quality.startswith("WordSim-353 ") and "SimLex-999 " in row.peer_quality and row.quality != row.peer_quality


def graded(noise):
    """Vectors whose cosines follow the grades of people, more or less."""
    rng, found = np.random.default_rng(0), {}
    for name in ("simlex999", "wordsim353"):
        pairs = load(name)
        for first, second, score in zip(pairs.word1, pairs.word2, pairs.score, strict=True):
            a = found.setdefault(first.lower(), rng.normal(size=16))
            found.setdefault(second.lower(), score * a / np.linalg.norm(a) + noise * rng.normal(size=16))
    return found


def test_worse_vectors_do_not_pass_the_gate():
    good, bad = graded(0.3), graded(30.0)
    verdict = compared([good], [bad])
    assert verdict and verdict.equal and verdict.ours != verdict.theirs
    assert not compared([bad], [good])
    assert compared([good, bad], [good])            # not worse by more than its own spread


def test_a_failed_gate_names_the_scores():
    case = SimpleNamespace(ours=lambda: 0, theirs=lambda: 0, equal=lambda a, b: Verdict(False, "WordSim-353 1.0", "WordSim-353 60.0"), group="words",
                           name="x", peer="gensim", gate="as good", goal=1.0, seeded=False)
    with pytest.raises(ValueError, match=r"WordSim-353 1\.0; theirs WordSim-353 60\.0"):
        measure(case, repeats=1)


def test_a_peer_that_is_not_installed_is_said_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(PeerMissing, match="pip install gensim"):
        next(iter(cases(sizes=SMALL))).theirs(0)


def test_the_group_asks_its_parts_one_after_the_other(monkeypatch):
    made = {part: [SimpleNamespace(name=f"{part} {i}") for i in range(2)] for part in ("words_a", "words_b")}
    monkeypatch.setattr(words, "PARTS", tuple(made))
    monkeypatch.setattr(words.importlib, "import_module", lambda name: SimpleNamespace(cases=lambda: iter(made[name.rsplit(".", 1)[1]])))
    assert [case.name for case in words.cases()] == ["words_a 0", "words_a 1", "words_b 0", "words_b 1"]
    monkeypatch.setattr(words, "race", lambda cases, **_: cases)
    assert [case.name for case in words.rows(repeats=1, tell=print, only="b 1")] == ["words_b 1"]
