"""What boxes for a reader's text share: the box, a pause in the typing, what cannot be shown.

Used by ``lesson.try_it`` and ``lesson.explore``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Pause", "complaint", "text_widget"]

MAX_CHARS = 2000
PAUSE_SECONDS = 0.15                             # with the drawing, the answer comes in 0.3
LONG_DEFAULT = 80                                # a longer default gets a box of several lines


class Pause:
    """Calls a function once calls pause: a new call drops the one that waits."""

    def __init__(self, function: Callable[[], None]):
        self._function, self._waiting = function, None

    def __call__(self, *_: Any) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:                     # no loop to wait in: plain Python
            self._function()
            return
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = loop.call_later(PAUSE_SECONDS, self._function)


def complaint(boxes: Sequence[str], texts: Sequence[str]) -> str:
    """Why texts cannot be shown, in a sentence for the reader; "" where they can."""
    for box, text in zip(boxes, texts, strict=True):
        if not text.strip():
            return f"Type something into “{box}”."
        if len(text) > MAX_CHARS:
            return (f"“{box}” holds {len(text):,} characters; at most {MAX_CHARS:,} are shown. "
                    "Take a shorter text.")
    return ""


def text_widget(box: str, default: str) -> Any:
    """A box for a text, of several lines where the default is long or has some."""
    import ipywidgets as w

    look = {"value": default, "placeholder": f"type here: {box}", "description": box,
            "style": {"description_width": "initial"}, "layout": {"width": "95%"}}
    if "\n" in default:
        return w.Textarea(rows=default.count("\n") + 2, **look)
    return (w.Textarea if len(default) > LONG_DEFAULT else w.Text)(**look)
