"""What a lesson's kernel does with the lesson's controls: it moves each, and says what came of it.

Runs in the kernel, in cells before and after those of the lesson; see ``test_controls.py``.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import io
import json
import time
from dataclasses import dataclass, field
from typing import Any

import ipywidgets
from IPython.core import display_functions
from ipywidgets.widgets.widget import _instances
from PIL import Image, ImageChops

TEXTS = ("", "the", "The cat sleeps.", "玫瑰", "🌹", "zzzz qqqq", "<b>&amp;</b> $x$", "x" * 3000)
WAIT_SECONDS = 5.0
FAR, MOST_OTHER = 100, 0.0005                    # of 255 levels of grey; share of the pixels


@dataclass
class Outputs:
    """All that was shown in a kernel: the first state of each place, and its states since then."""

    first: dict[str, dict] = field(default_factory=dict)
    later: list[tuple[str, dict, float]] = field(default_factory=list)


def watched() -> Outputs:
    """What is shown from now on; the PNG beside an SVG as fine as the one that follows a control,
    since letters of another size move the axes by a point or two.
    """
    saving = importlib.import_module("lessons_lib.plots.save")
    saving.PNG_DPI = saving.PNG_DPI[:1] * len(saving.PNG_DPI)
    outputs, publish = Outputs(), display_functions.publish_display_data

    def told(data: Any, metadata: Any = None, *, transient: Any = None, **options: Any) -> None:
        publish(data, metadata, transient=transient, **options)
        place = (transient or {}).get("display_id")
        if options.get("update"):
            outputs.later.append((place, data, time.perf_counter()))
        elif place:
            outputs.first[place] = data

    display_functions.publish_display_data = told
    return outputs


def _values(widget: Any) -> list[Any]:
    """Values to move a control to; the last is the one that it starts with."""
    if isinstance(widget, (ipywidgets.Text, ipywidgets.Textarea)):
        there = TEXTS
    elif isinstance(widget, ipywidgets.Checkbox):
        there = (not widget.value,)
    elif hasattr(widget, "options"):
        there = [value for _, value in widget._options_full]
    else:
        there = (widget.min, widget.max)
    return [*(value for value in there if value != widget.value), widget.value]


def _print(data: dict) -> int:
    return hash(json.dumps(data, sort_keys=True))


def _pixels(data: dict) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("RGB")


def _alike(first: dict, later: dict) -> bool:
    """Whether two outputs show the same, though one PNG has few colours."""
    if "image/png" not in first or "image/png" not in later:
        return {**later, **first} == first
    images = _pixels(first), _pixels(later)
    difference = ImageChops.difference(*images).convert("L")
    other = sum(difference.histogram()[FAR:]) / (difference.width * difference.height)
    return first["text/plain"] == later["text/plain"] and other < MOST_OTHER


async def _moved(widget: Any, outputs: Outputs) -> dict[str, Any]:
    """Where one control was moved to, what was shown then, after how many milliseconds, and whether
    it came ``back`` to what its cell showed. Buttons without a name are a prediction's: they show
    nothing.
    """
    steps, place, data = [], None, {}
    for value in _values(widget):
        before, start = len(outputs.later), time.perf_counter()
        widget.value = value
        while (widget.description and len(outputs.later) == before
               and time.perf_counter() < start + WAIT_SECONDS):
            await asyncio.sleep(0.01)            # a pause in the typing
        place, data, end = outputs.later[-1] if len(outputs.later) > before else (None, {}, start)
        steps.append({"to": str(value)[:40], "ms": round(1000 * (end - start), 1),
                      "text": data.get("text/plain", ""), "picture": _print(data)})
    return {"name": widget.description, "kind": type(widget).__name__, "steps": steps,
            "back": place in outputs.first and _alike(outputs.first[place], data)}


async def moved(outputs: Outputs) -> list[dict[str, Any]]:
    """Each control of the lesson, moved to its ends and back."""
    boxes = [widget for widget in list(_instances.values()) if type(widget) is ipywidgets.VBox]
    return [await _moved(widget, outputs) | {"box": k}
            for k, box in enumerate(boxes) for widget in box.children]
