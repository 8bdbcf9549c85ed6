"""BERT-flow (Li et al. 2020) beside other ways to calibrate a space, and how much is spelling.

Sections 4.3 and 4.4. The paper reads bert-base-uncased, here the course's LessonBERT stands in,
with its untrained twin beside every row: directions count, levels do not. All is Spearman x 100
over the pairs of STS-B. Discussed in lesson ``11_bert_flow``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..datasets import load
from ..evaluation import pair_cosines, spearman
from ..text import edit_distance, tokenize
from .entry import Entry, Rows, Series, declared
from .models import CONTROL, controlled, with_encoder
from .pictures import beside_paper, dots_of, gains, score_lines
from .rounding_grid import Pairs, Sentences, encoded, program_flow
from .trained import first_pairs

__all__ = ["ENTRIES", "nulled"]

ALL_K = [0, 1, 2, 3, 4, 6, 8, 10, 15, 20]
SCALES = with_encoder(
    {"k": [0, 1, 6, 10], "seeds": 1}, {"k": ALL_K, "seeds": 3}, {"k": ALL_K, "seeds": 5}, pairs=None
)
TARGET, SCALED = "flow (target)", "standardised, nulled"


def _vectors(model: str, seed: int, pooling: str,
             first: int | None) -> tuple[Sentences, np.ndarray, np.ndarray]:
    """All sentences, their vectors, and those of all parts of STS-B: a map is fitted on these."""
    sentences, tables = encoded(model, seed, ("stsb",), 1, first=first)
    return sentences, tables[pooling], tables[pooling][sentences.target["stsb"]]


def _score(x: np.ndarray, pairs: Pairs, values: np.ndarray | None = None) -> float:
    """Spearman x 100 of the cosines of pairs of rows with grades or other values."""
    cosines = pair_cosines(x, pairs.left, pairs.right)
    return 100 * float(spearman(cosines, pairs.gold if values is None else values))


def nulled(x: np.ndarray, fitted_on: np.ndarray, k: int) -> np.ndarray:
    """Rows without their part along the first k right singular vectors of others, uncentred."""
    axes = np.linalg.svd(fitted_on.astype(np.float64), full_matrices=False)[2][:k]
    x = x.astype(np.float64)
    return x - (x @ axes.T) @ axes


@controlled
def _measure_calibration(model: str, seed: int, settings: Mapping[str, Any]) -> Rows:
    sentences, vectors, x = _vectors(model, seed, "last", settings["pairs"])
    pairs = sentences.tests["stsb"]
    mean, spread = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64)
    z, fitted_on = (vectors - mean) / spread, (x - mean) / spread
    return {"nulled": {k: _score(nulled(vectors, x, k), pairs) for k in settings["k"]},
            SCALED: {k: _score(nulled(z, fitted_on, k), pairs) for k in settings["k"]},
            TARGET: {0: _score(program_flow(x, seed).transform(vectors), pairs)}}


def _draw_calibration(entry: Entry, measured: Series) -> Any:
    lines = {k: row for k, row in measured.items() if k.removesuffix(CONTROL) != TARGET}
    told = []
    for ending in ("", CONTROL):
        row, flow = measured["nulled" + ending], measured[TARGET + ending][0]
        told.append([f"{y - row[0]:.1f}" for y in (max(row.values()), flow)])
    (own, by_flow), twins = told
    return score_lines(
        f"Taking directions away adds {own} points (control {twins[0]}), the flow {by_flow} "
        f"({twins[1]})", "singular directions taken away", "Spearman × 100, STS-B",
        {k.replace("standardised", "scaled"): row for k, row in lines.items()}, log=False,
        ticks=list(next(iter(lines.values()))),
        levels={k: row[0] for k, row in measured.items() if k not in lines})


def _measure_lexical(settings: Mapping[str, Any], seed: int) -> Series:
    """How many words of each dev pair have to change, beside similarities and grades."""
    pairs = first_pairs(load("stsb", split="dev"), settings["pairs"])
    texts = zip(pairs.sentence1, pairs.sentence2, strict=True)
    edits = np.array([edit_distance(tokenize(a), tokenize(b)) for a, b in texts])

    def rows(model: str, seed: int, settings: Mapping[str, Any]) -> Rows:
        sentences, vectors, x = _vectors(model, seed, "first-last", settings["pairs"])
        ways = {"as they are": vectors, "standardised": (vectors - x.mean(axis=0)) / x.std(axis=0),
                TARGET: program_flow(x, seed).transform(vectors)}
        dev = sentences.dev
        return {name: {0: _score(z, dev, edits), 1: _score(z, dev)} for name, z in ways.items()}

    people = {"people": {0: 100 * float(spearman(pairs.score, edits)), 1: 100.0}}
    return people | controlled(rows)(settings, seed)


def _draw_lexical(entry: Entry, measured: Series) -> Any:
    names = ("people", "as they are", TARGET)
    rows = {f"{what}: {name}": dots_of(entry, measured, name, x)
            for x, what in enumerate(("edit distance", "grades")) for name in names}
    told = gains(entry, measured, TARGET, "as they are", 0)
    return beside_paper(rows, title=f"Correlation with edit distance, by the flow: {told}",
                        source="Li et al. 2020, BERT-base, section 4.4", groups=[len(names)],
                        encoder="LessonBERT", xlabel="Spearman × 100 with edit distance or grades")


ENTRIES = (
    declared("li2020_calibration", _measure_calibration, _draw_calibration, SCALES,
             nulling=lambda m: max(m["nulled"].values()) > m["nulled"][0],
             best=lambda m: m[TARGET][0] > max(*m[SCALED].values(), *m["nulled"].values())),
    declared("li2020_lexical", _measure_lexical, _draw_lexical, SCALES),
)
