"""The run of a trainer in the folder of its encoder, from which training goes on.

``run-a`` and ``run-b`` are written in turn, so that the state before the last is still there when
the last one is damaged; a finished run keeps one. Used by `trainer`.
"""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from ..core import DamagedFile, load_model, read_json, save_model, warn_data

__all__ = ["check_folder", "holds_run", "newest_run", "save_run"]

RUNS = ("run-a", "run-b")


def holds_run(folder: str | os.PathLike) -> bool:
    """Whether a folder holds a trainer, of whatever kind."""
    return any((Path(folder) / name / "model.json").is_file() for name in RUNS)


def check_folder(folder: Path) -> None:
    """Raise FileExistsError for a folder with somebody else's model."""
    there = [name for name in ("model.safetensors", "config.json") if (folder / name).exists()]
    if there and not holds_run(folder):
        raise FileExistsError(f"{folder} holds a model already ({there[0]}), which would be "
                              "written over; choose another folder")


def save_run(folder: Path, kind: str, *, settings: dict[str, Any], arrays: dict[str, np.ndarray],
             extra: dict[str, Any]) -> None:
    """Write a state over the older one; ``extra["finished"]``, whether the other one goes."""
    numbers = {name: _number(folder / name) for name in RUNS}
    older, newer = sorted(RUNS, key=lambda name: numbers[name])
    save_model(folder / older, kind, settings=settings, arrays=arrays,
               extra=extra | {"number": numbers[newer] + 1})
    if extra["finished"]:
        shutil.rmtree(folder / newer, ignore_errors=True)


def newest_run(folder: Path,
               kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Settings, arrays and the rest of the newest sound state.

    A damaged one is left aside with one DataWarning. Raises DamagedFile where no state is sound, or
    there is none of this kind.
    """
    if not holds_run(folder):
        raise DamagedFile(f"{folder} is not a saved {kind}: neither {RUNS[0]} nor {RUNS[1]} holds "
                          "a run. An encoder alone is read by ll.contextual.load_encoder")
    damaged: list[tuple[float, str]] = []
    sound = []
    for name in RUNS:
        if (folder / name / "model.json").is_file():
            try:
                sound.append(load_model(folder / name, kind))
            except DamagedFile as error:
                damaged.append((_number(folder / name) or math.inf, str(error)))
    if not sound:
        raise DamagedFile(f"{folder} holds no sound run. {' '.join(text for _, text in damaged)}")
    newest = max(sound, key=lambda state: state[2]["number"])
    for number, text in damaged:
        if number > newest[2]["number"]:
            warn_data(f"{text}. The state before it is used: step "
                      f"{newest[2]['record']['step']:,}", stacklevel=4)
    return newest


def _number(folder: Path) -> int:
    """The number of a state, counted from 1; 0 where there is none that can be read."""
    try:
        return int(read_json(folder / "model.json")["extra"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
