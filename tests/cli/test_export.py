"""``lessons export`` hands models on, whole or not at all."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lessons_lib import contextual
from lessons_lib.contextual import load_encoder
from lessons_lib.vectors import WordVectors, read_binary, read_text

VECTORS = WordVectors(["sea", "ship"], np.random.default_rng(0).normal(size=(2, 3)))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A small BERT with a chosen pooling, in a folder."""
    from lessons_lib.contextual.folders import save_encoder

    folder = tmp_path_factory.mktemp("models") / "tiny"
    encoder = load_encoder("lesson-bert-random", device="cpu", pooling="cls")
    save_encoder(folder, encoder, card={"name": "tiny"})
    return folder


@pytest.mark.parametrize(("to", "name", "read"), [
    ("word2vec", "v.txt", read_text), ("glove", "v.txt", read_text),
    ("word2vec", "v.bin", read_binary)])
def test_word_vectors_come_back_to_the_last_bit(lessons, tmp_path, to, name, read):
    VECTORS.save(tmp_path / "saved")
    code, out, err = lessons("export", tmp_path / "saved", "--to", to, "--out", tmp_path / name)
    assert code == 0 and "2 words x 3" in out, err
    again = read(tmp_path / name)
    assert again.tokens == VECTORS.tokens and np.array_equal(again.matrix, VECTORS.matrix)
    header = (tmp_path / name).read_bytes().startswith(b"2 3\n")
    assert header == (to == "word2vec")


def test_a_folder_of_sentence_transformers_is_compared_as_it_is_read_again(lessons, bert, tmp_path):
    code, out, err = lessons("export", bert, "--to", "sentence-transformers", "--out",
                             tmp_path / "st")
    assert code == 0 and "as read again" in out and "0.0e+00" in out, err
    assert "course-sts" in (tmp_path / "st" / "README.md").read_text("utf-8")
    assert load_encoder(tmp_path / "st").pooling == "cls"


@pytest.mark.slow
def test_an_onnx_graph_has_its_score_beside_that_of_the_encoder(lessons, bert, tmp_path):
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name, reason="of the extra set onnx")
    code, out, err = lessons("export", bert, "--to", "onnx", "--out", tmp_path / "o", "--int8")
    assert code == 0, err
    rows = [line.split("│") for line in out.splitlines() if "model" in line and "│" in line]
    assert len(rows) == 2 and float(rows[0][3]) <= 1e-5 and float(rows[1][4]) > 0.9
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert names == {"README.md", "model.onnx", "model_int8.onnx", "tokenizer.json"}
    check_its_program(tmp_path / "o", load_encoder(bert, device="cpu"))


@pytest.mark.slow
def test_the_program_beside_the_graph_of_a_bag_runs(lessons, tmp_path):
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name, reason="of the extra set onnx")
    code, _, err = lessons("export", "lesson-bag", "--to", "onnx", "--out", tmp_path / "o")
    assert code == 0, err
    check_its_program(tmp_path / "o", load_encoder("lesson-bag", device="cpu"))


def check_its_program(folder, encoder):
    """What the README shows is run as it stands."""
    text = (folder / "README.md").read_text("utf-8")
    found = {}
    exec(text.split("```python")[1].split("```")[0].replace("FOLDER", str(folder)), found)
    np.testing.assert_allclose(found["vectors"], encoder.encode(["A sentence."]), atol=1e-5)


def test_a_graph_that_is_not_the_encoder_is_not_kept(lessons, bert, tmp_path, monkeypatch):
    from lessons_lib.contextual import onnx_file

    class Wrong:
        """Vectors that a planted fault moved."""

        def __init__(self, path, encoder):
            self.encoder = encoder

        def encode(self, texts, **options):
            return self.encoder.encode(texts) + np.float32(2e-5)

    def written(encoder, folder, *, int8):
        (folder / "model.onnx").write_bytes(b"a graph")
        return [folder / "model.onnx"]

    monkeypatch.setattr(onnx_file, "write_onnx", written)
    monkeypatch.setattr(onnx_file, "OnnxEncoder", Wrong)
    code, _, err = lessons("export", bert, "--to", "onnx", "--out", tmp_path / "o")
    assert code == 2 and "2.0e-05 apart" in err and "Nothing was written" in err
    assert not any(tmp_path.iterdir())


def test_what_cannot_be_exported_is_said_in_a_line(lessons, bert, tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    out = tmp_path / "new"
    bad = [(("TF-IDF", "--to", "onnx"), "no contextual model"),
           (("lesson-bert", "--to", "tensorflow"), "'tensorflow'"),
           (("lesson-bert", "--to", "word2vec"), "encoder='lesson-bert'"),
           (("lesson-bert", "--to", "glove", "--int8"), "--int8"),
           (("lesson-bag", "--to", "sentence-transformers"), "no counterpart")]
    bad += [((name, "--to", to), f"encoder='{name}' has no word vectors")
            for name in ("one-hot", "BM25", "sif-course") for to in ("word2vec", "glove")]
    bad += [((bert, "--to", "word2vec"), "has no word vectors"),
            ((bert, "--to", "onnx", "--on", " ,"), "--on ' ,' names no dataset"),
            ((bert, "--to", "onnx", "--model", "glove"), "--model glove with"),
            (("glove-sample", "--to", "glove", "--model", "x"), "only course-vectors")]
    for arguments, words in bad:
        code, _, err = lessons("export", *arguments, "--out", out)
        assert code == 2 and words in err and not out.exists(), err
    (tmp_path / "notes.txt").write_text("mine")
    code, _, err = lessons("export", bert, "--to", "sentence-transformers", "--out",
                           tmp_path / "notes.txt" / "new")
    assert code == 2 and f"cannot write {tmp_path / 'notes.txt' / 'new'}" in err
    code, _, err = lessons("export", bert, "--to", "onnx", "--out", tmp_path / "there")
    assert code == 2 and "exists already" in err
    monkeypatch.setitem(sys.modules, "onnx", None)
    code, _, err = lessons("export", bert, "--to", "onnx", "--out", out)
    assert code == 2 and '".[onnx]"' in err and not out.exists()


def test_word_vectors_do_not_replace_what_lies_there(lessons, tmp_path):
    VECTORS.save(tmp_path / "saved")
    (tmp_path / "notes.txt").write_text("mine")
    for name, words in (("notes.txt", "exists already; remove it first"), ("saved", "is a folder")):
        code, _, err = lessons("export", tmp_path / "saved", "--to", "glove", "--out",
                               tmp_path / name)
        assert code == 2 and f"{tmp_path / name} {words}" in err
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("word", ["a b", "a\nb", "a\tb", "a\rb"])
def test_words_that_a_format_cannot_hold_are_named_and_nothing_is_written(lessons, tmp_path, word):
    WordVectors(["sea", word], np.ones((2, 3))).save(tmp_path / "saved")
    for to, name in (("word2vec", "v.txt"), ("word2vec", "v.bin"), ("glove", "v.txt")):
        code, _, err = lessons("export", tmp_path / "saved", "--to", to, "--out", tmp_path / name)
        assert code == 2 and f"tokens[1]={word!r} has white space" in err
        assert not (tmp_path / name).exists()


def test_a_folder_that_only_the_package_reads_is_measured(lessons, bert, tmp_path):
    pytest.importorskip("sentence_transformers", reason="an optional package")
    from sentence_transformers.sentence_transformer.modules import Dense

    model = contextual.load_encoder(bert, device="cpu").to_sentence_transformers()
    model.append(Dense(model.get_embedding_dimension(), 8))
    model.save(str(tmp_path / "dense"))
    code, out, err = lessons("evaluate", tmp_path / "dense")
    assert code == 0 and "course-sts" in out, err
