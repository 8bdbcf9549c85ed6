"""``lessons train``: a folder that can be used, and Ctrl-C that loses nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lessons_lib import kernels
from lessons_lib.core import PROJECT
from lessons_lib.words import Word2Vec, window_method
from lessons_lib.words.saved import load_vectors

SMALL = ("--dim", "8", "--min-count", "1", "--epochs", "3", "--window", "2")


@pytest.fixture
def text(tmp_path):
    """A file of 400 lines about two worlds."""
    rng = np.random.default_rng(0)
    worlds = [[f"{kind}{i}" for i in range(8)] for kind in ("sea", "field")]
    path = tmp_path / "text.txt"
    path.write_text("".join(" ".join(rng.choice(worlds[i % 2], size=8)) + " The\n"
                            for i in range(400)))
    return path


def stops_at(monkeypatch, step):
    """Ctrl-C at the end of a step of training."""
    real, calls = kernels.window_update, []

    def update(state, **how):
        found = real(state, **how)
        calls.append(found)
        if len(calls) == step:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(kernels, "window_update", update)


@pytest.mark.parametrize(("method", "more"),
                         [("word2vec", ("--architecture", "cbow")), ("glove", ("--x-max", "5")),
                          ("fasttext", ("--max-n", "4"))])
def test_each_method_leaves_a_folder_of_vectors(lessons, tmp_path, text, method, more):
    code, out, err = lessons("train", method, text, *SMALL, *more, "--out", tmp_path / "m")
    assert code == 0, err
    assert "17 words x 8" in out and f"lessons evaluate {tmp_path / 'm'}" in out
    vectors = load_vectors(tmp_path / "m")
    assert len(vectors) == 17 and "the" in vectors and vectors.dim == 8
    assert not [path for path in (tmp_path / "m").iterdir() if path.is_dir()]


def test_files_and_datasets_are_read_one_after_the_other(lessons, tmp_path, text):
    assert lessons("train", "word2vec", text, "lee", *SMALL, "--out", tmp_path / "m")[0] == 0
    assert {"sea1", "hundreds"} <= set(load_vectors(tmp_path / "m").tokens)


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(lessons, monkeypatch, tmp_path, text):
    monkeypatch.setattr(window_method, "TOKENS_PER_PART", 1500)
    command = ("train", "word2vec", text, *SMALL, "--out")
    lessons(*command, tmp_path / "whole")
    with monkeypatch.context() as patch:
        stops_at(patch, 5)
        code, _, err = lessons(*command, tmp_path / "m")
    assert code == 130 and "stopped in epoch 2 of 3" in err
    assert "the same command with --resume" in err
    assert len(Word2Vec.load(tmp_path / "m").history_) == 1
    text.write_text("not read again\n")          # the numbered text lies in the folder
    assert lessons(*command, tmp_path / "m", "--resume")[0] == 0
    assert not (tmp_path / "m" / "corpus").exists()
    assert len(Word2Vec.load(tmp_path / "m").history_) == 3
    whole, cut = (load_vectors(tmp_path / name).matrix for name in ("whole", "m"))
    assert np.isfinite(cut).all() and np.array_equal(cut, whole)


def test_stopped_before_anything_was_learned(lessons, monkeypatch, tmp_path, text):
    with monkeypatch.context() as patch:
        patch.setattr(Word2Vec, "fit",
                      lambda self, corpus, **_: (_ for _ in ()).throw(KeyboardInterrupt))
        code, _, err = lessons("train", "word2vec", text, *SMALL, "--out", tmp_path / "m")
    assert code == 130
    assert "before anything was learned; --resume spares reading the text again" in err
    assert lessons("train", "word2vec", text, *SMALL, "--out", tmp_path / "m", "--resume")[0] == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C cannot be sent to one process on Windows")
def test_ctrl_c_leaves_a_checkpoint(tmp_path, text):
    text.write_text(text.read_text() * 40)
    command = [sys.executable, "-m", "lessons_lib", "train", "word2vec", str(text), "--dim", "100",
               "--epochs", "10000", "--out", str(tmp_path / "m")]
    environment = os.environ | {"LESSONS_NO_VENV": "1"}
    with subprocess.Popen(command, cwd=PROJECT, stderr=subprocess.PIPE, text=True,
                          env=environment) as process:
        for _ in range(600):
            if (tmp_path / "m" / "model.json").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "stopped in epoch" in err
    assert 1 <= len(Word2Vec.load(tmp_path / "m").history_) < 10000


@pytest.mark.parametrize(("arguments", "message"),
                         [(("nothere.txt",), "neither a file nor a dataset"),
                          (("wikipedia-sampl",), "did you mean 'wikipedia-sample'"),
                          (("stsb",), "holds no texts|not on"), (("lee", "--dim", "0"), "dim=0"),
                          (("lee", "--architecture", "cbo"), "Did you mean 'cbow'"),
                          (("lee", "--resume"), "no run to go on with"),
                          (("lee", "--min-count", "100000"),
                           "leaves no word|0 tokens|min_count=100000")])
def test_P01_P27_what_cannot_be_trained_is_one_line(lessons, tmp_path, arguments, message):
    code, _out, err = lessons("train", "word2vec", *arguments, "--out", tmp_path / "m")
    assert code == 2 and len(err.splitlines()) <= 3
    assert re.search(message, err), err


@pytest.mark.parametrize("method", ["word2vec", "glove", "fasttext"])
def test_what_goes_too_far_is_one_line_and_leaves_nothing_to_go_on_with(
        lessons, monkeypatch, tmp_path, text, method):
    monkeypatch.setenv("LESSONS_FREE_MEMORY", "1000000000")
    code, _out, err = lessons("train", method, text, "--dim", 10**9, "--out", tmp_path / "m")
    assert code == 2 and "GB are free. Lower dim=1000000000" in err and len(err.splitlines()) <= 3
    assert not (tmp_path / "m" / "model.json").exists()
    code, _out, err = lessons("train", method, text, "--epochs", 10**18, "--out", tmp_path / "n")
    assert code == 2 and "epochs=10**9" in err


def test_P05_a_run_that_diverges_says_so_and_leaves_the_folder_free_for_another(
        lessons, tmp_path, text):
    command = ("train", "word2vec", text, *SMALL, "--out", tmp_path / "m")
    code, _out, err = lessons(*command, "--learning-rate", "1e6")
    assert code == 2 and "training diverged in epoch 1" in err
    assert lessons(*command)[0] == 0


def test_a_model_is_not_overwritten_and_its_settings_stay(lessons, tmp_path, text):
    command = ("train", "word2vec", text, *SMALL, "--out", tmp_path / "m")
    lessons(*command)
    code, _, err = lessons(*command)
    assert code == 2 and "holds a model already; --resume goes on" in err
    code, _, err = lessons(*command, "--resume", "--dim", "9")
    assert code == 2 and "dim=9 cannot change on the way" in err
    code, _, err = lessons("train", "glove", text, "--out", tmp_path / "m", "--resume")
    assert code == 2 and "holds a Word2Vec, not a GloVe" in err


@pytest.mark.data
@pytest.mark.slow
def test_the_course_vectors_are_made_with_a_card(lessons, monkeypatch, tmp_path, lessons_data):
    from lessons_lib.words import course_vectors

    monkeypatch.setattr(course_vectors, "RECIPES",
                        {"skip-gram": ("Word2Vec", {"dim": 4, "min_count": 10, "epochs": 1})})
    monkeypatch.setattr(course_vectors, "course_corpus", lambda **options: small_corpus(**options))
    code, out, err = lessons("train", "course-vectors", "--out", tmp_path,
                             "--work", tmp_path / "work", "--shards", "1")
    assert code == 0, err
    assert "frequencies.tsv" in out
    card = json.loads((tmp_path / "vectors" / "skip_gram.json").read_text())
    vectors = load_vectors(tmp_path / "vectors" / "skip_gram.safetensors")
    assert card["method"] == "Word2Vec" and card["settings"]["dim"] == 4 and list(
        card["data"]["files"]) == ["wiki/enwiki_0.txt.bz2"]
    assert {"wordsim353", "analogies 3cosadd",
            "stsb dev, mean of vectors"} <= set(card["quality"]) and card["words"] == len(vectors)
    assert not any("test" in name for name in card["quality"])


def small_corpus(*, shards, folder):
    from lessons_lib import datasets
    from lessons_lib.text import Corpus

    return Corpus.from_texts(datasets.load("wiki", shards=shards).take(60), min_count=10,
                             folder=folder)
