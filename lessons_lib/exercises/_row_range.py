"""The exercise of lesson ``15_gpu_kernels`` that is a Triton kernel: the range of each row, judged
in Triton's interpreter or on a GPU.

Answers are plain functions here and become kernels in the judge, so their text can be shown. Where
Triton is missing there is no such exercise.
"""

from __future__ import annotations

from typing import Any

import torch

from ..core import generator
from ..kernels.interpreter import broken_triton, interpreting, missing_triton
from ._declare import CaseJudge, by_name
from .base import Exercise

__all__ = ["exercises"]

if not (missing_triton() or broken_triton()):
    import triton
    import triton.language as tl

ELSEWHERE = 1e6  # what lies between the rows: it belongs to somebody else
BLOCK = 4
# rows, columns, stride, centre
CASES = [(1, 4, 4, 3.0), (2, 8, 8, 0.0), (1, 6, 6, 5.0), (1, 6, 6, -5.0), (3, 5, 8, 2.0),
         (3, 10, 16, -2.0)]


def _solve_row_range(x_ptr, out_ptr, n_columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest, smallest = -float("inf"), float("inf")
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < n_columns
        # neutral for the maximum
        x = tl.load(x_ptr + row * stride + columns, mask=inside, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x, 0))
        # and for the minimum
        smallest = tl.minimum(smallest, tl.min(tl.where(inside, x, float("inf")), 0))
    tl.store(out_ptr + row, largest - smallest)


def _wrong_neighbour(x_ptr, out_ptr, n_columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest, smallest = -float("inf"), float("inf")
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < n_columns
        x = tl.load(x_ptr + row * n_columns + columns, mask=inside, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x, 0))
        smallest = tl.minimum(smallest, tl.min(tl.where(inside, x, float("inf")), 0))
    tl.store(out_ptr + row, largest - smallest)


def _wrong_zero(x_ptr, out_ptr, n_columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest, smallest = -float("inf"), float("inf")
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n_columns, other=0.0)
        largest = tl.maximum(largest, tl.max(x, 0))
        smallest = tl.minimum(smallest, tl.min(x, 0))
    tl.store(out_ptr + row, largest - smallest)


def _wrong_minimum(x_ptr, out_ptr, n_columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest, smallest = -float("inf"), float("inf")
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n_columns, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x, 0))
        smallest = tl.minimum(smallest, tl.min(x, 0))
    tl.store(out_ptr + row, largest - smallest)


def _wrong_unmasked(x_ptr, out_ptr, n_columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest, smallest = -float("inf"), float("inf")
    for start in range(0, n_columns, BLOCK):
        x = tl.load(x_ptr + row * stride + start + tl.arange(0, BLOCK))
        largest = tl.maximum(largest, tl.max(x, 0))
        smallest = tl.minimum(smallest, tl.min(x, 0))
    tl.store(out_ptr + row, largest - smallest)


def _table(case: tuple[int, int, int, float]) -> torch.Tensor:
    """The rows of a case, ``stride`` numbers apart, with room behind the last one; between them
    lies what is not ours.
    """
    n_rows, n_columns, stride, centre = case
    table = torch.full((n_rows + 1, stride), ELSEWHERE)
    table[:n_rows, :n_columns] = torch.from_numpy(
        generator(n_columns).normal(size=(n_rows, n_columns)) * 0.5 + centre).float()
    return table


def _launched(mine: Any, table: torch.Tensor, n_rows: int, n_columns: int,
              stride: int) -> torch.Tensor:
    """What the kernel writes, one number per row; a kernel that runs elsewhere (``mine.launch``)
    gets arrays and sends them back.
    """
    out = torch.full((n_rows,), torch.nan)
    if hasattr(mine, "launch"):
        return torch.as_tensor(
            mine.launch((n_rows,), table.numpy(), out.numpy(), n_columns, stride, BLOCK=BLOCK)[1])
    kernel, device = triton.jit(getattr(mine, "fn", mine)), "cpu" if interpreting() else "cuda"
    out = out.to(device)
    try:
        kernel[(n_rows,)](table.to(device), out, n_columns, stride, BLOCK=BLOCK)
    except Exception as error:
        cause = error.__cause__ or error         # the interpreter wraps what the kernel raises
        raise cause from None
    return out.cpu()


def _check_rows(mine: Any, n_rows: int, n_columns: int, stride: int, centre: float) -> str | None:
    """Runs a kernel on a table of one shape and compares each row with PyTorch."""
    table = _table((n_rows, n_columns, stride, centre))
    out = _launched(mine, table, n_rows, n_columns, stride)
    rows = table[:n_rows, :n_columns]
    expected = rows.amax(1) - rows.amin(1)
    if out.shape != expected.shape:
        return f"expected {n_rows} numbers, one per row; yours has shape {tuple(out.shape)}"
    bad = torch.nonzero(~torch.isclose(out, expected, rtol=1e-5))[:, 0].tolist()
    if not bad:
        return None
    return (f"rows of {n_columns} numbers near {centre:g}, {stride} apart, in blocks of {BLOCK}: "
            f"row {bad[0]} gives {out[bad[0]]:.4g}, expected {expected[bad[0]]:.4g}")


def _fresh_tables(seed: int) -> list[tuple[int, int, int, float]]:
    """Rows with a gap and a last block that is not full, far above 0 and far below it: each wrong
    answer fails on one of them.
    """
    rng = generator(seed)
    n_rows, n_columns = (int(n) for n in rng.integers(2, 5, size=2))
    ragged = BLOCK * n_columns + int(rng.integers(1, BLOCK))
    return [(n_rows, ragged, ragged + int(rng.integers(1, 6)), float(centre))
            for centre in rng.uniform(3, 9, size=2) * (1, -1)]


def exercises() -> dict[str, Exercise]:
    """The exercise by name; empty without Triton."""
    if missing_triton() or broken_triton():
        return {}
    return by_name(
        Exercise("row_range",
            question="The largest minus the smallest number of each row, as a Triton kernel",
            judge=CaseJudge(_check_rows, tuple(CASES)), solution=_solve_row_range,
            fresh=_fresh_tables,
            wrong={"rows are taken to lie side by side": _wrong_neighbour,
                   "padding holds 0": _wrong_zero,
                   "padding is neutral for the maximum only": _wrong_minimum,
                   "no mask": _wrong_unmasked},
            hints=("Where does row number 2 start, if rows lie 8 numbers apart and have 5 numbers "
                   "each?",
                   "What may a padding lane hold, so that no maximum changes? And so that no "
                   "minimum changes? It is not the same number.",
                   "One load can hand out one `other`. For the second job replace the padding "
                   'lanes: tl.where(inside, x, float("inf")).')))
