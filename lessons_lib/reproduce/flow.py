"""BERT-flow (Li et al. 2020) beside other ways to calibrate a space (section 4.3), and how much of each similarity is spelling (section 4.4).

The paper reads bert-base-uncased, here the course's LessonBERT stands in, with its untrained twin beside every row: directions count, levels do not.
All is Spearman x 100 over the pairs of STS-B. Discussed in lesson ``11_bert_flow``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..datasets import load
from ..evaluation import pair_cosines, spearman
from ..isotropy import bert_flow
from ..plots import score_curves, similarity_matrix
from ..text import edit_distance, tokenize
from .bert import CONTROL
from .entry import Claim, Entry, Series
from .models import with_encoder
from .rounding_grid import Pairs, Sentences, encoded, quiet, with_control

__all__ = ["ENTRIES", "nulled"]

ALL_K = [0, 1, 2, 3, 4, 6, 8, 10, 15, 20]
SCALES = with_encoder({"smoke": {"k": [0, 1, 6, 10], "seeds": 1}, "laptop": {"k": ALL_K, "seeds": 3}, "paper": {"k": ALL_K, "seeds": 5}}, pairs=None)


def _vectors(model: str, seed: int, pooling: str, first: int | None) -> tuple[Sentences, np.ndarray, np.ndarray]:
    """All sentences, their vectors, and those on which a map is fitted: the sentences of all parts of STS-B, without their grades."""
    sentences, tables = encoded(model, seed, ("stsb",), 1, first=first)
    return sentences, tables[pooling], tables[pooling][sentences.target["stsb"]]


def _score(x: np.ndarray, pairs: Pairs, values: np.ndarray | None = None) -> float:
    """Spearman x 100 of the cosines of pairs of rows with grades or other values."""
    return 100 * float(spearman(pair_cosines(x, pairs.left, pairs.right), pairs.gold if values is None else values))


def nulled(x: np.ndarray, fitted_on: np.ndarray, k: int) -> np.ndarray:
    """Rows without their part along the first k right singular vectors of the rows they were fitted on, (n, d) float64; nothing is centred."""
    axes = np.linalg.svd(fitted_on.astype(np.float64), full_matrices=False)[2][:k]
    x = x.astype(np.float64)
    return x - (x @ axes.T) @ axes


# ------------------------------------------------------------------------------------------------ section 4.3


def _calibrated(model: str, seed: int, ks: list[int], first: int | None) -> dict[str, dict[float, float]]:
    sentences, vectors, x = _vectors(model, seed, "last", first)
    mean, spread, pairs = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64), sentences.tests["stsb"]
    flow = quiet(lambda: bert_flow("program", init_size=4096, seed=seed).fit(x))
    return {"nulled": {k: _score(nulled(vectors, x, k), pairs) for k in ks},
            "standardised, nulled": {k: _score(nulled((vectors - mean) / spread, (x - mean) / spread, k), pairs) for k in ks},
            "flow (target)": {0: _score(flow.transform(vectors), pairs)}}


def _measure_calibration(settings: Mapping[str, Any], seed: int) -> Series:
    return with_control(lambda model, k: _calibrated(model, k, settings["k"], settings["pairs"]), settings["seeds"], seed, settings["encoder"])


def _draw_calibration(entry: Entry, measured: Series) -> Any:
    lines = {name: row for name, row in measured.items() if name.removesuffix(CONTROL) != "flow (target)"}
    flows = {name: row[0] for name, row in measured.items() if name not in lines}
    return score_curves({name: (list(row), list(row.values())) for name, row in lines.items()}, levels=flows, log=False,
                        ticks=list(next(iter(lines.values()))), xlabel="singular directions taken away", ylabel="Spearman × 100, STS-B",
                        title="Other ways to calibrate the last layer, beside the flow")


# ------------------------------------------------------------------------------------------------ section 4.4


def _edits(first: int | None) -> tuple[Any, np.ndarray]:
    """The dev pairs of STS-B, and how many words of each have to change."""
    pairs = load("stsb", split="dev")
    pairs = pairs if first is None else pairs.select(np.arange(min(first, len(pairs))))
    cut = ([tokenize(text) for text in side] for side in (pairs.sentence1, pairs.sentence2))
    return pairs, np.array([edit_distance(a, b) for a, b in zip(*cut, strict=True)])


def _similarities(model: str, seed: int, edits: np.ndarray, first: int | None) -> dict[str, dict[float, float]]:
    sentences, vectors, x = _vectors(model, seed, "first-last", first)
    flow = quiet(lambda: bert_flow("program", init_size=4096, seed=seed).fit(x))
    ways = {"as they are": vectors, "standardised": (vectors - x.mean(axis=0)) / x.std(axis=0), "flow (target)": flow.transform(vectors)}
    return {name: {0: _score(z, sentences.dev, edits), 1: _score(z, sentences.dev)} for name, z in ways.items()}


def _measure_lexical(settings: Mapping[str, Any], seed: int) -> Series:
    pairs, edits = _edits(settings["pairs"])
    people = {"people": {0: 100 * float(spearman(pairs.score, edits)), 1: 100.0}}
    return people | with_control(lambda model, k: _similarities(model, k, edits, settings["pairs"]), settings["seeds"], seed,
                                  settings["encoder"])


def _draw_lexical(entry: Entry, measured: Series) -> Any:
    rows = {f"paper: {name}": row for name, row in entry.printed.items()} | {f"here: {name}": row for name, row in measured.items()}
    values = np.array([[row[0], row.get(1, 100.0)] for row in rows.values()])
    return similarity_matrix(values, list(rows), columns=["edit distance", "grades"], limits=None, form="{:.1f}",
                             title="How much of a similarity is spelling?")


# ------------------------------------------------------------------------------------------------ the entries

SETUP = ("LessonBERT instead of bert-base-uncased, and untrained models of its form (mean over seeds). The flow is that of the paper's program, "
         "fitted on the sentences of all parts of STS-B, its ActNorms set from 4,096 of them. Spearman times 100. ")

ENTRIES = (
    Entry(
        id="li2020_calibration", paper="li2020sentence", item="section 4.3, other ways to calibrate", lesson="bert_flow",
        setup=SETUP + "Last layer, test part of STS-B. x: singular directions taken away, of all sentences, not centred; 0 for the flow.",
        printed={"nulled": {0: 47.29, 1: 51.79, 10: 60.40}, "standardised, nulled": {0: 55.46, 1: 56.02, 6: 63.51}, "flow (target)": {0: 65.62}},
        measure=_measure_calibration, draw=_draw_calibration, scales=SCALES,
        alt="Line chart of Spearman on STS-B against the number of singular directions taken away, raw and standardised, trained and untrained, with "
            "the flow as level lines.",
        claims=(Claim("standardising alone helps", lambda m: m["standardised, nulled"][0] > m["nulled"][0]),
                Claim("taking directions away helps", lambda m: max(m["nulled"].values()) > m["nulled"][0]),
                Claim("the flow is better than standardising", lambda m: m["flow (target)"][0] > m["standardised, nulled"][0]),
                Claim("the flow is better than the best of both others together",
                      lambda m: m["flow (target)"][0] > max(*m["standardised, nulled"].values(), *m["nulled"].values())))),
    Entry(
        id="li2020_lexical", paper="li2020sentence", item="section 4.4, similarity and edit distance", lesson="bert_flow",
        setup=SETUP + "First and last layer, dev part of STS-B. Words in lower case are counted as edits; the paper does not say what it counted. "
                      "x = 0: with edit distance, 1: with grades.",
        printed={"people": {0: -24.61, 1: 100.0}, "as they are": {0: -50.49, 1: 59.30}, "flow (target)": {0: -28.01, 1: 74.09}},
        measure=_measure_lexical, draw=_draw_lexical, scales=SCALES,
        headline={"with edits, people": ("people", 0), "as it is": ("as they are", 0), "flow": ("flow (target)", 0)},
        alt="Table of Spearman times 100 of similarities with edit distance and with grades: people, BERT as it is, standardised and after a flow, "
            "in the paper, here and untrained.",
        claims=(Claim("BERT's similarity depends more on edit distance than people's", lambda m: m["as they are"][0] < m["people"][0]),
                Claim("after the flow it depends less on edit distance", lambda m: m["flow (target)"][0] > m["as they are"][0]),
                Claim("after the flow it agrees better with grades", lambda m: m["flow (target)"][1] > m["as they are"][1])),
        why="LessonBERT begins hardly more literal than people. Its raw cosines rise with the number of words in a pair, which covers spelling up, "
            "and the flow takes length away; the untrained twins do the same. Why the paper's BERT began more literal is not known."),
)
