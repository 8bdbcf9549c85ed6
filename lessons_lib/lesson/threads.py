"""Two threads for everything: the same sums on a laptop and a server, a class shares one machine.

``LESSONS_THREADS`` asks for another number: one where many lessons run side by side, since threads
without a core of their own wait for each other and take the cores meanwhile. Libraries that are
loaded are told directly; those that come later read the environment. Done by ``ll.start``.
"""

from __future__ import annotations

import os
import sys

__all__ = ["THREADS", "fix_threads", "lesson_threads", "thread_environment"]

THREADS = 2
POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def lesson_threads() -> int:
    """``LESSONS_THREADS``, else 2. Raises ValueError for what is no number of threads."""
    value = os.environ.get("LESSONS_THREADS") or str(THREADS)
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 1024):
        raise ValueError(f"LESSONS_THREADS={value!r} is no number of threads; expected 1 to 1024, "
                         f"or leave it out for {THREADS}")
    return int(value)


def thread_environment(threads: int | None = None) -> dict[str, str]:
    """The variables that fix the threads (default: `lesson_threads`) of a process yet to start."""
    n = lesson_threads() if threads is None else threads
    # Numba refuses more threads than it began with, and lessons ask some kernels for two.
    return dict.fromkeys(POOLS, str(n)) | {"NUMBA_NUM_THREADS": str(max(n, THREADS)),
                                           "TOKENIZERS_PARALLELISM": "false"}


def fix_threads() -> int:
    """Fix the threads of this process, without importing what was not imported; their number."""
    from threadpoolctl import threadpool_limits

    threads = lesson_threads()
    for name, value in thread_environment(threads).items():
        # numba refuses a change of its maximum
        if name != "NUMBA_NUM_THREADS" or "numba" not in sys.modules:
            os.environ[name] = value
    threadpool_limits(limits=threads)
    if numba := sys.modules.get("numba"):
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)
    return threads
