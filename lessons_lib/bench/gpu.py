"""Runs the contests of `gpu_cases` on a GPU: checks first, then times, memory and share of the floor, within a time budget.

A case that fails, a peer that is missing or runs out of memory costs its own row and not the run: machines with a GPU are lent for minutes.
Without CUDA no row is made. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from . import ceilings, gpu_models
from .ceilings import Ceilings, Timer
from .gpu_cases import Contest, Peer, Sides, contests
from .measure import PeerMissing, Row, significant

__all__ = ["BUDGET", "GROUP", "Instruments", "cuda_instruments", "free", "hold", "no_cuda", "rows"]

GROUP = "kernels-gpu"
BUDGET = 440.0                                  # seconds after which no further case or peer starts
PEER_TOLERANCE = 5e-2                           # plain autocast rounds its logits to bfloat16 and is 2 % off


@dataclass(frozen=True)
class Instruments:
    """What measures: timer and graph_timer, work -> (median, low, high) in seconds; peak_mb, work -> MB above those held before; device."""

    timer: Timer
    graph_timer: Timer
    peak_mb: Callable[[Callable[[], Any]], float]
    device: str


def _cuda_peak(work: Callable[[], Any]) -> float:
    import torch

    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    work()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def cuda_instruments() -> Instruments:
    """Triton's timer (caches cleared before each run; median, 20 and 80 % quantiles) and torch's memory counter."""
    from triton import testing

    def timer(work: Callable[[], Any]) -> tuple[float, float, float]:
        return tuple(ms / 1e3 for ms in testing.do_bench(work, quantiles=[0.5, 0.2, 0.8]))

    def graph_timer(work: Callable[[], Any]) -> tuple[float, float, float]:
        return tuple(ms / 1e3 for ms in testing.do_bench_cudagraph(work, quantiles=[0.5, 0.2, 0.8]))

    return Instruments(timer, graph_timer, _cuda_peak, "cuda")


def no_cuda() -> bool:
    """Whether torch sees no NVIDIA or AMD GPU."""
    import torch

    return not torch.cuda.is_available()


def free() -> None:
    """Give the memory of finished contests back."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _reason(error: Exception) -> str:
    """What went wrong, for the note of a row."""
    if isinstance(error, PeerMissing):
        return f"skipped: {error}"
    text = (str(error).splitlines() or [""])[0]
    return "out of memory" if "out of memory" in str(error).lower() else f"failed: {type(error).__name__}: {text[:120]}"


def _config(ours: Callable[[], Any]) -> str:
    """Kernels and blocks of one call, or the implementation and why no kernel ran."""
    from .. import kernels

    with kernels.trace() as trace:
        ours()
    launches = {name: " ".join(f"{k}={v}" for k, v in config.items()) for run in trace.runs for name, _, config in run.launches}
    reasons = (f"{run.backend}: {run.reason}" for run in trace.runs)
    return "; ".join(f"{name} {config}" for name, config in launches.items()) or "; ".join(reasons)


def _empty_row(contest: Contest) -> Row:
    """The row of our side with no figure yet."""
    goal = "" if contest.goal_ms is None else f"<= {contest.goal_ms:g} ms"
    return Row(GROUP, contest.name, "", None, "ms", goal, None, items=contest.items, item_unit=contest.unit,
               gate=f"error against float64 <= {contest.tolerance:g}")


def _our_row(contest: Contest, sides: Sides, tools: Instruments, found: Ceilings) -> Row:
    """Our time, after the check against float64."""
    error = sides.error()
    if not error <= contest.tolerance:
        return replace(_empty_row(contest), met=False, note=f"error {error:.2g} against float64: no time counts")
    config, extra, note = _config(sides.ours), tools.peak_mb(sides.ours), ""
    median, low, high = tools.timer(sides.ours)
    if contest.short:
        note = f"timed as a recorded graph; {1e3 * median:.3g} ms when launched from Python"
        median, low, high = tools.graph_timer(sides.ours)
    floor = found.floor(contest.needs, contest.precision)
    met = None if contest.goal_ms is None else 1e3 * median <= contest.goal_ms
    return replace(_empty_row(contest), value=significant(1e3 * median), met=met, ours_seconds=significant(median), ours_low=significant(low),
                   ours_high=significant(high), floor_seconds=significant(floor), of_floor=round(floor / median, 3), extra_mb=round(extra, 1),
                   config=config, note=f"error {error:.1g}" + (f"; {note}" if note else ""))


def _peer_row(contest: Contest, ours: Row, sides: Sides, peer: Peer, tools: Instruments) -> Row:
    """One peer beside our time; a result that is not ours within `PEER_TOLERANCE` has no ratio."""
    empty = replace(ours, peer=peer.name, value=None, value_unit="times faster", goal="" if peer.goal is None else f">= {peer.goal:g}",
                    met=None, note="", gate=f"equal to ours within {PEER_TOLERANCE:g}", config="")
    try:
        error = sides.gap(peer.run(), sides.ours())
        if not error <= PEER_TOLERANCE:
            return replace(empty, note=f"its result differs from ours by {error:.2g}: no ratio")
        extra = tools.peak_mb(peer.run)
        median, low, high = (tools.graph_timer if contest.short else tools.timer)(peer.run)
    except Exception as error:
        return replace(empty, note=_reason(error))
    ratio = median / ours.ours_seconds
    return replace(empty, value=round(ratio, 2), met=None if peer.goal is None else ratio >= peer.goal, peer_seconds=significant(median),
                   peer_low=significant(low), peer_high=significant(high), peer_extra_mb=round(extra, 1),
                   note=f"differs from ours by {error:.1g}")


def hold(contest: Contest, tools: Instruments, found: Ceilings, *, in_time: Callable[[], bool]) -> Iterator[Row]:
    """One contest: our row, then a row per peer while ``in_time()``. Without a time of ours the peers are not run."""
    try:
        sides = contest.make(tools.device)
        ours = _our_row(contest, sides, tools, found)
    except Exception as error:                  # a fault of one kernel must not cost the figures of the others
        free()
        yield replace(_empty_row(contest), met=False, note=_reason(error))
        return
    yield ours
    for peer in sides.peers if ours.value is not None else ():
        yield _peer_row(contest, ours, sides, peer, tools) if in_time() else _left_out(contest, peer.name)
        free()


def _left_out(contest: Contest, peer: str = "") -> Row:
    return Row(GROUP, contest.name, peer, None, "", "", None, note="left out: the time budget was spent")


def _wanted(only: str) -> Iterable[Contest]:
    return [contest for contest in (*contests(), *gpu_models.contests()) if only in contest.name]


def rows(*, tell: Callable[[str], None], only: str = "", budget: float = BUDGET, tools: Instruments | None = None,
         wanted: Iterable[Contest] | None = None, clock: Callable[[], float] = time.monotonic) -> Iterator[Row]:
    """The group: ceilings, then the contests. Without CUDA (and without ``tools``) one line says so and there is no row.

    Parameters: only, a part of the names wanted; budget, seconds after which nothing new starts; the rest is for tests.
    """
    if tools is None and no_cuda():
        tell(f"{GROUP}: no CUDA device here, so no GPU was measured and no GPU row is written")
        return
    tools, start = tools or cuda_instruments(), clock()
    tell(f"{GROUP}: ceilings")
    found = ceilings.gpu_ceilings(tools.timer, device=tools.device)
    yield from ceilings.rows(GROUP, found)
    for contest in _wanted(only) if wanted is None else wanted:
        if clock() - start > budget:
            tell(f"{GROUP}: left out for time: {contest.name}")
            yield _left_out(contest)
            continue
        tell(f"{GROUP}: {contest.name}")
        yield from hold(contest, tools, found, in_time=lambda: clock() - start <= budget)
        free()
