"""BERT-flow (Li et al. 2020, Table 2) and BERT-whitening (Su et al. 2021; Su 2022): all STS sets.

The papers read bert-base-uncased, here the course's LessonBERT stands in, with the mean of its
untrained twins beside every row: directions count, levels do not. STS12-16 are means over files
weighted by pairs, as in both papers, never to be compared with scores over "all" pairs; an entry of
its own is about that. Discussed in lessons ``11_bert_flow`` and ``12_bert_whitening``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..plots import similarity_matrix
from .entry import Entry, Rows, Series, averages, declared
from .models import CONTROL, controlled, with_encoder
from .pictures import score_lines, set_dots, set_table, signed
from .rounding_grid import (FITS, POOLINGS, RAW, beta_gamma_grid, encoded, grid, score_against_k)
from .trained import SETS

__all__ = ["ENTRIES"]

BETAS = [name for name in FITS if name.startswith("β")]
BOTH_LAYERS = "first and last layer"
_SMOKE = {"sets": ["sts13", "stsb"], "n_nli": 1000, "seeds": 1, "flow_seeds": 1,
          "flows": ["standardised", "flow"], "steps": [0.0, 0.5, 1.0]}
_LAPTOP = {"sets": list(SETS), "n_nli": 4000, "seeds": 1, "flow_seeds": 1,
           "flows": ["standardised", "flow", "flow, 10 epochs"],
           "steps": [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]}
_PAPER = _LAPTOP | {"n_nli": None, "seeds": 5, "flow_seeds": 3, "steps": [k / 8 for k in range(13)]}
SCALES = with_encoder(_SMOKE, _LAPTOP, _PAPER, pairs=None)
STSB_ONLY = {name: settings | {"sets": ["stsb"]} for name, settings in SCALES.items()}
WITH_SICK = {name: settings | {"sets": ["sick"] if name == "smoke" else ["stsb", "sick"]}
             for name, settings in SCALES.items()}
TUNED = {name: settings | {"encoder": "minilm"} for name, settings in SCALES.items()}


def _own(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What `grid` reads of the settings."""
    return {"sets": settings["sets"], "n_nli": settings["n_nli"], "first": settings["pairs"]}


def _encoded(model: str, seed: int, settings: Mapping[str, Any]) -> tuple[Any, np.ndarray]:
    """Sentences, and their vectors by first and last layer."""
    sets, n_nli = settings["sets"], settings["n_nli"]
    s, tables = encoded(model, seed, sets, n_nli, first=settings["pairs"])
    return s, tables["first-last"]


@functools.partial(controlled, seeds="flow_seeds")
def _measure_flow(model: str, seed: int, settings: Mapping[str, Any]) -> Rows:
    own = _own(settings) | {"seed": seed}
    table = grid(model, settings["flows"], **own)
    last = grid(model, (), pooling="last", data=(), **own)[RAW]
    return {"last layer": last, BOTH_LAYERS: table.pop(RAW)} | table


@controlled
def _measure_whitening(model: str, seed: int, settings: Mapping[str, Any]) -> Rows:
    result: Rows = {}
    for pooling in POOLINGS:
        own = _own(settings) | {"seed": seed, "pooling": pooling}
        table = grid(model, ("whitening", "whitening, a third"), **own)
        if pooling == "first-last":
            result |= {BOTH_LAYERS: table.pop(RAW)} | table
        else:
            result |= {f"{pooling}: {row}": values for row, values in table.items()}
    return result


@controlled
def _measure_k(model: str, seed: int, settings: Mapping[str, Any]) -> Rows:
    s, x = _encoded(model, seed, settings)
    result: Rows = {}
    for name, title in {"stsb": "STS-B", "sick": "SICK-R"}.items():
        if name in s.tests:
            for data, fitted_on in (("NLI", s.nli), ("target", s.target[name])):
                result[f"{title} ({data})"] = score_against_k(x, fitted_on, s.tests[name])
    return result


def _by_beta(model: str, seed: int, settings: Mapping[str, Any], **own: Any) -> Rows:
    table = grid(model, BETAS, data=("target",), seed=seed, **_own(settings), **own)
    return {row.removesuffix(" (target)"): values for row, values in table.items()}


def _measure_surface(settings: Mapping[str, Any], seed: int) -> Series:
    s, x = _encoded(settings["encoder"], seed, settings)
    steps, target = settings["steps"], s.target["stsb"]
    dev = beta_gamma_grid(x, target, s.dev, betas=steps, gammas=steps)
    row, column = np.unravel_index(dev.argmax(), dev.shape)
    best = {"best on dev": (steps[row], steps[column])}
    chosen = {"0 and 0": (0.0, 0.0), "1 and 1": (1.0, 1.0)} | best
    result: Rows = {}
    for beta, line in zip(steps, dev, strict=True):
        result[f"β = {beta:g}"] = {g: float(v) for g, v in zip(steps, line, strict=True)}
    for name, (beta, gamma) in chosen.items():
        score = beta_gamma_grid(x, target, s.tests["stsb"], betas=[beta], gammas=[gamma])
        result[f"test, {name}"] = {beta: float(score[0, 0])}
    return result


_FLOW_ROWS = {"last layer": "last layer", BOTH_LAYERS: "first and last layer",
              "flow (NLI)": "flow (NLI)", "flow (target)": "flow (target)"}
_WHITE_ROWS = {BOTH_LAYERS: "first and last layer"} | {
    f"whitening{kept} ({data})": f"whitening{kept} ({data})"
    for data in ("NLI", "target") for kept in ("", ", a third")}
_BETA_ROWS = {name: name for name in (RAW, *BETAS)}
_DATA, _PROTOCOLS = ("NLI", "target", "each file"), ("all", "wmean")
def _little_lost(m: Series) -> bool:
    """Whether a third of the directions costs less than a point on average."""
    means = averages(m)
    return all(means[f"whitening, a third ({data})"] > means[f"whitening ({data})"] - 1
               for data in ("NLI", "target"))


def _protocols(m: Series) -> list[tuple[float, float]]:
    """Scores over all pairs and as weighted means, fitted on the target, by set."""
    means = m["whitening (target), wmean"]
    return [(m["whitening (target), all"][x], means[x]) for x in sorted(means)]


def _higher_on_sts13_alone(m: Series) -> bool:
    """Whether STS13 is higher over all pairs than by weighted mean, and the other years lower."""
    years = [x for x in sorted(m["whitening (target), wmean"]) if x < SETS.index("stsb")]
    return all((joined > mean) == (SETS[x] == "sts13")
               for x, (joined, mean) in zip(years, _protocols(m), strict=False))


def _range(scores: np.ndarray) -> float:
    """The largest difference within a row."""
    return float(np.ptp(scores, axis=1).max())


def _surface_table(entry: Entry, measured: Series) -> Any:
    rows = {name: row for name, row in measured.items() if name.startswith("β")}
    values = np.array([list(row.values()) for row in rows.values()])
    return similarity_matrix(
        values, list(rows),
        columns=[f"γ = {gamma:g}" for gamma in next(iter(rows.values()))], limits=None,
        form="{:.1f}", title=f"γ moves the dev score by up to {_range(values):.1f} points, "
                             f"β by up to {_range(values.T):.1f}")


def _draw_k(entry: Entry, measured: Series) -> Any:
    """Scores against the share of the directions, and what two thirds of them are worth."""
    rows = {name: row for name, row in measured.items() if not name.endswith(CONTROL)}
    third = [row[min(row, key=lambda x: abs(x - 1 / 3))] - row[max(row)] for row in rows.values()]
    return score_lines(
        f"Keeping a third of the directions: {signed(min(third))} to {signed(max(third))} points",
        "kept directions, share of the dimension", "Spearman × 100", rows,
        ticks=[0.05, 0.1, 0.2, 0.5, 1.0])


def _transfers(m: Series) -> bool:
    """Whether what is best on dev is on test about as good as the better corner, or better."""
    names = ("best on dev", "0 and 0", "1 and 1")
    best, *corners = (next(iter(m[f"test, {name}"].values())) for name in names)
    return best > max(corners) - 0.5


ENTRIES = (
    declared("li2020_table2", _measure_flow,
             set_dots("What a flow adds on the mean of the sets", "flow (target)", BOTH_LAYERS,
                      _FLOW_ROWS, source="Li et al. 2020, BERT-base, Table 2",
                      encoder="LessonBERT"), SCALES),
    declared("su2021_table1", _measure_whitening,
             set_dots("What whitening adds on the mean of the sets", "whitening (target)",
                      BOTH_LAYERS, _WHITE_ROWS, source="Su et al. 2021, BERT-base, Table 1",
                      encoder="LessonBERT"), SCALES, third=_little_lost),
    declared("su2021_dimensions", _measure_k, _draw_k, WITH_SICK,
             fewer=lambda m: min(x for x, y in m["SICK-R (NLI)"].items()
                                 if y == max(m["SICK-R (NLI)"].values())) < 1),
    declared("su2022_parameters", controlled(_by_beta),
             set_dots("What β = γ = 1 adds", "β = γ = 1", RAW, _BETA_ROWS, sets=False,
                      source="Su 2022, BERT, Chinese STS-B", encoder="LessonBERT",
                      xlabel="STS-B, Spearman × 100"), SCALES),
    declared("su2022_tuned", lambda settings, seed: _by_beta(
        settings["encoder"], seed, settings, pooling="own"),
             set_dots("What β = γ = 1 adds to a tuned encoder", "β = γ = 1", RAW, _BETA_ROWS,
                      sets=False, source="Su 2022, SimBERT, Chinese STS-B",
                      here="here: MiniLM", encoder="MiniLM",
                      xlabel="STS-B, Spearman × 100"), TUNED),
    declared("su2022_surface", _measure_surface, _surface_table, STSB_ONLY, transfers=_transfers),
    declared("gao2021_aggregation", lambda settings, seed: grid(
        settings["encoder"], ("whitening",), **_own(settings), data=_DATA, protocols=_PROTOCOLS,
        seed=seed), set_table("The same vectors, two aggregations", [
            f"whitening ({data}), {protocol}" for data in _DATA for protocol in _PROTOCOLS]),
             SCALES, sts13=_higher_on_sts13_alone,
             differ=lambda m: max(abs(joined - mean) for joined, mean in _protocols(m)) > 3),
)
