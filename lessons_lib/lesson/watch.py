"""A training watched while it runs: its loss and score as curves, redrawn in one place.

Frames are drawn as often as they cost little beside the training. The last one, of all points, is
the output that stays. Used by ``lesson.watch``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Self

from ..plots import checked_alt, training_curves
from .explore import widgets_work
from .figures import checked_id, figure_bundle, moved_bundle, save_figure

__all__ = ["Watch"]

PAUSE_SECONDS = 0.4
SHARE = 5                                        # drawing takes at most a fifth of the time


class Watch:
    """Collects points of a training inside a ``with`` block, and draws them; see `Lesson.watch`.

    Attributes
    ----------
    steps, losses : list of float
    scores : list of (float or None)
        As many; None where a step was not scored.
    """

    def __init__(self, title: str, *, id: str, alt: str, score: str,
                 levels: Mapping[str, float] | None = None, reach: float | None = None):
        self.title, self.score, self.levels, self.reach = title, score, levels, reach
        self.id, self.alt = checked_id(id), checked_alt(alt)
        self.steps: list[float] = []
        self.losses: list[float] = []
        self.scores: list[float | None] = []
        self._handle: Any = None
        self._next_frame = 0.0

    def figure(self) -> Any:
        """The curves so far, as a matplotlib figure."""
        return training_curves(self.steps, self.losses, scores=self.scores, title=self.title,
                               score=self.score, levels=self.levels, reach=self.reach)

    def __enter__(self) -> Self:
        from IPython.display import display

        if widgets_work():
            words = f"{self.title}: the training begins"
            self._handle = display({"text/plain": words}, raw=True, display_id=True)
        return self

    def __call__(self, step: float, loss: Any, score: Any = None) -> None:
        """Add a point, and draw a frame where it is time.

        Parameters
        ----------
        step : float
        loss : float, or a tensor of one number
        score : float, optional
        """
        self.steps.append(float(step))
        self.losses.append(float(loss))
        self.scores.append(None if score is None else float(score))
        if self._handle is not None and time.perf_counter() >= self._next_frame:
            start = time.perf_counter()
            data, metadata = moved_bundle(self.figure(), alt=self.alt)
            self._handle.update(data, raw=True, metadata=metadata)
            now = time.perf_counter()
            self._next_frame = now + max(PAUSE_SECONDS, SHARE * (now - start))

    def __exit__(self, *_: object) -> None:
        """Draw the last frame, of all points, also of a training that was stopped."""
        from IPython.display import display

        if not self.steps:
            return
        data, metadata, parts = figure_bundle(self.figure(), id=self.id, alt=self.alt)
        if self._handle is None:
            display(data, raw=True, metadata=metadata)
        else:
            self._handle.update(data, raw=True, metadata=metadata)
        save_figure(self.id, parts)
