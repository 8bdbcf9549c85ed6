"""Many entries one after the other: what is recorded already is not measured again, and an entry that cannot be measured costs only itself.

A record counts when it was made at this scale with these settings, this seed and today's claims. Used by ``lessons reproduce --all``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from ..core import DamagedFile, check_choice, check_seed
from .entry import SCALES, Entry, drawn, folder_of, run
from .headline import headline
from .recorded import Record, read_record
from .settings import settings_of
from .trained import forget

__all__ = ["Finished", "kept_record", "run_each"]


@dataclass(frozen=True)
class Finished:
    """How an entry ended: ``state`` "measured", "recorded" (before, not measured again) or "failed"; its ``record``, None where it failed; the
    ``folder``; ``error``, in one line; ``seconds``."""

    entry: Entry
    state: str
    record: Record | None
    folder: Path
    error: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it was measured, and every claim that fails has a reason."""
        return self.record is not None and (not self.record.failed or bool(self.entry.why))

    def lines(self) -> tuple[str, str, str]:
        """Printed numbers, measured ones and the verdict, each short."""
        if self.record is None:
            return "", "", "FAILED"
        printed, measured = headline(self.entry, self.record)
        return printed, measured, self.record.verdict


def kept_record(entry: Entry, scale: str, seed: int, folder: Path, settings: Mapping) -> Record | None:
    """The record that a run with these settings would only repeat, drawn again where its picture is gone; None where there is none."""
    file = folder / f"{entry.id}.json"
    try:
        record = read_record(file) if file.is_file() else None
    except DamagedFile:
        return None
    if record is None or record.misfit(entry, scale=scale, settings=settings, seed=seed):
        return None
    if record.picture is None:
        drawn(entry, record.measured, record.settings, folder)
        record = read_record(file)
    return record


def run_each(wanted: Sequence[Entry], *, scale: str = "laptop", seed: int = 0, folder: Path | None = None, given: Mapping[str, str] | None = None,
             skip: bool = True, again: bool = False, on_start: Callable[[Entry], None] | None = None) -> Iterator[Finished]:
    """Measure entries one after the other, and say of each at once how it ended.

    Parameters: wanted; scale; seed; folder, None for each entry's own (`folder_of`); given, settings in words, as `settings_of`; skip, leave out what
    is recorded already; again, do not, and forget finished trainings, too; on_start, called before each is measured. Raises ValueError (a scale, a
    seed, a setting) and OSError (a folder that cannot be written) before anything is measured; KeyboardInterrupt passes, and what was finished is on
    disk.
    """
    check_choice("scale", scale, SCALES)
    check_seed(seed)
    plans = [(entry, settings_of(entry, scale, given or {})) for entry in wanted]
    places = [folder_of(entry, scale, settings) if folder is None else Path(folder) for entry, settings in plans]
    for place in dict.fromkeys(places):
        _check_writable(place)
    if again:
        for name in dict.fromkeys(name for entry in wanted for name in (entry.id, _module_of(entry))):
            forget(name)
    return _runs(plans, places, scale, seed, skip and not again, on_start=on_start)


def _module_of(entry: Entry) -> str:
    """The module that measures an entry, under whose name entries keep trainings that they share."""
    return getattr(entry.measure, "func", entry.measure).__module__.rpartition(".")[2]


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(error.errno, f"cannot write into {folder}: {error.strerror}; nothing was measured. --out names another folder") from error


def _runs(plans: Sequence[tuple[Entry, Mapping]], places: Sequence[Path], scale: str, seed: int, skip: bool, *,
          on_start: Callable[[Entry], None] | None) -> Iterator[Finished]:
    for (entry, settings), place in zip(plans, places, strict=True):
        began = monotonic()
        try:
            kept = kept_record(entry, scale, seed, place, settings) if skip else None
            if kept is not None:
                yield Finished(entry, "recorded", kept, place)
                continue
            if on_start is not None:
                on_start(entry)
            run(entry, scale=scale, seed=seed, folder=place, settings=settings)
            finished = Finished(entry, "measured", read_record(place / f"{entry.id}.json"), place, seconds=monotonic() - began)
        except Exception as error:                   # whatever it is: the others are measured all the same, and this one is in the table
            text = str(error).strip().splitlines()
            finished = Finished(entry, "failed", None, place, f"{type(error).__name__}: {text[0] if text else ''}"[:300], monotonic() - began)
        yield finished
