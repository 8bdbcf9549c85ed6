"""Ctrl-C that waits for the end of a step, so that what was learned can be kept whole.

Python raises KeyboardInterrupt between any two instructions, also between two weights of one step.
Long training asks instead, after each step, whether somebody wants it to end. Used by ``lessons
pretrain`` and by lesson ``11_bert_flow``.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["asked_to_stop"]


@contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets, or a polite end of the process, instead of cutting a step in two.

    A second Ctrl-C cuts. Outside the main thread, where no signal arrives, it is never set.

    Returns
    -------
    context of a threading.Event
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def on_signal(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, on_signal)
              for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
