"""CoSENT beside its rivals: Su's Chinese table, and the three objectives on English STS-B.

All encoders of a table begin with the same weights and read the same batches; what differs is the
loss. In the Chinese table a small BERT of characters stands in, AFQMC stands where the article has
ATEC (both are questions of customers of Ant Financial), and BQ is missing. Discussed in lesson
``13_cosent``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual import character_encoder
from ..contextual.encoder import ContextualEncoder
from ..contrastive import CoSent, SBert
from ..core import generator
from ..datasets import SentencePairs, load
from .entry import BAG, Entry, Rows, Series, declared
from .models import with_encoder
from .pictures import beside_paper, dots_of, gains, signed
from .trained import SETS, paired_spearman, quiet, trained_rows

__all__ = ["CHINESE", "ENTRIES", "OBJECTIVES", "chinese_pairs", "spearman_of", "train_by"]

OBJECTIVES = ("CoSENT", "cosine regression", "Sentence-BERT")
ATEC, BQ, LCQMC, PAWSX, STSB = range(5)  # places of the sets in the article's table
CHINESE = {"AFQMC": (ATEC, "train", "dev"), "LCQMC": (LCQMC, "dev", "test"),
           "PAWS-X": (PAWSX, "dev", "test"), "STS-B-CNSD": (STSB, "train", "test")}
TESTED = [place for place, _, _ in CHINESE.values()]
INFERENCES = "SNLI-zh"
CLASSES = {"contradiction": 0, "neutral": 1, "entailment": 2}
NLI_END = " (NLI)"
LONG = "pawsx_"  # begins a setting for the set whose sentences are three times as long
STEPS, UNIFORMITY = ", by step", ", uniformity by step"
NOISY = "CoSENT, dropout 0.1"  # the dropout that all trainers have unless told otherwise
ON_TEST = SETS.index("stsb")
TRAINER = (
    "batch_size", "steps", "epochs", "learning_rate", "warmup", "pooling", "max_length",
    "evaluate_every", "precision", "device")  # settings of a scale that trainers know

Labelled = tuple[Sequence[str], Sequence[str], np.ndarray]


def train_by(objective: str, encoder: ContextualEncoder, pairs: Labelled, *, seed: int,
             dev: Any = None, **settings: Any) -> Any:
    """A trainer fitted on pairs (first, second, labels >= 0) by one of ``OBJECTIVES``. Labels are
    an order, grades as cosines (divided by the highest), or classes (rounded). The encoder is not
    changed; ``settings`` are those of the trainers."""
    first, second, labels = pairs[0], pairs[1], np.asarray(pairs[2], dtype=np.float64)
    if objective == "CoSENT":
        return CoSent(encoder, seed=seed, **settings).fit((first, second, labels), dev)
    if objective == "cosine regression":
        targets, kind = labels / labels.max(), "cosine"
    else:
        targets, kind = labels.round().astype(int).tolist(), "softmax"
    trainer = SBert(encoder, objective=kind, seed=seed, **settings)
    return trainer.fit((first, second, targets), dev)


def spearman_of(encoder: Any, pairs: Labelled) -> float:
    """Spearman x 100 of an encoder's cosines with the labels of pairs (first, second, labels)."""
    vectors = encoder.encode([*pairs[0], *pairs[1]])
    return paired_spearman(vectors, np.asarray(pairs[2], dtype=np.float64))


def _trainer(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in TRAINER if name in settings}


def _measure_english(settings: Mapping[str, Any], seed: int) -> Series:
    def part(split: str) -> Any:
        pairs = load("stsb", split=split)
        return pairs.select(generator(0).permutation(len(pairs))[: settings[f"n_{split}"]])

    train, dev, test = map(part, ("train", "dev", "test"))

    def score(model: Any) -> Rows:
        seen = model.history_
        steps = seen.step.tolist()
        by_step = {STEPS: 100 * seen.dev, UNIFORMITY: seen.uniformity}
        rows = {name: dict(zip(steps, y.tolist(), strict=True)) for name, y in by_step.items()}
        on_test = spearman_of(model, (test.sentence1, test.sentence2, test.score))
        return {"": {ON_TEST: on_test}} | rows

    pairs = train.sentence1, train.sentence2, train.score
    result: Rows = {}
    for row in (*OBJECTIVES, NOISY):
        objective, dropout = ("CoSENT", 0.1) if row == NOISY else (row, settings["dropout"])
        own = {"dev": dev, "dropout": dropout} | _trainer(settings)
        own |= settings.get("own", {}).get(objective, {})
        seeds = 1 if row == NOISY else settings["seeds"]
        beside = row == "CoSENT" or settings.get("every")
        result |= trained_rows(
            row,
            lambda encoder, k, by=objective, own=own: train_by(by, encoder, pairs, seed=k, **own),
            entry="cosent_stsb", settings=settings, seed=seed, score=score,
            seeds=seeds, controls=min(seeds, settings["controls"]) if beside else 0)
    return result


def _draw_english(entry: Entry, measured: Series) -> Any:
    told = gains(entry, measured, "CoSENT", "Sentence-BERT", ON_TEST)
    return beside_paper(
        {row: dots_of(entry, measured, row, ON_TEST) for row in (*OBJECTIVES, NOISY)
         if row in measured},
        title=f"CoSENT against the classifier of Sentence-BERT: {told}",
        source="Reimers and Gurevych 2019, BERT-base, Table 2", xlabel="STS-B test, Spearman × 100")


def _draw_chinese(entry: Entry, measured: Series) -> Any:
    """Each set with the objectives trained on it, then the means of those trained on inferences."""
    sets = {"ATEC / AFQMC" if place == ATEC else name: place
            for name, (place, _, _) in CHINESE.items()}
    rows = {f"{name}: {row}": dots_of(entry, measured, row, place)
            for name, place in sets.items() for row in OBJECTIVES}
    ahead = _mean(measured, "CoSENT") - _mean(measured, "Sentence-BERT")
    printed = _mean(entry.printed, "CoSENT") - _mean(entry.printed, "Sentence-BERT")
    title = (f"CoSENT against Sentence-BERT, mean of four sets: {signed(ahead)} points here, "
             f"{signed(printed)} in the article")
    return beside_paper(rows, title=title, source="Su 2022, BERT-base", groups=(3, 6, 9),
                        here="here: a BERT of characters, no pre-training",
                        xlabel="test, Spearman × 100")


@functools.lru_cache(maxsize=16)
def chinese_pairs(dataset: str, split: str, n: int | None = None) -> Labelled:
    """At most n drawn pairs of a Chinese set: (first, second, labels as numbers). ``dataset``: of
    ``CHINESE``, or "SNLI-zh", whose classes become 0, 1, 2 in the order contradiction, neutral,
    entailment. Raises DataMissing, ValueError."""
    pairs = load("zh-pairs", dataset=dataset, split=split)
    pairs = pairs.select(generator(0).permutation(len(pairs))[:n])
    classes = dataset == INFERENCES
    labels = [CLASSES[str(label)] if classes else float(label) for label in pairs.label]
    return list(pairs.sentence1), list(pairs.sentence2), np.array(labels, dtype=np.float64)


def _measure_chinese(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}
    n_train = settings["n_train"]

    @functools.cache
    def characters(seed: int) -> ContextualEncoder:
        """A randomly initialised BERT of the characters of all training texts."""
        columns = [chinese_pairs(name, split, n_train)[:2] for name, (_, split, _)
                   in CHINESE.items()]
        texts = [text for pair in columns for column in pair for text in column]
        dim = settings["dim"]
        return character_encoder(texts, dim=dim, layers=settings["layers"], feed_forward=2 * dim,
                                 seed=seed)

    def beginning(encoder: ContextualEncoder, seed: int) -> ContextualEncoder:
        return encoder if "encoder" in settings else characters(seed)

    def trained_on(name: str, objective: str) -> Callable[[ContextualEncoder, int], Any]:
        split = "dev" if name == INFERENCES else CHINESE[name][1]
        own = _trainer(settings)
        if name == "PAWS-X":
            own |= {key.removeprefix(LONG): value for key, value in settings.items()
                    if key.startswith(LONG)}
        first, second, labels = chinese_pairs(name, split, n_train)
        held = settings.get("n_held", 0)        # pairs that choose the weights and teach nothing
        if held:
            own["dev"] = SentencePairs(first[:held], second[:held], labels[:held], name=name,
                                       split="held out")
        pairs = first[held:], second[held:], labels[held:]

        def train(encoder: ContextualEncoder, seed: int) -> Any:
            with quiet():                       # the longest are cut
                return train_by(objective, beginning(encoder, seed), pairs, seed=seed, **own)
        return train

    def add(row: str, train: Callable, sets: Sequence[str], on: str) -> None:
        tests = {}
        for name in sets:
            place, _, split = CHINESE[name]
            tests[place] = chinese_pairs(name, split, settings["n_test"])
        rows = trained_rows(
            row, train, entry="su2022_cosent_table", settings={**settings, "trained on": on},
            seeds=settings["seeds"], seed=seed, controls=0,
            score=lambda model: {"": {x: spearman_of(model, p) for x, p in tests.items()}})
        for name, points in rows.items():
            result.setdefault(name, {}).update(points)

    add("start weights", beginning, list(CHINESE), "nothing")
    for objective in OBJECTIVES:
        for name in CHINESE:
            add(objective, trained_on(name, objective), [name], name)
        if objective != "cosine regression":
            train = trained_on(INFERENCES, objective)
            add(objective + NLI_END, train, list(CHINESE), INFERENCES)
    return result


def _mean(m: Series, row: str) -> float:
    return float(np.mean([m[row][place] for place in TESTED]))


def _lead(m: Series, place: int) -> float:
    return m["CoSENT"][place] - m["Sentence-BERT"][place]


# of a bag of words, until dev stops rising
_BAG = {"encoder": BAG, "learning_rate": 0.005, "dropout": 0.0, "warmup": 0.0, "batch_size": 64,
        "steps": 360, "evaluate_every": 45, "n_train": None, "n_dev": None, "n_test": None,
        "seeds": 3, "controls": 3, "every": True,
        "own": {"CoSENT": {"scale": 5.0}, "Sentence-BERT": {"learning_rate": 0.01}}}  # best on dev
ENGLISH_SCALES = with_encoder(_BAG | {"batch_size": 8, "steps": 4, "evaluate_every": 2,
                                      "n_train": 200, "n_dev": 60, "n_test": 100, "seeds": 1},
                              _BAG,
                              {"batch_size": 32, "epochs": 5.0, "learning_rate": 2e-5,
                               "pooling": "cls", "max_length": 64, "dropout": 0.1, "n_train": None,
                               "n_dev": None, "n_test": None, "seeds": 3}, controls=1)
CHINESE_SCALES: dict[str, dict[str, Any]] = {
    "smoke": {"dim": 16, "layers": 1, "batch_size": 16, "steps": 3, "learning_rate": 1e-3,
              "n_train": 100, "n_held": 30, "n_test": 200, "seeds": 1},
    "laptop": {"dim": 64, "layers": 1, "batch_size": 32, "steps": 1600, "learning_rate": 2e-3,
               "evaluate_every": 100, "n_train": None, "n_held": 500, "n_test": None,
               "seeds": 3},
    "paper": {
        "encoder": "bert-base-chinese", "batch_size": 32, "epochs": 5.0, "learning_rate": 2e-5,
        "pooling": "cls", "max_length": 64, "pawsx_max_length": 128, "n_train": None,
        "n_test": None, "seeds": 3}}


ENTRIES = (
    declared("cosent_stsb", _measure_english, _draw_english, ENGLISH_SCALES,
             regression=lambda m: m["CoSENT"][ON_TEST] >= m["cosine regression"][ON_TEST],
             learns=lambda m: max(m["CoSENT" + STEPS].values()) > m["CoSENT" + STEPS][0.0]),
    declared("su2022_cosent_table", _measure_chinese, _draw_chinese, CHINESE_SCALES,
             ahead=lambda m: _mean(m, "CoSENT") > _mean(m, "Sentence-BERT"),
             stsb=lambda m: _lead(m, STSB) == max(_lead(m, place) for place in TESTED),
             lcqmc=lambda m: abs(_lead(m, LCQMC)) <= 1, pawsx=lambda m: _lead(m, PAWSX) > 10,
             inferences=lambda m: _mean(m, "CoSENT (NLI)") > _mean(m, "Sentence-BERT (NLI)"),
             regression=lambda m: _mean(m, "CoSENT") >= _mean(m, "cosine regression")),
)
