"""What every topic model does; after its fit tested with pLSA, the quickest of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lessons_lib.core import DataWarning, Encoder
from lessons_lib.counts import BagOfWords
from lessons_lib.datasets import synthetic_language
from lessons_lib.text import Corpus, Tokenizer
from lessons_lib.topics import (PLSA, GibbsLDA, Hellinger, OnlineLDA, TopicModel, as_counts,
                                match_topics)

TEXTS = ["cats and dogs and more cats", "stocks and bonds and stocks", "dogs chase cats",
         "bonds fell while stocks rose", "cats sleep", "a dog and a cat sleep",
         "the market and the bonds"]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_texts(TEXTS)


@pytest.fixture
def model(corpus) -> PLSA:
    return PLSA(2, n_iter=200).fit(corpus)


# ------------------------------------------------------------------------------ what all models do


def many(seed: int = 0, shape: tuple[int, int] = (40, 30)) -> np.ndarray:
    return np.random.default_rng(seed).poisson(1.0, shape) + np.eye(*shape, dtype=int)


MAKES = {"pLSA": lambda **more: PLSA(4, **{"n_iter": 12, "tol": 0.0} | more),
         "Gibbs": lambda **more: GibbsLDA(4, **{"n_sweeps": 40, "burn_in": 10, "thin": 5} | more),
         "online": lambda **more: OnlineLDA(4, **{"n_epochs": 30, "batch_size": 16} | more),
         "batch": lambda **more: OnlineLDA(4, **{"n_epochs": 30, "learning": "batch"} | more)}
LEARNED = ("components_", "doc_topic_", "alpha_", "topic_share_", "word_counts_", "history_",
           "bound_", "assignments_", "lambda_", "gamma_", "beta_", "n_iter_", "n_sweeps_",
           "n_samples_", "n_steps_")
every_model = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)


def assert_same(one: TopicModel, other: TopicModel) -> None:
    for name in LEARNED:
        assert hasattr(one, name) == hasattr(other, name)
        if hasattr(one, name):
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("model", [PLSA(8), OnlineLDA(8), OnlineLDA(8, seed=1),
                                   OnlineLDA(8, learning="batch")], ids=repr)
def test_topics_of_the_synthetic_language_are_recovered(model):
    language = synthetic_language(model.seed)
    model.fit(Corpus.from_tokens(language.documents), vocabulary=language.words)
    match = match_topics(model.components_, language.topic_word)
    assert match.distance.max() <= 0.1
    assert np.abs(model.doc_topic_[:, match.order] - language.doc_topic).mean() < 0.05


def test_held_out_words_are_predicted_better_than_by_their_frequency():
    language = synthetic_language(0, n_documents=400)
    counts = as_counts(Corpus.from_tokens(language.documents), vocabulary=language.words)
    train, held_out = counts.rows(slice(0, 300)), counts.rows(slice(300, 400))
    plsa, gibbs, online, unigram = (model.fit(train).perplexity(held_out) for model in (
        PLSA(8, smoothing=0.01), GibbsLDA(8, n_sweeps=60),
        OnlineLDA(8, n_epochs=20, batch_size=64), OnlineLDA(1)))
    assert max(plsa, gibbs, online) < 0.6 * unigram and online < 1.02 * plsa


@every_model
def test_T13_equal_settings_give_equal_bits_for_any_number_of_threads(make, monkeypatch):
    for name in ("plsa._BLOCK", "online_lda.BLOCK", "online_lda_state.BLOCK"):
        monkeypatch.setattr(f"lessons_lib.topics.{name}", 400)   # many blocks of a small corpus
    one, other, many_threads = (make(threads=n).fit(many()) for n in (1, 2, 5))
    assert_same(other, many_threads)
    assert_same(make().fit(many(1)).fit(many()), one)
    assert not np.array_equal(make(seed=1).fit(many()).components_, one.components_)
    if not isinstance(one, GibbsLDA):        # whose chain is another one on several threads
        assert_same(one, other)
        assert_array_equal(one.transform(many(2)), other.transform(many(2)))


@every_model
@pytest.mark.parametrize("share", [0.25, 0.6])
def test_a_fit_goes_on_to_the_same_bits_also_from_a_file(make, share, tmp_path):
    whole = make().fit(many())
    (name, amount), = ((name, value) for name, value in whole.get_params().items()
                       if name in ("n_iter", "n_sweeps", "n_epochs"))
    first = int(share * amount)
    part = make(**{name: first}).fit(many())
    part.save(tmp_path / "model")
    loaded = type(part).load(tmp_path / "model")
    assert_same(loaded, part)
    for model in (part, loaded):
        assert_same(model.resume(many(), **{name: amount - first}), whole)
        assert_array_equal(model.transform(many(2)), whole.transform(many(2)))


@every_model
def test_E15_T04_a_row_depends_on_its_document_alone_and_is_the_mean_of_the_prior_without_one(make):
    prior = {"alpha": [1.0, 2.0, 3.0, 4.0]} if make is not MAKES["pLSA"] else {}
    fixed = {"learn_alpha": False} if make is MAKES["Gibbs"] else {}
    model, new = make(**prior, **fixed), many(2)
    rows = model.fit(many()).transform(new)
    assert_allclose(rows.sum(axis=1), 1.0)
    assert_array_equal(rows, model.transform(new))
    assert_array_equal(rows[::-1], model.transform(new[::-1]))
    assert_array_equal(rows, np.concatenate([model.transform(row[None]) for row in new]))
    with pytest.warns(DataWarning, match="2 of 2 documents"):
        empty = model.transform(np.zeros((2, 30), dtype=int))
    assert_allclose(empty, [model.alpha_ / model.alpha_.sum()] * 2, rtol=1e-6)
    assert model.transform(np.zeros((0, 30), dtype=int)).shape == (0, 4)
    with pytest.warns(DataWarning, match="1 of 40 documents"):
        model.fit(many() * (np.arange(40) != 3)[:, None])
    assert_allclose(model.doc_topic_[3], model.alpha_ / model.alpha_.sum(), rtol=1e-6)


# ------------------------------------------------------------------------------ encoder


def test_a_model_is_an_encoder(model):
    assert isinstance(model, Encoder) and isinstance(model, TopicModel)
    vectors = model.encode(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (7, 2) == (7, model.dim)
    assert_allclose(vectors.sum(axis=1), 1.0, rtol=1e-6)
    corpus = Corpus.from_texts(TEXTS)
    assert_allclose(vectors, model.transform(corpus), atol=1e-6)
    assert_array_equal(model.encode(TEXTS, batch_size=2), vectors)
    assert model.encode([]).shape == (0, 2)
    assert model.tokens_ == list(corpus.vocabulary.tokens)
    assert_array_equal(model.word_counts_, corpus.vocabulary.counts)
    lengths = np.diff(corpus.offsets)
    assert_allclose(model.topic_share_, lengths @ model.doc_topic_ / lengths.sum())


def test_T04_T19_texts_without_a_known_word_get_the_mean_of_the_prior(model):
    with pytest.warns(DataWarning, match=r"2 of 3 documents hold no known token, first texts\[1\]"):
        vectors = model.encode(["cats", "", "xyzzy"])
    assert_allclose(vectors[1:], 0.5)
    with pytest.warns(DataWarning, match=r"1 of 2 documents hold no known token, first data\[0\]"):
        theta = model.transform(np.eye(2, model.components_.shape[1], k=-1, dtype=int))
    assert_allclose(theta[0], 0.5)


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
