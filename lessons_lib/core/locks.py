"""The right to write a file, which one process has at a time. Used by `contextual.encode_to`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import DownloadFailed

__all__ = ["locked"]

LOCK_SECONDS = 60.0


@contextmanager
def locked(target: Path, *, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the right to write a file; another process waits, and is then told who holds it.

    The system gives the lock of a dead process back. Raises DownloadFailed after so many
    ``seconds``, OSError where the folder cannot be written.
    """
    import filelock

    holder = target.parent / f".lock-{target.name}.holder"
    lock = filelock.FileLock(target.parent / f".lock-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=seconds)
        except filelock.Timeout:
            who = holder.read_text("utf-8") if holder.exists() else "another process"
            raise DownloadFailed(f"{target} is being written by {who} for more than "
                                 f"{seconds:.0f} s. Wait for it, or end it") from None
        holder.write_text(f"process {os.getpid()}", encoding="utf-8")
        yield
    finally:
        if lock.is_locked:
            holder.unlink(missing_ok=True)
            lock.release()
