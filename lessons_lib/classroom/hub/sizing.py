"""What machine a class needs: measured, not guessed. One student's server with two large lessons
open, watched while they run.

`measure` starts a server as a hub does, opens lessons side by side, runs them one after the other
and leaves them open, as students do. Its figures lie in ``data/benchmarks/hub.json``; `room_for`
makes the rule from them.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...core import PROJECT, DamagedFile, device_report, read_json, write_json
from ...lesson.course import Course, chosen_scale
from ...publish.execute import PeakMemory, kernel_environment

__all__ = ["LESSONS", "Measured", "Room", "measure", "measured", "room_for", "rule_of",
           "write_measured"]

RECORD = PROJECT / "data" / "benchmarks" / "hub.json"
# the largest that a student leaves open: trained vectors, and a BERT that learns
LESSONS = ("word2vec", "simcse")
HUB_GB = 1.0                                      # for the hub itself, its proxy and the system
CORES = 0.5                                       # for each student: most of a lesson is reading
SPARE = 1.25  # a student's own cells come on top of the lesson's
CELL_SECONDS = 600
OPTIONS = ("--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0",
           "--LabApp.extension_manager=readonly",
           "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")


@dataclass(frozen=True)
class Measured:
    """Memory of one student's server in MB (10^6 bytes, resident, all its processes): without a
    lesson, after each lesson with those before it still open, while it ran, and with all open.
    """

    server_mb: float
    after_mb: dict[str, float]
    peak_mb: dict[str, float]
    together_mb: float
    scale: str
    date: str
    system: str

    def in_order(self) -> list[tuple[str, float, float]]:
        """Lesson, ``after_mb`` and ``peak_mb``, as they were opened: what stays open only adds."""
        return sorted(((lesson, after, self.peak_mb[lesson])
                       for lesson, after in self.after_mb.items()), key=lambda row: row[1])

    @property
    def largest_mb(self) -> float:
        """A server with the largest of the lessons alone."""
        levels = [self.server_mb, *(after for _, after, _ in self.in_order())]
        return self.server_mb + max(after - before for before, after in itertools.pairwise(levels))


@dataclass(frozen=True)
class Room:
    """What a class needs: ``limit_gb`` for each student; of the machine ``memory_gb`` where all
    lessons stay open, ``one_gb`` where everybody has one open at a time, and ``cores``.
    """

    students: int
    limit_gb: float
    memory_gb: float
    one_gb: float
    cores: int


def measured(path: Path = RECORD) -> Measured:
    """The committed measurement. Raises FileNotFoundError, or DamagedFile where it is none."""
    try:
        return Measured(**read_json(path))
    except TypeError:
        raise DamagedFile(f"{path.name} is no measurement of a hub; make it again: python -m "
                          "lessons_lib hub measure --keep") from None


def write_measured(found: Measured, path: Path = RECORD) -> Path:
    """Keep a measurement."""
    write_json(path, asdict(found))
    return path


def room_for(students: int, found: Measured) -> Room:
    """The machine for a class. A quarter more than the peak is the limit of each student; who
    reaches it needs it alone.

    >>> first, peak = {"word2vec": 600, "simcse": 1400}, {"word2vec": 900, "simcse": 1500}
    >>> found = Measured(100, first, peak, 1400, "laptop", "", "")
    >>> room_for(30, found)
    Room(students=30, limit_gb=2.0, memory_gb=43.0, one_gb=28.0, cores=15)
    """
    limit = math.ceil(2 * SPARE * max(found.peak_mb.values()) / 1000) / 2
    memory, one = (float(math.ceil(HUB_GB + max(limit, students * each / 1000)))
                   for each in (found.together_mb, found.largest_mb))
    return Room(students, limit, memory, one, math.ceil(CORES * students))


def rule_of(students: int, found: Measured) -> list[str]:
    """How `room_for` comes to its numbers, and which of them are guesses."""
    room, peak = room_for(students, found), max(found.peak_mb.values())
    return [f"limit of each student: {SPARE:g} x {peak:,.0f} MB, the most that was measured, up to "
            f"the next half GB = {room.limit_gb:g} GB",
            f"memory: {HUB_GB:g} GB for the hub and the system + {students} x "
            f"{found.together_mb:,.0f} MB with all lessons open, measured, or {students} x "
            f"{found.largest_mb:,.0f} MB with the largest one; up to the next GB, and never less "
            "than one limit",
            f"cores: {students} x {CORES:g}, up to the next whole; a rule of thumb, not measured: "
            "most of a lesson is reading"]


def measure(lessons: Sequence[str] = LESSONS, *, scale: str | None = None,
            on_step: Callable[[str], None] | None = None) -> Measured:
    """Open lessons in one server, run each whole, and watch the memory. Minutes at laptop scale.

    Parameters: lessons, ids; scale of the lessons; on_step, told what comes next. Raises
    RuntimeError when a cell of a lesson fails.
    """
    tell, scale = on_step or (lambda text: None), chosen_scale(scale)
    cards = [Course().card(lesson) for lesson in lessons]
    after, peak = {}, {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, _server(
            Path(folder), scale) as server:
        alone = server.resident_mb()
        for card in cards:
            tell(f"{card.stem} at {scale} scale")
            with PeakMemory(server.pid) as watch:
                server.run(card.notebook)
            after[card.id], peak[card.id] = round(server.resident_mb()), round(watch.peak / 1e6)
        together = server.resident_mb()
    return Measured(round(alone), after, peak, round(together), scale,
                    datetime.now(UTC).date().isoformat(), device_report().system)


class _Server:
    """A running Jupyter server, asked by its own interface."""

    def __init__(self, pid: int, runtime: Path, token: str) -> None:
        info = json.loads(next(runtime.glob("jpserver-*.json")).read_text("utf-8"))
        self.pid, self._runtime, self._url, self._token = pid, runtime, info["url"], token

    def ask(self, path: str, body: Any = None) -> Any:
        """What the server answers to a question, or to a thing to make."""
        request = urllib.request.Request(
            f"{self._url}api/{path}", data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self._token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def resident_mb(self) -> float:
        """Memory of the server and its kernels now."""
        import psutil

        root = psutil.Process(self.pid)
        return sum(process.memory_info().rss
                   for process in (root, *root.children(recursive=True))) / 1e6

    def run(self, notebook: Path) -> None:
        """Open a notebook with a kernel of its own, run its cells, and leave it open."""
        import nbformat
        from jupyter_client import BlockingKernelClient

        session = self.ask("sessions", {"path": notebook.name, "name": notebook.name,
                                        "type": "notebook", "kernel": {"name": "python3"}})
        file = self._runtime / f"kernel-{session['kernel']['id']}.json"
        client = BlockingKernelClient(connection_file=str(file))
        client.load_connection_file()
        # a kernel of a busy machine answers late, and a heartbeat would call it dead after a second
        client.start_channels(hb=False)
        try:
            client.wait_for_ready(timeout=CELL_SECONDS)
            cells = [cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"]
            for number, cell in enumerate(cells, start=1):
                said = client.execute(cell.source, reply=True, timeout=CELL_SECONDS)["content"]
                if said["status"] != "ok":
                    raise RuntimeError(f"{notebook.name}, cell {number}: {said.get('ename')}: "
                                       f"{said.get('evalue')}")
        finally:
            client.stop_channels()


@contextmanager
def _server(folder: Path, scale: str) -> Iterator[_Server]:
    """A Jupyter server like that of a student, with folders of its own."""
    own = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
                                                         "JUPYTER_RUNTIME_DIR", "LESSONS_OUTPUT",
                                                         "LESSONS_LEADERBOARD")}
    token, runtime = secrets.token_hex(16), folder / "jupyter_runtime_dir"
    own |= {"JUPYTER_TOKEN": token}
    # runs nothing but the course's own cells
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *OPTIONS, f"--ServerApp.root_dir={folder}", *root],
        cwd=folder, env=kernel_environment(scale, folder / "ipython", extra=own),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + CELL_SECONDS
        server = None
        while server is None and time.monotonic() < until and process.poll() is None:
            try:
                starting = _Server(process.pid, runtime, token)
                starting.ask("status")
                server = starting
            except (StopIteration, json.JSONDecodeError, urllib.error.URLError, OSError):
                time.sleep(0.5)
        if server is None:
            raise RuntimeError("the Jupyter server to be measured did not start; try: python -m "
                               "jupyterlab")
        yield server
    finally:
        process.terminate()                       # it ends its kernels, too
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()                        # kernels end when nobody is left who started them
