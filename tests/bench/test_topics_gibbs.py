"""The race beside tomotopy at a tiny size: both sides do the work, the gate can fail, and a missing peer says so."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lessons_lib.bench import PeerMissing, topics_gibbs
from lessons_lib.bench.measure import measure

TINY = topics_gibbs.GibbsSizes(documents=40, held_out=8, sweeps=10, topics=(3,), min_count=3, most_frequent=30)


@pytest.fixture(autouse=True)
def only_bundled_texts(monkeypatch):
    monkeypatch.delenv("LESSONS_DATA", raising=False)


def test_both_sides_draw_the_same_tokens_and_the_gate_holds():
    pytest.importorskip("tomotopy", reason="the peer of this race is an extra")
    case, = topics_gibbs.cases(sizes=TINY)
    row = measure(case, repeats=1)
    assert row.value > 0 and row.items % TINY.sweeps == 0 and row.peer == "tomotopy LDAModel"


def test_the_gate_sees_topics_that_predict_worse():
    pytest.importorskip("tomotopy", reason="the peer of this race is an extra")
    case, = topics_gibbs.cases(sizes=TINY)
    ours, theirs = case.ours(), case.theirs()
    assert theirs.num_words * TINY.sweeps == case.items
    assert case.equal(ours, theirs)
    ours.components_ = np.full_like(ours.components_, 1 / ours.components_.shape[1])
    assert not case.equal(ours, theirs)


def test_a_peer_that_is_not_installed_is_said_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    case, = topics_gibbs.cases(sizes=TINY)
    with pytest.raises(PeerMissing, match="pip install tomotopy"):
        case.theirs()
