"""Real and synthetic data by name: sentence pairs, triplets, documents, words, and what others
measured on large models.

``load`` finds a dataset wherever on this machine it lies and returns one small frozen record; the
network is used only when told to. Modules load on first use. Introduced in lesson
``00_start_here``.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {
    "beir": ("read_beir",),
    "loading": ("load",),
    "registry": ("Dataset", "RegisteredFile", "dataset_names", "registered"),
    "resolve": ("checksum_of",),
    "catalogue": ("DatasetRow", "FileState", "conditions", "get", "list_datasets", "verify"),
    "publishers": ("publishers_table",),
    "receipts": ("Receipt", "notice", "receipt_of"),
    "records": ("Analogies", "ContextualStatistics", "Documents", "LabelledPairs", "Questions",
                "RetrievalSet", "SentencePairs", "SpaceStatistics", "StreamedDocuments", "Triplets",
                "WordCounts", "WordPairs", "WordPieces"),
    "synthetic": ("LanguageSettings", "SyntheticLanguage", "synthetic_language"),
    "synthetic_planes": ("bent_log_density", "synthetic_plane")}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Load the module that holds a public name on its first use."""
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"lessons_lib.datasets has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
