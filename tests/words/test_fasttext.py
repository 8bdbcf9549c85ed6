"""FastText: parts carry meaning to words never seen, vectors are composed as in gensim."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import UnknownWord
from lessons_lib.words import FastText
from lessons_lib.text.subwords import fnv1a, ngrams

from .conftest import made


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
    return made(FastText, **settings).fit(corpus or language())


@pytest.mark.parametrize("architecture", ["skip_gram", "cbow"])
def test_an_unseen_word_joins_those_with_its_parts(architecture):
    model = fitted(architecture=architecture, epochs=10)
    assert "ploughman" not in model.vectors_
    assert all(word.startswith("plough") for word, _ in model.nearest("ploughman", topn=5))
    assert model.nearest("swimming") == model.vectors_.most_similar("swimming")


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


def test_a_file_holds_no_row_that_nobody_needs(tmp_path):
    fitted().save(tmp_path / "model")
    # 2 M buckets of 12 would be 96 MB
    assert sum(file.stat().st_size for file in (tmp_path / "model").iterdir()) < 100_000


def test_the_parts_of_a_fit_stay_those_of_its_words_when_the_settings_change():
    model = fitted(buckets=1000)
    before = model.vector("swimmingly")
    np.testing.assert_array_equal(
        model.set_params(buckets=7, min_n=1).vector("swimmingly"), before)
    with pytest.raises(ValueError, match="buckets"):
        model.save("never-written")
