"""Blei, Ng and Jordan 2003: which topic models overfit as topics are added (Table 1), and which predicts held-out text best (Figure 9).

The paper's corpora (news, abstracts of biology) are not free; pages of Wikipedia stand in, so directions count and sizes do not. Discussed in lesson
``03_topic_models``.
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
from ..plots import score_curves
from ..text import Corpus, tokenize
from ..text.stop_words import ENGLISH
from ..topics import PLSA, OnlineLDA, as_counts, log_likelihood, split_documents
from .entry import Claim, Entry, Series

__all__ = ["ENTRIES", "unigram_mixture"]

PAGE, MIN_COUNT = 100, 5                        # words of a page, occurrences of a word that is kept
ADDED = 0.01                                    # words added to each count, where a model would forbid what it has not seen
SCALES: dict[str, dict[str, Any]] = {"smoke": {"topics": [2, 20, 100], "n_iter": 40}, "laptop": {"topics": [2, 5, 10, 20, 50, 100], "n_iter": 60},
                                     "paper": {"topics": [2, 5, 10, 20, 50, 100, 200], "n_iter": 100}}


@functools.lru_cache(maxsize=2)
def _pages(seed: int) -> tuple[Any, Any]:
    """Counts of pages of the bundled articles: four fifths to learn from, one fifth held out, with the words of the first part."""
    pages = []
    for text in load("wikipedia-sample"):
        kept = [w for w in tokenize(text) if w.isalpha() and len(w) > 2 and w not in ENGLISH]
        pages += [part.tolist() for part in np.array_split(np.array(kept, dtype=object), max(1, round(len(kept) / PAGE)))]
    order = generator(seed).permutation(len(pages))
    held, kept = order[: len(pages) // 5], order[len(pages) // 5 :]
    corpus = Corpus.from_tokens([pages[i] for i in kept], min_count=MIN_COUNT)
    return as_counts(corpus), as_counts(Corpus.from_tokens([pages[i] for i in held]), vocabulary=corpus.vocabulary.tokens, fitting=False)


def _perplexity(log_p: float, n_tokens: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(-log_p / n_tokens))


# ------------------------------------------------------------------------------------------------ the models of the paper


def unigram_mixture(matrix: sparse.csr_array, n_topics: int, *, n_iter: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A mixture of unigrams by EM: every document has one topic, and its words come from that alone.

    Parameters: matrix, (D, V) counts; a hundredth of a word is added to each count of a topic. Returns log p(topic), (K,), and log p(word | topic),
    (K, V). [blei2003latent, Sec. 4.2]
    """
    belongs = generator(seed).dirichlet(np.ones(n_topics), size=matrix.shape[0])
    for _ in range(n_iter):
        words = (matrix.T @ belongs).T + ADDED
        log_words = np.log(words / words.sum(axis=1, keepdims=True))
        log_share = np.log(belongs.mean(axis=0) + 1e-12)
        score = matrix @ log_words.T + log_share
        belongs = np.exp(score - logsumexp(score, axis=1, keepdims=True))
    return log_share, log_words


def _document_log_p(matrix: Any, log_share: np.ndarray, log_words: np.ndarray) -> float:
    """log p of all documents under a mixture of unigrams, each document's topic summed out."""
    return float(logsumexp(matrix @ log_words.T + log_share, axis=1).sum())


def _by_training_document(model: PLSA, train: Any, held: Any) -> float:
    """Perplexity when a new document takes the mixture of each training document in turn, as the paper scores pLSI."""
    log_words = np.log(model.doc_topic_ @ model.components_ + 1e-300)              # a forbidden word counts as 10^-300
    return _perplexity(_document_log_p(held.matrix, np.log(train.document_lengths / train.n_tokens), log_words), held.n_tokens)


# ------------------------------------------------------------------------------------------------ Table 1


def _measure_overfitting(settings: Mapping[str, Any], seed: int) -> Series:
    train, held = _pages(seed)
    found: dict[str, dict[float, float]] = {"mixture of unigrams": {}, "pLSI": {}}
    for k in settings["topics"]:
        mixture = unigram_mixture(train.matrix, k, n_iter=settings["n_iter"], seed=seed)
        found["mixture of unigrams"][k] = _perplexity(_document_log_p(held.matrix, *mixture), held.n_tokens)
        found["pLSI"][k] = _by_training_document(PLSA(k, n_iter=settings["n_iter"], tol=0.0, seed=seed).fit(train), train, held)
    return found


def _draw_overfitting(entry: Entry, measured: Series) -> Any:
    paper = {k: entry.printed["pLSI"][k] for k in measured["pLSI"]}             # the topics that were measured here
    both = {"pLSI, paper": paper, **{f"{name}, here": points for name, points in measured.items()}}
    curves = {name: (list(points), [np.log10(y) for y in points.values()]) for name, points in both.items()}
    return score_curves(curves, title="With many topics both models overfit", xlabel="topics, K", ylabel="log10 of held-out perplexity")


# ------------------------------------------------------------------------------------------------ Figure 9


def _measure_order(settings: Mapping[str, Any], seed: int) -> Series:
    train, held = _pages(seed)
    first, second = split_documents(held, seed=seed)
    share = train.word_counts / train.n_tokens
    unigram = _perplexity(log_likelihood(second, np.ones((second.n_documents, 1)), share[None]), second.n_tokens)
    found: dict[str, dict[float, float]] = {name: {} for name in ("unigram", "mixture of unigrams", "folded-in pLSI", "LDA")}
    for k in settings["topics"]:
        log_share, log_words = unigram_mixture(train.matrix, k, n_iter=settings["n_iter"], seed=seed)
        score = first.matrix @ log_words.T + log_share
        belongs = np.exp(score - logsumexp(score, axis=1, keepdims=True))
        found["unigram"][k] = unigram
        found["mixture of unigrams"][k] = _perplexity(log_likelihood(second, belongs, np.exp(log_words)), second.n_tokens)
        found["folded-in pLSI"][k] = PLSA(k, n_iter=settings["n_iter"], smoothing=ADDED, seed=seed).fit(train).perplexity(held, seed=seed)
        found["LDA"][k] = OnlineLDA(k, alpha=0.1, beta=0.05, n_epochs=20, seed=seed).fit(train).perplexity(held, seed=seed)
    return found


def _draw_order(entry: Entry, measured: Series) -> Any:
    curves = {name: (list(points), list(points.values())) for name, points in measured.items() if name != "unigram"}
    level = next(iter(measured["unigram"].values()))
    return score_curves(curves, levels={"unigram": level}, title="LDA predicts held-out words best", xlabel="topics, K",
                        ylabel="held-out perplexity")


# ------------------------------------------------------------------------------------------------ the entries

SETUP = ("Pages of about 100 words of 106 Wikipedia articles instead of news and abstracts of biology; one page in five held out, so test pages "
         "share articles with training pages. ")

ENTRIES = (
    Entry(
        id="blei2003_table1", paper="blei2003latent", item="Table 1", lesson="topic_models",
        setup=SETUP + "A hundredth of a word is added to the counts of the mixture of unigrams, which keeps it finite where the paper's explodes.",
        printed={"mixture of unigrams": {2: 22266, 5: 2.20e8, 10: 1.93e17, 20: 1.20e22, 50: 4.19e106, 100: 2.39e150, 200: 3.51e264},
                 "pLSI": {2: 7052, 5: 17588, 10: 63800, 20: 2.52e5, 50: 5.04e6, 100: 1.72e7, 200: 1.31e7}},
        measure=_measure_overfitting, draw=_draw_overfitting, scales=SCALES,
        headline={"perplexity, pLSI, 20 topics": ("pLSI", 20), "100 topics": ("pLSI", 100)},
        alt="Line chart: log10 of held-out perplexity against the number of topics. The paper's pLSI rises all the way; ours first falls and then "
            "rises.",
        claims=(Claim("pLSI with 100 topics predicts worse than with 20", lambda m: m["pLSI"][100] > m["pLSI"][20]),
                Claim("a mixture of unigrams with 100 topics predicts worse than with 2",
                      lambda m: m["mixture of unigrams"][100] > m["mixture of unigrams"][2]))),
    Entry(
        id="blei2003_figure9", paper="blei2003latent", item="Figure 9", lesson="topic_models", printed={},
        setup=SETUP + "All models are scored by document completion; a hundredth of a word is added for pLSI, which is infinitely bad without. The "
              "paper prints curves and no numbers.",
        measure=_measure_order, draw=_draw_order, scales=SCALES,
        headline={f"perplexity, 100 topics, {name}": (name, 100) for name in ("LDA", "folded-in pLSI", "mixture of unigrams")},
        alt="Line chart: held-out perplexity against the number of topics. LDA lies below folded-in pLSI, which lies below the unigram level.",
        claims=(Claim("LDA predicts better than folded-in pLSI at every K from 5 on",
                      lambda m: all(m["LDA"][k] < m["folded-in pLSI"][k] for k in m["LDA"] if k >= 5)),
                Claim("folded-in pLSI predicts better than the unigram model",
                      lambda m: all(m["folded-in pLSI"][k] < y for k, y in m["unigram"].items())),
                Claim("a mixture of unigrams with many topics predicts worse than the unigram model",
                      lambda m: m["mixture of unigrams"][max(m["unigram"])] > max(m["unigram"].values())))),
)
