"""Nearest neighbours: every implementation gives the rows and the order of float64 scores, whatever
the size of the numbers."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lessons_lib.kernels import knn, trace
from lessons_lib.kernels.knn import cpu, exact, reference

from .conftest import cloud, gpu, repeated

METRICS = ("cosine", "l2")
SMALL = ((cpu, "ROWS", 3), (cpu, "SPARE", 2), (exact, "BLOCK", 20), (exact, "SUMMED", 24))


def assert_exact(found: tuple[Tensor, Tensor], query: Tensor, x: Tensor, **options: object) -> None:
    """The rows of the float64 formula in its order, and its values rounded once."""
    values, indices = reference.nearest(query.double(), x.double(), **options)
    assert torch.equal(found[1], indices)
    torch.testing.assert_close(found[0].double(), values, rtol=2 * torch.finfo(found[0].dtype).eps,
                               atol=1e-14)


@contextlib.contextmanager
def small_blocks() -> Iterator[None]:
    """Several ragged blocks of queries, of columns and of sums, and few spare candidates."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, size in SMALL:
            patch.setattr(module, name, size)
        yield


@contextlib.contextmanager
def coarse_products(library: Any, precision: str) -> Iterator[None]:
    before = library.fp32_precision
    library.fp32_precision = precision
    try:
        yield
    finally:
        library.fp32_precision = before


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_rounding_takes_no_cosine_beyond_one(backend):
    x = cloud(300, 7, dtype=torch.float64)
    highest = knn(x, x, k=1, metric="cosine", backend=backend)[0]
    lowest = knn(x, -x, k=300, metric="cosine", backend=backend)[0][:, -1]
    assert highest.max() == 1 and lowest.min() == -1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_the_hand_made_case(metric, backend):
    x = torch.tensor([[3.0, 0.0], [1.0, 1.0], [0.0, 0.5], [-1.0, 0.0]])
    values, indices = knn(torch.tensor([[1.0, 0.0]]), x, k=4, metric=metric, backend=backend)
    if metric == "cosine":
        assert indices.tolist() == [[0, 1, 2, 3]]
        torch.testing.assert_close(values, torch.tensor([[1, 0.5**0.5, 0, -1]]))
    else:
        # 0 and 3 lie at distance 2: the lower row first
        assert indices.tolist() == [[1, 2, 0, 3]]
        torch.testing.assert_close(values, torch.tensor([[1, 1.25**0.5, 2, 2]]))


@given(m=st.integers(0, 12), n=st.integers(2, 30), d=st.integers(1, 8), k=st.integers(1, 30),
       metric=st.sampled_from(METRICS), copies=st.booleans(), exclude_self=st.booleans(),
       dtype=st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]),
       seed=st.integers(0, 1000))
def test_blocks_give_the_rows_of_the_formula(m, n, d, k, metric, copies, exclude_self, dtype, seed):
    # on a line all cosines are 1 but for rounding
    d = max(d, 2) if metric == "cosine" and not copies else d
    x = cloud(n, d, seed, dtype)
    # small whole numbers and d <= 8: ties of the formula are ties of float64
    if copies:
        x = (x * 1.2).round().clamp(-1, 1)
        x[seed % n] = 0
    query = x if exclude_self else torch.cat([cloud(m, d, seed + 1, dtype).round(), x[: m // 2]])
    options = {"k": min(k, n - exclude_self), "metric": metric, "exclude_self": exclude_self}
    with small_blocks():
        found = knn(query, x, **options)
    if not copies:
        assert_exact(found, query, x, **options)
        return
    values, indices = _whole_number_neighbours(query, x, **options)
    assert found[1].tolist() == indices
    torch.testing.assert_close(found[0].double(), values, rtol=1e-6, atol=1e-12)


def _whole_number_neighbours(query: Tensor, x: Tensor, *, k: int, metric: str,
                             exclude_self: bool) -> tuple[Tensor, list[list[int]]]:
    """Neighbours by exact keys in Python's whole numbers: sign(q·x) (q·x)² / ‖x‖² as a fraction, or
    ‖q - x‖²."""
    rows, columns = query.long().tolist(), x.long().tolist()
    found, values = [], []
    for i, q in enumerate(rows):
        keys = []
        for j, y in enumerate(columns):
            dot, length = sum(a * b for a, b in zip(q, y, strict=True)), sum(b * b for b in y)
            key = Fraction(-dot * abs(dot), length) if length else Fraction(0)
            keys.append((key if metric == "cosine"
                         else Fraction(sum((a - b) ** 2 for a, b in zip(q, y, strict=True))), j))
        best = sorted(key for key in keys if not (exclude_self and key[1] == i))[:k]
        own = math.sqrt(sum(a * a for a in q)) or 1.0
        found.append([j for _, j in best])
        values.append([math.copysign(math.sqrt(abs(key)), -key) / own if metric == "cosine"
                       else math.sqrt(key) for key, _ in best])
    return torch.tensor(values, dtype=torch.float64).reshape(len(rows), k), found


@pytest.mark.parametrize("metric", METRICS)
def test_V22_copies_of_one_row_come_back_in_the_order_of_their_rows(metric):
    x = cloud(600, 20)
    places = torch.randperm(600, generator=torch.Generator().manual_seed(1))[:200].sort().values
    # 200 copies, far more than the 32 spare candidates
    x[places] = x[places[0]].clone()
    query = torch.cat([x[places[:3]] + 1e-6, x[places[:1]] * 2 if metric == "cosine"
                       else x[places[:1]]])
    values, indices = knn(query, x, k=10, metric=metric)
    assert torch.equal(indices, places[:10].expand(4, 10))
    assert bool((values == values[:, :1]).all())
    _, others = knn(x, x, k=5, metric=metric, exclude_self=True)
    for i in places.tolist():
        assert others[i].tolist() == [j for j in places.tolist() if j != i][:5]


def test_rows_that_rounding_cannot_tell_apart_are_told_apart():
    query = torch.ones(1, 300)
    x = torch.ones(500, 300)
    # the last row is nearest; squares differ by 1e-12 and less
    x[:, 0] += torch.arange(500, 0, -1) * 2.0**-22
    assert knn(query, x, k=5, metric="l2")[1].tolist() == [[499, 498, 497, 496, 495]]
    assert_exact(knn(query, x, k=5), query, x, k=5, metric="cosine", exclude_self=False)


def test_distances_of_vectors_far_from_zero_keep_their_digits(looked_at_twice):
    """kernels.md 3.3: vectors as BERT makes them share a long mean; ‖q‖² + ‖x‖² - 2 q·x then loses
    what the differences keep."""
    mean = 8 * cloud(1, 768, seed=9) / 768**0.5
    # the one coordinate that is large in all vectors
    mean[0, 308] = 200.0
    x = mean + 0.01 * cloud(400, 768)
    query = x[:50] + 0.01 * cloud(50, 768, seed=2)
    true = torch.cdist(query.double(), x.double(),
                       compute_mode="donot_use_mm_for_euclid_dist").square()

    def expanded(a, b):
        return a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T

    centred = expanded(query - x.mean(0), x - x.mean(0))
    assert true.min() < 0.1
    assert (expanded(query, x) - true).abs().max() > 5e-3 > 5e-4 > (centred - true).abs().max()
    assert not torch.equal(expanded(query, x).topk(5, largest=False).indices,
                           true.topk(5, largest=False).indices)
    values, indices = knn(query, x, k=5, metric="l2")
    assert torch.equal(indices, true.topk(5, largest=False).indices)
    torch.testing.assert_close(values.double(), true.sqrt().gather(1, indices), rtol=1e-7, atol=0)
    # centred, the fast scores are good enough
    assert not looked_at_twice


@pytest.fixture
def looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The queries that had to be compared again with all rows."""
    seen: list[int] = []
    whole = exact._all_within
    monkeypatch.setattr(exact, "_all_within", lambda space, rows, *a,
                        **o: seen.extend(rows.tolist()) or whole(space, rows, *a, **o))
    return seen


def test_an_outlier_does_not_send_every_query_to_the_slow_path(looked_at_twice):
    x = cloud(400, 16)
    x[7] *= 1e4
    found = knn(x, x, k=3, metric="l2", exclude_self=True)
    assert_exact(found, x, x, k=3, metric="l2", exclude_self=True)
    assert len(looked_at_twice) <= 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("adverse", [True, False])
def test_no_error_within_the_bound_changes_a_neighbour(adverse, metric, monkeypatch):
    """The bound of rounding is made 0.05 and all that it allows is used: against the true
    neighbours and for all others, or up or down at random."""
    x, query = cloud(60, 5), cloud(30, 5, seed=1)
    generator = torch.Generator().manual_seed(2)
    true = reference.nearest(query.double(), x.double(), k=4, metric=metric, exclude_self=False)[1]
    against = torch.ones(30, 60).scatter_(1, true, -1.0)
    made, scores = exact.space_of, exact.Space.scores

    def moved(space: exact.Space, rows: Tensor, columns: slice, **options: bool) -> Tensor:
        block = scores(space, rows, columns, **options)
        norm, own = space.query_squares[rows].sqrt()[:, None], space.squares[columns].sqrt()
        largest = norm.expand(block.shape) if metric == "cosine" else own * (norm + own)
        sign = 2.0 * torch.randint(0, 2, block.shape, generator=generator) - 1
        sign = against[rows, columns] if adverse else sign
        return block + (0.9999 * space.rounding * largest * sign).to(block.dtype)

    monkeypatch.setattr(exact, "space_of",
                        lambda *a, **o: dataclasses.replace(made(*a, **o), rounding=0.05))
    monkeypatch.setattr(exact.Space, "scores", moved)
    for _ in range(1 if adverse else 4):
        with small_blocks():
            result = knn(query, x, k=4, metric=metric)
        assert_exact(result, query, x, k=4, metric=metric, exclude_self=False)


def test_scaling_changes_no_cosine_and_moving_changes_no_distance():
    x, query = cloud(200, 12), cloud(20, 12, seed=1)
    scale = 2.0 ** torch.randint(-90, 90, (200, 1), generator=torch.Generator().manual_seed(2))
    values, indices = knn(query, x, k=7)
    scaled_values, scaled = knn(query * 2.0**-70, x * scale, k=7)
    assert torch.equal(scaled, indices) and torch.equal(scaled_values, values)
    moved = (x.double() + 64, query.double() + 64)
    assert torch.equal(knn(moved[1], moved[0], k=7, metric="l2")[1],
                       knn(query, x, k=7, metric="l2")[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("largest", [True, False])
def test_numbers_near_the_ends_of_their_type_are_compared_all_the_same(dtype, largest):
    x, query = cloud(50, 6, dtype=dtype), cloud(5, 6, seed=1, dtype=dtype)
    size = torch.finfo(dtype).max / 16 if largest else torch.finfo(dtype).tiny * 64
    size = 2.0 ** math.floor(math.log2(size))
    for metric in METRICS:
        values, indices = knn(query * size, x * size, k=4, metric=metric)
        expected, same = knn(query, x, k=4, metric=metric)
        assert torch.equal(indices, same)
        torch.testing.assert_close(values, expected * (1.0 if metric == "cosine" else size),
                                   rtol=1e-6, atol=0)


@pytest.mark.parametrize("metric", METRICS)
def test_V09_views_give_what_copies_give_and_nothing_is_written(metric):
    base = cloud(24, 40)
    x, query = base.T[::2], base.T[1::2].flip(0)
    before = base.clone()
    found, expected = knn(query, x, k=4, metric=metric), knn(query.contiguous(), x.contiguous(),
                                                             k=4, metric=metric)
    assert torch.equal(found[0], expected[0]) and torch.equal(found[1], expected[1])
    assert torch.equal(base, before)
    array = base.numpy()
    array.flags.writeable = False
    assert torch.equal(knn(array, array, k=2, metric=metric)[1],
                       knn(base, base, k=2, metric=metric)[1])


def test_autocast_and_coarse_products_change_no_neighbour():
    # cosines that differ in the fourth digit
    x = 1 + 0.02 * cloud(300, 64)
    expected = knn(x, x, k=5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = knn(x, x, k=5)
    assert torch.equal(found[1], expected[1]) and torch.equal(found[0], expected[0])
    with coarse_products(torch.backends.mkldnn.matmul, "bf16"):
        found = knn(x, x, k=5)
        rounding = exact.space_of(x, x, metric="cosine", dtype=torch.float32).rounding
    # the bound knows that such products may be off in the third digit
    assert rounding > 2**-7
    assert torch.equal(found[1], expected[1]) and torch.equal(found[0], expected[0])


def test_V21_no_query_gives_no_rows_and_one_row_one_neighbour():
    for backend in ("cpu", "reference"):
        values, indices = knn(torch.ones(0, 3), torch.ones(4, 3), k=2, backend=backend)
        assert values.shape == indices.shape == (0, 2) and indices.dtype == torch.int64
        assert knn([[5.0]], [[7.0]], k=1, metric="l2", backend=backend)[0].tolist() == [[2.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("m", "n", "d", "k"), [(40, 70, 40, 5), (3, 33, 72, 13), (1, 2, 3, 1)])
@pytest.mark.parametrize("metric", METRICS)
def test_the_kernel_finds_the_rows_of_the_formula(m, n, d, k, metric, dtype, triton_here, device,
                                                  guarded):
    x, query = cloud(n, d, 0, dtype).to(device), cloud(m, d, 1, dtype).to(device)
    with trace() as t:
        found = knn(query, x, k=k, metric=metric, backend=triton_here)
    assert [name for name, _, _ in t.runs[0].launches] == ["knn_insert"]
    assert_exact(found, query, x, k=k, metric=metric, exclude_self=False)


@pytest.mark.parametrize("metric", METRICS)
def test_V22_the_kernel_keeps_ties_in_order_and_leaves_the_query_out(metric, triton_here, device,
                                                                     guarded):
    x = cloud(50, 10).to(device)
    # 21 copies across three tiles, more than its 16 slots
    x[5:45:2] = x[3].clone()
    x[7] = 0
    found = knn(x, x, k=4, metric=metric, exclude_self=True, backend=triton_here)
    expected = knn(x, x, k=4, metric=metric, exclude_self=True, backend="cpu")
    assert torch.equal(found[1], expected[1]) and torch.equal(found[0], expected[0])
    copies = [3, 5, *range(9, 45, 2)]
    assert all(found[1][i].tolist() == [j for j in copies if j != i][:4] for i in copies)


def test_the_kernel_takes_its_candidates_from_views_and_answers_no_query(triton_here, device):
    base = cloud(20, 60).to(device)
    x = base.T[::2]
    assert torch.equal(knn(x[:4], x, k=3, backend=triton_here)[1],
                       knn(x[:4], x, k=3, backend="cpu")[1])
    assert knn(x[:0], x, k=3, backend=triton_here)[0].shape == (0, 3)


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("m", "n", "d", "k"), [(1000, 1000, 300, 10), (257, 65_537, 768, 64),
                                                (4097, 4097, 64, 1)])
@pytest.mark.parametrize("metric", METRICS)
def test_gpu_kernel_and_blocks_find_the_rows_of_the_formula(m, n, d, k, metric, dtype):
    x = cloud(n, d, 0, dtype).cuda()
    query, exclude_self = (x, True) if m == n else (cloud(m, d, 1, dtype).cuda(), False)
    options = {"k": k, "metric": metric, "exclude_self": exclude_self}
    values, indices = repeated(lambda: knn(query, x, backend="triton", **options))
    blocks = knn(query, x, backend="cpu", **options)
    assert torch.equal(blocks[1], indices) and torch.equal(blocks[0], values)
    processor = knn((query if exclude_self else query[:64]).cpu(), x.cpu(), **options)
    assert torch.equal(processor[1], indices.cpu()[: len(processor[1])])


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize("precision", ["tf32", "ieee"])
def test_gpu_coarse_products_change_no_neighbour(precision):
    x = cloud(5000, 256)
    with coarse_products(torch.backends.cuda.matmul, precision):
        result = knn(x.cuda(), x.cuda(), k=10, exclude_self=True)[1]
    assert torch.equal(result.cpu(), knn(x, x, k=10, exclude_self=True)[1])


@pytest.mark.gpu
@gpu
def test_gpu_automatic_choice_takes_the_kernel_only_for_many_rows():
    for n, backend in ((1000, "cpu"), (50_000, "triton")):
        with trace() as t:
            knn(torch.ones(2, 16, device="cuda"), cloud(n, 16).cuda(), k=3)
        assert t.runs[0].backend == backend


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("outlier", [1e13, 1e150, 1e160, 1e200, 1.7e308])
def test_one_outlier_does_not_change_the_distances_of_the_others(outlier, sign):
    x = torch.cat([torch.tensor([[sign * outlier]], dtype=torch.float64),
                   torch.arange(5, dtype=torch.float64)[:, None]])
    values, indices = knn(torch.tensor([[3.2]], dtype=torch.float64), x, k=3, metric="l2")
    assert indices.tolist() == [[4, 5, 3]]
    torch.testing.assert_close(values, torch.tensor([[0.2, 0.8, 1.2]], dtype=torch.float64))


def test_one_outlier_in_float32_leaves_the_order_of_tiny_numbers(any_backend):
    backend, where = any_backend
    x = torch.tensor([[3e38], [1e-9], [1.0000001e-9], [3e-9], [-3e38]])
    values, indices = knn(x[2:3].to(where), x.to(where), k=3, metric="l2", backend=backend)
    assert indices.tolist() == [[2, 1, 3]]
    assert values.tolist() == [[0.0, *((x[i].double() - x[j].double()).float().item()
                                       for i, j in ((2, 1), (3, 2)))]]


def test_rows_at_both_ends_of_float64_are_farther_apart_than_any_number_and_still_in_order():
    x = torch.tensor([[1.7e308], [-1.7e308], [1.0], [5e-324], [-5e306]], dtype=torch.float64)
    values, indices = knn(x, x, k=5, metric="l2")
    assert indices.tolist() == [[0, 2, 3, 4, 1], [1, 4, 2, 3, 0], [2, 3, 4, 0, 1], [3, 2, 4, 0, 1],
                                [4, 2, 3, 1, 0]]
    assert values[0].tolist() == [0.0, 1.7e308, 1.7e308, 1.7e308 + 5e306, math.inf]
    assert values[3, 1] == 1.0


@given(dtype=st.sampled_from([torch.float32, torch.float64]), n=st.integers(6, 40),
       k=st.sampled_from([1, 3, 5]),
       width=st.sampled_from([0.0, 2.0, 20.0]), centre=st.floats(0, 1), seed=st.integers(0, 99))
def test_numbers_of_any_size_are_ordered_by_their_distance(dtype, n, k, width, centre, seed):
    lowest, highest = (-45.0, 37.5) if dtype == torch.float32 else (-320.0, 307.5)
    generator = torch.Generator().manual_seed(seed)
    spread, sign = torch.randn(2, n + 4, 1, generator=generator, dtype=torch.float64)
    exponents = lowest + (highest - lowest) * centre + width * spread
    rows = (sign.clamp(-3, 3) * 10 ** exponents.clamp(lowest, highest)).to(dtype)
    x, query = rows[:n], torch.cat([rows[n:], rows[:2]])
    with small_blocks():
        found = knn(query, x, k=k, metric="l2")[1]
    for q, neighbours in zip(query.double().tolist(), found.tolist(), strict=True):
        true = [math.dist(q, row) if math.isfinite(q[0] - row[0]) else
                2 * math.dist([q[0] / 2], [row[0] / 2]) for row in x.double().tolist()]
        assert neighbours == sorted(range(n), key=lambda j: (true[j], j))[:k]


@pytest.mark.parametrize("size", [1e-21, 1e-22, 3e-22])
def test_products_that_vanish_in_float32_hide_no_neighbour(size):
    """Squares of 1e-22 are below what float32 holds: beside rows of size 1 the fast scores of all
    small rows are a few steps of 1e-45."""
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        small = size * torch.randn(100, 3, generator=generator)
        x = torch.cat([torch.ones(1, 3), -torch.ones(1, 3), small, -small])
        query = size * torch.randn(10, 3, generator=generator)
        squares = (query.double()[:, None] - x.double()).square().sum(dim=2)
        expected = squares.sort(dim=1, stable=True).indices[:, :3]
        assert torch.equal(knn(query, x, k=3, metric="l2")[1], expected)
