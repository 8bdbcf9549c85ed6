"""Neighbours, analogies and odd ones out: against their formulas, against gensim, and on the rows
of bad input.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import DamagedFile
from lessons_lib.evaluation.analogies import answers
from lessons_lib.evaluation.geometry import unit_rows
from lessons_lib.evaluation.word_table import WordTable
from lessons_lib.kernels import knn
from lessons_lib.vectors import WordVectors, to_gensim

RNG = np.random.default_rng(5)
RANDOM = WordVectors([f"w{i}" for i in range(60)], RNG.normal(size=(60, 8)))


def toy() -> WordVectors:
    return WordVectors(["cat", "dog", "stone", "nothing"],
                       [[2.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])


def cosines(vectors: WordVectors, query: np.ndarray) -> np.ndarray:
    x = vectors.matrix.astype(np.float64)
    return x @ query / np.maximum(np.linalg.norm(x, axis=1) * np.linalg.norm(query), 1e-300)


def neighbours(vectors: WordVectors, query: np.ndarray, n: int) -> list[str]:
    return ([
        vectors.tokens[i]
        for i in np.argsort(-cosines(vectors, query.astype(np.float64)), kind="stable")[:n]
    ])


# ------------------------------------------------------------------------------ the object


def test_words_and_rows_belong_together():
    vectors = toy()
    assert (len(vectors), vectors.dim, vectors.tokens[1], vectors.id("stone")) == (4, 2, "dog", 2)
    assert "cat" in vectors and "cow" not in vectors and 3 not in vectors and list(
        vectors) == vectors.tokens
    assert vectors.matrix.dtype == np.float32 and vectors["dog"].tolist() == [1, 1]
    assert vectors[["stone", "cat"]].tolist() == [[-1, 1], [2, 0]]
    assert repr(vectors) == "WordVectors(word vectors: 4 words x 2)"


def test_a_float32_matrix_is_kept_and_never_copied():
    matrix = np.eye(3, dtype=np.float32)
    assert np.shares_memory(WordVectors(list("abc"), matrix).matrix, matrix)


@pytest.mark.parametrize("form", [
    lambda x: np.asfortranarray(x), lambda x: np.repeat(x, 2, axis=0)[::2],
    lambda x: x[::-1].copy()[::-1], lambda x: x.astype(">f4"), lambda x: x.astype(np.float64)
])
def test_V09_every_layout_gives_the_same_answers_and_stays_as_it_was(form):
    given = form(RANDOM.matrix)
    before = given.copy()
    assert WordVectors(RANDOM.tokens, given).most_similar("w3") == RANDOM.most_similar("w3")
    assert np.array_equal(given, before)


def test_V09_a_read_only_matrix_will_do():
    matrix = RANDOM.matrix.copy()
    matrix.setflags(write=False)
    assert WordVectors(RANDOM.tokens, matrix).analogy("w1", "w2", "w3") == RANDOM.analogy(
        "w1", "w2", "w3")


def test_V08_half_precision_is_asked_in_full():
    half = RANDOM.matrix.astype(np.float16)
    assert WordVectors(RANDOM.tokens, half).most_similar("w0") == WordVectors(
        RANDOM.tokens, half.astype(np.float32)).most_similar("w0")


def test_V21_no_words_are_words_too():
    empty = WordVectors([], np.zeros((0, 5)))
    assert (len(empty), empty.dim) == (0, 5) and empty[[]].shape == (0, 5)
    assert empty.most_similar(np.ones(5)) == []


def test_added_words_are_found():
    vectors = toy()
    vectors.add(["cow", "hen"], [[2.0, 0.1], [0.0, 3.0]])
    assert vectors.most_similar(
        "cat", topn=1)[0][0] == "cow" and vectors.id("hen") == 5 and len(vectors) == 6


def test_T12_T15_saved_words_come_back_whatever_they_are(tmp_path):
    tokens = ["new york", "a\tb", "line\nend", "nul\0", "👩‍👩‍👧", "שלום", "猫", "cafe\u0301", "nan"]
    vectors = WordVectors(tokens, RNG.normal(size=(9, 3)), name="odd words")
    vectors.save(tmp_path / "words")
    back = WordVectors.load(tmp_path / "words")
    assert back.tokens == tokens and np.array_equal(back.matrix,
                                                    vectors.matrix) and back.name == "odd words"


def test_F02_F04_a_changed_or_another_folder_is_refused(tmp_path):
    toy().save(tmp_path / "words")
    tensors = next((tmp_path / "words").glob("*.safetensors"))
    content = bytearray(tensors.read_bytes())
    content[-1] ^= 1
    tensors.write_bytes(content)
    with pytest.raises(DamagedFile, match="checksum"):
        WordVectors.load(tmp_path / "words")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DamagedFile, match="not a saved WordVectors"):
        WordVectors.load(tmp_path / "empty")


# ----------------------------------------------------------------------- similarity and neighbours


def test_V02_V03_a_cosine_is_at_most_one_and_zero_with_a_zero_vector():
    assert all(RANDOM.similarity(word, word) <= 1
               for word in RANDOM) and RANDOM.similarity("w0", "w0") == pytest.approx(1, abs=1e-12)
    vectors = toy()
    assert vectors.similarity("cat", "nothing") == 0
    assert vectors.similarity("cat", "dog") == pytest.approx(0.5**0.5, abs=1e-12)
    assert [word for word, _ in vectors.most_similar("cat")] == ["dog", "nothing", "stone"]


def test_V04_cosines_of_the_largest_and_smallest_numbers_are_right():
    vectors = WordVectors(["huge", "tiny"], np.array([[3e38, 3e38], [1e-42, 0]], dtype=np.float32))
    assert vectors.similarity("huge", "tiny") == pytest.approx(0.5**0.5, rel=1e-12)
    assert vectors.most_similar("huge")[0][1] == pytest.approx(0.5**0.5, rel=1e-12)
    scales = np.repeat(10.0 ** np.array([-42, -20, 0, 20, 37]), 12)[:, None]
    unscaled = WordVectors(RANDOM.tokens, np.round(RANDOM.matrix[:, :4], 1))
    scaled = WordVectors(RANDOM.tokens, unscaled.matrix * scales[::-1])
    for word in ("w0", "w30", "w59"):
        assert [w for w, _ in scaled.most_similar(unscaled[word], topn=5)] == neighbours(
            scaled, unscaled[word], 5)


@given(st.integers(0, 59), st.integers(1, 70))
def test_neighbours_are_those_of_the_formula_and_never_the_word_itself(row, topn):
    scores = cosines(RANDOM, RANDOM.matrix[row].astype(np.float64))
    order = [i for i in np.argsort(-scores, kind="stable") if i != row][:topn]
    found = RANDOM.most_similar(f"w{row}", topn=topn)
    # V17: topn above V gives all the others
    assert [word for word, _ in found] == [f"w{i}" for i in order]
    assert np.allclose([score for _, score in found], scores[order], atol=1e-12)


def test_V05_a_query_vector_has_the_width_of_the_others():
    assert RANDOM.most_similar(RANDOM["w4"], topn=1)[0][0] == "w4"  # a vector bars no word


def test_V18_a_changed_vector_counts_at_once():
    vectors = toy()
    assert vectors.most_similar("cat", topn=1)[0][0] == "dog"
    vectors["stone"][:] = [5.0, 0.1]
    assert vectors.most_similar("cat", topn=1)[0][0] == "stone"


def test_V22_equal_rows_come_in_their_order_without_the_word_itself():
    vectors = WordVectors(["a", "b", "c", "d"], np.ones((4, 2)))
    assert [word for word, _ in vectors.most_similar("c")] == ["a", "b", "d"]
    assert [word for word, _ in vectors.analogy("a", "b", "c", method="3cosmul", exclude=False)
            ] == ["a", "b", "c", "d"]


def test_V22_of_many_equal_rows_the_first_are_found():
    matrix = RNG.normal(size=(500, 7))
    matrix[RNG.permutation(500)[:300]] = matrix[0]
    vectors = WordVectors([f"v{i}" for i in range(500)], matrix)
    same = np.flatnonzero((vectors.matrix == vectors.matrix[0]).all(axis=1))
    assert [word for word, _ in vectors.most_similar("v0", topn=20)] == [
        f"v{i}" for i in same[1:21]
    ]


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 40))
def test_neighbours_are_those_of_the_exact_search(seed, dim, topn):
    """Rows on a coarse grid, so that many cosines are equal or differ in the last digits only."""
    rng = np.random.default_rng(seed)
    vectors = WordVectors(
        [f"v{i}" for i in range(200)],
        rng.integers(-2, 3, size=(200, dim)) * rng.choice([1e-30, 1.0, 3.0, 1e20], size=(200, 1)))
    query = rng.normal(size=dim).astype(np.float32)
    values, rows = knn(query[None], vectors.matrix, k=topn)
    found = vectors.most_similar(query, topn=topn)
    exact = cosines(vectors, query.astype(np.float64))
    assert np.allclose([score for _, score in found], exact[rows[0].numpy()], atol=1e-12)
    assert np.allclose([exact[vectors.id(word)] for word, _ in found], values[0].numpy(), atol=1e-6)


def test_only_the_first_words_are_candidates_also_for_a_rarer_one():
    assert {word for word, _ in RANDOM.most_similar("w50", first=5, topn=60)} == {
        f"w{i}" for i in range(5)
    }
    assert {word for word, _ in RANDOM.analogy("w50", "w1", "w2", first=5, topn=60)} == {
        "w0", "w3", "w4"
    }
    assert {
        word for word, _ in RANDOM.analogy("w50", "w1", "w2", first=5, topn=60, method="3cosmul")
    } == {"w0", "w3", "w4"}


# ------------------------------------------------------------------------------ analogies


def planted() -> tuple[WordVectors, list[tuple[str, str, str, str]]]:
    """Vectors that are the sum of a concept and a relation, all orthonormal: every analogy is
    exact.
    """
    basis = np.eye(9)
    tokens = [f"{concept}{relation}" for concept in "abcdef" for relation in "XYZ"]
    matrix = [basis[i] + basis[6 + j] for i in range(6) for j in range(3)]
    pairs = itertools.product(itertools.permutations("abcdef", 2), itertools.permutations("XYZ", 2))
    questions = [(f"{p}{r}", f"{p}{s}", f"{q}{r}", f"{q}{s}") for (p, q), (r, s) in pairs]
    return WordVectors(tokens, matrix), questions


@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
def test_planted_analogies_are_all_answered(method):
    vectors, questions = planted()
    assert all(
        vectors.analogy(a, b, c, topn=1, method=method)[0][0] == d for a, b, c, d in questions[::5])


def test_the_asked_words_are_barred_unless_told_otherwise():
    asked = {"w1", "w2", "w3"}
    for method in ("3cosadd", "3cosmul"):
        assert not asked & {
            word for word, _ in RANDOM.analogy("w1", "w2", "w3", topn=60, method=method)
        }
        assert asked <= {
            word
            for word, _ in RANDOM.analogy("w1", "w2", "w3", topn=60, method=method, exclude=False)
        }


def test_3cosmul_is_its_formula():
    a, b, c = ((cosines(RANDOM, RANDOM[word].astype(np.float64)) + 1) / 2
                for word in ("w1", "w2", "w3"))
    scores = b * c / (a + 0.001)
    found = RANDOM.analogy("w1", "w2", "w3", topn=60, method="3cosmul", exclude=False)
    assert [word for word, _ in found] == [f"w{i}" for i in np.argsort(-scores)]
    assert np.allclose([score for _, score in found], np.sort(scores)[::-1], rtol=1e-12)


def test_the_odd_one_out_is_the_one_far_from_the_rest():
    vectors = WordVectors(["cat", "dog", "cow", "stone"], [[1, 0.1], [5, 0.2], [2, 0.0], [0.1, 9]])
    assert vectors.odd_one_out(["cat", "stone", "dog", "cow"]) == "stone"


# gensim's own
@pytest.mark.filterwarnings("ignore:Call to deprecated `init_sims`:DeprecationWarning")
def test_gensim_gives_the_same_answers():
    keyed = to_gensim(RANDOM)
    words = lambda pairs: [word for word, _ in pairs]                                # noqa: E731
    for i in range(0, 55, 3):
        a, b, c, d = (f"w{i + k}" for k in range(4))
        ours, theirs = RANDOM.most_similar(a), keyed.most_similar(a)
        assert words(ours) == words(theirs) and np.allclose([x for _, x in ours],
                                                            [x for _, x in theirs], atol=1e-6)
        assert words(RANDOM.analogy(a, b, c)) == words(
            keyed.most_similar(positive=[b, c], negative=[a]))
        assert words(RANDOM.analogy(a, b, c, method="3cosmul"))[0] == words(
            keyed.most_similar_cosmul(positive=[b, c], negative=[a]))[0]
        assert RANDOM.odd_one_out([a, b, c, d]) == keyed.doesnt_match([a, b, c, d])
        assert RANDOM.similarity(a, b) == pytest.approx(keyed.similarity(a, b), abs=1e-6)


@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
def test_the_evaluation_of_analogies_takes_these_vectors_and_agrees(method):
    asked = RNG.permuted(np.tile(np.arange(60), (40, 1)), axis=1)[:, :3]
    best = ([
        RANDOM.analogy(*(f"w{i}"
                         for i in question), topn=1, method=method)[0][0]
        for question in asked
    ])
    table = WordTable(RANDOM)
    rows = answers(unit_rows(table.matrix), asked, method=method)
    assert table.words == RANDOM.tokens and best == [f"w{row}" for row in rows]
