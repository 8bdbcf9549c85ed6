"""CoSENT beside its rivals: Su's Chinese table with a small BERT of characters, and the three objectives on English STS-B over training.

All encoders of a table begin with the same weights and read the same batches; what differs is the loss. In the Chinese table AFQMC stands where the
article has ATEC (both are questions of customers of Ant Financial), and BQ is missing. Discussed in lesson ``13_cosent``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ..contextual import character_encoder
from ..contextual.encoder import ContextualEncoder
from ..contrastive import CoSent, SBert
from ..contrastive.losses import pair_features
from ..core import generator
from ..datasets import load
from ..evaluation import pair_cosines, spearman
from ..plots import objective_curves, similarity_matrix
from .bert import CONTROL, SETS
from .entry import Claim, Entry, Series
from .models import with_encoder
from .trained import SD, trained_rows

__all__ = ["CHINESE", "ENTRIES", "OBJECTIVES", "chinese_pairs", "classifier_spearman", "over_training", "spearman_of", "train_by"]

OBJECTIVES = ("CoSENT", "cosine regression", "Sentence-BERT")
ATEC, BQ, LCQMC, PAWSX, STSB = range(5)           # places of the sets in the article's table
CHINESE = {"AFQMC": (ATEC, "train", "dev"), "LCQMC": (LCQMC, "dev", "test"), "PAWS-X": (PAWSX, "dev", "test"), "STS-B-CNSD": (STSB, "train", "test")}
NLI = ("SNLI-zh", {"contradiction": 0, "neutral": 1, "entailment": 2})
NLI_END = " (NLI)"
LONG = "pawsx_"                                   # begins a setting for the set whose sentences are three times as long
STEPS, UNIFORMITY = ", by step", ", uniformity by step"
NOISY = "CoSENT, dropout 0.1"                    # the row with the dropout that all trainers have unless told otherwise
ON_TEST = SETS.index("stsb")


def train_by(objective: str, encoder: ContextualEncoder, pairs: tuple[Sequence[str], Sequence[str], np.ndarray], *, seed: int, dev: Any = None,
             **settings: Any) -> Any:
    """Train an encoder on pairs with labels by one of three objectives.

    Parameters: objective, of ``OBJECTIVES``: order, grades as cosines (divided by the highest), or classes (labels rounded); encoder, which is not
    changed; pairs (first, second, labels >= 0); seed; dev, for `fit`; settings of the trainers. Returns the trainer. Raises as `fit`.
    """
    first, second, labels = pairs[0], pairs[1], np.asarray(pairs[2], dtype=np.float64)
    if objective == "CoSENT":
        return CoSent(encoder, seed=seed, **settings).fit((first, second, labels), dev)
    if objective == "cosine regression":
        return SBert(encoder, objective="cosine", seed=seed, **settings).fit((first, second, labels / labels.max()), dev)
    return SBert(encoder, objective="softmax", seed=seed, **settings).fit((first, second, labels.round().astype(int).tolist()), dev)


def spearman_of(encoder: Any, pairs: tuple[Sequence[str], Sequence[str], np.ndarray]) -> float:
    """Spearman x 100 of an encoder's cosines with the labels of pairs (first, second, labels)."""
    vectors, i = encoder.encode([*pairs[0], *pairs[1]]), np.arange(len(pairs[2]))
    return 100 * float(spearman(pair_cosines(vectors, i, i + len(i)), np.asarray(pairs[2], dtype=np.float64)))


def classifier_spearman(model: SBert, pairs: tuple[Sequence[str], Sequence[str], np.ndarray]) -> float:
    """Spearman x 100 of the class that SBERT's own classifier expects, the mean of classes weighted by their chances, with the labels of pairs.

    Parameters: model, trained with "softmax" on classes that are numbers; pairs (first, second, labels). Raises NotFittedError, ValueError.
    """
    head, n = model.classifier_, len(pairs[2])
    vectors = torch.from_numpy(model.encode([*pairs[0], *pairs[1]]))
    scores = pair_features(vectors[:n], vectors[n:], model.features) @ torch.as_tensor(head["weight"]).T + torch.as_tensor(head["bias"])
    expected = scores.double().softmax(dim=1) @ torch.tensor(model.classes_, dtype=torch.float64)
    return 100 * float(spearman(expected.numpy(), np.asarray(pairs[2], dtype=np.float64)))


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a scale that trainers know."""
    names = ("batch_size", "steps", "epochs", "learning_rate", "pooling", "max_length", "evaluate_every", "precision", "device")
    return {name: settings[name] for name in names if name in settings}


# ------------------------------------------------------------------------------------------------ English


def _english(split: str, n: int | None) -> Any:
    pairs = load("stsb", split=split)
    return pairs.select(generator(0).permutation(len(pairs))[:n])


def _score_english(model: Any, test: Any) -> dict[str, dict[float, float]]:
    history = model.history_
    by_step = {name: dict(zip(history.step.tolist(), values.tolist(), strict=True))
               for name, values in ((STEPS, 100 * history.dev), (UNIFORMITY, history.uniformity))}
    return {"": {ON_TEST: spearman_of(model, (test.sentence1, test.sentence2, test.score))}} | by_step


def _measure_english(settings: Mapping[str, Any], seed: int) -> Series:
    train, dev, test = (_english(split, settings[f"n_{split}"]) for split in ("train", "dev", "test"))
    found: dict[str, dict[float, float]] = {}
    pairs = train.sentence1, train.sentence2, train.score
    for row in (*OBJECTIVES, NOISY):
        objective, dropout = ("CoSENT", 0.1) if row == NOISY else (row, settings["dropout"])
        found |= trained_rows(
            row, lambda encoder, k, by=objective, p=dropout: train_by(by, encoder, pairs, seed=k, dev=dev, dropout=p, **_settings(settings)),
            entry="cosent_stsb", settings=settings, seeds=1 if row == NOISY else settings["seeds"], seed=seed,
            controls=settings["controls"] if row == "CoSENT" else 0,
            score=lambda model: _score_english(model, test))
    return found


def over_training(measured: Series) -> Any:
    """The scores of ``cosent_stsb`` by step as a figure."""
    named = {name.replace(STEPS, "").replace(CONTROL, ", start weights"): row for name, row in measured.items() if STEPS in name}
    curves = {name: row for name, row in named.items() if not name.endswith(SD)}
    spread = {name.removesuffix(SD): row for name, row in named.items() if name.endswith(SD)}
    steps = sorted(next(iter(curves.values())))
    band = {name: np.array([[row[x] + sign * spread.get(name, {}).get(x, 0.0) / np.sqrt(2) for x in steps] for sign in (-1, 1)])
            for name, row in curves.items()}     # two lines with the same mean and the same standard deviation as the seeds
    return objective_curves(steps, band, title="STS-B over training: mean and standard deviation over seeds", ylabel="STS-B dev, Spearman × 100",
                            dashed=[name for name in band if "start weights" in name])


def _draw_english(entry: Entry, measured: Series) -> Any:
    return over_training(measured)


# ------------------------------------------------------------------------------------------------ Chinese


@functools.lru_cache(maxsize=16)
def chinese_pairs(dataset: str, split: str, n: int | None = None) -> tuple[list[str], list[str], np.ndarray]:
    """Pairs of a Chinese set with their labels as numbers: (first, second, labels), at most n of them, drawn.

    Parameters: dataset, "AFQMC", "LCQMC", "PAWS-X", "STS-B-CNSD", or "SNLI-zh", whose classes become 0, 1, 2 in the order contradiction, neutral,
    entailment; split; n, None for all. Raises DataMissing, ValueError.
    """
    pairs = load("zh-pairs", dataset=dataset, split=split)
    pairs = pairs.select(generator(0).permutation(len(pairs))[:n])
    labels = [NLI[1][str(label)] if dataset == NLI[0] else float(label) for label in pairs.label]
    return list(pairs.sentence1), list(pairs.sentence2), np.array(labels, dtype=np.float64)


def _beginning(encoder: ContextualEncoder, settings: Mapping[str, Any], seed: int) -> ContextualEncoder:
    """The model that settings name, or a BERT of the characters of all training texts with start weights."""
    if "encoder" in settings:
        return encoder
    return _characters(settings["dim"], settings["layers"], settings["n_train"], seed)


@functools.lru_cache(maxsize=4)
def _characters(dim: int, layers: int, n: int | None, seed: int) -> ContextualEncoder:
    texts = [text for name, (_, split, _) in CHINESE.items() for column in chinese_pairs(name, split, n)[:2] for text in column]
    return character_encoder(texts, dim=dim, layers=layers, feed_forward=2 * dim, seed=seed)


def _trained_on(dataset: str, objective: str, encoder: ContextualEncoder, settings: Mapping[str, Any], seed: int) -> Any:
    split = "dev" if dataset == NLI[0] else CHINESE[dataset][1]
    own = {name.removeprefix(LONG): value for name, value in settings.items() if name.startswith(LONG) and dataset == "PAWS-X"}
    pairs = chinese_pairs(dataset, split, settings["n_train"])
    return train_by(objective, _beginning(encoder, settings, seed), pairs, seed=seed, **_settings(settings) | own)


def _tests(settings: Mapping[str, Any], names: Sequence[str]) -> dict[int, tuple]:
    return {CHINESE[name][0]: chinese_pairs(name, CHINESE[name][2], settings["n_test"]) for name in names}


def _measure_chinese(settings: Mapping[str, Any], seed: int) -> Series:
    found: dict[str, dict[float, float]] = {}

    def add(row: str, train: Any, sets: Sequence[str], on: str) -> None:
        rows = trained_rows(row, train, entry="su2022_cosent_table", settings={**settings, "trained on": on}, seeds=settings["seeds"], seed=seed,
                            controls=0, score=lambda model: {"": {x: spearman_of(model, pairs) for x, pairs in _tests(settings, sets).items()}})
        for name, points in rows.items():
            found.setdefault(name, {}).update(points)

    add("start weights", lambda encoder, k: _beginning(encoder, settings, k), list(CHINESE), "nothing")
    for objective in OBJECTIVES:
        for name in CHINESE:
            add(objective, lambda encoder, k, name=name, objective=objective: _trained_on(name, objective, encoder, settings, k), [name], name)
        if objective != "cosine regression":
            add(objective + NLI_END, lambda encoder, k, objective=objective: _trained_on(NLI[0], objective, encoder, settings, k), list(CHINESE),
                NLI[0])
    return found


def _draw_chinese(entry: Entry, measured: Series) -> Any:
    rows = {f"paper: {name}": row for name, row in entry.printed.items() if not name.startswith("RoBERTa")}
    rows |= {f"here: {name}": row for name, row in measured.items() if not name.endswith(SD)}
    places = [place for place, _, _ in CHINESE.values()]
    values = np.array([[row[x] for x in places] for row in rows.values()])
    return similarity_matrix(values, list(rows), columns=["ATEC / AFQMC", *list(CHINESE)[1:]], limits=None, form="{:.1f}",
                             title="Three objectives on Chinese pairs: BERT in the article, a BERT of characters here")


def _mean(m: Series, row: str) -> float:
    return float(np.mean([m[row][place] for place, _, _ in CHINESE.values()]))


def _lead(m: Series, place: int) -> float:
    return m["CoSENT"][place] - m["Sentence-BERT"][place]


# ------------------------------------------------------------------------------------------------ the entries

ENTRIES = (
    Entry(
        id="cosent_stsb", paper="su2022cosent", item="the comparison of the article, in English", lesson="cosent",
        setup="LessonBERT trained on STS-B by three objectives, from the same weights with the same batches, and CoSENT from start weights; without "
              "dropout, and one seed of CoSENT with a tenth of it. Grades rounded to 0 to 5 are the classes of Sentence-BERT. The best of some "
              "scores on a part of the dev pairs decides which weights are kept. The one printed number is that of Sentence-BERT's paper for "
              "BERT-base by cosine regression. Spearman times 100, mean and standard deviation over seeds; x: 5; in rows by step x is the step and "
              "the pairs are dev.",
        printed={"cosine regression": {ON_TEST: 84.67}}, measure=_measure_english, draw=_draw_english,
        scales=with_encoder({
            "smoke": {"batch_size": 8, "steps": 4, "evaluate_every": 2, "learning_rate": 2e-4, "dropout": 0.0, "n_train": 200, "n_dev": 60,
                      "n_test": 100, "seeds": 1},
            "laptop": {"batch_size": 32, "steps": 36, "evaluate_every": 9, "learning_rate": 2e-4, "dropout": 0.0, "n_train": None, "n_dev": 250,
                       "n_test": None, "seeds": 3},
            "paper": {"batch_size": 32, "epochs": 5.0, "learning_rate": 2e-5, "pooling": "cls", "max_length": 64, "dropout": 0.1, "n_train": None,
                      "n_dev": None, "n_test": None, "seeds": 3}}, controls=1),
        headline={objective: (objective, ON_TEST) for objective in OBJECTIVES},
        alt="Line chart of Spearman on STS-B dev over training steps for CoSENT, cosine regression, Sentence-BERT and CoSENT with dropout, with "
            "bands of one standard deviation, and for CoSENT from start weights.",
        claims=(Claim("CoSENT is ahead of Sentence-BERT's classifier", lambda m: m["CoSENT"][ON_TEST] > m["Sentence-BERT"][ON_TEST]),
                Claim("CoSENT is not behind cosine regression", lambda m: m["CoSENT"][ON_TEST] >= m["cosine regression"][ON_TEST]),
                Claim("training by order improves the order on dev", lambda m: max(m["CoSENT" + STEPS].values()) > m["CoSENT" + STEPS][0.0]))),
    Entry(
        id="su2022_cosent_table", paper="su2022cosent", item="the table of test scores", lesson="cosent",
        setup="A BERT of one layer that reads characters and begins with start weights stands in for the pre-trained Chinese BERT; some hundred "
              "steps of 32 pairs, of whose texts it reads the first 64 characters. AFQMC stands where the article has ATEC, BQ is missing. LCQMC,"
              " PAWS-X and SNLI in Chinese, for the rows (NLI), have no train part here: their dev parts train. Classes are the labels, on STS-B "
              "the grades 0 to 5. Spearman times 100, mean over seeds; x: 0 ATEC, 1 BQ, 2 LCQMC, 3 PAWSX, 4 STS-B.",
        printed={"CoSENT": dict(enumerate((49.74, 72.38, 78.69, 60.00, 80.14))),
                 "Sentence-BERT": dict(enumerate((46.36, 70.36, 78.72, 46.86, 66.41))),
                 "CoSENT (NLI)": dict(enumerate((28.93, 41.84, 66.07, 20.49, 73.91))),
                 "Sentence-BERT (NLI)": dict(enumerate((28.19, 42.73, 64.98, 15.38, 74.88))),
                 "RoBERTa, CoSENT": dict(enumerate((50.81, 71.45, 79.31, 61.56, 81.13))),
                 "RoBERTa, Sentence-BERT": dict(enumerate((48.29, 69.99, 79.22, 44.10, 72.42))),
                 "RoBERTa, CoSENT (NLI)": dict(enumerate((31.84, 46.65, 68.43, 20.89, 74.37))),
                 "RoBERTa, Sentence-BERT (NLI)": dict(enumerate((31.87, 45.60, 67.89, 15.64, 73.93)))},
        measure=_measure_chinese, draw=_draw_chinese,
        scales={
            "smoke": {"dim": 16, "layers": 1, "batch_size": 16, "steps": 3, "learning_rate": 1e-3, "n_train": 100, "n_test": 200, "seeds": 1},
            "laptop": {"dim": 64, "layers": 1, "batch_size": 32, "steps": 150, "learning_rate": 2e-3, "pawsx_steps": 60, "n_train": None,
                       "n_test": 1500, "seeds": 3},
            "paper": {"encoder": "bert-base-chinese", "batch_size": 32, "epochs": 5.0, "learning_rate": 2e-5, "pooling": "cls", "max_length": 64,
                      "pawsx_max_length": 128, "n_train": None, "n_test": None, "seeds": 3}},
        alt="Table of Spearman times 100 on four Chinese sets for CoSENT, cosine regression and Sentence-BERT, trained on the set or on inferences, "
            "in the article and here, and for the start weights.",
        claims=(Claim("trained on the set, CoSENT is ahead of Sentence-BERT on average", lambda m: _mean(m, "CoSENT") > _mean(m, "Sentence-BERT")),
                Claim("the largest lead is on STS-B", lambda m: _lead(m, STSB) == max(_lead(m, place) for place, _, _ in CHINESE.values())),
                Claim("on LCQMC both are level, within a point", lambda m: abs(_lead(m, LCQMC)) <= 1),
                Claim("on PAWS-X CoSENT leads by more than ten points", lambda m: _lead(m, PAWSX) > 10),
                Claim("trained on inferences, CoSENT is ahead on average", lambda m: _mean(m, "CoSENT (NLI)") > _mean(m, "Sentence-BERT (NLI)")),
                Claim("CoSENT is not behind cosine regression on average", lambda m: _mean(m, "CoSENT") >= _mean(m, "cosine regression"))),
        why="A BERT without pre-training begins as a bag of characters. On LCQMC the classifier soon loses the order that characters gave, so the "
            "lead is largest there; whether more steps or a pre-trained BERT would bring both level, as in the article, we did not test. PAWS-X "
            "swaps words, which characters cannot tell: there the objectives learn next to nothing in these steps, regression three points."),
)
