"""Sentence vectors from an untuned BERT: Reimers and Gurevych 2019, and two readings of first-last.

The papers read bert-base-uncased, here the course's LessonBERT stands in, with its untrained twin
beside it: directions count, levels do not. All is Spearman x 100 over all pairs of a set. Discussed
in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..contextual import Pooling
from ..datasets import load
from ..sentences import MeanEncoder
from .entry import Rows, Series, declared
from .models import controlled, model_of, with_encoder
from .pictures import set_table
from .trained import SETS, first_pairs, paired_spearman, quiet

__all__ = ["ENTRIES", "scores_by_set"]

RAW = {"BERT, mean": Pooling("last"), "BERT, [CLS]": Pooling("cls")}
READINGS = {"h0 + hL": Pooling("static-last"), "h1 + hL": Pooling("first-last")}
SCALES = with_encoder({"sets": ["sts13", "stsb"], "seeds": 1}, {"sets": list(SETS), "seeds": 3},
                      {"sets": list(SETS), "seeds": 5}, pairs=None)


def scores_by_set(vectors_of: Callable[[list[str]], Sequence[np.ndarray]], names: Sequence[str],
                  sets: Sequence[str], first: int | None = None) -> Rows:
    """Spearman x 100 of several kinds of vectors on sets, by name and by place in ``SETS``.
    ``vectors_of(texts)`` gives a table for each of ``names``; ``first`` pairs are read, None: all.
    """
    result: Rows = {name: {} for name in names}
    for dataset in sets:
        pairs = first_pairs(load(dataset), first)
        with quiet():
            tables = vectors_of(list(pairs.sentence1) + list(pairs.sentence2))
        for name, vectors in zip(names, tables, strict=True):
            result[name][SETS.index(dataset)] = paired_spearman(vectors, pairs.score)
    return result


def _of_bert(poolings: Mapping[str, Pooling], settings: Mapping[str, Any], seed: int) -> Rows:
    def rows(model: str, seed: int, settings: Mapping[str, Any]) -> Rows:
        encoder = model_of(model, seed)
        return scores_by_set(lambda texts: encoder.encode_each(texts, poolings.values()),
                             list(poolings), settings["sets"], settings["pairs"])
    return controlled(rows)(settings, seed)


def _measure_raw(settings: Mapping[str, Any], seed: int) -> Series:
    result: Rows = {}
    for name, model in {"mean of GloVe": "glove", "mean of skip-gram": "skip-gram"}.items():
        encoder = MeanEncoder(load("course-vectors", model=model))
        result |= scores_by_set(lambda texts, encoder=encoder: [encoder.encode(texts)], [name],
                                settings["sets"], settings["pairs"])
    return result | _of_bert(RAW, settings, seed)


ENTRIES = (declared("reimers2019_table1_raw", _measure_raw,
                    set_table("Untuned BERT against means of word vectors"), SCALES),
           declared("gao2021_first_last", partial(_of_bert, READINGS),
                    set_table("What is the first layer? Two readings of first-last"), SCALES))
