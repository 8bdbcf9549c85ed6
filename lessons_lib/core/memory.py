"""Whether what is asked for fits into memory, told before anything is allocated.

Estimates count what is certain to be alive at one time, so nothing that fits is refused. Used by
every method whose settings decide how much it needs.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path

__all__ = ["check_memory", "free_memory", "in_words"]

VARIABLE = "LESSONS_FREE_MEMORY"                 # bytes that count as free, for tests and teachers
SMALL = 1 << 24                                  # bytes that are not worth the look
GROUPS = Path("/sys/fs/cgroup")                  # of Linux: limits of a container or of a user
OWN_GROUPS = Path("/proc/self/cgroup")
USED = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
FILES = ("file", "total_cache")                  # in memory.stat: of files, given back at need


def free_memory(*, swap: bool = False) -> int:
    """Bytes that a new array may take.

    Parameters
    ----------
    swap : bool, default False
        Whether memory on disk counts, too.

    Returns
    -------
    int
        What ``LESSONS_FREE_MEMORY`` says; else the least of what the machine has left, what control
        groups leave of their limits, and what the process may still map or fill with data.

    Raises
    ------
    ValueError
        ``LESSONS_FREE_MEMORY`` is no whole number of bytes.
    """
    told = os.environ.get(VARIABLE)
    if told:
        if not told.isdecimal():
            raise ValueError(f"{VARIABLE}={told!r} is no number of bytes; expected one such as "
                             "2000000000, or nothing")
        return int(told)
    import psutil

    left = [psutil.virtual_memory().available]
    with suppress(OSError, ValueError):
        left += _left_of_groups()
    on_disk = 0
    with suppress(OSError, RuntimeError), warnings.catch_warnings():
        warnings.simplefilter("ignore")          # of counters that a container lacks
        on_disk = psutil.swap_memory().free if swap else 0
    free = min(left) + on_disk
    if sys.platform != "win32":
        import resource

        taken = psutil.Process().memory_info()
        for limit, used in ((resource.RLIMIT_AS, taken.vms),
                            (resource.RLIMIT_DATA, getattr(taken, "data", 0))):
            most = resource.getrlimit(limit)[0]
            if most != resource.RLIM_INFINITY:
                free = min(free, most - used)
    return max(0, free)


def _left_of_groups() -> list[int]:
    """Bytes that each control group around this process leaves; an endless one is left out."""
    result = []
    for line in OWN_GROUPS.read_text("utf-8", "surrogateescape").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = GROUPS / "memory" if controllers else GROUPS
        own = root / path.lstrip("/")
        for folder in (own, *own.parents):
            for most, used in USED:
                with suppress(OSError, ValueError):         # no such file, or "max"
                    limit = int((folder / most).read_text())
                    taken = int((folder / used).read_text())
                    result.append(limit - taken + _pages_of_files(folder))
            if folder == root:
                break
    return result


def _pages_of_files(folder: Path) -> int:
    with suppress(OSError, ValueError):
        lines = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return max([0, *(int(number) for name, number in lines if name in FILES)])
    return 0


def in_words(n: float) -> str:
    """A number of bytes: ``480 GB``, ``12 bytes``.

    Parameters
    ----------
    n : number >= 0

    Returns
    -------
    str
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if n >= unit:
            return f"{n / unit:,.1f} {name}" if n < 1e6 * unit else f"{n / unit:.2g} {name}"
    return f"{n:,} bytes"


def check_memory(what: str, needed: int, remedy: str) -> None:
    """Refuse what cannot fit.

    Parameters
    ----------
    what : str
        What would be made, with its sizes: "60 vectors of 1,000,000,000 numbers".
    needed : int
        Bytes that are certain to be needed at one time, by shapes.
    remedy : str
        Which setting to lower: "Lower dim=1000000000".

    Raises
    ------
    MemoryError
        With the bytes needed, those free, and the remedy.
    """
    if needed < SMALL and VARIABLE not in os.environ:
        return
    free = free_memory(swap=True)
    if needed > free:
        raise MemoryError(f"{what} need about {in_words(needed)}, {in_words(free)} are free. "
                          f"{remedy}")
