"""Sentences from words: word vectors pooled, plain or weighted, and what is taken away from them.

`MeanEncoder` adds up word vectors, alike or by inverse document frequency; `SIF` and `USIF` weigh
words by how rare they are and remove what all sentences share; `Doc2Vec` learns a vector for each
document. Every method is an `Encoder` with ``encode``, ``save`` and ``load``. Modules load on first
use. Taught in lessons ``06_sif_and_usif`` and ``07_doc2vec``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {
    "NAMED": "named", "named_encoder": "named",
    "Doc2Vec": "doc2vec", "DocumentVectors": "document_vectors", "document_windows": "replay",
    "MeanEncoder": "mean",
    "SIF": "sif",
    "USIF": "usif", "usif_a": "usif",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str):
    """Load a method on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.sentences has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
