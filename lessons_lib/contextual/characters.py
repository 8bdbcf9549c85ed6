"""A small BERT for a language that the course's own can not read: every character is a token.

Its weights are random, to be trained.

LessonBERT learned its tokens from English, so nearly every Chinese character is [UNK] to it.
Chinese BERTs have one token for each character; so has this one, whose table is made from the texts
it will be trained on. Used by the record ``su2022_cosent_table`` of lesson ``13_cosent``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..core import check_int, checked_texts
from .encoder import ContextualEncoder
from .lesson_bert import BertSize, LessonBert
from .numbering import Subwords
from .readers import BertReader
from .tokenizer import MOST, SPECIAL, WordPiece

__all__ = ["character_encoder", "character_pieces"]

# each of them stands alone when a text is split into words
IDEOGRAPHS = (("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"))


def character_pieces(texts: Iterable[str], *, min_count: int = 1) -> WordPiece:
    """A tokenizer whose tokens are the characters of texts, in lower case, the most frequent first.
    Letters and digits, of which words are made, have a second token ("##a") for their places within
    a word.
    """
    plain = WordPiece([*SPECIAL, "a"]).engine.normalizer
    counts: Counter[str] = Counter()
    for text in checked_texts(texts, name="texts"):
        counts.update(plain.normalize_str(text))
    kept = [letter for letter, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            if n >= check_int("min_count", min_count) and not letter.isspace()]
    inside = [f"##{letter}" for letter in kept if letter.isalnum()
              and not any(low <= letter <= high for low, high in IDEOGRAPHS)]
    if not kept:
        raise ValueError(f"texts hold no character that occurs {min_count} times; expected at "
                         "least one")
    return WordPiece([*SPECIAL, *kept, *inside][:MOST])


def character_encoder(texts: Iterable[str], *, dim: int = 128, layers: int = 2, heads: int = 2,
                      feed_forward: int = 256, positions: int = 64, min_count: int = 1,
                      seed: int = 0) -> ContextualEncoder:
    """A `LessonBert` that reads characters, as initialised; vectors are means over the last layer.

    Parameters
    ----------
    texts : iterable of str
        Whose characters are the vocabulary.
    dim, layers, heads, feed_forward, positions : int
        Its sizes, see `BertSize`; longer texts are cut.
    min_count : int >= 1, default 1
        Rarer characters are [UNK].
    seed : int >= 0, default 0
        Of the random initialisation.

    Returns
    -------
    ContextualEncoder

    Raises
    ------
    TypeError, ValueError
    """
    tokenizer = character_pieces(texts, min_count=min_count)
    model = LessonBert(BertSize(len(tokenizer), dim, layers, heads, feed_forward, positions),
                       seed=seed).eval()
    return ContextualEncoder(BertReader(model), Subwords(tokenizer.engine),
                             name="characters").check()
