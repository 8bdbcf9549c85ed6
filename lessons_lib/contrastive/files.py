"""A trainer in a folder: the encoder as any program reads it, and beside it the run, from which
training goes on.

``run-a`` and ``run-b`` are written in turn, so that the state before the last is still there when
the last one is damaged; a finished run keeps one, without the optimizer. Used by `trainer`.
"""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from ..contextual import ContextualEncoder, load_encoder
from ..contextual.saved_encoder import save_encoder
from ..core import DamagedFile, existing_path, load_model, read_json, save_model, shown, warn_data
from .history import History
from .reading import Reading

if TYPE_CHECKING:
    from .trainer import Trainer

__all__ = ["holds_run", "load_trainer", "save_trainer"]

RUNS = ("run-a", "run-b")
NO_SETTINGS = ("encoder", "augment")              # of a trainer that are no JSON
OF_ENCODER = ("name", "pooling", "layer", "special_tokens", "max_length", "truncation", "normalize",
              "batch_invariant")
T = TypeVar("T", bound="Trainer")


def holds_run(folder: str | os.PathLike) -> bool:
    """Whether a folder holds a trainer, of whatever kind."""
    return any((Path(folder) / name / "model.json").is_file() for name in RUNS)


def save_trainer(trainer: Trainer, path: str | os.PathLike) -> None:
    """Write the encoder, then the run.

    Raises FileExistsError for a folder with somebody else's model, OSError.
    """
    folder = Path(path)
    if not holds_run(folder) and (other := next(
        (name for name in ("model.safetensors", "config.json") if (folder / name).exists()), None)):
        raise FileExistsError(f"{folder} holds a model already ({other}), which would be written "
                              "over; choose another folder")
    trainer._check_same_settings()
    history, arrays, noted = trainer.history_, *trainer._state
    save_encoder(folder, trainer.encoder_, card=_card(trainer, history))
    if trainer._finished:                         # what is left to do with it needs no optimizer
        arrays = ({
            name: array for name, array in arrays.items() if name.startswith("model.objective.")
        })
    numbers = {name: _number(folder / name) for name in RUNS}
    older = min(RUNS, key=lambda name: numbers[name])
    settings = {
        name: _plain(value)
        for name, value in trainer.get_params().items()
        if name not in NO_SETTINGS
    }
    extra = {
        "number": max(numbers.values()) + 1, "record": noted, "text": trainer._text,
        "finished": trainer._finished, "kept": history.kept, "augmented": getattr(
            trainer, "augment", None) is not None, "classes": list(getattr(trainer, "classes_",
                                                                           ())),
        "encoder": _settings(trainer.encoder), "trained": _settings(trainer.encoder_)
    }
    save_model(folder / older,
               type(trainer).__name__, settings=settings, arrays=arrays, extra=extra)
    if trainer._finished:
        shutil.rmtree(folder / next(name for name in RUNS if name != older), ignore_errors=True)


def _settings(encoder: ContextualEncoder) -> dict[str, Any]:
    return {name: getattr(encoder, name) for name in OF_ENCODER}


def _plain(value: Any) -> Any:
    """A setting as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _number(folder: Path) -> int:
    """The how-manieth state it is; 0 where there is none that can be read."""
    try:
        return int(read_json(folder / "model.json")["extra"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _card(trainer: Trainer, history: History) -> dict[str, Any]:
    best = float(history.dev[history.best])
    return {
        "name": trainer.name, "method": trainer.words, "steps": trainer.n_steps_,
        "steps of these weights": int(
            history.step[history.best]), "finished": trainer._finished, "seed": trainer.seed
    } | ({} if math.isnan(best) else {"dev spearman": round(best, 4)})


# ------------------------------------------------------------------------------ back


def load_trainer(cls: type[T], path: str | os.PathLike) -> T:
    """The trainer that `save_trainer` wrote.

    Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
    """
    folder = existing_path(path)
    if not holds_run(folder):
        raise DamagedFile(f"{folder} is not a saved {cls.__name__}: neither {RUNS[0]} nor "
                          f"{RUNS[1]} holds a run. An encoder alone is read by "
                          "ll.contextual.load_encoder")
    settings, arrays, extra = _newest(cls, folder)
    try:
        encoder = load_encoder(folder, precision="float32").set_params(
            card=None, **extra["encoder"]).check()
        trainer = cls(
            encoder, **{
                name: float(value) if value in ("inf", "-inf") else value
                for name, value in settings.items()
            })
        trainer._check_settings()
        trainer._fitted, trainer._text, trainer._finished = trainer.get_params(), str(
            extra["text"]), bool(extra["finished"])
        trainer._state, trainer._augmented = (arrays, extra["record"]), bool(extra["augmented"])
        if extra["classes"]:
            trainer.classes_ = tuple(extra["classes"])
        record = extra["record"]
        lines = ([{name: math.nan if v is None else v
                   for name, v in line.items()}
                  for line in record["lines"]])
        trainer.history_, trainer.n_steps_ = History.of(lines, best=record["line"],
                                                        kept=extra["kept"]), record["step"]
        trainer.encoder_ = _trained(trainer, arrays, extra)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, DamagedFile):
            raise
        raise DamagedFile(f"{folder} is a {cls.__name__} that this version cannot read "
                          f"({shown(str(error), 200)}). Save it again") from error
    return trainer


def _newest(cls: type,
            folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """The newest sound state; a damaged one is left aside with one warning."""
    damaged: list[tuple[float, str]] = []
    found = []
    for name in RUNS:
        if not (folder / name / "model.json").is_file():
            continue
        try:
            found.append(load_model(folder / name, cls.__name__))
        except DamagedFile as error:
            damaged.append((_number(folder / name) or math.inf, str(error)))
    if not found:
        raise DamagedFile(f"{folder} holds no sound run. {' '.join(text for _, text in damaged)}")
    newest = max(found, key=lambda one: one[2]["number"])
    for number, text in damaged:
        if number > newest[2]["number"]:
            warn_data(f"{text}. The state before it is used: step "
                      f"{newest[2]['record']['step']:,}", stacklevel=5)
    return newest


def _trained(trainer: Trainer, arrays: dict[str, np.ndarray],
             extra: dict[str, Any]) -> ContextualEncoder:
    """The encoder as it was handed over: of a finished run that of the folder, of another one from
    its own arrays.
    """
    trained = extra["trained"]
    if extra["finished"]:
        return ContextualEncoder(**trainer.encoder.get_params() | trained).check()
    reading = Reading(trainer.encoder)
    prefix = "kept.reading." if extra["kept"] == "dev" else "model.reading."
    reading.load_state_dict({
        name.removeprefix(prefix): torch.from_numpy(np.array(a))
        for name, a in arrays.items()
        if name.startswith(prefix)
    })
    return ContextualEncoder(**reading.encoder().get_params() | trained).check()
