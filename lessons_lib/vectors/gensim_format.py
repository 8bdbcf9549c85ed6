"""Vectors handed to gensim and taken from it, in memory.

Both sides get the same words in the same order and the same float32 numbers. gensim's own files are
pickles and are not read here; it writes word2vec files, which `read_text` and `read_binary` read.
Used in lesson ``04_word2vec``.
"""

from __future__ import annotations

from typing import Any

from ..core import shown
from .word_vectors import WordVectors

__all__ = ["from_gensim", "to_gensim"]


def from_gensim(keyed: Any, *, name: str = "gensim") -> WordVectors:
    """Copy gensim's ``KeyedVectors``, or those of a model.

    Parameters
    ----------
    keyed : KeyedVectors, or a model that has them as ``.wv``
        Of fastText only the whole words are taken, not the subwords for unknown ones.
    name : str, default "gensim"
        For tables.

    Returns
    -------
    WordVectors

    Raises
    ------
    TypeError
        Another object.
    ValueError
        NaN.
    """
    keyed = getattr(keyed, "wv", keyed)
    if not (hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors")):
        raise TypeError(f"keyed={shown(keyed)} is {type(keyed).__name__}; expected gensim's "
                        "KeyedVectors, or a model that has them as .wv")
    return WordVectors(list(keyed.index_to_key), keyed.vectors.copy(), name=name)


def to_gensim(vectors: WordVectors) -> Any:
    """A gensim ``KeyedVectors`` with copies of the vectors.

    Parameters
    ----------
    vectors : WordVectors

    Returns
    -------
    gensim.models.KeyedVectors

    Raises
    ------
    ImportError
        gensim is not installed.
    """
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.dim)
    keyed.add_vectors(vectors.tokens, vectors.matrix)
    return keyed
