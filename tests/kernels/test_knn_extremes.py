"""Distances between numbers of very different sizes: what is far away must not blur what lies close together."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import knn
from lessons_lib.kernels.knn import cpu, exact


def distance(a: list[float], b: list[float]) -> float:
    """By Python, which neither overflows nor underflows on the way; of halves where a difference would."""
    return math.dist(a, b) if all(math.isfinite(p - q) for p, q in zip(a, b, strict=True)) else 2 * math.dist([p / 2 for p in a], [q / 2 for q in b])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("outlier", [1e13, 1e150, 1e160, 1e200, 1.7e308])
def test_one_outlier_does_not_change_the_distances_of_the_others(outlier, sign):
    x = torch.cat([torch.tensor([[sign * outlier]], dtype=torch.float64), torch.arange(5, dtype=torch.float64)[:, None]])
    values, indices = knn(torch.tensor([[3.2]], dtype=torch.float64), x, k=3, metric="l2")
    assert indices.tolist() == [[4, 5, 3]]
    torch.testing.assert_close(values, torch.tensor([[0.2, 0.8, 1.2]], dtype=torch.float64))


def test_one_outlier_in_float32_leaves_the_order_of_tiny_numbers():
    x = torch.tensor([[3e38], [1e-9], [1.0000001e-9], [3e-9]])
    values, indices = knn(x[2:3], x, k=3, metric="l2")
    assert indices.tolist() == [[2, 1, 3]]
    assert values.tolist() == [[0.0, (x[2].double() - x[1].double()).float().item(), (x[3].double() - x[2].double()).float().item()]]


def test_rows_at_both_ends_of_float64_are_farther_apart_than_any_number_and_still_in_order():
    x = torch.tensor([[1.7e308], [-1.7e308], [1.0], [5e-324], [-5e306]], dtype=torch.float64)
    values, indices = knn(x, x, k=5, metric="l2")
    assert indices.tolist() == [[0, 2, 3, 4, 1], [1, 4, 2, 3, 0], [2, 3, 4, 0, 1], [3, 2, 4, 0, 1], [4, 2, 3, 1, 0]]
    assert values[0].tolist() == [0.0, 1.7e308, 1.7e308, 1.7e308 + 5e306, math.inf] and values[3, 1] == 1.0


@given(dtype=st.sampled_from([torch.float32, torch.float64]), n=st.integers(6, 40), k=st.sampled_from([1, 3, 5]),
       width=st.sampled_from([0.0, 2.0, 20.0]), centre=st.floats(0, 1), seed=st.integers(0, 99))
def test_numbers_of_any_size_are_ordered_by_their_distance(dtype, n, k, width, centre, seed):
    lowest, highest = (-45.0, 37.5) if dtype == torch.float32 else (-320.0, 307.5)
    generator = torch.Generator().manual_seed(seed)
    exponents = lowest + (highest - lowest) * centre + width * torch.randn(n + 4, 1, generator=generator, dtype=torch.float64)
    rows = (torch.randn(n + 4, 1, generator=generator, dtype=torch.float64).clamp(-3, 3) * 10 ** exponents.clamp(lowest, highest)).to(dtype)
    x, query = rows[:n], torch.cat([rows[n:], rows[:2]])
    with pytest.MonkeyPatch.context() as patch:
        for module, name, size in ((cpu, "ROWS", 3), (cpu, "SPARE", 2), (exact, "BLOCK", 20), (exact, "SUMMED", 24)):
            patch.setattr(module, name, size)
        found = knn(query, x, k=k, metric="l2")[1]
    for q, neighbours in zip(query.double().tolist(), found.tolist(), strict=True):
        true = [distance(q, row) for row in x.double().tolist()]
        assert neighbours == sorted(range(n), key=lambda j: (true[j], j))[:k]


@pytest.mark.parametrize("size", [1e-21, 1e-22, 3e-22])
def test_products_that_vanish_in_float32_hide_no_neighbour(size):
    """Squares of 1e-22 are below what float32 holds: beside rows of size 1 the fast scores of all small rows are a few steps of 1e-45."""
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        small = size * torch.randn(100, 3, generator=generator)
        x, query = torch.cat([torch.ones(1, 3), -torch.ones(1, 3), small, -small]), size * torch.randn(10, 3, generator=generator)
        expected = (query.double()[:, None] - x.double()).square().sum(dim=2).sort(dim=1, stable=True).indices[:, :3]
        assert torch.equal(knn(query, x, k=3, metric="l2")[1], expected)


def test_the_kernel_finds_what_lies_close_together_beside_an_outlier(triton_here, device):
    x = torch.tensor([[3e38], [1e-9], [1.0000001e-9], [3e-9], [-3e38]], device=device)
    assert knn(x[2:3], x, k=3, metric="l2", backend=triton_here)[1].tolist() == [[2, 1, 3]]
