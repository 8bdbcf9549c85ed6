"""Mean and covariance: identities of the formula, digits that the short form loses, batches that join, three implementations that agree."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import Moments, mean_covariance, trace
from lessons_lib.kernels.mean_covariance import cpu, reference


def rows(n: int, d: int, seed: int = 0, *, offset: float = 0.0, condition: float = 1.0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Normal rows whose covariance has eigenvalues from 1 down to 1 / condition in turned directions, around ``offset`` in every coordinate."""
    generator = torch.Generator().manual_seed(seed)
    spread = torch.logspace(0, -math.log10(condition) / 2, d, dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(d, d, generator=generator, dtype=torch.float64))[0]
    return ((torch.randn(n, d, generator=generator, dtype=torch.float64) * spread) @ turn + offset).to(dtype)


def eigenvalue_error(found: torch.Tensor, exact: torch.Tensor) -> float:
    values, expected = torch.linalg.eigvalsh(found.double()), torch.linalg.eigvalsh(exact.double())
    return ((values - expected) / expected).abs().max().item()


def two_passes(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The formula in float32: what a kernel in float32 is measured against."""
    x = x.float()
    centred = x - x.mean(dim=0)
    return x.mean(dim=0), centred.T @ centred / (len(x) - 1)


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven rows to a block."""
    monkeypatch.setattr(cpu, "LONGEST", 7)
    monkeypatch.setattr(cpu, "SAMPLE", 3)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_two_points_give_their_middle_and_half_the_square_of_their_difference(backend):
    mean, covariance = mean_covariance([[0.0, 1.0], [2.0, 5.0]], backend=backend)
    assert mean.tolist() == [1.0, 3.0]
    assert covariance.tolist() == [[2.0, 4.0], [4.0, 8.0]]


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_the_numbers_are_those_of_numpy(backend):
    x = rows(500, 9, offset=2.0)
    mean, covariance = mean_covariance(x, backend=backend)
    np.testing.assert_allclose(mean.numpy(), x.numpy().mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(covariance.numpy(), np.cov(x.numpy(), rowvar=False), rtol=1e-12, atol=1e-15)


@given(st.integers(2, 60), st.integers(1, 12), st.floats(-1e3, 1e3), st.integers(0, 100))
def test_blocks_of_rows_give_what_the_formula_gives(n, d, offset, seed):
    x = rows(n, d, seed, offset=offset)
    expected_mean, expected = reference.mean_and_scatter(x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "LONGEST", 7)
        patch.setattr(cpu, "SAMPLE", 3)
        mean, scatter = cpu.mean_and_scatter(x)
        shift, total, products = cpu._sums_on_device(x)          # the path of devices that NumPy cannot reach
    torch.testing.assert_close(mean, expected_mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(scatter, expected, rtol=1e-10, atol=1e-9)
    torch.testing.assert_close(shift + total / n, expected_mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(products - torch.outer(total, total) / n, expected, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_types_come_back_as_float32_with_its_digits(dtype, short_blocks):
    x = rows(100, 8, offset=1.0, dtype=dtype)
    mean, covariance = mean_covariance(x)
    exact_mean, exact = mean_covariance(x.double(), backend="reference")
    assert mean.dtype == covariance.dtype == torch.float32
    torch.testing.assert_close(mean.double(), exact_mean, rtol=0, atol=1e-6)
    torch.testing.assert_close(covariance.double(), exact, rtol=0, atol=1e-6)


def test_float64_stays_float64():
    mean, covariance = mean_covariance(rows(5, 3))
    assert mean.dtype == covariance.dtype == torch.float64


def test_moving_all_points_moves_the_mean_alone():
    x = rows(200, 5)
    mean, covariance = mean_covariance(x)
    moved_mean, moved = mean_covariance(x + 100)
    torch.testing.assert_close(moved_mean, mean + 100, rtol=1e-14, atol=0)
    torch.testing.assert_close(moved, covariance, rtol=0, atol=1e-12)


def test_a_linear_map_acts_on_the_covariance_from_both_sides():
    x, a = rows(200, 5), rows(5, 3, seed=1)
    torch.testing.assert_close(mean_covariance(x @ a)[1], a.T @ mean_covariance(x)[1] @ a, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_covariance_is_symmetric_to_the_last_bit_and_has_no_negative_eigenvalue(dtype, backend):
    covariance = mean_covariance(rows(300, 40, offset=5.0, dtype=dtype), backend=backend)[1]
    assert torch.equal(covariance, covariance.T)
    assert torch.linalg.eigvalsh(covariance).min() > 0


def test_thirty_standard_deviations_away_from_zero_the_short_form_is_lost_and_this_one_is_not():
    x = rows(20_000, 64, offset=30.0, condition=1e4, dtype=torch.float32)
    exact = mean_covariance(x.double(), backend="reference")[1]
    short_form = x.T @ x / len(x) - torch.outer(x.mean(dim=0), x.mean(dim=0))
    assert eigenvalue_error(short_form, exact) > 1
    assert eigenvalue_error(mean_covariance(x)[1], exact) < 1e-4
    round_cloud = rows(20_000, 64, offset=30.0, dtype=torch.float32)
    assert eigenvalue_error(mean_covariance(round_cloud)[1], mean_covariance(round_cloud.double())[1]) < 1e-6


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_products_in_float64_lose_no_digit_of_shorter_numbers(dtype, backend, short_blocks):
    x = rows(2000, 16, offset=30.0, condition=1e4, dtype=dtype)
    exact = Moments(16).update(x.double(), backend="reference")
    found = Moments(16).update(x[:700], backend=backend, double=True).update(x[700:], backend=backend, double=True)
    torch.testing.assert_close(found.mean, exact.mean, rtol=1e-12, atol=0)
    assert eigenvalue_error(found.covariance(), exact.covariance()) < 1e-9
    if dtype == torch.float32:
        assert eigenvalue_error(Moments(16).update(x, backend="cpu").covariance(), exact.covariance()) > 1e-7


def test_products_in_float64_cannot_be_asked_of_the_kernel():
    with pytest.raises(BackendUnavailable, match="products in float64 are asked for"):
        Moments(3).update(rows(9, 3, dtype=torch.float32), backend="triton", double=True)


@pytest.mark.parametrize(("condition", "float32_bound", "bfloat16_floor"), [(1e4, 8e-5, 1e-3), (1e6, 5e-3, 5e-2)])
def test_small_eigenvalues_cost_digits_and_bfloat16_products_have_none_to_give(condition, float32_bound, bfloat16_floor):
    x = rows(20_000, 64, condition=condition, dtype=torch.float32)
    exact = mean_covariance(x.double(), backend="reference")[1]
    rounded = (x - x.mean(dim=0)).bfloat16().float()
    assert eigenvalue_error(mean_covariance(x)[1], exact) < float32_bound
    assert eigenvalue_error(rounded.T @ rounded / (len(x) - 1), exact) > bfloat16_floor


def test_the_first_rows_may_lie_far_from_the_others():
    x = rows(3000, 6, dtype=torch.float32)
    x[:1100] += 1000.0                              # a shift taken from the first rows would be hundreds off
    exact_mean, exact = mean_covariance(x.double(), backend="reference")
    mean, covariance = mean_covariance(x)
    torch.testing.assert_close(mean.double(), exact_mean, rtol=1e-6, atol=0)
    torch.testing.assert_close(covariance.double(), exact, rtol=1e-6, atol=0)


def test_no_centred_copy_is_made():
    x = rows(40_000, 64, dtype=torch.float32)
    tracemalloc.start()
    try:
        mean_covariance(x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 8192 * 64 * 4 <= peak < 0.5 * x.numel() * 4


# ------------------------------------------------------------------------------------------------ batches


@given(st.lists(st.integers(0, 15), min_size=1, max_size=6).filter(lambda sizes: sum(sizes) >= 2), st.floats(-100, 100), st.integers(0, 50))
def test_streaming_equals_one_batch(sizes, offset, seed):
    x = rows(sum(sizes), 4, seed, offset=offset)
    moments = Moments(4)
    for batch in x.split(sizes):
        moments.update(batch)
    mean, covariance = mean_covariance(x)
    assert moments.n == len(x)
    torch.testing.assert_close(moments.mean, mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(moments.covariance(), covariance, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(moments.covariance(ddof=0), covariance * (len(x) - 1) / len(x), rtol=1e-12, atol=1e-12)


def test_merged_moments_know_all_vectors_and_their_parts_stay_as_they_were():
    x = rows(50, 3, offset=7.0)
    left, right = Moments(3).update(x[:13]), Moments(3).update(x[13:])
    mean = left.mean
    joined, swapped = left.merge(right), right.merge(left)
    torch.testing.assert_close(joined.covariance(), mean_covariance(x)[1], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(swapped.covariance(), joined.covariance(), rtol=1e-12, atol=1e-12)
    joined.update(x)
    assert (left.n, right.n, joined.n) == (13, 37, 100)
    assert torch.equal(left.mean, mean)


def test_merging_with_nothing_changes_nothing():
    moments = Moments(2).update([[1.0, 2.0], [3.0, 5.0]])
    for joined in (moments.merge(Moments(2)), Moments(2).merge(moments), moments.merge(Moments(2).update(torch.ones(0, 2)))):
        assert joined.n == 2 and torch.equal(joined.mean, moments.mean) and torch.equal(joined.covariance(), moments.covariance())


def test_what_moments_hand_out_is_not_their_own_state():
    moments = Moments(2).update(rows(9, 2))
    before = moments.mean
    moments.mean.zero_()
    moments.covariance().zero_()
    assert torch.equal(moments.mean, before) and moments.covariance()[0, 0] > 0


def test_batches_of_narrow_types_are_added_up_in_float64():
    x = rows(60, 4, offset=3.0, dtype=torch.float32)
    moments = Moments(4)
    for batch in x.split(1):
        moments.update(batch)
    assert moments.mean.dtype == moments.covariance().dtype == torch.float64
    torch.testing.assert_close(moments.covariance(), mean_covariance(x.double())[1], rtol=1e-12, atol=1e-12)


def test_a_refused_batch_leaves_the_moments_as_they_were():
    moments = Moments(2).update([[1.0, 2.0], [3.0, 5.0]])
    before = moments.covariance()
    with pytest.raises(ValueError, match=r"batch\[1\] holds NaN"):
        moments.update([[1.0, 2.0], [math.nan, 1.0]])
    assert moments.n == 2 and torch.equal(moments.covariance(), before)


@pytest.mark.parametrize("size", [1e155, 1e200, 1.7e308])
def test_moments_whose_joined_covariance_overflows_are_refused_and_stay_as_they_were(size):
    moments, other = Moments(2).update([[size, 1.0]]), Moments(2).update([[-size, 2.0]])
    for name, join in (("batch", lambda: moments.update([[-size, 2.0]])), ("other", lambda: moments.merge(other))):
        with pytest.raises(ValueError, match=rf"{name} and the 1 vectors before it .* overflows float64"):
            join()
    assert moments.n == 1 and moments.mean.tolist() == [size, 1.0] and other.mean.tolist() == [-size, 2.0]
    assert moments.update([[size, 3.0]]).covariance().tolist() == [[0.0, 0.0], [0.0, 2.0]]


def test_a_scatter_that_overflows_when_joined_is_refused_too():
    wide = [[1e154], [-1e154]]                          # each scatter is 2e308 / 2, and 1.8e308 is the largest float64
    with pytest.raises(ValueError, match="overflows float64"):
        Moments(1).update([[9e153], [-9e153]]).update([[9e153], [-9e153]])
    with pytest.raises(ValueError, match="squares overflow"):
        Moments(1).update(wide)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: Moments(0), ValueError, "dim=0"),
    (lambda: Moments(2.0), TypeError, "dim=2.0"),
    (lambda: Moments(3).mean, ValueError, r"Moments\(dim=3, n=0\) has seen no vector"),
    (lambda: Moments(2).update([[1.0, 2.0]]).covariance(), ValueError, "needs >= 2"),
    (lambda: Moments(2).update([[1.0, 2.0]]).covariance(ddof=-1), ValueError, "ddof=-1"),
    (lambda: Moments(2).update([[1.0, 2.0, 3.0]]), ValueError, "batch has 3 columns; expected 2"),
    (lambda: Moments(2).update([1.0, 2.0]), ValueError, r"batch\[None\]"),
    (lambda: Moments(2).merge(Moments(3)), ValueError, "other has dim 3"),
    (lambda: Moments(2).merge("moments"), TypeError, "other='moments' is str"),
])
def test_wrong_uses_of_moments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ------------------------------------------------------------------------------------------------ the kernel


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("n", "d"), [(70, 40), (33, 20), (2, 5), (100, 16), (17, 33)])
def test_the_kernel_is_as_exact_as_the_formula(n, d, dtype, triton_here, device, guarded, assert_as_exact_as):
    x = rows(n, d, offset=3.0).to(device, dtype)
    mean, covariance = mean_covariance(x, backend=triton_here)
    exact_mean, exact = mean_covariance(x.double(), backend="reference")
    twin_mean, twin = two_passes(x)
    assert_as_exact_as(mean, twin_mean, exact_mean)
    assert_as_exact_as(covariance, twin, exact)
    assert torch.equal(covariance, covariance.T)
    assert guarded


def test_the_kernel_corrects_what_float32_rounded_off_its_shift(triton_here, device):
    x = rows(40, 20, offset=1e6, dtype=torch.float32).to(device)       # float32 steps of 1/16 there
    exact = mean_covariance(x.double(), backend="reference")[1]
    found = mean_covariance(x, backend=triton_here)[1]
    assert (found - exact).abs().max() <= 1e-6 * exact.abs().max()


def test_the_kernel_reads_views_as_they_lie_and_one_row_is_enough_for_moments(triton_here, device):
    x = rows(40, 40, dtype=torch.float32).to(device)
    for view in (x.T, x[:, 3:20], x[::3], x[:1].expand(9, 40)):
        expected = mean_covariance(view.contiguous(), backend="cpu")
        for found, wanted in zip(mean_covariance(view, backend=triton_here), expected, strict=True):
            torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    moments = Moments(40).update(x[:1], backend=triton_here)
    assert moments.covariance(ddof=0).abs().max() < 1e-9 and torch.equal(moments.mean, x[0].double())


def test_the_kernel_leaves_its_input_alone(triton_here, device):
    x = rows(20, 16, dtype=torch.float32).to(device)
    before = x.clone()
    mean_covariance(x, backend=triton_here)
    assert torch.equal(x, before)


# ------------------------------------------------------------------------------------------------ around it


def test_the_operation_is_known_to_the_compiler():
    torch.library.opcheck(torch.ops.lessons_lib.mean_and_scatter.default, (rows(9, 3, dtype=torch.float32), "x", "cpu"))
    compiled = torch.compile(mean_covariance, backend="aot_eager", fullgraph=True)
    x = rows(30, 4)
    for found, expected in zip(compiled(x), mean_covariance(x), strict=True):
        torch.testing.assert_close(found, expected)


def test_x_counts_as_a_constant():
    mean, covariance = mean_covariance(rows(9, 3).requires_grad_())
    assert not mean.requires_grad and not covariance.requires_grad


def test_views_and_read_only_arrays_are_taken_as_they_are(short_blocks):
    x = rows(40, 6)
    locked = x.numpy().copy()
    locked.flags.writeable = False
    expected = mean_covariance(x)[1]
    for same in (x.T.contiguous().T, torch.stack([x, x], dim=1)[:, 1], locked):
        torch.testing.assert_close(mean_covariance(same)[1], expected, rtol=1e-12, atol=1e-12)


def test_equal_rows_have_no_spread():
    mean, covariance = mean_covariance(torch.full((5, 3), 0.1))
    assert torch.equal(mean, torch.full((3,), 0.1)) and torch.equal(covariance, torch.zeros(3, 3))


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_V01_a_number_that_is_none_is_named_with_its_row(bad, backend):
    x = rows(40, 3, dtype=torch.float32)
    x[17, 1] = x[30, 2] = bad
    with pytest.raises(ValueError, match=r"x\[17\] holds NaN or infinity \(2 of 40 rows do\)"):
        mean_covariance(x, backend=backend)


def test_numbers_whose_squares_overflow_are_refused_with_the_remedy():
    x = rows(5, 3, dtype=torch.float32) * 1e25
    with pytest.raises(ValueError, match=r"x holds numbers up to .* float32 products; pass x.double\(\)"):
        mean_covariance(x)
    assert torch.isfinite(mean_covariance(x.double())[1]).all()


@pytest.mark.parametrize(("x", "error", "words"), [
    ([[1.0, 2.0]], ValueError, "x has 1 rows; expected >= 2"),
    ([1.0, 2.0], ValueError, "expected 2 axes"),
    (torch.ones(3, 2, dtype=torch.int64), TypeError, "x.float()"),
    (torch.ones(3, 0), ValueError, ">= 1 column"),
    (["a", "b"], TypeError, "x"),
])
def test_V02_wrong_vectors_are_named(x, error, words):
    with pytest.raises(error) as caught:
        mean_covariance(x)
    assert words in str(caught.value)


def test_P27_an_unknown_backend_is_answered_with_the_nearest_name():
    with pytest.raises(ValueError, match="'triton'"):
        mean_covariance(rows(3, 2), backend="tritton")
    with pytest.raises(ValueError, match="'triton'"):
        Moments(2).update(rows(3, 2), backend="tritton")


def test_a_trace_says_what_ran():
    with trace() as t:
        mean_covariance(rows(9, 2))
    assert [(run.operation, run.backend) for run in t.runs] == [("mean_covariance", "cpu")]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("n", "d"), [(1000, 300), (4097, 768), (65_537, 100)])
def test_gpu_kernel_agrees_and_repeats_itself(n, d, dtype, tolerance):
    x = rows(n, d, offset=5.0).to("cuda", dtype)
    runs = [mean_covariance(x, backend="triton") for _ in range(5)]
    assert all(torch.equal(runs[0][0], mean) and torch.equal(runs[0][1], covariance) for mean, covariance in runs)
    exact_mean, exact = mean_covariance(x.double(), backend="reference")
    assert (runs[0][0].double() - exact_mean).norm() <= tolerance * exact_mean.norm()
    assert (runs[0][1].double() - exact).norm() <= tolerance * exact.norm()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("condition", "bound"), [(1e4, 2e-4), (1e6, 1e-2)])
def test_gpu_kernel_keeps_the_digits_of_float32_in_small_eigenvalues(condition, bound):
    x = rows(65_537, 64, offset=30.0, condition=condition, dtype=torch.float32).cuda()
    exact = mean_covariance(x.double(), backend="reference")[1]
    assert eigenvalue_error(mean_covariance(x, backend="triton")[1], exact) < bound


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_tensors_stream_and_the_processor_path_runs_there_too():
    x = rows(5000, 48, offset=2.0, dtype=torch.float32).cuda()
    moments = Moments(48)
    for batch in x.split(999):
        moments.update(batch)
    exact = mean_covariance(x.double(), backend="reference")[1]
    assert moments.mean.is_cuda
    torch.testing.assert_close(moments.covariance(), exact, rtol=0, atol=1e-5)
    torch.testing.assert_close(mean_covariance(x, backend="cpu")[1].double(), exact, rtol=0, atol=1e-5)


def test_moments_can_be_made_again_from_what_they_report():
    seen = Moments(4).update(rows(50, 4, offset=2.0))
    again = Moments.of(seen.n, seen.mean, seen.scatter)
    assert (again.n, again.dim) == (50, 4)
    assert torch.equal(again.mean, seen.mean) and torch.equal(again.covariance(), seen.covariance())
    again.update(rows(50, 4, seed=1))
    assert seen.n == 50 and torch.equal(seen.scatter, Moments.of(50, seen.mean.numpy(), seen.scatter.numpy()).scatter)
    assert Moments.of(0, [0.0, 0.0], torch.zeros(2, 2)).n == 0


@pytest.mark.parametrize(("n", "mean", "scatter", "said"), [
    (2, [0.0], [[1.0, 0.0], [0.0, 1.0]], r"scatter has shape \(2, 2\) for a mean of 1 numbers"),
    (2, [0.0, 1.0], [[1.0, 2.0], [0.0, 1.0]], "not symmetric"),
    (2, [0.0, math.nan], [[1.0, 0.0], [0.0, 1.0]], "holds NaN"), (-1, [0.0], [[1.0]], "n=-1 is out of range")])
def test_what_cannot_be_moments_is_named(n, mean, scatter, said):
    with pytest.raises(ValueError, match=said):
        Moments.of(n, mean, scatter)
