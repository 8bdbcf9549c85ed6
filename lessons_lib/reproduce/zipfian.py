"""Yokoi, Bao, Kurita and Shimodaira 2024: word vectors whitened by frequency, beside SIF.

The paper takes vectors of 300 dimensions by others, here the course's GloVe and skip-gram stand in.
Norms and directions are exchanged between whitenings, to see which of the two the gain comes from.
Discussed in lesson ``12_bert_whitening``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core import Encoder, generator
from ..datasets import load
from ..evaluation import paired_difference, spearman
from ..isotropy import Whitening, whiten_words
from ..sentences import SIF, MeanEncoder
from ..text.frequencies import Frequencies
from ..text.string_table import Index
from ..vectors import WordVectors, read_text
from .entry import Holds, Rows, Series, declared
from .pictures import row_table, set_table
from .sif import set_cosines
from .trained import SETS, some_pairs

__all__ = ["ENTRIES"]

RAW, ZIPFIAN = "as they are", "Zipfian whitening"
WHITENED = {"uniform centring": (False, 0), "uniform whitening": (False, 1),
            "Zipfian centring": (True, 0), ZIPFIAN: (True, 1)}  # by frequency, and Whitening's γ
SHUFFLED = "shuffled frequencies"
COMPARED = (RAW, "uniform whitening", "SIF weights", "SIF")
LOW, HIGH = ", low", ", high"  # ends of the interval of a difference
_LAPTOP = {"sets": list(SETS), "pairs": None, "vectors": ["glove", "skip-gram"],
           "counts": "course-frequencies", "seeds": 3}
SCALES = {"smoke": _LAPTOP | {"sets": ["stsb"], "pairs": 300, "seeds": 1}, "laptop": _LAPTOP,
          "paper": _LAPTOP | {"counts": "enwiki-frequencies", "seeds": 10}}
WORDS = {"words": [500, 5000, 20_000]}
NORM_SCALES = {name: {key: settings[key] for key in ("vectors", "counts")} | WORDS
               for name, settings in SCALES.items()}


def _kinds(settings: Mapping[str, Any]) -> Iterator[tuple[str, WordVectors, Frequencies]]:
    """What is added to a row's name, nothing for the first; word vectors, the course's by name or
    those of a text file; and frequencies."""
    frequencies = Frequencies.of(load(settings["counts"]))
    for k, name in enumerate(settings["vectors"]):
        vectors = (load("course-vectors", model=name) if name in ("glove", "skip-gram")
                   else read_text(name))
        yield f" ({Path(name).stem})" if k else "", vectors, frequencies


def _whitened(vectors: WordVectors, frequencies: Frequencies) -> dict[str, WordVectors]:
    """The vectors as they are, and centred or whitened over the list of words or over a text."""
    return {RAW: vectors} | {
        name: whiten_words(vectors, frequencies if weighted else None,
                           whitening=Whitening(gamma=gamma, ddof=0))
        for name, (weighted, gamma) in WHITENED.items()}


def _norms(vectors: WordVectors) -> np.ndarray:
    """(V, 1), 1 for a zero vector."""
    norms = np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    return np.where(norms > 0, norms, 1)


def _as_long(vectors: WordVectors, others: WordVectors) -> WordVectors:
    """Word vectors in their own directions with the norms of others."""
    return WordVectors(vectors.tokens, vectors.matrix / _norms(vectors) * _norms(others))


def _encoders(vectors: WordVectors, frequencies: Frequencies) -> dict[str, Encoder]:
    own, spaces = {"counts": frequencies, "components": "batch"}, _whitened(vectors, frequencies)
    zipfian = spaces[ZIPFIAN]
    for name in (RAW, "uniform whitening"):
        spaces[f"{name}, norms of {ZIPFIAN}"] = _as_long(spaces[name], zipfian)
    means: dict[str, Encoder] = {name: MeanEncoder(space) for name, space in spaces.items()}
    return means | {"SIF weights": SIF(vectors, n_components=0, **own).fit(),
                    "SIF": SIF(vectors, **own).fit(),
                    f"{ZIPFIAN}, SIF weights": SIF(zipfian, n_components=0, **own).fit()}


def _shuffled(vectors: WordVectors, frequencies: Frequencies, seed: int) -> Encoder:
    """The same frequencies, each of another word."""
    shares = frequencies.of_rows(Index(vectors.tokens), unseen=0.0)
    shares = generator(seed).permutation(shares)
    counted = {word: share for word, share in zip(vectors.tokens, shares, strict=True) if share > 0}
    return MeanEncoder(whiten_words(vectors, counted))


def _measure_sets(settings: Mapping[str, Any], seed: int) -> Series:
    sets = {name: some_pairs(load(name), settings["pairs"]) for name in settings["sets"]}
    result: Rows = {}
    for kind, vectors, frequencies in _kinds(settings):
        encoders = _encoders(vectors, frequencies)
        controls = [_shuffled(vectors, frequencies, seed + k) for k in range(settings["seeds"])]
        for name, pairs in sets.items():
            x, gold = SETS.index(name), pairs.score
            cosines = {row: set_cosines(encoder, pairs) for row, encoder in encoders.items()}
            scores = {row: spearman(own, gold) for row, own in cosines.items()}
            drawn = [spearman(set_cosines(control, pairs), gold) for control in controls]
            scores |= {SHUFFLED: float(np.mean(drawn))} if drawn else {}
            for row in COMPARED:
                ends = paired_difference(cosines[ZIPFIAN], cosines[row], gold, seed=seed).interval
                scores |= {f"{ZIPFIAN} less {row}{end}": y
                           for end, y in zip((LOW, HIGH), ends, strict=True)}
            for row, score in scores.items():
                result.setdefault(row + kind, {})[x] = 100 * score
    return result


def _measure_norms(settings: Mapping[str, Any], seed: int) -> Series:
    """Spearman x 100 of norm and -log p over so many of the most frequent words."""
    result: Rows = {}
    for kind, vectors, frequencies in _kinds(settings):
        shares = frequencies.of_rows(Index(vectors.tokens), unseen=0.0)
        first = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
        for name, space in _whitened(vectors, frequencies).items():
            norms = _norms(space)[first, 0]
            result[name + kind] = {n: 100 * spearman(norms[:n], -shares[first[:n]])
                                   for n in settings["words"]}
    return result


def _gains(m: Series, other: str, name: str = ZIPFIAN) -> list[dict[float, float]]:
    """How far one row is above another, by place, for each kind of vectors."""
    kinds = [row.removeprefix(RAW) for row in m if row.partition(" (")[0] == RAW]
    return [{x: y - m[other + kind][x] for x, y in m[name + kind].items()} for kind in kinds]


def _better(other: str, name: str = ZIPFIAN) -> Holds:
    """Whether one row is above another on average, for all kinds of vectors."""
    return lambda m: all(np.mean(list(gain.values())) > 0 for gain in _gains(m, other, name))


def _at(x: float, other: str) -> Holds:
    """Whether Zipfian whitening is above another row at a place, for all kinds of vectors."""
    return lambda m: all(gain[x] > 0 for gain in _gains(m, other))


_SHOWN = (RAW, "uniform whitening", ZIPFIAN, SHUFFLED, "SIF")
ENTRIES = (
    declared("yokoi2024_sts", _measure_sets, set_table(
        "Whitened over the list of words, or over the words of a text",
        [row + kind for kind in ("", " (skip-gram)") for row in _SHOWN]), SCALES,
             raw=_better(RAW), centring=_better("uniform centring", "Zipfian centring"),
             uniform=lambda m: all(min(gain.values()) > 0
                                   for gain in _gains(m, "uniform whitening")),
             sif=_at(SETS.index("stsb"), "SIF")),
    declared("yokoi2024_norms", _measure_norms, lambda entry, m: row_table(
        m, "By frequency whitened, norms follow how rare a word is",
        {n: f"{n:,} words" for n in m[RAW]}, mean=False), NORM_SCALES,
             raw=_at(500, RAW), uniform=_at(500, "uniform whitening")),
)
