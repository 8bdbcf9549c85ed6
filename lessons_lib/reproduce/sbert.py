"""Sentence-BERT (Reimers and Gurevych 2019): which pooling and which features of a pair (Table 6), and what labels bring (Tables 1 and 2).

The paper tunes bert-base-uncased on a million pairs; here LessonBERT stands in at laptop scale, tuned for some seconds, with the same training from
start weights beside every row: directions count, levels do not. Discussed in lesson ``10_sbert``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..contrastive.sbert import SBert
from ..datasets import LabelledPairs, SentencePairs, Triplets, load
from ..plots import ablation_dots, similarity_matrix
from .bert import CONTROL, SETS, averages
from .entry import Claim, Entry, Series
from .models import PAPER
from .trained import PLACES, SD, trained_rows

__all__ = ["ENTRIES", "POOLINGS", "VARIANTS", "nli_pairs", "pairs_of_triplets", "sbert_of", "short_rows"]

POOLINGS = {"MEAN": "last", "MAX": "max", "CLS": "cls"}
VARIANTS = {"(u, v)": ("u", "v"), "(|u-v|)": ("|u-v|",), "(u*v)": ("u*v",), "(|u-v|, u*v)": ("|u-v|", "u*v"), "(u, v, u*v)": ("u", "v", "u*v"),
            "(u, v, |u-v|)": ("u", "v", "|u-v|"), "(u, v, |u-v|, u*v)": ("u", "v", "|u-v|", "u*v")}
ALL = "(u, v, |u-v|)"                             # the paper's own choice; with MEAN it is one training that stands in two rows
MANY = ("MEAN", ALL, "(u, v)")                    # rows that a claim sets against each other: several seeds
NLI, STS = 0, 1                                   # x of Table 6: what it was trained on


# ------------------------------------------------------------------------------------------------ what is trained


def short_rows(rows: Any, words: int | None) -> Any:
    """Those of pairs or triplets whose sentences have at most so many words each; None: all."""
    if words is None:
        return rows
    columns = (rows.premise, rows.entailment, rows.contradiction) if isinstance(rows, Triplets) else (rows.sentence1, rows.sentence2)
    return rows.select(np.array([max(len(text.split()) for text in row) <= words for row in zip(*columns, strict=True)]))


def nli_pairs(words: int | None = None, *, sources: Sequence[str] = ("snli_devtest",)) -> LabelledPairs:
    """Pairs with one of the three labels, in the order of the file. Raises DataMissing."""
    parts = [short_rows(load("nli-pairs", dataset=source), words) for source in sources]
    return LabelledPairs(*([value for part in parts for value in getattr(part, name)] for name in ("sentence1", "sentence2", "label", "dataset")))


def pairs_of_triplets(triplets: Triplets) -> LabelledPairs:
    """Labelled pairs where there are triplets only: each premise with what follows, with what contradicts, and, as a stand-in for neutral, with what
    follows from the next premise of the same topic, which this one rarely settles. Topics are ``triplets.columns["topic"]``."""
    topic = triplets.columns["topic"]
    following = {i: next(j % len(topic) for j in range(i + 1, i + 1 + len(topic)) if topic[j % len(topic)] == topic[i]) for i in range(len(topic))}
    second = {"entailment": triplets.entailment, "neutral": [triplets.entailment[following[i]] for i in range(len(topic))],
              "contradiction": triplets.contradiction}
    rows = [(triplets.premise[i], texts[i], label, triplets.name) for i in range(len(topic)) for label, texts in second.items()
            if label != "neutral" or following[i] != i]
    return LabelledPairs(*map(list, zip(*rows, strict=True)), name=triplets.name, split=triplets.split)


def sbert_of(settings: Mapping[str, Any], seed: int, encoder: ContextualEncoder, **own: Any) -> SBert:
    """A trainer with the settings of a scale, such as ``steps``, ``batch`` and ``rate``, and those of a row."""
    return SBert(encoder, batch_size=settings["batch"], steps=settings["steps"], learning_rate=settings["rate"], dropout=settings["dropout"],
                 seed=seed, **own)


def _on_nli(settings: Mapping[str, Any], **own: Any) -> Callable[[ContextualEncoder, int], SBert]:
    pairs = nli_pairs(settings["words"], sources=settings["sources"])
    return lambda encoder, seed: sbert_of(settings, seed, encoder, **own).fit(pairs)


def _on_triplets(settings: Mapping[str, Any]) -> Callable[[ContextualEncoder, int], SBert]:
    triplets = short_rows(load("nli"), settings["words"])
    return lambda encoder, seed: sbert_of(settings, seed, encoder, objective="triplet").fit(triplets)


def _graded(settings: Mapping[str, Any]) -> SentencePairs:
    return short_rows(load("stsb", split="train"), settings["words"])


def _on_grades(settings: Mapping[str, Any], **own: Any) -> Callable[[ContextualEncoder, int], SBert]:
    pairs, settings = _graded(settings), {**settings, "steps": settings["steps"] and settings["steps"] * settings.get("rounds", 1)}
    epochs = settings.get("rounds", 1)
    return lambda encoder, seed: sbert_of(settings, seed, encoder, objective="cosine", epochs=epochs, **own).fit(pairs)


def _on_both(settings: Mapping[str, Any]) -> Callable[[ContextualEncoder, int], SBert]:
    first, second = _on_nli(settings), _on_grades(settings)
    return lambda encoder, seed: second(first(encoder, seed).encoder_, seed)


# ------------------------------------------------------------------------------------------------ Table 6


def _measure_ablation(settings: Mapping[str, Any], seed: int) -> Series:
    found: dict[str, dict[float, float]] = {}

    def add(row: str, x: int, train: Callable, also: Sequence[str] = ()) -> None:
        n, controls = (settings["seeds"], settings["controls"]) if row in MANY and x == NLI else (settings["others"], min(1, settings["controls"]))
        rows = trained_rows(f"{row}, {'NLI' if x == NLI else 'STS-B'}", train, entry="reimers2019_table6", settings=settings, sets=("stsb dev",),
                            seeds=n, seed=seed, controls=controls)
        for ending in ("", SD, CONTROL, CONTROL + SD):
            for name, values in rows.items():
                if name.endswith(("NLI" if x == NLI else "STS-B") + ending):
                    for title in (row, *also):
                        found.setdefault(title + ending, {})[x] = values[PLACES.index("stsb dev")]

    for title, pooling in POOLINGS.items():
        add(title, NLI, _on_nli(settings, pooling=pooling), also=[ALL] if title == "MEAN" else [])
        add(title, STS, _on_grades(settings, pooling=pooling))
    for title, features in VARIANTS.items():
        if title != ALL:
            add(title, NLI, _on_nli(settings, features=features))
    return found


def _draw_ablation(entry: Entry, measured: Series) -> Any:
    rows = {f"{row}, {'NLI' if x == NLI else 'STS-B'}": (row, x) for row, x in [
        *((row, x) for x in (NLI, STS) for row in POOLINGS), *((row, NLI) for row in VARIANTS if row != ALL)]}

    def values(table: Series, ending: str = "") -> dict[str, Any]:
        return {name: (table[row + ending][x], table.get(row + ending + SD, {}).get(x, 0.0)) for name, (row, x) in rows.items()
                if x in table.get(row + ending, {})}

    return ablation_dots({"printed": values(entry.printed), "here": values(measured)}, controls={"here": values(measured, CONTROL)},
                         title="Which pooling, which features of a pair", xlabel="STS-B dev, Spearman × 100")


# ------------------------------------------------------------------------------------------------ Tables 1 and 2

RAW, ON_NLI, ON_STS, ON_BOTH = "mean of BERT", "SBERT, NLI", "SBERT, STS-B", "SBERT, NLI then STS-B"
TRIPLETS = "SBERT, NLI as triplets"               # no row of the paper: the same captions, another objective
STSB = SETS.index("stsb")


def _measure_tables(settings: Mapping[str, Any], seed: int) -> Series:
    own = {"entry": "reimers2019_tables1_2", "settings": settings, "seed": seed}
    found = trained_rows(RAW, lambda encoder, _: encoder, sets=settings["sets"], seeds=1, controls=min(1, settings["controls"]), **own)
    for row, train in ((ON_NLI, _on_nli(settings)), (TRIPLETS, _on_triplets(settings))):
        found |= trained_rows(row, train, sets=settings["sets"], seeds=settings["seeds"], controls=settings["controls"], **own)
    for row, train in ((ON_STS, _on_grades(settings)), (ON_BOTH, _on_both(settings))):
        found |= trained_rows(row, train, sets=("stsb",), seeds=settings["seeds"], controls=settings["controls"], **own)
    return found


def _draw_tables(entry: Entry, measured: Series) -> Any:
    rows = {f"paper: {name}": entry.printed[name] for name in entry.printed}
    shown = list(dict.fromkeys((RAW, ON_NLI, TRIPLETS, *entry.printed)))
    rows |= {f"{who}: {name}": measured[name + ending] for who, ending in (("here", ""), ("untrained", CONTROL)) for name in shown
             if name + ending in measured}
    places = sorted(set().union(*rows.values()))
    values = np.array([[row.get(x, np.nan) for x in places] for row in rows.values()])
    return _with_gaps(values, list(rows), [SETS[int(x)] for x in places])


def _with_gaps(values: np.ndarray, names: list[str], columns: list[str]) -> Any:
    """The table as a heat map; a set on which a row was not measured is an empty cell."""
    fig = similarity_matrix(np.where(np.isnan(values), np.nanmin(values), values), names, columns=columns, limits=None, form="{:.1f}",
                            title="What labels bring: no labels, NLI, grades of STS-B, both")
    ax = fig.axes[0]
    ax.images[0].set_data(np.ma.masked_invalid(values))
    for text in list(ax.texts):
        column, row = (int(k) for k in text.xy)
        if np.isnan(values[row, column]):
            text.set_text("")
    return fig


# ------------------------------------------------------------------------------------------------ the entries


def _row(*values: float) -> dict[int, float]:
    """Numbers in the order STS12 to STS16, STS-B, SICK-R."""
    return dict(enumerate(values))


def _gap(one: str, other: str, x: int = NLI) -> Callable[[Series], float]:
    return lambda m: m[one][x] - m[other][x]


_BASE = {"dropout": 0.1, "sources": ["snli_devtest"]}
_SMOKE = _BASE | {"encoder": "lesson-bert", "steps": 2, "batch": 4, "rate": 2e-4, "words": 10, "seeds": 1, "controls": 1, "others": 1,
                  "sets": ["stsb"]}
_LAPTOP = _BASE | {"encoder": "lesson-bert", "steps": 32, "batch": 16, "rate": 2e-4, "words": 14, "seeds": 3, "controls": 1, "others": 1,
                   "sets": list(SETS)}
_PAPER = {"encoder": PAPER, "steps": None, "batch": 16, "rate": 2e-5, "words": None, "seeds": 10, "controls": 1, "others": 10, "dropout": None,
          "sources": ["snli_devtest", "snli_cad"], "sets": list(SETS)}

SETUP = ("LessonBERT (mean of the last layer) instead of bert-base-uncased, and the same training from start weights beside every row. Spearman "
         "times 100 over all pairs. NLI: pairs of SNLI dev and test of at most 14 words a sentence, of which a training reads 512, where the paper "
         "has a million of SNLI and MultiNLI; 32 steps of 16 pairs at learning rate 0.0002, where the paper has an epoch of 16 at 0.00002. No dev "
         "set chooses weights. SNLI's captions and some of STS-B come from the same pictures: 61 test pairs of STS-B have a sentence in common with "
         "them. ")

ENTRIES = (
    Entry(
        id="reimers2019_table6", paper="reimers2019sentence", item="Table 6", lesson="sbert",
        setup=SETUP + "Dev part of STS-B. x = 0: trained on NLI, x = 1: on the grades of STS-B. Three seeds where a claim sets two rows against each "
                      "other, else one.",
        printed={"MEAN": {NLI: 80.78, STS: 87.44}, "MAX": {NLI: 79.07, STS: 69.92}, "CLS": {NLI: 79.80, STS: 86.62}, "(u, v)": {NLI: 66.04},
                 "(|u-v|)": {NLI: 69.78}, "(u*v)": {NLI: 70.54}, "(|u-v|, u*v)": {NLI: 78.37}, "(u, v, u*v)": {NLI: 77.44}, ALL: {NLI: 80.78},
                 "(u, v, |u-v|, u*v)": {NLI: 80.44}},
        measure=_measure_ablation, draw=_draw_ablation, scales={"smoke": _SMOKE, "laptop": _LAPTOP, "paper": _PAPER},
        alt="Dot plot of Spearman times 100 for three poolings and seven choices of features, one panel for the printed numbers and one for those "
            "measured here, start weights hollow.",
        claims=(Claim("after NLI the mean is ahead of [CLS] and of the maximum", lambda m: _gap("MEAN", "CLS")(m) > 0 and _gap("MEAN", "MAX")(m) > 0),
                Claim("after grades the maximum is more than 5 points behind the mean", lambda m: _gap("MEAN", "MAX", STS)(m) > 5),
                Claim("with |u-v| among the features it is more than 5 points better than with (u, v)", lambda m: _gap(ALL, "(u, v)")(m) > 5),
                Claim("|u-v| alone is better than (u, v)", lambda m: _gap("(|u-v|)", "(u, v)")(m) > 0)),
        why="Mean and maximum: LessonBERT's maximum is ahead before any training (lesson 08), and 512 pairs do not change that. Features: after 512 "
            "pairs the loss has hardly left ln 3, and nearly all choices lie within the spread of the seeds. Which features matter shows after many "
            "more pairs."),
    Entry(
        id="reimers2019_tables1_2", paper="reimers2019sentence", item="Tables 1 and 2, BERT-base", lesson="sbert",
        setup=SETUP + "x = 0 to 6: " + ", ".join(SETS) + "; SICK-R is its dev part, because the test file is not here. Rows with grades are "
                      "scored on the test part of STS-B. The paper's cross-encoders, 84.30 with grades and 88.33 with NLI before them, were not "
                      "trained here. "
                      "Triplets of the same captions are no row of the paper. The paper prints 57.98 for STS13 and STS14 alike.",
        printed={RAW: _row(38.78, 57.98, 57.98, 63.15, 61.06, 46.35, 58.40), ON_NLI: _row(70.97, 76.53, 73.19, 79.09, 74.30, 77.03, 72.91),
                 ON_STS: {STSB: 84.67}, ON_BOTH: {STSB: 85.35}},
        measure=_measure_tables, draw=_draw_tables,
        scales={"smoke": _SMOKE, "laptop": _LAPTOP | {"seeds": 2}, "paper": _PAPER | {"rounds": 4}},
        alt="Table of Spearman times 100 on seven sets: the mean of BERT, after NLI, after the grades of STS-B, after both; printed, here, and from "
            "start weights.",
        claims=(Claim("NLI lifts the mean over the sets", lambda m: averages({k: m[k] for k in (RAW, ON_NLI)})[ON_NLI]
                      > averages({k: m[k] for k in (RAW, ON_NLI)})[RAW]),
                Claim("grades lift STS-B further than NLI does", lambda m: m[ON_STS][STSB] > m[ON_NLI][STSB]),
                Claim("NLI before the grades helps", lambda m: m[ON_BOTH][STSB] > m[ON_STS][STSB])),
        why="NLI before the grades: after 512 pairs the classifier's loss has hardly left ln 3, so it has next to nothing to hand on, and the "
            "difference is smaller than the spread of the seeds. The paper's gain, 0.7 points, comes after a million pairs."),
)
