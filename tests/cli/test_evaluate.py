"""``lessons evaluate`` takes word vectors in every form in which they lie about."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.vectors import WordVectors, write_binary, write_compact, write_text
from lessons_lib.words import Word2Vec

WORDS = ["love", "sex", "tiger", "cat", "computer", "keyboard", "king", "queen", "the", "man",
         "woman", "is", "playing"]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 6)), name="toy")


def saved_model(path):
    Word2Vec(dim=6, min_count=1, epochs=1).fit([WORDS] * 10).save(path)


@pytest.mark.parametrize(("name", "write"),
                         [("v.txt", lambda path: write_text(VECTORS, path)),
                          ("v.bin", lambda path: write_binary(VECTORS, path)),
                          ("v.safetensors", lambda path: write_compact(VECTORS, path)),
                          ("folder", VECTORS.save), ("model", saved_model)])
def test_vectors_are_measured_on_words_and_on_sentences(lessons, tmp_path, name, write):
    write(tmp_path / name)
    code, out, err = lessons("evaluate", tmp_path / name, "--words", "wordsim353")
    assert code == 0, err
    assert "13 words x 6" in " ".join(
        out.split()) and "wordsim353" in out and "simlex999" not in out and "3cosmul" in out
    assert "mean of word vectors" in out and "course-sts" in out


def test_encoders_of_sentences_have_names_too(lessons):
    code, out, err = lessons("evaluate", "mean-course")
    assert code == 0 and "mean-course, protocol all" in out, err
    assert "analogies" not in out and "course-sts" in out


def test_F15_P27_what_is_no_encoder_and_no_vectors(lessons, tmp_path):
    (tmp_path / "v.txt").write_text("no vectors\n")
    for source, message in (("course-vector", "Did you mean 'course-vectors'"),
                            ("sif-curse", "Did you mean"), (tmp_path / "v.tx", "nearest name"),
                            (tmp_path, "model.json is missing"), (tmp_path / "v.txt", "v.txt")):
        code, _out, err = lessons("evaluate", source)
        assert code == 2 and message in err
