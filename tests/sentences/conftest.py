"""Words with vectors that anyone can check by hand, and a larger random language."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import generator
from lessons_lib.vectors import WordVectors


@pytest.fixture
def toy():
    """Four words in three dimensions."""
    return WordVectors(["the", "cat", "dog", "sat"], [[4.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 2.0]])


class Language:
    """Words w0 … w199 with random vectors (200, 24) about a common direction, and 600 texts in which w0 is frequent and w199 rare."""

    def __init__(self, seed: int = 3):
        rng = generator(seed)
        self.words = [f"w{i}" for i in range(200)]
        self.vectors = WordVectors(self.words, (rng.normal(size=(200, 24)) + 0.7 * rng.normal(size=24)).astype(np.float32))
        p = 1 / np.arange(1, 201)
        self.tokens = [[self.words[i] for i in rng.choice(200, size=n, p=p / p.sum())] for n in rng.integers(1, 20, size=600)]
        self.texts = [" ".join(tokens) for tokens in self.tokens]


@pytest.fixture(scope="session")
def language():
    """One random language for the whole session; nothing in it is written."""
    return Language()
