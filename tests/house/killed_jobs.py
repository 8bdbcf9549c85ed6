"""The jobs that `test_kills` kills, and `test_systems` lets run as on other systems: each in a
process of its own, forked from one that has imported everything, so that a kill falls into the work
and not into imports.

Reads lines "JOB FOLDER SEED RENAME WORLD", answers with the process id, and with the status at the
end.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import importlib.util
import os
import random
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from lessons_lib.classroom import assign, missing_protections

from .saved_models import DOCUMENTS, FOLDER, PAIRS, TEXTS, recipe, sentences, stream
from .worlds import WORLDS, import_all

BODY = random.Random(26).randbytes(20_000_000)   # what is downloaded
ROWS = 12                                        # that are put on a leaderboard
PATIENCE = 300                                   # seconds of a job in another world


def _command(*arguments: object) -> None:
    from lessons_lib import cli

    sys.argv = ["lessons", *map(str, arguments)]
    if code := cli.main():
        raise SystemExit(code)


def _again(folder: Path, *cards: str) -> list[str]:
    """The option with which a run goes on that has begun."""
    return ["--resume"] * any((folder / card).is_file() for card in cards)


def _words(method: str) -> Callable[[Path, int], None]:
    def train(folder: Path, seed: int) -> None:
        out = folder / "m"
        _command("train", method, folder.parent / "texts.txt", "--out", out, "--dim", 16,
                 "--epochs", 40, "--min-count", 1, "--threads", 1,
                 *_again(out, "model.json", "corpus/model.json"))

    return train


def _doc2vec(folder: Path, seed: int) -> None:
    from lessons_lib.sentences import Doc2Vec

    out = folder / "m"
    if (out / "model.json").is_file():
        method, go = (model := Doc2Vec.load(out)), model.resume
    else:
        method = Doc2Vec(dim=16, min_count=1, epochs=40, seed=seed)
        go = method.fit
    go(TEXTS, on_epoch=lambda model: model.save(out))
    method.save(out)


def _encoder(method: str, data: str, *more: object) -> Callable[[Path, int], None]:
    """The training of an encoder, which writes what it learned at each step."""
    def train(folder: Path, seed: int) -> None:
        out = folder / "m"
        _command("train", method, folder.parent / data, "--encoder", FOLDER / "encoder",
                 "--dev", "none", "--steps", 12, "--batch-size", 8, "--evaluate-every", 1, "--out",
                 out, "--checkpoint-minutes", 0, "--device", "cpu", *more,
                 *_again(out, "run-a/model.json", "run-b/model.json"))

    return train


def _pretrain(folder: Path, seed: int) -> None:
    import lessons_lib as ll

    out = folder / "m"
    begun = any((out / name / "model.json").is_file() for name in ("checkpoint-a", "checkpoint-b"))
    ll.contextual.pretrain(stream(), out, recipe=recipe(), resume=begun, device="cpu",
                           checkpoint_minutes=0, progress=False)


def _encode(folder: Path, seed: int) -> None:
    _command("encode", FOLDER / "encoder", folder.parent / "texts.txt", "--out",
             folder / "vectors.npy")


def _search(folder: Path, seed: int) -> None:
    """The index of a folder that has other texts each time."""
    files = folder.with_name(f"{folder.name}-files")
    shutil.rmtree(files, ignore_errors=True)
    shutil.copytree(folder.parent / f"files{seed % 3}", files)
    _command("search", files, "sea", "--encoder", FOLDER / "encoder", "--index", folder / "m")


def _save(folder: Path, seed: int) -> None:
    """Models of one kind over each other, of this seed and of the next ones."""
    import lessons_lib as ll

    for number in range(seed, seed + 3):
        model = ll.sentences.Doc2Vec(dim=6, min_count=1, epochs=1, seed=number).fit(TEXTS)
        model.save(folder / "m")


def _save_encoder(folder: Path, seed: int) -> None:
    import lessons_lib as ll

    trainer = ll.contrastive.SBert(ll.contextual.load_encoder(FOLDER / "encoder", device="cpu"),
                                   objective="cosine", steps=2, batch_size=8, seed=seed,
                                   device="cpu").fit(PAIRS)
    for _ in range(3):
        trainer.save(folder / "m")


def _room_of(tests: str) -> ModuleType:
    """What the tests of a room share."""
    file = Path(__file__).parents[1] / tests / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"shared_by_{tests}", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _build(folder: Path, seed: int) -> None:
    from lessons_lib.publish import build, check, prose

    shared = _room_of("publish")
    check.limit_problems = lambda *_: []          # a tiny course is let off the limits of a lesson
    prose.LAST_HEADINGS = ("exercises", "summary")
    course = folder / "course"
    if not course.is_dir():
        (draft := folder / "written").mkdir(exist_ok=True)
        shutil.rmtree(draft)
        draft.mkdir()
        shared._written(draft)
        draft.rename(course)
    from lessons_lib.lesson import Course

    results = build(course=Course(course), scale="smoke")
    assert all(result.ok for result in results), [p for r in results for p in r.problems]


def _grade(folder: Path, seed: int) -> None:
    """Two hand-ins; what ran inside a killed grading ends with it."""
    homework = folder / "homework"
    if not homework.is_dir():
        shutil.rmtree(draft := folder / "written", ignore_errors=True)
        shutil.copytree(folder.parent / "homework", draft)
        draft.rename(homework)
    _command("grade", homework, "--jobs", 1, *["--weak"] * bool(missing_protections()))


def _get(folder: Path, seed: int) -> None:
    from lessons_lib.datasets import RegisteredFile
    from lessons_lib.datasets.download import fetch

    file = RegisteredFile("data.bin", len(BODY), hashlib.sha256(BODY).hexdigest())
    address = f"http://127.0.0.1:{os.environ['KILLED_JOBS_PORT']}/data.bin"
    fetch(file, folder / "m" / "data.bin", [address])


def _leaderboard(folder: Path, seed: int) -> None:
    from lessons_lib.evaluation import Leaderboard, RetrievalResult

    board = Leaderboard(folder / "m" / "board.json")
    for number in range(ROWS):
        score = number / ROWS
        board.add(f"encoder {number}", "a lesson", {"course-questions": RetrievalResult(
            score, score, score, None, None, None, 10, 4, np.full(4, score))}, scale="smoke")


JOBS: dict[str, Callable[[Path, int], Any]] = {
    "word2vec": _words("word2vec"), "glove": _words("glove"), "fasttext": _words("fasttext"),
    "doc2vec": _doc2vec, "simcse": _encoder("simcse", "texts.txt"),
    "sbert": _encoder("sbert", "pairs.tsv", "--objective", "cosine"),
    "cosent": _encoder("cosent", "pairs.tsv"),
    "distil": _encoder("distil", "texts.txt", "--teacher", FOLDER / "encoder"),
    "pretrain": _pretrain, "encode": _encode, "search": _search, "build": _build, "get": _get,
    "leaderboard": _leaderboard, "grade": _grade, "save": _save, "save encoder": _save_encoder}


def prepared(folder: Path) -> None:
    """Write what the jobs read: a text, a table of pairs, folders of texts, and homework."""
    lines = [line for seed in range(30) for line in sentences(seed=seed)]
    (folder / "texts.txt").write_text("\n".join(lines * 8) + "\n", "utf-8")
    rows = zip(PAIRS.sentence1, PAIRS.sentence2, PAIRS.score, strict=True)
    table = ["sentence1\tsentence2\tscore", *("\t".join(map(str, row)) for row in rows)]
    (folder / "pairs.tsv").write_text("\n".join(table) + "\n", "utf-8")
    for more in range(3):
        (folder / f"files{more}").mkdir()
        for i, text in enumerate(DOCUMENTS[: 12 + 4 * more]):
            (folder / f"files{more}" / f"{i}.txt").write_text(text * 3, "utf-8")
    homework = assign(["one_hot"], folder / "homework", seed=26).folder
    for student in ("ada", "ben"):
        shutil.copyfile(homework / "student" / "01_one_hot.ipynb",
                        homework / "submissions" / f"{student}.ipynb")


def _die_before(rename: int) -> None:
    """Let this process kill itself before its n-th rename; 0: never."""
    real, left = os.replace, [rename]

    def replace(*paths: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        real(*paths)

    os.replace = replace


class _Site(http.server.BaseHTTPRequestHandler):
    """Sends the body, or the rest of it that is asked for."""

    def log_message(self, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """The whole, or from a byte on."""
        wanted = self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("ETag", '"one"')
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(BODY) - 1}/{len(BODY)}")
        self.send_header("Content-Length", str(len(BODY) - start))
        self.end_headers()
        with contextlib.suppress(OSError):       # the other side was killed
            self.wfile.write(BODY[start:])


def main() -> None:
    """Fork a process for each line."""
    import torch

    torch.set_num_threads(1)
    import_all()
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    os.environ["KILLED_JOBS_PORT"] = str(site.server_address[1])
    print("ready", flush=True)
    for line in sys.stdin:
        job, folder, seed, rename, world = line.rstrip("\n").split("\t")
        if not (child := os.fork()):
            code = 1
            with open(Path(folder) / "log", "a", encoding="utf-8") as log, \
                    contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                try:
                    if world:
                        signal.alarm(PATIENCE)       # ends what waits for ever
                        WORLDS[world]()
                    _die_before(int(rename))
                    JOBS[job](Path(folder), int(seed))
                    code = 0
                except BaseException:
                    traceback.print_exc()
            os._exit(code)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()
