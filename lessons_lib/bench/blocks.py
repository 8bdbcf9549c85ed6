"""Tries other block sizes for each kernel on a GPU and says which is fastest, beside the table's.

The candidates are the neighbours of the table's entry. Nothing is written: whether a gain justifies
a new entry in ``configs.json``, and whether the compiled kernel still neither spills nor asks for
too much memory, is for a person to decide. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..kernels.configs import Blocks, other_blocks
from .gpu import BUDGET, Instruments, cuda_instruments, within_budget
from .gpu_cases import Contest, Sides, contests
from .measure import Row, significant

GROUP = "blocks-gpu"
SMALLEST = 16


def neighbours(blocks: Blocks) -> list[Blocks]:
    """The entries that differ from ``blocks`` in one thing. A size (doubled, halved), the warps (4
    or 8), or the stages (one more, one less)."""
    powers = {name: size for name, size in blocks.sizes.items()
              if isinstance(size, int) and size >= SMALLEST}
    return [replace(blocks, sizes=blocks.sizes | {name: other}) for name, size in powers.items()
            for other in (2 * size, size // 2) if other >= SMALLEST] + [
        replace(blocks, num_warps=warps) for warps in (4, 8) if warps != blocks.num_warps] + [
        replace(blocks, num_stages=n) for n in (blocks.num_stages - 1, blocks.num_stages + 1)
        if n >= 1]


def used_blocks(work: Callable[[], Any]) -> list[Blocks]:
    """The entries of the table that one call of ``work`` launches with, one per kernel."""
    seen: dict[str, Blocks] = {}
    with other_blocks(lambda blocks: seen.setdefault(blocks.kernel, blocks)):
        work()
    return list(seen.values())


def _timed(work: Callable[[], Any], blocks: Blocks, tools: Instruments,
           same: Callable[[Any], bool]) -> float | None:
    """Seconds with other blocks for one kernel, or None where they fail or change the result."""
    with other_blocks(lambda entry: blocks if entry.kernel == blocks.kernel else entry):
        try:
            return tools.timer(work)[0] if same(work()) else None
        except Exception:                       # too much shared memory, a shape refused
            return None


def try_blocks(name: str, sides: Sides, tools: Instruments, *, tolerance: float,
               in_time: Callable[[], bool] = lambda: True) -> Iterator[Row]:
    """For every kernel that ``sides.ours`` launches, the fastest blocks with the same results.
    ``value`` is the best time of the whole call in ms, ``config`` the blocks, ``note`` the table's
    blocks and time. Stops trying when ``in_time()`` is false."""
    work, expected = sides.ours, sides.ours()

    def words(blocks: Blocks) -> str:
        return " ".join(f"{k}={v}" for k, v in blocks.options().items())

    def same(result: Any) -> bool:
        return sides.gap(result, expected) <= tolerance

    for entry in used_blocks(work):
        base, others = tools.timer(work)[0], neighbours(entry)
        tried = [(blocks, _timed(work, blocks, tools, same)) for blocks in others if in_time()]
        ran = [(entry, base), *(pair for pair in tried if pair[1] is not None)]
        best, seconds = min(ran, key=lambda pair: pair[1])
        note = f"table: {words(entry)}, {1e3 * base:.4g} ms; {len(ran)} of {1 + len(others)} ran"
        yield Row(GROUP, f"{entry.kernel}: {name}", "", significant(1e3 * seconds), "ms", "", None,
                  significant(seconds), peer_seconds=significant(base), config=words(best),
                  note=note)


def rows(*, tell: Callable[[str], None], only: str = "", budget: float = BUDGET,
         tools: Instruments | None = None, wanted: Iterable[Contest] | None = None,
         clock: Callable[[], float] = time.monotonic) -> Iterator[Row]:
    """The group: every contest that launches a kernel; without CUDA a line says so."""
    import torch
    if tools is None and not torch.cuda.is_available():
        tell(f"{GROUP}: no CUDA device here, so no block sizes were tried")
        return
    tools = tools or cuda_instruments()
    every = [contest for contest in contests() if only in contest.name]
    for contest, in_time in within_budget(GROUP, wanted or every, tell=tell, budget=budget,
                                          clock=clock):
        try:
            if in_time:
                yield from try_blocks(contest.name, contest.make(tools.device), tools,
                                      tolerance=contest.tolerance, in_time=in_time)
        except Exception as error:
            tell(f"{GROUP}: {contest.name}: {type(error).__name__}: {str(error)[:200]}")
