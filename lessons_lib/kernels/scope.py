"""A value that holds inside a ``with`` block, also for the threads that torch starts.

Torch runs the backward pass of a GPU in threads of its own. A context variable alone is unknown there, and a forward pass that is computed again in
one (checkpointing) would take another implementation than the first one did. Carries `use_backend` and `trace`; taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Generic, TypeVar

__all__ = ["Scope"]

T = TypeVar("T")


class Scope(Generic[T]):
    """What holds now: in a thread that opened a block, its innermost one; in every other thread, the block that was opened last and is still open."""

    def __init__(self, name: str) -> None:
        self._own: ContextVar[list[T] | None] = ContextVar(name, default=None)
        self._open: tuple[list[T], ...] = ()     # replaced as a whole, so that a reader needs no lock
        self._lock = threading.Lock()

    def get(self) -> T | None:
        """The value that holds here, or None outside of every block."""
        own, blocks = self._own.get(), self._open
        if own is not None and any(own is block for block in blocks):       # not one that was closed from another context
            return own[0]
        return blocks[-1][0] if blocks else None

    @contextlib.contextmanager
    def holding(self, value: T) -> Iterator[T]:
        """Let ``value`` hold inside the ``with`` block."""
        block = [value]                         # a list is itself only: two blocks with equal values stay two
        token = self._own.set(block)
        with self._lock:
            self._open = (*self._open, block)
        try:
            yield value
        finally:
            with self._lock:
                self._open = tuple(other for other in self._open if other is not block)
            with contextlib.suppress(ValueError):       # a generator may be closed in another context than the one it was opened in
                self._own.reset(token)
