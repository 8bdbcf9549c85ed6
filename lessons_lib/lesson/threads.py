"""Two threads for everything, so that sums come out the same on a laptop and on a server, and a class shares one machine fairly.

Libraries that are loaded already are told directly; those that come later read the environment of this process. Done by ``ll.start``.
"""

from __future__ import annotations

import os
import sys

__all__ = ["THREADS", "fix_threads", "thread_environment"]

THREADS = 2
POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS")


def thread_environment() -> dict[str, str]:
    """The variables that fix the number of threads in a process that is yet to start."""
    return {name: str(THREADS) for name in POOLS} | {"TOKENIZERS_PARALLELISM": "false"}


def fix_threads() -> int:
    """Fix the number of threads of this process, without importing what was not imported. Returns the number."""
    from threadpoolctl import threadpool_limits

    for name, value in thread_environment().items():
        if name != "NUMBA_NUM_THREADS" or "numba" not in sys.modules:      # numba refuses a change of its maximum
            os.environ[name] = value
    threadpool_limits(limits=THREADS)
    if numba := sys.modules.get("numba"):
        numba.set_num_threads(min(THREADS, numba.config.NUMBA_NUM_THREADS))
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(THREADS)
    return THREADS
