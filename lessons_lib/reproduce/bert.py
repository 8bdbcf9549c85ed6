"""Sentence vectors from an untuned BERT: the raw rows of Table 1 of Reimers and Gurevych 2019, and two readings of "first-last" in Gao et al. 2021.

The papers read bert-base-uncased, here the course's LessonBERT stands in, with its untrained twin beside it: directions count, levels do not. All is
Spearman x 100 over all pairs of a set. Discussed in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..contextual import Pooling
from ..core import DataWarning
from ..datasets import load
from ..evaluation import pair_cosines, spearman
from ..plots import similarity_matrix
from ..sentences import MeanEncoder
from .entry import Claim, Entry, Series
from .models import RANDOM, model_of, with_encoder

__all__ = ["ENTRIES", "SETS", "averages", "scores_by_set"]

SETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sick")          # x = 0 to 6
SETS_OF = {"smoke": ("sts13", "stsb"), "laptop": SETS, "paper": SETS}
SCALES = with_encoder({"smoke": {"sets": list(SETS_OF["smoke"]), "seeds": 1}, "laptop": {"sets": list(SETS), "seeds": 3},
                       "paper": {"sets": list(SETS), "seeds": 5}}, pairs=None)
CONTROL = ", untrained"


def scores_by_set(vectors_of: Any, names: Sequence[str], sets: Sequence[str], first: int | None = None) -> dict[str, dict[int, float]]:
    """Spearman x 100 of several kinds of vectors on sets of sentence pairs, by name and by place of the set in ``SETS``.

    Parameters: vectors_of(texts) gives an array (texts, dim) for each of ``names``; sets, names of datasets; first, how many pairs of each are read,
    None for all.
    """
    found: dict[str, dict[int, float]] = {name: {} for name in names}
    for dataset in sets:
        pairs = load(dataset)
        pairs = pairs if first is None else pairs.select(np.arange(min(first, len(pairs))))
        i = np.arange(len(pairs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)          # sentences without a known word, or longer than the model reads
            tables = vectors_of(list(pairs.sentence1) + list(pairs.sentence2))
        for name, vectors in zip(names, tables, strict=True):
            found[name][SETS.index(dataset)] = 100 * float(spearman(pair_cosines(vectors, i, i + len(pairs)), pairs.score))
    return found


def averages(series: Series) -> dict[str, float]:
    """The mean of every row over the sets that all rows have."""
    common = set.intersection(*(set(row) for row in series.values()))
    return {name: float(np.mean([row[x] for x in sorted(common)])) for name, row in series.items()}


def _of_bert(poolings: Mapping[str, Pooling], settings: Mapping[str, Any], seed: int) -> dict[str, dict[int, float]]:
    """The trained model's rows, and the mean over seeds of those of untrained ones."""
    def rows(name: str, seed: int = 0) -> dict[str, dict[int, float]]:
        encoder = model_of(name, seed)
        return scores_by_set(lambda texts: encoder.encode_each(texts, poolings.values()), list(poolings), settings["sets"], settings["pairs"])

    found = rows(settings["encoder"])
    drawn = [rows(settings["encoder"] + RANDOM, seed + k) for k in range(settings["seeds"])]
    return found | {name + CONTROL: {x: float(np.mean([other[name][x] for other in drawn])) for x in found[name]} for name in poolings if drawn}


# ------------------------------------------------------------------------------------------------ Reimers and Gurevych 2019, Table 1

RAW = {"BERT, mean": Pooling("last"), "BERT, [CLS]": Pooling("cls")}


def _measure_raw(settings: Mapping[str, Any], seed: int) -> Series:
    found: dict[str, dict[int, float]] = {}
    for name, model in {"mean of GloVe": "glove", "mean of skip-gram": "skip-gram"}.items():
        encoder = MeanEncoder(load("course-vectors", model=model))
        found |= scores_by_set(lambda texts, encoder=encoder: [encoder.encode(texts)], [name], settings["sets"], settings["pairs"])
    return found | _of_bert(RAW, settings, seed)


def _table(title: str) -> Any:
    def draw(entry: Entry, measured: Series) -> Any:
        rows = {f"paper: {name}": row for name, row in entry.printed.items()} | {f"here: {name}": row for name, row in measured.items()}
        places = sorted(set.intersection(*(set(row) for row in rows.values())))
        values = np.array([[*(row[x] for x in places), np.mean([row[x] for x in places])] for row in rows.values()])
        return similarity_matrix(values, list(rows), columns=[*(SETS[x] for x in places), "mean"], limits=None, form="{:.1f}", title=title)

    return draw


# ------------------------------------------------------------------------------------------------ Gao et al. 2021: first-last, read in two ways

READINGS = {"h0 + hL": Pooling("static-last"), "h1 + hL": Pooling("first-last")}


def _measure_readings(settings: Mapping[str, Any], seed: int) -> Series:
    return _of_bert(READINGS, settings, seed)


# ------------------------------------------------------------------------------------------------ the entries

SETUP = ("LessonBERT instead of bert-base-uncased, and untrained models of its form (mean over seeds). Spearman times 100 over all pairs of a set, "
         "[CLS] and [SEP] averaged with the rest; sentences longer than the model reads are cut. x = 0 to 6: " + ", ".join(SETS) + ". ")

ENTRIES = (
    Entry(
        id="reimers2019_table1_raw", paper="reimers2019sentence", item="Table 1, first three rows", lesson="bert_sentence_vectors",
        setup=SETUP + "The course's GloVe and skip-gram vectors (100 numbers) instead of GloVe with 300. STS13 lacks the file that is not public. "
                      "The paper prints 57.98 for STS13 and STS14 alike.",
        printed={"mean of GloVe": dict(enumerate((55.14, 70.66, 59.73, 68.25, 63.66, 58.02, 53.76))),
                 "BERT, mean": dict(enumerate((38.78, 57.98, 57.98, 63.15, 61.06, 46.35, 58.40))),
                 "BERT, [CLS]": dict(enumerate((20.16, 30.01, 20.09, 36.88, 38.08, 16.50, 42.63)))},
        measure=_measure_raw, draw=_table("Untuned BERT against means of word vectors"), scales=SCALES,
        alt="Table of Spearman times 100 on seven sets and their mean: means of word vectors, BERT's mean and [CLS], in the paper, here, and "
            "untrained.",
        claims=(Claim("the mean of GloVe vectors is better than the mean of BERT's",
                      lambda m: averages(m)["mean of GloVe"] > averages(m)["BERT, mean"]),
                Claim("the mean of BERT's vectors is better than [CLS]", lambda m: averages(m)["BERT, mean"] > averages(m)["BERT, [CLS]"])),
        why="The course's GloVe vectors are far weaker than the paper's, with a third of the numbers and a small part of the text. The mean of the "
            "course's skip-gram vectors is ahead of BERT's on every set."),
    Entry(
        id="gao2021_first_last", paper="gao2021simcse", item="Table of STS results, first-last, and the code's correction of 2022",
        lesson="bert_sentence_vectors",
        setup=SETUP + "The paper's row averages hidden state 0, the embeddings, with the last; its code averages the first block with the last "
                      "since January 2022.",
        printed={"h0 + hL": dict(enumerate((39.70, 59.38, 49.67, 66.03, 66.19, 53.87, 62.06))),
                 "h1 + hL": dict(enumerate((45.09, 64.30, 54.56, 70.52, 67.87, 59.05, 63.75)))},
        measure=_measure_readings, draw=_table("What is the first layer? Two readings of first-last"), scales=SCALES,
        alt="Table of Spearman times 100 on seven sets and their mean, for the embeddings or the first block averaged with the last, in the paper, "
            "here, and untrained.",
        claims=(Claim("the first block with the last is better than the embeddings with the last",
                      lambda m: averages(m)["h1 + hL"] > averages(m)["h0 + hL"]),)),
)
