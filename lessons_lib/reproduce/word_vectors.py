"""Mikolov et al. 2013; Pennington et al. 2014; Bojanowski et al. 2017: words from one text.

Negative samples against a tree, CBOW against skip-gram; factorised counts against GloVe; words with
and without subwords. The papers' texts are a hundred times as long; Wikipedia's first articles
stand in, so directions count and sizes do not. Lessons ``04_word2vec``, ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core import DataMissing, UnknownWord
from ..counts import LSA, Cooccurrences
from ..datasets import load
from ..evaluation import analogy_accuracy, pair_cosines, spearman
from ..text import Corpus
from ..vectors import WordVectors
from ..words import FastText, GloVe, Word2Vec
from .entry import CONTROL, Draw, Entry, Rows, Series, declared
from .pictures import paired_table, score_lines

__all__ = ["AUTHORS", "ENTRIES", "accuracies", "articles", "authors_vectors", "graded"]

PARTS = ("semantic", "syntactic", "total")
AUTHORS = "authors' GloVe, 50d"  # how rows of these vectors are called
SUBSAMPLED = 1e-4  # t: the paper's 1e-5 is for a text a hundred times as long
NEGATIVES = (5, 15, 0)  # 0: hierarchical softmax
SCALES: dict[str, dict[str, Any]] = {
    "smoke": {"articles": 1500, "dim": 50, "epochs": (1, 3), "among": 10_000},
    "laptop": {"articles": 4227, "dim": 100, "epochs": (1, 3), "among": 20_000},
    "paper": {"articles": 17_000, "dim": 300, "epochs": (1, 3), "among": 30_000}}


@functools.lru_cache(maxsize=1)
def articles(n: int) -> Corpus:
    """Words of the first n articles of the Wikipedia shards, as many shards as that takes."""
    taken: list[str] = []
    for shard in range(4):
        if len(taken) < n:
            taken += list(load("wiki", shards=[shard]))
    return Corpus.from_texts(taken[:n], min_count=5)


def authors_vectors() -> dict[str, WordVectors]:
    """The vectors that the authors of GloVe gave away, by how their rows are called; nothing where
    their package is not installed, which is told."""
    try:
        return {AUTHORS: load("glove-6b-50d")}
    except DataMissing as error:
        logging.getLogger(__name__).warning("No row %r: %s", AUTHORS, error)
        return {}


def accuracies(vectors: WordVectors, *, among: int) -> tuple[float, float, float]:
    """Semantic, syntactic and total accuracy of 3CosAdd in per cent, among the first words."""
    result = analogy_accuracy(vectors, first=among)
    right, asked = {True: 0.0, False: 0.0}, {True: 0, False: 0}
    for section, (accuracy, covered, _) in result.by_section.items():
        syntactic = section.startswith("gram")
        right[syntactic] += (accuracy or 0.0) * covered
        asked[syntactic] += covered
    parts = (100 * right[kind] / max(1, asked[kind]) for kind in (False, True))
    return *parts, 100 * result.accuracy


def _trained(settings: Mapping[str, Any], seed: int, **options: Any) -> tuple[float, ...]:
    """Accuracies of a model, and the minutes that its training took one processor."""
    corpus = articles(settings["articles"])
    begin = time.process_time()
    model = Word2Vec(settings["dim"], seed=seed, **options).fit(corpus)
    minutes = (time.process_time() - begin) / 60
    return *accuracies(model.vectors_, among=settings["among"]), minutes


def _measure_objectives(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}
    for sample, text in ((0.0, "whole text"), (SUBSAMPLED, "subsampled")):
        for k in NEGATIVES:
            own = {"negatives": k} if k else {"objective": "hierarchical_softmax"}
            epochs = max(settings["epochs"])
            values = _trained(settings, seed, epochs=epochs, sample=sample, **own)
            for name, value in zip((*PARTS, "minutes"), values, strict=True):
                result.setdefault(f"{name}, {text}", {})[k] = value
    return result


def _both(entry: Entry, measured: Series, rows: Mapping[str, str]) -> Series:
    """Rows of the paper and of here, by what a line is called."""
    return {f"{name}, {where}": series[row] for where, series in (
        ("paper", entry.printed), ("here", measured)) for name, row in rows.items()}


def _draw_objectives(entry: Entry, measured: Series) -> Any:
    rows = _both(entry, measured, {name: f"total, {name}" for name in ("whole text", "subsampled")})
    return score_lines("More noise words help; subsampling helps little or not", "noise words, k",
                       "analogies solved, %",
                       {name: {k: row[k] for k in (5, 15)} for name, row in rows.items()},
                       levels={"tree, here": measured["total, whole text"][0]})


def _measure_architectures(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}
    cbow = {"architecture": "cbow", "learning_rate": 0.05}
    for name, own in (("CBOW", cbow), ("skip-gram", {})):
        for epochs in settings["epochs"]:
            values = _trained(settings, seed, epochs=epochs, **own)
            for part, value in zip(PARTS, values, strict=False):  # without the minutes
                result.setdefault(f"{name}, {part}", {})[epochs] = value
    return result


def _ahead(m: Series, part: str) -> bool:
    """Whether skip-gram solves more of a part than CBOW, after every number of passes."""
    return all(m[f"skip-gram, {part}"][e] > y for e, y in m[f"CBOW, {part}"].items())


# Methods on one text, and words with subwords.
SETS = ("wordsim353", "rareword")
GROWTH: dict[str, Callable] = {"SVD": lambda x: x, "SVD-S": np.sqrt, "SVD-L": np.log1p}
METHOD_SCALES: dict[str, dict[str, Any]] = {
    "smoke": {"articles": 1500, "dim": 50, "epochs": 3, "glove_epochs": 10, "contexts": 5000,
              "among": 10_000, "threads": 2},
    "laptop": {"articles": 4227, "dim": 100, "epochs": 5, "glove_epochs": 25, "contexts": 10_000,
               "among": 20_000, "threads": 2},
    "paper": {"articles": 17_000, "dim": 300, "epochs": 5, "glove_epochs": 100, "contexts": 10_000,
              "among": 30_000, "threads": 2}}


def _measure_methods(settings: Mapping[str, Any], seed: int) -> Series:
    corpus, epochs, dim = articles(settings["articles"]), settings["epochs"], settings["dim"]
    usual = {"dim": dim, "seed": seed, "threads": settings["threads"]}
    cbow = {"architecture": "cbow", "learning_rate": 0.05}
    models = {"CBOW": Word2Vec(epochs=epochs, **cbow, **usual),
              "skip-gram": Word2Vec(epochs=epochs, **usual),
              "GloVe": GloVe(window=10, x_max=10, epochs=settings["glove_epochs"], **usual)}

    def scored(vectors: WordVectors) -> dict[float, float]:
        return dict(enumerate(accuracies(vectors, among=settings["among"])))

    counted = {}  # words by the strongest directions of their counts with frequent contexts
    for name, growth in GROWTH.items():
        counts = Cooccurrences.from_corpus(corpus, 10, threads=settings["threads"]).matrix()
        counts = counts[:, : settings["contexts"]]
        counts.data = growth(counts.data.astype(np.float64))
        matrix = LSA(dim, n_iter=2, scale="root", seed=seed).fit_transform(counts)
        counted[name] = scored(WordVectors(corpus.vocabulary.tokens, matrix))
    trained = {name: scored(model.fit(corpus).vectors_) for name, model in models.items()}
    given = {name: scored(vectors) for name, vectors in authors_vectors().items()}
    return counted | trained | given


def graded(words: Mapping[str, np.ndarray] | Callable[[list[str]], np.ndarray], name: str,
           dim: int) -> float:
    """Spearman x 100 of cosines and people's grades over *all* pairs of a set. ``words``: word ->
    vector, where a word without one is the zero vector, or a function that has a vector for any
    words."""
    pairs = load(name)
    asked = [word.lower() for word in (*pairs.word1, *pairs.word2)]
    if callable(words):
        rows = words(asked)
    else:
        rows = np.array([words.get(word, np.zeros(dim)) for word in asked])
    i = np.arange(len(pairs))
    return 100 * spearman(np.round(pair_cosines(rows, i, i + len(i)), 12), pairs.score)


def _composed(model: FastText, words: list[str]) -> np.ndarray:
    """Vectors of any words; zero where no subword of a word was ever seen."""
    rows = np.zeros((len(words), model.dim), dtype=np.float32)
    for i, word in enumerate(words):
        with contextlib.suppress(UnknownWord):
            rows[i] = model.vector(word)
    return rows


def _measure_parts(settings: Mapping[str, Any], seed: int) -> Series:
    """Controls are the rows as training finds them: a pass at a rate that moves nothing."""
    corpus = articles(settings["articles"])
    usual = {name: settings[name] for name in ("dim", "threads", "epochs")}
    usual |= {"seed": seed, "sample": 1e-3}
    kinds = {"skip-gram": {"min_n": 0, "max_n": 0}, "with parts": {"min_n": 3, "max_n": 6},
             "CBOW": {"min_n": 0, "max_n": 0, "architecture": "cbow"}}
    result: Rows = {}
    for ending, still in (("", {}), (CONTROL, {"epochs": 1, "learning_rate": 1e-9})):
        for name, own in kinds.items():
            model = FastText(**usual | own | still).fit(corpus)
            vectors = model.vectors_
            known = dict(zip(vectors.tokens, vectors.matrix, strict=True))
            grades = [graded(known, dataset, model.dim) for dataset in SETS]
            semantic, syntactic, _ = accuracies(vectors, among=settings["among"])
            result[name + ending] = dict(enumerate((*grades, semantic, syntactic)))
            if model.max_n:
                words = functools.partial(_composed, model)
                unseen = {k: graded(words, dataset, model.dim) for k, dataset in enumerate(SETS)}
                of_all = result[name + ending] | unseen
                result[f"{name}, also for unseen words{ending}"] = of_all
    return result


def _paired(title: str, columns: Sequence[str]) -> Draw:
    """A table of percentages, in the paper and here."""
    return lambda entry, m: paired_table(title, columns, entry.printed, m,
                                         rows=[row for row in m if row in entry.printed],
                                         limits=(0, 80), form="{:.0f}")


ENTRIES = (
    declared("mikolov2013_table1", _measure_objectives, _draw_objectives, SCALES),
    declared("mikolov2013_architectures", _measure_architectures, lambda entry, m: score_lines(
        "Skip-gram solves more than CBOW; three passes solve more than one", "passes over the text",
        "analogies solved, %",
        _both(entry, m, {name: f"{name}, total" for name in ("CBOW", "skip-gram")})), SCALES,
             semantic=lambda m: _ahead(m, "semantic"), total=lambda m: _ahead(m, "total"),
             passes=lambda m: all(m[f"{name}, total"][3] > m[f"{name}, total"][1]
                                  for name in ("CBOW", "skip-gram"))),
    declared("pennington2014_table2", _measure_methods, _paired(
        "What each method solves, in the paper and here: % of the analogies", PARTS), METHOD_SCALES,
             svd=lambda m: m["SVD"][2] < min(m["SVD-S"][2], m["SVD-L"][2])),
    declared("bojanowski2017_words", _measure_parts, _paired(
        "Parts of words help the forms of words; the rest stays as it was",
        ("WordSim-353", "RareWord", "semantic", "syntactic")), METHOD_SCALES,
             semantic=lambda m: m["with parts"][2] <= m["skip-gram"][2]),
)
