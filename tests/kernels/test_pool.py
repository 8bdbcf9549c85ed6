"""Pooling: padding never matters, the identities of means and maxima hold, and three
implementations agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lessons_lib.kernels import pool
from lessons_lib.kernels.pool import POOLINGS, cpu, reference

from .conftest import assert_near, gpu, repeated, with_gradients

BACKENDS = ["cpu", "reference"]


def batch(b: int, length: int, d: int, seed: int = 0,
          dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    """Hidden states of two layers and a mask with holes; text 0 has all tokens, the last of several
    texts has none."""
    generator = torch.Generator().manual_seed(seed)
    hidden, first = torch.randn(2, b, length, d, generator=generator, dtype=torch.float64).to(dtype)
    mask = torch.rand(b, length, generator=generator) < 0.6
    mask[:1] = True
    if b > 1:
        mask[-1] = False
    return hidden, first, mask


def pooled(hidden, mask, first, how, **options):
    real = mask.clone()
    if how == "cls" and mask.shape[1]:
        real[:, 0] |= mask.any(dim=1)               # position 0 has to be real
    return pool(hidden, real, how=how, first=first if how == "first_last" else None, **options)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("how", POOLINGS)
# methods 24.39
def test_what_stands_in_the_padding_never_reaches_the_result(how, normalize, backend):
    hidden, first, mask = batch(5, 7, 4)
    mask[:, 0] = mask.any(dim=1)
    clean = pooled(hidden, mask, first, how, normalize=normalize, backend=backend)
    for rubbish in (math.nan, math.inf, -1e300):
        dirty, dirty_first = (x.masked_fill(~mask[..., None], rubbish).requires_grad_()
                              for x in (hidden, first))
        found = pooled(dirty, mask, dirty_first, how, normalize=normalize, backend=backend)
        assert torch.equal(found, clean)
        found.sum().backward()
        assert not dirty.grad[~mask].any()          # NaN counts as true
    longer = torch.cat([hidden, torch.full((5, 3, 4), math.nan, dtype=torch.float64)], dim=1)
    pad = torch.nn.functional.pad
    longer_mask, longer_first = pad(mask, (0, 3)), pad(first, (0, 0, 0, 3))
    found = pooled(longer, longer_mask, longer_first, how, normalize=normalize, backend=backend)
    # a longer sum may add in another order
    torch.testing.assert_close(found, clean, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("backend", BACKENDS)
# methods 24.40
def test_one_real_token_is_its_own_mean_and_its_own_maximum(backend):
    hidden, _, _ = batch(3, 6, 4)
    mask = torch.zeros(3, 6, dtype=torch.bool)
    mask[[0, 1, 2], [5, 0, 3]] = True
    for how in ("mean", "max"):
        assert torch.equal(pool(hidden, mask, how=how, backend=backend), hidden[mask])
    assert torch.equal(pool(hidden, mask[1].expand(3, 6), how="cls", backend=backend), hidden[:, 0])


@pytest.mark.parametrize("backend", BACKENDS)
# methods 24.41
def test_averaging_layers_and_averaging_tokens_may_change_places(backend):
    hidden, first, mask = batch(6, 9, 5)
    found = pool(hidden, mask, how="first_last", first=first, backend=backend)
    layer_by_layer = (pool(hidden, mask, backend=backend) + pool(first, mask, backend=backend)) / 2
    torch.testing.assert_close(found, layer_by_layer, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(found, pool((hidden + first) / 2, mask, backend=backend), rtol=1e-13,
                               atol=1e-13)


@pytest.mark.parametrize("how", POOLINGS)
def test_a_text_without_a_real_token_pools_to_zeros_and_passes_no_gradient_on(how):
    hidden, first, mask = batch(4, 5, 3)
    hidden.requires_grad_()
    for normalize in (False, True):
        hidden.grad = None
        found = pooled(hidden, mask, first, how, normalize=normalize)
        assert not found[-1].any()
        found.sum().backward()
        assert not hidden.grad[-1].any() and torch.isfinite(hidden.grad).all()


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_vector_of_zeros_has_no_direction_and_passes_no_gradient_on(backend):
    hidden = torch.zeros(2, 3, 4, dtype=torch.float64)
    hidden[1, 0] = torch.tensor([3.0, 0.0, 4.0, 0.0])
    hidden.requires_grad_()
    found = pool(hidden, torch.ones(2, 3, dtype=torch.bool), normalize=True, backend=backend)
    close = {"rtol": 1e-14, "atol": 1e-15}
    torch.testing.assert_close(found.tolist(), [[0.0] * 4, [0.6, 0.0, 0.8, 0.0]], **close)
    found[:, 1].sum().backward()
    # (u - y (y·u)) / ‖z‖ / 3, with ‖z‖ = 5 / 3
    expected = [[[0.0] * 4] * 3, [[0.0, 0.2, 0.0, 0.0]] * 3]
    torch.testing.assert_close(hidden.grad, torch.tensor(expected, dtype=torch.float64), **close)


@pytest.mark.parametrize("length", [1, 4])
def test_the_places_of_maxima_are_those_of_tokens_and_0_where_no_token_is_real(length):
    hidden = torch.arange(2.0 * length * 2).reshape(2, length, 2)      # the last is the largest
    mask = torch.ones(2, length, dtype=torch.bool)
    mask[1] = False
    _, _, places = reference.pool(hidden, mask, None, largest=True, normalize=False, winners=True)
    assert places.tolist() == [[length - 1] * 2, [0, 0]]


@pytest.mark.parametrize("how", POOLINGS)
@pytest.mark.parametrize("normalize", [False, True])
def test_the_gradients_are_the_derivatives_of_the_formulas(how, normalize):
    hidden, first, mask = batch(4, 5, 3)
    hidden.requires_grad_()
    first.requires_grad_()
    inputs = (hidden, first) if how == "first_last" else (hidden,)
    assert torch.autograd.gradcheck(lambda h, f=None: pooled(h, mask, f, how, normalize=normalize),
                                    inputs)
    weights = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    chosen = hidden[:, :1] if how == "cls" else hidden
    real = mask[:, :1] | mask.any(dim=1, keepdim=True) if how == "cls" else mask
    chosen, real = chosen[:-1], real[:-1]           # the empty text apart: 0/0 in autograd
    formula = reference.pool(chosen, real, first[:-1] if how == "first_last" else None,
                             largest=how == "max", normalize=normalize, winners=False)[0]
    expected = torch.autograd.grad((formula * weights[:-1]).sum(), inputs)
    value = pooled(hidden, mask, first, how, normalize=normalize)
    found = torch.autograd.grad((value * weights).sum(), inputs)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_gradient_of_a_maximum_goes_to_the_first_real_token_that_reaches_it(backend):
    hidden = torch.tensor([[[5.0, 1.0], [2.0, 3.0], [2.0, 3.0], [2.0, -1.0]]]).requires_grad_()
    pool(hidden, [[0, 1, 1, 1]], how="max", backend=backend).sum().backward()
    assert hidden.grad.tolist() == [[[0, 0], [1, 1], [0, 0], [0, 0]]]
    lowest = torch.full((1, 3, 2), -math.inf).requires_grad_()
    result = pool(lowest, [[0, 1, 1]], how="max", backend=backend)
    result.sum().backward()
    assert (result == -math.inf).all() and not lowest.grad[0, 0].any()


@given(st.integers(0, 7), st.integers(0, 9), st.integers(1, 6), st.sampled_from(POOLINGS),
       st.booleans(), st.integers(0, 100),
       st.sampled_from([torch.float64, torch.float32, torch.float16, torch.bfloat16]))
def test_blocks_of_texts_give_what_the_formula_gives(b, length, d, how, normalize, seed, dtype):
    hidden, first, mask = batch(b, length, d, seed, dtype)
    with pytest.MonkeyPatch.context() as patch:     # two texts per block, the last one ragged
        patch.setattr(cpu, "BLOCK", 2 * max(1, length * d))
        found = pooled(hidden, mask, first, how, normalize=normalize, backend="cpu")
    expected = pooled(hidden, mask, first, how, normalize=normalize, backend="reference")
    assert found.dtype == dtype and found.shape == (b, d)
    tolerance = {torch.float64: 1e-13, torch.float32: 1e-6}.get(dtype, 2 * torch.finfo(dtype).eps)
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_long_texts_keep_their_digits_because_parts_of_them_are_added_up(dtype):
    for length in (1, 513, 5000, 300_000):
        hidden = torch.full((2, length, 2), 0.1).to(dtype)
        mask = torch.ones(2, length, dtype=torch.bool)
        mask[1, length // 2 :] = False
        expected = hidden[:, 0].double() * mask.any(dim=1, keepdim=True)
        torch.testing.assert_close(pool(hidden, mask).double(), expected,
                                   rtol=1e-5 if dtype == torch.float32 else 1e-12, atol=0)


def test_parts_of_parts_of_a_text_are_added_up_rightly(monkeypatch):
    monkeypatch.setattr(cpu, "MOST_ROWS", 3)
    for length in (2, 3, 4, 9, 10, 50):
        hidden, _, mask = batch(6, length, 4, seed=length)
        mask[2], mask[3] = False, True
        for block in (1, 4 * length * 2, 1 << 20):
            monkeypatch.setattr(cpu, "BLOCK", block)
            torch.testing.assert_close(pool(hidden, mask), pool(hidden, mask, backend="reference"),
                                       rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [1e200, 1e-300])
def test_V04_huge_and_tiny_vectors_are_normalised_rightly(size, backend):
    found = pool(torch.tensor([[[3.0, 4.0]]], dtype=torch.float64) * size, [[1]], normalize=True,
                 backend=backend)
    torch.testing.assert_close(found, torch.tensor([[0.6, 0.8]], dtype=torch.float64), rtol=1e-14,
                               atol=0)


@pytest.mark.parametrize("how", POOLINGS)
def test_V09_layout_and_kind_of_the_input_make_no_difference(how):
    hidden, first, mask = batch(5, 6, 4)
    mask[:, 0] = mask.any(dim=1)
    expected = pooled(hidden, mask, first, how)
    # (b, length, layer, d), as one block of all layers
    layers = torch.stack([first, hidden], dim=2)
    assert torch.equal(pooled(layers[:, :, 1], mask, layers[:, :, 0], how), expected)
    assert torch.equal(pooled(hidden.transpose(1, 2).contiguous().transpose(1, 2), mask, first,
                              how), expected)
    array = hidden.numpy().copy()
    array.flags.writeable = False
    options = {"how": how, "first": first if how == "first_last" else None}
    for kind in (bool, np.int32, np.float32, np.uint8):
        assert torch.equal(pool(array, mask.numpy().astype(kind), **options), expected)
    assert torch.equal(pool(hidden, mask.tolist(), **options), expected)
    assert np.array_equal(array, hidden.numpy())


@pytest.mark.parametrize("how", POOLINGS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_missing_number_in_a_real_token_shows(how, backend):
    hidden, first, mask = batch(3, 4, 3)
    hidden[0, 0, 1] = math.nan
    plain = pooled(hidden, mask, first, how, backend=backend)
    assert torch.isnan(plain).tolist() == [[False, True, False], [False] * 3, [False] * 3]
    assert torch.isnan(pooled(hidden, mask, first, how, normalize=True, backend=backend)[0]).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("b", "length", "d", "how", "normalize"), [
    (5, 11, 72, "mean", False), (5, 11, 72, "first_last", True), (5, 11, 72, "max", True),
    (3, 5, 300, "max", False), (3, 5, 300, "mean", True), (4, 6, 5, "cls", True),
    (1, 1, 1, "mean", True), (2, 3, 700, "first_last", False)])
def test_the_kernel_is_as_exact_as_the_formula(b, length, d, how, normalize, dtype, triton_here,
                                               device, guarded, assert_as_exact_as):
    hidden, first, mask = (x.to(device) for x in batch(b, length, d, dtype=dtype))
    mask[:, 0] = mask.any(dim=1)
    hidden, first = (x.masked_fill(~mask[..., None], math.nan) for x in (hidden, first))
    weights = torch.randn(b, d, generator=torch.Generator().manual_seed(2)).to(device)

    def run(backend, kind):
        h, f = hidden.detach().to(kind).requires_grad_(), first.detach().to(kind).requires_grad_()
        value = pooled(h, mask, f, how, normalize=normalize, backend=backend)
        (value.to(weights.dtype) * weights).sum().backward()
        return [value.detach(), h.grad] + ([f.grad] if how == "first_last" else [])

    twin, exact = run("reference", dtype), run("reference", torch.float64)
    for a, t, e in zip(run(triton_here, dtype), twin, exact, strict=True):
        assert a.dtype == dtype
        assert_as_exact_as(a, t, e)


def test_the_kernel_reads_views_as_they_lie(triton_here, device):
    layers = torch.randn(3, 5, 2, 40, generator=torch.Generator().manual_seed(0)).to(device)
    mask = torch.tensor([[1, 1, 1, 0, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 0]], device=device)
    for how in ("first_last", "max"):
        for view in (layers, layers[..., ::2], layers[:, 1:]):
            first, hidden = view[:, :, 0], view[:, :, 1]
            real = mask[:, -hidden.shape[1] :]
            options = {"how": how, "first": first if how == "first_last" else None}
            expected = pool(hidden, real, backend="reference", **options)
            torch.testing.assert_close(pool(hidden, real, backend=triton_here, **options), expected,
                                       rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")     # NumPy's, inside
def test_the_kernel_sends_ties_and_missing_numbers_where_the_formula_does(triton_here, device):
    ties = [[1.0, 7.0, 0.0], [4.0, 7.0, -math.inf], [4.0, 2.0, -math.inf]]
    hidden = torch.tensor([ties, ties, [[math.nan, 1.0, 2.0]] * 3], device=device)
    mask = torch.tensor([[0, 1, 1], [0, 0, 0], [1, 1, 0]], device=device)
    for how in ("max", "mean"):
        for normalize in (False, True):
            results = []
            for backend in (triton_here, "reference"):
                h = hidden.clone().requires_grad_()
                value = pool(h, mask, how=how, normalize=normalize, backend=backend)
                value.nan_to_num().sum().backward()
                results.append((value.detach(), h.grad))
            torch.testing.assert_close(results[0], results[1], equal_nan=True)
    assert pool(hidden[:0], mask[:0], backend=triton_here).shape == (0, 3)
    assert not pool(hidden[:, :0], mask[:, :0], how="max", backend=triton_here).any()


@pytest.mark.parametrize("how", POOLINGS)
def test_pooling_can_be_compiled_whole(how):
    hidden, first, mask = batch(3, 4, 5, dtype=torch.float32)
    mask[:, 0] = mask.any(dim=1)

    def doubled(h):
        last = first if how == "first_last" else None
        return pool(2 * h, mask, how=how, first=last, normalize=True)[:, 0].sum()

    compiled = torch.compile(doubled, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(with_gradients(compiled, hidden), with_gradients(doubled, hidden))


def test_a_mean_keeps_no_token_vectors_for_its_gradient():
    hidden, _, mask = batch(2, 50, 8)
    found = pool(hidden.requires_grad_(), mask)
    kept = [t for t in found.grad_fn.saved_tensors if t.is_floating_point()]
    assert kept and max(t.numel() for t in kept) <= found.numel()


@pytest.mark.gpu
@gpu
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2),
                                                  (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("b", "length", "d"), [(256, 128, 768), (33, 57, 300), (65_537, 3, 64),
                                                (2, 65_537, 64), (7, 40, 8192)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("how", POOLINGS)
def test_gpu_kernel_agrees_and_repeats_itself(how, normalize, b, length, d, dtype, tolerance):
    hidden, first, mask = (x.cuda() for x in batch(b, length, d, dtype=dtype))
    mask[:, 0] = mask.any(dim=1)
    hidden, first = (x.masked_fill_(~mask[..., None], math.nan) for x in (hidden, first))
    last = first if how == "first_last" else None
    weights = torch.randn(b, d, generator=torch.Generator().manual_seed(1)).cuda()

    def run(h, f, backend):
        h = h.detach().requires_grad_()
        value = pool(h, mask, how=how, first=f, normalize=normalize, backend=backend)
        (value.to(h.dtype if backend == "cpu" else torch.float32) * weights).sum().backward()
        return value.detach(), h.grad

    exact = run(hidden.double(), None if last is None else last.double(), "cpu")
    assert_near(repeated(lambda: run(hidden, last, "triton")), exact, tolerance)
