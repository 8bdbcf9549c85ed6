"""Every objective on one network: LessonBERT, the best look at dev kept, the control beside each.

Other entries ask what changes within an objective. Here the objectives stand beside each other, and
each control begins with random weights and is trained alike. SimCSE reads the mean of the first and
the last layer, all others that of the last. Discussed in lesson ``16_outlook``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual import load_encoder
from ..contextual.encoder import ContextualEncoder
from ..contrastive import CoSent, Distil, SBert, SimCse
from ..core import generator
from ..datasets import load
from .entry import COURSE, Entry, Rows, Series, declared
from .models import CONTROL, PAPER, RANDOM, model_of
from .pictures import beside_paper, dots_of, gains
from .sbert import nli_pairs
from .simcse_texts import texts_of
from .trained import PLACES, SD, quiet, some_pairs, spearman_by_set, trained_rows

__all__ = ["ENTRIES", "GROUPS", "TRAININGS", "trained_by"]

RAW, RAW_LAST = "not trained", "not trained, last layer"
READ = {RAW: "first-last", RAW_LAST: "last"}
PLAIN, SUPERVISED = "SimCSE", "supervised SimCSE"
ON_NLI, ON_GRADES, ON_BOTH = "SBERT, NLI", "SBERT, STS-B", "SBERT, NLI then STS-B"
ORDER = "CoSENT"
TAUGHT, TAUGHT_FIRST = "taught by MiniLM", "taught, then CoSENT"
# where a row begins with the weights of another, one training gives both
TRAININGS = ((PLAIN,), (SUPERVISED,), (ON_NLI, ON_BOTH), (ON_GRADES,), (ORDER,),
             (TAUGHT, TAUGHT_FIRST))
ROWS = (PLAIN, SUPERVISED, ON_NLI, ON_GRADES, ON_BOTH, ORDER, TAUGHT, TAUGHT_FIRST)
GROUPS = ("sentences", "triplets", "classes", "grades", "taught")  # settings by kind of data
SCORED = ("stsb", "stsb dev", "stsb unseen")
TEST, _, UNSEEN = map(PLACES.index, SCORED)


@functools.lru_cache(maxsize=1)
def _taught_texts(teacher: str, n: int | None) -> tuple[list[str], np.ndarray]:
    """At most n sentences of NLI and of STS-B's train part, and what a teacher says of them."""
    texts = list(dict.fromkeys([*texts_of("NLI"), *texts_of("STS-B, train")]))
    texts = [texts[i] for i in generator(0).permutation(len(texts))[:n]]
    with quiet():
        return texts, load_encoder(teacher).encode(texts)


def trained_by(rows: Sequence[str], encoder: ContextualEncoder, settings: Mapping[str, Any],
               seed: int) -> dict[str, Any]:
    """The models of one of ``TRAININGS`` by row. ``settings`` of a scale: "all", what all trainers
    have, and one for each of ``GROUPS``, "n_pairs" of dev, "teacher" and "n_taught" sentences."""
    dev = some_pairs(load("stsb", split="dev"), settings["n_pairs"])

    def fitted(kind: Any, group: str, data: Any, start: Any = encoder, **own: Any) -> Any:
        own = {**settings["all"], **settings[group], **own}
        with quiet():
            return kind(start, seed=seed, **own).fit(data, dev)

    def by_grades(kind: Any, start: Any = encoder, **own: Any) -> Any:
        return fitted(kind, "grades", load("stsb", split="train"), start, **own)

    if PLAIN in rows:
        return {PLAIN: fitted(SimCse, "sentences", texts_of("STS-B, train"))}
    if SUPERVISED in rows:
        return {SUPERVISED: fitted(SimCse, "triplets", load("nli"), supervised=True)}
    if ON_GRADES in rows:
        return {ON_GRADES: by_grades(SBert, objective="cosine")}
    if ORDER in rows:
        return {ORDER: by_grades(CoSent)}
    if ON_NLI in rows:
        first = fitted(SBert, "classes", nli_pairs(), objective="softmax")
        return {ON_NLI: first, ON_BOTH: by_grades(SBert, first.encoder_, objective="cosine")}
    first = fitted(Distil, "taught", _taught_texts(settings["teacher"], settings["n_taught"]))
    return {TAUGHT: first, TAUGHT_FIRST: by_grades(CoSent, first.encoder_)}


def _measure(settings: Mapping[str, Any], seed: int) -> Series:
    n, result = settings["n_pairs"], {}
    for ending, random in (("", ""), (CONTROL, RANDOM))[: 2 if settings["controls"] else 1]:
        for row, pooling in READ.items():
            raw = model_of(settings["encoder"] + random, seed).set_params(pooling=pooling)
            result[row + ending] = spearman_by_set(raw, SCORED, n)

    def score(models: Mapping[str, Any]) -> Rows:
        return {row: spearman_by_set(model, SCORED, n) for row, model in models.items()}

    for rows in TRAININGS:
        if TAUGHT in rows and not settings["teacher"]:
            continue
        result |= trained_rows(
            "", lambda encoder, k, rows=rows: trained_by(rows, encoder, settings, k),
            entry="reimers2019_one_network", settings={**settings, "rows": list(rows)},
            seeds=settings["others" if TAUGHT in rows else "seeds"],
            controls=settings["controls"], seed=seed, score=score)
    return {row + ending: result[row + ending] for row in (*READ, *ROWS)
            for ending in ("", SD, CONTROL, CONTROL + SD) if row + ending in result}


def _draw(entry: Entry, measured: Series) -> Any:
    own = [row for row in (*READ, *ROWS) if row in measured]
    rows = {f"{title}: {row}": dots_of(entry, measured, row, x)
            for title, x in (("test", TEST), ("unseen", UNSEEN)) for row in own}
    told = gains(entry, measured, ON_GRADES, RAW_LAST, TEST)
    return beside_paper(rows, title=f"What grades add to one network: {told}",
                        groups=[len(own)], xlabel="STS-B, Spearman × 100",
                        source="BERT-base: Gao et al. 2021, Reimers and Gurevych 2019")


# of LessonBERT; those of the papers for BERT-base are below, with the data that the course has
_LAPTOP = {
    "encoder": COURSE, "seeds": 3, "others": 1, "controls": 1, "n_pairs": None,
    "teacher": "minilm", "n_taught": None,
    "all": {"learning_rate": 2e-4, "precision": "bfloat16"},
    "sentences": {"pooling": "first-last", "head": "none", "dropout": 0.1, "batch_size": 64,
                  "steps": 200, "max_length": 32, "evaluate_every": 25},
    "triplets": {"pooling": "first-last", "head": "none", "dropout": 0.1, "batch_size": 64,
                 "steps": 400, "max_length": 32, "evaluate_every": 50},
    "classes": {"pooling": "last", "dropout": 0.1, "batch_size": 32, "steps": 400,
                "evaluate_every": 50},
    "grades": {"pooling": "last", "dropout": 0.0, "batch_size": 32, "steps": 720,
               "evaluate_every": 60},
    "taught": {"pooling": "last", "dropout": 0.0, "batch_size": 64, "epochs": 4.0,
               "learning_rate": 3e-4, "evaluate_every": 120}}
_TWO_STEPS = {"steps": 2, "batch_size": 4, "evaluate_every": 1}
_SMOKE = _LAPTOP | {
    "seeds": 1, "n_pairs": 60, "teacher": "lesson-bag", "n_taught": 60,
    "all": {"learning_rate": 2e-4},
    **{group: {k: v for k, v in _LAPTOP[group].items() if k != "epochs"} | _TWO_STEPS
       for group in GROUPS}}
_PAPER = _LAPTOP | {
    "encoder": PAPER, "teacher": None,  # MiniLM's 384 numbers are too few for 768
    "all": {"learning_rate": 2e-5, "precision": "bfloat16", "warmup": 0.1},
    "sentences": {"pooling": "cls", "head": "mlp", "dropout": 0.1, "batch_size": 64,
                  "epochs": 1.0, "learning_rate": 3e-5, "max_length": 32, "evaluate_every": 125},
    "triplets": {"pooling": "cls", "head": "mlp", "dropout": 0.1, "batch_size": 512,
                 "epochs": 3.0, "learning_rate": 5e-5, "max_length": 32, "evaluate_every": 25},
    "classes": {"pooling": "last", "dropout": 0.1, "batch_size": 16, "epochs": 1.0,
                "evaluate_every": 200},
    "grades": {"pooling": "last", "dropout": 0.1, "batch_size": 16, "epochs": 4.0,
               "evaluate_every": 100},
    "taught": {"pooling": "last", "dropout": 0.1, "batch_size": 64, "epochs": 20.0,
               "evaluate_every": 500}}


ENTRIES = (declared("reimers2019_one_network", _measure, _draw,
                    {"smoke": _SMOKE, "laptop": _LAPTOP, "paper": _PAPER},
                    helps=lambda m: all(
                        m[row][UNSEEN] > m[RAW if row in (PLAIN, SUPERVISED) else RAW_LAST][UNSEEN]
                        for row in ROWS if row in m)),)
