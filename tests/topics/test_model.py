"""What every topic model does after its fit, tested with pLSA, the quickest of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lessons_lib.core import DataWarning, Encoder
from lessons_lib.counts import BagOfWords
from lessons_lib.text import Corpus, Tokenizer
from lessons_lib.topics import PLSA, GibbsLDA, Hellinger, OnlineLDA, TopicModel, as_counts

TEXTS = ["cats and dogs and more cats", "stocks and bonds and stocks", "dogs chase cats",
         "bonds fell while stocks rose", "cats sleep", "a dog and a cat sleep",
         "the market and the bonds"]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_texts(TEXTS)


@pytest.fixture
def model(corpus) -> PLSA:
    return PLSA(2, n_iter=200).fit(corpus)


def test_a_model_is_an_encoder(model):
    assert isinstance(model, Encoder) and isinstance(model, TopicModel)
    vectors = model.encode(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (7, 2) == (7, model.dim)
    corpus = Corpus.from_texts(TEXTS)
    assert model.tokens_ == list(corpus.vocabulary.tokens)
    assert_array_equal(model.word_counts_, corpus.vocabulary.counts)
    lengths = np.diff(corpus.offsets)
    assert_allclose(model.topic_share_, lengths @ model.doc_topic_ / lengths.sum())
    again = PLSA(2, n_iter=200).fit(corpus).fit(corpus)
    assert_array_equal(again.components_, model.components_)
    one, other = (PLSA(2, n_iter=1, seed=seed).fit(corpus).components_ for seed in (0, 1))
    assert not np.array_equal(one, other)
    assert_allclose(vectors.sum(axis=1), 1.0, rtol=1e-6)
    assert_allclose(vectors, model.transform(Corpus.from_texts(TEXTS)), atol=1e-6)


def test_E15_a_text_has_the_same_vector_in_any_batch(model):
    whole = model.encode(TEXTS)
    assert_array_equal(model.encode(TEXTS, batch_size=2), whole)
    assert_array_equal(model.encode(TEXTS[::-1])[::-1], whole)
    assert_array_equal(np.concatenate([model.encode([t]) for t in TEXTS]), whole)
    assert model.encode([]).shape == (0, 2)


def test_T04_T19_texts_without_a_known_word_get_the_mean_of_the_prior(model):
    with pytest.warns(DataWarning, match=r"2 of 3 documents hold no known token, first texts\[1\]"):
        vectors = model.encode(["cats", "", "xyzzy"])
    assert_allclose(vectors[1:], 0.5)
    with pytest.warns(DataWarning, match=r"1 of 2 documents hold no known token, first data\[0\]"):
        theta = model.transform(np.eye(2, model.components_.shape[1], k=-1, dtype=int))
    assert_allclose(theta[0], 0.5)
    with pytest.warns(DataWarning, match="1 of 3 documents"):
        model = PLSA(2).fit([[2, 1, 0], [0, 0, 0], [0, 1, 3]])
    assert_allclose(model.doc_topic_[1], 0.5)
    assert np.isfinite(model.doc_topic_).all()


@pytest.mark.parametrize("item", [None, 5, b"cat", ["the", "cat"]])
def test_E13_encode_takes_texts_only(model, item):
    with pytest.raises(TypeError, match=r"texts\[1\]"):
        model.encode(["cats", item])


def test_a_matrix_and_a_corpus_give_one_fit(corpus):
    bag = BagOfWords(token_pattern=r"(?u)\b\w+\b")
    matrix = bag.fit_transform(TEXTS)
    one = PLSA(2).fit(matrix, vocabulary=bag.vocabulary_)
    other = PLSA(2).fit(corpus, vocabulary=bag.vocabulary_)
    assert_array_equal(one.components_, other.components_)
    assert one.tokens_ == other.tokens_
    assert_array_equal(PLSA(2).fit_transform(matrix), one.doc_topic_)
    assert_array_equal(PLSA(2).fit(matrix.toarray()).components_, one.components_)


def test_a_corpus_with_another_vocabulary_is_translated(model):
    texts = ["zebras chase cats", "bonds and stocks"]
    assert_allclose(model.transform(Corpus.from_texts(texts)), model.encode(texts), atol=1e-6)
    assert_array_equal(model.transform(as_counts(Corpus.from_texts(texts))),
                       model.transform(Corpus.from_texts(texts)))


def test_top_words_are_the_most_probable_ones_and_relevance_moves_to_lift(model):
    for words, row in zip(model.top_words(3), model.components_, strict=True):
        assert words == [model.tokens_[i] for i in np.argsort(-row, kind="stable")[:3]]
    assert len(model.top_words(10_000)[0]) == len(model.tokens_)
    model = PLSA(2)
    model.components_ = np.array([[0.6, 0.1, 0.3, 0.0], [0.6, 0.0, 0.0, 0.4]])
    model.word_counts_, model.tokens_ = np.array([60, 5, 16, 0]), list("abcd")
    p = model.word_counts_ / 81
    assert model.top_words(3)[0] == ["a", "c", "b"]
    assert model.top_words(3, relevance=0.0)[0] == ["b", "c", "a"]  # lift 0.1 / p(b) is the largest
    score = 0.5 * np.log(model.components_[0, :3]) + 0.5 * np.log(model.components_[0, :3] / p[:3])
    assert model.top_words(3, relevance=0.5)[0] == ["abc"[i] for i in np.argsort(-score)]
    # d never occurred, whatever the topic says
    assert model.top_words(4, relevance=0.0)[1][0] == "a"


def test_the_base_class_says_what_a_model_lacks(corpus):
    class Empty(TopicModel):
        def __init__(self, n_topics=2, seed=0):
            self.n_topics, self.seed = n_topics, seed

    with pytest.raises(NotImplementedError, match="Empty does not implement _fit"):
        Empty().fit(corpus)


# ------------------------------------------------------------------------------ files


def test_a_saved_model_comes_back_whole(model, tmp_path):
    model.tokenizer = Tokenizer(lowercase=False)
    model.save(tmp_path / "m")
    loaded = PLSA.load(tmp_path / "m")
    assert loaded.get_params() == model.get_params() and loaded.tokens_ == model.tokens_
    assert loaded.history_ == model.history_
    for name in ("components_", "doc_topic_", "alpha_", "topic_share_", "word_counts_"):
        assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.tokenizer.get_params() == model.tokenizer.get_params()
    assert_array_equal(loaded.encode(TEXTS), model.encode(TEXTS))
    assert {p.suffix for p in (tmp_path / "m").iterdir()} == {".json", ".safetensors"}
    # settings that load would refuse are not saved, and the files stay
    with pytest.raises(ValueError, match="n_iter=0"):
        model.set_params(n_iter=0).save(tmp_path / "m")
    assert PLSA.load(tmp_path / "m").n_iter == 200
    PLSA(2).fit(np.eye(3, dtype=int)).save(tmp_path / "m")
    assert PLSA.load(tmp_path / "m").tokens_ is None


def test_a_tokenizer_that_is_code_cannot_be_saved(model, tmp_path):
    model.tokenizer = str.split
    assert model.encode(["cats dogs"]).shape == (1, 2)
    with pytest.raises(TypeError, match="cannot be saved.*model.tokenizer = None"):
        model.save(tmp_path / "m")


def test_a_changed_number_of_topics_is_refused_before_anything_is_written(corpus, tmp_path):
    models = (PLSA(3), GibbsLDA(3, n_sweeps=4), GibbsLDA(3, n_sweeps=4, alpha=[0.1, 0.1, 0.1]),
              OnlineLDA(3, n_epochs=1))
    for i, model in enumerate(models):
        before = model.fit(corpus).components_.copy()
        model.set_params(n_topics=5)
        for what, use in (("save", lambda m, p: m.save(p)), ("resume",
                                                             lambda m, p: m.resume(corpus))):
            with pytest.raises(
                    ValueError,
                    match=rf"n_topics=5 was set after a fit with n_topics=3; {what} needs"):
                use(model, tmp_path / str(i))
        assert not (tmp_path / str(i)).exists()
        assert_array_equal(model.components_, before)
        model.set_params(n_topics=3)
        model.save(tmp_path / str(i))
        assert_array_equal(type(model).load(tmp_path / str(i)).resume(corpus).components_,
                           model.resume(corpus).components_)


# ------------------------------------------------------------------------------ words and columns


def test_coherence_of_a_model_with_words_reads_a_matrix_by_its_columns(model, corpus):
    counts = as_counts(corpus)
    expected = model.coherence(corpus, n_words=4, per_topic=True)
    for data in (counts, counts.matrix, counts.matrix.toarray(), as_counts(counts.matrix)):
        assert_array_equal(model.coherence(data, n_words=4, per_topic=True), expected)
    assert_array_equal(PLSA(2, n_iter=200).fit(counts.matrix).coherence(counts.matrix, n_words=4,
                                                                        per_topic=True), expected)
    # windows are those of the reference itself
    other = Corpus.from_texts([f"{text} zebra quagga {text}" for text in TEXTS])
    expected = model.coherence(other, measure="npmi", n_words=4, window=4)
    assert model.coherence(as_counts(other), measure="npmi", n_words=4, window=4) == expected


def test_a_model_without_words_refuses_data_that_tell_columns_by_words(corpus):
    counts = as_counts(corpus)
    model = PLSA(2).fit(counts.matrix)
    # as many words, but others
    others = Corpus.from_tokens([[f"other{i}" for i in range(counts.n_words)]] * 2)
    for data in (others, corpus, as_counts(others)):
        for use in (model.transform, model.coherence, model.perplexity, model.resume):
            with pytest.raises(
                    ValueError, match=
                    r"without them. Fit it on a Corpus, or pass fit\(data, vocabulary=words\)"
            ):
                use(data)
    assert_array_equal(model.transform(counts.matrix), PLSA(2).fit(corpus).transform(corpus))
    for model in (PLSA(2, n_iter=3), OnlineLDA(2, n_epochs=1)):      # going on keeps the words
        tokens = model.fit(corpus).resume(counts.matrix).tokens_
        assert tokens == counts.tokens and model.fit(counts.matrix).tokens_ is None


@pytest.mark.parametrize("make", [lambda: PLSA(2, n_iter=3), lambda: OnlineLDA(2, n_epochs=2),
                                  lambda: GibbsLDA(2, n_sweeps=4)])
def test_resume_knows_the_documents_of_the_fit_again_also_after_load(make, corpus, tmp_path):
    matrix = as_counts(corpus).matrix
    swapped = matrix.toarray()
    swapped[:2], swapped[2:4] = swapped[2:4].copy(), swapped[:2].copy()
    moved = matrix.toarray()  # equal sums of documents and of words
    first, second = (moved[0] > moved[1]).argmax(), (moved[1] > moved[0]).argmax()
    moved[:2, first] += [-1, 1]
    moved[:2, second] += [1, -1]
    model = make().fit(matrix)
    model.save(tmp_path / "m")
    for other in (swapped, moved):
        assert (other != matrix.toarray()).any()
        assert_array_equal(other.sum(axis=0), matrix.toarray().sum(axis=0))
        for same in (model, type(model).load(tmp_path / "m")):
            with pytest.raises(ValueError, match="or another order; resume needs the data of the "
                                                 "fit"):
                same.resume(other)
    assert_array_equal(type(model).load(tmp_path / "m").resume(
        matrix.toarray().astype(float)).components_, model.resume(matrix).components_)


def test_roots_of_distributions_have_length_one_and_their_cosine_is_the_overlap():
    p, q = np.random.default_rng(0).dirichlet(np.ones(5), size=2)
    roots = Hellinger().transform(np.stack([p, q]))
    assert_allclose(np.linalg.norm(roots, axis=1), 1.0)
    assert_allclose(roots[0] @ roots[1], np.sqrt(p * q).sum())


def test_a_model_and_the_roots_are_one_encoder():
    texts = ["cats and dogs and cats", "stocks and bonds", "dogs and cats", "bonds fell"]
    model = PLSA(2).fit(Corpus.from_texts(texts))
    encoder = model | Hellinger()
    assert isinstance(encoder, Encoder) and encoder.name == "pLSA + Hellinger" and encoder.dim == 2
    assert_allclose(encoder.encode(texts) ** 2, model.encode(texts), atol=1e-6)
