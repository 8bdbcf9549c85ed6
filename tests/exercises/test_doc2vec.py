"""The exercises of lesson 07: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.exercises.doc2vec import CHANGES, EXERCISES, N_NUMBERS, UNCHANGED
from lessons_lib.kernels import DocumentState
from lessons_lib.sentences import Doc2Vec, document_windows

DOCUMENTS = [(0, [0, 1, 1, 2, 3]), (1, [3, 4, 4, 0]), (1, [2, 2, 4])]             # (tag, words)


def loss_terms(name: str | None) -> dict:
    """How often each pair of a tag and a word is true, and the noise that each tag must expect: the
    whole of the objective.
    """
    rng, documents, k = np.random.default_rng(0), list(DOCUMENTS), 4
    if name == CHANGES[0]:
        documents = [(tag, rng.permutation(words).tolist()) for tag, words in documents]
    elif name == CHANGES[1]:
        documents = documents[::-1]
    elif name == CHANGES[2]:
        documents = [(2 * i + half, part) for i, (_, words) in enumerate(documents) for half,
                     part in enumerate((words[:2], words[2:]))]
    elif name == CHANGES[3]:
        documents = [documents[0], (1, documents[1][1] + documents[2][1])]
    words, tags = np.concatenate([w for _, w in documents]), [tag for tag, _ in documents]
    n_tags = max(tags) + 1
    state = DocumentState(words, np.cumsum([0, *(len(w) for _, w in documents)]),
                          np.zeros((5 + 1 + n_tags, 2)), np.zeros((5, 2)),
                          np.bincount(words, minlength=5), sample=0, tags=tags,
                          tag_offsets=np.arange(len(tags) + 1))
    window, negatives = (10 if name == CHANGES[4] else 5), (k // 2 if name == CHANGES[5] else k)
    taken = list(document_windows(state, model="dbow", window=window, negatives=negatives))
    found: dict = {"noise": tuple(np.bincount(words, minlength=5) * negatives)}
    for w in taken:
        pair = int(w.contexts[0]) - 6, int(w.outputs[0])
        found[pair] = found.get(pair, 0) + 1
    return found


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_leave_the_objective_as_it_is(name):
    assert (loss_terms(name) == loss_terms(None)) == (name in UNCHANGED)


def test_the_gradient_of_the_exercise_is_that_of_its_loss():
    rng = np.random.default_rng(1)
    D, U, n, P, k = rng.normal(size=3), rng.normal(size=(6, 3)), rng.integers(
        0, 5, size=6), rng.dirichlet(np.ones(6)), 4

    def loss(d):
        s = U @ d
        return (n * np.log1p(np.exp(-s))).sum() + k * n.sum() * (P * np.log1p(np.exp(s))).sum()

    numeric = [(loss(D + h) - loss(D - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    assert np.allclose(EXERCISES["document_gradient"].solution(D, U, n, P, k), numeric, atol=1e-6)


def test_the_model_of_the_exercise_holds_that_many_numbers():
    model = Doc2Vec("dm", combine="concat", dim=3, window=2, min_count=1,
                    epochs=1).fit(["a b c d", "b c a e"])
    V, N, d, window = 5, 2, 3, 2
    # and the edge
    held = model.vectors_.matrix.size + model.document_vectors_.matrix.size + model.output_.size + d
    assert held == (V + N + 1) * d + V * d * (1 + 2 * window)
    assert N_NUMBERS == (10_000 + 1000 + 1) * 100 + 10_000 * 100 * 11
