"""Bad input of the whole room: calls, contents of files, with the error and what it must say."""

from __future__ import annotations

import bz2
import gzip
import os
import pickle
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest

from lessons_lib import vectors
from lessons_lib.core import DamagedFile, UnknownWord
from lessons_lib.vectors import (WordVectors, from_gensim, read_binary, read_compact, read_text,
                                 write_binary, write_compact, write_text)

V, T, D = ValueError, TypeError, DamagedFile
RANDOM = WordVectors([f"w{i}" for i in range(60)],
                     np.random.default_rng(5).normal(size=(60, 8)))
TOY = WordVectors(["cat", "dog", "stone", "nothing"],
                  [[2.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
BROKEN = WordVectors(RANDOM.tokens, RANDOM.matrix.copy())
BROKEN["w7"][2] = np.nan

CALLS = [
    # T11, T14: words; V01, V06, V07, V24: matrices
    *((lambda tokens=tokens: WordVectors(tokens, np.ones((3, 2))), *row) for tokens, *row in [
        ("abc", T, ["expected a list of words"]),
        (["a", None, "b"], T, ["tokens[1]=None is NoneType"]),
        (["a", "", "b"], V, ["tokens[1] is an empty word"]),
        (["a", "b", "a"], V, ["'a' twice, at 0 and 2"]),
        (["a", "b"], V, ["shape (3, 2) for 2 tokens"]),
        (["a", "b", "\ud83d"], V, ["tokens[2]", "lone surrogate"])]),
    *((lambda matrix=matrix: WordVectors(["a", "b", "c"], matrix), *row) for matrix, *row in [
        ([[1, np.nan], [1, 2], [np.inf, 0]], V, ["matrix[0] holds NaN or infinity (2 of 3"]),
        ([1.0, 2.0, 3.0], V, ["expected 2 axes", "matrix[None]"]),
        ([["0.5"], ["1"], ["2"]], T, ["dtype <U3"]), (np.ones((3, 2), complex), T, ["complex"]),
        ([[1e200], [1.0], [1.0]], V, ["1e+200", "within float32"])]),
    # V19: words that are added
    *((lambda tokens=tokens, shape=shape: TOY.add(tokens, np.ones(shape)), V, said)
      for tokens, shape, said in [
          (["cow", "cat"], (2, 2), ["'cat' has a vector already"]), (["cow", "cow"], (2, 2),
                                                                     ["'cow' has"]),
          (["cow"], (1, 3), ["shape (1, 3) for 1 new words; expected (1, 2)"])]),
    # P20, V05, V17, V20, P27: questions
    (lambda: TOY["stones"], UnknownWord,
     ["no vector for 'stones' among 4 words; near words: 'stone'"]),
    (lambda: RANDOM.analogy("king", "w1", "queen"), UnknownWord,
     ["no vector for 'king', 'queen' among 60"]),
    (lambda: RANDOM.odd_one_out(["x", "y", "x"]), UnknownWord, ["no vector for 'x', 'y' among 60"]),
    (lambda: RANDOM.most_similar(np.ones(3)), V, ["shape (3,); expected 8 columns"]),
    *((lambda n=n: RANDOM.most_similar("w0", topn=n), V, [f"topn={n}"]) for n in (0, -1)),
    *((lambda n=n: RANDOM.analogy("w0", "w1", "w2", topn=n, method="3cosmul"), V, [f"topn={n}"])
      for n in (0, -1)),
    (lambda: RANDOM.most_similar("w0", first=0), V, ["first=0"]),
    (lambda: RANDOM.analogy("w1", "w2", "w3", method="3CosAdd"), V, ["Did you mean '3cosadd'"]),
    (lambda: TOY.most_similar("nothing"), V, ["'nothing' is the zero vector"]),
    (lambda: WordVectors(["cat", "dog", "none"], [[1.0, 1], [1, 1], [0, 0]]).analogy(
        "dog", "cat", "none"), V, ["'cat' - 'dog' + 'none' is the zero vector"]),
    *((lambda ask=ask: ask(BROKEN), V, ["matrix[7], the vector of 'w7', was set to NaN"])
      for ask in (lambda v: v.most_similar("w1", topn=2),
                  lambda v: v.analogy("w1", "w2", "w3", method="3cosmul"))),
    (lambda: RANDOM.odd_one_out(["w1", "w2"]), V, ["expected >= 3"]),
    (lambda: RANDOM.odd_one_out("w1"), T, ["expected a list of words"]),
    (lambda: from_gensim({"cat": [1.0]}), T, ["expected gensim's KeyedVectors"]),
    # T12: what a format cannot hold; nothing is written
    *((lambda token=token, write=write: write(WordVectors(["cat", token], np.eye(2)), "v"), V,
       ["tokens[1]=", "has white space"])
      for token in ("new york", "a\tb", "a\nb", "a\r") for write in (write_text, write_binary)),
    (lambda: write_text(WordVectors(["\ufeffcat"], [[1.0]]), "v", header=False), V,
     ["begins with a byte order mark"]),
    (lambda: write_compact(WordVectors(["a\nb"], [[1.0]]), "x.safetensors"), V,
     ["the word 'a\\nb' has a line end"]),
    (lambda: write_compact(WordVectors(["a"], [[7e4]]), "x.safetensors"), V,
     ["matrix reaches 70000, float16 ends"]),
    (lambda: write_compact(TOY, "x.safetensors", bits=4), V, ["bits=4", "16", "8"]),
    (lambda: write_compact(TOY, "x.npz"), V, ["ends in '.npz'; expected .safetensors"]),
    (lambda: vectors.Wordvectors, AttributeError, ["has no 'Wordvectors'; it has"]),
]


@pytest.mark.parametrize(("call", "error", "said"), CALLS)
def test_what_cannot_be_is_refused_by_name(call, error, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught:
        call()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value
    assert not list(tmp_path.iterdir()) and len(TOY) == len(TOY.matrix) == 4 and "cow" not in TOY


# ------------------------------------------------------------------------------ files


def saved(save) -> bytes:
    """What a function writes into a file."""
    file = BytesIO()
    save(file)
    return file.getvalue()


def zipped(file) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.pkl", b"\x80\x02.")


def number(x: float) -> bytes:
    return np.float32(x).tobytes()


BOTH, CODE = (read_text, read_binary), ["can run code when it is read, so it is not read. Convert"]
THREE = "3 3\ncat 1 2 3\n{}\ncow 1 2 3\n"
FILES = [                                        # readers, content, options, error, words
    # F03: no vectors; F06: pickles by content, not by name; compressed files
    (BOTH, b"", {}, D, ["is empty"]), (BOTH, b"\n<!DOCTYPE html><html>", {}, D, ["HTML page"]),
    (BOTH, b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", {}, D, ["Git LFS"]),
    *((BOTH, content, {}, V, CODE) for content in (
        saved(lambda file: np.save(file, np.array([{}], dtype=object), allow_pickle=True)),
        saved(zipped), pickle.dumps(TOY.tokens), b"cposix\nsystem\n(S'true'\ntR.")),
    # the clock is left out: content stands in the names of tests, which all workers must agree on
    *((BOTH, content, {}, V, ["is compressed; unpack it first"]) for content in (
        gzip.compress(b"cat 1 2\n", mtime=0), bz2.compress(b"cat 1 2\n"))),
    # F07: a promise is held against the file before memory is taken
    *((BOTH, f"{promise}\ncat 1 2 3\n".encode(), {}, D, []) for promise in (
        "1000000000000 300", "-1 300", "2 0", "2 -5", "1 9999999999999",
        "99999999999999999999999 5")),
    # F08: a bad line, a bad row
    *(([read_text], THREE.format(line).encode(), {}, D, said) for line, said in [
        ("dog 1 2", ["line 3: b'dog 1 2' has 2 numbers; expected a word and 3"]),
        ("", ["line 3: b'' has 0 numbers"]), (" 1 2 3", ["line 3", "has no word"]),
        ("dog 1 nan 3", ["line 3, number 2: b'nan'"]), ("dog inf 2 3", ["line 3, number 1"]),
        ("dog 1 2 1e39", ["number 3", "within float32"]), ("dog 1 2 x", ["number 3: b'x'"]),
        ("dog 1  2", ["line 3, number 2: b''"]), ("dog 1\t2 3 4", ["number 1: b'1\\t2'"]),
        ("dog 1_0 2 3", ["number 1: b'1_0'"]), ("dog 1 2-3 4", ["number 2: b'2-3'"]),
        ("dog 0x1 2 3", ["number 1: b'0x1'"])]),
    ([read_binary], b"2 1\ncat " + number(1) + b"\ndog " + number(np.nan) + b"\n", {}, D,
     ["row 2, 'dog': NaN or infinity"]),
    ([read_binary], b"1 1\n \0\0\0\0\n\n", {}, D, ["row 1, byte 4: no word"]),
    # F10: a header, or none
    ([read_text], b"1 1\ncat 0.5\n", {}, V, ["header=True or header=False"]),
    ([read_text], b"cat 1 2\n", {"header": True}, D, ["line 1: b'cat 1 2' is no header"]),
    # T16: the encoding
    ([read_text], "cat 1 2\ncafé 3 4\n".encode("latin-1"), {}, V,
     ["line 2, byte 11: e9 is not utf-8", "encoding='latin-1'"]),
    ([read_binary], b"1 1\ncaf\xe9 \0\0\0\0", {}, V, ["row 1, byte 7: e9 is not utf-8"]),
    *(([read_text], b"cat 1 2\n", {"encoding": name}, V, ["encoding="])
      for name in ("utf-16", "no-such", "rot13")),
    (BOTH, b"2 1\ncat \0\0\0\0\n", {"first": 0}, V, ["first=0"]),
    ([read_compact], b"anything", {}, FileNotFoundError, [".json"]),
]


@pytest.mark.parametrize(("read", "content", "options", "error", "said"), [
    (read, *row) for readers, *row in FILES for read in readers])
def test_what_is_no_file_of_vectors_is_named_before_memory_is_taken(
        read, content, options, error, said, tmp_path):
    file = tmp_path / "v.txt"
    file.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(error) as caught:
            read(file, **options)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value


@pytest.mark.parametrize("read", BOTH)
def test_F03_F15_folders_pipes_and_missing_files_are_named(read, tmp_path):
    (tmp_path / "glove.txt").mkdir()
    with pytest.raises(D, match="is a folder"):
        read(tmp_path / "glove.txt")
    with pytest.raises(FileNotFoundError, match="nearest name: .*glove.txt"):
        read(tmp_path / "glove.text")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(D, match="is a pipe"):
            read(tmp_path / "pipe")


def test_F12_much_without_a_separator_is_refused(tmp_path):
    for start, read, said in (
            (b"", read_text, "a line of more than 16,777,216 bytes"),
            (b"", read_binary, "expected a line of rows and columns"),
            (b"3 5\n", read_binary, "row 1 of 3")):
        (tmp_path / "v").write_bytes(start + b"x" * 50_000_000)
        with pytest.raises(D, match=said):
            read(tmp_path / "v")


# ------------------------------------------------------------------------------ too much

@pytest.mark.parametrize("write, read", [(write_text, read_text), (write_binary, read_binary)])
def test_vectors_that_do_not_fit_are_refused_and_some_of_them_read(
        monkeypatch, tmp_path, write, read):
    write(TOY, tmp_path / "vectors")
    size = 4 * TOY.dim
    monkeypatch.setenv("LESSONS_FREE_MEMORY", str(2 * size))
    with pytest.raises(MemoryError, match=rf"4 vectors of {TOY.dim} numbers.* Read fewer: first="):
        read(tmp_path / "vectors")
    assert len(read(tmp_path / "vectors", first=2)) == 2
