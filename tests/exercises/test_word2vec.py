"""The exercises of lesson 04: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.exercises.word2vec import CHANGES, EXERCISES, UNCHANGED
from lessons_lib.kernels import WindowState
from lessons_lib.text import Corpus
from lessons_lib.words import windows


def neighbours(x: np.ndarray) -> np.ndarray:
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.argsort(-np.round(unit @ unit.T, 9), axis=1, kind="stable")


def changed(name: str, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    turn = np.linalg.qr(rng.normal(size=(x.shape[1],) * 2))[0]
    stretch = np.where(np.arange(x.shape[1]) == 0, 10.0, 1.0)
    order = np.array([1, 0, *range(2, x.shape[1])])
    return dict(zip(CHANGES, (x @ turn, 3 * x, x * rng.uniform(0.2, 5, size=(len(x), 1)),
                              x[:, order], x + 1.0, x * stretch), strict=True))[name]


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_leave_all_neighbours_as_they_are(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 6))
    assert np.array_equal(neighbours(changed(name, x, rng)), neighbours(x)) == (name in UNCHANGED)


def test_the_pairs_are_those_that_the_library_trains_on():
    tokens = ["cats", "drink", "milk", "and", "cats", "sleep"]
    corpus = Corpus.from_tokens([tokens])
    words, zeros = corpus.vocabulary.tokens, np.zeros((5, 2))
    state = WindowState(corpus.token_ids, corpus.offsets, zeros, zeros, corpus.vocabulary.counts,
                        sample=0)
    taken = [(words[w.outputs[0]], words[c]) for w in windows(state, window=1) for c in w.contexts]
    assert EXERCISES["window_pairs"].solution(tokens, 1) == taken


def test_the_share_is_the_largest_that_the_library_always_keeps():
    share, total = EXERCISES["always_kept"].solution(1e-2), 1_000_000
    below, above = int(0.99 * share * total), int(1.01 * share * total)
    counts = np.array([below, above, total - below - above])
    state = WindowState(np.zeros(0), [0], np.zeros((3, 1)), np.zeros((3, 1)), counts, sample=1e-2)
    kept = state.keep / 2**31
    assert np.isclose(kept[0], 1, atol=1e-8) and kept[1] < 0.999


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(1)
    v, u, y = rng.normal(size=4), rng.normal(size=(3, 4)), np.array([1.0, 0.0, 0.0])

    def loss(v: np.ndarray) -> float:
        p = 1 / (1 + np.exp(-u @ v))
        return float(-np.log(np.where(y == 1, p, 1 - p)).sum())

    numeric = [(loss(v + 1e-6 * e) - loss(v - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    assert np.allclose(EXERCISES["centre_gradient"].solution(v, u, y), numeric, atol=1e-7)
