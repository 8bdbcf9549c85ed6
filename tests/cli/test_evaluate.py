"""``lessons evaluate`` takes word vectors in every form in which they lie about."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import cli
from lessons_lib.vectors import WordVectors, write_binary, write_compact, write_text
from lessons_lib.words import Word2Vec

WORDS = ["love", "sex", "tiger", "cat", "computer", "keyboard", "king", "queen", "the", "man", "woman", "is", "playing"]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 6)), name="toy")


def lessons(monkeypatch, capsys, *arguments) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["lessons", *map(str, arguments)])
    code = cli.main()
    out = capsys.readouterr()
    return code, out.out, out.err


def saved_model(path):
    Word2Vec(dim=6, min_count=1, epochs=1).fit([WORDS] * 10).save(path)


@pytest.mark.parametrize(("name", "write"), [
    ("v.txt", lambda path: write_text(VECTORS, path)), ("v.bin", lambda path: write_binary(VECTORS, path)),
    ("v.safetensors", lambda path: write_compact(VECTORS, path)), ("folder", VECTORS.save), ("model", saved_model)])
def test_vectors_are_measured_on_words_and_on_sentences(monkeypatch, capsys, tmp_path, name, write):
    write(tmp_path / name)
    code, out, err = lessons(monkeypatch, capsys, "evaluate", tmp_path / name, "--words", "wordsim353")
    assert code == 0, err
    assert "13 words x 6" in " ".join(out.split()) and "wordsim353" in out and "simlex999" not in out and "3cosmul" in out
    assert "mean of word vectors" in out and "course-sts" in out


def test_encoders_of_sentences_have_names_too(monkeypatch, capsys):
    code, out, _ = lessons(monkeypatch, capsys, "evaluate", "mean-course")
    assert code == 0 and "mean-course, protocol all" in out and "analogies" not in out


def test_F15_P27_what_is_no_encoder_and_no_vectors(monkeypatch, capsys, tmp_path):
    (tmp_path / "v.txt").write_text("no vectors\n")
    for source, message in (("course-vector", "Did you mean 'course-vectors'"), (tmp_path / "v.tx", "nearest name"),
                            (tmp_path, "model.json is missing"), (tmp_path / "v.txt", "v.txt")):
        code, out, err = lessons(monkeypatch, capsys, "evaluate", source)
        assert code == 2 and message in err and "Traceback" not in out + err


def test_methods_over_course_vectors_have_names(monkeypatch, capsys):
    code, out, err = lessons(monkeypatch, capsys, "evaluate", "mean-course")
    assert code == 0, err
    assert "mean-course, protocol all" in out and "course-sts" in out
    assert lessons(monkeypatch, capsys, "evaluate", "sif-curse")[0] == 2
