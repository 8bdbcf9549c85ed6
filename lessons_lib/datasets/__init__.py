"""Real and synthetic data by name: sentence pairs, triplets, documents, words, and what others measured on large models.

``load`` finds a dataset wherever on this machine it lies and returns one small frozen record; the network is used only when told to.
Modules load on first use. Introduced in lesson ``00_start_here``.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {"load": "loading", "checksum_of": "resolve",
         "dataset_names": "registry", "registered": "registry", "Dataset": "registry", "RegisteredFile": "registry",
         "get": "catalogue", "list_datasets": "catalogue", "verify": "catalogue", "DatasetRow": "catalogue", "FileState": "catalogue",
         "conditions": "catalogue", "publishers_table": "publishers", "receipt_of": "receipts", "Receipt": "receipts",
         "notice": "receipts",
         "StreamedDocuments": "streams", "synthetic_language": "synthetic", "SyntheticLanguage": "synthetic",
         "LanguageSettings": "synthetic", "synthetic_plane": "synthetic_planes", "bent_log_density": "synthetic_planes",
         "Analogies": "records", "ContextualStatistics": "records",
         "Documents": "records", "LabelledPairs": "records", "SentencePairs": "records", "SpaceStatistics": "records", "Triplets": "records",
         "WordCounts": "records", "WordPairs": "records", "WordPieces": "records"}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Load the module that holds a public name on its first use."""
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"lessons_lib.datasets has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
