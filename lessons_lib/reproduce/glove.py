"""Pennington et al. 2014, Table 2: factorised counts, word2vec and GloVe on one text; Bojanowski et al. 2017: words with and without their parts.

The papers' texts are a hundred times as long; Wikipedia's first articles stand in, so directions count and sizes do not. Discussed in lesson
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..counts import LSA, Cooccurrences
from ..datasets import load
from ..evaluation import pair_cosines, spearman
from ..plots import similarity_matrix
from ..text import Corpus
from ..vectors import WordVectors
from ..words import FastText, GloVe, Word2Vec
from .entry import Claim, Entry, Series
from .word2vec import accuracies, articles

__all__ = ["ENTRIES", "graded"]

PARTS = ("semantic", "syntactic", "total")
SCALES: dict[str, dict[str, Any]] = {
    "smoke": {"articles": 1500, "dim": 50, "epochs": 3, "glove_epochs": 10, "contexts": 5000, "among": 10_000, "threads": 2},
    "laptop": {"articles": 4227, "dim": 100, "epochs": 5, "glove_epochs": 25, "contexts": 10_000, "among": 20_000, "threads": 2},
    "paper": {"articles": 17_000, "dim": 300, "epochs": 5, "glove_epochs": 100, "contexts": 10_000, "among": 30_000, "threads": 2}}


# ------------------------------------------------------------------------------------------------ Table 2 of GloVe

GROWTH: dict[str, Callable[[np.ndarray], np.ndarray]] = {"SVD": lambda x: x, "SVD-S": np.sqrt, "SVD-L": np.log1p}


def _factorised(corpus: Corpus, growth: Callable[[np.ndarray], np.ndarray], settings: Mapping[str, Any], seed: int) -> WordVectors:
    """Words by the strongest directions of their counts with the most frequent contexts."""
    counts = Cooccurrences.from_corpus(corpus, 10, threads=settings["threads"]).matrix()[:, : settings["contexts"]]
    counts.data = growth(counts.data.astype(np.float64))
    return WordVectors(corpus.vocabulary.tokens, LSA(settings["dim"], n_iter=2, scale="root", seed=seed).fit_transform(counts))


def _measure_methods(settings: Mapping[str, Any], seed: int) -> Series:
    corpus, usual = articles(settings["articles"]), {"dim": settings["dim"], "seed": seed, "threads": settings["threads"]}
    methods: dict[str, Callable[[], WordVectors]] = {
        name: functools.partial(_factorised, corpus, growth, settings, seed) for name, growth in GROWTH.items()}
    methods["CBOW"] = lambda: Word2Vec(architecture="cbow", learning_rate=0.05, epochs=settings["epochs"], **usual).fit(corpus).vectors_
    methods["skip-gram"] = lambda: Word2Vec(epochs=settings["epochs"], **usual).fit(corpus).vectors_
    methods["GloVe"] = lambda: GloVe(window=10, x_max=10, epochs=settings["glove_epochs"], **usual).fit(corpus).vectors_
    return {name: dict(enumerate(accuracies(fit(), among=settings["among"]))) for name, fit in methods.items()}


def _draw_methods(entry: Entry, measured: Series) -> Any:
    values = np.array([[series[name][k] for k in range(3) for series in (entry.printed, measured)] for name in measured])
    return similarity_matrix(values, list(measured), columns=[f"{part}, {where}" for part in PARTS for where in ("paper", "here")], limits=(0, 80),
                             form="{:.0f}", title="What each method solves, in the paper and here: % of the analogies")


# ------------------------------------------------------------------------------------------------ Tables 1 and 4 of fastText

SETS = ("wordsim353", "rareword")


def graded(words: Mapping[str, np.ndarray] | Callable[[list[str]], np.ndarray], name: str, dim: int) -> float:
    """Spearman correlation, times 100, of cosines and people's grades over *all* pairs of a set.

    Parameters: words, word -> vector, where a word without one is the zero vector, or a function that has a vector for any words; name of the set;
    dim, numbers per vector.
    """
    pairs = load(name)
    asked = [word.lower() for word in (*pairs.word1, *pairs.word2)]
    rows = words(asked) if callable(words) else np.array([words.get(word, np.zeros(dim)) for word in asked])
    return 100 * spearman(np.round(pair_cosines(rows, np.arange(len(pairs)), np.arange(len(pairs)) + len(pairs)), 12), pairs.score)


def _composed(model: FastText, words: list[str]) -> np.ndarray:
    """Vectors of any words; zero where no part of a word was ever seen."""
    from ..core.errors import UnknownWord

    rows = np.zeros((len(words), model.dim), dtype=np.float32)
    for i, word in enumerate(words):
        try:
            rows[i] = model.vector(word)
        except UnknownWord:
            continue
    return rows


def _measure_parts(settings: Mapping[str, Any], seed: int) -> Series:
    corpus, found = articles(settings["articles"]), {}
    usual = {"dim": settings["dim"], "seed": seed, "threads": settings["threads"], "epochs": settings["epochs"], "sample": 1e-3}
    for name, architecture, parts in (("skip-gram", "skip_gram", 0), ("CBOW", "cbow", 0), ("with parts", "skip_gram", 6)):
        model = FastText(architecture=architecture, min_n=min(parts, 3), max_n=parts, **usual).fit(corpus)
        semantic, syntactic, _ = accuracies(model.vectors_, among=settings["among"])
        known = dict(zip(model.vectors_.tokens, model.vectors_.matrix, strict=True))
        found[name] = {0: graded(known, SETS[0], model.dim), 1: graded(known, SETS[1], model.dim), 2: semantic, 3: syntactic}
    found["with parts, also for unseen words"] = found["with parts"] | {
        k: graded(functools.partial(_composed, model), name, model.dim) for k, name in enumerate(SETS)}
    return found


def _draw_parts(entry: Entry, measured: Series) -> Any:
    columns = ("WordSim-353", "RareWord", "semantic", "syntactic")
    values = np.array([[series[name][k] for k in range(4) for series in (entry.printed, measured)] for name in measured])
    return similarity_matrix(values, list(measured), columns=[f"{part}, {where}" for part in columns for where in ("paper", "here")],
                             limits=(0, 80), form="{:.0f}", title="Parts of words help the forms of words; the rest stays as it was")


# ------------------------------------------------------------------------------------------------ the entries

SETUP = ("Articles of Wikipedia, lower-cased: 10 million words at the laptop's scale, vectors of 100 numbers instead of 300; questions whose words "
         "are among the 20 000 most frequent. ")

ENTRIES = (
    Entry(
        id="pennington2014_table2", paper="pennington2014glove", item="Table 2, 300 numbers, 6 billion words", lesson="glove_and_fasttext",
        setup=SETUP + "Counts within ten words, weighted by distance; SVD of counts, of their roots and of log(1 + count), with square roots of the "
                      "singular values; x_max = 10 and 25 epochs. x = 0, 1, 2: semantic, syntactic, total.",
        printed={"SVD": {0: 6.3, 1: 8.1, 2: 7.3}, "SVD-S": {0: 36.7, 1: 46.6, 2: 42.1}, "SVD-L": {0: 56.6, 1: 63.0, 2: 60.1},
                 "CBOW": {0: 63.6, 1: 67.4, 2: 65.7}, "skip-gram": {0: 73.0, 1: 66.0, 2: 69.1}, "GloVe": {0: 77.4, 1: 67.0, 2: 71.7}},
        measure=_measure_methods, draw=_draw_methods, scales=SCALES,
        alt="Table of analogies solved, by method, in the paper and here. Of the three SVDs the one of logarithms solves most.",
        claims=(Claim("SVD of roots and of logarithms solves more than SVD of counts", lambda m: m["SVD"][2] < min(m["SVD-S"][2], m["SVD-L"][2])),
                Claim("SVD of logarithms solves more than SVD of roots", lambda m: m["SVD-S"][2] < m["SVD-L"][2]),
                Claim("GloVe solves more than SVD-L", lambda m: m["GloVe"][2] > m["SVD-L"][2]),
                Claim("GloVe solves more than skip-gram", lambda m: m["GloVe"][2] > m["skip-gram"][2]),
                Claim("GloVe is better at semantic than at syntactic questions", lambda m: m["GloVe"][0] > m["GloVe"][1])),
        headline={name: (name, 2) for name in ("SVD-L", "skip-gram", "GloVe")},
        why="The text has 10 million words instead of 6 billion. GloVe leads at the semantic questions, as printed, but its syntactic answers are "
            "too weak for the total; of SVD-S and SVD-L the former is better at both kinds. More text was not tried."),
    Entry(
        id="bojanowski2017_words", paper="bojanowski2017enriching", item="Tables 1 and 4, English", lesson="glove_and_fasttext",
        setup=SETUP + "All rows by one program, with and without parts; t = 1e-3 instead of 1e-4, because the text is a hundred times as short. "
                      "x = 0, 1: Spearman times 100 on all pairs of WordSim-353 and RareWord, a word without vector counts as zero; x = 2, 3: "
                      "semantic and syntactic analogies, %. The printed numbers are quoted from memory of the paper.",
        printed={"skip-gram": {0: 72, 1: 43, 2: 78.5, 3: 70.1}, "CBOW": {0: 73, 1: 43, 2: 78.2, 3: 69.9},
                 "with parts": {0: 71, 1: 46, 2: 77.8, 3: 74.9}, "with parts, also for unseen words": {0: 71, 1: 47, 2: 77.8, 3: 74.9}},
        measure=_measure_parts, draw=_draw_parts, scales=SCALES,
        headline={"syntactic, skip-gram": ("skip-gram", 3), "with parts": ("with parts", 3), "rare words, skip-gram": ("skip-gram", 1),
                  "parts": ("with parts", 1)},
        alt="Table of scores with and without parts of words, in the paper and here: parts help syntactic analogies and rare words most.",
        claims=(Claim("parts help syntactic analogies", lambda m: m["with parts"][3] > m["skip-gram"][3]),
                Claim("parts do not help semantic analogies", lambda m: m["with parts"][2] <= m["skip-gram"][2]),
                Claim("parts help rare words", lambda m: m["with parts"][1] > m["skip-gram"][1]),
                Claim("vectors for unseen words help rare words further",
                      lambda m: m["with parts, also for unseen words"][1] > m["with parts"][1]))),
)
