"""One fair race: warm both sides up, check that they give the same result, run them in turn, report medians and their ratio.

Running in turn (ours, peer, ours, peer, …) lets both sides meet the same noise. Used by ``lessons bench``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core import check_int
from .peak import peak_bytes
from .work import Work

if TYPE_CHECKING:
    from .ceilings import Ceilings

__all__ = ["Case", "PeerMissing", "Row", "Unequal", "Verdict", "fixed_threads", "measure", "race", "significant", "wall_timer"]


MOST_TURNS = 100


class Unequal(ValueError):
    """The results of both sides differ: a speed without equal quality is no speed. ``row`` is the line of the table, without a figure."""

    def __init__(self, text: str, row: Row) -> None:
        super().__init__(text)
        self.row = row


class PeerMissing(Exception):
    """A peer cannot run here; the text says why. The case is reported as skipped, with this reason."""


@dataclass(frozen=True)
class Verdict:
    """What a quality gate found: whether the results count as equal, and the scores of both sides in words. True where they do."""

    equal: bool
    ours: str
    theirs: str

    def __bool__(self) -> bool:
        return self.equal


@dataclass(frozen=True)
class Case:
    """A race.

    Parameters: group and name; peer, what the other side is called; ours, theirs, functions without arguments that do the whole work; equal,
    says whether the two results agree (the quality gate), or gives a `Verdict` where scores are compared; items, how much work one run is,
    counted in ``unit``; goal, the ratio to reach; gate, in words what ``equal`` demands; work, operations and bytes that cannot be avoided, with
    the ``precision`` of the products; memory, watch the process in one more run of each side. ``theirs=None``: nothing can run beside it at this
    size; then goal is in seconds and ``equal(ours, None)`` judges the result alone.

    seeded: results are random, and each timed run has a seed of its own. Then ``ours(seed)`` and ``theirs(seed)`` prepare what no clock measures and
    return the work, and ``equal`` gets the results of all runs, as two lists; judged, taken of each result when the clock has stopped, where a whole
    one is too large to keep.
    """

    group: str
    name: str
    peer: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any] | None
    equal: Callable[[Any, Any], bool | Verdict]
    items: int
    unit: str
    goal: float
    gate: str
    work: Work | None = None
    precision: str = "float32"
    memory: bool = False
    seeded: bool = False
    judged: Callable[[Any], Any] = lambda result: result


@dataclass(frozen=True)
class Row:
    """One measured line.

    For a race: seconds of both sides and ``value`` = their ratio; for memory: ``value`` in MB. ``met``: the goal is reached.
    ``low`` and ``high`` are the fastest and slowest run (on a GPU the 20 and 80 % quantiles); ``floor_seconds`` is the time that the
    machine's ceilings allow and ``of_floor`` its share of our median; ``extra_mb`` is peak memory above the inputs; ``quality`` and
    ``peer_quality`` are the scores that the gate compared. What was not measured is None, and ``note`` says why.
    """

    group: str
    name: str
    peer: str
    value: float | None
    value_unit: str
    goal: str
    met: bool | None
    ours_seconds: float | None = None
    ours_low: float | None = None
    ours_high: float | None = None
    peer_seconds: float | None = None
    items: int | None = None
    item_unit: str = ""
    gate: str = ""
    peer_low: float | None = None
    peer_high: float | None = None
    floor_seconds: float | None = None
    of_floor: float | None = None
    extra_mb: float | None = None
    peer_extra_mb: float | None = None
    config: str = ""
    note: str = ""
    quality: str = ""
    peer_quality: str = ""


def significant(value: float | None) -> float | None:
    """Four significant figures: enough for a table, from microseconds to minutes."""
    return None if value is None else float(f"{value:.4g}")


@contextlib.contextmanager
def fixed_threads(n: int) -> Iterator[None]:
    """Both sides get ``n`` threads: torch, Numba, and the linear algebra under NumPy and scikit-learn."""
    import numba
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads(), numba.get_num_threads()
    with threadpool_limits(n):
        torch.set_num_threads(n)
        numba.set_num_threads(min(n, numba.config.NUMBA_NUM_THREADS))
        try:
            yield
        finally:
            torch.set_num_threads(before[0])
            numba.set_num_threads(before[1])


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def wall_timer(repeats: int) -> Callable[[Callable[[], Any]], tuple[float, float, float]]:
    """A timer: one warm-up, then ``repeats`` runs; gives median, fastest and slowest in seconds."""
    def timer(work: Callable[[], Any]) -> tuple[float, float, float]:
        work()
        seconds = [_seconds(work) for _ in range(repeats)]
        return statistics.median(seconds), min(seconds), max(seconds)

    return timer


def _turns(case: Case, repeats: int, at_least: float) -> tuple[list[float], list[float]]:
    """Seconds of our runs and of the peer's (empty without one), one after the other."""
    ours, theirs = [], []
    while len(ours) < repeats or (len(ours) < MOST_TURNS and sum(ours) + sum(theirs) < at_least):
        ours.append(_seconds(case.ours))
        if case.theirs is not None:
            theirs.append(_seconds(case.theirs))
    return ours, theirs


def _seeds(case: Case, repeats: int) -> tuple[tuple[list[float], list[float]], tuple[list[Any], list[Any]]]:
    """Seconds and results of both sides, seed by seed; ours has run once before, so that everything is compiled."""
    seconds, results = ([], []), ([], [])
    case.ours(0)()
    for seed in range(repeats):
        for side, prepare in enumerate((case.ours, case.theirs)):
            work = prepare(seed)
            start = time.perf_counter()
            result = work()
            seconds[side].append(time.perf_counter() - start)
            results[side].append(case.judged(result))
            del work, result
    return seconds, results


def measure(case: Case, *, repeats: int = 3, ceilings: Ceilings | None = None, at_least: float = 0.0) -> Row:
    """Race both sides in turn, after one warm-up each.

    Parameters: repeats, runs of each side; more of them, at most `MOST_TURNS`, until all took ``at_least`` seconds together, because the shortest
    work is the noisiest; ceilings, of this machine, give the floor of a case that states its work. Returns a `Row` with medians; ``ours_low``
    and ``ours_high`` are the fastest and the slowest run. A peer that raises `PeerMissing` gives a row with its reason and no figure. Raises
    `Unequal` when the results differ.
    """
    check_int("repeats", repeats)
    goal = f">= {case.goal:g}" if case.theirs is not None else f"<= {case.goal:g} s"
    times = None
    try:
        if case.seeded:
            times, (found, expected) = _seeds(case, repeats)
        else:
            found, expected = case.ours(), case.theirs() if case.theirs is not None else None
    except PeerMissing as missing:
        return Row(case.group, case.name, case.peer, None, "", goal, None, note=f"skipped: {missing}")
    verdict = case.equal(found, expected)
    scores = (verdict.ours, verdict.theirs) if isinstance(verdict, Verdict) else ("", "")
    if not verdict:
        row = Row(case.group, case.name, case.peer, None, "", goal, False, gate=case.gate, note="no figure: the results differ", quality=scores[0],
                  peer_quality=scores[1])
        raise Unequal(f"{case.group}/{case.name}: the results differ from those of {case.peer}; the gate was: {case.gate}"
                      + (f"\nours {scores[0]}; theirs {scores[1]}" if scores[0] else ""), row)
    del found, expected
    extra = [peak_bytes(side)[0] / 1e6 if case.memory and side is not None else None for side in (case.ours, case.theirs)]
    row = _row(case, goal, times or _turns(case, repeats, at_least), extra, ceilings)
    return dataclasses.replace(row, quality=scores[0], peer_quality=scores[1])


def _row(case: Case, goal: str, times: tuple[list[float], list[float]], extra: Sequence[float | None], ceilings: Ceilings | None) -> Row:
    ours, theirs = times
    median = statistics.median(ours)
    value = statistics.median(b / a for a, b in zip(ours, theirs, strict=True)) if theirs else median
    met = value >= case.goal if theirs else value <= case.goal
    floor = ceilings.floor(case.work, case.precision) if ceilings and case.work else None
    spread = (significant(min(ours)), significant(max(ours)))
    peer = [significant(f(theirs)) for f in (statistics.median, min, max)] if theirs else [None] * 3
    return Row(case.group, case.name, case.peer, round(value, 2), "times faster" if theirs else "s", goal, met, significant(median), *spread,
               peer[0], case.items, case.unit, case.gate, peer[1], peer[2], significant(floor), None if floor is None else round(floor / median, 3),
               *(None if mb is None else round(mb, 1) for mb in extra))


def race(cases: Iterable[Case], *, repeats: int, tell: Callable[[str], None], ceilings: Ceilings | None = None,
         at_least: float = 0.0) -> Iterator[Row]:
    """Measure cases one after the other; ``tell`` gets the name of each before it starts. Unequal results give a row without a figure."""
    for case in cases:
        tell(f"{case.group}: {case.name}, beside {case.peer}" if case.peer else f"{case.group}: {case.name}")
        try:
            yield measure(case, repeats=repeats, ceilings=ceilings, at_least=at_least)
        except Unequal as error:
            tell(str(error))
            yield error.row
