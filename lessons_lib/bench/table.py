"""The measured rows as files: ``data/benchmarks/<device kind>.csv`` for people and lessons, with a JSON beside it that names the machine.

A new run of a group replaces the rows of that group and leaves the others. Used by ``lessons bench``; lessons read with `read`.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import platform
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from ..core import PROJECT, device_report, write_json, write_text
from .measure import Row

__all__ = ["read", "write"]

FOLDER = PROJECT / "data" / "benchmarks"
_FIELDS = [field.name for field in dataclasses.fields(Row)]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def read(kind: str = "cpu", *, folder: Path = FOLDER) -> list[dict[str, str]]:
    """The committed rows of one kind of device ("cpu" or "gpu"), as texts by column; empty when nothing was measured."""
    path = folder / f"{kind}.csv"
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) if path.exists() else []


def write(rows: Sequence[Row], *, kind: str = "cpu", folder: Path = FOLDER) -> Path:
    """Put rows into the table of one kind of device; rows of other groups stay. Returns the path of the table."""
    report = device_report()
    stamp = {"date": date.today().isoformat(), "device": _processor(), "cores": report.cores}
    fresh = [{k: "" if v is None else str(v) for k, v in (dataclasses.asdict(row) | stamp).items()} for row in rows]
    groups = {row["group"] for row in fresh}
    kept = [row for row in read(kind, folder=folder) if row["group"] not in groups]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*_FIELDS, *stamp], lineterminator="\n")
    writer.writeheader()
    writer.writerows([*kept, *fresh])
    write_text(folder / f"{kind}.csv", text.getvalue())
    machine = {"system": report.system, "python": report.python, "memory_gb": report.memory_gb, "versions": report.versions}
    write_json(folder / f"{kind}.json", stamp | machine)
    return folder / f"{kind}.csv"
