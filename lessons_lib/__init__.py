"""Embeddings, measured: an interactive course on text embeddings and the library under it.

Start in a notebook with ``import lessons_lib as ll`` and ``lesson = ll.start("one_hot")``. Rooms
(``ll.counts``, ``ll.text``, …) load on first use, so the import itself costs milliseconds. Taught
from lesson ``00_start_here`` on.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# Bottom room first: a room imports only rooms to its left.
ROOMS = ("core", "text", "vectors", "datasets", "kernels", "counts", "topics", "words", "sentences",
         "contextual", "isotropy", "contrastive", "search", "evaluation", "plots", "reproduce",
         "exercises", "lesson", "classroom", "bench")

__all__ = ["ROOMS", "__version__", "start", *ROOMS]


def __getattr__(name: str):
    """Load a room on first use; a misspelt name gets the list of rooms."""
    if name in ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "start":
        return importlib.import_module(f"{__name__}.lesson").start
    raise AttributeError(f"lessons_lib has no {name!r}; it has start() and the rooms "
                         f"{', '.join(ROOMS)}")


def __dir__() -> list[str]:
    return sorted(__all__)
