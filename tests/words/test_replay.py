"""Windows told beforehand: whoever steps through them by hand ends where training ends."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import words
from lessons_lib.kernels import WindowState, window_update

V, DIM = 9, 5


def state(sample: float = 1e-3, tree: bool = False) -> WindowState:
    rng = np.random.default_rng(3)
    text = rng.integers(V, size=120)
    inputs, outputs = rng.normal(size=(V, DIM)), rng.normal(size=(V - tree, DIM))
    return WindowState(text, [0, 50, 50, 120], inputs, outputs, np.bincount(text, minlength=V),
                       sample=sample)


@pytest.mark.parametrize("objective", ["negative_sampling", "hierarchical_softmax"])
@pytest.mark.parametrize("sample", [0.0, 0.05])
def test_steps_by_hand_through_the_windows_are_the_steps_of_training(objective, sample):
    made = state(sample, objective == "hierarchical_softmax")
    v, u = (x[:, :DIM].numpy().astype(np.float64) for x in (made.inputs, made.outputs))
    taken = words.windows(made, objective=objective, window=3, negatives=4, seed=7, epoch=2)
    n = 0
    for contexts, outputs, labels in taken:
        x = v[contexts]
        g = 0.1 * (labels - 1 / (1 + np.exp(-x @ u[outputs].T)))
        step = g @ u[outputs]
        np.add.at(u, outputs, g.T @ x)
        np.add.at(v, contexts, step)
        n += 1
    window_update(made, objective=objective, window=3, negatives=4, seed=7, epoch=2,
                  learning_rate=0.1)
    assert n > 20 and np.allclose(v, made.inputs[:, :DIM], atol=1e-5) and np.allclose(
        u, made.outputs[:, :DIM], atol=1e-5)


def test_the_first_output_is_the_centre_and_no_noise_is():
    for window in words.windows(state(0.0), window=2, negatives=6):
        assert window.labels[0] == 1 and (window.labels[1:]
                                          == 0).all() and (window.outputs[1:]
                                                           != window.outputs[0]).all()


def test_nothing_is_trained_and_the_windows_can_be_told_again():
    made = state()
    before = made.inputs.clone()
    first, second = ([(w.contexts.tolist(), w.outputs.tolist())
                      for w in words.windows(made, seed=s)]
                     for s in (1, 1))
    assert first == second != [(w.contexts.tolist(), w.outputs.tolist())
                               for w in words.windows(made, seed=2)]
    assert (made.inputs == before).all()
