"""Sentence-BERT (Reimers and Gurevych 2019): pooling and features (Table 6), labels (Tables 1, 2).

The paper tunes bert-base-uncased on a million pairs; here a bag of words stands in at laptop scale,
tuned until dev stops rising, with the same training of random rows beside every row: directions
count, levels do not. A bag has one pooling, so poolings are LessonBERT's. Discussed in lesson
``10_sbert``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..contrastive.sbert import SBert
from ..datasets import LabelledPairs, Triplets, load
from .entry import BAG, Entry, Rows, Series, averages, declared
from .models import COURSE, PAPER
from .pictures import beside_paper, dots_of, gains, mean_dots
from .trained import PLACES, SETS, trained_rows

__all__ = ["ENTRIES", "POOLINGS", "VARIANTS", "nli_pairs", "pairs_of_triplets", "short_rows"]

POOLINGS = {"MEAN": "last", "MAX": "max", "CLS": "cls"}
VARIANTS = {"(u, v)": ("u", "v"), "(|u-v|)": ("|u-v|",), "(u*v)": ("u*v",),
            "(|u-v|, u*v)": ("|u-v|", "u*v"), "(u, v, u*v)": ("u", "v", "u*v"),
            "(u, v, |u-v|)": ("u", "v", "|u-v|"), "(u, v, |u-v|, u*v)": ("u", "v", "|u-v|", "u*v")}
ALL = "(u, v, |u-v|)"  # the paper's own choice; with MEAN one training stands in two rows
MANY = ("MEAN", ALL, "(u, v)")  # rows that a claim sets against each other: several seeds
NLI, STS = 0, 1  # x of Table 6: what it was trained on
TRAINED_ON = ("NLI", "STS-B")
ON_TEST = SETS.index("stsb")
PAPER_BERT = "Reimers and Gurevych 2019, BERT-base"
RAW, ON_NLI, ON_STS = "mean of BERT", "SBERT, NLI", "SBERT, STS-B"
ON_BOTH = "SBERT, NLI then STS-B"
TRIPLETS = "SBERT, NLI as triplets"  # no row of the paper: the same captions, another objective

# of LessonBERT and of a bag of words, until dev stops rising
_COURSE = {"dropout": 0.1, "sources": ["snli_devtest"], "encoder": COURSE, "rate": 2e-4,
           "precision": "bfloat16", "steps": 400, "batch": 32, "look": 40, "words": None,
           "seeds": 3, "controls": 1, "others": 1, "keeps": "best"}
_BAG = {"encoder": BAG, "dropout": 0.1, "sources": ["snli_devtest"], "rate": 0.01, "warmup": 0.0,
        "steps": 300, "batch": 64, "look": 30, "words": None, "seeds": 3, "controls": 3,
        "others": 1, "keeps": "best", "sets": list(SETS)}
_SMOKE = _COURSE | {"steps": 2, "batch": 4, "look": 1, "words": 10, "seeds": 1, "keeps": "last",
                   "n_pairs": 60}
_BAG_SMOKE = _BAG | {"steps": 2, "batch": 4, "look": 1, "seeds": 1, "controls": 1,
                     "sets": ["stsb"], "n_pairs": 60}
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
    names = {"batch_size": "batch", "learning_rate": "rate", "dropout": "dropout",
             "warmup": "warmup", "evaluate_every": "look", "precision": "precision"}
    usual = {name: settings[key] for name, key in names.items() if key in settings}
    dev = load("stsb", split="dev") if settings.get("keeps") == "best" else None
    return lambda encoder, seed: SBert(encoder, seed=seed, **usual, **own).fit(data, dev)


def _on_nli(settings: Mapping[str, Any], **own: Any) -> Train:
    return _training(settings, nli_pairs(settings["words"], sources=settings["sources"]), **own)


def _on_grades(settings: Mapping[str, Any], **own: Any) -> Train:
    pairs = short_rows(load("stsb", split="train"), settings["words"])
    epochs = settings.get("rounds", 1)
    steps = settings["steps"] and settings["steps"] * epochs
    return _training(settings, pairs, objective="cosine", epochs=epochs, steps=steps, **own)


def _measure_ablation(settings: Mapping[str, Any], seed: int) -> Series:
    """Where ``settings["poolings"]`` hold settings of their own, poolings are those of another
    encoder: a bag has one only."""
    result: Rows = {}
    pooled = settings.get("poolings", settings)

    def add(row: str, x: int, train: Train, own: Mapping[str, Any],
            also: Sequence[str] = ()) -> None:
        n, controls = own["seeds"], own["controls"]
        if row not in MANY or x == STS:
            n, controls = own["others"], min(1, controls)
        name = f"{row}, {TRAINED_ON[x]}"
        rows = trained_rows(name, train, entry="reimers2019_table6", settings=own,
                            sets=("stsb dev",), seeds=n, seed=seed, controls=controls,
                            n_pairs=own.get("n_pairs"))
        for key, values in rows.items():
            for title in (row, *also):
                score = values[PLACES.index("stsb dev")]
                result.setdefault(title + key.removeprefix(name), {})[x] = score

    one = pooled is settings
    for title, pooling in POOLINGS.items():
        train = _on_nli(pooled, pooling=pooling)
        add(title, NLI, train, pooled, also=[ALL] if title == "MEAN" and one else [])
        add(title, STS, _on_grades(pooled, pooling=pooling), pooled)
    for title, features in VARIANTS.items():
        if title != ALL or not one:
            add(title, NLI, _on_nli(settings, features=features), settings)
    return result


def _draw_ablation(entry: Entry, measured: Series) -> Any:
    groups = {"NLI": (POOLINGS, NLI), "STS-B": (POOLINGS, STS), "features": (VARIANTS, NLI)}
    rows = {f"{group}: {row}": dots_of(entry, measured, row, x)
            for group, (names, x) in groups.items() for row in names}
    told = gains(entry, measured, ALL, "(u, v)", NLI)
    return beside_paper(rows, title=f"What |u-v| adds to (u, v): {told}", groups=(3, 6),
                        source=f"{PAPER_BERT}, Table 6", xlabel="STS-B dev, Spearman × 100")


def _measure_tables(settings: Mapping[str, Any], seed: int) -> Series:
    def rows(name: str, train: Train, **changes: Any) -> Rows:
        own = {"seeds": settings["seeds"], "controls": settings["controls"], "seed": seed}
        own |= {"entry": "reimers2019_tables1_2", "settings": settings, "sets": settings["sets"]}
        own["n_pairs"] = settings.get("n_pairs")
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
    """The mean over the sets for what was trained on no grades, then STS-B for everything."""
    short = {RAW: "before", ON_NLI: "NLI", TRIPLETS: "NLI, triplets", ON_STS: "STS-B",
             ON_BOTH: "NLI, then STS-B"}
    rows = {f"mean of the sets: {short[name]}": mean_dots(entry, measured, name)
            for name in (RAW, ON_NLI, TRIPLETS)}
    rows |= {f"STS-B test: {title}": dots_of(entry, measured, name, ON_TEST)
             for name, title in short.items()}
    told = gains(entry, measured, ON_NLI, RAW)
    return beside_paper(rows, title=f"What NLI adds on the mean of the sets: {told}", groups=(3,),
                        source=f"{PAPER_BERT}, Tables 1, 2")


ENTRIES = (
    declared("reimers2019_table6", _measure_ablation, _draw_ablation,
             {"smoke": _BAG_SMOKE | {"poolings": _SMOKE}, "paper": _PAPER,
              "laptop": _BAG | {"others": 3, "poolings": _COURSE}},
             mean=lambda m: m["MEAN"][NLI] > max(m["CLS"][NLI], m["MAX"][NLI])),
    declared("reimers2019_tables1_2", _measure_tables, _draw_tables,
             {"smoke": _BAG_SMOKE, "laptop": _BAG,
              "paper": _PAPER | {"rounds": 4}},
             nli=lambda m: (means := averages({k: m[k] for k in (RAW, ON_NLI)}))[ON_NLI]
             > means[RAW]),
)
