"""The jobs that `test_kills` kills: each in a process of its own, forked from one that has imported
everything, so that a kill falls into the work and not into imports.

Reads lines "JOB FOLDER SEED RENAME", answers with the process id, and with the status at the end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from .saved_models import DOCUMENTS, FOLDER, PAIRS, TEXTS, recipe, sentences, stream


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


def _simcse(folder: Path, seed: int) -> None:
    out = folder / "m"
    _command("train", "simcse", folder.parent / "texts.txt", "--encoder", FOLDER / "encoder",
             "--dev", "none", "--steps", 12, "--batch-size", 8, "--evaluate-every", 1, "--out",
             out, "--checkpoint-minutes", 0, "--device", "cpu",
             *_again(out, "run-a/model.json", "run-b/model.json"))


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
    """The index of a folder that gets more texts each time."""
    _command("search", folder.parent / f"files{seed % 3}", "sea", "--encoder", FOLDER / "encoder",
             "--index", folder / "m")


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


JOBS = {"word2vec": _words("word2vec"), "glove": _words("glove"), "fasttext": _words("fasttext"),
        "simcse": _simcse, "pretrain": _pretrain, "encode": _encode, "search": _search,
        "save": _save, "save encoder": _save_encoder}


def prepared(folder: Path) -> None:
    """Write what the jobs read: a text, and folders of texts."""
    lines = [line for seed in range(30) for line in sentences(seed=seed)]
    (folder / "texts.txt").write_text("\n".join(lines * 8) + "\n", "utf-8")
    for more in range(3):
        (folder / f"files{more}").mkdir()
        for i, text in enumerate(DOCUMENTS[: 12 + 4 * more]):
            (folder / f"files{more}" / f"{i}.txt").write_text(text * 3, "utf-8")


def _die_before(rename: int) -> None:
    """Let this process kill itself before its n-th rename; 0: never."""
    real, left = os.replace, [rename]

    def replace(*paths: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        real(*paths)

    os.replace = replace


def main() -> None:
    """Fork a process for each line."""
    import torch

    import lessons_lib as ll
    from lessons_lib import cli  # noqa: F401

    torch.set_num_threads(1)
    for room in ("contextual", "contrastive", "words", "sentences", "search"):
        for name in getattr(ll, room).__all__:
            getattr(getattr(ll, room), name)
    print("ready", flush=True)
    for line in sys.stdin:
        job, folder, seed, rename = line.rstrip("\n").split("\t")
        if not (child := os.fork()):
            code = 1
            with open(Path(folder) / "log", "a", encoding="utf-8") as log, \
                    contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                try:
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
