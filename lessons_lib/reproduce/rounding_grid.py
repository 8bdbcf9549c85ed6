"""Every STS set before and after a map that rounds the space, for any model, method and protocol.

Each sentence is encoded once per model and kept; every method, pooling and aggregation starts from
these vectors. A method is fitted on sentences of NLI data or on those of the set itself ("target":
all its splits, all files of a year together, each sentence as often as it stands there), never on a
grade. Behind `reproduce.rounding`, lessons ``11_bert_flow`` and ``12_bert_whitening``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..contextual import Pooling
from ..core import generator
from ..datasets import load
from ..evaluation import pair_cosines, spearman
from ..isotropy import Flow, Whitening, bert_flow
from ..isotropy.principal import moments_of
from .entry import Rows
from .models import RANDOM, model_of
from .trained import SETS, first_pairs, quiet

__all__ = ["FITS", "POOLINGS", "RAW", "SHARES", "Pairs", "Sentences", "beta_gamma_grid", "encoded",
           "gathered", "grid", "score_against_k", "scored"]

POOLINGS = {"first-last": Pooling("first-last"), "last": Pooling("last"), "[CLS]": Pooling("cls")}
# the target data; SICK's test file is not here
PARTS = {"stsb": ("train", "dev", "test"), "sick": ("train", "dev")}
RAW = "as they are"
THIRD = 1 / 3  # 256 of 768 directions
SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0)
KEPT = 4  # models whose vectors stay in memory: LessonBERT and three controls

Fit = Callable[[np.ndarray, int], Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Graded pairs: numbers of their sentences ``left`` and ``right`` (n,), and ``gold`` (n,).
    ``files``: name -> numbers of its pairs."""

    left: np.ndarray
    right: np.ndarray
    gold: np.ndarray
    files: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Sentences:
    """All sentences, each once: ``texts``; the numbers of those of each set and of NLI data.
    ``tests``: set -> `Pairs`; ``target``: set -> the sentences to fit on; ``dev``: the `Pairs` for
    choosing settings, STS-B's; ``nli``: the NLI sentences."""

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
def gathered(sets: tuple[str, ...], n_nli: int | None, seed: int,
             first: int | None = None) -> Sentences:
    """The sentences of sets and of ``n_nli`` triplets drawn by the seed, to be encoded together.
    ``first``: how many pairs of each part of a set are read, None for all."""
    def part_of(name: str, **split: str) -> Any:
        return first_pairs(load(name, **split), first)

    numbers = _Numbers()
    tests = {name: numbers.pairs(part_of(name)) for name in sets}
    target = {}
    for name in sets:
        parts = [part_of(name, split=split) for split in PARTS.get(name, ("test",))]
        columns = [numbers.of([*part.sentence1, *part.sentence2]) for part in parts]
        target[name] = np.concatenate(columns)
    triplets = load("nli")
    some = triplets.select(generator(seed).permutation(len(triplets))[:n_nli])
    nli = numbers.of([*some.premise, *some.entailment, *some.contradiction])
    dev = numbers.pairs(part_of("stsb", split="dev"))
    return Sentences(list(numbers), tests, target, dev, nli)


class _Vectors:
    """Vectors of texts by pooling; a text that was encoded before is not encoded again."""

    def __init__(self, model: str, seed: int, tuned: bool):
        self.encoder = model_of(model, seed)
        self.poolings = {"own": None} if tuned else POOLINGS
        self.numbers = _Numbers()
        empty = np.zeros((0, self.encoder.dim), np.float32)
        self.tables = dict.fromkeys(self.poolings, empty)

    def of(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Tables (texts, dim) float32 by pooling."""
        new = [text for text in dict.fromkeys(texts) if text not in self.numbers]
        if new:
            with quiet():
                if "own" in self.poolings:
                    parts = [self.encoder.encode(new)]
                else:
                    parts = self.encoder.encode_each(new, self.poolings.values())
            self.numbers.of(new)
            tables = zip(self.tables.items(), parts, strict=True)
            self.tables = {name: np.concatenate([table, part]) for (name, table), part in tables}
        rows = self.numbers.of(texts)
        return {name: table[rows] for name, table in self.tables.items()}


_vectors = functools.lru_cache(maxsize=KEPT)(_Vectors)


def encoded(model: str, seed: int, sets: Sequence[str], n_nli: int | None, *,
            first: int | None = None,
            tuned: bool = False) -> tuple[Sentences, dict[str, np.ndarray]]:
    """The sentences as `gathered`, and their vectors by pooling, (texts, dim) float32 each.
    ``model``, a name for `model_of`, and the seed of a random initialisation; ``tuned``: it is read
    as it was tuned, by one pooling, "own". Vectors stay in memory for the next call."""
    sentences = gathered(tuple(sets), n_nli, 0, first)
    vectors = _vectors(model, seed if model.endswith(RANDOM) else 0, tuned)
    return sentences, vectors.of(sentences.texts)


def _cosines(z: np.ndarray) -> np.ndarray:
    """Cosines of rows in the first half of z with those in the second."""
    i = np.arange(len(z) // 2)
    return pair_cosines(z, i, i + len(i))


def scored(cosines: np.ndarray, pairs: Pairs, protocol: str = "wmean") -> float:
    """Spearman x 100 of cosines and grades. Over all pairs ("all"), or the mean over files weighted
    by their pairs ("wmean")."""
    n = len(pairs.gold)
    parts = [np.arange(n)] if protocol == "all" else list(pairs.files.values())
    scores = (100 * len(part) / n * spearman(cosines[part], pairs.gold[part]) for part in parts)
    return float(sum(scores))


def _whitening(*, third: bool = False, **settings: float) -> Fit:
    def fit(x: np.ndarray, seed: int) -> Whitening:
        k = max(1, round(THIRD * x.shape[1])) if third else None
        with quiet():  # a LayerNorm leaves a direction without variance
            return Whitening(k, **settings).fit(x)
    return fit


def program_flow(x: np.ndarray, seed: int, **changes: Any) -> Flow:
    """The flow of the paper's program, fitted on rows."""
    with quiet():
        return bert_flow("program", **{"seed": seed, "init_size": 4096} | changes).fit(x)


FITS: dict[str, Fit] = {
    "standardised": functools.partial(program_flow, epochs=0.0), "flow": program_flow,
    "flow, 10 epochs": functools.partial(program_flow, epochs=10.0, held_out=0.1, patience=5),
    "whitening": _whitening(), "whitening, a third": _whitening(third=True),
    "β = γ = 1": _whitening(), "β = γ = 1, a third": _whitening(third=True),
    "β = γ = 0": _whitening(beta=0.0, gamma=0.0),
    "β = γ = 0, a third": _whitening(third=True, beta=0.0, gamma=0.0)}


def grid(model: str, methods: Sequence[str], *, sets: Sequence[str], pooling: str = "first-last",
         data: Sequence[str] = ("NLI", "target"), n_nli: int | None = None,
         first: int | None = None, seed: int = 0, protocols: Sequence[str] = ("wmean",)) -> Rows:
    """Scores of one model's vectors as they are and after each method, by place in ``SETS``.
    ``methods``: keys of ``FITS``; ``data``: what is fitted on, "NLI", "target" or "each file" (of a
    year, by itself); ``protocols``: of `scored`, several of them end the names of rows; others as
    `encoded`. Rows are "as they are" and "method (data)"."""
    s, tables = encoded(model, seed, sets, n_nli, first=first, tuned=pooling == "own")
    x = tables[pooling]
    fitted = {name: FITS[name](x[s.nli], seed) for name in methods if "NLI" in data}
    result: Rows = {}
    for dataset in sets:
        pairs, own = s.tests[dataset], x[s.target[dataset]]
        both = x[np.concatenate([pairs.left, pairs.right])]
        cosines = {RAW: _cosines(both)}
        for name, step in fitted.items():
            cosines[f"{name} (NLI)"] = _cosines(step.transform(both))
        for name in methods if "target" in data else ():
            cosines[f"{name} (target)"] = _cosines(FITS[name](own, seed).transform(both))
        for name in methods if "each file" in data else ():
            cosines[f"{name} (each file)"] = own_cosines = np.empty(len(pairs.gold))
            for part in pairs.files.values():
                z = x[np.concatenate([pairs.left[part], pairs.right[part]])]
                own_cosines[part] = _cosines(FITS[name](z, seed).transform(z))
        for row, values in cosines.items():
            for protocol in protocols:
                title = f"{row}, {protocol}" if len(protocols) > 1 else row
                score = scored(values, pairs, protocol)
                result.setdefault(title, {})[SETS.index(dataset)] = score
    return result


def score_against_k(x: np.ndarray, fitted_on: np.ndarray, pairs: Pairs,
                    shares: Sequence[float] = SHARES) -> dict[float, float]:
    """Scores after whitening to ever more directions, by their share of the columns of x.
    ``fitted_on``: rows of x. Directions that do not vary are left out at the end."""
    moments, both = moments_of(x[fitted_on]), x[np.concatenate([pairs.left, pairs.right])]
    with quiet():
        rank = Whitening().fit(moments).rank_
    result = {}
    for share in shares:
        k = min(rank, max(1, round(share * x.shape[1])))
        z = Whitening(k).fit(moments).transform(both)
        result[round(share, 4)] = scored(_cosines(z), pairs)
    return result


def beta_gamma_grid(x: np.ndarray, fitted_on: np.ndarray, pairs: Pairs, *, betas: Sequence[float],
                    gammas: Sequence[float], k: int | None = None) -> np.ndarray:
    """Scores for every β and γ, (betas, gammas), with k directions kept, None: all that vary."""
    moments, both = moments_of(x[fitted_on]), x[np.concatenate([pairs.left, pairs.right])]

    def score(beta: float, gamma: float) -> float:
        with quiet():
            fitted = Whitening(k, beta=beta, gamma=gamma).fit(moments)
        return scored(_cosines(fitted.transform(both)), pairs)
    return np.array([[score(beta, gamma) for gamma in gammas] for beta in betas])
