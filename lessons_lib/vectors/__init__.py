"""Words and their vectors: neighbours, analogies, odd ones out, and the files in which vectors
travel.

`WordVectors` is what every method of word vectors ends in, and what `datasets.load` gives for
vectors that others trained. `read_text`, `read_binary`, `read_compact` and `from_gensim` take
vectors from elsewhere, their counterparts hand them on. Modules load on first use. Taught in lesson
``04_word2vec``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {
    "WordVectors": "word_vectors", "read_text": "text_format", "write_text": "text_format",
    "read_binary": "binary_format", "write_binary": "binary_format", "from_gensim": "gensim_format",
    "to_gensim": "gensim_format", "read_compact": "compact", "write_compact": "compact",
    "read_card": "compact"
}

__all__ = [
    "WordVectors", "from_gensim", "read_binary", "read_card", "read_compact", "read_text",
    "to_gensim", "write_binary", "write_compact", "write_text"
]


def __getattr__(name: str):
    """Load a class or a function on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.vectors has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
