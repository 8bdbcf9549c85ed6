"""The exercises of lesson 14: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from lessons_lib.contrastive.losses import in_batch_loss
from lessons_lib.contrastive.reading import Reading
from lessons_lib.exercises import verdict
from lessons_lib.exercises.simcse import EXERCISES, SAME, WAYS
from lessons_lib.kernels import info_nce

RNG = np.random.default_rng(0)
H, P, N = (RNG.normal(size=(7, 5)) for _ in range(3))
TEXT = "Two women are slicing onions."
MADE = {WAYS[0]: (0.1, (0, 1), TEXT), WAYS[1]: (0.1, (0, 0), TEXT), WAYS[2]: (0.0, (0, 1), TEXT),
        WAYS[3]: (0.0, (0, 1), "Two women slicing onions."), WAYS[4]: (0.0, (0, 1), TEXT.upper()),
        WAYS[5]: (0.1, (None, None), TEXT)}


@pytest.fixture(scope="module")
def bert():
    from lessons_lib.contextual import load_encoder

    return load_encoder("lesson-bert")


@pytest.mark.parametrize("way", WAYS)
def test_exactly_the_named_ways_give_one_vector_twice(bert, way):
    dropout, seeds, second = MADE[way]
    reading = Reading(bert, dropout=dropout)
    numbered = reading.number([TEXT, second])
    with torch.no_grad():
        one, other = (reading(numbered, np.array([row]), seed=seed)
                      for row, seed in enumerate(seeds))
    assert torch.equal(one, other) == (way in SAME)


@pytest.mark.parametrize("tau", [0.05, 0.5])
def test_the_losses_are_those_of_the_library_and_of_the_kernel(tau):
    u, v, w = (torch.from_numpy(x) for x in (H, P, N))
    mended = EXERCISES["stuck_loss"].solution(H, P, tau)
    assert mended == pytest.approx(in_batch_loss(u, v, temperature=tau).item())
    assert mended == pytest.approx(
        info_nce(normalize(u), normalize(v), temperature=tau, backend="reference").item())
    for alpha in (0.5, 1.0, 2.0):
        hard = EXERCISES["hard_negatives"].solution(H, P, N, tau, alpha)
        assert hard == pytest.approx(
            in_batch_loss(u, v, w, temperature=tau, hard_weight=float(np.log(alpha))).item())


@pytest.mark.parametrize("tau", [0.05, 1.0])
def test_equal_vectors_cost_the_logarithm_of_the_number_of_candidates(tau):
    same = np.ones((64, 3))
    hard = EXERCISES["hard_negatives"].solution(same, same, same, tau, 1.0)
    assert hard == pytest.approx(EXERCISES["equal_loss"].solution, abs=1e-4)


def test_the_loss_with_the_fault_is_near_the_logarithm_of_the_batch():
    broken = EXERCISES["stuck_loss"].wrong["the code as it was"]
    assert broken(H, P, 0.05) == pytest.approx(np.log(len(H)), abs=0.1)


@pytest.mark.parametrize("third", [[3, 1], [0, 1], [-1, 5]])
def test_two_opposite_vectors_break_the_bound_whatever_the_third_is(third):
    assert verdict(EXERCISES["counterexample"], [[3, 1], [-3, -1], third]) == "correct"
