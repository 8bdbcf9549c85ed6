"""Peak memory of one piece of work, measured from outside: a fresh process does it, and the system says how much it held at most.

What the process holds before the work (Python, imports) is measured in the same way and taken off. Used by ``lessons bench``.
"""

from __future__ import annotations

import subprocess
import sys
import time

from ..core import PROJECT
from .measure import Row

__all__ = ["measure_memory"]

_CHILD = """
import sys, threading, psutil
from importlib import import_module
module, function, argument = sys.argv[1:4]
work = getattr(import_module(module), function)
work(int(argument) // 1000)                     # compile and import everything first
me, peak, stop = psutil.Process(), 0, threading.Event()
before = me.memory_info().rss
def watch():
    global peak
    while not stop.wait(0.005):
        peak = max(peak, me.memory_info().rss)
thread = threading.Thread(target=watch); thread.start()
size = work(int(argument))
stop.set(); thread.join()
print(max(peak, me.memory_info().rss) - before, size)
"""


def _hold(n: int) -> int:
    """Hold n bytes for a moment: what the measurement is tested with."""
    held = bytearray(b"x") * n
    time.sleep(0.1)                              # long enough to be seen by the watching thread on a busy machine
    return len(held)


def measure_memory(group: str, name: str, function: str, n: int, *, goal_mb: float | None = None, goal_factor: float | None = None,
                   goal_extra_mb: float = 0.0) -> Row:
    """Peak memory of ``function(n)`` above what the process held before.

    Parameters: function, ``"module:name"`` of a function that takes a size and returns the bytes of its result; n, the size; the goal is
    ``goal_mb``, or ``goal_factor`` x the result + ``goal_extra_mb``. Returns a `Row` in MB (10^6 bytes). Raises RuntimeError when the process fails.
    """
    module, attribute = function.split(":")
    done = subprocess.run([sys.executable, "-c", _CHILD, module, attribute, str(n)], capture_output=True, text=True, cwd=PROJECT)
    if done.returncode != 0:
        raise RuntimeError(f"{group}/{name} failed in its process:\n{done.stderr[-1500:]}")
    peak, size = (int(value) / 1e6 for value in done.stdout.split()[-2:])
    limit = goal_mb if goal_mb is not None else goal_factor * size + goal_extra_mb
    words = f"<= {limit:.0f} MB" + (f" ({goal_factor:g} x {size:.0f} MB + {goal_extra_mb:g} MB)" if goal_factor else "")
    return Row(group, name, "", round(peak, 1), "MB at peak", words, peak <= limit, items=n, item_unit="documents")
