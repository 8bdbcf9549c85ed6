"""Blei, Ng and Jordan 2003: which topic models overfit, and which predicts held-out text best.

The paper's corpora (news, abstracts of biology) are not free; pages of Wikipedia stand in, so
directions count and sizes do not. Discussed in lesson ``03_topic_models``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from ..core import generator
from ..datasets import load
from ..text import Corpus, tokenize
from ..text.stop_words import ENGLISH
from ..topics import PLSA, OnlineLDA, as_counts, log_likelihood, split_documents
from .entry import Entry, Rows, Series, declared
from .pictures import score_lines

__all__ = ["ENTRIES", "unigram_mixture"]

PAGE, MIN_COUNT = 100, 5  # words of a page, occurrences of a word that is kept
ADDED = 0.01  # words added to each count, where a model would forbid what it has not seen
SCALES: dict[str, dict[str, Any]] = {
    "smoke": {"topics": [2, 20, 100], "n_iter": 40},
    "laptop": {"topics": [2, 5, 10, 20, 50, 100], "n_iter": 60},
    "paper": {"topics": [2, 5, 10, 20, 50, 100, 200], "n_iter": 100}}


@functools.lru_cache(maxsize=2)
def _pages(seed: int) -> tuple[Any, Any]:
    """Counts of pages of the bundled articles: four fifths to learn from, one fifth held out."""
    pages = []
    for text in load("wikipedia-sample"):
        kept = [w for w in tokenize(text) if w.isalpha() and len(w) > 2 and w not in ENGLISH]
        n = max(1, round(len(kept) / PAGE))
        pages += [part.tolist() for part in np.array_split(np.array(kept, dtype=object), n)]
    order = generator(seed).permutation(len(pages))
    n = len(pages) // 5
    corpus = Corpus.from_tokens([pages[i] for i in order[n:]], min_count=MIN_COUNT)
    held = Corpus.from_tokens([pages[i] for i in order[:n]])
    words = corpus.vocabulary.tokens
    return as_counts(corpus), as_counts(held, vocabulary=words, fitting=False)


def _perplexity(log_p: float, n_tokens: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(-log_p / n_tokens))


def unigram_mixture(matrix: sparse.csr_array, n_topics: int, *, n_iter: int,
                    seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A mixture of unigrams by EM: every document has one topic [blei2003latent, Sec. 4.2]. From
    (D, V) counts log p(topic), (K,), and log p(word | topic), (K, V); a hundredth of a word is
    added to each count of a topic."""
    belongs = generator(seed).dirichlet(np.ones(n_topics), size=matrix.shape[0])
    for _ in range(n_iter):
        words = (matrix.T @ belongs).T + ADDED
        log_words = np.log(words / words.sum(axis=1, keepdims=True))
        log_share = np.log(belongs.mean(axis=0) + 1e-12)
        belongs = _topics_of(matrix, log_share, log_words)
    return log_share, log_words


def _topics_of(matrix: Any, log_share: np.ndarray, log_words: np.ndarray) -> np.ndarray:
    """p(topic | document) under a mixture of unigrams, (D, K)."""
    score = matrix @ log_words.T + log_share
    return np.exp(score - logsumexp(score, axis=1, keepdims=True))


def _held_out(held: Any, log_share: np.ndarray, log_words: np.ndarray) -> float:
    """Perplexity under a mixture of unigrams, each document's topic summed out."""
    log_p = float(logsumexp(held.matrix @ log_words.T + log_share, axis=1).sum())
    return _perplexity(log_p, held.n_tokens)


def _measure_overfitting(settings: Mapping[str, Any], seed: int) -> Series:
    """As in the paper, pLSI gives a new document the mixture of each training document in turn."""
    train, held = _pages(seed)
    n_iter = settings["n_iter"]
    result: Rows = {"mixture of unigrams": {}, "pLSI": {}}
    for k in settings["topics"]:
        mixture = unigram_mixture(train.matrix, k, n_iter=n_iter, seed=seed)
        result["mixture of unigrams"][k] = _held_out(held, *mixture)
        model = PLSA(k, n_iter=n_iter, tol=0.0, seed=seed).fit(train)
        log_words = np.log(model.doc_topic_ @ model.components_ + 1e-300)  # forbidden: 10^-300
        log_share = np.log(train.document_lengths / train.n_tokens)
        result["pLSI"][k] = _held_out(held, log_share, log_words)
    return result


def _draw_overfitting(entry: Entry, measured: Series) -> Any:
    # the topics that were measured here
    series = {"pLSI, paper": {k: entry.printed["pLSI"][k] for k in measured["pLSI"]}}
    series |= {f"{name}, here": points for name, points in measured.items()}
    logs = {name: {k: np.log10(y) for k, y in points.items()} for name, points in series.items()}
    return score_lines("With many topics both models overfit", "topics, K",
                       "log10 of held-out perplexity", logs)


def _measure_order(settings: Mapping[str, Any], seed: int) -> Series:
    train, held = _pages(seed)
    first, second = split_documents(held, seed=seed)

    def completed(topics: np.ndarray, words: np.ndarray) -> float:
        return _perplexity(log_likelihood(second, topics, words), second.n_tokens)

    share = train.word_counts / train.n_tokens
    unigram = completed(np.ones((second.n_documents, 1)), share[None])
    names = ("unigram", "mixture of unigrams", "folded-in pLSI", "LDA")
    result: Rows = {name: {} for name in names}
    n_iter = settings["n_iter"]
    for k in settings["topics"]:
        mixture = unigram_mixture(train.matrix, k, n_iter=n_iter, seed=seed)
        plsi = PLSA(k, n_iter=n_iter, smoothing=ADDED, seed=seed).fit(train)
        lda = OnlineLDA(k, alpha=0.1, beta=0.05, n_epochs=20, seed=seed).fit(train)
        topics = _topics_of(first.matrix, *mixture)
        result["unigram"][k] = unigram
        result["mixture of unigrams"][k] = completed(topics, np.exp(mixture[1]))
        result["folded-in pLSI"][k] = plsi.perplexity(held, seed=seed)
        result["LDA"][k] = lda.perplexity(held, seed=seed)
    return result


ENTRIES = (
    declared("blei2003_table1", _measure_overfitting, _draw_overfitting, SCALES),
    declared("blei2003_figure9", _measure_order, lambda entry, m: score_lines(
        "LDA predicts held-out words best", "topics, K", "held-out perplexity",
        {name: row for name, row in m.items() if name != "unigram"},
        levels={"unigram": next(iter(m["unigram"].values()))}), SCALES,
             lda_best=lambda m: all(m["LDA"][k] < y for k, y in m["folded-in pLSI"].items()
                                    if k >= 5),
             plsi_helps=lambda m: all(m["folded-in pLSI"][k] < y for k, y in m["unigram"].items()),
             mixture_overfits=lambda m: m["mixture of unigrams"][max(m["unigram"])]
             > m["unigram"][max(m["unigram"])]),
)
