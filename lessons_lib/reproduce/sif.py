"""Arora, Liang and Ma 2017: what weights and removal bring on SemEval sets, and the choice of a.

The paper adds up GloVe vectors of 300 dimensions from 840 billion tokens; the course's GloVe and
skip-gram vectors stand in, so directions count and levels do not. Like the paper, all is Pearson's
r x 100, the mean over the files of a year. Discussed in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import Encoder
from ..counts.named import sample_sentences
from ..datasets import load
from ..datasets.records import SentencePairs
from ..evaluation import pair_cosines, pearson
from ..plots import tuning_curves
from ..plots.labels import new_figure
from ..plots.style import GREY, LINE_COLOURS, MARKERS, styled
from ..sentences import SIF, USIF, MeanEncoder
from ..vectors import WordVectors
from .entry import Entry, Series, declared
from .trained import quiet

__all__ = ["ENTRIES", "mean_pearson", "set_cosines"]

YEARS = {2012: "sts12", 2013: "sts13", 2014: "sts14", 2015: "sts15"}
METHODS = ("mean", "TF-IDF mean", "SIF", "uSIF")
GRID = [1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 1.0]
SCALES: dict[str, dict[str, Any]] = {"smoke": {"years": [2012, 2013], "a": [1e-5, 1e-3, 1e-1]},
                                     "laptop": {"years": list(YEARS), "a": GRID},
                                     "paper": {"years": list(YEARS), "a": GRID}}


def set_cosines(encoder: Encoder, pairs: SentencePairs) -> np.ndarray:
    """The cosine of each pair of a set, whose sentences are encoded together."""
    i = np.arange(len(pairs))
    with quiet():  # a handful of sentences hold no known word
        vectors = encoder.encode(list(pairs.sentence1) + list(pairs.sentence2))
    return pair_cosines(vectors, i, i + len(pairs))


def mean_pearson(encoder: Encoder, pairs: SentencePairs) -> float:
    """Pearson's r x 100 of cosines and grades, the unweighted mean over the files of a set."""
    cosines = set_cosines(encoder, pairs)
    files = np.array(pairs.subset if pairs.subset is not None else [pairs.name] * len(pairs))
    parts = [files == name for name in np.unique(files)]
    return 100 * float(np.mean([pearson(cosines[part], pairs.score[part]) for part in parts]))


def _vectors() -> dict[str, WordVectors]:
    """GloVe, which stands in for the paper's, and skip-gram, by what is added to a row's name."""
    return {"": load("course-vectors", model="glove"), ", skip-gram": load("course-vectors")}


def _measure_table(settings: Mapping[str, Any], seed: int) -> Series:
    sets = {year: load(YEARS[year]) for year in settings["years"]}
    own = {"counts": load("course-frequencies"), "components": "batch"}
    result = {}
    for kind, vectors in _vectors().items():
        methods = (MeanEncoder(vectors), MeanEncoder(vectors, "tfidf").fit(sample_sentences()),
                   SIF(vectors, **own).fit(),
                   USIF(vectors, sentence_length=11, normalise="dimensions", **own).fit())
        for name, encoder in zip(METHODS, methods, strict=True):
            result[name + kind] = {y: mean_pearson(encoder, pairs) for y, pairs in sets.items()}
    return result


@styled()
def _draw_table(entry: Entry, measured: Series) -> Any:
    """A panel for the paper and one for GloVe's vectors here: steps can be compared."""
    own = {name: row for name, row in measured.items() if "skip-gram" not in name}
    panels = {"paper, GloVe": entry.printed, "here, course GloVe": own}
    title = "SIF is above the mean in every year"
    fig, axes = new_figure(title, size=(7.2, 4.2), panels=2, sharey=True)
    for ax, (heading, rows) in zip(axes, panels.items(), strict=True):
        for name, colour, marker in zip(METHODS, LINE_COLOURS, MARKERS, strict=False):
            years = sorted(rows.get(name, {}))
            values = [rows[name][year] for year in years]
            ax.plot(years, values, "-", color=colour, marker=marker, label=name)
        ax.set(xticks=sorted({year for row in rows.values() for year in row}))
        ax.set(xlabel="SemEval year")
        ax.set_title(heading, loc="center", fontsize=12, color=GREY)
        ax.margins(x=0.08, y=0.12)
    axes[0].set(ylabel="Pearson × 100, mean over files")
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside lower center", ncols=len(METHODS), frameon=False)
    return fig


def _measure_a(settings: Mapping[str, Any], seed: int) -> Series:
    pairs, own = load("sts12"), {"counts": load("course-frequencies"), "components": "batch"}
    return {kind.removeprefix(", ") or "GloVe": {
        a: mean_pearson(SIF(vectors, a=a, **own).fit(), pairs) for a in settings["a"]}
        for kind, vectors in _vectors().items()}


def _step(m: Series, method: str) -> float:
    """How much better than the mean a method is over the years, for the worse kind of vectors."""
    rows = [(m["mean" + kind], m[method + kind]) for kind in ("", ", skip-gram")]
    return min(float(np.mean([own[x] - y for x, y in mean.items()])) for mean, own in rows)


ENTRIES = (
    declared("arora2017_table1", _measure_table, _draw_table, SCALES,
             sif=lambda m: _step(m, "SIF") > 2, tfidf=lambda m: _step(m, "TF-IDF mean") > 1),
    declared("arora2017_figure1", _measure_a, lambda entry, m: tuning_curves(
        list(next(iter(m.values()))), {name: list(row.values()) for name, row in m.items()},
        tolerance=0.5, marks={"the paper's a": 1e-3}, xlabel="a",
        title="Around a = 0.001 the score hardly depends on a",
        ylabel="Pearson × 100, mean over files of STS12"), SCALES,
             flat=lambda m: all(max(row.values()) - row[1e-3] < 2 for row in m.values()),
             too_small=lambda m: all(row[min(row)] < row[1e-3] - 1 for row in m.values())),
)
