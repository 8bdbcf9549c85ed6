"""Toy encoders and pairs that the tests of this room share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.evaluation import STSResult


class TableEncoder:
    """Encodes by looking each text up in a table; counts how often each text was asked for."""

    name = "table"

    def __init__(self, table: dict[str, Sequence[float]], dtype: str = "float32"):
        self.table, self.dtype, self.asked = table, dtype, []
        self.dim = len(next(iter(table.values())))

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        self.asked.extend(texts)
        return np.array([self.table[text] for text in texts], dtype=self.dtype)


class WordCounter:
    """Bag of words with a fixed vocabulary, dense as the contract says."""

    name = "bag of words"

    def __init__(self, texts: Sequence[str]):
        words = {w for t in texts for w in re.findall(r"\w+", t.lower())}
        self.columns = {word: k for k, word in enumerate(sorted(words))}
        self.rows_per_call: list[int] = []

    @property
    def dim(self) -> int:
        return len(self.columns)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        self.rows_per_call.append(len(texts))
        counts = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                if word in self.columns:
                    counts[row, self.columns[word]] += 1
        return counts


def make_pairs(sentence1: Sequence[str], sentence2: Sequence[str], score: Sequence[float],
               **extra: object) -> SimpleNamespace:
    """What `evaluate` needs of a set of pairs, without the datasets room."""
    fields = {"name": "toy", "split": "test", "scale": (0.0, 5.0), "subset": None} | extra
    return SimpleNamespace(sentence1=list(sentence1), sentence2=list(sentence2), score=score,
                           **fields)


def make_result(name: str = "stsb", value: float = 0.5, **changes: object) -> STSResult:
    """What `evaluate` gives for one set."""
    fields = {"name": name, "split": "test", "protocol": "all", "spearman": value,
              "pearson": value - 0.01, "interval": (value - 0.05, value + 0.05), "alignment": 0.2,
              "uniformity": -2.5, "seconds": 0.25, "n_pairs": 1379, "n_subsets": 1, "dim": 300,
              "encoder": "mean"}
    return STSResult(**fields | changes)


@pytest.fixture
def pairs_of() -> Callable[..., SimpleNamespace]:
    return make_pairs


@pytest.fixture
def angle_pairs() -> tuple[TableEncoder, SimpleNamespace]:
    """Forty pairs whose cosine falls as the grade falls, with noise; all begin with "origin"."""
    rng = np.random.default_rng(5)
    angles = np.linspace(0.05, 1.5, 40)
    table = {"origin": [1.0, 0.0]} | {f"s{k}": [np.cos(a), np.sin(a)] for k, a in enumerate(angles)}
    grades = np.clip(5 - 3.2 * angles + rng.normal(scale=0.7, size=40), 0, 5)
    return TableEncoder(table, "float64"), make_pairs(["origin"] * 40, [f"s{k}" for k in range(40)],
                                                      grades)
