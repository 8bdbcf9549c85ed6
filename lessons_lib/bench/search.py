"""Search: BM25 from lists of words beside bm25s and rank-bm25, exact neighbours beside faiss, and
how many passages of a folder are indexed in a second.

The peers' scores are made comparable, not their places, which ties decide: bm25s leaves out the
factor k1 + 1, and rank-bm25 gets Lucene's idf in place of its own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core import generator
from .counts import _paragraphs
from .gates import close
from .measure import Case, peer_module

K = 10
BM25S, RANK_BM25, FAISS = 1.0, 20.0, 1.0         # goals, times faster
PASSAGES_A_SECOND = 1500.0
WORD = re.compile(r"(?u)\b\w\w+\b")


def _questions(n: int) -> list[str]:
    """n questions of six words each, of a text's own."""
    rng, questions = generator(1), []
    for text in _paragraphs(n):
        words = WORD.findall(text)
        questions.append(" ".join(words[i] for i in rng.integers(len(words), size=6)))
    return questions


def _tokens(texts: list[str]) -> Any:
    tokenize = peer_module("bm25s").tokenize
    return tokenize(texts, stopwords=None, show_progress=False)


def _bm25s_index(texts: list[str]) -> Any:
    index = peer_module("bm25s").BM25(method="lucene", k1=1.5, b=0.75, backend="numba")
    index.index(_tokens(texts), show_progress=False)
    return index


def _bm25s_best(index: Any, questions: list[str]) -> np.ndarray:
    result = index().retrieve(_tokens(questions), k=K, show_progress=False, n_threads=1)
    return 2.5 * result.scores                     # k1 + 1


def _rank_bm25_index(texts: list[str]) -> Any:
    index = peer_module("rank_bm25").BM25Okapi([WORD.findall(text.lower()) for text in texts])
    in_texts: dict[str, int] = {}
    for frequencies in index.doc_freqs:
        for word in frequencies:
            in_texts[word] = in_texts.get(word, 0) + 1
    n = len(texts)
    index.idf = {word: float(np.log1p((n - df + 0.5) / (df + 0.5)))
                 for word, df in in_texts.items()}
    return index


def _rank_bm25_best(index: Any, questions: list[str]) -> np.ndarray:
    made = index()
    scores = [made.get_scores(WORD.findall(question.lower())) for question in questions]
    return np.stack([np.sort(row)[::-1][:K] for row in scores])


def _same_scores(hits: list[list[tuple[int, float]]], theirs: np.ndarray) -> bool:
    """Whether the k best scores of each question are equal; 0 where fewer texts share a word."""
    scores = np.zeros(theirs.shape)
    for row, of_question in zip(scores, hits, strict=True):
        row[: len(of_question)] = [score for _, score in of_question]
    return close(1e-3)(scores, theirs)


def bm25_cases(n: int = 50_000, questions: int = 200) -> Iterator[Case]:
    """Indexing beside bm25s, and answering beside both peers."""
    from ..search import InvertedIndex

    texts, asked = _paragraphs(n), _questions(questions)
    index = InvertedIndex().fit(texts)
    bm25s, rank_bm25 = cache(partial(_bm25s_index, texts)), cache(partial(_rank_bm25_index, texts))
    yield Case("search", f"inverted index of {n:,} texts, 1 thread", "bm25s, numba",
               partial(InvertedIndex(threads=1).fit, texts), partial(_bm25s_index, texts),
               lambda ours, theirs: len(ours) == theirs.scores["num_docs"], n, "texts", BM25S,
               "as many texts", threads=1)
    for peer, built, theirs, goal, some in (
            ("bm25s, numba", bm25s, _bm25s_best, BM25S, asked),
            ("rank-bm25 with Lucene's idf", rank_bm25, _rank_bm25_best, RANK_BM25, asked[:20])):
        yield Case("search", f"BM25, {K} best of {n:,} texts, 1 thread", peer,
                   partial(index.search_each, some, k=K), partial(theirs, built, some),
                   _same_scores, len(some), "questions", goal, "the k best scores equal to 1e-3",
                   threads=1)


def _flat(x: np.ndarray) -> Any:
    faiss = peer_module("faiss", "faiss-cpu")
    index = faiss.IndexFlatIP(x.shape[1])
    index.add(x)
    return index


def _flat_search(index: Any, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    faiss = peer_module("faiss", "faiss-cpu")
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        return index().search(queries, K)
    finally:
        faiss.omp_set_num_threads(before)


def exact_cases(n: int = 100_000, dim: int = 256) -> Iterator[Case]:
    """One question, and many at a time."""
    from ..search import ExactNeighbours

    x = generator(0).standard_normal((n, dim), dtype=np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    ours, flat = ExactNeighbours().fit(x), cache(partial(_flat, x))
    for m in (1, 200):
        queries = x[:m] + 0.1
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        yield Case("search", f"exact neighbours of {m} in {n:,} x {dim}, 1 thread",
                   "faiss IndexFlatIP", partial(ours.search, queries, k=K),
                   partial(_flat_search, flat, queries),
                   lambda ours, theirs: np.allclose(ours[0], theirs[0], atol=1e-5), m, "questions",
                   FAISS, "cosines equal to 1e-5", threads=1)


def _indexed(encoder: Any, folder: Path) -> int:
    from ..search import FolderIndex

    index = FolderIndex(encoder, overlap=0)
    index.update(folder)
    return len(index)


def folder_cases(n: int = 10_000) -> Iterator[Case]:
    """A folder of texts into words and vectors, by the course's bag."""
    from ..contextual import load_encoder

    texts, encoder = _paragraphs(n), load_encoder("lesson-bag")
    with tempfile.TemporaryDirectory() as home:
        for first in range(0, n, 100):
            file = Path(home) / f"{first}.txt"
            file.write_text("\n\n".join(texts[first : first + 100]), "utf-8")
        yield Case("search", f"folder of {n:,} paragraphs indexed, lesson-bag, 1 thread", "",
                   partial(_indexed, encoder, Path(home)), None,
                   lambda passages, _: 0.5 * n <= passages, n, "paragraphs",
                   n / PASSAGES_A_SECOND, "every paragraph is in a passage", threads=1)


def cases() -> Iterator[Case]:
    """The races, one after the other."""
    yield from bm25_cases()
    yield from exact_cases()
    yield from folder_cases()
