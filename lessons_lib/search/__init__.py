"""Search: a question in, the passages that answer it out, by words, by vectors, and by both.

`InvertedIndex` finds words, `ExactNeighbours`, `Hnsw` and `CompactVectors` find vectors, each with
``fit`` and ``search``; `reciprocal_rank_fusion` joins rankings, `LateInteraction`, `CrossEncoder`
and `rerank` look closer at the best. `FolderIndex` does all of it for a folder of texts, and is
what ``lessons search`` asks. Modules load on first use. Taught in lesson ``17_search``.
"""

from __future__ import annotations

import importlib

_HOME = {
    "cross_encoder": ("CrossEncoder",),
    "folder": ("Answer", "FolderIndex", "Update"),
    "inverted": ("InvertedIndex",),
    "late_interaction": ("LateInteraction", "maxsim"),
    "neighbours": ("CompactVectors", "ExactNeighbours", "Hnsw", "neighbour_recall", "rescored"),
    "passages": ("Passage", "split_passages"),
    "rankings": ("reciprocal_rank_fusion", "rerank")}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str):
    """Load a method or a function on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.search has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
