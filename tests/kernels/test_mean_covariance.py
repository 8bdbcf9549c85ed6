"""Mean and covariance: identities of the formula, digits that the short form loses, batches that
join, three implementations that agree."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lessons_lib.kernels import Moments, mean_covariance
from lessons_lib.kernels.mean_covariance import cpu, reference

from .conftest import assert_near, gpu, repeated


def rows(n: int, d: int, seed: int = 0, *, offset: float = 0.0, condition: float = 1.0,
         dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal rows whose covariance has eigenvalues from 1 down to 1 / condition in turned
    directions, around ``offset`` in every coordinate."""
    generator = torch.Generator().manual_seed(seed)
    spread = torch.logspace(0, -math.log10(condition) / 2, d, dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(d, d, generator=generator, dtype=torch.float64))[0]
    return ((torch.randn(n, d, generator=generator, dtype=torch.float64) * spread) @ turn
            + offset).to(dtype)


def eigenvalue_error(found: Tensor, exact: Tensor) -> float:
    values, expected = torch.linalg.eigvalsh(found.double()), torch.linalg.eigvalsh(exact.double())
    return ((values - expected) / expected).abs().max().item()


def two_passes(x: Tensor) -> tuple[Tensor, Tensor]:
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
def test_the_numbers_are_those_of_numpy(backend):
    x = rows(500, 9, offset=2.0)
    mean, covariance = mean_covariance(x, backend=backend)
    np.testing.assert_allclose(mean.numpy(), x.numpy().mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(covariance.numpy(), np.cov(x.numpy(), rowvar=False), rtol=1e-12,
                               atol=1e-15)


@given(st.integers(2, 60), st.integers(1, 12), st.floats(-1e3, 1e3), st.integers(0, 100))
def test_blocks_of_rows_give_what_the_formula_gives(n, d, offset, seed):
    x = rows(n, d, seed, offset=offset)
    expected_mean, expected = reference.mean_and_scatter(x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "LONGEST", 7)
        patch.setattr(cpu, "SAMPLE", 3)
        mean, scatter = cpu.mean_and_scatter(x)
        # the path of devices that NumPy cannot reach
        shift, total, products = cpu._sums_on_device(x)
    torch.testing.assert_close(mean, expected_mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(scatter, expected, rtol=1e-10, atol=1e-9)
    torch.testing.assert_close(shift + total / n, expected_mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(products - torch.outer(total, total) / n, expected, rtol=1e-10,
                               atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_types_come_back_as_float32_with_its_digits(dtype, short_blocks):
    x = rows(100, 8, offset=1.0, dtype=dtype)
    mean, covariance = mean_covariance(x)
    exact_mean, exact = mean_covariance(x.double(), backend="reference")
    assert mean.dtype == covariance.dtype == torch.float32
    torch.testing.assert_close(mean.double(), exact_mean, rtol=0, atol=1e-6)
    torch.testing.assert_close(covariance.double(), exact, rtol=0, atol=1e-6)


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
    assert eigenvalue_error(mean_covariance(round_cloud)[1],
                            mean_covariance(round_cloud.double())[1]) < 1e-6


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_products_in_float64_lose_no_digit_of_shorter_numbers(dtype, backend, short_blocks):
    x = rows(2000, 16, offset=30.0, condition=1e4, dtype=dtype)
    exact = Moments(16).update(x.double(), backend="reference")
    found = Moments(16)
    for part in (x[:700], x[700:]):
        found.update(part, backend=backend, double=True)
    torch.testing.assert_close(found.mean, exact.mean, rtol=1e-12, atol=0)
    assert eigenvalue_error(found.covariance(), exact.covariance()) < 1e-9
    if dtype == torch.float32:
        assert eigenvalue_error(Moments(16).update(x, backend="cpu").covariance(),
                                exact.covariance()) > 1e-7


@pytest.mark.parametrize(("condition", "float32_bound", "bfloat16_floor"),
                         [(1e4, 8e-5, 1e-3), (1e6, 5e-3, 5e-2)])
def test_small_eigenvalues_cost_digits_and_bfloat16_products_have_none_to_give(
        condition, float32_bound, bfloat16_floor):
    x = rows(20_000, 64, condition=condition, dtype=torch.float32)
    exact = mean_covariance(x.double(), backend="reference")[1]
    rounded = (x - x.mean(dim=0)).bfloat16().float()
    assert eigenvalue_error(mean_covariance(x)[1], exact) < float32_bound
    assert eigenvalue_error(rounded.T @ rounded / (len(x) - 1), exact) > bfloat16_floor


def test_the_first_rows_may_lie_far_from_the_others():
    x = rows(3000, 6, dtype=torch.float32)
    # a shift taken from the first rows would be hundreds off
    x[:1100] += 1000.0
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


@given(st.lists(st.integers(0, 15), min_size=1, max_size=6).filter(lambda sizes: sum(sizes) >= 2),
       st.floats(-100, 100), st.integers(0, 50))
def test_streaming_equals_one_batch(sizes, offset, seed):
    x = rows(sum(sizes), 4, seed, offset=offset)
    moments = Moments(4)
    for batch in x.split(sizes):
        moments.update(batch)
    mean, covariance = mean_covariance(x)
    assert moments.n == len(x)
    torch.testing.assert_close(moments.mean, mean, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(moments.covariance(), covariance, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(moments.covariance(ddof=0), covariance * (len(x) - 1) / len(x),
                               rtol=1e-12, atol=1e-12)


def test_merged_moments_know_all_vectors_and_keep_their_own_state():
    x = rows(50, 3, offset=7.0)
    left, right, none = Moments(3).update(x[:13]), Moments(3).update(x[13:]), Moments(3)
    mean, scatter = left.mean, left.scatter
    joined, swapped = left.merge(right), right.merge(left)
    torch.testing.assert_close(joined.covariance(), mean_covariance(x)[1], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(swapped.covariance(), joined.covariance(), rtol=1e-12, atol=1e-12)
    for same in (left.merge(none), none.merge(left), left.merge(none.update(torch.ones(0, 3)))):
        assert same.n == 13 and torch.equal(same.mean, mean) and torch.equal(same.scatter, scatter)
    joined.update(x)
    for handed_out in (left.mean, left.covariance(), left.scatter):
        handed_out.zero_()
    assert (left.n, right.n, joined.n) == (13, 37, 100)
    assert torch.equal(left.mean, mean) and torch.equal(left.scatter, scatter)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("n", "d"), [(70, 40), (33, 20), (2, 5), (100, 16), (17, 33)])
def test_the_kernel_is_as_exact_as_the_formula(n, d, dtype, triton_here, device, guarded,
                                               assert_as_exact_as):
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
    assert moments.covariance(ddof=0).abs().max() < 1e-9 and torch.equal(moments.mean,
                                                                         x[0].double())


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2),
                                                  (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("n", "d"), [(1000, 300), (4097, 768), (65_537, 100)])
def test_gpu_kernel_agrees_and_repeats_itself(n, d, dtype, tolerance):
    x = rows(n, d, offset=5.0).to("cuda", dtype)
    results = repeated(lambda: mean_covariance(x, backend="triton"), times=5)
    assert_near(results, mean_covariance(x.double(), backend="reference"), tolerance)


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize(("condition", "bound"), [(1e4, 2e-4), (1e6, 1e-2)])
def test_gpu_kernel_keeps_the_digits_of_float32_in_small_eigenvalues(condition, bound):
    x = rows(65_537, 64, offset=30.0, condition=condition, dtype=torch.float32).cuda()
    exact = mean_covariance(x.double(), backend="reference")[1]
    assert eigenvalue_error(mean_covariance(x, backend="triton")[1], exact) < bound


@pytest.mark.gpu
@gpu
def test_gpu_tensors_stream_and_the_processor_path_runs_there_too():
    x = rows(5000, 48, offset=2.0, dtype=torch.float32).cuda()
    moments = Moments(48)
    for batch in x.split(999):
        moments.update(batch)
    exact = mean_covariance(x.double(), backend="reference")[1]
    assert moments.mean.is_cuda
    torch.testing.assert_close(moments.covariance(), exact, rtol=0, atol=1e-5)
    torch.testing.assert_close(mean_covariance(x, backend="cpu")[1].double(), exact, rtol=0,
                               atol=1e-5)


def test_moments_can_be_made_again_from_what_they_report():
    seen = Moments(4).update(rows(50, 4, offset=2.0))
    again = Moments.of(seen.n, seen.mean, seen.scatter)
    assert (again.n, again.dim) == (50, 4)
    assert torch.equal(again.mean, seen.mean) and torch.equal(again.covariance(), seen.covariance())
    again.update(rows(50, 4, seed=1))
    assert seen.n == 50 and torch.equal(seen.scatter, Moments.of(50, seen.mean.numpy(),
                                                                 seen.scatter.numpy()).scatter)
    assert Moments.of(0, [0.0, 0.0], torch.zeros(2, 2)).n == 0
