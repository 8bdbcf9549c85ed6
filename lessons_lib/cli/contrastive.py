"""``lessons train simcse|sbert|cosent``: an encoder, texts and a scale in; a folder out that every
other command reads as an encoder.

The state of the run lies in the folder, too: Ctrl-C keeps what was learned, ``--resume`` goes on to
the same bits. Started by ``torchrun``, several processes share each batch. Taught in lessons
``10_sbert``, ``13_cosent`` and ``14_simcse``.
"""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import asked_to_stop, atomic_open, check_choice, check_float
from .training import Stopped
from .training_data import CONVERTERS, dev_pairs, records

__all__ = ["cosent", "sbert", "simcse"]

DATA = {
    "smoke": {
        "simcse": "course-sts", "supervised simcse": "course-nli", "sbert": "course-nli",
        "sbert triplet": "course-nli", "sbert cosine": "course-sts", "cosent": "course-sts"
    }, "laptop": {
        "simcse": "stsb", "supervised simcse": "nli", "sbert": "nli-pairs", "sbert triplet": "nli",
        "sbert cosine": "stsb", "cosent": "stsb"
    }
}
DATA["paper"] = DATA["laptop"] | {"simcse": "wiki-sentences"}
DEV = {"smoke": "course-sts", "laptop": "stsb", "paper": "stsb"}
MAY_CHANGE = ("chunk", "device", "patience")      # when a run goes on

Sources = Annotated[list[str] | None, typer.Argument(help="datasets by name, text files with a "
                                                          "sentence per line, or tables; default: "
                                                          "the scale's",
                                                     metavar="DATA…", show_default=False)]
Out = Annotated[Path, typer.Option(help="folder of the model; made if need be")]
Scale = Annotated[str, typer.Option(help="smoke (seconds), laptop (minutes) or paper (the "
                                         "published settings; wants a GPU)")]
EncoderName = Annotated[str, typer.Option("--encoder", help="to begin with: lesson-bert, "
                                                            "lesson-bert-random, minilm, the "
                                                            "folder of a model, or its "
                                                            "name on the hub")]
Dev = Annotated[str | None, typer.Option(help="graded pairs to watch by, a dataset or a table, or "
                                              "none; default: the scale's", show_default=False)]
Resume = Annotated[bool, typer.Option("--resume", help="go on with the run in the folder")]
Seed = Annotated[int | None, typer.Option(help="decides every draw")]
Steps = Annotated[int | None, typer.Option(help="instead of epochs")]
Epochs = Annotated[float | None, typer.Option(help="passes over the examples")]
Batch = Annotated[int | None, typer.Option(help="examples per step, over all processes")]
Rate = Annotated[float | None, typer.Option(help="the highest")]
Pooling = Annotated[str | None, typer.Option(help="cls, last, first-last, …")]
Dropout = Annotated[float | None, typer.Option(help="share of units left out while learning")]
Length = Annotated[int | None, typer.Option(help="pieces read of a text while learning")]
Every = Annotated[int | None, typer.Option(help="steps between two looks at the dev pairs")]
Patience = Annotated[int | None, typer.Option(help="looks without a better dev score before it "
                                                   "stops")]
Chunk = Annotated[int | None, typer.Option(help="examples read at a time, to save memory")]
Precision = Annotated[str | None, typer.Option(help="float32 or bfloat16")]
Device = Annotated[str | None, typer.Option(help="auto, cpu or cuda")]
Minutes = Annotated[float, typer.Option(help="between two states of the run on disk")]


def simcse(sources: Sources = None, *, out: Out, scale: Scale = "laptop",
           encoder: EncoderName = "lesson-bert", dev: Dev = None,
           supervised: Annotated[bool,
                                 typer.Option("--supervised", help="learn from "
                                              "triplets")] = False,
           temperature: Annotated[float | None,
                                  typer.Option(help="of the softmax over a "
                                               "batch")] = None,
           views: Annotated[str | None,
                            typer.Option(help="dropout, same dropout or none")] = None,
           head: Annotated[str | None, typer.Option(help="mlp or none")] = None,
           mask_equal: Annotated[
               bool | None,
               typer.Option("--mask-equal", help="equal texts are no negatives")] = None,
           steps: Steps = None, epochs: Epochs = None, batch_size: Batch = None,
           learning_rate: Rate = None, pooling: Pooling = None, dropout: Dropout = None,
           max_length: Length = None, evaluate_every: Every = None, patience: Patience = None,
           chunk: Chunk = None, precision: Precision = None, device: Device = None,
           seed: Seed = None, resume: Resume = False, checkpoint_minutes: Minutes = 5.0) -> None:
    """Train by contrast: a sentence and itself under other dropout, or premises with what follows
    from them and what contradicts them.
    """
    given = {
        "temperature": temperature, "views": views, "head": head, "mask_equal": mask_equal,
        "steps": steps, "epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate,
        "pooling": pooling, "dropout": dropout, "max_length": max_length,
        "evaluate_every": evaluate_every, "patience": patience, "chunk": chunk,
        "precision": precision, "device": device, "seed": seed
    }
    _train("supervised simcse" if supervised else "simcse", sources, out, given, scale=scale,
           encoder=encoder, dev=dev, resume=resume, minutes=checkpoint_minutes)


def sbert(sources: Sources = None, *, out: Out, scale: Scale = "laptop",
          encoder: EncoderName = "lesson-bert", dev: Dev = None,
          objective: Annotated[str, typer.Option(help="softmax, cosine or triplet")] = "softmax",
          margin: Annotated[float | None, typer.Option(help="of triplet")] = None,
          steps: Steps = None, epochs: Epochs = None, batch_size: Batch = None,
          learning_rate: Rate = None, pooling: Pooling = None, dropout: Dropout = None,
          max_length: Length = None, evaluate_every: Every = None, patience: Patience = None,
          chunk: Chunk = None, precision: Precision = None, device: Device = None,
          seed: Seed = None, resume: Resume = False, checkpoint_minutes: Minutes = 5.0) -> None:
    """Train a Siamese network on labelled pairs, graded pairs or triplets."""
    check_choice("objective", objective, ("softmax", "cosine", "triplet"))
    given = {
        "margin": margin, "steps": steps, "epochs": epochs, "batch_size": batch_size,
        "learning_rate": learning_rate, "pooling": pooling, "dropout": dropout,
        "max_length": max_length, "evaluate_every": evaluate_every, "patience": patience,
        "chunk": chunk, "precision": precision, "device": device, "seed": seed
    }
    _train("sbert" if objective == "softmax" else f"sbert {objective}", sources, out, given,
           scale=scale, encoder=encoder, dev=dev, resume=resume, minutes=checkpoint_minutes)


def cosent(sources: Sources = None, *, out: Out, scale: Scale = "laptop",
           encoder: EncoderName = "lesson-bert", dev: Dev = None,
           steepness: Annotated[float | None,
                                typer.Option(help="λ of the loss, the inverse of a "
                                             "temperature")] = None, steps: Steps = None,
           epochs: Epochs = None, batch_size: Batch = None, learning_rate: Rate = None,
           pooling: Pooling = None, dropout: Dropout = None, max_length: Length = None,
           evaluate_every: Every = None, patience: Patience = None, chunk: Chunk = None,
           precision: Precision = None, device: Device = None, seed: Seed = None,
           resume: Resume = False, checkpoint_minutes: Minutes = 5.0) -> None:
    """Train the order of cosines on graded pairs."""
    given = {
        "scale": steepness, "steps": steps, "epochs": epochs, "batch_size": batch_size,
        "learning_rate": learning_rate, "pooling": pooling, "dropout": dropout,
        "max_length": max_length, "evaluate_every": evaluate_every, "patience": patience,
        "chunk": chunk, "precision": precision, "device": device, "seed": seed
    }
    _train("cosent", sources, out, given, scale=scale, encoder=encoder, dev=dev, resume=resume,
           minutes=checkpoint_minutes)


# ------------------------------------------------------------------------------ a run


def _train(method: str, sources: list[str] | None, out: Path, given: dict[str, Any], *, scale: str,
           encoder: str, dev: str | None, resume: bool, minutes: float) -> None:
    """Learn, or go on; write the folder; say what came of it."""
    from ..contrastive import CoSent, SBert, SimCse

    began, leader = time.monotonic(), int(os.environ.get("RANK", "0")) == 0
    check_choice("scale", scale, DATA)
    check_float("checkpoint_minutes", minutes, low=0.0)
    _check_folder(out, resume)
    kind = {"simcse": SimCse, "supervised simcse": SimCse, "cosent": CoSent}.get(method, SBert)
    given = {name: value for name, value in given.items() if value is not None}
    trainer = _same(kind, out, given) if resume else _new(kind, method, given, scale=scale,
                                                          encoder=encoder)
    trainer.set_params(progress=True)
    trainer._check_settings()                     # before data is read, which may take minutes
    data = CONVERTERS[method](records(sources or [DATA[scale][method]]))
    pairs = dev_pairs(dev or DEV[scale])
    keep = _Keeper(out, 60 * minutes, leader)
    # When one of several processes has gone, torchrun tells the others to end; they first write
    # what there is, and say why.
    with asked_to_stop() if int(os.environ.get("WORLD_SIZE", "1")) > 1 else nullcontext():
        try:
            (trainer.resume if resume else trainer.fit)(data, pairs, on_note=keep)
        except KeyboardInterrupt:
            keep.now(trainer)
            raise _stopped(trainer, out) from None
        except BaseException:
            keep.now(trainer)
            raise
        keep.now(trainer)
    if leader:
        print(_said(trainer, out, dev or DEV[scale], time.monotonic() - began))


def _stopped(trainer: Any, out: Path) -> Stopped:
    if not hasattr(trainer, "encoder_"):
        return Stopped("stopped before anything was learned; run the same command again")
    return Stopped(f"stopped after step {trainer.n_steps_:,}; what was learned is in {out}. Go on: "
                   "the same command with --resume")


def _check_folder(out: Path, resume: bool) -> None:
    """Look at all that can be wrong with the folder before minutes are spent."""
    from ..contrastive.files import holds_run

    there = holds_run(out)
    if there and not resume:
        raise ValueError(f"{out} holds a run already; --resume goes on with it, another --out "
                         "begins anew")
    if resume and not there:
        raise ValueError(f"{out} holds no run to go on with; leave --resume out to begin")
    if not there and (other := next(
        (name for name in ("model.safetensors", "config.json", "model.json")
         if (out / name).exists()), None)):
        raise FileExistsError(f"{out} holds a model already ({other}), which training would write "
                              "over; choose another --out")
    with atomic_open(out / "can-be-written") as file:
        file.write("yes")
    (out / "can-be-written").unlink(missing_ok=True)  # another process may have been faster


def _new(kind: Any, method: str, given: dict[str, Any], *, scale: str, encoder: str) -> Any:
    """A trainer with the settings of the scale, and those that were asked for."""
    from ..contextual import load_encoder
    from ..contrastive.recipes import recipe
    from ..core import torch_device

    device = given.get("device", "auto")
    loaded = load_encoder(encoder, device=device, precision="float32")
    settings = recipe(method, scale, loaded)
    if torch_device(device).type == "cpu":        # half precision is for a GPU
        settings["precision"] = "float32"
    if "steps" in settings and "epochs" in given and "steps" not in given:
        settings.pop("steps")
    return kind(loaded, **settings | given)


def _same(kind: Any, out: Path, given: dict[str, Any]) -> Any:
    """The trainer of a run that was begun before, which must share the settings asked for."""
    before = kind.load(out)
    for name, value in given.items():
        if name in MAY_CHANGE:
            before.set_params(**{name: value})
        elif getattr(before, name) != value:
            raise ValueError(f"{name}={value} cannot change on the way: the run in {out} has "
                             f"{getattr(before, name)}. Leave it out, or begin anew "
                             "with another --out")
    return before


class _Keeper:
    """Writes the folder every so many seconds, and at the end; only the first process does."""

    def __init__(self, out: Path, pause: float, leader: bool) -> None:
        self.out, self.pause, self.leader, self.last = out, pause, leader, time.monotonic()

    def __call__(self, trainer: Any) -> None:
        if time.monotonic() - self.last >= self.pause:
            self.now(trainer)

    def now(self, trainer: Any) -> None:
        """Write what there is; a run that went wrong before its first line left nothing."""
        if self.leader and hasattr(trainer, "encoder_"):
            trainer.save(self.out)
        self.last = time.monotonic()


def _said(trainer: Any, out: Path, dev: str, seconds: float) -> str:
    """What came of a run, and how to use it."""
    history = trainer.history_
    score = "" if history.kept == "last" else (f"; Spearman x 100 on the dev pairs of {dev}: "
                                               f"{100 * history.dev[0]:.1f} before, "
                                               f"{100 * history.dev[history.best]:.1f} after step "
                                               f"{history.step[history.best]:,}")
    kind = type(trainer).__name__
    on = "" if dev in ("none", "course-sts") or Path(dev).exists() else f" --on {dev}"
    return (f"{out}: {trainer.n_steps_:,} steps{score}, {seconds:.0f} s\nMeasure: lessons evaluate "
            f"{out}{on}\n"
            f"Use: ll.contextual.load_encoder({str(out)!r}), or with its history "
            f"ll.contrastive.{kind}.load({str(out)!r})")
