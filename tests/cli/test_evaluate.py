"""``lessons evaluate`` takes word vectors in every form in which they lie about."""

from __future__ import annotations

import shutil
import sys

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


def test_mteb_wants_its_package_and_its_protocol(lessons, monkeypatch):
    code, _, err = lessons("evaluate", "TF-IDF", "--mteb", "--protocol", "mean")
    assert code == 2 and "--protocol mean" in err
    monkeypatch.setitem(sys.modules, "mteb", None)
    code, _, err = lessons("evaluate", "one-hot", "--mteb")
    assert code == 2 and '".[mteb]"' in err


@pytest.mark.slow
def test_mteb_stands_beside_our_own_score(lessons, tmp_path, monkeypatch):
    pytest.importorskip("mteb", reason="of the extra set mteb")
    monkeypatch.setenv("LESSONS_OUTPUT", str(tmp_path))
    code, out, err = lessons("evaluate", "mean-course", "--mteb")
    assert code == 0, err
    *_, theirs, ours, _ = [line for line in out.splitlines()
                           if "course-sts" in line][-1].split("│")
    assert abs(float(theirs) - float(ours)) <= 0.03 and "no official run" in out      # ties
    assert len(list(tmp_path.glob("mteb/*/*/Local-course-sts.json"))) == 1


def test_questions_are_scored_by_ndcg_beside_pairs(lessons):
    code, out, err = lessons("evaluate", "usif-course", "--on", "course-sts,course-questions")
    assert code == 0, err
    assert "nDCG@10" in out and "Spearman" in out and "course-questions" in out


def test_what_cannot_be_measured_is_said_before_anything_is(lessons, monkeypatch):
    monkeypatch.setitem(sys.modules, "mteb", None)
    for arguments, words in ((("--on", ""), "--on '' names no dataset"),
                             (("--on", " , "), "lessons data list"), (("--mteb",), '".[mteb]"'),
                             (("--model", "glove"), "only course-vectors has several models")):
        code, out, err = lessons("evaluate", "TF-IDF", *arguments)
        assert code == 2 and out == "" and words in err, err


@pytest.mark.parametrize(("name", "change", "words"), [
    *((name, change, f"{name} is {what}") for name in (
        "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json")
      for change, what in (("link", "a link to what is not there"), ("folder", "no file"))),
    ("config.json", "gone", "config.json is missing"),
    ("model.safetensors", "gone", "model.safetensors is missing"),
    ("tokenizer.json", "gone", "has no tokenizer"),
    ("1_Pooling/config.json", "gone", "config.json is missing"),
    *((name, "cut", f"{name} ") for name in (
        "modules.json", "config.json", "tokenizer.json", "model.safetensors",
        "sentence_bert_config.json", "config_sentence_transformers.json"))])
def test_a_broken_folder_of_sentence_transformers_ends_in_a_line(lessons, st_folder, name, change,
                                                                 words):
    """It is never read as another model than it was."""
    file = st_folder / name
    whole = file.read_bytes()
    file.unlink()
    if change == "link":
        file.symlink_to(st_folder / "blobs" / "0123")
    elif change == "folder":
        file.mkdir()
    elif change == "cut":
        file.write_bytes(whole[: len(whole) // 2])
    code, out, err = lessons("evaluate", st_folder)
    assert code == 2 and out == "" and words in err, err


@pytest.fixture(scope="module")
def st_whole(tmp_path_factory):
    """A small model as sentence-transformers keeps it."""
    from lessons_lib.contextual import load_encoder
    from lessons_lib.contextual.hub_folder import write_sentence_transformer

    folder = tmp_path_factory.mktemp("models") / "whole"
    folder.mkdir()
    write_sentence_transformer(load_encoder("lesson-bert-random", device="cpu"), folder, {})
    return folder


@pytest.fixture
def st_folder(st_whole, tmp_path):
    return shutil.copytree(st_whole, tmp_path / "model")
