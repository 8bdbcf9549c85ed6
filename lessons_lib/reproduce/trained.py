"""Entries that train an encoder: seeds, the control beside them, and every finished training kept.

Training takes most of an entry's time, so the scores of each finished one are written into the
cache folder at once, under all that decides them (settings, seed, weights at the start, the code
that trains). A record that was interrupted goes on with the next training. Also how encoders are
scored on the sets of sentence pairs. Lessons ``10_sbert``, ``13_cosent``, ``14_simcse``.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..core import (PROJECT, DamagedFile, DataWarning, Encoder, cache_folder, check_choice,
                    check_int, check_seed, generator, read_json, write_json)
from ..datasets import SentencePairs, load
from ..evaluation import evaluate, pair_cosines, spearman
from .entry import CONTROL, COURSE, SD, Rows, Series
from .models import control_of, model_of, weights_of

__all__ = ["PLACES", "SD", "SETS", "first_pairs", "forget", "kept_folder", "paired_spearman",
           "quiet", "some_pairs", "spearman_by_set", "trained_rows", "unseen_pairs"]

SETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sick")  # x = 0 to 6
# x = 0 to 9; a set with its own split, or "set split"; "unseen": without sentences of training sets
PLACES = (*SETS, "stsb dev", "sick dev", "stsb unseen")
CODE = PROJECT / "lessons_lib" / "contrastive"  # what trains


@contextmanager
def quiet() -> Iterator[None]:
    """Without notes on data: texts that are cut or equal, directions without variance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield


def first_pairs(pairs: Any, n: int | None) -> Any:
    """The first n pairs, None: all."""
    return pairs if n is None else pairs.select(np.arange(min(n, len(pairs))))


def some_pairs(pairs: SentencePairs, n: int | None) -> SentencePairs:
    """At most n of some pairs, always the same ones, None: all."""
    if n is None or n >= len(pairs):
        return pairs
    return pairs.select(np.sort(generator(0).permutation(len(pairs))[:n]))


def paired_spearman(vectors: np.ndarray, scores: Any) -> float:
    """Spearman x 100 of scores with the cosines of each row and the one half the rows further."""
    i = np.arange(len(vectors) // 2)
    return 100 * float(spearman(pair_cosines(vectors, i, i + len(i)), scores))


@functools.lru_cache(maxsize=1)
def unseen_pairs() -> SentencePairs:
    """The test pairs of STS-B of which no sentence stands in STS-B's train part or in NLI."""
    triplets, seen = load("nli"), set()
    for pairs in (load("stsb", split="train"), load("nli-pairs", dataset="snli_devtest")):
        seen.update(pairs.sentence1, pairs.sentence2)
    seen.update(triplets.premise, triplets.entailment, triplets.contradiction)
    test = load("stsb", split="test")
    both = zip(test.sentence1, test.sentence2, strict=True)
    return test.select(np.array([not {a, b} & seen for a, b in both]))


def spearman_by_set(model: Encoder, sets: Sequence[str],
                    n: int | None = None) -> dict[float, float]:
    """Spearman x 100 by the place of each set in ``PLACES``, over n of its pairs, None: all."""
    scores: dict[float, float] = {}
    with quiet():
        for place in sets:
            name, _, split = place.partition(" ")
            if split == "unseen":
                pairs = unseen_pairs()
            else:
                pairs = load(name, split=split) if split else load(name)
            pairs = some_pairs(pairs, n)
            result = evaluate(model, {place: pairs}, bootstrap=0)[place]
            scores[PLACES.index(place)] = 100 * result.spearman
    return scores


def trained_rows(name: str, train: Callable[[ContextualEncoder, int], Any], *, entry: str,
                 settings: Mapping[str, Any], sets: Sequence[str] = ("stsb",), seeds: int = 3,
                 seed: int = 0, controls: int | None = None, n_pairs: int | None = None,
                 score: Callable[[Any], Series] | None = None) -> Rows:
    """Train an encoder with several seeds, from a model and from its random initialisation.
    ``train(encoder, seed)`` gives a model and leaves the encoder as it is; ``score(model)`` gives
    what is added to ``name`` -> {x: value}, by default Spearman x 100 on ``sets``, over at most
    ``n_pairs`` of each. Rows are means over ``seeds`` trainings, with seed, seed + 1, ..., from
    ``settings["encoder"]``; of untrained ones, ``controls`` (None: as many); and from two on
    standard deviations, ", sd", with n - 1.
    Finished trainings are kept in the folder ``entry``: an id, or the name of the module whose
    entries share them, under ``settings``, which hold all that decides this row."""
    for place in sets:
        check_choice("sets", place, PLACES)
    start = str(settings.get("encoder", COURSE))
    scored = score or (lambda model: {"": spearman_by_set(model, sets, n_pairs)})
    result: Rows = {}
    for ending, n in (("", seeds), (CONTROL, seeds if controls is None else controls)):
        runs = []
        for k in range(check_seed(seed), seed + check_int("seeds", n, low=0)):
            encoder = control_of(start, k) if ending else model_of(start)
            key = {"row": name, "settings": dict(settings), "model": weights_of(encoder), "seed": k,
                   "sets": [*sets] if score is None else "own", "code": _code()}
            runs.append(_kept(entry, key, lambda k=k, e=encoder: scored(train(e, k))))
        for part in runs[0] if runs else ():
            values = {x: [run[part][x] for run in runs] for x in runs[0][part]}
            row = name + part + ending
            result[row] = {x: float(np.mean(v)) for x, v in values.items()}
            if n > 1:
                result[row + SD] = {x: float(np.std(v, ddof=1)) for x, v in values.items()}
    return result


def kept_folder(entry: str) -> Path:
    """Where the finished trainings of an entry lie."""
    return cache_folder() / "reproduce" / entry


def forget(entry: str) -> None:
    """Take away the finished trainings of an entry, so that it begins anew."""
    shutil.rmtree(kept_folder(entry), ignore_errors=True)


@functools.lru_cache(maxsize=1)
def _code() -> str:
    """The sha256 of the code that trains, as it was when this process began. What another version
    measured is not taken for what this one would."""
    digest = hashlib.sha256()
    for path in sorted(CODE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _kept(entry: str, key: Mapping[str, Any], compute: Callable[[], Series]) -> Rows:
    """Rows of a training that was finished before under this key, or of this one."""
    text = json.dumps(key, sort_keys=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:24]
    file = kept_folder(entry) / f"{name}.json"
    if file.is_file():
        try:
            kept = read_json(file)
            if kept["key"] == json.loads(text):
                rows = kept["rows"].items()
                return {row: {float(x): float(y) for x, y in xy} for row, xy in rows}
        except (DamagedFile, KeyError, TypeError, ValueError, AttributeError):
            pass  # a file that was cut counts as none
    rows = {row: {float(x): float(y) for x, y in xy.items()} for row, xy in compute().items()}
    stored = {row: [*map(list, points.items())] for row, points in rows.items()}
    write_json(file, {"key": json.loads(text), "rows": stored})
    return rows
