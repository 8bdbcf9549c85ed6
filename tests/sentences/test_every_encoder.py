"""What all methods that pool word vectors do alike; a new one is a line in ``METHODS``."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, DataWarning, Encoder, NotFittedError
from lessons_lib.sentences import SIF, USIF, MeanEncoder
from lessons_lib.sentences.pooling import WordPooling
from lessons_lib.text import Corpus, Tokenizer
from lessons_lib.vectors import WordVectors

METHODS = {
    "mean": (MeanEncoder, {}),
    "idf": (MeanEncoder, {"weights": "idf"}),
    "tf-idf": (MeanEncoder, {"weights": "tfidf"}),
    "SIF": (SIF, {"n_components": 3}),
    "SIF, batch": (SIF, {"components": "batch"}),
    "SIF, counts": (SIF, {"counts": {"w0": 7, "w5": 2.5}}),
    "uSIF": (USIF, {}),
    "uSIF, words": (USIF, {"normalise": "words", "sentence_length": 9, "components": "batch"}),
    "uSIF, dimensions": (USIF, {"normalise": "dimensions", "counts": {
        "w0": 97, "w5": 2, **{f"x{i}": 0.1 for i in range(20)}}}),
}


@pytest.fixture(params=METHODS)
def make(request, language):
    """Makes a fitted method; further settings and other vectors may be given."""
    kind, settings = METHODS[request.param]

    def made(vectors=language.vectors, texts=language.texts, **others):
        method = kind(vectors, **settings | others)
        return method.fit(texts) if hasattr(method, "fit") else method

    made.batch = settings.get("components") == "batch"
    made.sums_in_fit = hasattr(kind, "fit") and not made.batch
    return made


def test_it_is_an_encoder_whose_rows_are_float32(make, language):
    encoder = make()
    found = encoder.encode(language.texts)
    assert isinstance(encoder, Encoder) and isinstance(encoder, WordPooling)
    assert found.dtype == np.float32 and found.shape == (600, encoder.dim)
    assert np.isfinite(found).all() and make().encode([]).shape == (0, encoder.dim)


def test_T13_batches_and_generators_change_no_digit(make, language):
    encoder = make()
    expected = encoder.encode(language.texts)
    for texts in (iter(language.texts), np.array(language.texts, dtype=object)):
        np.testing.assert_array_equal(encoder.encode(texts, batch_size=7), expected)


def test_threads_and_company_change_no_digit(make, language):
    texts = language.texts * 60                                       # several blocks
    one, two = make(threads=1), make(threads=2)
    expected = one.encode(texts)
    np.testing.assert_array_equal(two.encode(texts), expected)
    if not make.batch:
        np.testing.assert_array_equal(one.encode(texts[5:6]), expected[5:6])


def test_T04_T19_texts_without_a_known_word_are_zeros_with_one_warning(make, language):
    encoder = make()
    with pytest.warns(DataWarning, match=r"3 of 33 documents have no word with a vector "
                                         r"\(first: documents\[30\]\)") as caught:
        found = encoder.encode([*language.texts[:30], "", "unheard of", "?!"])
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not found[30:].any()                                       # zeros turn no direction
    np.testing.assert_allclose(found[:30], encoder.encode(language.texts[:30]), atol=1e-6)


def test_words_without_a_vector_and_another_order_of_words_change_nothing(make, language):
    encoder = make()
    other = [" ".join(["unheard", *reversed(tokens)]) for tokens in language.tokens]
    np.testing.assert_allclose(encoder.encode(other), encoder.encode(language.texts), atol=1e-5)


def test_the_order_of_texts_and_a_duplicated_corpus_do_not_matter(make, language):
    backwards = language.texts[::-1]
    expected = make().encode(language.texts)
    np.testing.assert_allclose(make(texts=backwards).encode(backwards)[::-1], expected, atol=1e-5)
    if make().name != "mean of word vectors":                         # idf has 1 + N
        twice = make(texts=language.texts * 2).encode(language.texts * 2)
        np.testing.assert_allclose(twice[600:], expected, atol=1e-5)


def test_texts_and_their_corpus_teach_the_same(make, language):
    found = make(texts=Corpus.from_texts(language.texts)).encode(language.texts)
    np.testing.assert_array_equal(found, make().encode(language.texts))


def test_what_is_saved_and_loaded_encodes_and_learns_the_same(make, tmp_path, language):
    encoder = make(tokenizer=Tokenizer(lowercase=False))
    encoder.name = "mine"
    encoder.save(tmp_path / "model")
    loaded = type(encoder).load(tmp_path / "model")
    assert (loaded.name, loaded.tokenizer.lowercase) == ("mine", False)
    for _ in range(2):
        np.testing.assert_array_equal(loaded.encode(language.texts),
                                      encoder.encode(language.texts))
        if hasattr(loaded, "fit"):
            loaded.fit(language.texts)


def test_what_cannot_be_saved_or_was_damaged_says_so(make, tmp_path):
    with pytest.raises(TypeError, match="tokenizer.*cannot be saved"):
        make(tokenizer=str.split).save(tmp_path / "model")
    make().save(tmp_path / "model")
    file = next((tmp_path / "model").glob("*.safetensors"))
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(DamagedFile, match="cut or extended"):
        type(make()).load(tmp_path / "model")


@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_P14_a_corpus_with_numbers_outside_its_vocabulary_is_refused(make, language, wrong):
    """A `Corpus` takes the numbers it is given, and loops would take them for addresses."""
    if not make.sums_in_fit:
        pytest.skip("nothing is summed in fit")
    good = Corpus.from_texts(language.texts[:20])
    ids = good.token_ids.copy()
    ids[-1] = wrong
    with pytest.raises(ValueError, match=rf"document 19 .*{wrong}.*{len(good.vocabulary) - 1}"):
        make(texts=Corpus(good.vocabulary, ids, good.offsets))


def test_vectors_that_became_fewer_than_when_it_was_fitted_are_refused(make, language):
    vectors = WordVectors(list(language.words), language.vectors.matrix.copy())
    encoder = make(vectors)
    vectors.matrix = vectors.matrix[:2].copy()
    with pytest.raises(ValueError, match="vectors.*2 rows"):
        encoder.encode(language.texts)


@pytest.mark.parametrize(("method", "settings"), [METHODS[name] for name in ("idf", "SIF", "uSIF")])
def test_what_has_to_be_fitted_says_so_when_it_is_asked_or_saved(method, settings, toy, tmp_path):
    encoder = method(toy, **settings)
    for use in (lambda: encoder.encode(["the"]), lambda: encoder.dim,
                lambda: encoder.save(tmp_path / "m")):
        with pytest.raises(NotFittedError, match="call fit"):
            use()


class Largest(WordPooling):
    """The largest number of each dimension, and how many words have a vector."""

    name = "largest"

    def _pool(self, settings, words):
        return np.append(words.max(axis=0), len(words))


def test_a_method_that_says_how_one_text_is_pooled_is_an_encoder(toy, tmp_path):
    encoder = Largest(toy)
    with pytest.warns(DataWarning, match="1 of 3 documents"):
        found = encoder.encode(["the cat", "dog unheard dog", "?"])
    np.testing.assert_array_equal(found, [[4, 2, 0, 2], [0, 1, 1, 2], [0, 0, 0, 0]])
    assert encoder.dim == 4 and isinstance(encoder, Encoder)
    encoder.save(tmp_path / "m")
    np.testing.assert_array_equal(Largest.load(tmp_path / "m").encode(["sat"]), [[1, 0, 2, 1]])
    toy.add(["mat"], [[9.0, 9.0, 9.0]])
    np.testing.assert_array_equal(encoder.encode(["mat"]), [[9, 9, 9, 1]])
    toy.matrix[0, 0] = np.nan
    with pytest.raises(ValueError, match="the vector of 'the', holds NaN"):
        encoder.encode(["the cat"])
