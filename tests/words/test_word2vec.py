"""Word2Vec: words of one kind come together, runs repeat bit by bit, files go on where they
stopped, and wrong settings are named.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, NotFittedError, TrainingDiverged
from lessons_lib.text import Corpus
from lessons_lib.words import Word2Vec, window_method

KINDS = list(itertools.product(("skip_gram", "cbow"),
                               ("negative_sampling", "hierarchical_softmax")))


def language(n=600, seed=0):
    """Sentences about one of two worlds whose words never meet, with one word that both use."""
    rng = np.random.default_rng(seed)
    worlds = [[f"{kind}{i}" for i in range(8)] for kind in ("sea", "field")]
    return [[*rng.choice(worlds[i % 2], size=6).tolist(), "the"] for i in range(n)]


def fitted(corpus=None, **settings):
    return Word2Vec(**({"dim": 12, "min_count": 1, "epochs": 5, "window": 3, "learning_rate": 0.05}
                       | settings)).fit(corpus or language())


@pytest.mark.parametrize(("architecture", "objective"), KINDS)
def test_words_of_one_world_come_together(architecture, objective):
    model = fitted(architecture=architecture, objective=objective, epochs=15, sample=0.0)
    assert all(word.startswith("sea") for word, _ in model.vectors_.most_similar("sea3", topn=5))
    assert model.vectors_.similarity("field1",
                                     "field2") > model.vectors_.similarity("field1", "sea2") + 0.3


@pytest.mark.parametrize(("architecture", "objective"), KINDS)
def test_the_loss_falls_and_is_noted_for_every_epoch(architecture, objective):
    history = fitted(architecture=architecture, objective=objective, epochs=6).history_
    assert history.shape == (6,) and history[-1] < history[0] - 0.05
    if objective == "negative_sampling":
        assert history[0] < 6 * np.log(2) + 0.01


def test_what_is_learned_has_the_stated_shapes():
    model = fitted([["b", "a", "b", "c", "b", "a"]] * 9)
    assert model.vectors_.tokens == ["b", "a", "c"] and model.counts_.tolist() == [27, 18, 9]
    assert model.vectors_.matrix.shape == model.output_.shape == (
        3, 12) and model.vectors_.matrix.dtype == model.output_.dtype == np.float32
    assert fitted([["b", "a", "b", "c"]] * 9,
                  objective="hierarchical_softmax").output_.shape == (2, 12)


def test_rare_words_are_left_out_and_their_neighbours_move_together():
    model = fitted([["a", "x", "b"], ["a", "y", "b"]] * 5 + [["z"]], min_count=6)
    assert model.vectors_.tokens == ["a", "b"]
    same = fitted([["a", "b"]] * 10 + [["z"]], min_count=6)
    assert np.array_equal(model.vectors_.matrix, same.vectors_.matrix)


def test_a_corpus_and_token_lists_are_the_same():
    a, b = fitted(language()), fitted(Corpus.from_tokens(language()))
    assert a.vectors_.tokens == b.vectors_.tokens and np.array_equal(a.vectors_.matrix,
                                                                     b.vectors_.matrix)


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_settings_give_bitwise_equal_vectors(threads):
    one, two, other = (fitted(threads=threads, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.vectors_.matrix, two.vectors_.matrix) and np.array_equal(
        one.output_, two.output_)
    assert np.array_equal(one.history_, two.history_) and not np.array_equal(
        one.vectors_.matrix, other.vectors_.matrix)


def test_threads_that_race_learn_too():
    model = fitted(threads=2, deterministic=False, epochs=15, sample=0.0)
    assert model.vectors_.similarity("field1",
                                     "field2") > model.vectors_.similarity("field1", "sea2") + 0.3


def test_more_text_brings_new_words_and_keeps_the_numbers_of_the_old():
    model = fitted(language(), sample=0.0)
    old = list(model.vectors_.tokens)
    model.partial_fit([["sea1", "whale", "sea2", "sea3"]] * 200 + [["rare"]])
    assert model.vectors_.tokens[:len(old)] == old and model.vectors_.tokens[len(old):] == [
        "whale", "rare"
    ]
    assert model.counts_[-2:].tolist() == [200, 1] and len(model.output_) == len(old) + 2 and len(
        model.history_) == 10
    assert model.vectors_.similarity("whale",
                                     "sea1") > model.vectors_.similarity("whale", "field1") + 0.2


def test_a_tree_does_not_grow():
    model = fitted(objective="hierarchical_softmax")
    before, counts = list(model.vectors_.tokens), model.counts_.copy()
    model.partial_fit([["sea1", "whale", "sea2"]] * 50)
    assert model.vectors_.tokens == before and np.array_equal(model.counts_, counts)


def test_partial_fit_of_an_empty_model_is_fit_and_of_another_shape_is_refused():
    one = Word2Vec(dim=12, min_count=1, epochs=5, window=3,
                   learning_rate=0.05).partial_fit(language())
    assert np.array_equal(one.vectors_.matrix, fitted().vectors_.matrix)
    with pytest.raises(ValueError, match=r"dim=5.*fit anew"):
        one.set_params(dim=5).partial_fit(language())


@pytest.mark.parametrize("objective", ["negative_sampling", "hierarchical_softmax"])
def test_a_saved_model_goes_on_as_if_it_had_not_been_saved(tmp_path, objective):
    model = fitted(objective=objective)
    model.save(tmp_path / "m")
    again = Word2Vec.load(tmp_path / "m")
    assert again.get_params() == model.get_params() and np.array_equal(
        again.history_, model.history_)
    for m in (model, again):
        m.partial_fit(language(seed=1))
    assert again.vectors_.tokens == model.vectors_.tokens and np.array_equal(
        again.vectors_.matrix, model.vectors_.matrix)


def interrupted(step, corpus, monkeypatch, **settings):
    """A model whose training was stopped by Ctrl-C in the middle of its part number ``step``."""
    from lessons_lib import kernels

    real, calls = kernels.window_update, []

    def stops(state, **how):
        found = real(state, **how)
        calls.append(found)
        if len(calls) == step:
            raise KeyboardInterrupt
        return found

    model = Word2Vec(**({"dim": 12, "min_count": 1, "epochs": 3, "window": 3} | settings))
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "window_update", stops)
        with pytest.raises(KeyboardInterrupt):
            model.fit(corpus)
    return model


@pytest.mark.parametrize(("step", "settings"), [(1, {}), (5, {}), (9, {}), (5, {"threads": 2}),
                                                (5, {"objective": "hierarchical_softmax"}),
                                                (8, {"architecture": "cbow"})])
def test_an_interrupted_run_goes_on_bitwise_as_if_it_had_not_been(step, settings, monkeypatch,
                                                                  tmp_path):
    monkeypatch.setattr(window_method, "TOKENS_PER_PART", 1500)
    corpus = language()
    interrupted(step, corpus, monkeypatch, **settings).save(tmp_path / "m")
    model, whole = Word2Vec.load(tmp_path / "m"), fitted(corpus, epochs=3, learning_rate=0.025,
                                                         **settings)
    assert len(model.history_) == (step - 1) // 3 and not np.array_equal(
        model.vectors_.matrix, whole.vectors_.matrix)
    seen = []
    model.resume(corpus, on_epoch=lambda m: seen.append(
        (len(m.history_), m.vectors_.matrix.copy())))
    assert np.array_equal(model.vectors_.matrix, whole.vectors_.matrix) and np.array_equal(
        model.output_, whole.output_)
    assert np.array_equal(model.history_, whole.history_) and [n for n, _ in seen] == list(
        range(1 + (step - 1) // 3, 4))
    assert np.array_equal(seen[-1][1], whole.vectors_.matrix)


def test_a_finished_run_is_left_as_it_is_and_another_corpus_is_refused(monkeypatch):
    model = fitted(language())
    before = model.vectors_.matrix.copy()
    assert np.array_equal(model.resume(language(5)).vectors_.matrix, before)
    monkeypatch.setattr(window_method, "TOKENS_PER_PART", 1500)
    stopped = interrupted(4, language(), monkeypatch)
    with pytest.raises(
            ValueError,
            match=r"400 documents and 2,800 known tokens that are not those.*partial_fit"):
        stopped.resume(language(400))
    with pytest.raises(ValueError, match=r"dim=5.*fit anew"):
        stopped.set_params(dim=5).resume(language())


def test_a_model_whose_numbers_do_not_fit_is_damaged(tmp_path):
    model = fitted()
    model.counts_ = model.counts_[:-1]
    model.save(tmp_path / "m")
    with pytest.raises(DamagedFile, match="counts"):
        Word2Vec.load(tmp_path / "m")


# ------------------------------------------------------------------------------ wrong arguments


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [({"dim": 0}, ValueError, "dim=0.*int >= 1"), ({"dim": -1}, ValueError, "dim=-1"),
     ({"dim": 1.5}, TypeError, "dim=1.5"), ({"dim": "8"}, TypeError, "dim='8'"),
     ({"dim": True}, TypeError, "dim=True"), ({"dim": None}, TypeError, "dim=None"),
     ({"window": 0}, ValueError, "window=0"), ({"window": 1.5}, TypeError, "window=1.5"),
     ({"epochs": 0}, ValueError, "epochs=0"), ({"epochs": None}, TypeError, "epochs=None"),
     ({"learning_rate": 0}, ValueError, "learning_rate=0.*> 0"),
     ({"learning_rate": float("nan")}, ValueError, "learning_rate=nan"),
     ({"learning_rate": float("inf")}, ValueError, "learning_rate=inf"),
     ({"negatives": -5}, ValueError, "negatives=-5.*objective='hierarchical_softmax'"),
     ({"negatives": 0}, ValueError, "negatives=0.*objective"),
     ({"sample": -1}, ValueError, "sample=-1"),
     ({"sample": float("nan")}, ValueError, "sample=nan"),
     ({"min_count": 0}, ValueError, "min_count=0"), ({"seed": -1}, ValueError, "seed=-1"),
     ({"seed": None}, TypeError, "seed=None"), ({"threads": 0}, ValueError, "threads=0"),
     ({"architecture": "skipgram"}, ValueError, "Did you mean 'skip_gram'"),
     ({"deterministic": "yes"}, TypeError, "deterministic='yes'")])
def test_P01_P02_P03_P04_P06_P07_P24_P25_settings_that_cannot_be_are_named(settings, error, words):
    with pytest.raises(error, match=words):
        Word2Vec(**settings).fit(language(20))


def test_P05_a_rate_that_diverges_is_told_and_leaves_sane_vectors():
    model = Word2Vec(dim=12, min_count=1, learning_rate=1000.0, epochs=3)
    with pytest.raises(
            TrainingDiverged,
            match=r"epoch 1, step .*last finite loss: none.*smaller rate: learning_rate=100"):
        model.fit(language())
    assert np.isfinite(model.vectors_.matrix).all() and np.abs(model.vectors_.matrix).max() < 1000


def test_P08_a_min_count_that_leaves_no_word():
    with pytest.raises(
            ValueError,
            match=r"min_count=99 leaves no word: the largest count is 20, of 2 distinct"):
        fitted([["a", "a", "b"]] * 10, min_count=99)


def test_P09_one_word_is_too_few():
    with pytest.raises(ValueError, match="1 word.*>= 2 needed"):
        fitted([["a", "a", "a"]])


@pytest.mark.parametrize("corpus", ["one text", ["a text", "another"], 5])
def test_texts_where_token_lists_are_expected(corpus):
    with pytest.raises(TypeError):
        fitted(corpus)


def test_P26_P28_unknown_keywords_and_use_before_fit(tmp_path):
    with pytest.raises(TypeError, match="did you mean 'dim'"):
        Word2Vec(vector_size=100)
    with pytest.raises(NotFittedError, match="Word2Vec is not fitted yet"):
        Word2Vec().save(tmp_path / "m")
    with pytest.raises(NotFittedError, match="Word2Vec is not fitted yet"):
        Word2Vec().resume(language())
