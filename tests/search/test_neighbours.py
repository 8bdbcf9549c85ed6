"""Neighbours: exact ones are exact, the others lose little, and lose nothing where nothing can be
lost."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import kernels
from lessons_lib.core import BackendUnavailable, generator
from lessons_lib.search import (CompactVectors, ExactNeighbours, Hnsw, neighbour_recall,
                                rescored)


def drawn(n: int, dim: int, seed: int = 0) -> np.ndarray:
    """Vectors around as many tenths of directions."""
    rng = generator(seed)
    centres = rng.normal(size=(max(1, n // 10), dim))
    return centres[rng.integers(len(centres), size=n)] + 0.5 * rng.normal(size=(n, dim))


X = drawn(2000, 64)
QUESTIONS = X[::20] + 0.5 * generator(1).normal(size=(100, 64))


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    return ExactNeighbours().fit(X).search(QUESTIONS)[1]


@given(n=st.integers(1, 40), dim=st.integers(1, 9), copies=st.integers(1, 3),
       seed=st.integers(0, 99))
def test_exact_neighbours_are_those_of_the_kernel_ties_included(n, dim, copies, seed):
    x = generator(seed).integers(-2, 3, size=(n, dim)).astype(np.float32)
    x = np.concatenate([x] * copies)              # zero rows, copies
    k = generator(seed).integers(1, len(x) + 1)
    unit = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    cosines, rows = ExactNeighbours().fit(x).search(x, k=int(k))
    values, same = kernels.knn(unit, unit, k=int(k))
    np.testing.assert_allclose(cosines, values.numpy(), atol=1e-6)
    exact = (unit @ unit.T).astype(np.float64)
    np.testing.assert_allclose(np.take_along_axis(exact, rows, 1), values, atol=1e-6)
    assert rows.shape == same.shape and all(len(set(row)) == k for row in rows.tolist())


def test_exact_neighbours_do_not_see_the_blocks(exact, monkeypatch):
    monkeypatch.setattr("lessons_lib.search.neighbours.SCORES_AT_ONCE", 7 * len(X))
    assert np.array_equal(ExactNeighbours().fit(X).search(QUESTIONS)[1], exact)
    assert np.array_equal(kernels.knn(QUESTIONS, X, k=10)[1].numpy(), exact)


def test_lengths_do_not_count_however_long(exact):
    stretched = X * np.logspace(-150, 150, len(X))[:, None]
    assert np.array_equal(ExactNeighbours().fit(stretched).search(1e200 * QUESTIONS)[1], exact)


def test_no_question_gives_no_row():
    for method in (ExactNeighbours(), CompactVectors()):
        cosines, rows = method.fit(X).search(np.empty((0, 64)), k=3)
        assert cosines.shape == rows.shape == (0, 3) and len(method) == len(X)


# ------------------------------------------------------------------------------ fewer bits


@pytest.mark.parametrize(("bits", "share", "least"), [(32, 1, 1.0), (8, 4, 0.97), (1, 32, 0.5)])
def test_fewer_bits_take_less_memory_and_lose_little(exact, bits, share, least):
    small = CompactVectors(bits=bits).fit(X)
    assert ExactNeighbours().fit(X).nbytes / small.nbytes == pytest.approx(share, rel=0.02)
    cosines, rows = small.search(QUESTIONS)
    assert neighbour_recall(rows, exact) >= least
    assert (np.diff(cosines, axis=1) <= 0).all()


def test_rescoring_wins_back_what_one_bit_has_lost(exact):
    small = CompactVectors(bits=1).fit(X)
    alone = neighbour_recall(small.search(QUESTIONS)[1], exact)
    again = rescored(QUESTIONS, small.search(QUESTIONS, k=100)[1], X)[1]
    assert neighbour_recall(again, exact) >= max(0.95, alone + 0.1)
    every = np.tile(np.arange(len(X)), (2, 1))
    assert np.array_equal(rescored(QUESTIONS[:2], every, X)[1], exact[:2])


def test_the_first_numbers_alone_are_a_space_of_their_own():
    cut = CompactVectors(dim=16, bits=32).fit(X)
    plain = ExactNeighbours().fit(X[:, :16]).search(QUESTIONS[:, :16])[1]
    assert np.array_equal(cut.search(QUESTIONS)[1], plain)
    assert cut.nbytes == len(X) * 16 * 4


def test_the_score_of_one_bit_is_the_cosine_of_the_signs():
    signs = np.where(X > 0, 1.0, -1.0)
    cosines, rows = CompactVectors(bits=1, dim=50).fit(X).search(QUESTIONS, k=5)
    own = np.where(QUESTIONS > 0, 1.0, -1.0)
    expected = np.einsum("id,ikd->ik", own[:, :50], signs[rows][..., :50]) / 50
    np.testing.assert_allclose(cosines, expected, atol=1e-6)


# ------------------------------------------------------------------------------ a graph


def test_a_wider_walk_finds_more_and_the_same_vectors_give_the_same_graph(exact):
    pytest.importorskip("faiss", reason="the package faiss-cpu is not installed")
    graph = Hnsw(m=4, ef_construction=20, ef=10).fit(X)
    narrow = neighbour_recall(graph.search(QUESTIONS)[1], exact)
    graph.ef = 400
    cosines, rows = graph.search(QUESTIONS)
    assert narrow < neighbour_recall(rows, exact) >= 0.95
    again = Hnsw(m=4, ef_construction=20, ef=400).fit(X)
    assert np.array_equal(again.search(QUESTIONS)[1], rows)
    near = np.einsum("id,ikd->ik", QUESTIONS, X[rows])
    norms = np.linalg.norm(QUESTIONS, axis=1)[:, None] * np.linalg.norm(X, axis=1)[rows]
    np.testing.assert_allclose(cosines, near / norms, atol=1e-5)


def test_a_walk_that_sees_too_few_is_made_up_for():
    pytest.importorskip("faiss", reason="the package faiss-cpu is not installed")
    rows = Hnsw().fit(np.eye(30)).search(np.eye(30), k=30)[1]
    assert (np.sort(rows, axis=1) == np.arange(30)).all()


def test_without_the_package_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(BackendUnavailable, match=r"faiss-cpu.*pip install.*ExactNeighbours"):
        Hnsw().fit(X)
