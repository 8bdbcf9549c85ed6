"""Words with vectors that anyone can check by hand, and a larger random language."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import generator
from lessons_lib.text import tokenize
from lessons_lib.vectors import WordVectors


@pytest.fixture
def toy():
    """Four words in three dimensions."""
    return WordVectors(["the", "cat", "dog", "sat"],
                       [[4.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 2.0]])


class Language:
    """Words w0 … w199 with random vectors (200, 24) about a common direction, and 600 texts in
    which w0 is frequent and w199 rare.
    """

    def __init__(self, seed: int = 3):
        rng = generator(seed)
        self.words = [f"w{i}" for i in range(200)]
        self.vectors = WordVectors(
            self.words, (rng.normal(size=(200, 24)) + 0.7 * rng.normal(size=24)).astype(np.float32))
        p = 1 / np.arange(1, 201)
        self.tokens = [[self.words[i]
                        for i in rng.choice(200, size=n, p=p / p.sum())]
                       for n in rng.integers(1, 20, size=600)]
        self.texts = [" ".join(tokens) for tokens in self.tokens]


@pytest.fixture(scope="session")
def language():
    """One random language for the whole session; nothing in it is written."""
    return Language()


class Authors:
    """SIF and uSIF as their authors' programs do it, word by word in float64: what the fast ones
    are compared with.
    """

    @staticmethod
    def weighted_means(vectors, texts, weight):
        """1/|s| Σ g(w) v_w over the words that have a vector."""
        rows = []
        for text in texts:
            words = [word for word in tokenize(text) if word in vectors]
            rows.append(
                sum((weight(word) * vectors[word].astype(np.float64)
                     for word in words), np.zeros(vectors.dim)) / max(len(words), 1))
        return np.array(rows)

    @staticmethod
    def shares(texts):
        """p(w) of every word, counted in the texts."""
        words = [word for text in texts for word in tokenize(text)]
        return {word: words.count(word) / len(words) for word in set(words)}

    @staticmethod
    def sif(vectors, texts, p, *, a=1e-3, n_components=1):
        """Directions from these texts."""
        x = Authors.weighted_means(vectors, texts, lambda word: a / (a + p.get(word, 0.0)))
        c = np.linalg.svd(x, full_matrices=False)[2][:n_components]
        return x - x @ c.T @ c

    @staticmethod
    def usif(vectors, texts, p, *, sentence_length, m=5, weigh=None):
        """Directions from these texts; ``weigh`` replaces the weighted means."""
        n_words = len(p)
        threshold = 1 - (1 - 1 / n_words) ** sentence_length
        alpha = sum(share > threshold for share in p.values()) / n_words
        a = (1 - alpha) / (alpha * n_words / 2)
        x = (weigh or Authors.weighted_means)(vectors, texts, lambda word: a /
                                              (a / 2 + p.get(word, min(p.values()))))
        _, s, c = np.linalg.svd(x, full_matrices=False)
        for i in range(m):
            x = x - s[i] ** 2 / (s[:m] ** 2).sum() * np.outer(x @ c[i], c[i])
        return x


@pytest.fixture(scope="session")
def authors():
    """The slow programs."""
    return Authors
