"""FastText: parts carry meaning to words never seen, vectors are composed as in gensim, runs repeat
and go on, files stay small.
"""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, NotFittedError, TrainingDiverged, UnknownWord
from lessons_lib.text import Corpus
from lessons_lib.words import FastText
from lessons_lib.words.subwords import fnv1a, ngrams

KINDS = list(itertools.product(("skip_gram", "cbow"),
                               ("negative_sampling", "hierarchical_softmax")))
SMALL = {"dim": 12, "min_count": 1, "epochs": 5, "window": 3, "sample": 0.0}


def language(n=600, seed=0):
    """Sentences about one of two worlds whose words never meet and share no part, with one word
    that both use.
    """
    rng = np.random.default_rng(seed)
    worlds = ([[kind + end
                for end in ("ing", "ed", "er", "ers", "ish", "able", "ly", "ness")]
               for kind in ("swimm", "plough")])
    return [[*rng.choice(worlds[i % 2], size=6).tolist(), "the"] for i in range(n)]


def fitted(corpus=None, **settings):
    return FastText(**(SMALL | settings)).fit(corpus or language())


# ------------------------------------------------------------------------------ what is learned


@pytest.mark.parametrize(("architecture", "objective"), KINDS)
def test_words_of_one_world_come_together_and_unseen_ones_join_them(architecture, objective):
    model = fitted(architecture=architecture, objective=objective, epochs=10)
    vectors = model.vectors_
    assert all(word.startswith("swimm") for word, _ in vectors.most_similar("swimming", topn=5))
    assert all(word.startswith("plough")
               for word, _ in model.nearest("ploughman", topn=5)) and "ploughman" not in vectors
    assert model.nearest("swimming") == vectors.most_similar("swimming")


@pytest.mark.parametrize(("architecture", "objective"), KINDS)
def test_the_loss_falls_and_is_noted_for_every_epoch(architecture, objective):
    history = fitted(architecture=architecture, objective=objective, epochs=6).history_
    assert history.shape == (6,) and history[-1] < history[0] - 0.05
    if objective == "negative_sampling":
        assert history[0] < 6 * np.log(2) + 0.01


def test_a_vector_is_the_mean_of_the_rows_of_a_word_and_its_parts():
    model = fitted([["naïve", "日本語", "is", "naïve"]] * 30, buckets=1000)
    row = {
        int(bucket): vector
        for bucket, vector in zip(model.buckets_, model.ngram_rows_, strict=True)
    }
    for i, word in enumerate(model.vectors_.tokens):
        parts = [row[fnv1a(part) % 1000] for part in ngrams(word)]
        np.testing.assert_allclose(model.vectors_[word],
                                   np.mean([model.word_rows_[i], *parts], axis=0), rtol=0,
                                   atol=1e-6)
    unseen = [row[fnv1a(part) % 1000] for part in ngrams("日本語版") if fnv1a(part) % 1000 in row]
    np.testing.assert_allclose(model.vector("日本語版"), np.mean(unseen, axis=0), rtol=0, atol=1e-6)
    assert model.vectors_for(["is", "日本語版"]).shape == (2, 12) and model.vectors_for(
        ["is"]).dtype == np.float32


def test_only_buckets_that_occur_have_rows():
    model = fitted()
    used = {fnv1a(part) % model.buckets for word in model.vectors_.tokens for part in ngrams(word)}
    assert set(model.buckets_.tolist()) == used and len(model.buckets_) == len(used) == len(
        model.ngram_rows_)
    crowded = fitted(buckets=3)
    assert len(crowded.buckets_) == 3 and crowded.vector("anything").shape == (12,)


def test_changing_the_row_of_a_word_moves_its_vector_by_a_share_and_no_unseen_word(tmp_path):
    model = fitted()
    word, unseen = "swimming", "swimmingly"
    before, i = (model.vector(word).copy(), model.vector(unseen).copy()), model.vectors_.id(word)
    model.word_rows_[i] += 1.0
    model.save(tmp_path)                        # vectors are composed anew where a model is read
    model = FastText.load(tmp_path)
    np.testing.assert_allclose(
        model.vector(word) - before[0], 1.0 / (len(ngrams(word)) + 1), rtol=0, atol=1e-6)
    assert np.array_equal(model.vector(unseen), before[1])


def test_without_parts_it_is_word2vec_with_the_paper_s_direction():
    model = fitted(max_n=0)
    assert model.ngram_rows_.shape == (0, 12) and np.allclose(model.vectors_.matrix,
                                                              model.word_rows_)
    with pytest.raises(UnknownWord, match="swimmingly"):
        model.vector("swimmingly")


def test_P20_a_word_without_known_parts_is_named_with_near_words():
    model = fitted()
    with pytest.raises(UnknownWord, match=r"^no vector for 'qqq', 'zzz' among 17 words"):
        model.vectors_for(["swimming", "qqq", "ploughman", "zzz"])


@pytest.mark.parametrize("word", ["swimming", "ploughman", "naïve", "日本語"])
def test_gensim_composes_the_same_vectors_from_the_same_rows(word):
    gensim = pytest.importorskip("gensim.models")
    text = language() + [["naïve", "the", "日本", "naïvely"]] * 30
    model = fitted(text, buckets=500)
    peer = gensim.FastText(vector_size=12, min_count=1, bucket=500, min_n=3, max_n=6)
    peer.build_vocab(text)
    wv = peer.wv
    wv.vectors_vocab[:] = [model.word_rows_[model.vectors_.id(w)] for w in wv.index_to_key]
    wv.vectors_ngrams[:] = 0.0
    wv.vectors_ngrams[model.buckets_] = model.ngram_rows_
    wv.adjust_vectors()
    parts = [fnv1a(part) % 500 for part in ngrams(word)]
    # gensim counts parts nobody saw
    known = np.isin(parts, model.buckets_).mean() if word not in model.vectors_ else 1.0
    assert known > 0.3
    np.testing.assert_allclose(model.vector(word) * known, wv[word], rtol=0, atol=1e-5)


# ------------------------------------------------------------------------ the same again, and more


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_settings_give_bitwise_equal_vectors(threads):
    one, two, other = (fitted(threads=threads, seed=seed) for seed in (3, 3, 4))
    assert all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in ("word_rows_", "ngram_rows_", "output_", "history_"))
    assert np.array_equal(one.vectors_.matrix, two.vectors_.matrix) and not np.array_equal(
        one.vectors_.matrix, other.vectors_.matrix)


def test_threads_that_race_learn_too():
    model = fitted(threads=2, deterministic=False, epochs=10)
    assert model.vectors_.similarity(
        "ploughed", "ploughing") > model.vectors_.similarity("ploughed", "swimming") + 0.3


def test_a_corpus_and_token_lists_are_the_same():
    a, b = fitted(language()), fitted(Corpus.from_tokens(language()))
    assert a.vectors_.tokens == b.vectors_.tokens and np.array_equal(a.vectors_.matrix,
                                                                     b.vectors_.matrix)


def test_shares_of_the_error_are_smaller_steps():
    whole, share = (fitted(share_error=share, epochs=1, learning_rate=0.01)
                    for share in (False, True))
    assert share.history_[0] > whole.history_[0]


def test_more_text_brings_new_words_and_parts_and_keeps_the_old():
    model = fitted()
    tokens, buckets = list(model.vectors_.tokens), model.buckets_.copy()
    model.partial_fit([["swimming", "whale", "swimmer", "swimmers"]] * 200 + [["rare"]])
    assert model.vectors_.tokens == [*tokens, "whale", "rare"] and np.array_equal(
        model.buckets_[:len(buckets)], buckets)
    assert model.counts_[-2:].tolist() == [200, 1] and len(model.history_) == 10 and len(
        model.output_) == len(tokens) + 2
    assert model.vectors_.similarity(
        "whale", "swimmer") > model.vectors_.similarity("whale", "ploughed") + 0.2
    assert len(np.unique(model.buckets_)) == len(model.buckets_) == len(model.ngram_rows_)


def test_a_tree_does_not_grow_with_more_text():
    model = fitted(objective="hierarchical_softmax")
    tokens = list(model.vectors_.tokens)
    assert model.partial_fit([["swimming", "whale", "swimmer"]] * 50).vectors_.tokens == tokens


def test_other_settings_of_shape_than_those_of_the_fit_are_refused():
    model = fitted()
    for wrong in ({"dim": 13}, {"objective": "hierarchical_softmax"}, {"min_n": 2}, {"buckets": 7}):
        changed = fitted().set_params(**wrong)
        with pytest.raises(ValueError, match="differ from those of the fit"):
            changed.partial_fit(language())
        assert np.array_equal(changed.vectors_.matrix, model.vectors_.matrix)


class Enough(Exception):
    """Raised to stop a run."""


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(tmp_path):
    whole, stopped = fitted(), FastText(**SMALL)

    def stop(model):
        if len(model.history_) == 2:
            model.save(tmp_path / "model")
            raise Enough

    with pytest.raises(Enough):
        stopped.fit(language(), on_epoch=stop)
    for model in (stopped, FastText.load(tmp_path / "model")):
        assert len(model.history_) == 2
        model.resume(language())
        assert np.array_equal(model.vectors_.matrix, whole.vectors_.matrix) and np.array_equal(
            model.history_, whole.history_)
        with pytest.raises(ValueError, match="resume needs its corpus"):
            model.set_params(epochs=9).resume(language(seed=5))


# ------------------------------------------------------------------------------ files


@pytest.mark.parametrize("objective", ["negative_sampling", "hierarchical_softmax"])
def test_a_saved_model_is_the_same_and_goes_on_the_same(tmp_path, objective):
    model = fitted(language() + [["naïve", "日本語", "the"]] * 9, objective=objective)
    model.save(tmp_path / "model")
    back = FastText.load(tmp_path / "model")
    assert back.vectors_.tokens == model.vectors_.tokens and back.get_params() == model.get_params()
    assert np.array_equal(back.vectors_.matrix, model.vectors_.matrix) and np.array_equal(
        back.vector("naïvely"), model.vector("naïvely"))
    for one in (model, back):
        one.partial_fit(language(seed=7))
    assert np.array_equal(back.vectors_.matrix, model.vectors_.matrix)


def test_a_file_holds_no_row_that_nobody_needs(tmp_path):
    fitted().save(tmp_path / "model")
    # 2 M buckets of 12 would be 96 MB
    assert sum(file.stat().st_size for file in (tmp_path / "model").iterdir()) < 100_000


def test_damaged_models_are_refused(tmp_path):
    model = fitted()
    for name, wrong in (("ngram_rows_", model.ngram_rows_[:-1]), ("word_rows_",
                                                                  model.word_rows_[:, :5]),
                        ("buckets_", model.buckets_ + 1), ("counts_", model.counts_[:3])):
        right = getattr(model, name)
        setattr(model, name, wrong)
        model.save(tmp_path / name)
        setattr(model, name, right)
        with pytest.raises(DamagedFile):
            FastText.load(tmp_path / name)
    (tmp_path / "cut").mkdir()
    model.save(tmp_path / "cut")
    tensors = next((tmp_path / "cut").glob("*.safetensors"))
    os.truncate(tensors, tensors.stat().st_size // 2)
    with pytest.raises(DamagedFile):
        FastText.load(tmp_path / "cut")


# ------------------------------------------------------------------------------ wrong calls


@pytest.mark.parametrize(("wrong", "kind", "message"),
                         [({"dim": 0}, ValueError, "dim=0"), ({"dim": 1.5}, TypeError, "dim=1.5"),
                          ({"window": 0}, ValueError, "window=0"),
                          ({"epochs": None}, TypeError, "epochs=None"),
                          ({"learning_rate": float("nan")}, ValueError, "learning_rate=nan"),
                          ({"negatives": -5}, ValueError, "negatives=-5.*objective"),
                          ({"sample": -1}, ValueError, "sample=-1"),
                          ({"min_n": 4, "max_n": 3}, ValueError, "min_n=4 is above max_n=3"),
                          ({"buckets": 0}, ValueError, "buckets=0"),
                          ({"buckets": -1}, ValueError, "buckets=-1"),
                          ({"threads": 0}, ValueError, "threads=0"),
                          ({"seed": -1}, ValueError, "seed=-1"),
                          ({"architecture": "cbov"}, ValueError, "cbow"),
                          ({"min_count": 10_000}, ValueError, "min_count=10000 leaves no word")])
def test_P_wrong_settings_are_named_before_anything_is_done(wrong, kind, message):
    with pytest.raises(kind, match=message):
        fitted(**wrong)


def test_P05_a_rate_that_diverges_stops_and_leaves_the_last_sane_vectors():
    model = FastText(**SMALL | {"learning_rate": 1e4})
    with np.errstate(all="ignore"), pytest.raises(TrainingDiverged,
                                                  match=r"epoch \d.*learning_rate="):
        model.fit(language())
    assert np.isfinite(model.vectors_.matrix).all()


def test_P28_use_before_fit():
    for call in (lambda m: m.vector("a"), lambda m: m.nearest("a"), lambda m: m.save("nowhere"),
                 lambda m: m.resume(language())):
        with pytest.raises(NotFittedError, match="FastText is not fitted yet"):
            call(FastText())


def test_words_that_are_no_text_are_refused():
    for wrong in ([5], [None], [b"bytes"]):
        with pytest.raises(TypeError):
            fitted().vectors_for(wrong)
