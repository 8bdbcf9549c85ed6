"""Entries that train an encoder: some seeds of it, the control beside it, mean and standard deviation, and every finished training is kept.

Training takes most of an entry's time, so the scores of each finished one are written into the cache folder at once, under all that decides them
(settings, seed, weights at the start, the code that trains). A record that was interrupted goes on with the next training. Used by the entries of
lessons ``10_sbert``, ``13_cosent`` and ``14_simcse``.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..contextual import load_encoder
from ..contextual.encoder import ContextualEncoder
from ..core import PROJECT, DamagedFile, DataWarning, Encoder, cache_folder, check_choice, check_int, check_seed, read_json, write_json
from ..datasets import load
from ..evaluation import evaluate
from .bert import CONTROL, SETS
from .models import COURSE, control_of, weights_of

__all__ = ["PLACES", "SD", "forget", "kept_folder", "spearman_by_set", "trained_rows"]

PLACES = (*SETS, "stsb dev", "sick dev")          # x = 0 to 8; a name is a set with its own split, or "set split"
SD = ", sd"                                       # ends the name of a row of standard deviations
ROOM = PROJECT / "lessons_lib" / "contrastive"    # the code that trains

Train = Callable[[ContextualEncoder, int], Any]
Score = Callable[[Any], Mapping[str, Mapping[float, float]]]


def trained_rows(name: str, train: Train, *, entry: str, settings: Mapping[str, Any], sets: Sequence[str] = ("stsb",), seeds: int = 3, seed: int = 0,
                 controls: int | None = None, score: Score | None = None) -> dict[str, dict[float, float]]:
    """Train an encoder with several seeds, from the course's BERT and from start weights, and give means and standard deviations.

    Parameters
        name: of the row. train(encoder, seed) gives the trained model, an `Encoder`; the encoder itself stays as it is.
        entry: id of the entry, the folder where finished trainings are kept; the name of its module where several entries share them.
        settings: of the scale, and all else that decides this row, plain numbers and strings; ``settings["encoder"]`` names the model to start from,
        "lesson-bert" where there is none. Change something in ``settings`` when ``train`` itself changes; the code of `contrastive` is looked after.
        sets: of ``PLACES``, what is scored. seeds: trainings, with seed, seed + 1, ...; controls: trainings from start weights, drawn by the same
        seeds; None: as many, 0: none. score(model) gives other rows instead of ``sets``: what is added to ``name`` -> {x: value}.
    Returns
        Rows ``name`` and ``name, untrained``, x the place in ``PLACES``, Spearman x 100, means over seeds; and from two seeds on
        ``name, sd`` and ``name, untrained, sd``, with n - 1 in the denominator.

    Raises ValueError (an unknown set), DataMissing, BackendUnavailable, and what training raises.
    """
    for place in sets:
        check_choice("sets", place, PLACES)
    start = str(settings.get("encoder", COURSE))
    scored = score or (lambda model: {"": spearman_by_set(model, sets)})
    found: dict[str, dict[float, float]] = {}
    for ending, n in (("", seeds), (CONTROL, seeds if controls is None else controls)):
        runs = []
        for k in range(check_seed(seed), seed + check_int("seeds", n, low=0)):
            encoder = control_of(start, k) if ending else load_encoder(start)
            key = {"row": name, "settings": dict(settings), "model": weights_of(encoder), "seed": k, "sets": [*sets] if score is None else "own",
                   "code": _code()}
            runs.append(_kept(entry, key, lambda k=k, encoder=encoder: scored(train(encoder, k))))
        found |= _over_seeds(runs, lambda part, ending=ending: name + part + ending)
    return found


def spearman_by_set(model: Encoder, sets: Sequence[str]) -> dict[float, float]:
    """Spearman x 100 by the place of each set in ``PLACES``, over all pairs of a set. Raises DataMissing."""
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)              # sentences longer than the model reads
        for place in sets:
            dataset, _, split = place.partition(" ")
            pairs = load(dataset, split=split) if split else load(dataset)
            scores[PLACES.index(place)] = 100 * evaluate(model, {place: pairs}, bootstrap=0)[place].spearman
    return scores


def _over_seeds(runs: Sequence[Mapping[str, Mapping[float, float]]], called: Callable[[str], str]) -> dict[str, dict[float, float]]:
    """Mean and standard deviation of each row over runs that have the same rows."""
    found = {}
    for part in runs[0] if runs else ():
        values = {x: [run[part][x] for run in runs] for x in runs[0][part]}
        found[called(part)] = {x: float(np.mean(v)) for x, v in values.items()}
        if len(runs) > 1:
            found[called(part) + SD] = {x: float(np.std(v, ddof=1)) for x, v in values.items()}
    return found


# ------------------------------------------------------------------------------------------------ what is kept


def kept_folder(entry: str) -> Path:
    """Where the finished trainings of an entry lie."""
    return cache_folder() / "reproduce" / entry


def forget(entry: str) -> None:
    """Take away the finished trainings of an entry, so that it begins anew."""
    shutil.rmtree(kept_folder(entry), ignore_errors=True)


@functools.lru_cache(maxsize=1)
def _code() -> str:
    """The sha256 of the code that trains, as it was when this process began: what another version measured is not taken for what this one would."""
    digest = hashlib.sha256()
    for path in sorted(ROOM.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _kept(entry: str, key: Mapping[str, Any], compute: Callable[[], Mapping[str, Mapping[float, float]]]) -> dict[str, dict[float, float]]:
    """Rows of a training that was finished before under the same key, or of this one. A file that was cut counts as none."""
    text = json.dumps(key, sort_keys=True)
    file = kept_folder(entry) / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
    if file.is_file():
        try:
            kept = read_json(file)
            if kept["key"] == json.loads(text):
                return {row: {float(x): float(y) for x, y in points} for row, points in kept["rows"].items()}
        except (DamagedFile, KeyError, TypeError, ValueError, AttributeError):
            pass
    rows = {row: {float(x): float(y) for x, y in points.items()} for row, points in compute().items()}
    write_json(file, {"key": json.loads(text), "rows": {row: [*map(list, points.items())] for row, points in rows.items()}})
    return rows
