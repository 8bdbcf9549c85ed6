"""Every STS set before and after a map that rounds the space, for any model, pooling, method, data to fit on and aggregation.

Each sentence is encoded once per model and kept; every method, pooling and aggregation starts from these vectors. A method is fitted on sentences of
NLI data or on those of the set itself ("target": all its splits, all files of a year together, each sentence as often as it stands there), never on
a grade. Behind the tables of `reproduce.rounding`, lessons ``11_bert_flow`` and ``12_bert_whitening``.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..contextual import Pooling
from ..core import DataWarning, generator
from ..datasets import load
from ..evaluation import pair_cosines, spearman
from ..isotropy import Flow, Whitening, bert_flow
from ..isotropy.principal import moments_of
from .bert import CONTROL, SETS
from .models import COURSE, RANDOM, model_of

__all__ = ["FITS", "POOLINGS", "RAW", "SHARES", "Pairs", "Sentences", "beta_gamma_grid", "encoded", "gathered", "grid", "quiet",
           "score_against_k", "scored", "with_control"]

POOLINGS = {"first-last": Pooling("first-last"), "last": Pooling("last"), "[CLS]": Pooling("cls")}
PARTS = {"stsb": ("train", "dev", "test"), "sick": ("train", "dev")}         # of the target data; SICK's test file is not here
RAW = "as they are"
THIRD = 1 / 3                                     # 256 of 768 numbers
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0)
KEPT = 4                                          # models whose vectors stay in memory: LessonBERT and three controls


# ------------------------------------------------------------------------------------------------ sentences and their vectors


@dataclass(frozen=True, eq=False)
class Pairs:
    """Graded pairs: numbers of their sentences ``left`` and ``right`` (n,), ``gold`` (n,), and ``files``, name -> numbers of its pairs."""

    left: np.ndarray
    right: np.ndarray
    gold: np.ndarray
    files: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Sentences:
    """All sentences, each once: ``texts``; ``tests`` and ``target``, set -> `Pairs` and numbers of the sentences to fit on; ``dev``, the `Pairs` for
    choosing settings, STS-B's; ``nli``, numbers of the NLI sentences."""

    texts: list[str] = field(repr=False)
    tests: Mapping[str, Pairs]
    target: Mapping[str, np.ndarray]
    dev: Pairs
    nli: np.ndarray


class _Numbers(dict):
    """A number for each text, in the order of appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]

    def of(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self[text] for text in texts], dtype=np.intp)

    def pairs(self, pairs: Any) -> Pairs:
        names = np.array(pairs.subset if pairs.subset is not None else [pairs.name] * len(pairs))
        files = {str(name): np.flatnonzero(names == name) for name in np.unique(names)}
        return Pairs(self.of(pairs.sentence1), self.of(pairs.sentence2), pairs.score, files)


@functools.lru_cache(maxsize=1)
def gathered(sets: tuple[str, ...], n_nli: int | None, seed: int, first: int | None = None) -> Sentences:
    """The sentences of sets and of NLI triplets, to be encoded together.

    Parameters: sets, names; n_nli, triplets that are drawn, None for all; seed of that; first, how many pairs of each part of a set are read, None
    for all. Raises DataMissing.
    """
    def part_of(name: str, split: str | None = None) -> Any:
        pairs = load(name, split=split) if split else load(name)
        return pairs if first is None else pairs.select(np.arange(min(first, len(pairs))))

    numbers = _Numbers()
    tests = {name: numbers.pairs(part_of(name)) for name in sets}
    parts = {name: [part_of(name, split) for split in PARTS.get(name, ("test",))] for name in sets}
    target = {name: np.concatenate([numbers.of([*part.sentence1, *part.sentence2]) for part in of_set]) for name, of_set in parts.items()}
    triplets = load("nli")
    some = triplets.select(generator(seed).permutation(len(triplets))[:n_nli])
    nli = numbers.of([*some.premise, *some.entailment, *some.contradiction])
    return Sentences(list(numbers), tests, target, numbers.pairs(part_of("stsb", "dev")), nli)


class _Vectors:
    """Vectors of texts by pooling; a text that was encoded before is not encoded again."""

    def __init__(self, model: str, seed: int, tuned: bool):
        self.encoder, self.poolings = model_of(model, seed), {"own": None} if tuned else POOLINGS
        self.numbers, self.tables = _Numbers(), {name: np.zeros((0, self.encoder.dim), np.float32) for name in self.poolings}

    def of(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Tables (texts, dim) float32 by pooling."""
        new = [text for text in dict.fromkeys(texts) if text not in self.numbers]
        if new:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)          # sentences longer than the model reads
                own = None in self.poolings.values()
                found = [self.encoder.encode(new)] if own else self.encoder.encode_each(new, self.poolings.values())
            self.numbers.of(new)
            self.tables = {name: np.concatenate([table, part]) for (name, table), part in zip(self.tables.items(), found, strict=True)}
        rows = self.numbers.of(texts)
        return {name: table[rows] for name, table in self.tables.items()}


_vectors = functools.lru_cache(maxsize=KEPT)(_Vectors)


def encoded(model: str, seed: int, sets: tuple[str, ...], n_nli: int | None, *, first: int | None = None,
            tuned: bool = False) -> tuple[Sentences, dict[str, np.ndarray]]:
    """The sentences, and their vectors by pooling, (texts, dim) float32 each, from one run of the model.

    Parameters: model, a name for `model_of`; seed, of start weights; tuned, whether it is read as it was tuned, by one pooling, "own"; others as
    `gathered`. Vectors stay in memory for the next call. Raises DataMissing, BackendUnavailable.
    """
    found = gathered(sets, n_nli, 0, first)
    return found, _vectors(model, seed if model.endswith(RANDOM) else 0, tuned).of(found.texts)


# ------------------------------------------------------------------------------------------------ scores


def _cosines(z: np.ndarray) -> np.ndarray:
    """Cosines of rows in the first half of z with those in the second."""
    i = np.arange(len(z) // 2)
    return pair_cosines(z, i, i + len(i))


def scored(cosines: np.ndarray, pairs: Pairs, protocol: str = "wmean") -> float:
    """Spearman x 100 of cosines and grades: over all pairs ("all"), or the mean over files weighted by their pairs ("wmean")."""
    parts = [np.arange(len(pairs.gold))] if protocol == "all" else list(pairs.files.values())
    return float(sum(100 * len(part) / len(pairs.gold) * spearman(cosines[part], pairs.gold[part]) for part in parts))


def quiet(fit: Callable[[], Any]) -> Any:
    """Fit without the note that a LayerNorm leaves a direction without variance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return fit()


def _whitening(*, third: bool = False, **settings: float) -> Callable[[np.ndarray, int], Whitening]:
    def fit(x: np.ndarray, seed: int) -> Whitening:
        return Whitening(max(1, round(THIRD * x.shape[1])) if third else None, **settings).fit(x)

    return fit


def _flow(**changes: Any) -> Callable[[np.ndarray, int], Flow]:
    return lambda x, seed: bert_flow("program", **{"seed": seed, "init_size": 4096} | changes).fit(x)


FITS: dict[str, Callable[[np.ndarray, int], Any]] = {
    "standardised": _flow(epochs=0.0), "flow": _flow(), "flow, 10 epochs": _flow(epochs=10.0, held_out=0.1, patience=5),
    "whitening": _whitening(), "whitening, a third": _whitening(third=True),
    "β = γ = 1": _whitening(), "β = γ = 1, a third": _whitening(third=True),
    "β = γ = 0": _whitening(beta=0.0, gamma=0.0), "β = γ = 0, a third": _whitening(third=True, beta=0.0, gamma=0.0)}


def _by_file(x: np.ndarray, pairs: Pairs, fit: Callable[[np.ndarray, int], Any], seed: int) -> np.ndarray:
    """Cosines with one fit for each file, on its own sentences."""
    cosines = np.empty(len(pairs.gold))
    for part in pairs.files.values():
        own = x[np.concatenate([pairs.left[part], pairs.right[part]])]
        cosines[part] = _cosines(quiet(lambda own=own: fit(own, seed)).transform(own))
    return cosines


def grid(model: str, methods: Sequence[str], *, sets: Sequence[str], pooling: str = "first-last", data: Sequence[str] = ("NLI", "target"),
         n_nli: int | None = None, first: int | None = None, seed: int = 0, protocols: Sequence[str] = ("wmean",)) -> dict[str, dict[int, float]]:
    """Scores of one model's vectors as they are and after each method, by row and by place of the set in ``SETS``.

    Parameters: model, a name for `model_of`; methods, keys of ``FITS``; sets; pooling, "own" for a tuned model; data, what is fitted on: "NLI",
    "target", or "each file" (of a year, by itself); n_nli, triplets, and first, pairs of each part of a set, None for all; seed; protocols, of
    `scored`: with several of them rows end in their names. Rows are "as they are" and "method (data)". Raises DataMissing.
    """
    s, tables = encoded(model, seed, tuple(sets), n_nli, first=first, tuned=pooling == "own")
    x, found = tables[pooling], {}
    fitted = {name: quiet(lambda name=name: FITS[name](x[s.nli], seed)) for name in methods if "NLI" in data}
    for dataset in sets:
        pairs = s.tests[dataset]
        both = x[np.concatenate([pairs.left, pairs.right])]
        cosines = {RAW: _cosines(both)} | {f"{name} (NLI)": _cosines(step.transform(both)) for name, step in fitted.items()}
        if "target" in data:
            own = x[s.target[dataset]]
            cosines |= {f"{name} (target)": _cosines(quiet(lambda name=name, own=own: FITS[name](own, seed)).transform(both)) for name in methods}
        if "each file" in data:
            cosines |= {f"{name} (each file)": _by_file(x, pairs, FITS[name], seed) for name in methods}
        for row, values in cosines.items():
            for protocol in protocols:
                found.setdefault(f"{row}, {protocol}" if len(protocols) > 1 else row, {})[SETS.index(dataset)] = scored(values, pairs, protocol)
    return found


def with_control(rows: Callable[[str, int], Mapping[str, Mapping[float, float]]], seeds: int, seed: int,
                 encoder: str = COURSE) -> dict[str, dict[float, float]]:
    """Rows of the trained model, and the mean over seeds of those of untrained ones, under names that end in ", untrained".

    Parameters: rows(model, seed) gives the rows of a model, a name for `model_of`; seeds, how many are untrained; seed, the first; encoder, the
    trained one.
    """
    found = {name: dict(row) for name, row in rows(encoder, seed).items()}
    drawn = [rows(encoder + RANDOM, seed + k) for k in range(seeds)]
    return found | {name + CONTROL: {x: float(np.mean([other[name][x] for other in drawn])) for x in row} for name, row in found.items() if drawn}


def score_against_k(x: np.ndarray, fitted_on: np.ndarray, pairs: Pairs, shares: Sequence[float] = SHARES) -> dict[float, float]:
    """Scores after whitening to ever more directions, by their share of the columns.

    Parameters: x (texts, dim); fitted_on, rows of x to fit on; pairs; shares in (0, 1]. Directions that do not vary are left out at the end.
    """
    moments, both = moments_of(x[fitted_on]), x[np.concatenate([pairs.left, pairs.right])]
    rank = quiet(lambda: Whitening().fit(moments)).rank_
    sizes = {share: min(rank, max(1, round(share * x.shape[1]))) for share in shares}
    return {round(share, 4): scored(_cosines(Whitening(k).fit(moments).transform(both)), pairs) for share, k in sizes.items()}


def beta_gamma_grid(x: np.ndarray, fitted_on: np.ndarray, pairs: Pairs, *, betas: Sequence[float], gammas: Sequence[float],
                    k: int | None = None) -> np.ndarray:
    """Scores for every β and γ, (betas, gammas), from one reading of the vectors.

    Parameters: x (texts, dim); fitted_on, rows of x to fit on; pairs; betas, gammas; k, directions kept, None for all that vary.
    """
    moments, both = moments_of(x[fitted_on]), x[np.concatenate([pairs.left, pairs.right])]
    return np.array([[scored(_cosines(quiet(lambda b=b, g=g: Whitening(k, beta=b, gamma=g).fit(moments)).transform(both)), pairs) for g in gammas]
                     for b in betas])
