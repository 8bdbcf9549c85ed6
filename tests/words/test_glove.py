"""GloVe: words of one kind come together, runs repeat bit by bit and go on where they stopped, and
what cannot be learned is named.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.core import DamagedFile, NotFittedError, TrainingDiverged
from lessons_lib.counts import Cooccurrences, cooccurrence
from lessons_lib.text import Corpus
from lessons_lib.words import GloVe, glove

PARTS = ("word_vectors_", "context_vectors_", "word_biases_", "context_biases_", "history_")


def language(n=600, seed=0):
    """Sentences about one of two worlds whose words never meet, with one word that both use."""
    rng = np.random.default_rng(seed)
    worlds = [[f"{kind}{i}" for i in range(8)] for kind in ("sea", "field")]
    return [[*rng.choice(worlds[i % 2], size=6).tolist(), "the"] for i in range(n)]


def settings(**changed):
    return (
        {"dim": 12, "min_count": 1, "epochs": 5, "window": 4, "learning_rate": 0.1, "x_max": 10.0}
        | changed)


def fitted(corpus=None, **changed):
    return GloVe(**settings(**changed)).fit(corpus or language())


def same(one, two):
    assert one.vectors_.tokens == two.vectors_.tokens
    return all(np.array_equal(getattr(one, part), getattr(two, part)) for part in PARTS)


# ------------------------------------------------------------------------------ what is learned


def test_words_of_one_world_come_together():
    model = fitted(epochs=40)
    assert all(word.startswith("sea") for word, _ in model.vectors_.most_similar("sea3", topn=5))
    assert model.vectors_.similarity("field1",
                                     "field2") > model.vectors_.similarity("field1", "sea2") + 0.2


def test_the_loss_falls_and_is_noted_for_every_epoch():
    history = fitted(epochs=6).history_
    assert history.shape == (6,) and (np.diff(history) < 0).all() and history[-1] < 0.1 * history[0]


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
    two = GloVe(**settings()).fit_counts(counts, corpus.vocabulary.tokens)
    three = GloVe(**settings()).fit_counts(
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


def test_rare_words_are_left_out_and_their_neighbours_move_together():
    model = fitted([["a", "x", "b"], ["a", "y", "b"]] * 5 + [["z"]], min_count=6)
    assert model.vectors_.tokens == ["a", "b"] and same(model, fitted([["a", "b"]] * 10,
                                                                      min_count=6))


# ------------------------------------------------------------------------------ the same again


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


def test_what_is_called_after_each_epoch_sees_what_was_learned_so_far():
    seen = []
    model = GloVe(**settings(epochs=3)).fit(
        language(), on_epoch=lambda m: seen.append((len(m.history_), m.vectors_.matrix.copy())))
    assert [n for n, _ in seen] == [1, 2, 3]
    assert np.array_equal(seen[2][1],
                          model.vectors_.matrix) and not np.array_equal(seen[0][1], seen[1][1])


def interrupted(step, monkeypatch, **changed):
    """A model whose training was stopped by Ctrl-C in the middle of its part number ``step``."""
    from lessons_lib import kernels

    real, calls = kernels.glove_step, []

    def stops(state, **how):
        found = real(state, **how)
        calls.append(found)
        if len(calls) == step:
            raise KeyboardInterrupt
        return found

    model = GloVe(**settings(**changed))
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "glove_step", stops)
        with pytest.raises(KeyboardInterrupt):
            model.fit(language())
    return model


@pytest.mark.parametrize(("step", "changed"), [(1, {}), (5, {}), (8, {}), (8, {"threads": 2}),
                                               (8, {"bias_rate": "code"})])
def test_an_interrupted_run_goes_on_bitwise_as_if_it_had_not_been(step, changed, monkeypatch,
                                                                  tmp_path):
    monkeypatch.setattr(glove, "COUNTS_PER_PART", 60)  # of 144 + 33, so three parts are an epoch
    whole = fitted(**changed)
    interrupted(step, monkeypatch, **changed).save(tmp_path / "m")
    model = GloVe.load(tmp_path / "m")
    assert len(model.history_) == (step - 1) // 3 and not same(model, whole)
    seen = []
    model.resume(language(), on_epoch=lambda m: seen.append(len(m.history_)))
    assert same(model, whole) and seen == list(range(1 + (step - 1) // 3, 6))


def test_more_epochs_are_as_if_they_had_been_asked_for_at_once():
    model = fitted(epochs=3)
    model.set_params(epochs=7).resume(language())
    assert same(model, fitted(epochs=7))
    counts = Cooccurrences.from_corpus(Corpus.from_tokens(language()), 4)
    assert same(model.set_params(epochs=8).resume(counts), fitted(epochs=8))


def test_a_finished_run_is_left_as_it_is_and_other_counts_are_refused():
    model = fitted()
    assert same(model.resume(language(5)), fitted())
    model.set_params(epochs=9)
    with pytest.raises(ValueError,
                       match=r"counts are not those of the interrupted run.*partial_fit"):
        model.resume(language(50))
    with pytest.raises(ValueError, match=r"dim=5.*fit anew"):
        model.set_params(dim=5).resume(language())


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


def test_partial_fit_of_an_empty_model_is_fit_and_of_another_shape_is_refused():
    one = GloVe(**settings()).partial_fit(language())
    assert same(one, fitted())
    with pytest.raises(ValueError, match=r"dim=5.*fit anew"):
        one.set_params(dim=5).partial_fit(language())


@pytest.mark.parametrize("ready", [False, True])
def test_a_saved_model_goes_on_as_if_it_had_not_been_saved(tmp_path, ready):
    counts = Cooccurrences.from_corpus(Corpus.from_tokens(language()), 4)
    model = GloVe(**settings()).fit_counts(counts) if ready else fitted()
    model.save(tmp_path / "m")
    again = GloVe.load(tmp_path / "m")
    assert again.get_params() == model.get_params() and same(again, model)
    assert again.counts_ is None if ready else np.array_equal(again.counts_, model.counts_)
    for m in (model, again):
        m.partial_fit(language(seed=1))
    assert same(again, model)


def test_a_model_whose_numbers_do_not_fit_is_damaged(tmp_path):
    model = fitted()
    model._words = model._words[:-1]
    model.save(tmp_path / "m")
    with pytest.raises(DamagedFile, match="words"):
        GloVe.load(tmp_path / "m")


# ------------------------------------------------------------------------------ wrong arguments


@pytest.mark.parametrize(("changed", "error", "words"),
                         [({"dim": 0}, ValueError, "dim=0.*int >= 1"),
                          ({"dim": 1.5}, TypeError, "dim=1.5"),
                          ({"dim": True}, TypeError, "dim=True"),
                          ({"window": 0}, ValueError, "window=0"),
                          ({"epochs": 0}, ValueError, "epochs=0"),
                          ({"epochs": None}, TypeError, "epochs=None"),
                          ({"learning_rate": 0}, ValueError, "learning_rate=0.*> 0"),
                          ({"learning_rate": float("nan")}, ValueError, "learning_rate=nan"),
                          ({"x_max": 0.0}, ValueError, "x_max=0.0.*> 0"),
                          ({"x_max": float("inf")}, ValueError, "x_max=inf"),
                          ({"exponent": -1}, ValueError, "exponent=-1"),
                          ({"gradient_clip": 0}, ValueError, "gradient_clip=0"),
                          ({"min_count": 0}, ValueError, "min_count=0"),
                          ({"seed": -1}, ValueError, "seed=-1"),
                          ({"seed": None}, TypeError, "seed=None"),
                          ({"threads": 0}, ValueError, "threads=0"),
                          ({"memory": 0}, ValueError, "memory=0"),
                          ({"symmetric": "yes"}, TypeError, "symmetric='yes'"),
                          ({"bias_rate": "papers"}, ValueError, "Did you mean 'paper'")])
def test_P01_P02_P03_P04_P07_P24_P25_settings_that_cannot_be_are_named(changed, error, words):
    with pytest.raises(error, match=words):
        GloVe(**changed).fit(language(20))


def test_P05_a_rate_that_diverges_is_told_and_leaves_sane_vectors():
    model = GloVe(**settings(learning_rate=1e6, gradient_clip=1e9))
    with pytest.raises(
            TrainingDiverged, match=
            r"epoch 1, step 1 of it.*last finite loss: none.*smaller rate: learning_rate=1e\+05"):
        model.fit(language())
    assert np.isfinite(model.vectors_.matrix).all() and 0 < np.abs(model.vectors_.matrix).max() < 1


def test_P08_a_min_count_that_leaves_no_word():
    with pytest.raises(
            ValueError,
            match=r"min_count=99 leaves no word: the largest count is 20, of 2 distinct"):
        fitted([["a", "a", "b"]] * 10, min_count=99)


def test_P09_one_word_is_too_few():
    with pytest.raises(ValueError, match="1 word.*>= 2 needed"):
        fitted([["a", "a", "a"]])


def test_documents_in_which_no_two_words_meet():
    with pytest.raises(ValueError, match="no two known words within window=4 of each other.*longer "
                                         "than one word"):
        fitted([["a"], ["b"], ["a"]])


@pytest.mark.parametrize(
    ("counts", "words"),
    [(sparse.csr_matrix(
        ([1.0, 0.0],
         ([0, 1], [1, 0])), shape=(2, 2)), r"count of row 1, column 0 is 0 .*eliminate_zeros"),
     (sparse.csr_matrix(([1.0, -2.0], ([0, 1], [1, 0])), shape=(2, 2)), "count of row 1, column 0 "
      "is -2"), (sparse.csr_matrix(([1.0, np.nan], ([0, 1], [1, 0])), shape=(2, 2)), "is nan"),
     (sparse.csr_matrix((2, 2)), "no stored numbers"),
     (sparse.csr_matrix(np.ones((2, 3))), r"shape \(2, 3\); expected \(V, V\)")])
def test_counts_that_have_no_logarithm_or_no_square_shape(counts, words):
    with pytest.raises(ValueError, match=words):
        GloVe(dim=3).fit_counts(counts)


def test_words_that_do_not_belong_to_the_counts():
    with pytest.raises(ValueError, match="tokens holds 1 words for 2 rows"):
        GloVe(dim=3).fit_counts(sparse.csr_matrix(np.ones((2, 2))), ["a"])
    with pytest.raises(
            TypeError, match=
            r"counts=.* is list; expected Cooccurrences or a sparse matrix. A text: fit\(corpus\)"):
        GloVe(dim=3).fit_counts(language())


@pytest.mark.parametrize("corpus", ["one text", ["a text", "another"], 5])
def test_texts_where_token_lists_are_expected(corpus):
    with pytest.raises(TypeError):
        fitted(corpus)


def test_P26_P28_unknown_keywords_and_use_before_fit(tmp_path):
    with pytest.raises(TypeError, match="did you mean 'dim'"):
        GloVe(vector_size=100)
    with pytest.raises(NotFittedError, match="GloVe is not fitted yet"):
        GloVe().save(tmp_path / "m")
    with pytest.raises(NotFittedError, match="GloVe is not fitted yet"):
        GloVe().resume(language())


def test_V07_P09_P14_counts_that_cannot_be_learned_are_named():
    bad = sparse.csc_matrix(np.ones((3, 3)))
    bad.indices[0] = 9000
    outside = sparse.coo_matrix(np.ones((3, 3)))
    outside.row[0] = -9000
    table = type("Table", (), {"values": np.ones((3, 3)), "columns": [0, 1, 2]})()
    for counts, error, words in ((bad, ValueError, "damaged csc matrix"), (outside, ValueError,
                                                                           "outside of"),
                                 (table, TypeError, "expected Cooccurrences"), (sparse.csr_matrix(
                                     np.ones((3, 3), complex)), TypeError, "complex"),
                                 (sparse.csr_matrix([[3.0]]), ValueError, "those of 1 word, >= 2 "
                                  "needed"), (sparse.csr_matrix(
                                      (3, 3)), ValueError, "no stored numbers")):
        with pytest.raises(error, match=words):
            GloVe(dim=4).fit_counts(counts)
