"""The most memory that a piece of work holds above what was held before, watched by a second thread. Used by `measure` and `memory`."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["peak_bytes"]

EVERY = 0.002                                   # seconds between two looks


def _hand_back() -> None:
    """Let the C library give freed memory back, so that it cannot be used again unseen."""
    with contextlib.suppress(OSError, AttributeError, TypeError):       # only glibc has this
        ctypes.CDLL(None).malloc_trim(0)


def peak_bytes(work: Callable[[], Any]) -> tuple[int, Any]:
    """Run ``work()``; returns (bytes at most above those held at its start, its result), by the resident memory of the whole process."""
    import psutil

    process, stop = psutil.Process(), threading.Event()
    _hand_back()
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
