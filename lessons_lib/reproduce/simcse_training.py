"""Trainings of SimCSE that differ in one thing each, with what every one of them leaves behind: scores, a path through the plane, a spectrum.

Several tables read the same trainings, so each is done once and kept (`trained`). Behind the entries of `reproduce.simcse`, lesson ``14_simcse``.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual.encoder import ContextualEncoder
from ..contrastive import SimCse, augment
from ..core import DataWarning, Encoder, check_choice, generator
from ..counts.named import sample_sentences
from ..datasets import SentencePairs, load
from ..evaluation import evaluate
from ..text import split_sentences
from .trained import PLACES, trained_rows

__all__ = ["DEV", "LONGEST", "LOOKS", "SENTENCES", "VARIANTS", "dev_pairs", "kind_of", "looked_at", "read_in_ways", "runs", "scores_of", "some",
           "texts_of", "variant"]

SHARED = "simcse"                                 # the folder of trainings that several entries read
DEV = PLACES.index("stsb dev")
LOOKS = ("dev", "alignment", "uniformity")        # at every look: Spearman x 100, and the two measures of the plane
MAIN = ("SimCSE", "supervised")                   # what all tables share, and what is scored on all sets
FEWEST, MOST = 5, 40                              # words of a sentence of Wikipedia
LONGEST = "last, 200 steps"                       # the training that `lessons train simcse` does at laptop scale
CUT = 12                                          # words that are left where all sentences shall be equally long



@functools.lru_cache(maxsize=1)
def _synonyms() -> dict[str, list[str]]:
    """Nearest words in the course's vectors: no dictionary of synonyms comes with the course."""
    return augment.neighbour_synonyms(load("course-vectors"), texts_of("STS-B, train"))


AUGMENTS: dict[str, Callable[[str, np.random.Generator], str]] = {
    "delete one word": lambda text, rng: augment.delete_one_word(text, rng=rng),
    "synonyms": lambda text, rng: augment.replace_synonyms(text, _synonyms(), 0.1, rng=rng)}
AUGMENTS |= {f"crop {share} %": lambda text, rng, share=share: augment.crop(text, share / 100, rng=rng) for share in (10, 20, 30)}
AUGMENTS |= {f"delete {share} %": lambda text, rng, share=share: augment.delete_words(text, share / 100, rng=rng) for share in (10, 20, 30)}

# What differs from the settings of the scale, by the name of the training.
VARIANTS: dict[str, dict[str, Any]] = {
    "SimCSE": {}, "no dropout": {"dropout": 0.0, "views": "none"}, "one mask for both": {"views": "same dropout"},
    "delete one word, no dropout": {"augment": "delete one word", "dropout": 0.0, "views": "none"}, "supervised": {"supervised": True}}
VARIANTS |= {f"dropout {share:g}": {"dropout": share} for share in (0.01, 0.05, 0.15, 0.2, 0.5)}
VARIANTS |= {name: {"augment": name} for name in AUGMENTS}
VARIANTS |= {"last": {"pooling": "last"}, "last, MLP": {"pooling": "last", "head": "mlp"},
             LONGEST: {"pooling": "last", "steps": 200, "batch_size": 64, "evaluate_every": 50}}
VARIANTS |= {f"τ = {tau:g}": {"temperature": tau} for tau in (0.001, 0.01, 0.1, 1.0)}


# ------------------------------------------------------------------------------------------------ sentences


def _of_stsb() -> list[str]:
    pairs = load("stsb", split="train")
    return list(dict.fromkeys([*pairs.sentence1, *pairs.sentence2]))


def _of_wikipedia() -> list[str]:
    return [text for text in dict.fromkeys(sample_sentences()) if FEWEST <= len(text.split()) <= MOST]


def _of_nli() -> list[str]:
    triplets = load("nli")
    return list(dict.fromkeys([*triplets.premise, *triplets.entailment, *triplets.contradiction]))


def _cut(texts: Iterable[str]) -> list[str]:
    """The first twelve words of every text that has so many."""
    return list(dict.fromkeys(" ".join(text.split()[:CUT]) for text in texts if len(text.split()) >= CUT))


def _of_dumps() -> list[str]:
    """A million sentences of Wikipedia, as in the paper."""
    found: list[str] = []
    for article in load("wiki"):
        found += split_sentences(article, min_words=FEWEST)
        if len(found) >= 1_000_000:
            break
    return found[:1_000_000]


SENTENCES: dict[str, Callable[[], list[str]]] = {
    "STS-B, train": _of_stsb, "Wikipedia": _of_wikipedia, "NLI": _of_nli, f"Wikipedia, {CUT} words": lambda: _cut(_of_wikipedia()),
    f"STS-B, train, {CUT} words": lambda: _cut(_of_stsb()), "Wikipedia, a million": _of_dumps}
VARIANTS |= {f"on {kind}": {"sentences": kind} for kind in SENTENCES}


def texts_of(kind: str) -> list[str]:
    """Sentences to learn from, each once. Raises ValueError for another name, DataMissing."""
    return SENTENCES[check_choice("sentences", kind, SENTENCES)]()


def some(pairs: SentencePairs, n: int | None) -> SentencePairs:
    """At most n of some pairs, always the same ones, None: all."""
    return pairs if n is None or n >= len(pairs) else pairs.select(np.sort(generator(0).permutation(len(pairs))[:n]))


def dev_pairs(settings: Mapping[str, Any]) -> SentencePairs:
    """The pairs of STS-B's dev part that a scale looks at. Raises ValueError where none of so few is close, so that alignment has no meaning."""
    dev = some(load("stsb", split="dev"), settings["n_dev"])
    if not (dev.score > 4).any():
        raise ValueError(f"n_dev={settings['n_dev']} leaves no pair graded above 4, and alignment is measured on those; take 28 or more")
    return dev


# ------------------------------------------------------------------------------------------------ one training


def kind_of(name: str) -> dict[str, Any]:
    """What makes a training different, by its name. Raises ValueError."""
    return VARIANTS[check_choice("variant", name, VARIANTS)]


def variant(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """All settings of a training: those of the scale, of its kind (supervised or not), and its own. Raises ValueError."""
    own = kind_of(name)
    return dict(settings["training"]) | (dict(settings.get("supervised", {})) if own.get("supervised") else {}) | own


def _train(encoder: ContextualEncoder, own: Mapping[str, Any], seed: int, dev: SentencePairs | None) -> SimCse:
    options = {key: value for key, value in own.items() if key not in ("sentences", "n", "encoder", "augment")}
    data = load("nli") if own.get("supervised") else texts_of(own["sentences"])
    if own.get("n"):
        rows = generator(seed).permutation(len(data))[: own["n"]]
        data = data.select(rows) if own.get("supervised") else [data[i] for i in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)              # texts that are cut, equal texts in a batch
        return SimCse(encoder, **options, augment=AUGMENTS[own["augment"]] if own.get("augment") else None, seed=seed).fit(
            data, dev)


def scores_of(encoder: Encoder, sets: Sequence[str], n: int | None) -> dict[float, float]:
    """Spearman x 100 on sets by their place in ``PLACES``, over n pairs of each at most (None: all). Raises DataMissing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return {PLACES.index(name): 100 * evaluate(encoder, {name: some(_pairs(name), n)}, bootstrap=0)[name].spearman for name in sets}


def _pairs(place: str) -> SentencePairs:
    """A set by its name in ``PLACES``, such as "stsb" and "stsb dev"."""
    name, _, split = place.partition(" ")
    return load(name, split=split) if split else load(name)


def looked_at(model: Any, sets: Sequence[str] = (), n: int | None = None) -> dict[str, dict[float, float]]:
    """What a training leaves behind, all on the dev pairs of STS-B.

    Parameters: model, fitted with dev pairs; sets and n as in `scores_of`, scored with the weights that were best on dev. Returns rows by ending: ""
    Spearman x 100 by place, dev with the last weights; ": dev", ": alignment", ": uniformity" by step; ": spectrum before" and ": spectrum",
    singular values divided by the largest, by number.
    """
    seen = model.history_
    rows: dict[str, dict[float, float]] = {"": scores_of(model, sets, n) | {DEV: 100 * float(seen.dev[-1])}}
    for what in LOOKS:
        rows[f": {what}"] = {int(s): float(v) * (100 if what == "dev" else 1) for s, v in zip(seen.step, getattr(seen, what), strict=True)}
    for ending, line in ((": spectrum before", 0), (": spectrum", -1)):
        rows[ending] = {k: float(v) for k, v in enumerate(seen.spectrum[line], 1)}
    return rows


def runs(names: Iterable[str], settings: Mapping[str, Any], seed: int, *, controls: Iterable[str] = ()) -> dict[str, dict[float, float]]:
    """Rows of several trainings, see `looked_at` for their endings; those from start weights end in ", untrained", spreads in ", sd".

    Parameters: names, of ``VARIANTS``; settings, of the scale: ``training``, ``supervised`` (what differs there), ``encoder``, ``seeds``,
    ``controls`` (their number at most), ``n_dev``, and ``sets`` and ``n_pairs``, on which the two main models are scored; seed; controls, those of
    the names that start weights are trained for, too. Raises ValueError, DataMissing.
    """
    found: dict[str, dict[float, float]] = {}
    with_control, dev, n = set(controls), dev_pairs(settings), settings["n_pairs"]
    for name in names:
        own, sets = variant(settings, name), settings["sets"] if name in MAIN else []
        found |= trained_rows(
            name, lambda encoder, k, own=own: _train(encoder, own, k, dev), entry=SHARED,
            settings=own | {"encoder": settings["encoder"], "scored": list(sets), "dev": len(dev), "pairs": n}, seeds=settings["seeds"], seed=seed,
            controls=min(settings["seeds"], settings.get("controls", 1)) if name in with_control else 0,
            score=lambda model, sets=sets: looked_at(model, sets, n))
    return found


def read_in_ways(names: Iterable[str], settings: Mapping[str, Any], seed: int, *, poolings: Sequence[str]) -> dict[str, dict[float, float]]:
    """Rows of trainings whose last weights are read by several poolings, "name, read by pooling": Spearman x 100 on STS-B, test (x = 5) and dev.

    Parameters as in `runs`; poolings. ``settings["long_seeds"]``, where it is there, is the number of seeds of the longest training. Raises
    ValueError, DataMissing.
    """
    found: dict[str, dict[float, float]] = {}
    places, n = ("stsb", "stsb dev"), settings["n_pairs"]
    for name in names:
        own, seeds = variant(settings, name), settings["seeds"]
        found |= trained_rows(
            name, lambda encoder, k, own=own: _train(encoder, own, k, None), entry=SHARED,
            settings=own | {"encoder": settings["encoder"], "poolings": list(poolings), "pairs": n},
            seeds=settings.get("long_seeds", seeds) if name == LONGEST else seeds, seed=seed, controls=settings["controls"],
            score=lambda model: {f", read by {pooling}": scores_of(model.read_by(pooling), places, n) for pooling in poolings})
    return found
