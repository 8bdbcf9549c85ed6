"""SimCSE (Gao, Yao and Chen 2021): dropout and other augmentations, the alignment-uniformity plane, singular values, temperature, all STS sets.

The paper trains bert-base-uncased on a million sentences of Wikipedia, here the course's LessonBERT learns in a minute from the sentences of STS-B's
train part, without their grades: on sentences of Wikipedia it gets worse, and an entry of its own is about that. Directions count, levels do not.
Discussed in lesson ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual import load_encoder
from ..evaluation import alignment, pair_cosines, spearman, uniformity
from ..isotropy import Whitening
from ..plots import (ablation_dots, plane_of_encoders, plane_of_trainings, similarity_matrix,
                     singular_spectrum)
from .bert import CONTROL, SETS, averages
from .entry import Claim, Entry, Series
from .models import RANDOM, model_of
from .rounding_grid import quiet
from .simcse_training import DEV, LONGEST, LOOKS, dev_pairs, read_in_ways, runs, scores_of, texts_of
from .trained import SD

__all__ = ["ENTRIES"]

RAW = "not trained"
Rows = Mapping[str, str]                          # name in the table -> name of the training


# ------------------------------------------------------------------------------------------------ what is measured


def _table_of(rows: Rows, controls: Sequence[str] = ("SimCSE",)) -> Callable[[Mapping[str, Any], int], Series]:
    """Dev scores of trainings under the names of the table, with that of the weights before training."""
    def measure(settings: Mapping[str, Any], seed: int) -> Series:
        chosen = {row: name for row, name in rows.items() if name in settings.get("only", list(rows.values()))}
        found = runs(chosen.values(), settings, seed, controls=controls)
        series: dict[str, dict[float, float]] = {}
        for row, name in chosen.items():
            for ending in ("", SD, CONTROL, CONTROL + SD):
                if name + ending in found:
                    series[row + ending] = {DEV: found[name + ending][DEV]}
        for ending in ("", CONTROL):
            if f"SimCSE: dev{ending}" in found:
                series[RAW + ending] = {DEV: found[f"SimCSE: dev{ending}"][0]}
        return series

    return measure


def _measure_paths(settings: Mapping[str, Any], seed: int) -> Series:
    found = runs(PATHS.values(), settings, seed, controls=("SimCSE",))
    return {f"{row}: {what}{ending}": found[f"{name}: {what}{ending}"] for row, name in PATHS.items() for ending in ("", CONTROL) for what in LOOKS
            if f"{name}: {what}{ending}" in found}


def _measure_plane(settings: Mapping[str, Any], seed: int) -> Series:
    """Uniformity (x = 0), alignment (1) and Spearman x 100 (2) on the dev pairs of STS-B."""
    found = runs(PLANE.values(), settings, seed, controls=PLANE.values())
    series = {}
    for row, name in PLANE.items():
        for ending in ("", CONTROL):
            paths = {what: found[f"{name}: {what}{ending}"] for what in LOOKS}
            for label, step in ((RAW, 0), (row, max(paths["dev"]))):
                series[label + ending] = {0: paths["uniformity"][step], 1: paths["alignment"][step], 2: paths["dev"][step]}
    return series | _whitened(settings)


def _whitened(settings: Mapping[str, Any]) -> dict[str, dict[float, float]]:
    """The same three numbers of vectors that are whitened by the sentences that SimCSE learns from."""
    dev, encoder = dev_pairs(settings), load_encoder(settings["encoder"])
    pooled = encoder.set_params(pooling=settings["training"]["pooling"])
    fitted = quiet(lambda: Whitening().fit(pooled.encode(texts_of("STS-B, train")[: settings["n_whitening"]])))
    z, i = fitted.transform(pooled.encode([*dev.sentence1, *dev.sentence2])), np.arange(len(dev))
    close = np.flatnonzero(dev.score > 4)
    return {"whitening": {0: uniformity(z), 1: alignment(z[close], z[close + len(dev)]),
                          2: 100 * float(spearman(pair_cosines(z, i, i + len(dev)), dev.score))}}


def _measure_spectrum(settings: Mapping[str, Any], seed: int) -> Series:
    found = runs(SPECTRA.values(), settings, seed, controls=("SimCSE",))
    series = {RAW: found["SimCSE: spectrum before"], RAW + CONTROL: found[f"SimCSE: spectrum before{CONTROL}"]}
    return series | {row + ending: found[f"{name}: spectrum{ending}"] for row, name in SPECTRA.items() for ending in ("", CONTROL)
                     if f"{name}: spectrum{ending}" in found}


def _measure_sets(settings: Mapping[str, Any], seed: int) -> Series:
    sets = settings["sets"]
    found = runs(MAIN.values(), settings, seed, controls=MAIN.values())
    places = [SETS.index(name) for name in sets]
    return _raw_rows(settings, seed) | {row + ending: {x: found[name + ending][x] for x in places} for row, name in MAIN.items()
                                        for ending in ("", SD, CONTROL, CONTROL + SD) if name + ending in found}


def _measure_poolings(settings: Mapping[str, Any], seed: int) -> Series:
    chosen = {row: name for row, name in POOLED.items() if name in settings.get("only", list(POOLED.values()))}
    found = read_in_ways(chosen.values(), settings, seed, poolings=READ)
    series: dict[str, dict[float, float]] = {}
    for ending, random in (("", ""), (CONTROL, RANDOM)):
        model = model_of(settings["encoder"] + random, seed)
        series |= {f"{RAW} → {p}{ending}": scores_of(model.set_params(pooling=p), ("stsb", "stsb dev"), settings["n_pairs"]) for p in READ}
    return series | {f"{row} → {p}{ending}": found[f"{name}, read by {p}{ending}"] for row, name in chosen.items() for p in READ
                     for ending in ("", SD, CONTROL, CONTROL + SD) if f"{name}, read by {p}{ending}" in found}


def _raw_rows(settings: Mapping[str, Any], seed: int) -> dict[str, dict[float, float]]:
    models = {ending: model_of(settings["encoder"] + random, seed).set_params(pooling="first-last")
              for ending, random in (("", ""), (CONTROL, RANDOM))}
    return {"first and last layer" + ending: scores_of(model, settings["sets"], settings["n_pairs"]) for ending, model in models.items()}


# ------------------------------------------------------------------------------------------------ pictures


def _dots(title: str, *, beside: bool = True) -> Callable[[Entry, Series], Any]:
    """The paper's variants on the left unless they are others, those measured here on the right, with standard deviations and controls."""
    def draw(entry: Entry, measured: Series) -> Any:
        rows = [name for name in measured if not name.endswith((SD, CONTROL))]
        here = {name: (measured[name][DEV], measured.get(name + SD, {}).get(DEV, 0.0)) for name in rows}
        controls = {name: measured[name + CONTROL][DEV] for name in rows if name + CONTROL in measured}
        paper = {name: entry.printed[name][DEV] for name in rows if beside and name in entry.printed}
        panels = {"paper": paper, "here": here} if paper else {"here": here}
        return ablation_dots(panels, title=title, controls={"here": controls} if controls else None)

    return draw


def _draw_paths(entry: Entry, measured: Series) -> Any:
    def path(name: str, ending: str = "") -> tuple[list[float], list[float]]:
        x, y = (list(measured[f"{name}: {what}{ending}"].values()) for what in ("uniformity", "alignment"))
        return x, y

    paths = {name: path(name) for name in PATHS} | {"dropout, start weights": path("dropout of 0.1", CONTROL)}
    return plane_of_trainings(paths, title="Every training spreads the sentences and pays in alignment")


def _draw_plane(entry: Entry, measured: Series) -> Any:
    shown = {_plain_name(name): tuple(row[x] for x in (0, 1, 2)) for name, row in measured.items()}
    return plane_of_encoders(shown, title="Between the raw vectors and the whitened ones", marked=[name for name in PLANE if name in shown])


def _plain_name(row: str) -> str:
    """The name of a row for a picture: a control says that it has start weights."""
    return row if not row.endswith(CONTROL) else "start weights" if row == RAW + CONTROL else f"{row.removesuffix(CONTROL)}, start weights"


def _draw_spectrum(entry: Entry, measured: Series) -> Any:
    """Without what is nearly 0: a LayerNorm leaves one direction empty."""
    curves = {_plain_name(name): np.array([v for v in row.values() if v > 1e-3 * max(row.values())]) for name, row in measured.items()}
    return singular_spectrum(curves, title="Contrastive learning flattens the spectrum")


def _draw_sets(entry: Entry, measured: Series) -> Any:
    shown = {f"paper: {name}": row for name, row in entry.printed.items()}
    shown |= {f"here: {name}": row for name, row in measured.items() if not name.endswith(SD) and not name.endswith(CONTROL)}
    shown |= {f"start weights: {name.removesuffix(CONTROL)}": row for name, row in measured.items() if name.endswith(CONTROL)}
    places = sorted(set.intersection(*(set(row) for row in shown.values())))
    values = np.array([[*(row[x] for x in places), np.mean([row[x] for x in places])] for row in shown.values()])
    return similarity_matrix(values, list(shown), columns=[*(SETS[int(x)] for x in places), "mean"], limits=None, form="{:.1f}",
                             title="SimCSE on all sets")


# ------------------------------------------------------------------------------------------------ the entries



def _above(one: str, other: str, by: float = 0.0) -> Callable[[Series], bool]:
    """Whether the dev score of a row is above that of another, by more than so much."""
    return lambda m: m[one][DEV] > m[other][DEV] + by


def _last(row: Mapping[float, float]) -> float:
    return row[max(row)]


def _rise(m: Series, name: str, what: str) -> float:
    """What a training adds to a measure from its first look to its last."""
    row = m[f"{name}: {what}"]
    return row[max(row)] - row[min(row)]


def _share(row: Mapping[float, float]) -> float:
    """Share of all squares that the largest singular value has."""
    return float(1 / sum(v * v for v in row.values()))


_COMMON = {"sentences": "STS-B, train", "learning_rate": 2e-4, "head": "none", "pooling": "first-last", "max_length": 32, "dropout": 0.1}
_LAPTOP = {"encoder": "lesson-bert", "seeds": 1, "controls": 1, "sets": list(SETS), "n_whitening": 3000, "n_dev": 600, "n_pairs": 400,
           "training": _COMMON | {"steps": 40, "batch_size": 32, "evaluate_every": 10}, "supervised": {"max_length": 32}}
_SMOKE = _LAPTOP | {"sets": ["stsb"], "n_whitening": 300, "n_dev": 60, "n_pairs": 60,
                    "training": _COMMON | {"steps": 2, "batch_size": 8, "evaluate_every": 1, "n": 100}}
_PAPER = {"encoder": "bert-base-uncased", "seeds": 3, "controls": 0, "sets": list(SETS), "n_whitening": None, "n_dev": None, "n_pairs": None,
          "training": {"sentences": "Wikipedia, a million", "learning_rate": 3e-5, "head": "mlp", "pooling": "cls", "max_length": 32, "dropout": 0.1,
                       "warmup": 0.0, "epochs": 1.0, "batch_size": 64, "evaluate_every": 250, "precision": "bfloat16"},
          "supervised": {"learning_rate": 5e-5, "batch_size": 512, "epochs": 3.0}}
SCALES: dict[str, dict[str, Any]] = {"smoke": _SMOKE, "laptop": _LAPTOP, "paper": _PAPER}


def _scales(laptop: Sequence[str] = (), **more: Any) -> dict[str, dict[str, Any]]:
    """The scales of a table, at smoke and laptop scale some of its trainings only where they are named."""
    only = {"only": list(laptop)} if laptop else {}
    return {"smoke": _SMOKE | only, "laptop": _LAPTOP | only | more, "paper": _PAPER}


# At laptop scale some rows of the tables only; all of them at the paper's.
AUGMENTATIONS = {"none (dropout)": "SimCSE", "crop 10 %": "crop 10 %", "crop 20 %": "crop 20 %", "crop 30 %": "crop 30 %",
                 "delete 10 %": "delete 10 %", "delete 20 %": "delete 20 %", "delete 30 %": "delete 30 %", "delete one word": "delete one word",
                 "that without dropout": "delete one word, no dropout", "synonyms": "synonyms"}
RATES = {"0": "no dropout", "0.01": "dropout 0.01", "0.05": "dropout 0.05", "0.1": "SimCSE", "0.15": "dropout 0.15", "0.2": "dropout 0.2",
         "0.5": "dropout 0.5", "0.1, one mask": "one mask for both"}
TAUS = {"τ = 0.001": "τ = 0.001", "τ = 0.01": "τ = 0.01", "τ = 0.05": "SimCSE", "τ = 0.1": "τ = 0.1", "τ = 1": "τ = 1"}
KINDS = {"STS-B, train": "SimCSE", "NLI": "on NLI", "Wikipedia": "on Wikipedia", "Wikipedia, 12 words": "on Wikipedia, 12 words"}
PATHS = {"dropout of 0.1": "SimCSE", "no dropout": "no dropout", "one mask for both": "one mask for both", "delete one word": "delete one word"}
PLANE = {"SimCSE": "SimCSE", "supervised SimCSE": "supervised"}
SPECTRA, MAIN = PLANE, PLANE
POOLED, READ = {"first-last": "SimCSE", "last": "last", "last, MLP": "last, MLP", "200 × 64": LONGEST}, ("last", "first-last")

SETUP = ("LessonBERT (all tokens, first block averaged with the last) instead of bert-base-uncased with [CLS], sentences of STS-B's train part "
         "without grades instead of Wikipedia, 40 steps of 32 at a rate of 0.0002 with warm-up, no head; the last weights, where the paper keeps the "
         "best on dev. Start weights, trained alike, stand beside it. ")
DEV_SETUP = SETUP + f"x = {DEV}: Spearman times 100 on 600 pairs of the dev part of STS-B. "

ENTRIES = (
    Entry(
        id="gao2021_table1", paper="gao2021simcse", item="Table 1, augmentations", lesson="simcse",
        setup=DEV_SETUP + "As in the paper, a crop of k % keeps 100 - k % of the words. Discrete changes come on top of dropout.",
        printed={"none (dropout)": {DEV: 82.5}, "crop 10 %": {DEV: 77.8}, "crop 20 %": {DEV: 71.4}, "crop 30 %": {DEV: 63.6},
                 "delete 10 %": {DEV: 75.9}, "delete 20 %": {DEV: 72.2}, "delete 30 %": {DEV: 68.2}, "delete one word": {DEV: 75.9},
                 "that without dropout": {DEV: 74.2}, "synonyms": {DEV: 77.4}, "masked model, 15 %": {DEV: 62.2}},
        measure=_table_of(AUGMENTATIONS), draw=_dots("What another text as positive is worth"),
        scales=_scales(("SimCSE", "crop 30 %", "delete 30 %", "delete one word", "synonyms")),
        why="The order is the paper's, but a crop costs a little less than two points: in 40 steps positives matter little, good ones or bad ones.",
        alt="Dot plot of Spearman times 100 on the dev part of STS-B for dropout alone and for crops, deletions and synonyms, in the paper and here.",
        claims=(Claim("dropout alone is better than every other augmentation",
                      lambda m: all(m["none (dropout)"][DEV] > row[DEV] for name, row in m.items()
                                    if name in AUGMENTATIONS and name != "none (dropout)")),
                Claim("a crop of 30 % costs more than 2 points", _above("none (dropout)", "crop 30 %", 2.0)))),
    Entry(
        id="gao2021_table3", paper="gao2021simcse", item="Table 3, dropout", lesson="simcse", setup=DEV_SETUP,
        printed={"0": {DEV: 71.1}, "0.01": {DEV: 72.6}, "0.05": {DEV: 81.1}, "0.1": {DEV: 82.5}, "0.15": {DEV: 81.4}, "0.2": {DEV: 80.5},
                 "0.5": {DEV: 71.0}, "0.1, one mask": {DEV: 43.6}},
        measure=_table_of(RATES), draw=_dots("Share of units left out"),
        scales=_scales(("SimCSE", "no dropout", "dropout 0.2", "dropout 0.5", "one mask for both")),
        why="In 40 steps the negatives do all the work: without dropout, and with one mask, LessonBERT gains as much. The paper trains for thousands "
            "of steps; whether that makes the difference was not tested.",
        alt="Dot plot of Spearman times 100 on the dev part of STS-B for several shares of dropout and for one mask for both views, paper and here.",
        claims=(Claim("a dropout of 0.1 is better than none by more than 5 points", _above("0.1", "0", 5.0)),
                Claim("one mask for both views is worse than no dropout", _above("0", "0.1, one mask")))),
    Entry(
        id="gao2021_figure2", paper="gao2021simcse", item="Figure 2, trainings on the plane", lesson="simcse", printed={},
        setup=SETUP + "Series by step, on the dev part of STS-B; alignment of pairs graded above 4. The paper draws curves without numbers.",
        measure=_measure_paths, draw=_draw_paths, scales=SCALES, headline={"uniformity before": ("dropout of 0.1: uniformity", 0)},
        why="All paths lie on one line: in 40 steps alignment is the price of uniformity, with dropout or without. Longer trainings without it "
            "were not tried.",
        alt="Paths of four trainings and a control on the plane of uniformity and alignment, all from the same start to the left.",
        claims=(Claim("every training makes the sentences more even", lambda m: all(_rise(m, name, "uniformity") < 0 for name in PATHS)),
                Claim("without dropout and with one mask alignment suffers more than with dropout",
                      lambda m: min(_rise(m, "no dropout", "alignment"), _rise(m, "one mask for both", "alignment"))
                      > _rise(m, "dropout of 0.1", "alignment")),
                Claim("deleting a word gains less uniformity than dropout alone",
                      lambda m: _rise(m, "delete one word", "uniformity") > _rise(m, "dropout of 0.1", "uniformity")))),
    Entry(
        id="gao2021_figure3", paper="gao2021simcse", item="Figure 3, methods on the plane", lesson="simcse", printed={},
        setup=SETUP + "x = 0: uniformity, 1: alignment of pairs graded above 4, 2: Spearman times 100, on the dev part of STS-B. Whitening is fitted "
                      "on sentences of the train part.",
        measure=_measure_plane, draw=_draw_plane, scales=SCALES,
        headline={name: (name, 2) for name in (RAW, "SimCSE", "supervised SimCSE", "whitening")},
        alt="Encoders on the plane of uniformity and alignment, coloured by score: raw, whitened, SimCSE, supervised SimCSE, and start weights.",
        claims=(Claim("raw vectors align best and are least even", lambda m: m[RAW][1] < min(m[x][1] for x in (*PLANE, "whitening"))
                      and m[RAW][0] > max(m[x][0] for x in (*PLANE, "whitening"))),
                Claim("SimCSE keeps close pairs closer than whitening", lambda m: m["SimCSE"][1] < m["whitening"][1]),
                Claim("supervised SimCSE aligns better than unsupervised", lambda m: m["supervised SimCSE"][1] < m["SimCSE"][1]))),
    Entry(
        id="gao2021_singular_values", paper="gao2021simcse", item="the figure of singular values (appendix)", lesson="simcse", printed={},
        setup=SETUP + "Singular values of 512 sentences of the dev part, vectors at length 1, divided by the largest; x is their number.",
        measure=_measure_spectrum, draw=_draw_spectrum, scales=SCALES,
        headline={f"{name}, second": (name, 2) for name in (RAW, "SimCSE", "supervised SimCSE")},
        why="With labels the share falls by a quarter only, and the score rises more: hard negatives move a few directions instead of all.",
        alt="Singular values divided by the largest, log axes: raw vectors fall at once, SimCSE and supervised SimCSE fall later.",
        claims=(Claim("the largest singular value has a smaller share after SimCSE", lambda m: _share(m["SimCSE"]) < 0.7 * _share(m[RAW])),
                Claim("so it has after supervised SimCSE", lambda m: _share(m["supervised SimCSE"]) < 0.7 * _share(m[RAW])))),
    Entry(
        id="gao2021_table5", paper="gao2021simcse", item="Table 5, BERT-base", lesson="simcse",
        setup=SETUP.replace("the last weights, where the paper keeps the best on dev", "the weights that were best on dev of three looks")
        + "Supervised: triplets from SNLI dev, test and the counterfactual set. x = 0 to 6: " + ", ".join(SETS) + ", Spearman over 400 pairs of "
          "each, drawn once; SICK-R is its dev part. The paper's first row averages the embeddings with the last layer, ours the first block.",
        printed={"first and last layer": dict(enumerate((39.70, 59.38, 49.67, 66.03, 66.19, 53.87, 62.06))),
                 "SimCSE": dict(enumerate((68.40, 82.41, 74.38, 80.91, 78.56, 76.85, 72.23))),
                 "supervised SimCSE": dict(enumerate((75.30, 84.67, 80.19, 85.40, 80.82, 84.25, 80.39)))},
        measure=_measure_sets, draw=_draw_sets, scales=_scales(seeds=3),
        alt="Table of Spearman times 100 on seven sets and their mean: raw, SimCSE and supervised SimCSE, in the paper, here, and start weights.",
        claims=(Claim("SimCSE is better than the raw vectors by more than 3 points",
                      lambda m: averages(m)["SimCSE"] > averages(m)["first and last layer"] + 3),
                Claim("supervised SimCSE is better than unsupervised", lambda m: averages(m)["supervised SimCSE"] > averages(m)["SimCSE"]))),
    Entry(
        id="gao2021_temperature", paper="gao2021simcse", item="the table of temperatures (appendix)", lesson="simcse",
        setup=DEV_SETUP + "The paper's row is the supervised model, ours the unsupervised.",
        printed={"τ = 0.001": {DEV: 84.9}, "τ = 0.01": {DEV: 85.4}, "τ = 0.05": {DEV: 86.2}, "τ = 0.1": {DEV: 82.0}, "τ = 1": {DEV: 64.0}},
        measure=_table_of(TAUS), draw=_dots("The temperature decides how near a negative must be to count"),
        scales=_scales(("SimCSE", "τ = 0.01", "τ = 1")),
        alt="Dot plot of Spearman times 100 on the dev part of STS-B for temperatures from 0.01 to 1, in the paper and here.",
        claims=(Claim("0.05 is better than 1 by more than 3 points", _above("τ = 0.05", "τ = 1", 3.0)),
                Claim("0.01 is worse than 0.05, but better than 1",
                      lambda m: m["τ = 0.05"][DEV] > m["τ = 0.01"][DEV] > m["τ = 1"][DEV]))),
    Entry(
        id="gao2021_table6", paper="gao2021simcse", item="Table 6, pooling", lesson="simcse",
        setup=SETUP + f"x = 5 and {DEV}: Spearman times 100 on the test and the dev part of STS-B, all pairs. A row names the pooling of "
                      "the training and, after the arrow, that of the reading; \"200 × 64\" is the longest training here: by the last layer, 200 "
                      "steps of 64, three seeds. The paper's rows have [CLS] but for the last.",
        printed={"[CLS], MLP": {DEV: 81.7}, "[CLS], MLP in training only": {DEV: 82.5}, "[CLS]": {DEV: 80.9},
                 "first-last → first-last": {DEV: 81.2}},
        measure=_measure_poolings, draw=_dots("Train by one pooling, read by another", beside=False),
        scales={"smoke": _SMOKE | {"only": ["SimCSE", "last"]}, "laptop": _LAPTOP | {"n_pairs": None, "long_seeds": 3},
                "paper": _PAPER | {"only": [name for name in POOLED.values() if name != LONGEST]}},
        why="The MLP costs less than a point on dev and adds less than one on test: 40 steps with one seed cannot tell.",
        alt="Dot plot of Spearman times 100 on the dev part of STS-B, for trainings by the last layer or by first and last, read by either, and raw.",
        claims=(Claim("an MLP that is there in training only makes it better",
                      lambda m: "last, MLP → first-last" in m and m["last, MLP → first-last"][DEV] > m["last → first-last"][DEV]),
                Claim("learning raises the best pooling of the vectors before by 6 points or more",
                      lambda m: max(row[DEV] for name, row in m.items() if not name.startswith(RAW) and not name.endswith((CONTROL, SD)))
                      >= max(row[DEV] for name, row in m.items() if name.startswith(RAW) and not name.endswith(CONTROL)) + 6))),
    Entry(
        id="gao2021_sentences", paper="gao2021simcse", item="what it learns from (Section 6.1: sentences of Wikipedia)", lesson="simcse",
        setup=DEV_SETUP + "\"12 words\": the first twelve words of every sentence that has so many, so that words no longer tell the length.",
        printed={"Wikipedia": {DEV: 82.5}}, measure=_table_of(KINDS, controls=("SimCSE", "on Wikipedia")),
        draw=_dots("The sentences decide whether it helps"), scales=_scales(),
        why="LessonBERT learns to tell sentences of Wikipedia apart by their length, among other things: cut to twelve words each they cost two "
            "points instead of five. The rest is not explained; the paper's encoder read far more text.",
        alt="Dot plot of Spearman times 100 on the dev part of STS-B after learning from STS-B, NLI or Wikipedia sentences, and before.",
        claims=(Claim("sentences of Wikipedia make it better", _above("Wikipedia", RAW)),
                Claim("sentences of the kind that is scored make it better", _above("STS-B, train", RAW, 2.0)))),
)
