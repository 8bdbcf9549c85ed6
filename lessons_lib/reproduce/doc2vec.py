"""Le and Mikolov 2014: the error of paragraph vectors on film reviews (IMDB), and their order.

The paper's 7.42 % was not reached by others; a well-known repetition with another program, whose
settings are used here, got 10.5 %. So the claims are about directions: which model is ahead, and
what the order in which reviews are read does to the error. Discussed in lesson ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import generator
from ..datasets import load
from ..evaluation import linear_probe
from ..plots import probe_bars
from ..sentences import Doc2Vec
from ..text import Corpus
from .entry import Entry, Series, declared

__all__ = ["ENTRIES"]

MODELS: dict[str, dict[str, Any]] = {
    "PV-DBOW": {"model": "dbow"},
    "PV-DM, mean": {"model": "dm", "window": 10, "learning_rate": 0.05},
    "PV-DM, concat": {"model": "dm", "combine": "concat"}}
TREE = {"model": "dbow", "objective": "hierarchical_softmax"}
ORDERS = ("shuffled", "each half sorted by grade", "both halves sorted as one")
PAPER = "paper, both models"
TOGETHER = (("PV-DBOW", "PV-DM, mean"), ("PV-DBOW", "PV-DM, concat"))
COMMON = {"dim": 100, "min_count": 2, "sample": 0.0, "negatives": 5}
SCALES: dict[str, dict[str, Any]] = {"smoke": {"reviews": 1500, "epochs": 10},
                                     "laptop": {"reviews": 25_000, "epochs": 20},
                                     "paper": {"reviews": 25_000, "epochs": 20}}


def _order(name: str, labels: np.ndarray) -> np.ndarray:
    """In which order the reviews are read; the first half of them is for training."""
    if name == "shuffled":
        return np.arange(len(labels))
    if name == "both halves sorted as one":
        return np.argsort(labels, kind="stable")
    return np.lexsort((labels, np.arange(len(labels)) >= len(labels) // 2))


def _learned(texts: list[str], own: Mapping[str, Any], epochs: int, seed: int,
             order: np.ndarray) -> np.ndarray:
    """Vectors of all reviews: as in the repetition, the test's are trained with the others."""
    corpus = Corpus.from_texts([texts[i] for i in order], min_count=COMMON["min_count"])
    vectors = np.empty((len(texts), COMMON["dim"]), dtype=np.float32)
    model = Doc2Vec(**COMMON, epochs=epochs, seed=seed, **own).fit(corpus)
    vectors[order] = model.document_vectors_.matrix
    return vectors


def _measure(settings: Mapping[str, Any], seed: int) -> Series:
    n, epochs = settings["reviews"], settings["epochs"]
    texts: list[str] = []
    halves = []
    for split in ("train", "test"):
        part = load("imdb", split=split)
        rows = generator(seed).permutation(len(part))[:n]
        texts += [part.texts[i] for i in rows]
        halves.append(np.asarray(part.labels)[rows])
    labels = np.concatenate(halves)
    shuffled = _order("shuffled", labels)
    vectors = {name: _learned(texts, own, epochs, seed, shuffled) for name, own in MODELS.items()}
    for names in TOGETHER:
        vectors[" + ".join(names)] = np.hstack([vectors[name] for name in names])
    for name in ORDERS:
        order = _order(name, labels)
        vectors[f"PV-DBOW, tree, {name}"] = _learned(texts, TREE, epochs, seed, order)
    return {name: {x.shape[1]: 100 * (1 - linear_probe(x[:n], labels[:n], x[n:], labels[n:]))}
            for name, x in vectors.items()}


def _draw(entry: Entry, measured: Series) -> Any:
    # the repetition's numbers stand in the lesson's table
    rows = {**measured, PAPER: entry.printed[PAPER]}
    return probe_bars(
        {name: [100 - error for error in points.values()] for name, points in rows.items()},
        title="The paper's accuracy is not reached; PV-DBOW is ahead of PV-DM",
        xlabel="accuracy on test reviews, %", marked=list(measured), chance=50)


def _error(measured: Series, name: str) -> float:
    return next(iter(measured[name].values()))


ENTRIES = (
    declared("le2014_imdb", _measure, _draw, SCALES,
             dbow=lambda m: _error(m, "PV-DBOW") < _error(m, "PV-DM, mean"),
             concat=lambda m: _error(m, "PV-DM, concat") > _error(m, "PV-DM, mean"),
             order=lambda m: _error(m, f"PV-DBOW, tree, {ORDERS[2]}")
             < _error(m, f"PV-DBOW, tree, {ORDERS[0]}")),
)
