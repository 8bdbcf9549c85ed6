"""The measured rows as files: ``data/benchmarks/<device kind>.csv`` for people and lessons, with a
JSON beside it that names the machine.

A new run of a group replaces the rows of that group and leaves the others; each row is kept as soon
as it is measured. Groups of the GPU have a table of their own.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import platform
import subprocess
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from ..core import PROJECT, checked_path, device_report, write_json, write_text
from .measure import Row

FOLDER = PROJECT / "data" / "benchmarks"
PACKAGES = {"cpu": ("torch", "numpy", "scipy", "scikit-learn", "numba", "gensim", "transformers"),
            "gpu": ("torch", "triton", "numpy", "pykeops", "faiss-gpu", "sentence-transformers",
                    "inf-cl")}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _gpu() -> dict[str, str]:
    """Name and driver of the first GPU; empty texts where there is none."""
    import torch
    if not torch.cuda.is_available():
        return {"device": "", "driver": ""}
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    driver = told.split("\n")[0].strip() or "unknown"
    return {"device": torch.cuda.get_device_name(0), "driver": driver}


def read(kind: str = "cpu", *, folder: Path = FOLDER) -> list[dict[str, str]]:
    """Read the committed rows of one kind of device.

    Parameters
    ----------
    kind : {"cpu", "gpu"}, default "cpu"
    folder : Path, default ``data/benchmarks``

    Returns
    -------
    list of dict, texts by column; empty when nothing was measured
    """
    path = checked_path(folder, "folder") / f"{kind}.csv"
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) if path.exists() else []


def write(rows: Sequence[Row], *, kind: str = "cpu", folder: Path = FOLDER,
          whole: bool = True) -> Path:
    """Put rows into the table of one kind of device.

    Parameters
    ----------
    rows : sequence of Row
    kind : {"cpu", "gpu"}, default "cpu"
    folder : Path, default ``data/benchmarks``
    whole : bool, default True
        These are all rows of their groups, and older ones go; else only rows of the same case and
        peer are replaced.

    Returns
    -------
    Path, of the table
    """
    report = device_report(packages=PACKAGES[kind])
    gpu = _gpu() if kind == "gpu" else {}
    stamp = {"date": date.today().isoformat(), "device": gpu.get("device") or _processor(),
             "cores": report.cores}
    fresh = [{column: "" if value is None else str(value)
              for column, value in (dataclasses.asdict(row) | stamp).items()} for row in rows]
    key = ("group",) if whole else ("group", "name", "peer")
    replaced = {tuple(row[c] for c in key) for row in fresh}
    kept = [row for row in read(kind, folder=folder) if tuple(row[c] for c in key) not in replaced]
    text, columns = io.StringIO(), [field.name for field in dataclasses.fields(Row)]
    writer = csv.DictWriter(text, [*columns, *stamp], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows([*kept, *fresh])
    write_text(folder / f"{kind}.csv", text.getvalue())
    machine = {"system": report.system, "python": report.python, "memory_gb": report.memory_gb,
               "versions": report.versions}
    write_json(folder / f"{kind}.json", stamp | gpu | machine)
    return folder / f"{kind}.csv"


def write_by_kind(rows: Sequence[Row], *, folder: Path = FOLDER, whole: bool = True) -> list[Path]:
    """`write` rows where they belong: groups that end in "-gpu" into the table of GPUs.

    Parameters
    ----------
    rows : sequence of Row
    folder, whole : Path, bool, as for `write`

    Returns
    -------
    list of Path, the tables written
    """
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault("gpu" if row.group.endswith("-gpu") else "cpu", []).append(row)
    return [write(rows, kind=kind, folder=folder, whole=whole) for kind, rows in kinds.items()]
