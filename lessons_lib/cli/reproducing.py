"""``lessons reproduce``: figures and tables of papers, measured again, and their gallery."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import PROJECT, DamagedFile, check_choice
from .options import argument, option, unset
from .show import show_table
from .training import Stopped

__all__ = ["reproduce"]

Ids = Annotated[list[str] | None, argument("figures and tables of papers; none: list "
                                                      "them")]
Every = Annotated[bool, option("all of them, except those that are recorded "
                                                   "already", "--all")]
ListThem = Annotated[bool, option("say what there is and what was found", "--list")]
Scale = Annotated[str, option("smoke, laptop or paper")]
Out = Annotated[Path | None, unset("folder; default: figures for the laptop's own "
                                               "settings, else the user's output folder")]
Set = Annotated[list[str] | None,
                typer.Option("--set", metavar="KEY=VALUE",
                             help="a setting of the entries, such as encoder=FOLDER; several times",
                             show_default=False)]
Again = Annotated[bool, option("measure what is recorded already, too, and "
                                                     "train anew", "--again")]
Gallery = Annotated[bool, option("write the page about all records, "
                                                         "README.md of the folder", "--gallery")]


def reproduce(ids: Ids = None, *, every: Every = False, list_them: ListThem = False,
              scale: Scale = "laptop", seed: int = 0, out: Out = None, changes: Set = None,
              again: Again = False, gallery: Gallery = False) -> None:
    """Measure figures and tables of papers again: printed beside measured, with a verdict for each
    claim: it holds, it holds for the control too, or it fails.

    With --all, an entry whose record is of this scale, these settings and this seed is not measured
    again; Ctrl-C keeps what is done, and the same command goes on. An entry that cannot be measured
    costs only itself. The command ends with 1 where one failed, or a claim fails without a reason.
    """
    from ..reproduce import entries
    from ..reproduce.settings import given_settings

    known = entries()
    if list_them or not (ids or every or gallery):
        rows = [[e.id, e.paper, e.item, e.lesson, *_known(e, out or PROJECT / "figures")]
                for e in known.values()]
        show_table("Figures and tables", ["id", "paper", "item", "lesson", "recorded", "claims"],
                   rows)
        return
    if ids and every:
        raise ValueError(f"ids {', '.join(ids)} with --all: name some, or take all")
    wanted = list(known.values()) if every else [known[check_choice("id", name, known)]
                                                 for name in dict.fromkeys(ids or ())]
    results = []
    if wanted:
        results = _measured(wanted, scale=scale, seed=seed, out=out, again=again, skip=every,
                            given=given_settings(changes or (), wanted))
    if gallery:
        from ..publish.gallery import write_gallery

        folders = dict.fromkeys(finished.folder for finished in results)
        for folder in folders or [out or PROJECT / "figures"]:
            print(f"written: {write_gallery(folder)}")
    if not all(finished.ok for finished in results):
        raise typer.Exit(1)


def _measured(wanted: Sequence[Any], *, scale: str, seed: int, out: Path | None, again: bool,
              skip: bool, given: dict[str, str]) -> list[Any]:
    """Run entries with a line for each, and a table of all, also after Ctrl-C."""
    from ..reproduce import run_each

    def begins(entry: Any) -> None:
        print(f"[{len(results) + 1}/{len(wanted)}] {entry.id}: {entry.item} of "
              f"{entry.paper}", file=sys.stderr, flush=True)

    results: list[Any] = []
    runs = run_each(wanted, scale=scale, seed=seed, folder=out, given=given, skip=skip, again=again,
                    on_start=begins)
    try:
        for finished in runs:
            results.append(finished)
            _tell(finished, whole=not skip)
    except KeyboardInterrupt:
        if skip and results:
            _show_end(results, scale)
        kept = "" if skip else " (finished trainings are kept)"
        raise Stopped(f"stopped after {len(results)} of {len(wanted)} entries; what was finished "
                      f"is recorded. Go on: the same command{kept}") from None
    _show_end(results, scale)
    return results


def _tell(finished: Any, *, whole: bool) -> None:
    """One line about an entry; with ``whole`` all its numbers."""
    if finished.state == "failed":
        print(f"FAILED {finished.entry.id}: {finished.error}", file=sys.stderr, flush=True)
    elif whole:
        _show_numbers(finished)
    else:
        what = (f"recorded {finished.record.date}" if finished.state == "recorded"
                else f"{finished.seconds:.0f} s")
        print(f"{finished.entry.id}: {finished.record.verdict} ({what})", file=sys.stderr,
              flush=True)


def _show_numbers(finished: Any) -> None:
    from ..reproduce.entry import called

    entry, record = finished.entry, finished.record
    columns = ["series", "at", "paper", "measured"]
    rows = [[called(series, record.settings), f"{x:g}",
             f"{entry.printed[series][x]:.4g}" if x in entry.printed.get(series, {}) else "",
             f"{y:.4g}"] for series, points in record.measured.items() for x, y in points.items()]
    show_table(f"{entry.item} of {entry.paper}, {record.scale} scale", columns, rows,
               right=tuple(columns[1:]))
    print(*(f"{verdict.upper() if text in record.failed else verdict}: "
            f"{called(text, record.settings)}" for text, verdict in record.verdicts.items()),
          sep="\n")
    print(*filter(None, (record.failed and entry.why and f"why: {entry.why}", entry.setup)),
          f"written: {record.picture}", f"written: {finished.folder / f'{entry.id}.json'}",
          sep="\n")


def _show_end(results: Sequence[Any], scale: str) -> None:
    """The table of all entries: printed, measured, verdict, and why a claim failed."""
    rows = []
    for finished in results:
        printed, measured, verdict = finished.lines()
        why = finished.error or ("" if not finished.record.failed else finished.entry.why
                                 or f"no reason known: {'; '.join(finished.record.failed)}")
        rows.append([finished.entry.id, printed, measured, scale,
                     verdict + (", recorded" if finished.state == "recorded" else ""), why])
    show_table("Printed and measured", ["id", "printed", "measured", "scale", "claims", "why"],
               rows)
    bad = [finished.entry.id for finished in results if not finished.ok]
    states = [finished.state for finished in results]
    print(f"{states.count('measured')} measured, {states.count('recorded')} recorded before, "
          f"{states.count('failed')} failed"
          + (f"; failed, or a claim fails without a reason: {', '.join(bad)}" if bad else ""))


def _known(entry: Any, folder: Path) -> tuple[str, str]:
    """Scale and verdict of an entry's record in a folder."""
    from ..reproduce.recorded import read_record

    file = folder / f"{entry.id}.json"
    if not file.is_file():
        return "no", ""
    try:
        record = read_record(file)
        differs = record.misfit(entry)
        return record.scale, f"of another version ({differs})" if differs else record.verdict
    except DamagedFile:
        return "damaged", ""
