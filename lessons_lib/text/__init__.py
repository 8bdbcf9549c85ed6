"""From characters to token ids: normal forms, tokens, vocabulary, and a corpus that may be larger than memory.

Modules load on first use. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

import importlib

_MODULE_OF = {"normalise": "normalise", "Tokenizer": "tokenise", "tokenize": "tokenise", "Vocabulary": "vocabulary", "Corpus": "corpus"}

__all__ = ["Corpus", "Tokenizer", "Vocabulary", "normalise", "tokenize"]
