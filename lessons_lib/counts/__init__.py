"""Counting: one-hot vectors, bags of words, n-grams, TF-IDF, BM25, co-occurrence, PPMI and latent
semantic analysis.

Every method that maps texts to vectors is an `Encoder` with `fit`, `transform` (sparse), `encode`
(dense), `save` and `load`. Modules load on first use. Taught in lessons ``01_one_hot`` and
``02_bag_of_words``.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

_MODULE_OF = {"OneHot": "one_hot", "BagOfWords": "bag_of_words", "TfIdf": "tfidf", "BM25": "bm25",
              "LSA": "lsa", "Cooccurrences": "cooccurrences", "NAMED": "named",
              "named_encoder": "named"}
_FUNCTIONS = ("cooccurrence", "ppmi")            # each in a module of the same name

__all__ = ["BM25", "LSA", "NAMED", "BagOfWords", "Cooccurrences", "OneHot", "TfIdf", "cooccurrence",
           "named_encoder", "ngrams", "ppmi"]


def __getattr__(name: str):
    """Load a method on first use; ``ngrams`` is a module."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    if name == "ngrams":
        return importlib.import_module(f"{__name__}.ngrams")
    raise AttributeError(f"lessons_lib.counts has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _function_before_module(name: str) -> property:
    """The function as an attribute, which the module of the same name must not replace."""

    def get(self: ModuleType):
        return getattr(importlib.import_module(f"{__name__}.{name}"), name)

    return property(get, lambda self, module: None)


sys.modules[__name__].__class__ = type("CountsRoom", (ModuleType,),
                                       {name: _function_before_module(name) for name in _FUNCTIONS})
