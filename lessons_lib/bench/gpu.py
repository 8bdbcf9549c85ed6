"""Runs the contests of `gpu_cases` on a GPU within a time budget: checks first, then times, memory
and share of the floor.

A case that fails, a peer that is missing or runs out of memory costs its own row and not the run:
machines with a GPU are lent for minutes. Without CUDA no row is made. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import kernels
from .ceilings import Ceilings, Timer, gpu_ceilings
from .gpu_cases import Contest, Sides, contests, training_contests
from .measure import PeerMissing, Row, ceiling_rows, seconds_of, significant

GROUP = "kernels-gpu"
BUDGET = 440.0                                  # seconds after which no further case or peer starts
PEER_TOLERANCE = 5e-2                           # plain autocast rounds to bfloat16 and is 2 % off
LEFT_OUT = "left out: the time budget was spent"


@dataclass(frozen=True)
class Instruments:
    """What measures work: two timers in seconds, and MB above those held before; on a device."""

    timer: Timer
    graph_timer: Timer
    peak_mb: Callable[[Callable[[], Any]], float]
    device: str


def cuda_instruments() -> Instruments:
    """Triton's timer (caches cleared before each run) and torch's memory counter."""
    import torch
    from triton import testing
    def seconds(bench: Callable[..., Any]) -> Timer:
        return lambda work: tuple(ms / 1e3 for ms in bench(work, quantiles=[0.5, 0.2, 0.8]))

    def peak_mb(work: Callable[[], Any]) -> float:
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        work()
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 1e6
    return Instruments(seconds(testing.do_bench), seconds(testing.do_bench_cudagraph), peak_mb,
                       "cuda")


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
    full = "out of memory" in str(error).lower()
    return "out of memory" if full else f"failed: {type(error).__name__}: {text[:120]}"


def _our_row(contest: Contest, sides: Sides, row: Row, tools: Instruments,
             ceilings: Ceilings) -> Row:
    """Our time, after the check against float64."""
    error = sides.error()
    if not error <= contest.tolerance:
        return replace(row, met=False, note=f"error {error:.2g} against float64: no time counts")
    with kernels.trace() as trace:              # kernels and blocks, or why no kernel ran
        sides.ours()
    launches = {name: " ".join(f"{k}={v}" for k, v in config.items())
                for run in trace.runs for name, _, config in run.launches}
    config = "; ".join(f"{name} {config}" for name, config in launches.items()) or "; ".join(
        f"{run.backend}: {run.reason}" for run in trace.runs)
    extra, note = tools.peak_mb(sides.ours), f"error {error:.1g}"
    times = seconds_of("ours", tools.timer(sides.ours))
    if contest.short:
        launched = 1e3 * times["ours_seconds"]
        note += f"; timed as a recorded graph; {launched:.3g} ms when launched from Python"
        times = seconds_of("ours", tools.graph_timer(sides.ours))
    median, floor = times["ours_seconds"], ceilings.floor(contest.needs, contest.precision)
    return replace(row, value=significant(1e3 * median), floor_seconds=significant(floor),
                   met=None if contest.goal_ms is None else 1e3 * median <= contest.goal_ms,
                   of_floor=round(floor / median, 3), extra_mb=round(extra, 1), config=config,
                   note=note, **times)


def _peer_row(contest: Contest, ours: Row, sides: Sides, peer: str, tools: Instruments) -> Row:
    """One peer beside our time; it has no ratio unless its result is ours."""
    theirs, goal = sides.peers[peer]
    row = replace(ours, peer=peer, value=None, value_unit="times faster", met=None, note="",
                  goal=f">= {goal:g}", gate=f"equal to ours within {PEER_TOLERANCE:g}", config="")
    try:
        error = sides.gap(theirs(), sides.ours())
        if not error <= PEER_TOLERANCE:
            return replace(row, note=f"its result differs from ours by {error:.2g}: no ratio")
        extra = tools.peak_mb(theirs)
        timer = tools.graph_timer if contest.short else tools.timer
        times = seconds_of("peer", timer(theirs))
    except Exception as error:
        return replace(row, note=_reason(error))
    ratio = times["peer_seconds"] / ours.ours_seconds
    return replace(row, value=round(ratio, 2), met=ratio >= goal, peer_extra_mb=round(extra, 1),
                   note=f"differs from ours by {error:.1g}", **times)


def hold(contest: Contest, tools: Instruments, ceilings: Ceilings, *,
         in_time: Callable[[], bool]) -> Iterator[Row]:
    """One contest: our row, then a row per peer while ``in_time()``, if ours has a time."""
    left_out = Row(GROUP, contest.name, "", None, "", "", None, note=LEFT_OUT)
    row = replace(left_out, value_unit="ms", items=contest.items, item_unit=contest.unit, note="",
                  goal="" if contest.goal_ms is None else f"<= {contest.goal_ms:g} ms",
                  gate=f"error against float64 <= {contest.tolerance:g}")
    try:
        sides = contest.make(tools.device)
        ours = _our_row(contest, sides, row, tools, ceilings)
    except Exception as error:                  # one kernel's fault must not cost the other figures
        free()
        yield replace(row, met=False, note=_reason(error))
        return
    yield ours
    for peer in sides.peers if ours.value is not None else ():
        yield (_peer_row(contest, ours, sides, peer, tools) if in_time()
               else replace(left_out, peer=peer))
        free()


def within_budget(group: str, wanted: Iterable[Contest], *, tell: Callable[[str], None],
                  budget: float, clock: Callable[[], float]) -> Iterator[tuple]:
    """Contests one after the other, each with a function that says whether there is time left."""
    start = clock()

    def in_time() -> bool:
        return clock() - start <= budget

    for contest in wanted:
        late = not in_time()
        tell(f"{group}: {'left out for time: ' if late else ''}{contest.name}")
        yield contest, None if late else in_time
        free()


def rows(*, tell: Callable[[str], None], only: str = "", budget: float = BUDGET,
         tools: Instruments | None = None, wanted: Iterable[Contest] | None = None,
         clock: Callable[[], float] = time.monotonic) -> Iterator[Row]:
    """The group: ceilings, then the contests whose name holds ``only``. Without CUDA one line says
    so and there is no row. ``tools``, ``wanted`` and ``clock`` are for tests."""
    import torch
    if tools is None and not torch.cuda.is_available():
        tell(f"{GROUP}: no CUDA device here, so no GPU was measured and no GPU row is written")
        return
    tools = tools or cuda_instruments()
    every = [contest for contest in (*contests(), *training_contests()) if only in contest.name]
    tell(f"{GROUP}: ceilings")
    ceilings = gpu_ceilings(tools.timer, device=tools.device)
    yield from ceiling_rows(GROUP, ceilings)
    for contest, in_time in within_budget(GROUP, wanted or every, tell=tell, budget=budget,
                                          clock=clock):
        if in_time:
            yield from hold(contest, tools, ceilings, in_time=in_time)
        else:
            yield Row(GROUP, contest.name, "", None, "", "", None, note=LEFT_OUT)
