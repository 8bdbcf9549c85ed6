"""Weller et al. 2025: how many texts can vectors of dimension d return in all pairs, and texts
that a rule makes, on which single vectors fail and words do not.

What descent does not find is not impossible: four dimensions and a circle return every pair. Leads
to the lesson on search.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import BackendUnavailable, generator
from ..datasets import load
from ..evaluation import recall_at
from ..evaluation.geometry import unit_rows
from ..search import InvertedIndex
from .entry import OTHER_CONTROL, Rows, Series, declared
from .models import model_of
from .pictures import line_panels
from .trained import quiet

__all__ = ["ENTRIES", "circle", "lead", "learned_share", "liking"]

STEPS = {"steps": 5000, "learning_rate": 0.01, "temperature": 0.1}
CRITICAL_SCALES = {"smoke": STEPS | {"dims": [4, 5], "texts": [10, 46], "steps": 1000},
                   "laptop": STEPS | {"dims": [4, 5, 6, 7, 8], "texts": [10, 46, 100, 300]},
                   "paper": STEPS | {"dims": list(range(4, 13)), "texts": [10, 46, 100, 300],
                                     "steps": 100_000}}
PATIENCE, EVERY, LEAST_GAIN = 1000, 50, 1e-5  # of the authors' program
MORE = "share, one text more"


def _pairs(n: int) -> np.ndarray:
    """All pairs of n texts, (n (n - 1) / 2, 2)."""
    return np.array(list(itertools.combinations(range(n), 2)))


def lead(queries: np.ndarray, texts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """By how much the worse of the two wanted texts is above all others, for each query."""
    scores, rows = queries @ texts.T, np.arange(len(wanted))
    worse = np.minimum(scores[rows, wanted[:, 0]], scores[rows, wanted[:, 1]])
    for column in wanted.T:
        scores[rows, column] = -np.inf
    return worse - scores.max(axis=1)


def learned_share(n: int, dim: int, wanted: np.ndarray, *, steps: int, learning_rate: float,
                  temperature: float, seed: int) -> float:
    """The share of queries, a free vector each, whose two texts come first, after descent on
    InfoNCE with free vectors of texts. All have norm 1. Stops at 1, or when nothing is gained."""
    import torch
    from torch.nn.functional import normalize

    source = torch.Generator().manual_seed(seed)
    rows = [normalize(torch.randn(k, dim, generator=source), dim=1).requires_grad_()
            for k in (len(wanted), n)]
    target = torch.zeros(len(wanted), n).scatter_(1, torch.tensor(wanted), 0.5)
    adam, least, last, share = torch.optim.Adam(rows, lr=learning_rate), np.inf, 0, 0.0
    for step in range(1, steps + 1):
        queries, texts = rows
        loss = -(target * (queries @ texts.T / temperature).log_softmax(1)).sum(1).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        with torch.no_grad():
            for part in rows:
                part.div_(part.norm(dim=1, keepdim=True))
        if loss.item() < least - LEAST_GAIN:
            least, last = loss.item(), step
        if step % EVERY == 0 or step in (steps, last + PATIENCE):
            now = [part.detach().numpy().astype(np.float64) for part in rows]
            share = max(share, float((lead(*now, wanted) > 0).mean()))
            if share == 1 or step >= last + PATIENCE:
                break
    return share


def circle(n: int) -> tuple[np.ndarray, np.ndarray]:
    """n texts and a query for each pair of them, of four dimensions and norm 1, such that the pair
    comes first: with t a place on a circle, a text is (cos t, sin t, cos 2t, sin 2t), and a query
    -(1 - cos(t - a)) (1 - cos(t - b)) without its constant, which is largest at t = a and b."""
    t = 2 * np.pi * np.arange(n) / n
    a, b = t[_pairs(n)].T
    texts = np.stack([np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)], axis=1) / 2**0.5
    queries = np.stack([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b),
                        -np.cos(a + b) / 2, -np.sin(a + b) / 2], axis=1)
    return queries / np.linalg.norm(queries, axis=1, keepdims=True), texts


def _measure_critical(settings: Mapping[str, Any], seed: int) -> Series:
    """Critical n: up from that of one dimension less, down where that is too many."""
    run = {name: settings[name] for name in STEPS} | {"seed": seed}
    critical: dict[float, float] = {}
    over: Rows = {MORE: {}, MORE + OTHER_CONTROL: {}}
    n = 2 * settings["dims"][0]
    for dim in settings["dims"]:
        share = functools.cache(lambda n, dim=dim: learned_share(n, dim, _pairs(n), **run))
        while share(n) < 1:
            n -= 1
        while share(n + 1) == 1:
            n += 1
        around = np.stack([np.arange(n + 1), (np.arange(n + 1) + 1) % (n + 1)], axis=1)
        critical[dim], over[MORE][dim] = n, share(n + 1)
        over[MORE + OTHER_CONTROL][dim] = learned_share(n + 1, dim, around, **run)
    leads = {n: lead(*circle(n), _pairs(n)) for n in settings["texts"]}
    return {"critical n": critical} | over | {
        "share, circle in four dimensions": {n: float((y > 0).mean()) for n, y in leads.items()},
        "lead, circle in four dimensions": {n: float(y.min()) for n, y in leads.items()}}


def _draw_critical(entry: Any, measured: Series) -> Any:
    dims, most = measured["critical n"], max(measured["share, circle in four dimensions"])
    paper = {x: y for x, y in entry.printed["critical n"].items() if x <= max(dims)}
    return line_panels(
        {"": {"learned here": dims, "curve of the paper": paper,
              f"computed: a circle, {most} texts tried": {4: most}}},
        title="Descent ends early; a circle in four dimensions returns all pairs",
        xlabel="dimension d", ylabel="texts with all pairs returned", yscale="log",
        yticks=[5, 10, 20, 50, 100, 300], yticklabels=[5, 10, 20, 50, 100, 300],
        grey=["curve of the paper"], size=4.6)


# ------------------------------------------------------------------ texts made by a rule

TOP = 2
LIKING_SCALES = {"smoke": {"texts": [6, 12], "encoders": ["lesson-bag"]},
                 "laptop": {"texts": [6, 12, 24, 46], "encoders": ["lesson-bag", "minilm"]},
                 "paper": {"texts": [6, 12, 24, 46], "encoders": ["lesson-bag", "minilm"]}}
WORDS = "BM25"


def liking(n: int, seed: int, *, couples: bool = False
           ) -> tuple[list[str], list[str], np.ndarray]:
    """Texts of who likes what, a question for each thing, and the two texts (questions, 2) that
    answer it. Each pair of the n texts shares one thing; with ``couples`` half as many pairs of
    texts share them all, so that texts and questions are as long and as many."""
    common = load("course-frequencies").words[2000:8000]
    words = [word for word in common if word.isascii() and word.isalpha() and len(word) > 3]
    rng, pairs = generator(seed), _pairs(n)
    drawn = [words[i] for i in rng.permutation(len(words))[: n + len(pairs)]]
    names, things = drawn[:n], drawn[n:]
    if couples:
        pairs = rng.permutation(n).reshape(-1, 2)[np.arange(len(pairs)) % (n // 2)]
    liked: list[list[str]] = [[] for _ in names]
    for thing, pair in zip(things, pairs, strict=True):
        for text in pair:
            liked[text].append(thing)
    texts = [f"{name.capitalize()} likes {', '.join(rng.permutation(some))}."
             for name, some in zip(names, liked, strict=True)]
    return texts, [f"Who likes {thing}?" for thing in things], pairs


def _recall(rankings: Sequence[Sequence[int]], answers: np.ndarray) -> float:
    pairs = zip(rankings, answers.tolist(), strict=True)
    return 100 * float(np.mean([recall_at(list(ranking), set(pair), k=TOP)
                                for ranking, pair in pairs]))


def _measure_liking(settings: Mapping[str, Any], seed: int) -> Series:
    encoders = {}
    for name in settings["encoders"]:
        try:
            encoders[name] = model_of(name)
        except BackendUnavailable:
            continue
    result: Rows = {}
    for ending, couples in (("", False), (OTHER_CONTROL, True)):
        for n in settings["texts"]:
            texts, questions, answers = liking(n, seed, couples=couples)
            index = InvertedIndex().fit(texts)
            best = [[text for text, _ in index.search(question, k=TOP)] for question in questions]
            result.setdefault(WORDS + ending, {})[n] = _recall(best, answers)
            for name, encoder in encoders.items():
                with quiet():
                    asked, told = (unit_rows(encoder.encode(some).astype(np.float64))
                                   for some in (questions, texts))
                best = np.argsort(-(asked @ told.T), axis=1, kind="stable")[:, :TOP].tolist()
                result.setdefault(name + ending, {})[n] = _recall(best, answers)
    chance = {n: 100 * TOP / n for n in settings["texts"]}
    return result | {"guessing": chance}


def _draw_liking(entry: Any, measured: Series) -> Any:
    rows = [name + end for name in (WORDS, *sorted(_vectors(measured)))
            for end in ("", OTHER_CONTROL)]
    return line_panels({"": {row: measured[row] for row in (*rows, "guessing")}},
                       title="Who likes what: words find both texts, one vector does not",
                       xlabel="texts, n; each likes n − 1 things", ylabel="recall@2, %",
                       grey=["guessing"], size=5.0)


def _vectors(m: Series) -> list[str]:
    return [row for row in m if row not in (WORDS, "guessing") and not row.endswith(OTHER_CONTROL)]


ENTRIES = (
    declared("weller2025_critical", _measure_critical, _draw_critical, CRITICAL_SCALES,
             grows=lambda m: (row := list(m["critical n"].values()))[-1] > row[0],
             more=lambda m: max(m[MORE].values()) < 1,
             impossible=lambda m: min(m["share, circle in four dimensions"].values()) < 1),
    declared("weller2025_liking", _measure_liking, _draw_liking, LIKING_SCALES,
             words=lambda m: min(m[WORDS].values()) > 99.9,
             vectors=lambda m: all(m[row][max(m[row])] < 50 for row in _vectors(m)),
             combinations=lambda m: all(
                 m[row][x := max(m[row])] < m[row + OTHER_CONTROL][x] - 10 for row in _vectors(m))),
)
