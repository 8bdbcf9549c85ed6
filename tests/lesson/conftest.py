"""A folder with two lesson texts, a lesson opened from it, and what a lesson displays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from lessons_lib.lesson import Lesson, start

TEXT = """---
lesson:
  id: {id}
  question: What is the least a vector can know?
  you_will: [count]
  needs: []
  minutes: {{read: 5, run: 1}}
  papers: []
  uses: [counts.one_hot]
  scales:
    smoke: {{n_documents: 3, sizes: [1, 2]}}
    laptop: {{n_documents: 30, sizes: [10, 20]}}
    paper: {{n_documents: 300, sizes: [100, 200]}}
---

Text.
"""
ALT = "Line plot of y against x that rises to the right."


def line(n: int = 3) -> Figure:
    fig = Figure(figsize=(4, 3))
    fig.add_subplot().plot(np.arange(n), np.arange(n))
    return fig


@pytest.fixture(autouse=True)
def usual_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two, as a reader has them, though tests side by side ask for one."""
    monkeypatch.delenv("LESSONS_THREADS", raising=False)


@pytest.fixture
def notebooks(tmp_path: Path) -> Path:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for number, name in enumerate(("start_here", "one_hot")):
        (folder / f"{number:02d}_{name}.md").write_text(TEXT.format(id=name), encoding="utf-8")
    return folder


@pytest.fixture
def lesson(notebooks: Path) -> Lesson:
    return start("one_hot", notebooks=notebooks)


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, dict]]:
    """What went to IPython's display, as (data, keywords)."""
    import IPython.display

    seen: list[tuple[object, dict]] = []

    class Handle:
        def update(self, data: object, **keywords: object) -> None:
            seen.append((data, keywords | {"updated": True}))

    def display(data: object, **keywords: object) -> Handle:
        seen.append((data, keywords))
        return Handle()

    monkeypatch.setattr(IPython.display, "display", display)
    return seen


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel with widgets."""
    for module in ("predict", "try_it", "watch", "explore"):
        monkeypatch.setattr(f"lessons_lib.lesson.{module}.widgets_work", lambda: True)
