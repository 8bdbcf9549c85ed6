"""``lessons count``, ``train lda`` and ``encode`` write the same bytes whoever shared the work."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from lessons_lib.counts import BM25, Cooccurrences
from lessons_lib.topics import OnlineLDA

LINES = [f"the {a} and the {b} met a {c}" for a in ("cat", "dog", "owl") for b in ("man", "ox")
         for c in ("fly", "bee", "sea", "cat")]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n", "utf-8")
    return path


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_of_counts_is_read_by_its_method(lessons, text, tmp_path):
    code, out, err = lessons("count", text, "--method", "bm25", "--longest", 2, "--out",
                             tmp_path / "b")
    assert code == 0 and "columns by BM25" in out, err
    assert BM25.load(tmp_path / "b").search("owl")[0][0] == 16
    code, out, err = lessons("count", text, "--method", "cooccurrence", "--window", 2,
                             "--min-count", 9, "--out", tmp_path / "c")
    counts = Cooccurrences.load(tmp_path / "c")
    words = (tmp_path / "c" / "words.txt").read_text("utf-8").split()
    assert code == 0 and f"{len(counts):,} pairs of {len(words)} words" in out, err
    assert words[0] == "the" and counts.n_words == len(words)


def test_topics_are_shown_by_their_words(lessons, text, tmp_path):
    code, out, err = lessons("train", "lda", text, "--n-topics", 2, "--min-count", 1, "--out",
                             tmp_path / "t")
    assert code == 0 and "topic 1: " in out, err
    assert OnlineLDA.load(tmp_path / "t").n_topics == 2


@pytest.mark.parametrize(("options", "held"), [
    (("--method", "words"), "bm25"), (("--min-count", 0), "min_count"),
    (("--scheduler", "tcp://a:1", "--workers", 2), "Leave one"), (("--workers", 0), "workers")])
def test_bad_options_are_told_with_the_way_on(lessons, text, tmp_path, options, held):
    code, _, err = lessons("count", text, "--out", tmp_path / "o", *options)
    assert code == 2 and held in err and not (tmp_path / "o").exists()


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--workers", "2")])
def test_topics_whose_process_was_killed_go_on_to_the_same_bytes(lessons, text, tmp_path, more):
    if more:
        pytest.importorskip("distributed", reason="of the extra set dask")
    command = ["train", "lda", str(text), "--n-topics", "2", "--min-count", "1", "--n-epochs", "5"]
    code, _, err = lessons(*command, "--out", tmp_path / "whole")
    assert code == 0, err
    killed = """
import os, signal, sys
from lessons_lib.cli import main
from lessons_lib.topics import OnlineLDA

if __name__ == "__main__":
    real, saved = OnlineLDA.save, []

    def save(self, path):
        real(self, path)
        saved.append(path)
        if len(saved) == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    OnlineLDA.save = save
    main()
"""
    (tmp_path / "killed.py").write_text(killed, "utf-8")
    done = subprocess.run([sys.executable, tmp_path / "killed.py", *command, "--out",
                           tmp_path / "m", *more], timeout=100)
    assert done.returncode == -signal.SIGKILL and len(OnlineLDA.load(tmp_path / "m").bound_) == 2
    code, _, err = lessons(*command, "--out", tmp_path / "m", *more)
    assert code == 2 and "--resume" in err
    code, out, err = lessons(*command, "--out", tmp_path / "m", "--resume", *more)
    assert code == 0 and "topic 1: " in out, err
    assert files_of(tmp_path / "m") == files_of(tmp_path / "whole")
    code, _, err = lessons("train", "lda", text, "--n-topics", 3, "--out", tmp_path / "m",
                           "--resume")
    assert code == 2 and "n_topics" in err


@pytest.mark.slow
def test_two_processes_write_the_bytes_of_one(lessons, text, tmp_path):
    pytest.importorskip("distributed", reason="of the extra set dask")
    for method in ("bag-of-words", "cooccurrence"):
        for name, more in ("one", ()), ("two", ("--workers", 2)):
            code, _, err = lessons("count", text, "--method", method, "--out",
                                   tmp_path / f"{method}-{name}", *more)
            assert code == 0, err
        assert files_of(tmp_path / f"{method}-one") == files_of(tmp_path / f"{method}-two")
    for name, more in ("one", ()), ("two", ("--workers", 2)):
        code, _, err = lessons("train", "lda", text, "--n-topics", 2, "--min-count", 1, "--out",
                               tmp_path / f"lda-{name}", *more)
        assert code == 0, err
    assert files_of(tmp_path / "lda-one") == files_of(tmp_path / "lda-two")
    for name, more in ("one", ()), ("two", ("--workers", 2)):
        code, out, err = lessons("encode", "lesson-bag", text, "--out", tmp_path / f"{name}.npy",
                                 *more)
        assert code == 0 and "24 texts" in out, err
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "two.npy").read_bytes()
