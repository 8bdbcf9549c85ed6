"""Mikolov et al. 2013, two papers: noise against a tree, with and without subsampling; CBOW against skip-gram, one pass against three.

The papers' news texts are not free and a hundred times as long; Wikipedia stands in, so directions count and sizes do not. Discussed in lesson
``04_word2vec``.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import Any

from ..datasets import load
from ..evaluation import analogy_accuracy
from ..plots import score_curves
from ..text import Corpus
from ..vectors import WordVectors
from ..words import Word2Vec
from .entry import Claim, Entry, Series

__all__ = ["ENTRIES", "accuracies", "articles"]

THINNED = 1e-4                                   # t of subsampling: the paper's 1e-5 is for a text a hundred times as long
SCALES: dict[str, dict[str, Any]] = {"smoke": {"articles": 1500, "dim": 50, "epochs": (1, 3), "among": 10_000},
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


def accuracies(vectors: WordVectors, *, among: int) -> tuple[float, float, float]:
    """Semantic, syntactic and total accuracy of 3CosAdd in per cent, of the questions that can be asked with the ``among`` first words."""
    result = analogy_accuracy(vectors, first=among)
    parts = {True: [0.0, 0], False: [0.0, 0]}
    for section, (accuracy, covered, _) in result.by_section.items():
        part = parts[section.startswith("gram")]
        part[0] += (accuracy or 0.0) * covered
        part[1] += covered
    semantic, syntactic = (100 * right / max(1, asked) for right, asked in (parts[False], parts[True]))
    return semantic, syntactic, 100 * result.accuracy


def _trained(settings: Mapping[str, Any], seed: int, **options: Any) -> tuple[tuple[float, float, float], float]:
    """Accuracies of a model, and the minutes that its training took one processor, whatever else the machine did."""
    corpus = articles(settings["articles"])
    begin = time.process_time()
    model = Word2Vec(settings["dim"], seed=seed, **options).fit(corpus)
    minutes = (time.process_time() - begin) / 60
    return accuracies(model.vectors_, among=settings["among"]), minutes


# ------------------------------------------------------------------------------------------------ Table 1 of the distributed representations

SHOWN = {5: "NEG-5", 15: "NEG-15", 0: "HS"}      # negatives -> the table's name of the row; 0: hierarchical softmax


def _measure_objectives(settings: Mapping[str, Any], seed: int) -> Series:
    found: dict[str, dict[float, float]] = {}
    for sample, text in ((0.0, "whole text"), (THINNED, "subsampled")):
        for k in SHOWN:
            how = {"negatives": k} if k else {"objective": "hierarchical_softmax"}
            (semantic, syntactic, total), minutes = _trained(settings, seed, epochs=max(settings["epochs"]), sample=sample, **how)
            for name, value in (("semantic", semantic), ("syntactic", syntactic), ("total", total), ("minutes", minutes)):
                found.setdefault(f"{name}, {text}", {})[k] = value
    return found


def _draw_objectives(entry: Entry, measured: Series) -> Any:
    curves = {f"{text}, {where}": ([5, 15], [series[f"total, {text}"][k] for k in (5, 15)])
              for where, series in (("paper", entry.printed), ("here", measured)) for text in ("whole text", "subsampled")}
    return score_curves(curves, title="More noise words help; subsampling helps little or not", xlabel="noise words, k", ylabel="analogies solved, %",
                        levels={"tree, here": measured["total, whole text"][0]})


# ------------------------------------------------------------------------------------------------ Tables 5 and 6 of the efficient estimation


def _measure_architectures(settings: Mapping[str, Any], seed: int) -> Series:
    found: dict[str, dict[float, float]] = {}
    for name, how in (("CBOW", {"architecture": "cbow", "learning_rate": 0.05}), ("skip-gram", {})):
        for epochs in settings["epochs"]:
            values, _ = _trained(settings, seed, epochs=epochs, **how)
            for part, value in zip(("semantic", "syntactic", "total"), values, strict=True):
                found.setdefault(f"{name}, {part}", {})[epochs] = value
    return found


def _draw_architectures(entry: Entry, measured: Series) -> Any:
    curves = {f"{name}, {where}": (list(series[f"{name}, total"]), list(series[f"{name}, total"].values()))
              for where, series in (("paper", entry.printed), ("here", measured)) for name in ("CBOW", "skip-gram")}
    return score_curves(curves, title="Skip-gram solves more than CBOW; three passes solve more than one", xlabel="passes over the text",
                        ylabel="analogies solved, %")


# ------------------------------------------------------------------------------------------------ the entries

SETUP = ("Articles of Wikipedia, lower-cased, instead of news: 10 million words at the laptop's scale instead of 783 million or a billion, vectors "
         "of 100 numbers instead of 300; questions whose words are among the 20 000 most frequent. ")

ENTRIES = (
    Entry(
        id="mikolov2013_table1", paper="mikolov2013distributed", item="Table 1", lesson="word2vec",
        setup=SETUP + "Three passes, subsampling with t = 1e-4 instead of 1e-5, because the text is a hundred times as short. x = 0 is hierarchical "
                      "softmax. Minutes are those of one processor of the device named here.",
        printed={"semantic, whole text": {5: 54, 15: 58, 0: 40}, "syntactic, whole text": {5: 63, 15: 63, 0: 53},
                 "total, whole text": {5: 59, 15: 61, 0: 47}, "minutes, whole text": {5: 38, 15: 97, 0: 41},
                 "semantic, subsampled": {5: 58, 15: 61, 0: 59}, "syntactic, subsampled": {5: 61, 15: 61, 0: 52},
                 "total, subsampled": {5: 60, 15: 61, 0: 55}, "minutes, subsampled": {5: 14, 15: 36, 0: 21}},
        measure=_measure_objectives, draw=_draw_objectives, scales=SCALES,
        alt="Line chart: analogies solved against the number of noise words, in the paper and here, with and without subsampling, and the level of "
            "hierarchical softmax.",
        claims=(Claim("15 noise words solve more than 5", lambda m: m["total, whole text"][15] > m["total, whole text"][5]),
                Claim("noise solves more than the tree", lambda m: m["total, whole text"][5] > m["total, whole text"][0]),
                Claim("subsampling helps the semantic questions of the tree",
                      lambda m: m["semantic, subsampled"][0] > m["semantic, whole text"][0])),
        headline={"5 noise words": ("total, whole text", 5), "15": ("total, whole text", 15), "tree": ("total, whole text", 0)},
        why="The text has a hundredth of the paper's words, so nearly all words are rare: the tree asks about ten questions for each, noise five, "
            "and nothing can be spared for thinning out. That fits both failures; more text was not tried."),
    Entry(
        id="mikolov2013_architectures", paper="mikolov2013efficient", item="Tables 5 and 6, 300 numbers, 783 million words", lesson="word2vec",
        setup=SETUP + "CBOW with the rate 0.05 and skip-gram with 0.025, the program's defaults; 5 noise words instead of a softmax over a tree.",
        printed={"CBOW, semantic": {1: 13.8, 3: 15.5}, "CBOW, syntactic": {1: 49.9, 3: 53.1}, "CBOW, total": {1: 33.6, 3: 36.1},
                 "skip-gram, semantic": {1: 45.6, 3: 50.0}, "skip-gram, syntactic": {1: 52.2, 3: 55.9}, "skip-gram, total": {1: 49.2, 3: 53.3}},
        measure=_measure_architectures, draw=_draw_architectures, scales=SCALES,
        headline={"CBOW, 3 passes": ("CBOW, total", 3), "skip-gram, 1": ("skip-gram, total", 1), "skip-gram, 3": ("skip-gram, total", 3)},
        alt="Line chart: analogies solved against passes over the text. Skip-gram lies above CBOW, in the paper and here; three passes above one.",
        claims=(Claim("skip-gram solves more semantic questions than CBOW",
                      lambda m: all(m["skip-gram, semantic"][e] > y for e, y in m["CBOW, semantic"].items())),
                Claim("skip-gram solves more questions than CBOW in all",
                      lambda m: all(m["skip-gram, total"][e] > y for e, y in m["CBOW, total"].items())),
                Claim("three passes solve more than one", lambda m: all(m[f"{name}, total"][3] > m[f"{name}, total"][1]
                                                                         for name in ("CBOW", "skip-gram"))))),
)
