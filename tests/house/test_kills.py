"""Processes killed at random moments by SIGKILL: what lies there is the old result or the new one,
whole, and the same command goes on to the same bits.
"""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from safetensors.numpy import load_file

import lessons_lib as ll
from lessons_lib.core import read_json

from .killed_jobs import BODY, prepared
from .saved_models import FOLDER
from .worlds import WORLDS

KILLS = int(os.environ.get("LESSONS_KILLS", "20"))     # of all jobs together
ROOT = Path(__file__).parents[2]


class Forks:
    """A process that forks the jobs."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from tests.house.killed_jobs import main; main()"], cwd=ROOT,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"})
        assert self._line() == "ready"

    def _line(self) -> str:
        return self.process.stdout.readline().strip()

    def run(self, job: str, folder: Path, seed: int, kill_after: float | None = None, *,
            rename: int = 0, world: str = "") -> tuple[int, float]:
        """The status of a job in a folder, 9 where it was killed, and its seconds; ``rename``:
        before which of its renames it kills itself; ``world``: one of `worlds`, or "": this."""
        began = time.monotonic()
        self.process.stdin.write(f"{job}\t{folder}\t{seed}\t{rename}\t{world}\n")
        self.process.stdin.flush()
        child = int(self._line())
        if kill_after is not None:
            time.sleep(kill_after)
            with suppress(ProcessLookupError):         # it had ended
                os.kill(child, signal.SIGKILL)
        return int(self._line()), time.monotonic() - began


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Ended with its children."""
    made = Forks()
    yield made
    made.process.stdin.close()
    made.process.wait(60)


def _model(folder: Path) -> bytes:
    """The arrays that the card of a saved model names."""
    card = read_json(folder / "model.json")
    return (folder / card["files"]["tensors.safetensors"]["file"]).read_bytes()


def _trained(folder: Path) -> list[Any]:
    return [_model(folder / "m")]


def _encoder(folder: Path) -> list[Any]:
    return [{name: array.tobytes() for name, array in
             load_file(folder / "m" / "model.safetensors").items()}]


def _vectors(folder: Path) -> list[Any]:
    return [(folder / "vectors.npy").read_bytes()]


def _notebooks(folder: Path) -> list[Any]:
    return [path.read_bytes() for path in sorted((folder / "course" / "notebooks").glob("*.ipynb"))]


def _fetched(folder: Path) -> list[Any]:
    return [(folder / "m" / "data.bin").read_bytes() == BODY]


def _grades(folder: Path) -> list[Any]:
    return [(folder / "homework" / name).read_bytes() for name in ("grades.csv", "details.csv")]


def _read_grades(path: Path) -> None:
    for name in ("grades.csv", "details.csv"):
        if (file := path.with_name("homework") / name).exists():
            assert {row["student"] for row in csv.DictReader(
                file.open(encoding="utf-8-sig"))} == {"ada", "ben"}


def _board(folder: Path) -> list[Any]:
    rows = ll.evaluation.Leaderboard(folder / "m" / "board.json").rows()
    assert len(rows) == len({row.encoder for row in rows})
    return [(row.encoder, row.scores) for row in rows]


def _read_notebooks(path: Path) -> None:
    for file in path.with_name("course").glob("notebooks/*.ipynb"):
        nbformat.validate(nbformat.read(file, as_version=4))


# What is there, as bytes to compare; and how a user reads it.
RESULTS: dict[str, tuple[Callable[[Path], list[Any]], Callable[[Path], Any]]] = {
    "word2vec": (_trained, ll.words.load_method), "glove": (_trained, ll.words.load_method),
    "fasttext": (_trained, ll.words.load_method), "save": (_trained, ll.sentences.Doc2Vec.load),
    "search": (_trained, lambda path: ll.search.FolderIndex.load(
        path, ll.contextual.load_encoder(FOLDER / "encoder", device="cpu"))),
    "doc2vec": (_trained, ll.sentences.Doc2Vec.load),
    "simcse": (_encoder, ll.contrastive.SimCse.load),
    "sbert": (_encoder, ll.contrastive.SBert.load),
    "cosent": (_encoder, ll.contrastive.CoSent.load),
    "distil": (_encoder, ll.contrastive.Distil.load),
    "save encoder": (_encoder, ll.contrastive.SBert.load),
    "pretrain": (_encoder, ll.contextual.load_bert),
    "encode": (_vectors, lambda path: np.load(path.with_name("vectors.npy"))),
    "build": (_notebooks, _read_notebooks),
    "get": (_fetched, lambda path: _fetched(path.parent)[0] or pytest.fail("other bytes")),
    "leaderboard": (_board, lambda path: _board(path.parent)),
    "grade": (_grades, _read_grades),
}
AGAIN = ("save", "search", "save encoder")       # of another seed each time, over what is there
STARTS = ("build",)                              # a process for each lesson
RUNS = [job for job in RESULTS if job not in AGAIN]         # come to the same bits, killed or not


def _ended(forks: Forks, job: str, folder: Path, seed: int, world: str = "") -> float:
    """Let a job come to its end; what killed ones left is gone then. Returns its seconds."""
    status, seconds = forks.run(job, folder, seed, world=world)
    assert status == 0, f"{world} {(folder / 'log').read_text('utf-8')[-3000:]}"
    left = [path.name for path in folder.rglob("*") if path.name.startswith((".tmp", ".draft"))
            or "-draft-" in path.name]
    assert not left, left
    return seconds


def _whole(job: str, folder: Path) -> None:
    """What a killed job left loads, if it had come to a first result."""
    card = {"encode": "vectors.npy", "pretrain": "m/card.json", "build": "course",
            "get": "m/data.bin", "leaderboard": "m/board.json", "grade": "homework"
            } | dict.fromkeys(("simcse", "sbert", "cosent", "distil", "save encoder"),
                              "m/run-a/model.json")
    card = card.get(job, "m/model.json")
    if (folder / card).exists():
        RESULTS[job][1](folder / "m")


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


needs_fork = pytest.mark.skipif(os.name == "nt", reason="kill -9 and fork are of POSIX")


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize("job", RESULTS)
def test_what_is_killed_leaves_the_old_or_the_new_result_and_goes_on_to_the_same_bits(
        tmp_path, forks, job):
    place = list(RESULTS).index(job)
    kills = KILLS // len(RESULTS) + (place < KILLS % len(RESULTS))
    rng, killed = np.random.default_rng([26, place]), 0
    prepared(tmp_path)
    _ended(forks, job, _fresh(tmp_path / "whole"), 0)                         # compiles, too
    seconds = _ended(forks, job, whole := _fresh(tmp_path / "whole"), 0)
    cut = _fresh(tmp_path / "cut")
    for number in range(kills):
        seed = 0 if job in RUNS else number
        # the first one early: a run may be faster than the one that was timed
        latest = seconds if number else seconds / 2
        status, _ = forks.run(job, cut, seed, kill_after=float(rng.uniform(0, latest)))
        assert status in (0, signal.SIGKILL), (cut / "log").read_text("utf-8")[-3000:]
        killed += status == signal.SIGKILL
        _whole(job, cut)
        if number % 2 or number == kills - 1:          # now and then it comes to its end
            _ended(forks, job, cut, seed)
            RESULTS[job][1](cut / "m")
            if job in RUNS:
                assert RESULTS[job][0](cut) == RESULTS[job][0](whole)
                _fresh(cut)
    assert killed or not kills


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize("job", RESULTS)
def test_what_is_killed_before_any_of_its_renames_goes_on(tmp_path, forks, job):
    """The moments at which what others see changes: the first ones, and some of the others."""
    prepared(tmp_path)
    _ended(forks, job, whole := _fresh(tmp_path / "whole"), 0)
    rng = np.random.default_rng([27, list(RESULTS).index(job)])
    first = KILLS // 40 if job in STARTS else 3 + KILLS // 10
    moments = {*range(1, first), *rng.integers(5, 60, size=KILLS // 20).tolist()}
    for moment in sorted(moments):
        status, _ = forks.run(job, cut := _fresh(tmp_path / "cut"), 0, rename=moment)
        assert status in (0, signal.SIGKILL), f"{moment}: {(cut / 'log').read_text('utf-8')}"
        _whole(job, cut)
        if status == 0:
            break
        _ended(forks, job, cut, 0)
        RESULTS[job][1](cut / "m")
        if job in RUNS:
            assert RESULTS[job][0](cut) == RESULTS[job][0](whole), moment


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize("job", RESULTS)
def test_in_other_worlds_the_same_comes_out(tmp_path, forks, job):
    """Under a clock that jumps by years, back and forth, and so do the times of files; and without
    what Windows or macOS lack. A job that is killed at its second rename goes on to the bits of one
    that nothing disturbed."""
    prepared(tmp_path)
    _ended(forks, job, whole := _fresh(tmp_path / "whole"), 0)
    for world in WORLDS:
        cut = _fresh(tmp_path / "cut")
        status, _ = forks.run(job, cut, 0, rename=2, world=world)
        assert status in (0, signal.SIGKILL), f"{world}: {(cut / 'log').read_text('utf-8')[-3000:]}"
        _ended(forks, job, cut, 0, world)
        RESULTS[job][1](cut / "m")
        assert job in AGAIN or RESULTS[job][0](cut) == RESULTS[job][0](whole), world
