"""Files of vectors: round trips against gensim itself, and what is answered when a file is cut,
promises too much, or is none.
"""

from __future__ import annotations

import contextlib
import os
import tracemalloc

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import datasets
from lessons_lib.core import DamagedFile, DataWarning
from lessons_lib.vectors import (WordVectors, from_gensim, read_binary, read_text, text_format,
                                 to_gensim, write_binary, write_text)

RNG = np.random.default_rng(11)
ODD = [
    "nan", "null", "true", '"', "#", "1", "0.5", "café", "cafe\u0301", "猫", "שלום", "👩‍👩‍👧",
    "a\u00a0b", "c\u3000d", "e\u2028f", "nul\0l"
]


def odd_vectors() -> WordVectors:
    scales = 10.0 ** RNG.integers(-37, 38, size=(len(ODD), 1))
    return WordVectors(ODD, RNG.normal(size=(len(ODD), 5)) * scales)


def same(a: WordVectors, b: WordVectors) -> bool:
    return (a.tokens == b.tokens and a.matrix.dtype == b.matrix.dtype == np.float32
            and np.array_equal(a.matrix, b.matrix))


@contextlib.contextmanager
def peak_below(limit: int):
    """Fails when more memory is taken at one time than ``limit`` bytes."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()


def write(path, content: str | bytes):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ------------------------------------------------------------------------------ round trips


@pytest.mark.parametrize("header", [True, False])
def test_F11_text_comes_back_bit_for_bit_whatever_the_words(tmp_path, header):
    vectors = odd_vectors()
    write_text(vectors, tmp_path / "v.txt", header=header)
    assert same(read_text(tmp_path / "v.txt"), vectors)
    assert same(read_text(tmp_path / "v.txt", header=header), vectors)


def test_binary_comes_back_bit_for_bit(tmp_path):
    write_binary(odd := odd_vectors(), tmp_path / "v.bin")
    assert same(read_binary(tmp_path / "v.bin"), odd)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters=" \t\r\n"),
                min_size=1), min_size=1, max_size=6, unique=True), st.data())
def test_any_words_and_any_finite_numbers_come_back(tmp_path_factory, tokens, data):
    numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
    matrix = data.draw(
        st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=len(tokens),
                 max_size=len(tokens)))
    vectors, folder = WordVectors(tokens, np.array(
        matrix, dtype=np.float32)), tmp_path_factory.mktemp("any")
    write_text(vectors, folder / "v.txt")
    if not tokens[0].startswith("\ufeff"):
        write_text(vectors, folder / "g.txt", header=False)
        assert same(read_text(folder / "g.txt", header=False), vectors)
    write_binary(vectors, folder / "v.bin")
    assert same(read_text(folder / "v.txt", header=True), vectors) and same(
        read_binary(folder / "v.bin"), vectors)


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_what_is_written_here(tmp_path, binary):
    vectors = odd_vectors()
    (write_binary if binary else write_text)(vectors, tmp_path / "v")
    assert same(from_gensim(KeyedVectors.load_word2vec_format(str(tmp_path / "v"), binary=binary)),
                vectors)


@pytest.mark.parametrize("binary", [False, True])
def test_what_gensim_writes_is_read_here(tmp_path, binary):
    vectors = odd_vectors()
    to_gensim(vectors).save_word2vec_format(str(tmp_path / "v"), binary=binary)
    assert same((read_binary if binary else read_text)(tmp_path / "v"), vectors)


def test_glove_text_is_the_same_file_as_gensims(tmp_path):
    vectors = odd_vectors()
    to_gensim(vectors).save_word2vec_format(str(tmp_path / "g"), write_header=False)
    write_text(vectors, tmp_path / "v", header=False)
    assert same(read_text(tmp_path / "g"), vectors)
    assert same(from_gensim(KeyedVectors.load_word2vec_format(str(tmp_path / "v"), no_header=True)),
                vectors)


def test_vectors_go_to_gensim_and_back_as_copies():
    vectors = odd_vectors()
    keyed = to_gensim(vectors)
    back = from_gensim(keyed, name="back")
    assert same(back, vectors) and back.name == "back"
    assert not np.shares_memory(keyed.vectors, vectors.matrix) and not np.shares_memory(
        keyed.vectors, back.matrix)


def test_the_blocks_of_lines_join_without_a_seam(tmp_path, monkeypatch):
    monkeypatch.setattr(text_format, "BLOCK", 64)
    vectors = WordVectors([f"w{i}" for i in range(200)], RNG.normal(size=(200, 7)))
    write_text(vectors, tmp_path / "v.txt")
    assert same(read_text(tmp_path / "v.txt"), vectors)
    assert read_text(tmp_path / "v.txt", first=33).tokens == vectors.tokens[:33]


@pytest.mark.slow
def test_large_files_are_streamed_beside_one_matrix(tmp_path):
    vectors = WordVectors([f"w{i}" for i in range(20_000)], RNG.normal(size=(20_000, 200)))
    write_text(vectors, tmp_path / "v.txt", header=False)
    write_binary(vectors, tmp_path / "v.bin")
    words = 20_000 * 300  # str, list and dict of the words
    for read, file in ((read_text, "v.txt"), (read_binary, "v.bin")):
        with peak_below(vectors.matrix.nbytes + words + 8 * text_format.BLOCK):
            assert same(read(tmp_path / file), vectors)


def test_first_reads_the_first_words_only(tmp_path):
    vectors = odd_vectors()
    write_binary(vectors, tmp_path / "v.bin")
    for read in (read_binary(tmp_path / "v.bin", first=4), read_binary(
            tmp_path / "v.bin", first=99)):
        assert read.tokens == ODD[:len(read)] and np.array_equal(read.matrix,
                                                                 vectors.matrix[:len(read)])


def test_V21_a_table_of_no_words_comes_back(tmp_path):
    empty = WordVectors([], np.zeros((0, 5)))
    write_text(empty, tmp_path / "v.txt")
    write_binary(empty, tmp_path / "v.bin")
    assert read_text(tmp_path / "v.txt").matrix.shape == read_binary(
        tmp_path / "v.bin").matrix.shape == (0, 5)


def test_F11_a_word_that_begins_like_a_byte_order_mark_is_not_lost(tmp_path):
    vectors = WordVectors(["\ufeffcat", "dog"], np.eye(2))
    write_text(vectors, tmp_path / "v.txt")
    assert same(read_text(tmp_path / "v.txt"), vectors)


# ----------------------------------------------------------------------------- text as it is found


def test_F11_windows_line_ends_a_mark_and_trailing_spaces_are_removed(tmp_path):
    for content in ("2 2\r\ncat 1 2\r\ndog 3 -4e-1\r\n", "\ufeff2 2\ncat 1 2 \ndog 3 -4e-1 "
                                                         "\n", "\ufeffcat 1 2\r\ndog 3 -0.4\r\n"):
        read = read_text(write(tmp_path / "v.txt", content))
        assert read.tokens == ["cat", "dog"] and np.allclose(read.matrix, [[1, 2], [3, -0.4]])


def test_F11_a_word_may_hold_spaces(tmp_path):
    read = read_text(write(tmp_path / "v.txt", "cat 1 2\n. . . 3 4\nat name@domain.com 5 6\n1 2 7 "
                                               "8\n"))
    assert read.tokens == ["cat", ". . .", "at name@domain.com", "1 2"
                           ] and read.matrix.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


@pytest.mark.parametrize(("content", "tokens", "dim"),
                         [("2 3\ncat 1 2 3\ndog 1 2 3\n", ["cat", "dog"], 3),
                          ("2 3 4\ncat 1 2\n", ["2", "cat"], 2),
                          ("400 3\ncat 1\ndog 2\n", ["400", "cat", "dog"], 1)])
def test_F10_a_header_is_told_from_a_row_by_the_next_lines(tmp_path, content, tokens, dim):
    read = read_text(write(tmp_path / "v.txt", content))
    assert (read.tokens, read.dim) == (tokens, dim)


def test_F10_where_both_are_possible_the_caller_says_which(tmp_path):
    file = write(tmp_path / "v.txt", "1 1\ncat 0.5\n")
    assert read_text(file, header=True).tokens == ["cat"] and read_text(
        file, header=False).tokens == ["1", "cat"]


def test_F09_a_word_twice_keeps_its_first_row(tmp_path):
    with pytest.warns(DataWarning, match="'cat' in lines 2 and 4; the first is kept"):
        read = read_text(write(tmp_path / "v.txt", "3 2\ncat 1 2\ndog 3 4\ncat 5 6\n"))
    assert read.tokens == ["cat", "dog"] and read.matrix.tolist() == [[1, 2], [3, 4]]
    row = np.ones(2, "<f4").tobytes()
    with pytest.warns(DataWarning, match="'a' in rows 1 and 2 and 1 more words come twice"):
        assert read_binary(write(tmp_path / "v.bin", b"3 2\n" + (b"a " + row) * 3)).tokens == ["a"]


def test_T16_another_encoding_can_be_named(tmp_path):
    file = write(tmp_path / "v.txt", "cat 1 2\ncaf\xe9 3 4\n".encode("latin-1"))
    assert read_text(file, encoding="latin-1").tokens == ["cat", "café"]


# ------------------------------------------------------------------------------ damage


def test_F01_text_with_a_header_cut_at_any_byte_is_noticed(tmp_path):
    write_text(WordVectors(["cat", "dog", "猫"], RNG.normal(size=(3, 4))), tmp_path / "v.txt")
    content = (tmp_path / "v.txt").read_bytes()
    for n in range(len(content)):
        with pytest.raises(DamagedFile, match=r"bytes"):
            read_text(write(tmp_path / "cut.txt", content[:n]))


def test_F01_text_without_a_header_cut_inside_a_line_is_noticed(tmp_path):
    write_text(WordVectors(["cat", "dog", "猫"], RNG.normal(size=(3, 4))), tmp_path / "v.txt",
               header=False)
    content = (tmp_path / "v.txt").read_bytes()
    for n in (n for n in range(len(content)) if content[n - 1 : n] != b"\n"):
        with pytest.raises(DamagedFile, match=r"bytes"):
            read_text(write(tmp_path / "cut.txt", content[:n]))


def test_F01_binary_cut_at_any_byte_of_its_content_is_noticed(tmp_path):
    vectors = WordVectors(["cat", "dog", "猫"], RNG.normal(size=(3, 4)))
    write_binary(vectors, tmp_path / "v.bin")
    content = (tmp_path / "v.bin").read_bytes()
    for n in range(len(content) - 1):
        with pytest.raises(DamagedFile):
            read_binary(write(tmp_path / "cut.bin", content[:n]))
    # only the last line end is gone, as gensim writes it
    assert same(read_binary(write(tmp_path / "cut.bin", content[:-1])), vectors)
    with pytest.raises(DamagedFile, match="bytes expected, .* bytes found"):
        read_binary(write(tmp_path / "cut.bin", content[:-2]))
    with pytest.raises(DamagedFile, match="was extended"):
        read_binary(write(tmp_path / "long.bin", content + b"more"))


def test_F06_words_that_look_like_a_pickle_or_an_archive_are_words(tmp_path):
    file = write(tmp_path / "w.txt", "BZh9 1 2\n(d1 3 4\n<s> 5 6\n")
    assert read_text(file).tokens == ["BZh9", "(d1", "<s>"]
    to_gensim(odd_vectors()).save(str(tmp_path / "c.txt"))
    with pytest.raises(ValueError, match="can run code when it is read"):
        read_text(tmp_path / "c.txt")


def test_F16_a_failed_export_leaves_the_former_file(tmp_path):
    write_text(WordVectors(["cat"], [[1.0, 2.0]]), tmp_path / "v.txt")
    with pytest.raises(ValueError, match="white space"):
        write_text(WordVectors(["a b"], [[1.0, 2.0]]), tmp_path / "v.txt")
    assert read_text(tmp_path / "v.txt").tokens == ["cat"] and os.listdir(tmp_path) == ["v.txt"]


def test_numbers_are_read_as_text_alone_would_be(tmp_path):
    numbers = ["1", "-1.5e-3", "+2.", ".5", "1E3", "0.30000001192092896", "-0"]
    read = read_text(write(tmp_path / "v.txt", "w " + " ".join(numbers) + "\n"))
    assert read.matrix[0].tolist() == [float(np.float32(number)) for number in numbers]


@pytest.mark.data
def test_real_glove_vectors_go_through_every_format_and_are_gensims(lessons_data, tmp_path):
    glove = datasets.load("glove-sample")
    vectors = WordVectors(glove.tokens, glove.matrix)
    write_text(vectors, tmp_path / "g.txt", header=False)
    write_binary(vectors, tmp_path / "v.bin")
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / "g.txt"), no_header=True)
    assert same(read_text(tmp_path / "g.txt"), vectors) and same(read_binary(
        tmp_path / "v.bin"), vectors) and same(from_gensim(keyed), vectors)
    for word in vectors.tokens[::400]:
        ours, theirs = vectors.most_similar(word, topn=5), keyed.most_similar(word, topn=5)
        assert np.allclose([score for _, score in ours], [score for _, score in theirs], atol=1e-6)
