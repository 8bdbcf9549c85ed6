"""GloVe: what its counts, biases and rates do; what cannot be learned is tested with bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.counts import Cooccurrences, cooccurrence
from lessons_lib.text import Corpus
from lessons_lib.words import GloVe

from .conftest import language, made, same


def fitted(corpus=None, **changed):
    return made(GloVe, **changed).fit(corpus or language())


def test_what_is_learned_has_the_stated_shapes():
    model = fitted([["b", "a", "b", "c", "b", "a"]] * 9)
    assert model.vectors_.tokens == ["b", "a", "c"] and model.counts_.tolist() == [27, 18, 9]
    assert model.word_vectors_.shape == model.context_vectors_.shape == (
        3, 12) and model.word_biases_.shape == model.context_biases_.shape == (3,)
    assert model.vectors_.matrix.dtype == model.word_vectors_.dtype == np.float32
    assert np.array_equal(model.vectors_.matrix, model.word_vectors_ + model.context_vectors_)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_counts_of_the_text_are_what_is_learned(symmetric):
    corpus = Corpus.from_tokens(language(100))
    counts = cooccurrence(corpus, 4, symmetric=symmetric, weighting="harmonic")
    one = fitted(corpus, symmetric=symmetric)
    two = made(GloVe).fit_counts(counts, corpus.vocabulary.tokens)
    three = made(GloVe).fit_counts(
        Cooccurrences.from_corpus(corpus, 4, symmetric=symmetric), corpus.vocabulary.tokens)
    assert same(one, two) and same(one, three) and two.counts_ is None


def test_the_product_of_a_word_and_a_context_tells_the_logarithm_of_their_count():
    rng = np.random.default_rng(0)
    logs = rng.normal(size=(15, 2)) @ rng.normal(size=(2, 15)) + rng.normal(size=15)
    model = GloVe(dim=6, epochs=3000, x_max=0.1, learning_rate=0.3).fit_counts(
        sparse.csr_matrix(np.exp(logs)))
    found = (model.word_vectors_ @ model.context_vectors_.T + model.word_biases_[:, None] +
             model.context_biases_)
    np.testing.assert_allclose(found, logs, atol=0.01)
    assert model.history_[-1] < 1e-6 and model.vectors_.tokens[:3] == ["0", "1", "2"]


def test_the_first_loss_is_that_of_the_start_values():
    """Vectors begin near 0, so a single count costs ½ f (log X)² in the first epoch."""
    model = GloVe(dim=50, epochs=1, x_max=100.0, seed=3).fit_counts(
        sparse.csr_matrix(([50.0], ([0], [1])), shape=(2, 2)))
    assert model.history_[0] == pytest.approx(0.5 * 0.59460 * np.log(50) ** 2, rel=0.01)


def test_biases_move_further_at_the_rate_of_the_original_program():
    moved = ([
        np.abs(fitted(epochs=1, bias_rate=rate, learning_rate=0.01).word_biases_).mean()
        for rate in ("paper", "code")
    ])
    assert moved[1] > 3 * moved[0] > 0


def test_equal_settings_give_the_same_bits_on_any_number_of_threads():
    one, two, three, other = (fitted(**changed)
                               for changed in ({}, {}, {"threads": 3}, {"seed": 4}))
    assert same(one, two) and same(one, three) and not same(one, other)


def test_counts_beyond_the_memory_lie_on_disk_and_give_the_same_bits(monkeypatch, tmp_path):
    from lessons_lib import kernels

    real, folders = kernels.GloveState, []
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path))
    monkeypatch.setattr(
        kernels, "GloveState",
        lambda *rows, **options: folders.append(options["folder"]) or real(*rows, **options))
    assert same(fitted(), fitted(memory=1000))
    assert folders == [None, tmp_path] and not list(tmp_path.iterdir())


def test_more_epochs_are_as_if_they_had_been_asked_for_at_once():
    model = fitted(epochs=3)
    model.set_params(epochs=7).resume(language())
    assert same(model, fitted(epochs=7))
    counts = Cooccurrences.from_corpus(Corpus.from_tokens(language()), 4)
    assert same(model.set_params(epochs=8).resume(counts), fitted(epochs=8))


def test_more_text_brings_new_words_and_keeps_the_numbers_of_the_old():
    model = fitted(epochs=20)
    old, before = list(model.vectors_.tokens), model.word_vectors_.copy()
    model.partial_fit([["sea1", "whale", "sea2", "sea3"]] * 200 + [["rare"]])
    assert model.vectors_.tokens[:len(old)] == old and model.vectors_.tokens[len(old):] == [
        "whale", "rare"
    ]
    assert model.counts_[-2:].tolist() == [
        200, 1
    ] and model.word_vectors_.shape == (len(old) + 2, 12) and len(model.history_) == 40
    moved = np.abs(model.word_vectors_[: len(old)] - before).max(axis=1)
    there = np.array([token in ("sea1", "sea2", "sea3") for token in old])
    assert (moved[there] > 0).all() and not moved[~there].any()
    assert model.vectors_.similarity("whale", "sea1") > model.vectors_.similarity("whale", "field1")


@pytest.mark.parametrize("ready", [False, True])
def test_a_saved_model_goes_on_as_if_it_had_not_been_saved(tmp_path, ready):
    counts = Cooccurrences.from_corpus(Corpus.from_tokens(language()), 4)
    model = made(GloVe).fit_counts(counts) if ready else fitted()
    model.save(tmp_path / "m")
    again = GloVe.load(tmp_path / "m")
    assert again.get_params() == model.get_params() and same(again, model)
    assert again.counts_ is None if ready else np.array_equal(again.counts_, model.counts_)
    for m in (model, again):
        m.partial_fit(language(seed=1))
    assert same(again, model)
