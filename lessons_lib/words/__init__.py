"""Word vectors: one row of numbers per word, learned from the company that words keep.

`WordVectors` is what every method here ends in: words and a matrix, with neighbours, analogies and odd ones out. `read_text`, `read_binary` and
`from_gensim` take vectors from elsewhere, their counterparts hand them on. Modules load on first use. Taught in lessons ``04_word2vec`` and
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {"Word2Vec": "word2vec", "WordVectors": "word_vectors", "read_text": "text_format", "write_text": "text_format",
              "read_binary": "binary_format", "write_binary": "binary_format", "from_gensim": "gensim_format", "to_gensim": "gensim_format"}

__all__ = ["Word2Vec", "WordVectors", "from_gensim", "read_binary", "read_text", "to_gensim", "write_binary", "write_text"]


def __getattr__(name: str):
    """Load a method or a function on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.words has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
