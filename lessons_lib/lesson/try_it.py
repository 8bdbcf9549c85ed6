"""The reader's own text in, a picture or a table out, at once.

The result for the default text is an ordinary output that is committed; in a live kernel, text
boxes stand above it, and it follows a pause in the typing. What cannot be shown is said in a
sentence. Used by ``lesson.try_it``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import UnknownWord, shown
from .explore import Draw, bound, drawer, widgets_work
from .figures import save_figure
from .live import Stage
from .typed import Pause, complaint, text_widget

__all__ = ["try_it"]

HOW_TO_START = ("*Your own text:* start the notebook with `python -m lessons_lib lab`, run the "
                "cells, and type.")
NO_RESULT = "The model knows none of these words. Try others."


def _answer(draw: Draw, boxes: Sequence[str], texts: Sequence[str]) -> tuple[dict, dict]:
    """What is displayed for a reader's texts: the drawing, or a sentence."""
    sentence = complaint(boxes, texts)
    if not sentence:
        try:
            data, metadata, _parts = draw(*texts)
            return data, metadata
        except (ValueError, UnknownWord) as error:       # it says what would do
            sentence = " ".join(str(error).split()) or NO_RESULT
        except Exception as error:  # an error in a callback would vanish; here the learner sees it
            sentence = f"This text cannot be shown ({type(error).__name__}: {error}). Try another."
    return {"text/plain": sentence}, {}


def try_it(function: Callable, boxes: Sequence[str], *, default: str | Sequence[str],
           id: str | None, alt: str | Callable[..., str] | None) -> None:
    """Show what ``function`` makes of the default, with text boxes where a live kernel has them.

    See `Lesson.try_it`.
    """
    from IPython.display import display

    texts = [default] if isinstance(default, str) else list(default)
    if not 1 <= len(boxes) <= 2 or len(texts) != len(boxes):
        raise ValueError(f"boxes={shown(boxes)} and default={shown(texts)}; expected one or two "
                         "names of boxes, and a default text for each")
    if sentence := complaint(boxes, texts):
        raise ValueError(f"default={shown(texts)} is refused: {sentence}")
    kept = bound(function)

    def call(*typed: str) -> Any:
        result = kept(*typed)
        if result is None:
            raise ValueError(NO_RESULT)
        return result

    draw = drawer(call, id=id, alt=alt)
    data, metadata, parts = draw(*texts)
    if parts:
        save_figure(id, parts)
    if not widgets_work():
        display(data, raw=True, metadata=metadata)
        display({"text/markdown": HOW_TO_START, "text/plain": HOW_TO_START}, raw=True)
        return
    widgets = [text_widget(box, text) for box, text in zip(boxes, texts, strict=True)]
    stage = Stage(widgets, data, metadata)

    def redraw() -> None:
        stage.show(*_answer(draw, boxes, [widget.value for widget in widgets]))

    pause = Pause(redraw)

    def typed(_: Any) -> None:
        stage.heard()
        pause()

    for widget in widgets:
        widget.observe(typed, names="value")
