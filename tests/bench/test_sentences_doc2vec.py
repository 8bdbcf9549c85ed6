"""The races of Doc2vec: both sides read the same documents, worse vectors do not pass the gate, and the row says how good both are."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lessons_lib.bench import PeerMissing, sentences_doc2vec
from lessons_lib.bench.measure import measure
from lessons_lib.bench.sentences_doc2vec import Race, Sizes, cases

SMALL = Sizes(documents=60, dim=8, epochs=2, min_count=2, races=(Race("dbow", 0.0), Race("dm", 0.0, infer=True)))

pytestmark = pytest.mark.filterwarnings("ignore:The number of unique classes")          # each of the few articles is a class


@pytest.fixture(autouse=True)
def only_bundled_texts(monkeypatch):
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    monkeypatch.setattr(sentences_doc2vec, "SEEDS", 1)


def test_both_sides_learn_and_infer_the_same_documents():
    pytest.importorskip("gensim", reason="the peer of these races is an extra")
    for case in cases(sizes=SMALL):
        ours, theirs = case.ours(), case.theirs()
        assert ours.shape == theirs.shape == (60 if "training" in case.name else 30, 8)


@pytest.mark.slow
def test_a_row_of_a_race_says_how_good_both_sides_are(monkeypatch):
    pytest.importorskip("gensim", reason="the peer of these races is an extra")
    monkeypatch.setattr(sentences_doc2vec, "LEAST", 100.0)
    races = cases(sizes=SMALL)                      # holds the file
    rows = [measure(case, repeats=1) for case in races]
    assert [row.group for row in rows] == ["sentences"] * 2 and all(row.met and "% right" in row.quality for row in rows)
    assert rows[0].name.startswith("doc2vec, training, PV-DBOW") and rows[1].name.endswith("PV-DM, mean, 5 negatives, one thread, 30 documents")


def test_vectors_that_say_less_do_not_pass_the_gate():
    news = sentences_doc2vec._news(SMALL)
    good = np.eye(30)[news.labels] + 0.1 * np.random.default_rng(0).normal(size=(60, 30))
    bad = np.random.default_rng(1).normal(size=(60, 30))
    assert sentences_doc2vec._compared(news, [good], [bad]) and not sentences_doc2vec._compared(news, [bad], [good])


def test_a_peer_that_is_not_installed_is_said_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models.doc2vec", None)
    with pytest.raises(PeerMissing, match="pip install gensim"):
        next(iter(cases(sizes=SMALL))).theirs()
