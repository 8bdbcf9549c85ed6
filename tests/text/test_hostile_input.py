"""What a second look at bad input found in this room: containers, forged corpora, files that are none, tokenizers that give no tokens."""

import os

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, load_files, save_files
from lessons_lib.text import Corpus, Tokenizer, Vocabulary


def test_T22_a_corpus_stops_a_pattern_that_explodes():
    with pytest.raises(ValueError, match="pattern=.* was stopped"):
        Corpus.from_texts(["ab " * 2000, "A" * 60 + "!"], tokenizer=Tokenizer(r"(?:a+)+b"))


@pytest.mark.parametrize("name, content", [("offsets.i64", np.array([0, 9, 3], "<i8")), ("token_ids.i32", np.array([0, 77, 0], "<i4")),
                                           ("token_ids.i32", np.array([0, -1, 0], "<i4")), ("token_offsets.i64", np.array([0, 10**9, 2], "<i8")),
                                           ("counts.i64", np.array([5], "<i8")), ("tokens.utf8", np.array([255, 254], "u1"))])
def test_a_forged_corpus_is_a_damaged_file(name, content, tmp_path):
    Corpus.from_tokens([["a", "b"], ["a"]]).save(tmp_path / "c")
    _, files = load_files(tmp_path / "c", "Corpus")
    data = {key: path.read_bytes() for key, path in files.items()} | {name: content.tobytes()}
    save_files(tmp_path / "c", "Corpus", {key: lambda file, b=b: file.write(b) for key, b in data.items()}, {"oov": "drop"})
    with pytest.raises(DamagedFile, match="holds no corpus that can be read"):
        Corpus.load(tmp_path / "c")


def test_folders_pipes_and_devices_are_no_text_files(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        Corpus.from_file(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "p")
        with pytest.raises(ValueError, match="is a pipe"):
            Corpus.from_file(tmp_path / "p")


def test_the_byte_of_an_error_counts_the_byte_order_mark(tmp_path):
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbfab\xff\n")
    with pytest.raises(ValueError, match="line 1, byte 5"):
        Corpus.from_file(tmp_path / "t")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_lines_end_alike_in_every_encoding(encoding, tmp_path):
    (tmp_path / "t").write_bytes("a b\r\nc\rd\ne".encode(encoding))
    corpus = Corpus.from_file(tmp_path / "t", encoding=encoding)
    assert [corpus.tokens(i) for i in range(len(corpus))] == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize("encoding", ["rot13", "klingon", "hex", None])
def test_what_is_no_encoding_of_text_is_refused_by_name(encoding, tmp_path):
    (tmp_path / "t").write_text("a")
    with pytest.raises(ValueError, match=f"encoding={encoding!r} is unknown"):
        Corpus.from_file(tmp_path / "t", encoding=encoding)


@pytest.mark.parametrize("document", [{"a", "b"}, {"a": 1}])
def test_T20_a_document_without_order_is_refused(document):
    with pytest.raises(TypeError, match=r"documents\[1\].*no order"):
        Corpus.from_tokens([["a"], document])


@pytest.mark.parametrize("tokens, error", [("abc", TypeError), ([1], TypeError), ([["a"]], TypeError), (None, TypeError), ([""], ValueError),
                                           (["\ud83d"], ValueError)])
def test_T10_a_tokenizer_that_gives_no_list_of_tokens_is_refused(tokens, error):
    with pytest.raises(error, match=r"tokenizer\('a text'\)"):
        Corpus.from_texts(["a text"], tokenizer=lambda text: tokens)


@pytest.mark.parametrize("tokens, counts, error", [([1, 2], [3, 2], TypeError), (["a", "a"], [3, 2], ValueError), (["a", "b"], [2.5, 1.0], TypeError),
                                                   ({"a"}, [1], TypeError), ("ab", [2, 1], TypeError)])
def test_a_vocabulary_of_anything_else_is_refused(tokens, counts, error):
    with pytest.raises(error, match="tokens|counts"):
        Vocabulary(tokens, counts)


def test_encode_and_decode_refuse_what_they_would_misread():
    vocabulary = Vocabulary(["the", "t"], [2, 1])
    with pytest.raises(TypeError, match=r"tokens='the' is str"):
        vocabulary.encode("the")
    with pytest.raises(TypeError, match=r"ids\[0\]=0.9"):
        vocabulary.decode([0.9])


def test_a_corpus_takes_lists_and_refuses_offsets_that_fall():
    vocabulary = Vocabulary(["a"], [3])
    assert [ids.tolist() for ids in Corpus(vocabulary, [0, 0, 0], [0, 2, 3])] == [[0, 0], [0]]
    with pytest.raises(ValueError, match=r"offsets must not fall; got 3 and then 1 at offsets\[1\]"):
        Corpus(vocabulary, [0, 0, 0], [0, 3, 1, 3])
    with pytest.raises(TypeError, match="token_ids has dtype float64"):
        Corpus(vocabulary, [0.5], [0, 1])
