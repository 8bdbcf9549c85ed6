"""Arora, Liang and Ma 2017: what weights and removal bring on the SemEval sets (Table 1), and how the score depends on a (Figure 1a).

The paper adds up GloVe vectors of 300 numbers trained on 840 billion tokens; the course's GloVe and skip-gram vectors stand in, so directions count
and levels do not. Like the paper, all is Pearson's r x 100, the mean over the files of a year, with directions from the evaluated sentences.
Discussed in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import DataWarning, Encoder
from ..counts.named import sample_sentences
from ..datasets import load
from ..datasets.records import SentencePairs
from ..evaluation import pair_cosines, pearson
from ..plots import tuning_curves
from ..plots.labels import new_figure
from ..plots.style import GREY, LINE_COLOURS, MARKERS, styled
from ..sentences import SIF, USIF, MeanEncoder
from ..vectors import WordVectors
from .entry import Claim, Entry, Series

__all__ = ["ENTRIES", "mean_pearson"]

YEARS = {2012: "sts12", 2013: "sts13", 2014: "sts14", 2015: "sts15"}
METHODS = ("mean", "TF-IDF mean", "SIF", "uSIF")
SMOKE_YEARS = [2012, 2013]
GRID = [1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1.0]
SCALES: dict[str, dict[str, Any]] = {"smoke": {"years": SMOKE_YEARS, "a": [1e-5, 1e-3, 1e-1]}, "laptop": {"years": list(YEARS), "a": GRID},
                                     "paper": {"years": list(YEARS), "a": GRID}}


def mean_pearson(encoder: Encoder, pairs: SentencePairs) -> float:
    """Pearson's r x 100 of cosines and grades, the unweighted mean over the files of a set.

    Parameters: encoder; pairs, whose ``subset`` names the file of each pair, None for one file. All sentences are encoded as one batch; one without
    a known word has cosine 0.
    """
    i = np.arange(len(pairs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)          # a handful of sentences hold no known word
        vectors = encoder.encode(list(pairs.sentence1) + list(pairs.sentence2))
    cosines = pair_cosines(vectors, i, i + len(pairs))
    files = np.array(pairs.subset if pairs.subset is not None else [pairs.name] * len(pairs))
    return 100 * float(np.mean([pearson(cosines[files == name], pairs.score[files == name]) for name in np.unique(files)]))


def _vectors() -> dict[str, WordVectors]:
    """The course's GloVe vectors, which stand in for the paper's, and skip-gram beside them, by what is added to a method's name."""
    return {"": load("course-vectors", model="glove"), ", skip-gram": load("course-vectors")}


# ------------------------------------------------------------------------------------------------ Table 1


def _methods(vectors: WordVectors) -> dict[str, Encoder]:
    counts = load("course-frequencies")
    return {"mean": MeanEncoder(vectors), "TF-IDF mean": MeanEncoder(vectors, "tfidf").fit(sample_sentences()),
            "SIF": SIF(vectors, counts=counts, components="batch").fit(),
            "uSIF": USIF(vectors, counts=counts, sentence_length=11, normalise="dimensions", components="batch").fit()}


def _measure_table(settings: Mapping[str, Any], seed: int) -> Series:
    sets = {year: load(YEARS[year]) for year in settings["years"]}
    return {method + suffix: {year: mean_pearson(encoder, pairs) for year, pairs in sets.items()}
            for suffix, vectors in _vectors().items() for method, encoder in _methods(vectors).items()}


@styled()
def _draw_table(entry: Entry, measured: Series) -> Any:
    """One panel for the paper and one for what was measured with GloVe's vectors, so that the steps between methods can be compared."""
    panels = {"paper, GloVe": entry.printed, "here, course GloVe": {name: row for name, row in measured.items() if "skip-gram" not in name}}
    fig, axes = new_figure("SIF is above the mean in every year", size=(7.2, 4.2), panels=2, sharey=True)
    for ax, (heading, rows) in zip(axes, panels.items(), strict=True):
        for name, colour, marker in zip(METHODS, LINE_COLOURS, MARKERS, strict=False):
            years = sorted(rows.get(name, {}))
            ax.plot(years, [rows[name][year] for year in years], "-", color=colour, marker=marker, label=name)
        ax.set(xticks=sorted({year for row in rows.values() for year in row}), xlabel="SemEval year")
        ax.set_title(heading, loc="center", fontsize=12, color=GREY)
        ax.margins(x=0.08, y=0.12)
    axes[0].set(ylabel="Pearson × 100, mean over files")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS), frameon=False)
    return fig


def _steps(measured: Series, one: str, other: str) -> list[float]:
    """How much better ``other`` is than ``one``: the mean over the years, for each kind of vectors."""
    return [float(np.mean([measured[other + kind][x] - y for x, y in measured[one + kind].items()])) for kind in ("", ", skip-gram")]


# ------------------------------------------------------------------------------------------------ Figure 1a


def _measure_a(settings: Mapping[str, Any], seed: int) -> Series:
    pairs, counts = load("sts12"), load("course-frequencies")
    found: dict[str, dict[float, float]] = {}
    for suffix, vectors in _vectors().items():
        name = suffix.removeprefix(", ") or "GloVe"
        found[name] = {a: mean_pearson(SIF(vectors, a=a, counts=counts, components="batch").fit(), pairs) for a in settings["a"]}
    return found


def _draw_a(entry: Entry, measured: Series) -> Any:
    sizes = list(next(iter(measured.values())))
    return tuning_curves(sizes, {name: list(row.values()) for name, row in measured.items()}, tolerance=0.5, marks={"the paper's a": 1e-3},
                         title="Around a = 0.001 the score hardly depends on a", xlabel="a", ylabel="Pearson × 100, mean over files of STS12")


# ------------------------------------------------------------------------------------------------ the entries

SETUP = ("The course's GloVe and skip-gram vectors (100 numbers, 51 million tokens) instead of GloVe with 300 numbers and 840 billion tokens; word "
         "frequencies of the course's text. The directions come from both sentences of all pairs of a set, where the authors' program takes the "
         "first and the second sentences apart. ")

ENTRIES = (
    Entry(
        id="arora2017_table1", paper="arora2017simple", item="Table 1", lesson="sif_and_usif",
        setup=SETUP + "STS13 lacks the file that is not public. uSIF is no part of the paper's table.",
        printed={"mean": {2012: 52.5, 2013: 42.3, 2014: 54.2, 2015: 52.7}, "TF-IDF mean": {2012: 58.7, 2013: 52.1, 2014: 63.8, 2015: 60.6},
                 "SIF": {2012: 56.2, 2013: 56.6, 2014: 68.5, 2015: 71.7}},
        measure=_measure_table, draw=_draw_table, scales=SCALES,
        alt="Two line charts of Pearson against the SemEval year, the paper's and ours: mean, TF-IDF mean and SIF; SIF lies above the mean in "
            "every year.",
        claims=(Claim("SIF is better than the mean of word vectors, averaged over the years", lambda m: min(_steps(m, "mean", "SIF")) > 2),
                Claim("TF-IDF weights alone are better than the mean", lambda m: min(_steps(m, "mean", "TF-IDF mean")) > 1))),
    Entry(
        id="arora2017_figure1", paper="arora2017simple", item="Figure 1a", lesson="sif_and_usif", printed={},
        setup=SETUP + "The paper draws curves and prints no numbers.",
        measure=_measure_a, draw=_draw_a, scales=SCALES,
        headline={"GloVe, a = 0.000001": ("GloVe", 1e-6), "0.001": ("GloVe", 1e-3), "1": ("GloVe", 1.0)},
        alt="Line chart: Pearson on STS12 against a on a log axis, one line for each kind of vectors; a flat top around a thousandth.",
        claims=(Claim("a = 0.001 is within 2 points of the best a", lambda m: all(max(row.values()) - row[1e-3] < 2 for row in m.values())),
                Claim("a very small a is worse than a = 0.001", lambda m: all(row[min(row)] < row[1e-3] - 1 for row in m.values())))),
)
