"""Word vectors: one row of numbers per word, learned from the company that words keep.

Every method here ends in a `WordVectors`: words and a matrix, with neighbours, analogies and odd
ones out. It lives in the room `vectors`, whose names can be had here too. Modules load on first
use. Taught in lessons ``04_word2vec`` and ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import importlib

from .. import vectors

_MODULE_OF = {
    "FastText": "fasttext", "GloVe": "glove", "Word2Vec": "word2vec", "load_method": "saved",
    "load_vectors": "saved", "windows": "replay"
}

__all__ = sorted([*_MODULE_OF, *vectors.__all__])


def __getattr__(name: str):
    """Load a method or a function on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    if name in vectors.__all__:
        return getattr(vectors, name)
    raise AttributeError(f"lessons_lib.words has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
