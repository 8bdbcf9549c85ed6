"""The most memory that a piece of work holds above what was held before it: the resident memory of
the whole process, watched by a second thread, here or in a fresh process."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..core import PROJECT

EVERY = 0.002                                   # seconds between two samples
SMALLEST = 8                                    # the warm-up's size at least


def peak_bytes(work: Callable[[], Any]) -> tuple[int, Any]:
    """Run ``work()``; gives the most bytes held above those held at its start, and its result."""
    import psutil
    process, stop = psutil.Process(), threading.Event()
    with contextlib.suppress(OSError, AttributeError, TypeError):      # only glibc has this
        ctypes.CDLL(None).malloc_trim(0)        # freed memory goes back, or is used again unseen
    before = peak = process.memory_info().rss

    def watch() -> None:
        nonlocal peak
        while not stop.wait(EVERY):
            peak = max(peak, process.memory_info().rss)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        result = work()
    finally:
        stop.set()
        thread.join()
    return max(peak, process.memory_info().rss) - before, result


def child(function: str, n: int, prepared: bool) -> tuple[int, int]:
    """What the fresh process does: peak bytes of ``function(n)``, and the bytes of its result."""
    module, attribute = function.split(":")
    make = getattr(import_module(module), attribute)

    def work(size: int) -> Callable[[], int]:
        return make(size) if prepared else lambda: make(size)

    work(max(SMALLEST, n // 1000))()            # compile and import everything first
    return peak_bytes(work(n))


def in_fresh_process(case: str, function: str, n: int, prepared: bool) -> tuple[float, float]:
    """Peak and size of the result in MB. Raises RuntimeError, naming the case, if it fails."""
    code = f"from {__name__} import child; print(*child({function!r}, {n}, {prepared}))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT)
    if done.returncode != 0:
        raise RuntimeError(f"{case} failed in its process:\n{done.stderr[-1500:]}")
    peak, size = (int(value) / 1e6 for value in done.stdout.split()[-2:])
    return peak, size


def _hold(n: int) -> int:
    """Hold n bytes for a moment: what the measurement is tested with."""
    held = bytearray(b"x") * n
    time.sleep(0.1)                             # long enough to be seen on a busy machine
    return len(held)


def _hold_after_inputs(n: int) -> Callable[[], int]:
    inputs = bytearray(b"x") * n
    return lambda: _hold(len(inputs))
