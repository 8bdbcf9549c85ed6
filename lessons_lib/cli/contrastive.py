"""``lessons train simcse|sbert|cosent|distil``: an encoder, texts and a scale in; a folder out that
every other command reads as an encoder.

The state of the run lies in the folder, too: Ctrl-C keeps what was learned, ``--resume`` goes on to
the same bits. Started by ``torchrun``, several processes share each batch. Taught in lessons
``10_sbert``, ``13_cosent`` and ``14_simcse``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import DataMissing, asked_to_stop, atomic_open, check_choice, check_float
from .options import Out, Resume, option, parameters_of, setting, unchanged, unset, with_settings
from .training import Stopped
from .training_data import CONVERTERS, dev_pairs, records

__all__ = ["COMMANDS"]

DATA = {"smoke": {"simcse": "course-sts", "supervised simcse": "course-nli", "sbert": "course-nli",
                  "sbert triplet": "course-nli", "sbert cosine": "course-sts",
                  "cosent": "course-sts", "distil": "course-sts"},
        "laptop": {"simcse": "stsb", "supervised simcse": "nli", "sbert": "nli-pairs",
                   "sbert triplet": "nli", "sbert cosine": "stsb", "cosent": "stsb",
                   "distil": "wiki-sentences"}}
DATA["paper"] = DATA["laptop"] | {"simcse": "wiki-sentences"}
FREE = DATA["smoke"] | {"simcse": "course-nli", "distil": "course-nli"}      # in every clone
DEV = {"smoke": "course-sts", "laptop": "stsb", "paper": "stsb"}
BAGS = ("bag", "bag-random")
MAY_CHANGE = ("chunk", "device", "patience")      # when a run goes on

# The trainers load Torch, which takes seconds, so that their options stand here.
SETTINGS = [
    setting("steps", int, "instead of epochs"),
    setting("epochs", float, "passes over the examples"),
    setting("batch_size", int, "examples per step, over all processes"),
    setting("learning_rate", float, "the highest"),
    setting("pooling", str, "cls, last, first-last, …"),
    setting("dropout", float, "share of units left out while learning"),
    setting("max_length", int, "tokens read of a text while learning"),
    setting("evaluate_every", int, "steps between two scores on the dev pairs"),
    setting("patience", int, "scores without a better one before it stops"),
    setting("chunk", int, "examples read at a time, to save memory"),
    setting("precision", str, "float32 or bfloat16"),
    setting("device", str, "auto, cpu or cuda"),
    setting("seed", int, "decides every draw"),
]


def simcse(*, supervised: Annotated[bool, option("learn from triplets", "--supervised")] = False,
           **run: Any) -> None:
    """Train by contrast: a sentence and itself under other dropout, or premises with what follows
    from them and what contradicts them.
    """
    _train("supervised simcse" if supervised else "simcse", {}, **run)


def sbert(*, objective: Annotated[str, option("softmax, cosine or triplet")] = "softmax",
          **run: Any) -> None:
    """Train a Siamese network on labelled pairs, graded pairs or triplets."""
    check_choice("objective", objective, ("softmax", "cosine", "triplet"))
    _train("sbert" if objective == "softmax" else f"sbert {objective}", {}, **run)


def cosent(*, steepness: Annotated[float | None, unset("λ of the loss, the inverse of a "
                                                       "temperature")] = None, **run: Any) -> None:
    """Train the order of cosines on graded pairs."""
    _train("cosent", {} if steepness is None else {"scale": steepness}, **run)


def distil(*, teacher: Annotated[str, option("encoder whose vectors are learned, as --encoder "
                                             "names one")] = "minilm", **run: Any) -> None:
    """Teach an encoder the vectors of another, of sentences without labels."""
    _train("distil", {}, teacher=teacher, **run)


def _train(
    method: str, own: dict[str, Any], *, teacher: str | None = None,
    sources: Annotated[list[str] | None, typer.Argument(
                           help="datasets by name, text files with a sentence per line, or tables; "
                           "default: the scale's", metavar="DATA…", show_default=False)] = None,
    out: Out,
    scale: Annotated[str, option("smoke (seconds), laptop (minutes) or paper (the published "
                                 "settings; wants a GPU)")] = "laptop",
    encoder: Annotated[str, option("to begin with: lesson-bert, bag (of words and n-grams), "
                                   "lesson-bert-random, bag-random, minilm, the folder of a model, "
                                   "or its name on the hub")] = "lesson-bert",
    dev: Annotated[str | None, unset("graded pairs to watch by, a dataset or a table, or none; "
                                     "default: the scale's")] = None,
    resume: Resume = False,
    checkpoint_minutes: Annotated[float, option("between two states of the run on disk")] = 5.0,
    **given: Any,
) -> None:
    """Learn, or go on; write the folder; say what came of it. ``own``: settings of other names."""
    from ..contrastive import CoSent, Distil, SBert, SimCse

    began, leader = time.monotonic(), int(os.environ.get("RANK", "0")) == 0
    check_choice("scale", scale, DATA)
    check_float("checkpoint_minutes", checkpoint_minutes, low=0.0)
    _check_folder(out, resume)
    kind = {"simcse": SimCse, "supervised simcse": SimCse, "cosent": CoSent,
            "distil": Distil}.get(method, SBert)
    given = own | given
    trainer = (unchanged(kind.load(out), given, out, free=MAY_CHANGE) if resume else
               _new(kind, method, given, scale=scale, encoder=encoder))
    trainer.set_params(progress=True)
    trainer._check_settings()                     # before data is read, which may take minutes
    data = CONVERTERS[method](records(
        sources or [_here(DATA[scale][method], FREE[method], method, leader)]))
    if teacher:
        data, first = _taught(data, teacher, out)
        if encoder == "bag" and not resume:       # begins with what the teacher says of words
            trainer.set_params(encoder=first())
    dev = dev or _here(DEV[scale], "course-sts", "watching", leader)
    pairs, keep = dev_pairs(dev), _Keeper(out, 60 * checkpoint_minutes, leader)
    # When one of several processes has gone, torchrun tells the others to end; they first write
    # what there is, and say why.
    with asked_to_stop() if int(os.environ.get("WORLD_SIZE", "1")) > 1 else nullcontext():
        try:
            (trainer.resume if resume else trainer.fit)(data, pairs, on_note=keep)
        except KeyboardInterrupt:
            if not hasattr(trainer, "encoder_"):
                raise Stopped("stopped before anything was learned; run the same command "
                              "again") from None
            raise Stopped(f"stopped after step {trainer.n_steps_:,}; what was learned is in {out}. "
                          "Go on: the same command with --resume") from None
        finally:
            keep.now(trainer)
    if leader:
        print(_said(trainer, out, dev, time.monotonic() - began))


def _here(wanted: str, free: str, what: str, leader: bool) -> str:
    """The dataset that the scale means, or, where it is not on this machine, a smaller one that
    comes with the course, and a word about it.
    """
    from ..datasets import load

    try:
        load(wanted)
    except DataMissing:
        if leader:
            print(f"{wanted} is not here, so {free}, which comes with the course, is used for "
                  f"{what}. For better vectors: lessons data get {wanted}", file=sys.stderr)
        return free
    return wanted


def _taught(texts: list[str], teacher: str, out: Path) -> tuple[Any, Callable[[], Any]]:
    """Sentences with the teacher's vectors, which stay in the folder; and what makes its bag."""
    from ..contextual import load_encoder
    from ..contrastive import bag_for

    knows = load_encoder(teacher)
    vectors = knows.encode_to(out / "teacher.npy", texts, progress=True)
    return (texts, vectors), lambda: bag_for(knows, vectors)


def _check_folder(out: Path, resume: bool) -> None:
    """Look at all that can be wrong with the folder before minutes are spent."""
    from ..contrastive.trainer import another_model, holds_run

    there = holds_run(out)
    if there and not resume:
        raise ValueError(f"{out} holds a run already; --resume goes on with it, another --out "
                         "begins anew")
    if resume and not there:
        raise ValueError(f"{out} holds no run to go on with; leave --resume out to begin")
    if other := another_model(out):
        raise FileExistsError(f"{out} holds a model already ({other}), which training would "
                              "write over; choose another --out")
    with atomic_open(out / "can-be-written") as file:
        file.write("yes")
    (out / "can-be-written").unlink(missing_ok=True)  # another process may have been faster


def _new(kind: Any, method: str, given: dict[str, Any], *, scale: str, encoder: str) -> Any:
    """A trainer with the settings of the scale, and those that were asked for."""
    from ..contextual import load_encoder
    from ..contrastive import trainable_bag
    from ..contrastive.recipes import recipe
    from ..core import torch_device

    device = given.get("device", "auto")
    loaded = (trainable_bag(random=encoder == "bag-random") if encoder in BAGS else
              load_encoder(encoder, device=device, precision="float32"))
    settings = recipe(method, scale, loaded)
    if torch_device(device).type == "cpu":        # half precision is for a GPU
        settings["precision"] = "float32"
    if "steps" in settings and "epochs" in given and "steps" not in given:
        settings.pop("steps")
    return kind(loaded, **settings | given)


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
    score = "" if history.kept == "last" else (
        f"; Spearman x 100 on the dev pairs of {dev}: {100 * history.dev[0]:.1f} before, "
        f"{100 * history.dev[history.best]:.1f} after step {history.step[history.best]:,}")
    kind = type(trainer).__name__
    on = "" if dev in ("none", "course-sts") or Path(dev).exists() else f" --on {dev}"
    return (f"{out}: {trainer.n_steps_:,} steps{score}, {seconds:.0f} s\n{_against(trainer)}"
            f"Measure: lessons evaluate {out}{on}\nUse: "
            f"ll.contextual.load_encoder({str(out)!r}), or with its history "
            f"ll.contrastive.{kind}.load({str(out)!r})")


def _against(trainer: Any) -> str:
    """How many negatives a row has really seen, whatever the processes and the chunks."""
    if (seen := getattr(trainer, "_negatives", None)) is None:
        return ""
    low, high = seen
    many = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"Each row was set against {many} negatives, those of all processes together\n"


SHARED = [*parameters_of(_train, without=("method", "own", "teacher")), *SETTINGS]
SIMCSE = [
    setting("temperature", float, "of the softmax over a batch"),
    setting("views", str, "dropout, same dropout or none"),
    setting("head", str, "mlp or none"),
    setting("mask_equal", bool, "equal texts are no negatives", "--mask-equal"),
]
COMMANDS = {"simcse": with_settings(simcse, [*SIMCSE, *SHARED]),
            "sbert": with_settings(sbert, [setting("margin", float, "of triplet"), *SHARED]),
            "cosent": with_settings(cosent, SHARED),
            "distil": with_settings(distil, [setting("relations", float, "weight of the cosines "
                                                     "between sentences"), *SHARED])}
