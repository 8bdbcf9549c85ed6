"""Peak memory of one piece of work, measured from outside: a fresh process does it, and the system says how much it held at most.

What the process holds before the work (Python, imports, inputs made beforehand) is taken off. Used by ``lessons bench``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module

from ..core import PROJECT
from .measure import Row
from .peak import peak_bytes

__all__ = ["child", "measure_memory"]

SMALLEST = 8                                     # the warm-up's size at least


def child(function: str, n: int, prepared: bool) -> tuple[int, int]:
    """What the fresh process does: peak bytes of ``function(n)`` above those held before, and the bytes of its result."""
    module, attribute = function.split(":")
    make = getattr(import_module(module), attribute)

    def work(size: int) -> Callable[[], int]:
        return make(size) if prepared else lambda: make(size)

    work(max(SMALLEST, n // 1000))()             # compile and import everything first
    return peak_bytes(work(n))


def _hold(n: int) -> int:
    """Hold n bytes for a moment: what the measurement is tested with."""
    held = bytearray(b"x") * n
    time.sleep(0.1)                              # long enough to be seen by the watching thread on a busy machine
    return len(held)


def _hold_after_inputs(n: int) -> Callable[[], int]:
    """Hold n bytes as inputs and give a function that holds n more."""
    inputs = bytearray(b"x") * n
    return lambda: _hold(len(inputs))


def _run_child(case: str, function: str, n: int, prepared: bool) -> tuple[float, float]:
    """Peak and size of the result in MB, from a fresh process."""
    code = f"from {__name__} import child; print(*child({function!r}, {n}, {prepared}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT)
    if done.returncode != 0:
        raise RuntimeError(f"{case} failed in its process:\n{done.stderr[-1500:]}")
    peak, size = (int(value) / 1e6 for value in done.stdout.split()[-2:])
    return peak, size


def measure_memory(group: str, name: str, function: str, n: int, *, goal_mb: float | None = None, goal_factor: float | None = None,
                   goal_extra_mb: float = 0.0, prepared: bool = False, peer: str = "", peer_function: str | None = None,
                   unit: str = "documents") -> Row:
    """Peak memory of ``function(n)`` above what the process held before.

    Parameters: function, ``"module:name"`` of a function that takes a size and returns the bytes of its result, or with ``prepared`` one
    that makes the inputs and returns the work as such a function; n, the size, counted in ``unit``; the goal is ``goal_mb``, or
    ``goal_factor`` x the result + ``goal_extra_mb``; peer_function, measured in the same way beside it. Returns a `Row` in MB (10^6 bytes).
    Raises RuntimeError when a process fails.
    """
    peak, size = _run_child(f"{group}/{name}", function, n, prepared)
    theirs = _run_child(f"{group}/{name}: {peer}", peer_function, n, prepared)[0] if peer_function else None
    limit = goal_mb if goal_mb is not None else goal_factor * size + goal_extra_mb
    words = f"<= {limit:.0f} MB" + (f" ({goal_factor:g} x {size:.0f} MB + {goal_extra_mb:g} MB)" if goal_factor else "")
    return Row(group, name, peer, round(peak, 1), "MB at peak", words, peak <= limit, items=n, item_unit=unit, extra_mb=round(peak, 1),
               peer_extra_mb=None if theirs is None else round(theirs, 1))
