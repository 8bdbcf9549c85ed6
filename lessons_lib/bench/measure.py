"""One fair race: warm both sides up, check that they give the same result, run them in turn, report medians and their ratio.

Running in turn (ours, peer, ours, peer, …) lets both sides meet the same noise. Used by ``lessons bench``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..core import check_int

__all__ = ["Case", "Row", "measure"]


@dataclass(frozen=True)
class Case:
    """A race.

    Parameters: group and name; peer, what the other side is called; ours, theirs, functions without arguments that do the whole work;
    equal, says whether the two results agree (the quality gate); items, how much work one run is, counted in ``unit``; goal, the ratio to reach;
    gate, in words what ``equal`` demands.
    """

    group: str
    name: str
    peer: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    equal: Callable[[Any, Any], bool]
    items: int
    unit: str
    goal: float
    gate: str


@dataclass(frozen=True)
class Row:
    """One measured line. For a race: seconds of both sides and ``value`` = their ratio; for memory: ``value`` in MB. ``met``: the goal is reached."""

    group: str
    name: str
    peer: str
    value: float
    value_unit: str
    goal: str
    met: bool
    ours_seconds: float | None = None
    ours_low: float | None = None
    ours_high: float | None = None
    peer_seconds: float | None = None
    items: int | None = None
    item_unit: str = ""
    gate: str = ""


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(case: Case, *, repeats: int = 3) -> Row:
    """Race both sides ``repeats`` times in turn after one warm-up each.

    Returns a `Row` with medians; ``ours_low`` and ``ours_high`` are the fastest and the slowest run. Raises ValueError when the results differ:
    a speed without equal quality is no speed.
    """
    check_int("repeats", repeats)
    if not case.equal(case.ours(), case.theirs()):
        raise ValueError(f"{case.group}/{case.name}: the results differ from those of {case.peer}; the gate was: {case.gate}")
    pairs = [(_seconds(case.ours), _seconds(case.theirs)) for _ in range(repeats)]
    ours, theirs = zip(*pairs, strict=True)
    ratio = statistics.median(b / a for a, b in pairs)
    return Row(case.group, case.name, case.peer, round(ratio, 2), "times faster", f">= {case.goal:g}", ratio >= case.goal,
               round(statistics.median(ours), 4), round(min(ours), 4), round(max(ours), 4), round(statistics.median(theirs), 4),
               case.items, case.unit, case.gate)
