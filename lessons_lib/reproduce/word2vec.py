"""Mikolov et al. 2013: negative samples against a tree; CBOW against skip-gram.

The papers' news texts are not free and a hundred times as long; Wikipedia stands in, so directions
count and sizes do not. Discussed in lesson ``04_word2vec``.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import Any

from ..datasets import load
from ..evaluation import analogy_accuracy
from ..text import Corpus
from ..vectors import WordVectors
from ..words import Word2Vec
from .entry import Entry, Rows, Series, declared
from .pictures import score_lines

__all__ = ["ENTRIES", "PARTS", "accuracies", "articles"]

PARTS = ("semantic", "syntactic", "total")
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


def _draw_objectives(entry: Entry, measured: Series) -> Any:
    series = {f"{text}, {where}": {k: rows[f"total, {text}"][k] for k in (5, 15)}
              for where, rows in (("paper", entry.printed), ("here", measured))
              for text in ("whole text", "subsampled")}
    title = "More noise words help; subsampling helps little or not"
    levels = {"tree, here": measured["total, whole text"][0]}
    return score_lines(title, "noise words, k", "analogies solved, %", series, levels=levels)


def _measure_architectures(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}
    cbow = {"architecture": "cbow", "learning_rate": 0.05}
    for name, own in (("CBOW", cbow), ("skip-gram", {})):
        for epochs in settings["epochs"]:
            values = _trained(settings, seed, epochs=epochs, **own)
            for part, value in zip(PARTS, values, strict=False):  # without the minutes
                result.setdefault(f"{name}, {part}", {})[epochs] = value
    return result


def _draw_architectures(entry: Entry, measured: Series) -> Any:
    series = {f"{name}, {where}": rows[f"{name}, total"]
              for where, rows in (("paper", entry.printed), ("here", measured))
              for name in ("CBOW", "skip-gram")}
    title = "Skip-gram solves more than CBOW; three passes solve more than one"
    return score_lines(title, "passes over the text", "analogies solved, %", series)


def _ahead(m: Series, part: str) -> bool:
    """Whether skip-gram solves more of a part than CBOW, after every number of passes."""
    return all(m[f"skip-gram, {part}"][e] > y for e, y in m[f"CBOW, {part}"].items())


def _rises(m: Series, name: str) -> bool:
    return m[f"{name}, total"][3] > m[f"{name}, total"][1]


ENTRIES = (
    declared("mikolov2013_table1", _measure_objectives, _draw_objectives, SCALES),
    declared("mikolov2013_architectures", _measure_architectures, _draw_architectures, SCALES,
             semantic=lambda m: _ahead(m, "semantic"), total=lambda m: _ahead(m, "total"),
             passes=lambda m: _rises(m, "CBOW") and _rises(m, "skip-gram")),
)
