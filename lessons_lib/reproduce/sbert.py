"""Sentence-BERT (Reimers and Gurevych 2019): pooling and features (Table 6), labels (Tables 1, 2).

The paper tunes bert-base-uncased on a million pairs; here LessonBERT stands in at laptop scale,
tuned for some seconds, with the same training of a random initialisation beside every row:
directions count, levels do not. Discussed in lesson ``10_sbert``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..contrastive.sbert import SBert
from ..datasets import LabelledPairs, Triplets, load
from ..plots import ablation_dots
from .entry import Entry, Rows, Series, averages, declared
from .models import CONTROL, COURSE, PAPER
from .pictures import row_table
from .trained import PLACES, SD, SETS, trained_rows

__all__ = ["ENTRIES", "POOLINGS", "VARIANTS", "nli_pairs", "pairs_of_triplets", "short_rows"]

POOLINGS = {"MEAN": "last", "MAX": "max", "CLS": "cls"}
VARIANTS = {"(u, v)": ("u", "v"), "(|u-v|)": ("|u-v|",), "(u*v)": ("u*v",),
            "(|u-v|, u*v)": ("|u-v|", "u*v"), "(u, v, u*v)": ("u", "v", "u*v"),
            "(u, v, |u-v|)": ("u", "v", "|u-v|"), "(u, v, |u-v|, u*v)": ("u", "v", "|u-v|", "u*v")}
ALL = "(u, v, |u-v|)"  # the paper's own choice; with MEAN one training stands in two rows
MANY = ("MEAN", ALL, "(u, v)")  # rows that a claim sets against each other: several seeds
NLI, STS = 0, 1  # x of Table 6: what it was trained on
TRAINED_ON = ("NLI", "STS-B")
RAW, ON_NLI, ON_STS = "mean of BERT", "SBERT, NLI", "SBERT, STS-B"
ON_BOTH = "SBERT, NLI then STS-B"
TRIPLETS = "SBERT, NLI as triplets"  # no row of the paper: the same captions, another objective

_COURSE = {"dropout": 0.1, "sources": ["snli_devtest"], "encoder": COURSE, "rate": 2e-4,
           "controls": 1, "others": 1}
_SMOKE = _COURSE | {"steps": 2, "batch": 4, "words": 10, "seeds": 1, "sets": ["stsb"]}
_LAPTOP = _COURSE | {"steps": 32, "batch": 16, "words": 14, "seeds": 3, "sets": list(SETS)}
_PAPER = {"encoder": PAPER, "steps": None, "batch": 16, "rate": 2e-5, "words": None, "seeds": 10,
          "controls": 1, "others": 10, "dropout": None, "sources": ["snli_devtest", "snli_cad"],
          "sets": list(SETS)}

Train = Callable[[ContextualEncoder, int], SBert]


def short_rows(rows: Any, words: int | None) -> Any:
    """Pairs or triplets whose sentences have at most so many words each; None: all."""
    if words is None:
        return rows
    triplets = isinstance(rows, Triplets)
    names = ("premise", "entailment", "contradiction") if triplets else ("sentence1", "sentence2")
    columns = zip(*(getattr(rows, name) for name in names), strict=True)
    longest = [max(len(text.split()) for text in row) for row in columns]
    return rows.select(np.array(longest) <= words)


def nli_pairs(words: int | None = None, *,
              sources: Sequence[str] = ("snli_devtest",)) -> LabelledPairs:
    """Pairs with one of the three labels, in the order of the file. Raises DataMissing."""
    parts = [short_rows(load("nli-pairs", dataset=source), words) for source in sources]
    names = ("sentence1", "sentence2", "label", "dataset")
    return LabelledPairs(*([v for part in parts for v in getattr(part, name)] for name in names))


def pairs_of_triplets(triplets: Triplets) -> LabelledPairs:
    """Labelled pairs where there are triplets only: each premise with three second sentences. What
    follows, what contradicts, and, as a stand-in for neutral, what follows from the next premise of
    the same ``triplets.columns["topic"]``, which this one rarely settles."""
    topic, n = triplets.columns["topic"], len(triplets.columns["topic"])
    rows = []
    for i, premise in enumerate(triplets.premise):
        following = next(j % n for j in range(i + 1, i + 1 + n) if topic[j % n] == topic[i])
        rows.append((premise, triplets.entailment[i], "entailment", triplets.name))
        if following != i:
            rows.append((premise, triplets.entailment[following], "neutral", triplets.name))
        rows.append((premise, triplets.contradiction[i], "contradiction", triplets.name))
    columns = map(list, zip(*rows, strict=True))
    return LabelledPairs(*columns, name=triplets.name, split=triplets.split)


def _training(settings: Mapping[str, Any], data: Any, **own: Any) -> Train:
    """A training on data with the settings of a scale and those of a row."""
    own = {"steps": settings["steps"]} | own
    names = {"batch_size": "batch", "learning_rate": "rate", "dropout": "dropout"}
    usual = {name: settings[key] for name, key in names.items()}
    return lambda encoder, seed: SBert(encoder, seed=seed, **usual, **own).fit(data)


def _on_nli(settings: Mapping[str, Any], **own: Any) -> Train:
    return _training(settings, nli_pairs(settings["words"], sources=settings["sources"]), **own)


def _on_grades(settings: Mapping[str, Any], **own: Any) -> Train:
    pairs = short_rows(load("stsb", split="train"), settings["words"])
    epochs = settings.get("rounds", 1)
    steps = settings["steps"] and settings["steps"] * epochs
    return _training(settings, pairs, objective="cosine", epochs=epochs, steps=steps, **own)


def _measure_ablation(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}

    def add(row: str, x: int, train: Train, also: Sequence[str] = ()) -> None:
        n, controls = settings["seeds"], settings["controls"]
        if row not in MANY or x == STS:
            n, controls = settings["others"], min(1, controls)
        name = f"{row}, {TRAINED_ON[x]}"
        rows = trained_rows(name, train, entry="reimers2019_table6", settings=settings,
                            sets=("stsb dev",), seeds=n, seed=seed, controls=controls)
        for key, values in rows.items():
            for title in (row, *also):
                score = values[PLACES.index("stsb dev")]
                result.setdefault(title + key.removeprefix(name), {})[x] = score

    for title, pooling in POOLINGS.items():
        train = _on_nli(settings, pooling=pooling)
        add(title, NLI, train, also=[ALL] if title == "MEAN" else [])
        add(title, STS, _on_grades(settings, pooling=pooling))
    for title, features in VARIANTS.items():
        if title != ALL:
            add(title, NLI, _on_nli(settings, features=features))
    return result


def _draw_ablation(entry: Entry, measured: Series) -> Any:
    rows = [(row, x) for x in (NLI, STS) for row in POOLINGS]
    rows += [(row, NLI) for row in VARIANTS if row != ALL]

    def values(table: Series, ending: str = "") -> dict[str, Any]:
        return {f"{row}, {TRAINED_ON[x]}": (
                    table[row + ending][x], table.get(row + ending + SD, {}).get(x, 0.0))
                for row, x in rows if x in table.get(row + ending, {})}
    return ablation_dots({"printed": values(entry.printed), "here": values(measured)},
                         controls={"here": values(measured, CONTROL)},
                         title="Which pooling, which features of a pair",
                         xlabel="STS-B dev, Spearman × 100")


def _measure_tables(settings: Mapping[str, Any], seed: int) -> Series:
    def rows(name: str, train: Train, **changes: Any) -> Rows:
        own = {"seeds": settings["seeds"], "controls": settings["controls"], "seed": seed}
        own |= {"entry": "reimers2019_tables1_2", "settings": settings, "sets": settings["sets"]}
        return trained_rows(name, train, **own | changes)

    triplets = short_rows(load("nli"), settings["words"])
    on_nli, on_grades = _on_nli(settings), _on_grades(settings)
    result = rows(RAW, lambda encoder, _: encoder, seeds=1, controls=min(1, settings["controls"]))
    result |= rows(ON_NLI, on_nli)
    result |= rows(TRIPLETS, _training(settings, triplets, objective="triplet"))
    result |= rows(ON_STS, on_grades, sets=("stsb",))
    return result | rows(ON_BOTH, lambda encoder, k: on_grades(on_nli(encoder, k).encoder_, k),
                         sets=("stsb",))


def _draw_tables(entry: Entry, measured: Series) -> Any:
    rows = {f"paper: {name}": row for name, row in entry.printed.items()}
    for who, ending in (("here", ""), ("untrained", CONTROL)):
        for name in dict.fromkeys((RAW, ON_NLI, TRIPLETS, *entry.printed)):
            if name + ending in measured:
                rows[f"{who}: {name}"] = measured[name + ending]
    return row_table(rows, "What labels bring: no labels, NLI, grades of STS-B, both", gaps=True)


ENTRIES = (
    declared("reimers2019_table6", _measure_ablation, _draw_ablation,
             {"smoke": _SMOKE, "laptop": _LAPTOP, "paper": _PAPER},
             mean=lambda m: m["MEAN"][NLI] > max(m["CLS"][NLI], m["MAX"][NLI])),
    declared("reimers2019_tables1_2", _measure_tables, _draw_tables,
             {"smoke": _SMOKE, "laptop": _LAPTOP | {"seeds": 2}, "paper": _PAPER | {"rounds": 4}},
             nli=lambda m: (means := averages({k: m[k] for k in (RAW, ON_NLI)}))[ON_NLI]
             > means[RAW]),
)
