"""One fair race: warm both sides up, check that they give the same result, run them in turn, report
medians and their ratio.

Running in turn (ours, peer, ours, peer, …) lets both sides meet the same noise. ``wall_timer`` is
used in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import importlib
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from ..core import available_cores, check_int
from .ceilings import Ceilings
from .memory import in_fresh_process, peak_bytes
from .work import Work

MOST_TURNS = 100


class PeerMissing(Exception):
    """A peer cannot run here, for the reason in the text; the case is reported as skipped."""


def peer_module(name: str, package: str = "") -> ModuleType:
    """Import what a peer needs. Raises PeerMissing with the package to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = package or name.split(".")[0]
        raise PeerMissing(f"{package} is not installed (pip install {package})") from error


@dataclass(frozen=True)
class Verdict:
    """What a quality gate found; true where the results count as equal.

    Parameters
    ----------
    equal : bool, whether they do
    ours, theirs : str, the scores of both sides, in words
    """

    equal: bool
    ours: str
    theirs: str

    def __bool__(self) -> bool:
        return self.equal


@dataclass(frozen=True)
class Case:
    """A race: the inputs are inside ``ours`` and ``theirs``, and ``equal`` is the quality gate.

    Parameters
    ----------
    group, name, peer : str
        Where the row belongs; what is measured; what the other side is called.
    ours, theirs : callable
        Functions without arguments that do the whole work. ``theirs=None``: nothing can run beside
        it at this size; then ``equal(ours, None)`` judges the result alone.
    equal : callable
        Says of both results whether they agree, by a bool or a `Verdict`.
    items, unit : int, str, how much work one run is, and what is counted
    goal : float, the ratio to reach; without a peer, seconds
    gate : str, in words what ``equal`` demands
    work, precision : Work or None, str, default None, "float32"
        What cannot be avoided, and the precision of the products in it.
    memory : bool, default False, watch the process in one more run of each side
    seeded : bool, default False
        Results are random and each timed run has its own seed: ``ours(seed)`` and ``theirs(seed)``
        prepare what no clock measures and return the work, and ``equal`` gets two lists of results.
    judged : callable, default: the result itself
        Taken of each result of a seeded run when the clock has stopped.
    runs : int or None, default None
        Seeded runs of each side; None: as many as `run` is told to repeat.
    threads : int or None, default None
        Threads of both sides; None leaves them as they are.
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
    runs: int | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Row:
    """One measured line of the table; what was not measured is None, and ``note`` says why.

    Parameters
    ----------
    group, name, peer : str, as in `Case`
    value, value_unit : float or None, str, of a race the peer's seconds over ours; of memory MB
    goal, met : str, bool or None, in words, and whether it is reached
    ours_seconds, ours_low, ours_high : float or None
        Median, fastest and slowest run; on a GPU the median, 20 and 80 % quantiles.
    peer_seconds, peer_low, peer_high : float or None, the same of the peer
    items, item_unit : int or None, str, work of one run
    gate, quality, peer_quality : str
        What was demanded of the results, and the scores that were compared.
    floor_seconds, of_floor : float or None
        The time that the machine's ceilings allow, and its share of our median.
    extra_mb, peer_extra_mb : float or None, peak memory above the inputs
    config, note : str, settings of the kernel or machine; a remark
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
    """Give all ``n`` threads: torch, Numba, and the linear algebra under NumPy and scikit-learn."""
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


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def wall_timer(repeats: int) -> Callable[[Callable[[], Any]], tuple[float, float, float]]:
    """A timer: one warm-up, then ``repeats`` runs; gives median, fastest and slowest in seconds."""
    def timer(work: Callable[[], Any]) -> tuple[float, float, float]:
        work()
        seconds = [_timed(work)[0] for _ in range(repeats)]
        return statistics.median(seconds), min(seconds), max(seconds)

    return timer


def seconds_of(side: str, times: tuple[float | None, ...]) -> dict[str, float | None]:
    """Median, low and high of "ours" or "peer", named as in a row."""
    names = (f"{side}_seconds", f"{side}_low", f"{side}_high")
    return dict(zip(names, map(significant, times), strict=True))


def measure(case: Case, *, repeats: int = 3, ceilings: Ceilings | None = None,
            at_least: float = 0.0) -> Row:
    """Race both sides in turn, after one warm-up each. ``repeats`` runs of each side, and more (at
    most `MOST_TURNS`) until all took ``at_least`` seconds, because the shortest work is the
    noisiest. Without the peer the row has the reason of `PeerMissing` and no figure, and so it is,
    not met, when the results differ."""
    check_int("repeats", repeats)
    n = case.threads
    with fixed_threads(min(n, available_cores())) if n else contextlib.nullcontext():
        return _measured(case, repeats, ceilings, at_least)


def _measured(case: Case, repeats: int, ceilings: Ceilings | None, at_least: float) -> Row:
    alone = case.theirs is None
    goal = f"<= {case.goal:g} s" if alone else f">= {case.goal:g}"
    row = Row(case.group, case.name, case.peer, None, "", goal, None)
    seconds: tuple[list[float], list[float]] = ([], [])
    try:
        if case.seeded:
            result, expected = results = ([], [])
            case.ours(0)()                      # so all is compiled
            for seed in range(case.runs or repeats):
                for side, prepare in enumerate((case.ours, case.theirs)):
                    took, made = _timed(prepare(seed))
                    seconds[side].append(took)
                    results[side].append(case.judged(made))
                    del made                    # a whole one may be too large to keep
        else:
            result, expected = case.ours(), None if alone else case.theirs()
    except PeerMissing as missing:
        return replace(row, note=f"skipped: {missing}")
    verdict, row = case.equal(result, expected), replace(row, gate=case.gate)
    if isinstance(verdict, Verdict):
        row = replace(row, quality=verdict.ours, peer_quality=verdict.theirs)
    if not verdict:
        return replace(row, met=False, note="no figure: the results differ")
    del result, expected
    extra = [round(peak_bytes(side)[0] / 1e6, 1) if case.memory and side is not None else None
             for side in (case.ours, case.theirs)]
    ours, theirs = seconds
    while not case.seeded and (len(ours) < repeats or (
            len(ours) < MOST_TURNS and sum(ours) + sum(theirs) < at_least)):
        ours.append(_timed(case.ours)[0])
        if not alone:
            theirs.append(_timed(case.theirs)[0])
    median, peer = statistics.median(ours), (None, None, None)
    value, unit, met = median, "s", median <= case.goal
    if theirs:
        value = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        unit, met = "times faster", value >= case.goal
        peer = statistics.median(theirs), min(theirs), max(theirs)
    floor = ceilings.floor(case.work, case.precision) if ceilings and case.work else None
    return replace(row, value=round(value, 2), value_unit=unit, met=met, items=case.items,
                   item_unit=case.unit, floor_seconds=significant(floor),
                   of_floor=None if floor is None else round(floor / median, 3), extra_mb=extra[0],
                   peer_extra_mb=extra[1], **seconds_of("ours", (median, min(ours), max(ours))),
                   **seconds_of("peer", peer))


def race(cases: Iterable[Case], *, repeats: int, tell: Callable[[str], None],
         ceilings: Ceilings | None = None, at_least: float = 0.0) -> Iterator[Row]:
    """Measure cases one after the other; ``tell`` gets the name of each before it starts."""
    for case in cases:
        tell(f"{case.group}: {case.name}" + (f", beside {case.peer}" if case.peer else ""))
        row = measure(case, repeats=repeats, ceilings=ceilings, at_least=at_least)
        if row.met is False and row.value is None:
            tell(f"{case.group}/{case.name}: the results differ from those of {case.peer}; "
                 f"the gate was: {case.gate}\nours {row.quality}; theirs {row.peer_quality}")
        yield row


def ceiling_rows(group: str, ceilings: Ceilings) -> Iterator[Row]:
    """The ceilings of a machine as rows of the table; they have no goal."""
    measured = {"copy": (ceilings.copy, "GB/s")} | {
        f"matrix product, {name}": (rate, "GFLOP/s") for name, rate in ceilings.products.items()}
    for name, (rate, unit) in measured.items():
        yield Row(group, f"ceiling: {name}", "", round(rate / 1e9, 1), unit, "", None,
                  config=ceilings.device)


def measure_memory(group: str, name: str, function: str, n: int, *, goal_mb: float | None = None,
                   goal_factor: float | None = None, goal_extra_mb: float = 0.0,
                   prepared: bool = False, peer: str = "", peer_function: str | None = None,
                   peer_needs: float = 0.0, unit: str = "documents") -> Row:
    """Measure the peak memory of ``function(n)`` in a fresh process, above what it held before.

    Parameters
    ----------
    group, name : str, of the row
    function : str
        ``"module:name"`` of a function that takes a size and returns the bytes of its result.
    n, unit : int, str, the size, and what it counts
    goal_mb, goal_factor, goal_extra_mb : float or None
        The goal in MB (10^6 bytes); without it, goal_factor x the result + goal_extra_mb.
    prepared : bool, default False
        ``function(n)`` makes the inputs and returns the work as a function without arguments.
    peer, peer_function : str, the other side, measured in the same way
    peer_needs : float, default 0, bytes that must be free for the peer to be tried

    Returns
    -------
    Row, with ``value`` in MB

    Raises
    ------
    RuntimeError : if a process fails
    """
    import psutil
    if psutil.virtual_memory().available < peer_needs:
        peer, peer_function = "", None
    peak, size = in_fresh_process(f"{group}/{name}", function, n, prepared)
    theirs = None
    if peer_function:
        theirs = round(in_fresh_process(f"{group}/{name}: {peer}", peer_function, n, prepared)[0],
                       1)
    limit = goal_mb if goal_mb is not None else goal_factor * size + goal_extra_mb
    goal = f"<= {limit:.0f} MB"
    if goal_factor:
        goal += f" ({goal_factor:g} x {size:.0f} MB + {goal_extra_mb:g} MB)"
    return Row(group, name, peer, round(peak, 1), "MB at peak", goal, peak <= limit, items=n,
               item_unit=unit, extra_mb=round(peak, 1), peer_extra_mb=theirs)
