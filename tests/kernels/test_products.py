"""Products of matrices by either library: the same numbers, whatever lies in memory how."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import products

LAYOUTS = {
    "contiguous": lambda x: x.contiguous(),
    "transposed": lambda x: x.T.contiguous().T,
    "every second row": lambda x: x.repeat_interleave(2, dim=0)[::2],
    "part of wider rows": lambda x: torch.cat([x, x], dim=1)[:, : x.shape[1]],
}


def _error(found, a, b, scale):
    """Largest error as a share of |a| |b|ᵀ, the bound's natural unit."""
    exact = scale * (a.double() @ b.double().T)
    size = abs(scale) * (a.double().abs() @ b.double().abs().T)
    return ((found.double() - exact).abs() / size.clamp_min(1e-300)).max().item()


@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("onednn", [False, True])
def test_every_layout_gives_the_product_that_float64_gives(onednn, left, right, monkeypatch):
    if onednn and not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("this build of torch has no oneDNN")
    monkeypatch.setattr(products, "prefers_onednn", lambda: onednn)
    monkeypatch.setattr(products, "WORTH_IT", 1)
    monkeypatch.setattr(products, "PIECE", 100)                         # so that the addition takes several pieces, the last one ragged
    a, b = LAYOUTS[left](torch.randn(33, 17)), LAYOUTS[right](torch.randn(29, 17))
    before = a.clone(), b.clone()
    for scale in (1.0, -0.5):
        assert _error(products.row_product(a, b, scale=scale), a, b, scale) < 17 * 2**-23
        start = torch.randn(33, 29)
        total = start.clone()
        products.add_row_product(total, a, b, scale=scale)
        assert _error(total.double() - start.double(), a, b, scale) < 1e-4
    assert torch.equal(a, before[0]) and torch.equal(b, before[1])


@given(n=st.integers(0, 5), m=st.integers(1, 5), k=st.integers(0, 5), dtype=st.sampled_from([torch.float32, torch.float64]))
def test_small_and_empty_matrices_are_multiplied_too(n, m, k, dtype):
    a, b = torch.ones(n, k, dtype=dtype), torch.ones(m, k, dtype=dtype)
    assert torch.equal(products.row_product(a, b), torch.full((n, m), float(k), dtype=dtype))


def test_only_large_float32_products_on_a_processor_take_the_other_library(monkeypatch):
    monkeypatch.setattr(products, "prefers_onednn", lambda: True)
    large, small = torch.zeros(2048, 1024), torch.zeros(2, 2)
    assert products._by_onednn(large, large)
    assert not products._by_onednn(small, small)
    assert not products._by_onednn(large.double(), large.double())
    assert not products._by_onednn(large.bfloat16(), large.bfloat16())
