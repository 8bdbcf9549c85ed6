"""Windows with documents: whoever takes them one by one by hand learns what the library learns."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.kernels import DocumentState, document_update
from lessons_lib.sentences import document_windows

N_WORDS, DIM, WINDOW = 20, 6, 2
MODELS = [{"model": "dbow"}, {"model": "dbow", "train_words": True}, {"model": "dm"},
          {"model": "dm", "combine": "sum"}, {"model": "dm", "combine": "concat"}]


def state_of(model, objective="negative_sampling"):
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.5, size=120) - 1, N_WORDS - 1)
    parts = 1 + 2 * WINDOW if model.get("combine") == "concat" else 1
    rows = rng.normal(size=(N_WORDS + 1 + 4, DIM)) * 0.3, rng.normal(
        size=(N_WORDS - (objective != "negative_sampling"), DIM * parts)) * 0.3
    return DocumentState(words, [0, 50, 51, 51, 120], *rows,
                         np.bincount(words, minlength=N_WORDS) + 1, sample=0.05, tags=[0, 1, 2, 3],
                         tag_offsets=range(5))


@pytest.mark.parametrize("objective", ["negative_sampling", "hierarchical_softmax"])
@pytest.mark.parametrize("model", MODELS)
def test_windows_taken_by_hand_learn_what_the_library_learns(model, objective):
    state = state_of(model, objective)
    v, u = state.inputs[:, :DIM].double().numpy().copy(), state.plain_outputs.astype(np.float64)
    how = {"objective": objective, "window": WINDOW, "negatives": 3, "seed": 4, "epoch": 2} | model
    for contexts, outputs, labels in document_windows(state, **how):
        x = {
            "": v[contexts], "mean": v[contexts].mean(axis=0)[None],
            "sum": v[contexts].sum(axis=0)[None], "concat": v[contexts].reshape(1, -1)
        }[model.get("combine", "mean") if model["model"] == "dm" else ""]
        gains = 0.05 * (labels - 1 / (1 + np.exp(-x @ u[outputs].T)))
        errors = gains @ u[outputs]
        np.add.at(u, outputs, gains.T @ x)
        np.add.at(v, contexts, np.broadcast_to(errors.reshape(-1, DIM), (len(contexts), DIM)))
    document_update(state, learning_rate=0.05, **how)
    assert np.allclose(v, state.inputs[:, :DIM], atol=1e-5) and np.allclose(
        u, state.plain_outputs, atol=1e-5)


def test_a_document_is_the_last_context_of_each_of_its_words():
    state = state_of({})
    rows = [w.contexts[-1] - N_WORDS - 1 for w in document_windows(state)]
    assert rows == sorted(rows) and set(rows) <= {0, 1, 3}
    assert all(len(w.contexts) == 1 for w in document_windows(state, model="dbow"))
