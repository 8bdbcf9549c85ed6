"""How well does an encoder find what answers a question? Its cosines rank all passages.

A passage is encoded with its title before it, as the BEIR benchmark does. Every passage is compared
with every question: what an approximate index loses is measured elsewhere. Taught in ``17_search``.
[thakur2021beir]
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from ..core import Encoder, check_int, check_kind
from ..datasets import RetrievalSet, load
from ..search import ExactNeighbours, split_passages
from .retrieval import RetrievalResult, retrieval_scores
from .sts import _as_array, _check_encoder

__all__ = ["QUESTION_SETS", "evaluate_retrieval", "question_set", "titled"]

QUESTION_SETS = ("course-questions", "scifact", "cranfield")


def question_set(name: str = "course-questions", split: str = "test") -> RetrievalSet:
    """Questions with the passages that answer them.

    Parameters
    ----------
    name : str, default "course-questions"
        "course-questions", about the articles of ``wikipedia-sample`` cut into passages, or a set
        that ``datasets.load`` gives with its texts ("scifact", "cranfield").
    split : str, default "test"

    Returns
    -------
    RetrievalSet

    Raises
    ------
    ValueError
        Another name or split.
    DataMissing
        The set is not here.
    """
    chosen = load(name, split)
    if isinstance(chosen, RetrievalSet):
        return chosen
    if not hasattr(chosen, "judged"):
        raise ValueError(f"name={name!r} holds no questions; expected one of "
                         f"{', '.join(QUESTION_SETS)}")
    articles = load("wikipedia-sample")
    return chosen.judged(articles, [split_passages(text) for text in articles])


def titled(questions: RetrievalSet) -> list[str]:
    """The texts to be found, each behind its title where it has one and not all begin with theirs,
    as those of BEIR do.

    Parameters
    ----------
    questions : RetrievalSet

    Returns
    -------
    list of str
    """
    titles: Sequence[str] = questions.documents.titles or [""] * len(questions.documents)
    both = list(zip(titles, questions.documents, strict=True))
    if all(text.startswith(title) for title, text in both):
        return [text for _, text in both]
    return [f"{title}. {text}" if title else text for title, text in both]


def evaluate_retrieval(encoder: Encoder, questions: RetrievalSet | None = None, *, k: int = 10,
                       batch_size: int = 256, bootstrap: int = 1000,
                       seed: int = 0) -> RetrievalResult:
    """Score an encoder on questions: nDCG@k, recall@k and MRR@k of its nearest passages.

    Parameters
    ----------
    encoder : Encoder
        Anything with ``encode``, ``dim`` and ``name``.
    questions : RetrievalSet, optional
        None: `question_set`, the course's own.
    k : int >= 1, default 10
    batch_size : int >= 1, default 256
    bootstrap : int >= 0, default 1000
        Resamples of the 95 % interval, 0: none.
    seed : int, default 0

    Returns
    -------
    RetrievalResult
        With the encoder's dimension and the seconds of encoding and search.

    Raises
    ------
    TypeError
        No encoder, no questions.
    ValueError
        As `retrieval_scores`.
    DataMissing
        The set is not here.
    """
    _check_encoder(encoder)
    k, batch_size = check_int("k", k), check_int("batch_size", batch_size)
    if questions is None:
        questions = question_set()
    check_kind("questions", questions, RetrievalSet, "RetrievalSet. Make one with question_set")
    start = time.perf_counter()
    passages, asked = (_as_array(encoder, encoder.encode(texts, batch_size=batch_size))
                       for texts in (titled(questions), questions.question))
    _, rows = ExactNeighbours().fit(passages).search(asked, k=min(k, len(passages)))
    result = retrieval_scores(rows, questions.relevant, k=k, bootstrap=bootstrap, seed=seed)
    return replace(result, dim=passages.shape[1], seconds=time.perf_counter() - start,
                   split=questions.split)
