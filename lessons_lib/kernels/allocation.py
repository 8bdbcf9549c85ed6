"""How much memory a piece of torch code asks for at most, to the byte, on a busy machine too.

Torch's profiler notes every array that is made and freed on the processor; the largest running sum
is the peak. What the system holds for the whole process (`lessons_lib.bench` measures that) lies
above it by what freed memory is kept for later. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..core import shown

__all__ = ["peak_allocated"]


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Drop what C++ writes to standard error: the profiler announces its start and stop there."""
    try:
        kept = os.dup(2)
    except OSError:                             # a program without a standard error
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def peak_allocated(work: Callable[[], Any]) -> int:
    """Bytes that arrays on the processor take at most while ``work()`` runs.

    Parameters
    ----------
    work : callable without arguments

    Returns
    -------
    int
        Above what was there before. Exact for the arrays of torch; what its libraries hold inside
        is not seen.

    Raises
    ------
    TypeError
        Anything that cannot be called.
    """
    if not callable(work):
        raise TypeError(f"work={shown(work)} is {type(work).__name__}; expected a function without "
                        "arguments: lambda: loss(x)")
    from torch.profiler import ProfilerActivity, profile

    with tempfile.TemporaryDirectory() as folder, _silent():
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            work()
        path = Path(folder) / "trace.json"
        seen.export_chrome_trace(str(path))
        events = json.loads(path.read_text("utf-8"))["traceEvents"]
    changes = [e for e in events if e.get("name") == "[memory]" and e["args"]["Device Type"] == 0]
    held = peak = 0
    for change in sorted(changes, key=lambda e: e["ts"]):
        held += change["args"]["Bytes"]
        peak = max(peak, held)
    return peak
