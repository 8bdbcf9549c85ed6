"""What Word2Vec, FastText and GloVe do alike: words of one kind come together, runs repeat bit by
bit and go on where they stopped, and what is saved is the same.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lessons_lib import kernels
from lessons_lib.core import DamagedFile, TrainingDiverged
from lessons_lib.text import Corpus
from lessons_lib.words import FastText, GloVe, Word2Vec

from .conftest import STATES, language, made, pressed, same

METHODS = pytest.mark.parametrize("method", STATES, ids=lambda method: method.__name__)
TREE = {"objective": "hierarchical_softmax"}
KINDS = [(method, {"architecture": architecture} | objective)
         for method, architecture, objective in itertools.product(
             (Word2Vec, FastText), ("skip_gram", "cbow"), ({}, TREE))] + [(GloVe, {})]


# ------------------------------------------------------------------------------ what is learned


@pytest.mark.parametrize(("method", "settings"), KINDS)
def test_words_of_one_world_come_together_and_the_loss_falls(method, settings):
    more = {"epochs": 40} if method is GloVe else {"epochs": 15, "sample": 0.0}
    model = made(method, **settings, **more).fit(language())
    vectors, history = model.vectors_, model.history_
    assert all(word.startswith("sea") for word, _ in vectors.most_similar("sea3", topn=5))
    assert vectors.similarity("field1", "field2") > vectors.similarity("field1", "sea2") + 0.2
    assert history.shape == (more["epochs"],) and history[-1] < history[0] - 0.05
    if method is GloVe:
        assert (np.diff(history[:6]) < 0).all() and history[5] < 0.1 * history[0]
    elif "objective" not in settings:
        assert history[0] < 6 * np.log(2) + 0.01


@METHODS
def test_what_is_learned_has_the_stated_shapes(method):
    model = made(method).fit([["b", "a", "b", "c", "b", "a"]] * 9)
    assert model.vectors_.tokens == ["b", "a", "c"] and model.counts_.tolist() == [27, 18, 9]
    assert model.vectors_.matrix.shape == (3, 12) and model.vectors_.matrix.dtype == np.float32
    if method is not GloVe:
        assert model.output_.shape == (3, 12) and model.output_.dtype == np.float32
        assert made(method, **TREE).fit([["b", "a", "b", "c"]] * 9).output_.shape == (2, 12)


@METHODS
def test_rare_words_are_left_out_and_their_neighbours_move_together(method):
    model = made(method, min_count=6).fit([["a", "x", "b"], ["a", "y", "b"]] * 5 + [["z"]])
    assert model.vectors_.tokens == ["a", "b"]
    assert same(model, made(method, min_count=6).fit([["a", "b"]] * 10 + [["z"]]))


@METHODS
def test_a_corpus_and_token_lists_are_the_same(method):
    assert same(made(method).fit(language()), made(method).fit(Corpus.from_tokens(language())))


@METHODS
@pytest.mark.parametrize("threads", [1, 2])
def test_equal_settings_give_bitwise_equal_vectors(method, threads):
    one, two, other = (made(method, threads=threads, seed=seed).fit(language())
                       for seed in (3, 3, 4))
    assert same(one, two) and not same(one, other)


@pytest.mark.parametrize("method", [Word2Vec, FastText])
def test_threads_that_race_learn_too(method):
    settings = {"threads": 2, "deterministic": False, "epochs": 15, "sample": 0.0}
    vectors = made(method, **settings).fit(language()).vectors_
    assert vectors.similarity("field1", "field2") > vectors.similarity("field1", "sea2") + 0.3


# ------------------------------------------------------------------------------ more text


@METHODS
def test_more_text_brings_new_words_and_keeps_the_numbers_of_the_old(method):
    model = made(method, epochs=20).fit(language())
    old = list(model.vectors_.tokens)
    model.partial_fit([["sea1", "whale", "sea2", "sea3"]] * 200 + [["rare"]])
    assert model.vectors_.tokens == [*old, "whale", "rare"] and len(model.history_) == 40
    assert model.counts_[-2:].tolist() == [200, 1]
    near, far = (model.vectors_.similarity("whale", word) for word in ("sea1", "field1"))
    assert near > far + 0.2 * (method is not GloVe)


@pytest.mark.parametrize("method", [Word2Vec, FastText])
def test_a_tree_does_not_grow(method):
    model = made(method, **TREE).fit(language())
    before, counts = list(model.vectors_.tokens), model.counts_.copy()
    model.partial_fit([["sea1", "whale", "sea2"]] * 50)
    assert model.vectors_.tokens == before and np.array_equal(model.counts_, counts)


@METHODS
def test_partial_fit_of_an_empty_model_is_fit_and_of_another_shape_is_refused(method):
    one, fitted = made(method).partial_fit(language()), made(method).fit(language())
    assert same(one, fitted)
    wrong = [{"dim": 5}, *([] if method is GloVe else [TREE]),
             *([{"min_n": 2}, {"buckets": 7}] if method is FastText else [])]
    for settings in wrong:
        changed = made(method).fit(language()).set_params(**settings)
        for use in (changed.partial_fit, changed.set_params(epochs=9).resume):
            with pytest.raises(ValueError, match=r"fit anew"):
                use(language())
        assert same(changed, fitted)


# ------------------------------------------------------------------------------ going on


@pytest.mark.parametrize(("method", "step", "settings"), [
    *((method, step, {}) for method in STATES for step in (1, 5, 8)),
    *((method, 5, {"threads": 2}) for method in STATES), (Word2Vec, 9, {}), (Word2Vec, 5, TREE),
    (Word2Vec, 8, {"architecture": "cbow"}), (GloVe, 8, {"bias_rate": "code"})])
def test_an_interrupted_run_goes_on_bitwise_as_if_it_had_not_been(method, step, settings,
                                                                  interrupted, tmp_path):
    interrupted(method, step, **settings).save(tmp_path / "m")
    model, whole = method.load(tmp_path / "m"), made(method, **settings).fit(language())
    done = (step - 1) // 3
    assert len(model.history_) == done and not same(model, whole)
    seen = []
    model.resume(language(), on_epoch=lambda m: seen.append((len(m.history_),
                                                             m.vectors_.matrix.copy())))
    assert same(model, whole) and [n for n, _ in seen] == list(range(1 + done, 6))
    assert np.array_equal(seen[-1][1], whole.vectors_.matrix)
    assert all(not np.array_equal(a, b) for (_, a), (_, b) in itertools.pairwise(seen))


@METHODS
def test_a_finished_run_is_left_as_it_is_and_another_corpus_is_refused(method, interrupted):
    model, twin = made(method).fit(language()), made(method).fit(language())
    assert same(model.resume(language(5)), twin)
    with pytest.raises(ValueError, match=r"not those of the interrupted run.*partial_fit"):
        interrupted(method, 4).resume(language(400))


@METHODS
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_ctrl_c_before_the_first_step_leaves_the_model_as_it_was(method, way, monkeypatch,
                                                                 tmp_path):
    model, twin = made(method).fit(language()), made(method).fit(language())
    with monkeypatch.context() as patch:
        patch.setattr(kernels, STATES[method], pressed, raising=False)
        with pytest.raises(KeyboardInterrupt):
            getattr(model, way)(language(90, seed=1))
    model.save(tmp_path / "model")
    model = method.load(tmp_path / "model")
    assert same(model, twin) and np.array_equal(model.counts_, twin.counts_)
    more = [["a", "tulip", "is", "no", "sea1"]] * 30
    assert same(model.partial_fit(more), twin.partial_fit(more))


@METHODS
def test_ctrl_c_before_the_first_step_of_a_first_fit_leaves_it_not_fitted(method, monkeypatch):
    model = made(method)
    monkeypatch.setattr(kernels, STATES[method], pressed, raising=False)
    with pytest.raises(KeyboardInterrupt):
        model.fit(language())
    assert set(vars(model)) == set(vars(made(method)))


@METHODS
def test_P05_a_rate_that_diverges_is_told_and_leaves_sane_vectors(method):
    rate = {"learning_rate": 1e6} | ({"gradient_clip": 1e9} if method is GloVe else {})
    model = made(method, **rate)
    with np.errstate(all="ignore"), pytest.raises(
            TrainingDiverged,
            match=r"epoch 1, step .*last finite loss: none.*smaller rate: learning_rate=1e\+05"):
        model.fit(language())
    matrix = model.vectors_.matrix
    assert np.isfinite(matrix).all() and 0 < np.abs(matrix).max() < 1000


# ------------------------------------------------------------------------------ files


@pytest.mark.parametrize(("method", "settings"), [*((method, {}) for method in STATES),
                                                  (Word2Vec, TREE), (FastText, TREE)])
def test_a_saved_model_goes_on_as_if_it_had_not_been_saved(method, settings, tmp_path):
    model = made(method, **settings).fit(language() + [["naïve", "日本語", "the"]] * 9)
    model.save(tmp_path / "m")
    again = method.load(tmp_path / "m")
    assert again.get_params() == model.get_params() and same(again, model)
    for one in (model, again):
        one.partial_fit(language(seed=1))
    assert same(again, model)


@METHODS
def test_settings_may_be_small_numbers_of_numpy(method, tmp_path):
    plain = {"dim": 4, "window": 5, "epochs": 3, "seed": 250, "threads": 1,
             "learning_rate": 0.03125}
    kinds = {"seed": np.uint8, "learning_rate": np.float32}
    small = {name: kinds.get(name, np.int8)(value) for name, value in plain.items()}
    model, twin = (made(method, **settings).fit(language(60)).partial_fit(language(30, seed=1))
                   for settings in (small, plain))
    assert same(model, twin)
    model.save(tmp_path / "model")
    assert method.load(tmp_path / "model").get_params() == twin.get_params()


@METHODS
@pytest.mark.parametrize("changed", [{"dim": 5}, {"epochs": -1}])
def test_settings_that_load_would_refuse_are_not_saved_over_a_good_model(method, changed, tmp_path):
    model = made(method).fit(language(60))
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=next(iter(changed))):
        model.set_params(**changed).save(tmp_path / "model")
    assert same(method.load(tmp_path / "model"), model)


@pytest.mark.parametrize(("method", "name", "wrong"), [
    (Word2Vec, "counts_", lambda x: x[:-1]), (GloVe, "_words", lambda x: x[:-1]),
    (FastText, "ngram_rows_", lambda x: x[:-1]), (FastText, "word_rows_", lambda x: x[:, :5]),
    (FastText, "buckets_", lambda x: x + 1), (FastText, "buckets_", lambda x: x * 0),
    (FastText, "counts_", lambda x: x[:3])])
def test_a_model_whose_numbers_do_not_fit_is_damaged(method, name, wrong, tmp_path):
    model = made(method).fit(language(60))
    setattr(model, name, wrong(getattr(model, name)))
    model.save(tmp_path / "m")
    with pytest.raises(DamagedFile, match="cannot read"):
        method.load(tmp_path / "m")
