"""Launching: rows that a kernel can load wide, products that are never whole, and block tables with
the right entry for each GPU and type."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import configs, layout, products
from lessons_lib.kernels.configs import Blocks, blocks_for, entry, other_blocks, table
from lessons_lib.kernels.layout import (ALIGNMENT, add_product, aligned_rows, padded_width,
                                        precision, product, row_products, rows_per_block)

from .conftest import cloud

WIDE = torch.arange(40 * 48, dtype=torch.float32).reshape(40, 48)
VIEWS = {                                       # name -> (view, whether it can be used as it is)
    "aligned": (WIDE, True),
    "left part of aligned rows": (WIDE[:, :30], True),
    "every second row": (WIDE[::2], True),
    "one row for all": (WIDE[:1].expand(9, 48), True),
    "starts at number 16": (WIDE[:, 16:], True),
    "starts at number 4": (WIDE[:, 4:], True),
    "starts at number 3": (WIDE[:, 3:], False),
    "rows of 30": (WIDE[:, :30].contiguous(), False),
    "transposed": (WIDE.T, False),
    "every second column": (WIDE[:, ::2], False),
    "windows": (torch.arange(50.0).unfold(0, 20, 1), False),
    "one column": (WIDE[:, 5:6], False),
    "no rows": (WIDE[:0, :30], True),
    "no rows, odd width": (torch.ones(0, 30), False),
    "one row": (torch.ones(1, 30), False),
    "half numbers that start at number 8": (WIDE.half()[:, 8:], True),
    "half numbers that start at number 4": (WIDE.half()[:, 4:], False),
}


@pytest.mark.parametrize("name", VIEWS)
def test_rows_are_copied_only_where_a_kernel_could_not_load_them_wide(name, guarded):
    view, usable = VIEWS[name]
    before = view.clone()
    found = aligned_rows(view)
    assert torch.equal(found, before) and torch.equal(view, before) and (found is view) == usable
    assert found.stride(1) == 1 and found.stride(0) % ALIGNMENT == 0 and found.data_ptr() % 16 == 0
    # 2^32 numbers that nobody stores
    huge = torch.empty_strided((2**20, 4096), (4096, 1), device="meta")
    assert aligned_rows(huge) is huge and huge.numel() > 2**31


@given(st.integers(0, 10_000))
def test_a_padded_width_is_the_next_multiple_of_16(n):
    assert padded_width(n) % ALIGNMENT == 0 and n <= padded_width(n) < n + ALIGNMENT


@given(st.integers(0, 10**7), st.integers(1, 10**8))
def test_a_block_of_products_is_never_empty_and_never_larger_than_its_bound(n, columns):
    rows = rows_per_block(n, columns)
    assert 1 <= rows <= max(1, n)
    assert rows == 1 or 4 * rows * columns <= layout.MOST_BYTES
    # not smaller than it needs to be
    assert rows == n or rows == 1 or 4 * (rows + 1) * columns > layout.CACHE_BYTES


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_products_are_float32_whatever_goes_in(dtype):
    a, b = cloud(5, 300, 0, dtype), cloud(300, 7, 1, dtype)
    exact = a.double() @ b.double()
    room = torch.empty(5, 7)
    assert product(a, b, out=room) is room
    total = torch.ones(5, 7)
    add_product(total, a, b)
    for found in (product(a, b), room, total - 1):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), exact, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 5), (50, 33), (16, 16)])
def test_blocks_of_rows_together_are_the_whole_product(n, m, monkeypatch, guarded):
    monkeypatch.setattr(layout, "FULL_RATE_ROWS", 3)
    monkeypatch.setattr(layout, "CACHE_BYTES", 1)
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(n, 20, generator=generator), torch.randn(m, 20, generator=generator)
    seen, whole = [], torch.full((n, m), torch.nan)
    for rows, dots, workspace in row_products(a, b):
        assert dots.shape == workspace.shape == (rows.stop - rows.start, m)
        assert dots.stride() == workspace.stride() == (padded_width(m), 1)
        seen += range(rows.start, rows.stop)
        whole[rows] = dots
    assert seen == list(range(n))
    torch.testing.assert_close(whole, a @ b.T)


def test_float32_products_of_a_kernel_are_not_rounded_to_tf32(monkeypatch):
    monkeypatch.setattr(layout, "interpreting", lambda: False)
    monkeypatch.setattr(torch.version, "hip", None)
    assert precision(
        torch.float32) == precision("float32") == "tf32x3" and precision(torch.bfloat16) == "tf32"
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert precision("float32") == "ieee"
    monkeypatch.setattr(layout, "interpreting", lambda: True)
    assert precision("float32") == "ieee"


LAYOUTS = {"contiguous": lambda x: x.contiguous(), "transposed": lambda x: x.T.contiguous().T,
           "every second row": lambda x: x.repeat_interleave(2, dim=0)[::2],
           "part of wider rows": lambda x: torch.cat([x, x], dim=1)[:, : x.shape[1]],}


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
    # so that the addition takes several pieces, the last one ragged
    monkeypatch.setattr(products, "PIECE", 100)
    a, b = LAYOUTS[left](torch.randn(33, 17)), LAYOUTS[right](torch.randn(29, 17))
    before = a.clone(), b.clone()
    for scale in (1.0, -0.5):
        assert _error(products.row_product(a, b, scale=scale), a, b, scale) < 17 * 2**-23
        start = torch.randn(33, 29)
        total = start.clone()
        products.add_row_product(total, a, b, scale=scale)
        assert _error(total.double() - start.double(), a, b, scale) < 1e-4
    assert torch.equal(a, before[0]) and torch.equal(b, before[1])


@given(n=st.integers(0, 5), m=st.integers(1, 5), k=st.integers(0, 5),
       dtype=st.sampled_from([torch.float32, torch.float64]))
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


@pytest.fixture
def small_table(monkeypatch):
    rows = [Blocks("k", 0, "*", {"BLOCK": 16}, 1, 1), Blocks("k", 80, "*", {"BLOCK": 32}, 4, 3),
            Blocks("k", 80, "bfloat16", {"BLOCK": 64}, 4, 3),
            Blocks("k", 90, "*", {"BLOCK": 128}, 8, 3)]
    monkeypatch.setattr(configs, "table", lambda: tuple(rows))


@pytest.mark.parametrize(("arch", "dtype", "block"), [
    (0, "float32", 16),                         # the interpreter has small tiles of its own
    # a type's own entry comes before the one for any type
    (80, "float32", 32), (80, "bfloat16", 64),
    (89, "bfloat16", 64),                       # the newest that is not newer
    (90, "float32", 128), (120, "float16", 128),
    (90, "bfloat16", 128),                      # a newer architecture beats an own type
    (75, "float32", 32),                        # older than all entries: the oldest
])
def test_the_entry_fits_the_gpu_first_and_the_type_second(small_table, arch, dtype, block):
    assert entry("k", arch, dtype).sizes == {"BLOCK": block}


def test_a_kernel_without_an_entry_is_a_fault_and_the_interpreter_takes_none_of_a_gpu(monkeypatch):
    monkeypatch.setattr(configs, "table", lambda: (Blocks("k", 80, "*", {"BLOCK": 32}, 4, 3),))
    for kernel, arch, words in (("unknown", 90, "no entry for unknown on sm_90 in float32"),
                                ("k", 0, "sm_0")):
        with pytest.raises(KeyError, match=words):
            entry(kernel, arch, "float32")


def test_the_launch_depends_on_where_x_lies(small_table, monkeypatch):
    x = torch.ones(2, dtype=torch.bfloat16)
    monkeypatch.setattr(configs, "interpreting", lambda: True)
    assert blocks_for("k", x).options() == {"BLOCK": 16, "num_warps": 1, "num_stages": 1}
    monkeypatch.setattr(configs, "interpreting", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 6))
    assert blocks_for("k", x).options() == {"BLOCK": 64, "num_warps": 4, "num_stages": 3}


def test_other_blocks_hold_inside_their_block_only(small_table, monkeypatch):
    monkeypatch.setattr(configs, "interpreting", lambda: True)
    x, before = torch.ones(2), blocks_for("k", torch.ones(2))
    with other_blocks(lambda found: replace(found, sizes={"BLOCK": 2 * found.sizes["BLOCK"]})):
        assert blocks_for("k", x).sizes == {"BLOCK": 32}
    assert blocks_for("k", x) == before


def test_every_entry_can_be_launched_and_is_small_enough_for_tests_in_the_interpreter():
    """Blocks are powers of two, as tl.arange demands (none where the rows decide); a block has 1 to
    32 warps."""
    keys = [(row.kernel, row.arch, row.dtype) for row in table()]
    assert len(keys) == len(set(keys)) > 0
    for row in table():
        assert row.arch in (0, 80, 90, 100, 120), row
        assert row.dtype in ("*", "float32", "float16", "bfloat16"), row
        assert all(size > 0 and size & (size - 1) == 0 for size in row.sizes.values()), row
        assert row.num_warps in (1, 2, 4, 8, 16, 32) and 1 <= row.num_stages <= 8, row
        assert row.arch or all(size <= 64 for name, size in row.sizes.items()
                               if name.startswith("BLOCK")), row
