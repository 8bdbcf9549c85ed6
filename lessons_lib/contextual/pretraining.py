"""Pre-training: fill in the masked pieces, over and over, until the vectors know what belongs where
(Devlin et al. 2019).

`pretrain` works through a recipe, keeps a checkpoint every few minutes and when it is stopped, and
goes on from there to the same end. Started by ``torchrun``, several processes share each batch.
Taught in lesson ``08_bert_sentence_vectors``; the command is ``lessons pretrain``.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import (DamagedFile, asked_to_stop, atomic_open, available_cores, check_choice,
                    check_float, fingerprint, load_model, read_json, save_model, shown,
                    torch_device, track, warn_data)
from .lesson_bert import LessonBertForPretraining
from .packing import TokenStream
from .ranks import Ranks, joined
from .recipes import RECIPES, Recipe
from .saved_bert import save_bert
from .tokenizer import WordPiece
from .training import Training

__all__ = ["Pretrained", "check_start", "pretrain"]

# written in turn: the one before the last is still there when the last is damaged
CHECKPOINTS = ("checkpoint-a", "checkpoint-b")
MAY_CHANGE = ("tokens", "accumulate", "compiled")  # of a recipe on the way
OF_A_MODEL = ("model.safetensors", "config.json", "card.json")
AGREE_EVERY = 16  # steps between two questions to the other processes whether one was told to stop


@dataclass(frozen=True, eq=False)
class Pretrained:
    """What came out: the model, its tokenizer and the card (also in the folder); ``finished`` is
    False where the minutes were over first.
    """

    model: LessonBertForPretraining
    tokenizer: WordPiece
    card: dict[str, Any]
    finished: bool


def pretrain(stream: TokenStream, out: str | os.PathLike, *, recipe: Recipe | str = "laptop",
             resume: bool = False, device: str = "auto", checkpoint_minutes: float = 5.0,
             stop_after_minutes: float | None = None, progress: bool = True) -> Pretrained:
    """Train a LessonBert on a numbered text and write it into a folder.

    Parameters: stream, from `prepare_tokens`; out, the folder: weights, tokenizer, config, card,
    film and the last two checkpoints; recipe, a `Recipe` or the name of one ("smoke", "laptop",
    "gpu"); resume, go on with the run in the folder: its recipe must be the same, but may read more
    ``tokens``; device, "auto", "cpu" or "cuda"; checkpoint_minutes, between two checkpoints;
    stop_after_minutes, then stop as if asked to; progress, a bar with pieces per second and time
    left. Ctrl-C ends after the step that is under way, writes everything, and comes out as
    KeyboardInterrupt.

    Raises ValueError (a run lies in the folder, or none, or one with another recipe or text),
    DamagedFile, TrainingDiverged, BackendUnavailable, OutOfMemoryError (with what to do).
    """
    if not isinstance(stream, TokenStream):
        raise TypeError(f"stream={shown(stream)} is {type(stream).__name__}; expected a "
                        "TokenStream. Make it: prepare_tokens(texts, tokenizer)")
    recipe, folder = _recipe(recipe), Path(out)
    check_start(folder, resume=resume, device=device, checkpoint_minutes=checkpoint_minutes,
                stop_after_minutes=stop_after_minutes)
    limit, found = float(
        "inf") if stop_after_minutes is None else 60 * stop_after_minutes, _checkpoints(folder)
    with joined(device) as ranks:
        _check_batch(recipe, ranks)
        run = _Run(Training(recipe, stream, ranks), folder, _text_of(stream), stream.data,
                   60 * checkpoint_minutes)
        if found:
            run.go_on(found)
        with asked_to_stop() as asked:
            run.work(asked, limit, progress)
        card = run.close()
    if asked.is_set():
        raise KeyboardInterrupt
    return Pretrained(run.training.model.eval(), stream.tokenizer, card, run.training.record.step
                      >= recipe.steps)


def _recipe(recipe: Recipe | str) -> Recipe:
    if isinstance(recipe, str):
        return RECIPES[check_choice("recipe", recipe, RECIPES)]
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe={shown(recipe)} is {type(recipe).__name__}; expected a Recipe, or "
                        f"the name of one: {', '.join(RECIPES)}")
    return recipe


def check_start(folder: Path, *, resume: bool = False, device: str = "auto",
                checkpoint_minutes: float = 5.0, stop_after_minutes: float | None = None) -> None:
    """Look at all that can be wrong before a text is numbered and hours are spent; raises as
    `pretrain` does.

    A folder that holds a model without its checkpoints is somebody's model, not a run, and is never
    written over.
    """
    if not isinstance(resume, bool):
        raise TypeError(f"resume={shown(resume)} is {type(resume).__name__}; expected True or "
                        "False")
    torch_device(device)
    check_float("checkpoint_minutes", checkpoint_minutes, low=0.0)
    if stop_after_minutes is not None:
        check_float("stop_after_minutes", stop_after_minutes, low=0.0)
    there = bool(_checkpoints(folder))
    if there and not resume:
        raise ValueError(f"{folder} holds a run already; go on with resume=True (--resume), or "
                         "begin anew in another folder")
    if resume and not there:
        raise ValueError(f"{folder} holds no run to go on with; leave resume out to begin")
    if not there and (other := next(
        (name for name in OF_A_MODEL if (folder / name).exists()), None)):
        raise FileExistsError(f"{folder} holds a model already ({other}), which training would "
                              "write over; begin in another folder")
    # not after hours that a folder is read-only, a file, or on a full disk
    with atomic_open(folder / "checkpoint-can-be-written") as file:
        file.write("yes")
    # another process may have been faster
    (folder / "checkpoint-can-be-written").unlink(missing_ok=True)


def _check_batch(recipe: Recipe, ranks: Ranks) -> None:
    if recipe.batch % ranks.size:
        raise ValueError(f"batch={recipe.batch} rows cannot be shared evenly by {ranks.size} "
                         "processes; expected a multiple")


def _text_of(stream: TokenStream) -> str:
    return fingerprint(np.array([stream.held_out, len(stream.tokenizer)]), stream.ids)


def _checkpoints(folder: Path) -> list[Path]:
    """Checkpoints in a folder: those whose card cannot be read first, for they may be the newest,
    then by falling step, as their cards say.
    """
    found = []
    for name in CHECKPOINTS:
        try:
            found.append((float(read_json(
                folder / name / "model.json")["extra"]["record"]["step"]), folder / name))
        except FileNotFoundError:                 # not begun, or killed before it was whole
            continue
        except (OSError, ValueError, KeyError, TypeError):
            found.append((float("inf"), folder / name))
    return [path for _, path in sorted(found, reverse=True)]


class _Run:
    """A training with its folder: checkpoints while it works, results when it stops."""

    def __init__(self, training: Training, folder: Path, text: str, data: dict[str, Any],
                 pause: float) -> None:
        self.training, self.folder, self.text, self.data, self.pause = training, folder, text, data, pause
        self.last_save = time.monotonic()
        self.saves = 0

    def go_on(self, paths: list[Path]) -> None:
        """Stand where the newest sound checkpoint stands."""
        damaged = []
        for path in paths:
            try:
                settings, arrays, extra = load_model(path, "Pretraining")
            except (DamagedFile, FileNotFoundError) as error:
                damaged.append(str(error))
                continue
            if damaged:
                warn_data(f"{damaged[0]}. The checkpoint before it is used: {path.name}, step "
                          f"{extra['record']['step']:,}")
            self._check_same(settings, extra)
            self.training.restore(arrays, extra["record"])
            self.saves = 1 + CHECKPOINTS.index(path.name)  # the next one replaces the other
            return
        raise DamagedFile(f"{self.folder} holds no sound checkpoint; begin anew in another folder. "
                          f"{' '.join(damaged)}")

    def _check_same(self, settings: dict[str, Any], extra: dict[str, Any]) -> None:
        ours = asdict(self.training.recipe)
        wrong = [f"{name}={ours[name]!r} (there: {settings.get(name)!r})" for name in ours
                 if name not in MAY_CHANGE and settings.get(name) != ours[name]]
        if wrong:
            raise ValueError(f"the run in {self.folder} has another recipe: {', '.join(wrong)}. "
                             "Use its own, or begin anew in another folder")
        if extra["text"] != self.text:
            raise ValueError(f"the run in {self.folder} reads another text, or has other pieces; "
                             "give it its own, or begin anew in another folder")

    def work(self, asked: threading.Event, limit: float, progress: bool) -> None:
        """Do the steps that are left, or those before one is asked to stop or ``limit`` seconds are
        over.
        """
        training, began = self.training, time.monotonic()
        before, per_step = training.record.seconds, training.recipe.tokens_per_step
        todo = range(training.record.step, training.recipe.steps)
        bar = track(todo, total=training.recipe.steps * per_step, label="pretrain", show=progress
                    and training.ranks.rank == 0, size=lambda step: per_step, unit=" tokens",
                    done=training.record.step * per_step)
        if training.record.step == 0:
            training.note()
        for step in bar:
            self._step()
            now = time.monotonic()
            training.record.seconds = before + now - began
            if training.due():
                training.note()
            if self._stop(step, asked, now - began > limit):
                return
            if now - self.last_save > self.pause:
                self.save()

    def _step(self) -> None:
        try:
            self.training.step()
        except torch.OutOfMemoryError as error:
            recipe, first = self.training.recipe, str(error).split(". ")[0]
            raise torch.OutOfMemoryError(f"{recipe.batch // recipe.accumulate} rows of "
                                         f"{recipe.row} at a time do not fit: {first}. Work on a "
                                         "step in "
                                         "more parts: "
                                         f"accumulate={min(recipe.batch, 2 * recipe.accumulate)} "
                                         "(--accumulate)") from error

    def _stop(self, step: int, asked: threading.Event, over: bool) -> bool:
        """Whether this process, or any other, is to stop now; processes ask each other every 16
        steps, for asking takes time.
        """
        ranks = self.training.ranks
        if ranks.size == 1:
            return asked.is_set() or over
        if step % AGREE_EVERY:
            return False
        return float(ranks.total(torch.tensor(float(asked.is_set() or over),
                                              device=ranks.device))) > 0

    def save(self) -> None:
        """Write a checkpoint beside the one before. Raises TrainingDiverged."""
        self.training.check()
        if self.training.ranks.rank == 0:
            save_model(self.folder / CHECKPOINTS[self.saves % 2], "Pretraining",
                       settings=asdict(self.training.recipe), arrays=self.training.arrays(),
                       extra={"record": self.training.noted(), "text": self.text})
            self.saves += 1
        self.last_save = time.monotonic()

    def close(self) -> dict[str, Any]:
        """Write the checkpoint and what was learned. Returns the card."""
        self.save()
        training = self.training
        card = _card(training, self.data)
        if training.ranks.rank == 0:
            film = {
                "frames": np.stack(training.frames).astype(
                    np.float16), "pieces": training.pieces.astype(np.int32),
                "counts": training.counts[training.pieces], "all_counts": training.counts
            } if training.frames else None
            save_bert(self.folder, training.model, training.tokenizer, card=card, film=film)
        return card


def _card(training: Training, data: dict[str, Any]) -> dict[str, Any]:
    record, recipe, measured = training.record, training.recipe, training.measure()
    cuda = training.ranks.device.type == "cuda"
    device = (torch.cuda.get_device_name(training.ranks.device)
              if cuda
              else f"{platform.system()} {platform.machine()}, {available_cores()} cores")
    return {
        "name": "LessonBERT", "format": 1, "method": "masked language modelling" +
        (" and next sentence" if recipe.next_sentence else ""), "data": data,
        "recipe": asdict(recipe), "seed": recipe.seed, "vocabulary": len(
            training.tokenizer), "parameters": sum(p.numel() for p in training.model.parameters()),
        "steps": record.step, "steps planned": recipe.steps,
        "tokens": record.step * recipe.tokens_per_step, "seconds": round(
            record.seconds), "device": device, "processes": training.ranks.size,
        "python": platform.python_version(), "versions": {
            name: metadata.version(name) for name in ("torch", "tokenizers", "numpy")
        }, **{
            name: round(value, 4) for name, value in measured.items()
        }, "loss": record.curve, "moments": record.seen
    }
