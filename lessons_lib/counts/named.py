"""The count-based encoders of lessons 01 and 02 by name, each fitted on the Wikipedia sample: its
sentences, or for LSA its articles.

LSA learns better directions from 106 long texts than from 20,000 short ones, as lesson 02 measures
(course-sts 63 against 48). One place for their settings, so that ``lessons evaluate``, lesson 02
and the leaderboard mean the same thing by "TF-IDF".
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core import Encoder, check_choice

__all__ = ["NAMED", "named_encoder", "sample_sentences"]

WORDS = r"(?u)\b\w+\b"                # one-letter words count, unlike scikit-learn's default
NAMED = ("one-hot", "bag of words", "TF-IDF", "BM25", "char n-grams", "LSA")


def named_encoder(name: str, texts: Sequence[str] | None = None) -> Encoder:
    """A fitted encoder of that name.

    Parameters
    ----------
    name : str
        One of ``NAMED``.
    texts : sequence of str, optional
        To fit on; None: the Wikipedia sample.

    Returns
    -------
    Encoder

    Raises
    ------
    ValueError
        An unknown name; LSA with fewer than 100 texts.
    """
    from . import BM25, LSA, BagOfWords, OneHot, TfIdf

    check_choice("name", name, NAMED)
    make = {
        "one-hot": lambda: OneHot(token_pattern=WORDS),
        "bag of words": lambda: BagOfWords(token_pattern=WORDS),
        "TF-IDF": lambda: TfIdf(token_pattern=WORDS), "BM25": lambda: BM25(token_pattern=WORDS),
        "char n-grams": lambda: TfIdf(analyzer="char_wb", ngram_range=(3, 5), min_df=2),
        "LSA": lambda: LSA(dim=100, vectorizer=TfIdf(token_pattern=WORDS, sublinear_tf=True))
    }
    if texts is None:
        texts = _articles() if name == "LSA" else sample_sentences()
    encoder = make[name]().fit(texts)
    encoder.name = name
    return encoder


def _articles() -> list[str]:
    from ..datasets import load

    return list(load("wikipedia-sample"))


def sample_sentences() -> list[str]:
    """The Wikipedia sample's sentences of >= 4 words, on which named encoders are fitted."""
    from ..text import split_sentences

    return [sentence for article in _articles()
            for sentence in split_sentences(article, min_words=4)]
