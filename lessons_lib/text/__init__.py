"""From characters to token ids: normal forms, tokens, vocabulary, and a corpus that may be larger
than memory.

Modules load on first use; ``text.normalise`` is a module. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {"Corpus": "corpus", "Tokenizer": "tokenise", "tokenize": "tokenise",
              "Vocabulary": "vocabulary", "edit_distance": "edits",
              "split_sentences": "sentences"}

__all__ = ["Corpus", "Tokenizer", "Vocabulary", "edit_distance", "normalise", "split_sentences",
           "tokenize"]


def __getattr__(name: str):
    """Load a class or function on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    if name == "normalise":
        return importlib.import_module(f"{__name__}.normalise")
    raise AttributeError(f"lessons_lib.text has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
