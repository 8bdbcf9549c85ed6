"""Segment moments: sums by hand, closed forms against pairs, and three implementations that
agree."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lessons_lib.kernels import intra_sentence_similarity, segment_moments, self_similarity
from lessons_lib.kernels.segment_moments import cpu, reference

from .conftest import assert_near, cloud, gpu, repeated, with_gradients

BACKENDS = ["cpu", "reference"]


def rows(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return (cloud(n, d, seed, torch.float64) + 0.3).to(dtype)


def joined(moments: tuple[Tensor, ...]) -> Tensor:
    """All sums of a segment in one row."""
    return torch.cat([moments[0], moments[1], moments[2][:, None]], dim=1)


def cosine(a: Tensor, b: Tensor) -> float:
    lengths = (a @ a).sqrt() * (b @ b).sqrt()
    return float(a @ b / lengths) if lengths > 0 else 0.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_three_rows_can_be_summed_by_hand(backend):
    found = segment_moments([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0], [1.0, 0.0]], [0, 3, 3, 4],
                            backend=backend)
    assert found.sum.tolist() == [[3, 6], [0, 0], [1, 0]]
    torch.testing.assert_close(found.unit_sum, torch.tensor([[0.6, 1.8], [0, 0], [1, 0]],
                                                            dtype=torch.float64))
    assert found.norm_sum.tolist() == [7, 0, 1]
    assert found.n_nonzero.tolist() == [2, 0, 1] and found.n_nonzero.dtype == torch.int64


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("d", [1, 3, 20])
def test_both_similarities_equal_the_mean_of_their_cosines(d, backend):  # methods 24.43, 24.44
    x, offsets = rows(40, d), [0, 2, 9, 9, 40]
    x[5] = 0                                        # a zero row has cosine 0 with every other
    moments = segment_moments(x, offsets, backend=backend)
    for i, (start, stop) in enumerate(pairwise(offsets)):
        some = range(start, stop)
        pairs = [cosine(x[j], x[k]) for j in some for k in some if j != k]
        with_mean = [cosine(x[start:stop].mean(dim=0), x[j]) for j in some]
        for measure, cosines in ((self_similarity, pairs), (intra_sentence_similarity, with_mean)):
            expected = math.fsum(cosines) / len(cosines) if cosines else 0
            assert measure(moments, offsets)[i].item() == pytest.approx(expected, abs=1e-14)


# methods 24.43
def test_equal_vectors_have_similarity_one_and_orthogonal_ones_none():
    equal = torch.tensor([[0.3, -2.0, 5.0]]).repeat(7, 1) * torch.arange(1, 8)[:, None]
    moments = segment_moments(torch.cat([equal, torch.eye(3)]), [0, 7, 10])
    torch.testing.assert_close(self_similarity(moments, [0, 7, 10]), torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(intra_sentence_similarity(moments, [0, 7, 10]),
                               torch.tensor([1.0, 3**-0.5]))
    assert self_similarity(moments, [0, 7, 10]).max() <= 1                                    # V03


def test_what_has_no_pair_or_no_direction_is_zero_not_nan():
    x, offsets = torch.tensor([[1.0, 2.0], [0.0, 0.0], [1.0, 1.0], [-1.0, -1.0]]), [0, 0, 1, 2, 4]
    moments = segment_moments(x, offsets)
    assert self_similarity(moments, offsets).tolist() == pytest.approx([0, 0, 0, -1])
    assert intra_sentence_similarity(moments, offsets).tolist() == pytest.approx([0, 1, 0, 0])


# methods 24.45
def test_random_directions_around_a_mean_have_the_expected_mean_cosine():
    d, n = 50, 4000
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    offsets = [0, n]
    assert self_similarity(segment_moments(x, offsets), offsets).item() == pytest.approx(0,
                                                                                         abs=0.002)
    # |m|² / (|m|² + tr Σ) = .701
    m = torch.full((d,), math.sqrt(117 / d), dtype=torch.float64)
    value = self_similarity(segment_moments(x + m, offsets), offsets).item()
    assert value == pytest.approx(0.701, abs=0.01)


@given(st.integers(0, 60), st.integers(1, 9), st.lists(st.integers(0, 60), max_size=8),
       st.integers(1, 40), st.integers(0, 100),
       st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]))
def test_blocks_of_rows_give_what_the_formula_gives(n, d, cuts, block, seed, dtype):
    x = rows(n, d, seed, dtype)
    x[seed % 7 :: 13] = 0
    offsets = [0, *sorted(min(c, n) for c in cuts), n]
    upstream = rows(len(offsets) - 1, 2 * d + 1, seed + 1)
    y, exact = x.clone().requires_grad_(), x.double().requires_grad_()
    with pytest.MonkeyPatch.context() as patch:     # blocks that cut segments and hold several
        patch.setattr(cpu, "BLOCK", block)
        found = segment_moments(y, offsets)
        joined(found).backward(upstream.to(found.sum.dtype))
    formula = reference.segment_moments(exact, torch.tensor(offsets))
    (gradient,) = torch.autograd.grad(joined(formula), exact, upstream, allow_unused=True)
    kind = torch.float64 if dtype == torch.float64 else torch.float32
    assert [t.dtype for t in (*found, y.grad)] == [kind, kind, kind, torch.int64, dtype]
    tolerance = 1e-12 if dtype == torch.float64 else 2e-5
    for ours, theirs in zip(found, formula, strict=True):
        torch.testing.assert_close(ours.double(), theirs.double(), rtol=tolerance, atol=tolerance)
    zero = (x == 0).all(dim=1)          # passes on the gradient of the sum alone
    segment = torch.searchsorted(torch.tensor(offsets[1:]), torch.arange(n), right=True)
    gradient[zero] = upstream[segment, :d][zero]
    coarse = max(tolerance, 4 * torch.finfo(dtype).eps)
    largest = float(gradient.abs().max()) if n else 1.0
    torch.testing.assert_close(y.grad.double(), gradient, rtol=coarse,
                               atol=coarse * max(1.0, largest))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_gradients_are_the_derivatives_of_the_formulas(backend):
    x, offsets = rows(9, 4).requires_grad_(), torch.tensor([0, 3, 3, 9])
    assert torch.autograd.gradcheck(lambda y: segment_moments(y, offsets, backend=backend)[:3], x)
    for measure in (self_similarity, intra_sentence_similarity):
        assert torch.autograd.gradcheck(lambda y, measure=measure: measure(
            segment_moments(y, offsets, backend=backend), offsets), x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_zero_row_passes_on_the_gradient_of_the_sum_alone(backend):
    x = torch.tensor([[0.0, 0.0], [3.0, 4.0]]).requires_grad_()
    found = segment_moments(x, [0, 2], backend=backend)
    (found.sum.sum() + 5 * found.unit_sum.sum() + 7 * found.norm_sum.sum()).backward()
    assert x.grad[0].tolist() == [1, 1] and torch.isfinite(x.grad).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [1e200, 1e-300])
def test_V04_huge_and_tiny_rows_keep_their_directions(size, backend):
    x = torch.tensor([[3.0, 4.0], [4.0, 3.0], [0.0, 0.0]], dtype=torch.float64) * size
    found = segment_moments(x, [0, 3], backend=backend)
    torch.testing.assert_close(found.unit_sum, torch.tensor([[1.4, 1.4]], dtype=torch.float64),
                               rtol=1e-14, atol=0)
    assert found.norm_sum.item() == pytest.approx(10 * size, rel=1e-14)
    assert found.n_nonzero.item() == 2
    assert self_similarity(found, [0, 3]).item() == pytest.approx(0.96 / 3, rel=1e-14)
    agreement = intra_sentence_similarity(found, [0, 3]).item()
    assert agreement == pytest.approx(2 * 0.7 * 2**0.5 / 3, rel=1e-14)


def test_a_long_sum_of_float32_keeps_its_digits():
    x = torch.full((300_000, 1), 0.1)
    expected = len(x) * x[0].item()
    one_by_one = x[:, 0].numpy().cumsum(dtype=np.float32)[-1]
    # what adding row after row would give
    assert abs(one_by_one - expected) > 1e-3 * expected
    found = segment_moments(x, [0, len(x)])
    assert found.sum.item() == pytest.approx(expected, rel=2e-5)
    assert found.norm_sum.item() == pytest.approx(expected, rel=2e-5)


def test_V09_layout_and_kind_of_the_input_make_no_difference():
    x, offsets = rows(20, 6), [0, 7, 20]
    expected = segment_moments(x, offsets)
    wide = torch.stack([x, x + 1], dim=1).flatten(1)
    array = x.numpy().copy()
    array.flags.writeable = False
    views = [wide[:, :6], x.T.contiguous().T, torch.stack([x, -x], dim=2)[:, :, 0], array,
             array.astype(">f8"), x.tolist()]
    for view in views:
        for found, value in zip(segment_moments(view, offsets), expected, strict=True):
            assert torch.equal(found, value)
    kinds = [tuple(offsets), np.array(offsets, dtype=np.uint8), torch.tensor(offsets).int(),
             torch.tensor([0, 9, 7, 9, 20])[::2]]
    for kind in kinds:
        assert torch.equal(segment_moments(x, kind).unit_sum, expected.unit_sum)
    assert np.array_equal(array, x.numpy())


@pytest.mark.parametrize("backend", BACKENDS)
def test_segments_of_nothing_have_sums_of_nothing(backend):
    none = segment_moments(torch.empty(0, 3), [0], backend=backend)
    assert [tuple(t.shape) for t in none] == [(0, 3), (0, 3), (0,), (0,)]
    empty = torch.empty(0, 3, requires_grad=True)
    some = segment_moments(empty, [0, 0, 0], backend=backend)
    assert not any(t.any() for t in some) and some.sum.shape == (2, 3)
    some.norm_sum.sum().backward()
    assert empty.grad.shape == (0, 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("d", "offsets"), [(72, [0, 1, 12, 12, 19]), (300, [0, 5, 8]),
                                            (5, [0, 0, 23, 23]), (1, [0, 1]), (700, [0, 3])])
def test_the_kernel_is_as_exact_as_the_formula(d, offsets, dtype, triton_here, device, guarded,
                                               assert_as_exact_as):
    x = rows(offsets[-1], d, dtype=dtype).to(device)
    x[2:3] = 0
    x[4:5] = x[3:4]
    upstream = rows(len(offsets) - 1, 2 * d + 1, 1, torch.float32).to(device)

    def run(backend, kind):
        y = x.clone().to(kind).requires_grad_()
        found = segment_moments(y, offsets, backend=backend)
        torch.cat([found.sum, found.unit_sum, found.norm_sum[:, None]],
                  dim=1).backward(upstream.to(found.sum.dtype))
        return [*(t.detach() for t in found), y.grad]

    found, twin, exact = run(triton_here, dtype), run("reference", dtype), run("reference",
                                                                               torch.float64)
    assert torch.equal(found[3], exact[3])
    for i in (0, 1, 2, 4):
        assert_as_exact_as(found[i], twin[i], exact[i])


def test_the_kernel_reads_views_as_they_lie(triton_here, device):
    whole, offsets = rows(12, 96, dtype=torch.float32).to(device), [0, 5, 12]
    for x in (whole[:, :40], whole[:, 3:43], whole[:, ::2],
              rows(24, 40, dtype=torch.float32).to(device)[::2]):
        by_kernel, by_formula = (segment_moments(x, offsets, backend=backend)
                                 for backend in (triton_here, "reference"))
        for found, expected in zip(by_kernel, by_formula, strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-5)


def test_the_kernel_does_not_overflow_where_lengths_do_not(triton_here, device):
    x = torch.tensor([[3e30, 4e30], [3e-30, 4e-30], [0.0, 0.0]], device=device)
    found = segment_moments(x, [0, 1, 3], backend=triton_here)
    torch.testing.assert_close(found.unit_sum, torch.tensor([[0.6, 0.8]] * 2, device=device))
    assert found.n_nonzero.tolist() == [1, 1] and found.norm_sum.tolist() == pytest.approx([5e30,
                                                                                            5e-30])


def test_moments_can_be_compiled_whole():
    x, offsets = rows(9, 4, dtype=torch.float32), torch.tensor([0, 3, 9])

    def regulariser(y):
        moments = segment_moments(2 * y, offsets)
        return sum(part.sum() for part in (self_similarity(moments, offsets), moments.norm_sum,
                                           intra_sentence_similarity(moments, offsets)))

    compiled = torch.compile(regulariser, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(with_gradients(compiled, x), with_gradients(regulariser, x))


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2),
                                                  (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("n", "d", "s"), [(1000, 300, 37), (65_537, 768, 3000), (65_537, 64, 1),
                                           (500, 4096, 40)])
def test_gpu_kernel_agrees_and_repeats_itself(n, d, s, dtype, tolerance):
    x = rows(n, d, dtype=dtype).cuda().requires_grad_()
    inner = torch.randint(0, n + 1, (s - 1,),
                          generator=torch.Generator().manual_seed(1)).sort().values
    offsets = torch.cat([torch.tensor([0]), inner, torch.tensor([n])]).cuda()
    upstream = [rows(s, d, 2, torch.float32).cuda(), rows(s, d, 3, torch.float32).cuda(),
                rows(s, 1, 4, torch.float32)[:, 0].cuda()]

    def run():
        x.grad = None
        moments = segment_moments(x, offsets, backend="triton")
        torch.autograd.backward(moments[:3], upstream)
        return *(t.detach() for t in moments), x.grad

    results, exact = repeated(run), x.detach().double()
    expected = [*cpu.segment_moments(exact, offsets),
                cpu.gradient(exact, offsets, *(g.double() for g in upstream))]
    assert torch.equal(results[3], expected[3])
    assert_near(results[:3], expected[:3], 1e-5)            # the sums are float32 whatever x is
    assert_near(results[4:], expected[4:], tolerance)
