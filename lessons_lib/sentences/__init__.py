"""Sentences from words: the mean of word vectors, plain or weighted, and what is taken away from
it.

`MeanEncoder` adds up word vectors, alike or by inverse document frequency; `SIF` and `USIF` weigh
words by how rare they are and remove what all sentences share; `Doc2Vec` learns a vector for each
document. Every method is an `Encoder` with ``encode``, ``save`` and ``load``. Modules load on first
use. Taught in lessons ``06_sif_and_usif`` and ``07_doc2vec``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {
    "Doc2Vec": "doc2vec", "DocumentVectors": "document_vectors", "SIF": "sif", "USIF": "usif",
    "MeanEncoder": "mean", "usif_a": "usif", "NAMED": "named", "document_windows": "replay",
    "named_encoder": "named"
}

__all__ = [
    "NAMED", "SIF", "USIF", "Doc2Vec", "DocumentVectors", "MeanEncoder", "document_windows",
    "named_encoder", "usif_a"
]


def __getattr__(name: str):
    """Load a method on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.sentences has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
