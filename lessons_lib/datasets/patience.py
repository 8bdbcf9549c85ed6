"""Waits for what knows no time limit of ours, such as the system's search for a host's address."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["within"]


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of ``work``, or TimeoutError after so many ``seconds``; its own errors pass."""
    box: dict[str, Any] = {}

    def run() -> None:
        try:
            box["value"] = work()
        except BaseException as error:
            box["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if "error" in box:
        raise box["error"]
    if "value" not in box:
        raise TimeoutError(f"no answer within {seconds:.0f} s")
    return box["value"]
