"""The race of online LDA: all sides read the same documents, and worse topics do not pass the gate."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.bench import topics_online
from lessons_lib.bench.topics_online import OnlineSizes, cases

SMALL = OnlineSizes(documents=80, held_out=20, length=40, topics=(3,), words=400, most_frequent=20)


@pytest.fixture(scope="module")
def races():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LESSONS_DATA", raising=False)
        patch.setattr(topics_online, "STARTS", 1)
        yield list(cases(sizes=SMALL))


def test_the_sides_read_the_same_documents(races):
    train, held_out = topics_online._documents(SMALL)
    assert train.n_documents == 60 and held_out.n_documents == 20 and set(train.document_lengths) == {40}
    assert [case.items for case in races] == [60, 60] and len({case.peer for case in races}) == 2


@pytest.mark.slow
def test_the_race_with_scikit_learn_passes_its_gate_and_worse_topics_do_not(races):
    race = races[1]
    found, expected = race.ours(), race.theirs()
    assert found.shape == expected.shape == (3, 400)
    np.testing.assert_allclose(found.sum(), expected.sum(), rtol=1e-4)          # the same tokens weigh the same
    assert race.equal(found, expected)
    assert not race.equal(np.random.default_rng(0).gamma(1.0, 1.0, found.shape), expected)


def test_the_race_with_gensim_passes_its_gate(races):
    pytest.importorskip("gensim")
    race = races[0]
    found, expected = race.ours(), race.theirs()
    np.testing.assert_allclose(found.sum(), expected.sum(), rtol=0.02)          # its float32 sums lose a little
    assert race.equal(found, expected)
