"""What ``lessons doctor`` finds: this machine, the packages, the data and the lessons, each with
what to do where something is missing.

Nothing is changed and nothing is fetched. Used by the command, which lesson ``00_start_here``
names.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from . import bootstrap
from .core import PROJECT, cache_folder, device_report, external_data_folder

__all__ = ["Finding", "findings"]

LAPTOP_GB = 4.0                       # what a lesson at laptop scale may use


@dataclass(frozen=True)
class Finding:
    """One line: ``state`` is "ok", "note" (works, with less) or "missing"; ``remedy`` is a command
    or a sentence, or "".
    """

    state: str
    what: str
    text: str
    remedy: str = ""


def findings() -> list[Finding]:
    """Everything worth knowing, from the machine up to the lessons."""
    return [*_machine(), _kernels(), _packages(), *_data(), _lessons()]


def _machine() -> list[Finding]:
    report = device_report()
    memory = "ok" if report.memory_gb >= LAPTOP_GB else "note"
    gpu = report.accelerator != "none"
    free = shutil.disk_usage(PROJECT).free / 1e9
    return [Finding("ok", "system", f"{report.system}, Python {report.python}, {report.cores} "
                    "cores"), Finding(memory, "memory", f"{report.memory_gb:g} GB",
                                      "" if memory == "ok" else "run lessons with --scale smoke"),
            Finding("ok" if free > 1 else "note", "disk", f"{free:.0f} GB free",
                    "" if free > 1 else "make room: lessons keep about 100 MB"),
            Finding("ok" if gpu else "note", "accelerator",
                    report.accelerator if gpu else "none: every lesson runs on the processor",
                    "" if gpu else "nothing to do; scale `paper` asks for a GPU")]


def _kernels() -> Finding:
    """Which implementations of the kernels can run; the course is whole without a GPU."""
    from .kernels import backends

    rows = {backend.name: backend for backend in backends()}
    triton = rows["triton"]
    text = (f"{', '.join(name for name, row in rows.items() if row.available)} can run; triton: "
            f"{triton.reason}")
    return Finding("ok", "kernels", text) if triton.available else Finding(
        "note", "kernels", text, "nothing to do; results are the same without it")


def _packages() -> Finding:
    unmet = bootstrap.unmet_pins()
    wrong = ", ".join(f"{name} {version.split('+')[0]} (pinned {wanted})"
                      for name, (version, wanted) in unmet.items())
    if not unmet:
        pinned = len(bootstrap.pinned_versions())
        return Finding("ok", "packages", f"all {pinned} pins of environment.yml are met")
    if set(unmet) <= set(bootstrap.OPTIONAL):
        optional = " ".join(f"{name}=={wanted}" for name, (_, wanted) in unmet.items())
        return Finding("note", "packages", "all pins of environment.yml are met, but for optional "
                       f"ones: {wrong}",
                       f"pip install --no-deps {optional}; lessons run without them")
    return Finding("missing", "packages", wrong, "remove .venv, then: python -m "
                                                            "lessons_lib doctor")


def _data() -> list[Finding]:
    from .datasets import list_datasets

    rows = list_datasets()
    here = [row.name for row in rows if row.found]
    away = [row.name for row in rows if not row.found]
    folder = external_data_folder()
    lines = [Finding("ok", "data here", ", ".join(here))]
    if away:
        lines.append(Finding("note", "data elsewhere", ", ".join(away), "lessons data get NAME, or "
                             "set LESSONS_DATA; lessons run without them"))
    where = f"LESSONS_DATA = {folder}" if folder else "LESSONS_DATA is not set"
    if folder and not folder.is_dir():
        lines.append(Finding("missing", "data folder", f"{where}, which is no folder",
                             "set LESSONS_DATA to a folder, or unset it"))
    else:
        lines.append(Finding("ok", "data folders", f"{where}; cache: {cache_folder()}"))
    return lines


def _lessons() -> Finding:
    from .lesson.course import Course

    cards = Course().cards()
    built = [card for card in cards if card.notebook.exists()]
    if cards and len(built) == len(cards):
        return Finding("ok", "lessons", f"{len(cards)} lessons, all built", "lessons lab")
    return Finding("missing", "lessons", f"{len(built)} of {len(cards)} lessons are "
                                         "built", "lessons build")
