"""A language of two worlds, and the methods of the room with settings that learn it in a second."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import kernels
from lessons_lib.words import FastText, GloVe, Word2Vec, glove, window_method

SMALL = {"dim": 12, "min_count": 1, "epochs": 5, "window": 3}
SETTINGS = {
    Word2Vec: SMALL | {"learning_rate": 0.05}, FastText: SMALL | {"sample": 0.0},
    GloVe: SMALL | {"window": 4, "learning_rate": 0.1, "x_max": 10.0}}
KERNELS = {Word2Vec: "window_update", FastText: "subword_update", GloVe: "glove_step"}
STATES = {Word2Vec: "WindowState", FastText: "SubwordState", GloVe: "GloveState"}
LEARNED = {
    Word2Vec: ["output_"], FastText: ["word_rows_", "ngram_rows_", "output_"],
    GloVe: ["word_vectors_", "context_vectors_", "word_biases_", "context_biases_"]}


def language(n=600, seed=0):
    """Sentences about one of two worlds whose words never meet, with one word that both use."""
    rng = np.random.default_rng(seed)
    worlds = [[f"{kind}{i}" for i in range(8)] for kind in ("sea", "field")]
    return [[*rng.choice(worlds[i % 2], size=6).tolist(), "the"] for i in range(n)]


def made(method, **settings):
    """A method with settings of its own, for a second."""
    return method(**SETTINGS[method] | settings)


def same(one, two):
    """Whether two models have learned the same, bit for bit."""
    return (one.vectors_.tokens == two.vectors_.tokens
            and np.array_equal(one.vectors_.matrix, two.vectors_.matrix)
            and np.array_equal(one.history_, two.history_, equal_nan=True)
            and all(np.array_equal(getattr(one, name), getattr(two, name))
                    for name in LEARNED[type(one)]))


def pressed(*_, **__):
    """Ctrl-C."""
    raise KeyboardInterrupt


@pytest.fixture
def small_parts(monkeypatch):
    """Three parts are an epoch of `language`."""
    monkeypatch.setattr(window_method, "TOKENS_PER_PART", 1500)
    monkeypatch.setattr(glove, "COUNTS_PER_PART", 60)          # of 144 + 33


@pytest.fixture
def interrupted(small_parts, monkeypatch):
    """Makes a model whose training was stopped by Ctrl-C in the middle of part number ``step``."""

    def stopped(method, step, **settings):
        real, calls = getattr(kernels, KERNELS[method]), []

        def stops(state, **options):
            result = real(state, **options)
            calls.append(result)
            return pressed() if len(calls) == step else result

        model = made(method, **settings)
        with monkeypatch.context() as patch:
            patch.setattr(kernels, KERNELS[method], stops)
            with pytest.raises(KeyboardInterrupt):
                model.fit(language())
        return model

    return stopped
