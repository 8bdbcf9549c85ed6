"""Layout: rows that a kernel can load wide, copies only where they are needed, and a product that is never whole."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import layout
from lessons_lib.kernels.layout import ALIGNMENT, add_product, aligned_rows, padded_width, precision, product, row_products, rows_per_block

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
}


@pytest.mark.parametrize("name", VIEWS)
def test_rows_are_copied_only_where_a_kernel_could_not_load_them_wide(name, guarded):
    view, usable = VIEWS[name]
    before = view.clone()
    found = aligned_rows(view)
    assert torch.equal(found, before) and torch.equal(view, before) and (found is view) == usable
    assert found.stride(1) == 1 and found.stride(0) % ALIGNMENT == 0 and found.data_ptr() % 16 == 0


def test_half_numbers_have_to_start_at_a_multiple_of_eight():
    half = WIDE.half()
    assert aligned_rows(half[:, 8:]).data_ptr() == half[:, 8:].data_ptr()
    assert aligned_rows(half[:, 4:]).data_ptr() != half[:, 4:].data_ptr()
    assert torch.equal(aligned_rows(half[:, 4:]), half[:, 4:])


def test_rows_beyond_two_to_the_31_numbers_are_not_copied():
    huge = torch.empty_strided((2**20, 4096), (4096, 1), device="meta")       # 2^32 numbers that nobody stores
    assert aligned_rows(huge) is huge and huge.numel() > 2**31


@given(st.integers(0, 10_000))
def test_a_padded_width_is_the_next_multiple_of_16(n):
    assert padded_width(n) % ALIGNMENT == 0 and n <= padded_width(n) < n + ALIGNMENT


@given(st.integers(0, 10**7), st.integers(1, 10**8))
def test_a_block_of_products_is_never_empty_and_never_larger_than_its_bound(n, columns):
    rows = rows_per_block(n, columns)
    assert 1 <= rows <= max(1, n)
    assert rows == 1 or 4 * rows * columns <= layout.MOST_BYTES
    assert rows == n or rows == 1 or 4 * (rows + 1) * columns > layout.CACHE_BYTES       # not smaller than it needs to be


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_products_are_float32_whatever_goes_in(dtype):
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(5, 300, generator=generator).to(dtype), torch.randn(300, 7, generator=generator).to(dtype)
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
    for rows, dots, room in row_products(a, b):
        assert dots.shape == room.shape == (rows.stop - rows.start, m) and dots.stride() == room.stride() == (padded_width(m), 1)
        seen += range(rows.start, rows.stop)
        whole[rows] = dots
    assert seen == list(range(n))
    torch.testing.assert_close(whole, a @ b.T)


def test_float32_products_of_a_kernel_are_not_rounded_to_tf32(monkeypatch):
    monkeypatch.setattr(layout, "interpreting", lambda: False)
    monkeypatch.setattr(torch.version, "hip", None)
    assert precision(torch.float32) == precision("float32") == "tf32x3" and precision(torch.bfloat16) == "tf32"
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert precision("float32") == "ieee"
    monkeypatch.setattr(layout, "interpreting", lambda: True)
    assert precision("float32") == "ieee"
