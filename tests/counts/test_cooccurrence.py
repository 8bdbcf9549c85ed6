"""Co-occurrence: equal to the double loop, symmetric, of known mass, and the same for every cut into blocks and threads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.counts import cooccurrence
from lessons_lib.counts import cooccurrence_stream as stream
from lessons_lib.text import Corpus

@dataclass
class Ids:
    """The three attributes of a corpus that are read, with any ids in them."""

    token_ids: np.ndarray
    offsets: np.ndarray
    vocabulary: range


def corpus_of(documents: list[list[int]], n_words: int) -> Ids:
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents], dtype=np.int64)])
    return Ids(np.array([i for d in documents for i in d], dtype=np.int32), offsets, range(n_words))


def double_loop(documents: list[list[int]], n_words: int, window: int, symmetric: bool, harmonic: bool) -> np.ndarray:
    table = np.zeros((n_words, n_words))
    for document in documents:
        for here, word in enumerate(document):
            for there in range(max(0, here - window), here):
                table[word, document[there]] += 1 / (here - there) if harmonic else 1
                if symmetric:
                    table[document[there], word] += 1 / (here - there) if harmonic else 1
    return table


id_documents = st.lists(st.lists(st.integers(0, 6), max_size=12), min_size=1, max_size=6)


@given(id_documents, st.integers(1, 14), st.booleans(), st.sampled_from(["uniform", "harmonic"]))
def test_counts_equal_the_double_loop(documents, window, symmetric, weighting):
    counted = cooccurrence(corpus_of(documents, 7), window, symmetric=symmetric, weighting=weighting)
    expected = double_loop(documents, 7, window, symmetric, weighting == "harmonic")
    assert counted.shape == (7, 7)
    assert counted.has_canonical_format and (counted.data > 0).all()
    np.testing.assert_allclose(counted.toarray(), expected, rtol=1e-13)


@given(id_documents, st.integers(1, 9), st.booleans(), st.sampled_from(["uniform", "harmonic"]), st.integers(1, 7), st.integers(1, 20))
def test_V23_blocks_of_any_size_give_the_same_bits(documents, window, symmetric, weighting, block, group):
    whole = cooccurrence(corpus_of(documents, 7), window, symmetric=symmetric, weighting=weighting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SMALLEST_BLOCK", block)
        patch.setattr(stream, "GROUP_PAIRS", group)
        patch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=1))
        blocked = cooccurrence(corpus_of(documents, 7), window, symmetric=symmetric, weighting=weighting, threads=2)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(whole, part), getattr(blocked, part))


def test_V23_pair_numbers_beyond_32_bits_do_not_wrap():
    rng = np.random.default_rng(0)                              # 100,000 words: a pair of words has a number up to 10^10
    documents = [[*rng.integers(0, 100_000, size=50).tolist(), 99_999, 99_998] for _ in range(40)]
    counted = cooccurrence(corpus_of(documents, 100_000), 2).tocoo()
    pairs = Counter()
    for d in documents:
        for gap in (1, 2):
            for a, b in zip(d[:-gap], d[gap:], strict=True):
                pairs[a, b] += 1
                pairs[b, a] += 1
    assert {(r, c): n for r, c, n in zip(counted.row.tolist(), counted.col.tolist(), counted.data.tolist(), strict=True)} == pairs


@pytest.mark.parametrize("weighting", ["uniform", "harmonic"])
@pytest.mark.parametrize("window", [1, 5, 15, 45, 80])
def test_identity_26_symmetric_counts_equal_their_transpose_and_have_the_known_mass(window, weighting):
    rng = np.random.default_rng(3)
    documents = [rng.integers(0, 30, size=n).tolist() for n in (0, 1, 2, 7, 40, 90)]
    counted = cooccurrence(corpus_of(documents, 30), window, weighting=weighting)
    assert (counted != counted.T).nnz == 0
    weight = (lambda d: 1 / d) if weighting == "harmonic" else (lambda d: 1)
    mass = 2 * sum(weight(d) * max(0, len(doc) - d) for doc in documents for d in range(1, window + 1))
    assert counted.sum() == pytest.approx(mass, rel=1e-12)


def test_windows_stop_at_the_ends_of_documents():
    apart = cooccurrence(corpus_of([[0, 1], [2, 3]], 4), 5).toarray()
    joined = cooccurrence(corpus_of([[0, 1, 2, 3]], 4), 5).toarray()
    assert apart[1, 2] == apart[0, 3] == 0
    assert joined[1, 2] == joined[0, 3] == 1


def test_one_sided_counts_look_back_and_add_up_to_the_symmetric_ones():
    corpus = corpus_of([[0, 1, 2, 0, 0]], 3)
    left = cooccurrence(corpus, 2, symmetric=False)
    assert left[1, 0] == 1 and left[0, 1] == 1 and left[2, 1] == 1 and left[1, 2] == 0
    np.testing.assert_array_equal((left + left.T).toarray(), cooccurrence(corpus, 2).toarray())


def test_reversing_every_document_changes_nothing():
    documents = [[0, 1, 2, 3, 1], [4, 0, 4]]
    backwards = [d[::-1] for d in documents]
    assert (cooccurrence(corpus_of(documents, 5), 3, weighting="harmonic") != cooccurrence(corpus_of(backwards, 5), 3, weighting="harmonic")).nnz == 0


def test_types_are_exact_integers_or_float64():
    corpus = corpus_of([[0, 1, 0]], 2)
    assert cooccurrence(corpus).dtype == np.int64
    assert cooccurrence(corpus, weighting="harmonic").dtype == np.float64


def test_harmonic_sums_are_rounded_once():
    # 49 additions of 1/49 miss 1; the sum of the exact fractions does not
    document = [0, *[2] * 48, 1]
    assert cooccurrence(corpus_of([document] * 49, 3), 49, weighting="harmonic")[0, 1] == pytest.approx(1.0, rel=1e-15)
    tenths = cooccurrence(corpus_of([[0, *[2] * 9, 1]] * 10, 3), 10, weighting="harmonic")
    assert tenths[0, 1] == 1.0 != sum([0.1] * 10)


def test_a_real_corpus_is_counted_by_its_own_ids():
    corpus = Corpus.from_tokens([["the", "cat", "saw", "the", "dog"], ["a", "dog"]])
    counted = cooccurrence(corpus, 1)
    word = corpus.vocabulary.id
    assert counted.shape == (len(corpus.vocabulary),) * 2
    assert counted[word("cat"), word("the")] == 1 and counted[word("the"), word("saw")] == 1 and counted[word("a"), word("dog")] == 1
    assert counted[word("dog"), word("a")] == 1 and counted[word("the"), word("a")] == 0


def test_V09_a_read_only_corpus_is_left_as_it_was():
    corpus = corpus_of([[0, 1, 2, 1], [2, 2]], 3)
    before = corpus.token_ids.copy()
    corpus.token_ids.setflags(write=False)
    corpus.offsets.setflags(write=False)
    cooccurrence(corpus, 2, threads=2)
    np.testing.assert_array_equal(corpus.token_ids, before)


def test_T04_documents_without_tokens_and_an_empty_corpus_count_nothing():
    assert cooccurrence(corpus_of([[], [], []], 4)).nnz == 0
    assert cooccurrence(corpus_of([[], [0, 1], []], 4)).sum() == 2
    assert cooccurrence(corpus_of([[]], 4), weighting="harmonic").shape == (4, 4)


def test_P09_one_word_meets_itself_from_both_sides():
    assert cooccurrence(corpus_of([[0, 0]], 1)).toarray().tolist() == [[2]]


@pytest.mark.parametrize(("window", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError), (None, TypeError)])
def test_P02_a_wrong_window_is_named(window, error):
    with pytest.raises(error, match=r"window=.*expected int >= 1"):
        cooccurrence(corpus_of([[0, 1]], 2), window)


@pytest.mark.parametrize("threads", [0, -1])
def test_P25_no_threads_are_refused(threads):
    with pytest.raises(ValueError, match=f"threads={threads}"):
        cooccurrence(corpus_of([[0, 1]], 2), threads=threads)


def test_P27_an_unknown_weighting_gets_the_nearest_name():
    with pytest.raises(ValueError, match="Did you mean 'harmonic'"):
        cooccurrence(corpus_of([[0, 1]], 2), weighting="harmonical")


@pytest.mark.parametrize("bad", [-1, 3, 2_000_000])
def test_P14_an_id_outside_the_vocabulary_names_document_and_id(bad):
    with pytest.raises(ValueError, match=rf"document 2 holds token id {bad};.*\[0, 2\], the 3 words"):
        cooccurrence(corpus_of([[0, 1], [], [2, bad], [1]], 3))


@pytest.mark.parametrize("documents", ["a string", ["some", "texts"], [["a", "b"]], None])
def test_T02_what_is_no_corpus_is_told_how_to_become_one(documents):
    with pytest.raises(TypeError, match="Corpus.from_texts"):
        cooccurrence(documents)


def test_symmetric_must_be_a_truth_value():
    with pytest.raises(TypeError, match="symmetric='no'"):
        cooccurrence(corpus_of([[0, 1]], 2), symmetric="no")
