"""Tries other block sizes for each kernel on a GPU and says which is fastest, beside the one in the table.

The candidates are the neighbours of the table's entry: one size doubled or halved, other warps, other stages. Nothing is written: whether a
gain justifies a new entry in ``configs.json``, and whether the compiled kernel still neither spills nor asks for too much memory, is for a
person to decide. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..kernels.configs import Blocks, other_blocks
from .gpu import Instruments, cuda_instruments, free, no_cuda
from .gpu_cases import Contest, Sides, contests
from .measure import Row, significant

__all__ = ["GROUP", "neighbours", "rows", "try_blocks", "used_blocks"]

GROUP = "blocks-gpu"
BUDGET = 440.0
SMALLEST = 16


def neighbours(blocks: Blocks) -> list[Blocks]:
    """The entries that differ from ``blocks`` in one thing: a size (doubled, halved), the warps (4 or 8), the stages (one more, one less)."""
    powers = {name: size for name, size in blocks.sizes.items() if isinstance(size, int) and size >= SMALLEST}
    changes = [{name: other} for name, size in powers.items() for other in (2 * size, size // 2) if other >= SMALLEST]
    found = [replace(blocks, sizes=blocks.sizes | change) for change in changes]
    found += [replace(blocks, num_warps=warps) for warps in (4, 8) if warps != blocks.num_warps]
    return found + [replace(blocks, num_stages=n) for n in (blocks.num_stages - 1, blocks.num_stages + 1) if n >= 1]


def used_blocks(work: Callable[[], Any]) -> list[Blocks]:
    """The entries of the table that one call of ``work`` launches with, one per kernel."""
    seen: dict[str, Blocks] = {}

    def note(blocks: Blocks) -> Blocks:
        return seen.setdefault(blocks.kernel, blocks)

    with other_blocks(note):
        work()
    return list(seen.values())


def _words(blocks: Blocks) -> str:
    return " ".join(f"{k}={v}" for k, v in blocks.options().items())


def _timed(work: Callable[[], Any], blocks: Blocks, tools: Instruments, same: Callable[[Any], bool]) -> float | None:
    """Seconds with other blocks for one kernel, or None where they cannot run or change the result."""
    def change(entry: Blocks) -> Blocks:
        return blocks if entry.kernel == blocks.kernel else entry

    with other_blocks(change):
        try:
            return tools.timer(work)[0] if same(work()) else None
        except Exception:                       # too much shared memory, a shape the compiler refuses: a candidate less
            return None


def try_blocks(name: str, sides: Sides, tools: Instruments, *, tolerance: float,
               in_time: Callable[[], bool] = lambda: True) -> Iterator[Row]:
    """For every kernel that ``sides.ours`` launches, the fastest blocks found.

    Parameters: name of the contest; tolerance, how far results with other blocks may lie from those with the table's. Yields one `Row` per
    kernel: ``value`` is the best time of the whole call in ms, ``config`` the blocks, ``note`` the table's blocks and time. Stops trying
    when ``in_time()`` is false.
    """
    work, expected = sides.ours, sides.ours()
    for entry in used_blocks(work):
        base = tools.timer(work)[0]
        tried = [(entry, base)]
        for blocks in neighbours(entry):
            seconds = _timed(work, blocks, tools, lambda result: sides.gap(result, expected) <= tolerance) if in_time() else None
            tried += [] if seconds is None else [(blocks, seconds)]
        best, seconds = min(tried, key=lambda pair: pair[1])
        note = f"table: {_words(entry)}, {1e3 * base:.4g} ms; {len(tried)} of {1 + len(neighbours(entry))} ran"
        yield Row(GROUP, f"{entry.kernel}: {name}", "", significant(1e3 * seconds), "ms", "", None, significant(seconds),
                  peer_seconds=significant(base), config=_words(best), note=note)


def rows(*, tell: Callable[[str], None], only: str = "", budget: float = BUDGET, tools: Instruments | None = None,
         wanted: Iterable[Contest] | None = None, clock: Callable[[], float] = time.monotonic) -> Iterator[Row]:
    """The group: every contest that launches a kernel. Without CUDA (and without ``tools``) one line says so and there is no row."""
    if tools is None and no_cuda():
        tell(f"{GROUP}: no CUDA device here, so no block sizes were tried")
        return
    tools, start = tools or cuda_instruments(), clock()
    for contest in (c for c in contests() if only in c.name) if wanted is None else wanted:
        if clock() - start > budget:
            tell(f"{GROUP}: left out for time: {contest.name}")
            continue
        tell(f"{GROUP}: {contest.name}")
        try:
            yield from try_blocks(contest.name, contest.make(tools.device), tools, tolerance=contest.tolerance,
                                  in_time=lambda: clock() - start <= budget)
        except Exception as error:
            tell(f"{GROUP}: {contest.name}: {type(error).__name__}: {str(error)[:200]}")
        free()
