"""Co-occurrence: exact, symmetric, of known mass; the same bits in memory, in files, on threads and
loaded again; nothing is left of a count that failed.
"""

from __future__ import annotations

import errno
import io
import tracemalloc
from collections import Counter
from fractions import Fraction
from functools import reduce
from operator import add
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import DamagedFile, save_files
from lessons_lib.counts import Cooccurrences, cooccurrence, cooccurrence_kernel
from lessons_lib.counts import cooccurrence_stream as stream
from lessons_lib.text import Corpus

N_WORDS = 150                                                   # more than one word of bits
WEIGHTINGS = ("uniform", "harmonic")
id_documents = st.lists(st.lists(st.sampled_from([0, 1, 2, 63, 64, 127, 128, 149]), max_size=14),
                        min_size=1, max_size=6)


def corpus_of(documents: list[list[int]], n_words: int = N_WORDS) -> SimpleNamespace:
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents], dtype=np.int64)])
    token_ids = np.array([i for d in documents for i in d], dtype=np.int32)
    token_ids.setflags(write=False)                                 # V09: nothing is written there
    return SimpleNamespace(token_ids=token_ids, offsets=offsets, vocabulary=range(n_words))


def random_corpus(n_documents: int = 60) -> SimpleNamespace:
    rng = np.random.default_rng(0)
    return corpus_of([np.minimum(rng.zipf(1.3, size=rng.integers(0, 40)) - 1, N_WORDS - 1).tolist()
                      for _ in range(n_documents)])


def by_dictionary(documents: list[list[int]], window: int, symmetric: bool,
                  harmonic: bool) -> dict[tuple[int, int], Fraction]:
    pairs: dict[tuple[int, int], Fraction] = {}
    for document in documents:
        for here, word in enumerate(document):
            for there in range(max(0, here - window), here):
                weight = Fraction(1, here - there) if harmonic else Fraction(1)
                for pair in [(word, document[there]), (document[there], word)][: 1 + symmetric]:
                    pairs[pair] = pairs.get(pair, Fraction(0)) + weight
    return pairs


def assert_same_bits(one: Cooccurrences, other: Cooccurrences) -> None:
    assert one.n_tokens == other.n_tokens
    for name in ("offsets", "columns", "values"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@given(id_documents, st.integers(1, 15), st.booleans(), st.sampled_from(["uniform", "harmonic"]))
def test_nonzeros_equal_a_dictionary_of_exact_fractions(documents, window, symmetric, weighting):
    counts = Cooccurrences.from_corpus(corpus_of(documents), window, symmetric=symmetric,
                                       weighting=weighting)
    expected = by_dictionary(documents, window, symmetric, weighting == "harmonic")
    pairs = zip(counts.rows.tolist(), counts.columns.tolist(), strict=True)
    found = dict(zip(pairs, counts.values, strict=True))
    assert list(found) == sorted(expected)  # by row, then by column; none twice
    assert all(abs(float(found[pair]) - float(x)) <= 1.0001 * np.spacing(np.float32(x)) / 2
               for pair, x in expected.items())
    table = cooccurrence(corpus_of(documents), window, symmetric=symmetric, weighting=weighting)
    assert table.shape == (N_WORDS, N_WORDS) and table.has_canonical_format
    assert table.nnz == len(expected) and all(table[pair] == float(x)
                                              for pair, x in expected.items())
    assert table.dtype == (np.int64 if weighting == "uniform" else np.float64)
    np.testing.assert_array_equal(counts.matrix().toarray(), table.toarray().astype(np.float32))
    assert counts.matrix().has_canonical_format and len(counts) == len(counts.rows) == len(expected)


def test_counts_by_hand():
    apart = cooccurrence(corpus_of([[0, 1], [2, 3]], 4), 5).toarray()     # ends of documents
    joined = cooccurrence(corpus_of([[0, 1, 2, 3]], 4), 5).toarray()
    assert apart[1, 2] == apart[0, 3] == 0 and joined[1, 2] == joined[0, 3] == 1
    left = cooccurrence(corpus_of([[0, 1, 2, 0, 0]], 3), 2, symmetric=False)
    assert left[1, 0] == 1 and left[0, 1] == 1 and left[2, 1] == 1 and left[1, 2] == 0
    # a word meets itself from both sides: P09
    assert cooccurrence(corpus_of([[0, 0]], 1)).toarray().tolist() == [[2]]
    corpus = Corpus.from_tokens([["the", "cat", "saw", "the", "dog"], ["a", "dog"]])
    counted, word = cooccurrence(corpus, 1), corpus.vocabulary.id
    assert counted.shape == (len(corpus.vocabulary),) * 2
    for one, other, n in [("cat", "the", 1), ("the", "saw", 1), ("a", "dog", 1), ("dog", "a", 1),
                          ("the", "a", 0)]:
        assert counted[word(one), word(other)] == n


def test_T04_a_corpus_without_pairs_has_no_nonzeros(tmp_path):
    for documents in ([[]], [[], [3], []], [[], [], []]):
        counts = Cooccurrences.from_corpus(corpus_of(documents), folder=tmp_path / "none")
        assert len(counts) == 0 and counts.n_words == N_WORDS and counts.rows.dtype == np.int32
        assert counts.matrix().nnz == cooccurrence(corpus_of(documents)).nnz == 0
    assert repr(counts) == "Cooccurrences of 150 words, 0 nonzeros, counted in 0 tokens"


@given(id_documents, st.sampled_from([1, 3, 15, 40]), st.booleans(), st.integers(1, 9),
       st.integers(1, 20), st.integers(1, 600), st.integers(1, 3))
def test_V23_counts_laid_on_disk_in_blocks_of_any_size_have_the_same_bits(
        documents, window, symmetric, block, group, memory, threads):
    whole = Cooccurrences.from_corpus(corpus_of(documents), window, symmetric=symmetric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SMALLEST_BLOCK", block)
        patch.setattr(stream, "GROUP_PAIRS", group)
        patch.setattr(stream, "STRETCH", group)
        patch.setenv("LESSONS_FREE_MEMORY", str(memory))
        pieces = Cooccurrences.from_corpus(corpus_of(documents), window, symmetric=symmetric,
                                           memory=memory, threads=threads)
        tables = [cooccurrence(corpus_of(documents), window, symmetric=symmetric,
                               weighting=weighting, threads=threads) for weighting in WEIGHTINGS]
    assert_same_bits(whole, pieces)
    for weighting, table in zip(WEIGHTINGS, tables, strict=True):
        expected = cooccurrence(corpus_of(documents), window, symmetric=symmetric,
                                weighting=weighting)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(table, part), getattr(expected, part))


def test_V23_little_memory_lays_the_counts_in_files_without_names(tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path / "cache"))
    corpus = random_corpus()
    in_memory = Cooccurrences.from_corpus(corpus)
    mapped = Cooccurrences.from_corpus(corpus, memory=1000)
    assert not isinstance(in_memory.columns, np.memmap)
    assert isinstance(mapped.columns, np.memmap) and isinstance(mapped.values, np.memmap)
    assert_same_bits(in_memory, mapped)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    with pytest.raises(ValueError, match="read-only"):
        mapped.values[0] = 1


def test_memory_is_a_bound(tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_CACHE", str(tmp_path))
    monkeypatch.setattr(stream, "GROUP_PAIRS", 1 << 12)
    monkeypatch.setattr(stream, "SMALLEST_BLOCK", 1 << 10)
    corpus = corpus_of([np.random.default_rng(0).integers(0, 1000, size=60_000).tolist()], 1000)
    Cooccurrences.from_corpus(random_corpus(2))                     # compiled before
    tracemalloc.start()
    try:
        counts = Cooccurrences.from_corpus(corpus, memory=400_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counts.columns.nbytes + counts.values.nbytes > 5_000_000 > 5 * peak


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(threads, monkeypatch):
    monkeypatch.setattr(stream, "GROUP_PAIRS", 100)
    corpus = random_corpus()
    assert_same_bits(Cooccurrences.from_corpus(corpus),
                     Cooccurrences.from_corpus(corpus, threads=threads))


def test_a_window_whose_exact_unit_would_overflow_is_still_symmetric_and_close_to_the_exact_sums():
    documents = [np.random.default_rng(1).integers(0, 20, size=300).tolist()]
    counts = cooccurrence(corpus_of(documents, 20), 70, weighting="harmonic").toarray()
    np.testing.assert_array_equal(counts, counts.T)
    for pair, exact in by_dictionary(documents, 70, True, True).items():
        assert counts[pair] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("n_tokens", "window"), [(10**7, 15), (10**10, 15), (10**10, 60),
                                                  (10**12, 300), (10**12, 10**5)])
def test_V23_sums_of_weights_cannot_overflow(n_tokens, window):
    weights, unit = stream.weights_by_distance(window, n_tokens, harmonic=True)
    assert weights.dtype == np.int64 and (weights[1:] > 0).all()
    assert 2 * n_tokens * sum(weights[1:].tolist()) < 2**63
    assert (unit == 360360) == (window == 15)


def test_V23_pair_numbers_beyond_32_bits_do_not_wrap():
    rng = np.random.default_rng(0)  # 100,000 words: a pair of words has a number up to 10^10
    documents = [[*rng.integers(0, 100_000, size=50).tolist(), 99_999, 99_998] for _ in range(40)]
    counted = cooccurrence(corpus_of(documents, 100_000), 2).tocoo()
    pairs = Counter()
    for d in documents:
        for gap in (1, 2):
            for a, b in zip(d[:-gap], d[gap:], strict=True):
                pairs[a, b] += 1
                pairs[b, a] += 1
    found = zip(counted.row.tolist(), counted.col.tolist(), counted.data.tolist(), strict=True)
    assert {(r, c): n for r, c, n in found} == pairs


@pytest.mark.parametrize("weighting", ["uniform", "harmonic"])
@pytest.mark.parametrize("window", [1, 5, 15, 45, 80])
def test_identity_26_counts_equal_their_transpose_and_have_the_known_mass(window, weighting):
    rng = np.random.default_rng(3)
    documents = [rng.integers(0, 30, size=n).tolist() for n in (0, 1, 2, 7, 40, 90)]
    counted = cooccurrence(corpus_of(documents, 30), window, weighting=weighting)
    assert (counted != counted.T).nnz == 0
    weight = (lambda d: 1 / d) if weighting == "harmonic" else (lambda d: 1)
    mass = sum(weight(d) * max(0, len(doc) - d) for doc in documents for d in range(1, window + 1))
    assert counted.sum() == pytest.approx(2 * mass, rel=1e-12)


def test_harmonic_sums_are_rounded_once():
    # 49 additions of 1/49 miss 1; the sum of the exact fractions does not
    document = [0, *[2] * 48, 1]
    ones = cooccurrence(corpus_of([document] * 49, 3), 49, weighting="harmonic")
    assert ones[0, 1] == pytest.approx(1.0, rel=1e-15)
    tenths = cooccurrence(corpus_of([[0, *[2] * 9, 1]] * 10, 3), 10, weighting="harmonic")
    # one by one: `sum` itself is exact from Python 3.12 on
    assert tenths[0, 1] == 1.0 != reduce(add, [0.1] * 10)


# ------------------------------------------------------------------------------ files


def test_V09_a_corpus_mapped_from_its_files_is_counted_into_a_folder(tmp_path):
    documents = [["the", "cat", "saw", "the", "dog"], ["a", "dog", "saw", "a", "cat"]]
    corpus = Corpus.from_tokens(documents, folder=tmp_path / "corpus")
    kept = Cooccurrences.from_corpus(corpus, 3, folder=tmp_path / "counts")
    assert isinstance(corpus.token_ids, np.memmap) and isinstance(kept.values, np.memmap)
    assert_same_bits(kept, Cooccurrences.from_corpus(corpus, 3))
    assert_same_bits(kept, Cooccurrences.load(tmp_path / "counts"))
    newer = Cooccurrences.from_corpus(random_corpus(30), folder=tmp_path / "counts")
    assert_same_bits(newer, Cooccurrences.from_corpus(random_corpus(30)))
    assert len(list((tmp_path / "counts").iterdir())) == 4             # the older ones are gone


@pytest.mark.parametrize("name", ["columns", "values", "offsets"])
def test_F02_a_flipped_bit_is_noticed(tmp_path, name):
    Cooccurrences.from_corpus(random_corpus(), folder=tmp_path)
    file = next(tmp_path.glob(f"{name}-*"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    with pytest.raises(DamagedFile, match=name):
        Cooccurrences.load(tmp_path)


@pytest.mark.parametrize(("offsets", "columns"),
                         [([0, 1, 1], [2]), ([0, 1, 1], [-1]), ([0, 2, 1], [0]), ([1, 1, 1], [0]),
                          ([0, 1, 2], [0]), ([], [])])
def test_F01_arrays_that_do_not_fit_each_other_are_refused(tmp_path, offsets, columns):
    wrong = Cooccurrences(np.array(offsets, dtype=np.int64), np.array(columns, dtype=np.int32),
                          np.ones(len(columns), dtype=np.float32), 2)
    wrong.save(tmp_path / "wrong")
    save_files(tmp_path / "cut", "Cooccurrences", {"columns.i4": lambda file: None}, {})
    for name in ("wrong", "cut"):
        with pytest.raises(DamagedFile, match="Count again"):
            Cooccurrences.load(tmp_path / name)
    Corpus.from_tokens([["a", "b"]]).save(tmp_path / "corpus")                               # F04
    with pytest.raises(DamagedFile, match="holds a Corpus"):
        Cooccurrences.load(tmp_path / "corpus")


# ------------------------------------------------------------------------------ faults


class FullDisk(io.BytesIO):
    """A file on a disk with room for 2000 bytes."""

    def write(self, data) -> int:
        if self.tell() + len(data) > 2000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)


def test_F16_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    corpus, folder = random_corpus(), tmp_path / "counts"
    monkeypatch.setattr(stream.tempfile, "TemporaryFile", lambda **kwargs: FullDisk())
    with pytest.raises(OSError, match=r"cannot lay .*No space left .*LESSONS_CACHE") as caught:
        Cooccurrences.from_corpus(corpus, memory=1000, folder=folder)
    assert caught.value.errno == errno.ENOSPC and list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    assert_same_bits(Cooccurrences.from_corpus(corpus, memory=1000, folder=folder),
                     Cooccurrences.from_corpus(corpus))


@pytest.mark.parametrize("threads", [1, 2])
def test_fault_4_an_interrupted_count_leaves_the_older_result_whole(tmp_path, monkeypatch, threads):
    older = Cooccurrences.from_corpus(random_corpus(20), folder=tmp_path)
    monkeypatch.setattr(stream, "GROUP_PAIRS", 100)
    real, calls = cooccurrence_kernel.count_rows, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(cooccurrence_kernel, "count_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Cooccurrences.from_corpus(random_corpus(60), memory=1000, folder=tmp_path, threads=threads)
    assert_same_bits(older, Cooccurrences.load(tmp_path))
    assert len(list(tmp_path.iterdir())) == 4


def test_F16_a_folder_that_is_a_file_is_refused_before_anything_is_counted(tmp_path, monkeypatch):
    (tmp_path / "counts").write_text("mine")
    monkeypatch.setattr(cooccurrence_kernel, "count_rows", None)
    with pytest.raises(FileExistsError, match="is a file"):
        Cooccurrences.from_corpus(random_corpus(), folder=tmp_path / "counts")
    assert (tmp_path / "counts").read_text() == "mine"
