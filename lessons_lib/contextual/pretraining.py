"""Pre-training: fill in the masked tokens until the vectors know what belongs where.

`pretrain` works through a recipe, keeps a checkpoint every few minutes and when it is stopped, and
goes on from there to the same end. Started by ``torchrun``, several processes share each batch.
Taught in lesson ``08_bert_sentence_vectors``; the command is ``lessons pretrain``.
[devlin2019bert]
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..core import (DamagedFile, asked_to_stop, atomic_open, available_cores, check_choice,
                    check_float, check_kind, check_memory, checked_path, existing_path,
                    fingerprint, read_json, save_model, sha256, shown, torch_device)
from ..core.gradient_run import newest_state
from .film import load_film
from .lesson_bert import LessonBertForPretraining
from .packing import TokenStream
from .ranks import joined
from .recipes import RECIPES, Recipe, doublings
from .saved_bert import load_bert, save_bert
from .tokenizer import WordPiece
from .training import Training

__all__ = ["Pretrained", "check_start", "pretrain"]

# written in turn: the one before the last is still there when the last is damaged
CHECKPOINTS = ("checkpoint-a", "checkpoint-b")
MAY_CHANGE = ("tokens", "accumulate", "compiled")           # of a recipe on the way
OF_A_MODEL = ("model.safetensors", "config.json", "card.json")
AGREE_EVERY = 16       # steps between two questions to the other processes whether one is to stop


@dataclass(frozen=True, eq=False)
class Pretrained:
    """What came out of a pre-training.

    Parameters
    ----------
    model : LessonBertForPretraining
    tokenizer : WordPiece
    card : dict
        Also in the folder.
    finished : bool
        False where the minutes were over first.
    """

    model: LessonBertForPretraining
    tokenizer: WordPiece
    card: dict[str, Any]
    finished: bool


def pretrain(stream: TokenStream, out: str | os.PathLike, *, recipe: Recipe | str = "laptop",
             start: str | os.PathLike | None = None, resume: bool = False, device: str = "auto",
             checkpoint_minutes: float = 5.0, stop_after_minutes: float | None = None,
             milestones: bool = False, progress: bool = True) -> Pretrained:
    """Train a LessonBert on a numbered text and write it into a folder.

    Ctrl-C ends after the step that is under way, writes everything, and comes out as
    KeyboardInterrupt.

    Parameters
    ----------
    stream : TokenStream
        From `prepare_tokens`.
    out : str or path
        The folder: weights, tokenizer, config, card, film and the last two checkpoints.
    recipe : Recipe or {"smoke", "laptop", "gpu"}
    start : str or path, optional
        Folder of a LessonBERT with the same tokens and sizes whose weights the run begins with,
        instead of random ones: to read more, or another kind of text. The optimizer begins anew;
        curve and film go on where it read the same text.
    resume : bool, default False
        Go on with the run in the folder; its recipe must be the same, but may read more ``tokens``.
    device : {"auto", "cpu", "cuda"}
    checkpoint_minutes : float >= 0, default 5
        Between two checkpoints.
    stop_after_minutes : float >= 0, optional
        Then it stops as if asked to.
    milestones : bool, default False
        Keep the whole model after 1, 2, 4, ... million tokens, too, in ``out/milestones``.
    progress : bool, default True
        A bar with tokens per second and time left.

    Returns
    -------
    Pretrained

    Raises
    ------
    ValueError
        A run lies in the folder, or none, or one with another recipe or text.
    FileExistsError, DamagedFile, TrainingDiverged, BackendUnavailable
    torch.OutOfMemoryError
        With what to do.
    """
    check_kind("stream", stream, TokenStream,
               "a TokenStream. Make it: prepare_tokens(texts, tokenizer)")
    if isinstance(recipe, str):
        recipe = RECIPES[check_choice("recipe", recipe, RECIPES)]
    check_kind("recipe", recipe, Recipe, f"a Recipe, or the name of one: {', '.join(RECIPES)}")
    folder = checked_path(out, "out")
    check_start(folder, resume=resume, device=device, checkpoint_minutes=checkpoint_minutes,
                stop_after_minutes=stop_after_minutes)
    limit = float("inf") if stop_after_minutes is None else 60 * stop_after_minutes
    with joined(device) as ranks:
        if recipe.batch % ranks.size:
            raise ValueError(f"batch={recipe.batch} rows cannot be shared evenly by {ranks.size} "
                             "processes; expected a multiple")
        rows = -(-recipe.batch // (ranks.size * recipe.accumulate))      # read at one time
        check_memory(f"the numbers of {recipe.batch:,} rows, and {rows:,} x {recipe.row:,} tokens "
                     "at a time,", 8 * recipe.batch + 16 * rows * recipe.row,
                     f"Lower batch={recipe.batch} or row={recipe.row}, or raise "
                     f"accumulate={recipe.accumulate}")
        text = fingerprint(np.array([stream.held_out, len(stream.tokenizer)]), stream.ids)
        training, data = Training(recipe, stream, ranks), stream.data
        if start is not None and not resume:
            data = data | {"start": _begin_with(training, existing_path(start, name="start"))}
        run = _Run(training, folder, text, 60 * checkpoint_minutes, data, milestones)
        if resume:
            run.go_on()
        with asked_to_stop() as asked:
            run.work(asked.is_set, limit, progress)
        card = run.close()
    if asked.is_set():
        raise KeyboardInterrupt
    return Pretrained(run.training.model.eval(), stream.tokenizer, card, run.training.finished)


def _begin_with(training: Training, folder: Path) -> dict[str, Any]:
    """Give a training the weights of a LessonBERT. Returns what its card says of where they are
    from. Raises ValueError (other tokens, other sizes) and as `load_bert`.
    """
    model, tokenizer = load_bert(folder)
    if tokenizer.pieces != training.tokenizer.pieces:
        raise ValueError(f"start={shown(str(folder))} has other tokens than the numbered text; "
                         "number the text with its tokenizer (lessons pretrain --start)")
    theirs, ours = (replace(bert.size, dropout=0.0)
                    for bert in (model.bert, training.model.bert))
    if theirs != ours:
        raise ValueError(f"start={shown(str(folder))} is a {theirs}, and the recipe asks for a "
                         f"{ours}; give the recipe its sizes")
    training.model.load_state_dict(model.state_dict())
    card = read_json(folder / "card.json") if (folder / "card.json").is_file() else {}
    training.record.before = card.get("tokens", 0)
    _tell_what_was_before(training, folder, card)
    told = {name: card[name] for name in ("tokens", "seconds", "recipe") if name in card}
    told |= {name: card["data"][name] for name in ("start",) if name in card.get("data", {})}
    return {"name": folder.name, "weights": sha256(folder / "model.safetensors")} | told


def _tell_what_was_before(training: Training, folder: Path, card: dict[str, Any]) -> None:
    """Begin curve, moments and film of a training with those of the model in a folder, if it read
    the same text.
    """
    try:
        film = load_film(folder)
    except DamagedFile:                            # a model is handed on without one
        return
    subwords = [training.tokenizer.pieces[i] for i in training.sampled]
    if film.pieces == subwords and np.array_equal(film.counts, training.counts[training.sampled]):
        training.record.curve, training.record.seen = card["loss"], card["moments"]
        training.frames = list(film.frames)


def check_start(folder: Path, *, resume: bool = False, device: str = "auto",
                checkpoint_minutes: float = 5.0, stop_after_minutes: float | None = None) -> None:
    """Look at all that can be wrong before a text is numbered and hours are spent; raises as
    `pretrain` does. A model without its checkpoints is somebody's and is never written over.
    """
    check_kind("resume", resume, bool, "True or False")
    torch_device(device)
    check_float("checkpoint_minutes", checkpoint_minutes, low=0.0)
    if stop_after_minutes is not None:
        check_float("stop_after_minutes", stop_after_minutes, low=0.0)
    there = any((folder / name / "model.json").exists() for name in CHECKPOINTS)
    if there and not resume:
        raise ValueError(f"{folder} holds a run already; go on with resume=True (--resume), or "
                         "begin anew in another folder")
    if resume and not there:
        raise ValueError(f"{folder} holds no run to go on with; leave resume out to begin")
    models = [name for name in OF_A_MODEL if (folder / name).exists()]
    if models and not there:
        raise FileExistsError(f"{folder} holds a model already ({models[0]}), which training would "
                              "write over; begin in another folder")
    # not after hours that a folder is read-only, a file, or on a full disk
    with atomic_open(folder / "checkpoint-can-be-written") as file:
        file.write("yes")
    # another process may have been faster
    (folder / "checkpoint-can-be-written").unlink(missing_ok=True)


class _Run:
    """A training with its folder: checkpoints while it works, results when it stops."""

    def __init__(self, training: Training, folder: Path, text: str, pause: float,
                 data: dict[str, Any], milestones: bool) -> None:
        self.training, self.folder, self.text, self.pause = training, folder, text, pause
        self.data, self.milestones = data, doublings(training.recipe) if milestones else []
        self.last_save, self.saves = time.monotonic(), 0

    def go_on(self) -> None:
        """Stand where the newest sound checkpoint stands."""
        folder, (settings, arrays, extra) = newest_state(
            [self.folder / name for name in CHECKPOINTS], "Pretraining")
        self._check_same(settings, extra)
        self.data = self.data | extra.get("data", {})
        self.training.restore(arrays, extra["record"])
        self.saves = 1 + CHECKPOINTS.index(folder.name)        # the next one replaces the other

    def _check_same(self, settings: dict[str, Any], extra: dict[str, Any]) -> None:
        ours, theirs = asdict(self.training.recipe), asdict(Recipe()) | settings
        wrong = [f"{name}={ours[name]!r} (there: {theirs[name]!r})" for name in ours
                 if name not in MAY_CHANGE and theirs[name] != ours[name]]
        if wrong:
            raise ValueError(f"the run in {self.folder} has another recipe: {', '.join(wrong)}. "
                             "Use its own, or begin anew in another folder")
        if extra["text"] != self.text:
            raise ValueError(f"the run in {self.folder} reads another text, or has other tokens; "
                             "give it its own, or begin anew in another folder")

    def work(self, asked: Callable[[], bool], limit: float, progress: bool) -> None:
        """Do the steps that are left, one at least, until asked to stop or ``limit`` seconds are
        over.
        """
        training, began = self.training, time.monotonic()
        first, before, ranks = training.record.step, training.record.seconds, training.ranks

        def stop() -> bool:
            """Whether this process, or any other, is to stop now; asking takes time."""
            now, done = time.monotonic(), training.record.step - first
            training.record.seconds = before + now - began
            over = done > 0 and (asked() or now - began > limit)
            if ranks.size > 1 and done % AGREE_EVERY == 0:
                over = float(ranks.total(torch.tensor(float(over), device=ranks.device))) > 0
            elif ranks.size > 1:
                over = False
            if not over and now - self.last_save > self.pause:
                self.save()
            return over

        if training.record.step == 0:
            training.note()
        training.work(stop, label="pretrain", show=progress and ranks.rank == 0,
                      on_note=self.keep)
        training.record.seconds = before + time.monotonic() - began

    def keep(self) -> None:
        """Keep the model beside the others, if a milestone is reached."""
        training = self.training
        if training.record.step not in self.milestones:
            return
        card = _card(training, self.data)
        if training.ranks.rank == 0:
            save_bert(self.folder / "milestones" / f"{card['tokens']:013,}".replace(",", "_"),
                      training.model, training.tokenizer, card=card)

    def save(self) -> None:
        """Write a checkpoint beside the one before. Raises TrainingDiverged."""
        self.training.check()
        if self.training.ranks.rank == 0:
            save_model(self.folder / CHECKPOINTS[self.saves % 2], "Pretraining",
                       settings=asdict(self.training.recipe), arrays=self.training.arrays(),
                       extra={"record": self.training.noted(), "text": self.text,
                              "data": self.data})
            self.saves += 1
        self.last_save = time.monotonic()

    def close(self) -> dict[str, Any]:
        """Write the checkpoint and what was learned. Returns the card."""
        self.save()
        training = self.training
        card, film = _card(training, self.data), None
        if training.ranks.rank == 0:
            if training.frames:
                film = {"frames": np.stack(training.frames).astype(np.float16),
                        "pieces": training.sampled.astype(np.int32),
                        "counts": training.counts[training.sampled], "all_counts": training.counts}
            save_bert(self.folder, training.model, training.tokenizer, card=card, film=film)
        return card


def _card(training: Training, data: dict[str, Any]) -> dict[str, Any]:
    record, recipe, measured = training.record, training.recipe, training.measure()
    if training.device.type == "cuda":
        device = torch.cuda.get_device_name(training.device)
    else:
        device = f"{platform.system()} {platform.machine()}, {available_cores()} cores"
    more = " and next sentence" if recipe.next_sentence else ""
    return {"name": "LessonBERT", "format": 1, "method": "masked language modelling" + more,
            "data": data, "recipe": asdict(recipe), "seed": recipe.seed,
            "vocabulary": len(training.tokenizer),
            "parameters": sum(p.numel() for p in training.model.parameters()),
            "steps": record.step, "steps planned": recipe.steps,
            "tokens": training.tokens, "seconds": round(record.seconds),
            "device": device, "processes": training.ranks.size,
            "python": platform.python_version(),
            "versions": {name: metadata.version(name) for name in ("torch", "tokenizers", "numpy")},
            **{name: round(value, 4) for name, value in measured.items()},
            "loss": record.curve, "moments": record.seen}
