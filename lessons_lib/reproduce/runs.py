"""Running entries, one or many: what is recorded already is not measured again.

A record counts when it was made at this scale with these settings, this seed and today's claims. An
entry that cannot be measured costs only itself. Used by ``lessons reproduce --all``.
"""

from __future__ import annotations

import datetime
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from ..core import DamagedFile, check_choice, check_seed, device_report, read_json, write_json
from ..plots import save
from .entry import FAILS, SCALES, STORED, Entry, Series, called, folder_of, judged
from .recorded import Record, headline, read_record
from .settings import settings_of
from .trained import forget

__all__ = ["Finished", "Outcome", "run", "run_each"]


@dataclass(frozen=True)
class Outcome:
    """What a run found.

    Parameters
    ----------
    id : str
    measured : series
    verdicts : dict of sentence to bool
        Whether each claim holds.
    files : tuple of Path
        The picture and the record.
    judged : dict of sentence to str, default {}
        The verdicts in words: a claim that holds may hold for the control, too, or have none.
    """

    id: str
    measured: Series
    verdicts: Mapping[str, bool]
    files: tuple[Path, ...]
    judged: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(self.verdicts.values())


@dataclass(frozen=True)
class Finished:
    """How an entry ended.

    Parameters
    ----------
    entry : Entry
    state : "measured", "recorded" (before, not measured again) or "failed"
    record : Record or None
        None where it failed.
    folder : Path
    error : str, default ""
        In one line.
    seconds : float, default 0.0
    """

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
        """Printed numbers, measured ones and the verdict, each short.

        Returns
        -------
        printed, measured, verdict : str
        """
        if self.record is None:
            return "", "", "FAILED"
        return *headline(self.entry, self.record), self.record.verdict


def _as_json(series: Series) -> dict[str, list[list[float | None]]]:
    """Series as lists of [x, value]; an infinite value, which JSON lacks, is null."""
    return {name: [[float(x), float(y) if math.isfinite(y) else None] for x, y in points.items()]
            for name, points in series.items()}


def _drawn(entry: Entry, measured: Series, settings: Mapping[str, Any], folder: Path) -> Path:
    """Save the picture as ``<id>.svg`` or .png; its texts name the model that was read."""
    from matplotlib.text import Text
    fig = entry.draw(entry, measured)
    for text in fig.findobj(Text):
        text.set_text(called(text.get_text(), settings))
    picture = save(fig, folder / f"{entry.id}.svg", alt=called(entry.alt, settings))
    # an earlier run with more marks, or fewer, has left the other kind of file
    picture.with_suffix({".svg": ".png", ".png": ".svg"}[picture.suffix]).unlink(missing_ok=True)
    return picture


def run(entry: Entry, *, scale: str = "laptop", seed: int = 0, folder: Path | None = None,
        settings: Mapping[str, Any] | None = None) -> Outcome:
    """Measure an entry and write its picture and its record.

    Parameters
    ----------
    entry : Entry
    scale : "smoke", "laptop" or "paper", default "laptop"
    seed : int, default 0
    folder : Path, default ``figures`` for the laptop's own settings, else the user's output
    settings : dict, default those of the scale

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError : another scale or a wrong seed
    DataMissing : where the entry's data is not here
    OSError

    Notes
    -----
    ``<id>.json`` holds series, printed numbers, verdicts, scale, settings, seed, device and date.
    Each file appears whole or not at all.
    """
    check_choice("scale", scale, SCALES)
    seed = check_seed(seed)
    settings = dict(entry.scales[scale] if settings is None else settings)
    folder = folder_of(entry, scale, settings) if folder is None else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)  # refused before hours of measuring
    measured = entry.measure(settings, seed)
    words = judged(entry.claims, measured)
    numbers = folder / f"{entry.id}.json"
    said = {name: getattr(entry, name) for name in ("id", "paper", "item", "lesson", "setup")}
    series = {"printed": _as_json(entry.printed), "measured": _as_json(measured)}
    made = {"scale": scale, "settings": settings, "seed": seed, "device": asdict(device_report())}
    date = {"date": datetime.date.today().isoformat()}
    write_json(numbers, said | series | _stored(words) | made | date)
    # no picture is worth hours of measuring, so it comes after the numbers
    picture = _drawn(entry, measured, settings, folder)
    verdicts = {text: word != FAILS for text, word in words.items()}
    return Outcome(entry.id, measured, verdicts, (picture, numbers), words)


def _stored(words: Mapping[str, str]) -> dict[str, dict[str, bool | str]]:
    return {"claims": {text: STORED[word] for text, word in words.items()}}


def run_each(wanted: Sequence[Entry], *, scale: str = "laptop", seed: int = 0,
             folder: Path | None = None, given: Mapping[str, str] | None = None, skip: bool = True,
             again: bool = False,
             on_start: Callable[[Entry], None] | None = None) -> Iterator[Finished]:
    """Measure entries one after the other, and say of each at once how it ended.

    Parameters
    ----------
    wanted : list of Entry
    scale : "smoke", "laptop" or "paper", default "laptop"
    seed : int, default 0
    folder : Path, default each entry's own
    given : dict of setting to word
        Settings that differ from those of the scale.
    skip : bool, default True
        Leave out what is recorded already.
    again : bool, default False
        Leave nothing out, and forget finished trainings.
    on_start : function (entry)
        Called before each is measured.

    Returns
    -------
    iterator of Finished

    Raises
    ------
    ValueError : a scale, a seed or a setting, before anything is measured
    OSError : a folder that cannot be written, before anything is measured
    KeyboardInterrupt : What was finished is on disk
    """
    check_choice("scale", scale, SCALES)
    check_seed(seed)
    plans = []
    for entry in wanted:
        settings = settings_of(entry, scale, given or {})
        place = folder_of(entry, scale, settings) if folder is None else Path(folder)
        plans.append((entry, settings, place))
    for place in dict.fromkeys(place for _, _, place in plans):
        _check_writable(place)
    if again:
        for entry in wanted:
            # entries keep trainings that they share under the name of their module
            module = getattr(entry.measure, "func", entry.measure).__module__
            for name in (entry.id, module.rpartition(".")[2]):
                forget(name)
    return _each(plans, scale, seed, skip and not again, on_start)


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(error.errno,
                          f"cannot write into {folder}: {error.strerror}; nothing was measured. "
                          "--out names another folder") from error


def _each(plans: Any, scale: str, seed: int, skip: bool, on_start: Any) -> Iterator[Finished]:
    for entry, settings, place in plans:
        began = monotonic()
        try:
            if skip and (kept := _kept_record(entry, scale, seed, place, settings)) is not None:
                yield Finished(entry, "recorded", kept, place)
                continue
            if on_start is not None:
                on_start(entry)
            run(entry, scale=scale, seed=seed, folder=place, settings=settings)
            state, error = "measured", ""
            record = read_record(place / f"{entry.id}.json")
        except Exception as failure:  # whatever it is: the others are measured all the same
            text = str(failure).strip().splitlines()
            state, record = "failed", None
            error = f"{type(failure).__name__}: {text[0] if text else ''}"[:300]
        yield Finished(entry, state, record, place, error, monotonic() - began)


def _kept_record(entry: Entry, scale: str, seed: int, folder: Path,
                 settings: Mapping[str, Any]) -> Record | None:
    """The record that a run would only repeat, drawn again where its picture is gone and judged
    again where its verdicts, of an earlier version, know no controls."""
    file = folder / f"{entry.id}.json"
    try:
        record = read_record(file) if file.is_file() else None
    except DamagedFile:
        return None
    if record is None or record.misfit(entry, scale=scale, settings=settings, seed=seed):
        return None
    words, drawn = judged(entry.claims, record.measured), record.picture is not None
    if words != record.verdicts:
        write_json(file, read_json(file) | _stored(words))
    if not drawn:
        _drawn(entry, record.measured, record.settings, folder)
    return record if drawn and words == record.verdicts else read_record(file)
