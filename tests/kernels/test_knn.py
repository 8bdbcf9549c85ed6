"""Nearest neighbours: every implementation gives the rows, and the order, of the float64 formula."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import knn, trace
from lessons_lib.kernels.dispatch import Operation
from lessons_lib.kernels.knn import OPERATION, cpu, exact, reference

METRICS = ("cosine", "l2")


def normal(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def assert_exact(found: tuple[torch.Tensor, torch.Tensor], query: torch.Tensor, x: torch.Tensor, **options: object) -> None:
    """The rows of the float64 formula in its order, and its values rounded once."""
    values, indices = reference.nearest(query.double(), x.double(), **options)
    assert torch.equal(found[1], indices)
    torch.testing.assert_close(found[0].double(), values, rtol=2 * torch.finfo(found[0].dtype).eps, atol=1e-14)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several ragged blocks of queries, of columns and of sums, and few spare candidates."""
    monkeypatch.setattr(cpu, "ROWS", 3)
    monkeypatch.setattr(cpu, "SPARE", 2)
    monkeypatch.setattr(exact, "BLOCK", 20)
    monkeypatch.setattr(exact, "SUMMED", 24)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_the_hand_made_case(metric, backend):
    x = torch.tensor([[3.0, 0.0], [1.0, 1.0], [0.0, 0.5], [-1.0, 0.0]])
    values, indices = knn(torch.tensor([[1.0, 0.0]]), x, k=4, metric=metric, backend=backend)
    if metric == "cosine":
        assert indices.tolist() == [[0, 1, 2, 3]]
        torch.testing.assert_close(values, torch.tensor([[1, 0.5**0.5, 0, -1]]))
    else:
        assert indices.tolist() == [[1, 2, 0, 3]]                   # 0 and 3 lie at distance 2: the lower row first
        torch.testing.assert_close(values, torch.tensor([[1, 1.25**0.5, 2, 2]]))


@given(m=st.integers(0, 12), n=st.integers(2, 30), d=st.integers(1, 8), k=st.integers(1, 30), metric=st.sampled_from(METRICS), copies=st.booleans(),
       exclude_self=st.booleans(), dtype=st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]), seed=st.integers(0, 1000))
def test_blocks_give_the_rows_of_the_formula(m, n, d, k, metric, copies, exclude_self, dtype, seed):
    d = max(d, 2) if metric == "cosine" and not copies else d       # on a line all cosines are 1 but for rounding
    x = normal(n, d, seed, dtype)
    if copies:                                                      # small whole numbers and d <= 8: ties of the formula are ties of float64
        x = (x * 1.2).round().clamp(-1, 1)
        x[seed % n] = 0
    query = x if exclude_self else torch.cat([normal(m, d, seed + 1, dtype).round(), x[: m // 2]])
    options = {"k": min(k, n - exclude_self), "metric": metric, "exclude_self": exclude_self}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "ROWS", 3)
        patch.setattr(cpu, "SPARE", 2)
        patch.setattr(exact, "BLOCK", 20)
        patch.setattr(exact, "SUMMED", 24)
        found = knn(query, x, **options)
    if not copies:
        assert_exact(found, query, x, **options)
        return
    values, indices = _whole_number_neighbours(query, x, **options)
    assert found[1].tolist() == indices
    torch.testing.assert_close(found[0].double(), values, rtol=1e-6, atol=1e-12)


def _whole_number_neighbours(query: torch.Tensor, x: torch.Tensor, *, k: int, metric: str,
                             exclude_self: bool) -> tuple[torch.Tensor, list[list[int]]]:
    """Neighbours by exact keys in Python's whole numbers: sign(q·x) (q·x)² / ‖x‖² as a fraction, or ‖q - x‖²."""
    from fractions import Fraction

    rows, columns = query.long().tolist(), x.long().tolist()
    found, values = [], []
    for i, q in enumerate(rows):
        keys = []
        for j, y in enumerate(columns):
            dot, length = sum(a * b for a, b in zip(q, y, strict=True)), sum(b * b for b in y)
            key = Fraction(-dot * abs(dot), length) if length else Fraction(0)
            keys.append((key if metric == "cosine" else Fraction(sum((a - b) ** 2 for a, b in zip(q, y, strict=True))), j))
        best = sorted(key for key in keys if not (exclude_self and key[1] == i))[:k]
        own = math.sqrt(sum(a * a for a in q)) or 1.0
        found.append([j for _, j in best])
        values.append([math.copysign(math.sqrt(abs(key)), -key) / own if metric == "cosine" else math.sqrt(key) for key, _ in best])
    return torch.tensor(values, dtype=torch.float64).reshape(len(rows), k), found


@pytest.mark.parametrize("metric", METRICS)
def test_V22_copies_of_one_row_come_back_in_the_order_of_their_rows(metric):
    x = normal(600, 20)
    places = torch.randperm(600, generator=torch.Generator().manual_seed(1))[:200].sort().values
    x[places] = x[places[0]].clone()                                # 200 copies, far more than the 32 spare candidates
    query = torch.cat([x[places[:3]] + 1e-6, x[places[:1]] * 2 if metric == "cosine" else x[places[:1]]])
    values, indices = knn(query, x, k=10, metric=metric)
    assert torch.equal(indices, places[:10].expand(4, 10))
    assert bool((values == values[:, :1]).all())
    _, others = knn(x, x, k=5, metric=metric, exclude_self=True)
    for i in places.tolist():
        assert others[i].tolist() == [j for j in places.tolist() if j != i][:5]


@pytest.mark.parametrize("metric", METRICS)
def test_V22_all_rows_equal_is_answered_by_row_numbers(metric, small_blocks):
    values, indices = knn(torch.ones(9, 4), torch.ones(9, 4), k=3, metric=metric, exclude_self=True)
    assert indices.tolist() == [[j for j in range(9) if j != i][:3] for i in range(9)]
    assert values.tolist() == [[1.0 if metric == "cosine" else 0.0] * 3] * 9


def test_rows_that_rounding_cannot_tell_apart_are_told_apart():
    query = torch.ones(1, 300)
    x = torch.ones(500, 300)
    x[:, 0] += torch.arange(500, 0, -1) * 2.0**-22                  # the last row is nearest; squares differ by 1e-12 and less
    assert knn(query, x, k=5, metric="l2")[1].tolist() == [[499, 498, 497, 496, 495]]
    assert_exact(knn(query, x, k=5), query, x, k=5, metric="cosine", exclude_self=False)


def test_distances_of_vectors_far_from_zero_keep_their_digits(looked_at_twice):
    """kernels.md 3.3: vectors as BERT makes them share a long mean; ‖q‖² + ‖x‖² - 2 q·x then loses what the differences keep."""
    mean = 8 * normal(1, 768, seed=9) / 768**0.5
    mean[0, 308] = 200.0                                            # the one coordinate that is large in all vectors
    x = mean + 0.01 * normal(400, 768)
    query = x[:50] + 0.01 * normal(50, 768, seed=2)
    true = torch.cdist(query.double(), x.double(), compute_mode="donot_use_mm_for_euclid_dist").square()

    def expanded(a, b):
        return a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T

    centred = expanded(query - x.mean(0), x - x.mean(0))
    assert true.min() < 0.1
    assert (expanded(query, x) - true).abs().max() > 5e-3 > 5e-4 > (centred - true).abs().max()
    assert not torch.equal(expanded(query, x).topk(5, largest=False).indices, true.topk(5, largest=False).indices)
    values, indices = knn(query, x, k=5, metric="l2")
    assert torch.equal(indices, true.topk(5, largest=False).indices)
    torch.testing.assert_close(values.double(), true.sqrt().gather(1, indices), rtol=1e-7, atol=0)
    assert not looked_at_twice                                      # centred, the fast scores are good enough


@pytest.fixture
def looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The queries that had to be compared again with all rows."""
    seen: list[int] = []
    whole = exact._all_within
    monkeypatch.setattr(exact, "_all_within", lambda space, rows, *a, **o: seen.extend(rows.tolist()) or whole(space, rows, *a, **o))
    return seen


def test_an_outlier_does_not_send_every_query_to_the_slow_path(looked_at_twice):
    x = normal(400, 16)
    x[7] *= 1e4
    found = knn(x, x, k=3, metric="l2", exclude_self=True)
    assert_exact(found, x, x, k=3, metric="l2", exclude_self=True)
    assert len(looked_at_twice) <= 1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("adverse", [True, False])
def test_no_error_within_the_bound_changes_a_neighbour(adverse, metric, monkeypatch, small_blocks):
    """The bound of rounding is made 0.05 and all that it allows is used: against the true neighbours and for all others, or up or down at random."""
    x, query = normal(60, 5), normal(30, 5, seed=1)
    generator = torch.Generator().manual_seed(2)
    against = torch.ones(30, 60).scatter_(1, reference.nearest(query.double(), x.double(), k=4, metric=metric, exclude_self=False)[1], -1.0)
    made, scores = exact.space_of, exact.Space.scores

    def moved(space: exact.Space, rows: torch.Tensor, columns: slice, **options: bool) -> torch.Tensor:
        block, length = scores(space, rows, columns, **options), space.query_squares[rows].sqrt()[:, None]
        own = space.squares[columns].sqrt()
        bound = 0.9999 * space.rounding * (length.expand(block.shape) if metric == "cosine" else own * (length + own))
        sign = against[rows, columns] if adverse else 2.0 * torch.randint(0, 2, block.shape, generator=generator) - 1
        return block + (bound * sign).to(block.dtype)

    monkeypatch.setattr(cpu.exact, "space_of", lambda *a, **o: dataclasses.replace(made(*a, **o), rounding=0.05))
    monkeypatch.setattr(exact.Space, "scores", moved)
    for _ in range(1 if adverse else 4):
        assert_exact(knn(query, x, k=4, metric=metric), query, x, k=4, metric=metric, exclude_self=False)


@pytest.mark.parametrize("metric", METRICS)
def test_a_vector_is_its_own_nearest_neighbour_and_with_exclude_self_never(metric):
    x = normal(300, 24)
    values, indices = knn(x, x, k=1, metric=metric)
    assert torch.equal(indices[:, 0], torch.arange(300))
    assert bool((values == (1.0 if metric == "cosine" else 0.0)).all())
    own = torch.arange(300)[:, None]
    assert not bool((knn(x, x, k=299, metric=metric, exclude_self=True)[1] == own).any())


def test_scaling_changes_no_cosine_and_moving_changes_no_distance():
    x, query = normal(200, 12), normal(20, 12, seed=1)
    scale = 2.0 ** torch.randint(-90, 90, (200, 1), generator=torch.Generator().manual_seed(2))
    values, indices = knn(query, x, k=7)
    scaled_values, scaled = knn(query * 2.0**-70, x * scale, k=7)
    assert torch.equal(scaled, indices) and torch.equal(scaled_values, values)
    moved = (x.double() + 64, query.double() + 64)
    assert torch.equal(knn(moved[1], moved[0], k=7, metric="l2")[1], knn(query, x, k=7, metric="l2")[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("largest", [True, False])
def test_numbers_near_the_ends_of_their_type_are_compared_all_the_same(dtype, largest):
    x, query = normal(50, 6, dtype=dtype), normal(5, 6, seed=1, dtype=dtype)
    size = torch.finfo(dtype).max / 16 if largest else torch.finfo(dtype).tiny * 64
    size = 2.0 ** math.floor(math.log2(size))
    for metric in METRICS:
        values, indices = knn(query * size, x * size, k=4, metric=metric)
        expected, same = knn(query, x, k=4, metric=metric)
        assert torch.equal(indices, same)
        torch.testing.assert_close(values, expected * (1.0 if metric == "cosine" else size), rtol=1e-6, atol=0)


def test_zero_vectors_have_cosine_0_with_all():
    x = torch.tensor([[0.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    values, indices = knn(x, x, k=3, exclude_self=True)
    assert indices.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 2, 1]]
    assert values.tolist() == [[0, 0, 0], [0, 0, -1], [0, 0, 0], [0, 0, -1]]


@pytest.mark.parametrize("metric", METRICS)
def test_V09_views_give_what_copies_give_and_nothing_is_written(metric):
    base = normal(24, 40)
    x, query = base.T[::2], base.T[1::2].flip(0)
    before = base.clone()
    found, expected = knn(query, x, k=4, metric=metric), knn(query.contiguous(), x.contiguous(), k=4, metric=metric)
    assert torch.equal(found[0], expected[0]) and torch.equal(found[1], expected[1])
    assert torch.equal(base, before)
    array = base.numpy()
    array.flags.writeable = False
    assert torch.equal(knn(array, array, k=2, metric=metric)[1], knn(base, base, k=2, metric=metric)[1])


def test_autocast_and_coarse_products_change_no_neighbour():
    x = 1 + 0.02 * normal(300, 64)                                  # cosines that differ in the fourth digit
    expected = knn(x, x, k=5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = knn(x, x, k=5)
    assert torch.equal(found[1], expected[1]) and torch.equal(found[0], expected[0])
    before = torch.backends.mkldnn.matmul.fp32_precision
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    try:
        found = knn(x, x, k=5)
        rounding = exact.space_of(x, x, metric="cosine", dtype=torch.float32).rounding
    finally:
        torch.backends.mkldnn.matmul.fp32_precision = before
    assert rounding > 2**-7                                         # the bound knows that such products may be off in the third digit
    assert torch.equal(found[1], expected[1]) and torch.equal(found[0], expected[0])


def test_V21_no_query_gives_no_rows_and_one_row_one_neighbour():
    for backend in ("cpu", "reference"):
        values, indices = knn(torch.ones(0, 3), torch.ones(4, 3), k=2, backend=backend)
        assert values.shape == indices.shape == (0, 2) and indices.dtype == torch.int64
        assert knn([[5.0]], [[7.0]], k=1, metric="l2", backend=backend)[0].tolist() == [[2.0]]


def test_there_is_no_gradient_and_half_types_give_float32():
    x = normal(6, 3).requires_grad_()
    values, _ = knn(x, x, k=2)
    assert not values.requires_grad
    assert knn(x.half(), x.half(), k=2)[0].dtype == torch.float32 and knn(x.double(), x.double(), k=2)[0].dtype == torch.float64


def test_the_operation_is_known_to_the_compiler():
    x, query = normal(30, 5), normal(4, 5, seed=1)
    torch.library.opcheck(torch.ops.lessons_lib.knn.default, (query, x, 3, "l2", False, "cpu"))
    compiled = torch.compile(lambda q: knn(2 * q, x, k=3), backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(query)[1], knn(query, x, k=3)[1])


# ------------------------------------------------------------------------------------------------ the kernel


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("m", "n", "d", "k"), [(40, 70, 40, 5), (3, 33, 72, 13), (1, 2, 3, 1)])
@pytest.mark.parametrize("metric", METRICS)
def test_the_kernel_finds_the_rows_of_the_formula(m, n, d, k, metric, dtype, triton_here, device, guarded):
    x, query = normal(n, d, 0, dtype).to(device), normal(m, d, 1, dtype).to(device)
    with trace() as t:
        found = knn(query, x, k=k, metric=metric, backend=triton_here)
    assert [name for name, _, _ in t.runs[0].launches] == ["knn_insert"]
    assert_exact(found, query, x, k=k, metric=metric, exclude_self=False)


@pytest.mark.parametrize("metric", METRICS)
def test_V22_the_kernel_keeps_ties_in_order_and_leaves_the_query_out(metric, triton_here, device, guarded):
    x = normal(50, 10).to(device)
    x[5:45:2] = x[3].clone()                                        # 21 copies across three tiles, more than its 16 slots
    x[7] = 0
    found = knn(x, x, k=4, metric=metric, exclude_self=True, backend=triton_here)
    expected = knn(x, x, k=4, metric=metric, exclude_self=True, backend="cpu")
    assert torch.equal(found[1], expected[1]) and torch.equal(found[0], expected[0])
    copies = [3, 5, *range(9, 45, 2)]
    assert all(found[1][i].tolist() == [j for j in copies if j != i][:4] for i in copies)


def test_the_kernel_takes_its_candidates_from_views_and_answers_no_query(triton_here, device):
    base = normal(20, 60).to(device)
    x = base.T[::2]
    assert torch.equal(knn(x[:4], x, k=3, backend=triton_here)[1], knn(x[:4], x, k=3, backend="cpu")[1])
    assert knn(x[:0], x, k=3, backend=triton_here)[0].shape == (0, 3)


def test_the_kernel_refuses_more_neighbours_than_its_list_holds(triton_here, device):
    x = normal(80, 4).to(device)
    with pytest.raises(BackendUnavailable, match="k=65 is above 64"):
        knn(x, x, k=65, backend="triton")
    assert knn(x, x, k=65).__class__ is tuple


def test_a_kernel_that_would_not_pay_runs_only_when_asked_for(monkeypatch):
    monkeypatch.setattr(Operation, "obstacle", lambda self, x: None)

    class OnGpu:
        is_cuda = True

    assert OPERATION.choose(OnGpu(), None, no_gain="small") == ("cpu", "small")
    assert OPERATION.choose(OnGpu(), None) == ("triton", "CUDA tensor")
    assert OPERATION.choose(OnGpu(), "triton", no_gain="small")[0] == "triton"


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(("change", "error", "words"), [
    ({"k": 0}, ValueError, "k=0"),
    ({"k": 6}, ValueError, "k=6 is more than x has: 5 rows, 5 available"),
    ({"k": 5, "exclude_self": True, "query": torch.ones(5, 3)}, ValueError, "5 rows, 4 available without the query itself; expected k in"),
    ({"k": 2.0}, TypeError, "k=2.0"),
    ({"exclude_self": True}, ValueError, "2 query rows and 5 rows of x"),
    ({"metric": "cosin"}, ValueError, "'cosine'"),
    ({"backend": "tritn"}, ValueError, "'triton'"),
    ({"query": torch.ones(2, 4)}, ValueError, "query has 4 columns and x has 3"),
    ({"query": torch.ones(3)}, ValueError, r"query\[None\]"),
    ({"query": torch.ones(2, 3).double()}, TypeError, "expected one type"),
    ({"query": torch.ones(2, 3).int()}, TypeError, "query.float()"),
    ({"x": torch.ones(0, 3)}, ValueError, "x has 0 rows"),
    ({"x": torch.full((5, 3), math.nan)}, ValueError, r"x\[0\] holds NaN"),
    ({"query": torch.full((2, 3), math.inf)}, ValueError, r"query\[0\] holds NaN or infinity"),
])
def test_V02_V10_P27_what_cannot_be_searched_is_named(change, error, words):
    arguments = {"query": torch.ones(2, 3), "x": torch.ones(5, 3), "k": 2} | change
    query, x = arguments.pop("query"), arguments.pop("x")
    with pytest.raises(error, match=words):
        knn(query, x, **arguments)


# ------------------------------------------------------------------------------------------------ on a GPU


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("m", "n", "d", "k"), [(1000, 1000, 300, 10), (257, 65_537, 768, 64), (4097, 4097, 64, 1)])
@pytest.mark.parametrize("metric", METRICS)
def test_gpu_kernel_and_blocks_find_the_rows_of_the_formula(m, n, d, k, metric, dtype):
    x = normal(n, d, 0, dtype).cuda()
    query, exclude_self = (x, True) if m == n else (normal(m, d, 1, dtype).cuda(), False)
    options = {"k": k, "metric": metric, "exclude_self": exclude_self}
    runs = [knn(query, x, backend="triton", **options) for _ in range(3)]
    assert all(torch.equal(runs[0][0], values) and torch.equal(runs[0][1], indices) for values, indices in runs)
    blocks = knn(query, x, backend="cpu", **options)
    assert torch.equal(blocks[1], runs[0][1]) and torch.equal(blocks[0], runs[0][0])
    processor = knn(query[:64].cpu(), x.cpu(), k=k, metric=metric) if not exclude_self else knn(query.cpu(), x.cpu(), **options)
    assert torch.equal(processor[1], runs[0][1].cpu()[: len(processor[1])])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("precision", ["tf32", "ieee"])
def test_gpu_coarse_products_change_no_neighbour(precision):
    x = normal(5000, 256).cuda()
    before = torch.backends.cuda.matmul.fp32_precision
    torch.backends.cuda.matmul.fp32_precision = precision
    try:
        found = knn(x, x, k=10, exclude_self=True)
    finally:
        torch.backends.cuda.matmul.fp32_precision = before
    assert torch.equal(found[1].cpu(), knn(x.cpu(), x.cpu(), k=10, exclude_self=True)[1])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_automatic_choice_takes_the_kernel_only_for_many_rows():
    for n, backend in ((1000, "cpu"), (50_000, "triton")):
        with trace() as t:
            knn(torch.ones(2, 16, device="cuda"), normal(n, 16).cuda(), k=3)
        assert t.runs[0].backend == backend
