"""What a second look at bad input found in this room: containers, forged corpora, files that are none, tokenizers that give no tokens."""

import os

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, load_files, save_files
from lessons_lib.text import Corpus, Tokenizer, Vocabulary


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


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_lines_end_alike_in_every_encoding(encoding, tmp_path):
    (tmp_path / "t").write_bytes("a b\r\nc\rd\ne".encode(encoding))
    corpus = Corpus.from_file(tmp_path / "t", encoding=encoding)
    assert [corpus.tokens(i) for i in range(len(corpus))] == [["a", "b"], ["c", "d"], ["e"]]


def test_a_corpus_takes_lists_and_refuses_offsets_that_fall():
    vocabulary = Vocabulary(["a"], [3])
    assert [ids.tolist() for ids in Corpus(vocabulary, [0, 0, 0], [0, 2, 3])] == [[0, 0], [0]]
    with pytest.raises(ValueError, match=r"offsets must not fall; got 3 and then 1 at offsets\[1\]"):
        Corpus(vocabulary, [0, 0, 0], [0, 3, 1, 3])
    with pytest.raises(TypeError, match="token_ids has dtype float64"):
        Corpus(vocabulary, [0.5], [0, 1])
