"""The encoders of lessons 04 to 06 by name: a method of this room and the word vectors that it adds
up, such as "sif-course".

Word frequencies are those of the course vectors' own text; directions come from the sentences of
the Wikipedia sample. Nothing is fitted on a set that is evaluated. One place for these settings, so
that ``lessons evaluate``, the lessons and the leaderboard mean the same by a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import Encoder, check_choice
from ..counts.named import sample_sentences
from ..vectors import WordVectors

__all__ = ["NAMED", "named_encoder"]

METHODS = ("mean", "tfidf", "sif", "usif")
# Name -> the dataset and which of its models
VECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "course": ("course-vectors", {}), "course-glove": ("course-vectors", {"model": "glove"}),
    "glove-sample": ("glove-sample", {}), "glove-6b-50d": ("glove-6b-50d", {}),
    "glove-6b-100d": ("glove-6b-100d", {})
}
NAMED = tuple(f"{method}-{vectors}" for vectors in VECTORS for method in METHODS)


def named_encoder(name: str, texts: Sequence[str] | None = None) -> Encoder:
    """A fitted encoder.

    Parameters
    ----------
    name : str, one of ``NAMED``
    texts : sequence of str, optional
        To fit on; None for the sentences of the Wikipedia sample.

    Returns
    -------
    Encoder
        With that name.

    Raises
    ------
    ValueError
        An unknown name.
    DataMissing
        The vectors are not on this machine.
    """
    from ..datasets import load

    method, _, vectors = check_choice("name", name, NAMED).partition("-")
    dataset, options = VECTORS[vectors]
    encoder = _encoder(method, load(dataset, **options))
    if method != "mean":
        encoder.fit(sample_sentences() if texts is None else texts)
    encoder.name = name
    return encoder


def _encoder(method: str, vectors: WordVectors) -> Any:
    from ..datasets import load
    from . import SIF, USIF, MeanEncoder

    if method in ("mean", "tfidf"):
        return MeanEncoder(vectors, {"mean": "uniform"}.get(method, method))
    counts = load("course-frequencies")
    if method == "sif":
        return SIF(vectors, counts=counts)
    return USIF(vectors, counts=counts, sentence_length=11)
