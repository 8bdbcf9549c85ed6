"""A compiled function refuses what the same function refuses without the compiler: the checks run with the numbers, inside the operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from lessons_lib.kernels import info_nce, knn, pool, ranks, segment_moments

Q, KEY = (torch.randn(6, 4, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
TOKENS, ROWS = torch.ones(2, 2, 3), torch.ones(4, 2)


def drops(query: torch.Tensor, key: torch.Tensor, hard: torch.Tensor) -> torch.Tensor:
    return info_nce(query, key, hard_negative=hard, hard_weight=-math.inf)


def hard_negatives(query: torch.Tensor, key: torch.Tensor, hard: torch.Tensor) -> torch.Tensor:
    return info_nce(query, key, hard_negative=hard, hard_weight=1.0)


def chosen(query: torch.Tensor, key: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    return info_nce(query, key, positive=positive)


def both_ways(query: torch.Tensor, key: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    return info_nce(query, key, positive=positive, symmetric=True)


def first_token(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return pool(hidden, mask, how="cls")


def largest(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return pool(hidden, mask, how="max")


def neighbours(x: torch.Tensor) -> torch.Tensor:
    return knn(x, x, k=1)[0]


CASES: list[tuple[Callable[..., Any], tuple[torch.Tensor, ...], tuple[torch.Tensor, ...], str]] = [
    (segment_moments, (ROWS, torch.tensor([0, 3, 4])), (ROWS, torch.tensor([0, 3, 1, 4])), r"offsets\[2\]=1 is less than offsets\[1\]=3"),
    (segment_moments, (ROWS, torch.tensor([0, 4])), (ROWS, torch.tensor([0, 3])), r"offsets\[1\]=3; expected 4"),
    (segment_moments, (ROWS, torch.tensor([0, 4])), (ROWS, torch.tensor([1, 4])), r"offsets\[0\]=1; expected 0"),
    (segment_moments, (ROWS, torch.tensor([0, 4])), (ROWS * math.nan, torch.tensor([0, 4])), r"x\[0\] holds NaN or infinity \(4 of 4"),
    (chosen, (Q, KEY, torch.arange(6).flip(0)), (Q, KEY, torch.tensor([0, 1, 2, 3, 4, 99])), r"positive\[5\]=99 is no row"),
    (chosen, (Q, KEY, torch.arange(6).flip(0)), (Q, KEY, torch.tensor([0, 1, 2, 3, 4, -1])), r"positive\[5\]=-1 is no row"),
    (both_ways, (Q, KEY, torch.arange(6).flip(0)), (Q, KEY, torch.zeros(6, dtype=torch.int64)), r"positive\[1\]=0 is the positive of query 0 too"),
    (drops, (Q, KEY, torch.arange(6).roll(1)), (Q, KEY, torch.arange(6)), r"hard_negative\[0\]=0 is the positive of the same query"),
    (hard_negatives, (Q, KEY, torch.arange(6).roll(1)), (Q, KEY, torch.arange(6) + 6), r"hard_negative\[0\]=6 is no row"),
    (pool, (TOKENS, torch.tensor([[1, 1], [1, 0]])), (TOKENS, torch.tensor([[1, 1], [7, 0]])), r"mask\[1, 0\]=7; expected 1 or True"),
    (largest, (TOKENS, torch.tensor([[1.0, 1.0], [1.0, 0.0]])), (TOKENS, torch.tensor([[1.0, 1.0], [0.5, 0.0]])), r"mask\[1, 0\]=0.5; expected 1"),
    (first_token, (TOKENS, torch.tensor([[1, 1], [1, 0]])), (TOKENS, torch.tensor([[1, 1], [0, 1]])), r"mask\[1, 0\] is 0 .*Pad on the right"),
    (first_token, (TOKENS, torch.tensor([[True, True], [True, False]])), (TOKENS, torch.tensor([[True, True], [False, True]])), "Pad on the right"),
    (neighbours, (Q,), (Q * math.nan,), r"x\[0\] holds NaN or infinity \(6 of 6"),
]


@pytest.mark.parametrize(("function", "good", "bad", "words"), CASES)
def test_a_compiled_function_refuses_what_it_refuses_uncompiled(function, good, bad, words):
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(*good), function(*good))
    for call in (function, compiled):
        with pytest.raises(ValueError, match=words):
            call(*bad)


@pytest.mark.parametrize(("function", "good", "bad", "words"), CASES[4:13])
def test_a_compiled_function_that_learns_refuses_it_too(function, good, bad, words):
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    vectors = good[0].clone().requires_grad_()
    compiled(vectors, *good[1:]).sum().backward()
    found, vectors.grad = vectors.grad, None
    function(vectors, *good[1:]).sum().backward()
    torch.testing.assert_close(found, vectors.grad)
    with pytest.raises(ValueError, match=words):
        compiled(bad[0].clone().requires_grad_(), *bad[1:])


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_ranks_break_the_graph_and_look_at_their_values(backend):
    torch._dynamo.reset()
    compiled = torch.compile(ranks, backend=backend)
    assert compiled(torch.tensor([3.0, 1.0, 2.0])).tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(ValueError, match=r"values\[1\] holds NaN or infinity \(1 of 3"):
        compiled(torch.tensor([3.0, math.nan, 2.0]))


def test_the_look_at_a_mask_is_known_to_the_compiler():
    for mask in (torch.tensor([[1, 0]]), torch.tensor([[1.0, 0.0]]), torch.tensor([[True, False]]), torch.ones(3, 4, dtype=torch.int32).T):
        torch.library.opcheck(torch.ops.lessons_lib.pool_mask.default, (mask, True))
