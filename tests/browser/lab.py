"""Servers for the tests in a browser, and a watch on every address they try to reach."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from lessons_lib.core import PROJECT
from lessons_lib.lesson.course import Course
from lessons_lib.lesson.threads import thread_environment

WATCH = Path(__file__).with_name("watch")
# CI may run as root; the course's own commands never say this
AS_ROOT = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
PATIENCE = 240  # seconds for a server to start on a busy machine; four on a quiet one
# the question about news covers the page
QUIET = {"@jupyterlab/apputils-extension/notification.jupyterlab-settings":
         {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}}


def free_port(following: int = 0) -> int:
    """A port that nobody listens on, nor on the ``following`` ones after it."""
    while True:
        with contextlib.ExitStack() as probes, contextlib.suppress(OSError, OverflowError):
            first = probes.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            for k in range(1, following + 1):
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port + k))
            return port


def private_environment(folder: Path, **more: str) -> dict[str, str]:
    """The variables of a server at smoke scale that knows nothing of this user."""
    own = {name: str(folder / name.lower())
           for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR",
                        "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR",
                        "LESSONS_CACHE", "LESSONS_OUTPUT")}
    for file, settings in QUIET.items():
        path = Path(own["JUPYTERLAB_SETTINGS_DIR"], file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), "utf-8")
    kept = ({k: v
             for k, v in os.environ.items() if not k.startswith(("LESSONS_", "JUPYTER", "PYTEST"))})
    path = os.pathsep.join([str(WATCH), str(PROJECT),
                            *filter(None, [os.environ.get("PYTHONPATH")])])
    return (kept | own | thread_environment() | {"LESSONS_SCALE": "smoke", "LESSONS_NO_VENV": "1",
                                                 "PYTHONPATH": path, "TQDM_DISABLE": "1",
                                                 "LESSONS_TEST_CALLS": str(folder / "calls.txt"),
                                                 "PYDEVD_DISABLE_FILE_VALIDATION": "1"} | more)


class Server:
    """A process that serves ``url``, with the log of what it said and a list of its calls."""

    def __init__(self, command: Sequence[str], folder: Path, *, url: str, ready: str,
                 environment: Mapping[str, str]) -> None:
        self.folder, self.url, self._ready = folder, url, ready
        with open(folder / "log.txt", "wb") as log:
            self._process = subprocess.Popen(command, cwd=folder, env=dict(environment),
                                             stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=subprocess.STDOUT, start_new_session=True)

    @property
    def pid(self) -> int:
        """The process that was started."""
        return self._process.pid

    def log(self) -> str:
        """The end of what the server said."""
        return (self.folder / "log.txt").read_text("utf-8", "replace")[-4000:]

    def calls(self) -> list[str]:
        """Addresses outside this machine that the server or a kernel tried to reach."""
        path = self.folder / "calls.txt"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def wait(self) -> None:
        """Come back once it answers. Raises RuntimeError with its last words where it does not."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with urllib.request.urlopen(self._ready, timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.3)
        raise RuntimeError(f"the server did not come up: {self.log()}")

    def stop(self) -> None:
        """End it and all that it started, at once: a hub takes ten seconds to do it in order."""
        import psutil

        try:
            family = [psutil.Process(self.pid), *psutil.Process(self.pid).children(recursive=True)]
        except psutil.NoSuchProcess:
            family = []
        for process in family:  # the server first, for it would start its kernels or its proxy anew
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family, timeout=10)
        self._process.wait(10)


class Lab(Server):
    """JupyterLab with copies of lessons, each a page of its own; see `address`."""

    def __init__(self, folder: Path, lessons: Sequence[str]) -> None:
        notebooks = folder / "notebooks"
        notebooks.mkdir()
        for lesson in lessons:
            shutil.copy(Course().card(lesson).notebook, notebooks)
        port, self._token = free_port(), secrets.token_hex(16)
        url = f"http://127.0.0.1:{port}"
        options = ["--no-browser", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
                   "--ServerApp.port_retries=0", "--expose-app-in-browser",
                   f"--ServerApp.root_dir={notebooks}", "--LabApp.extension_manager=readonly",
                   "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", *AS_ROOT]
        super().__init__([sys.executable, "-m", "jupyterlab", *options], folder, url=url,
                         ready=f"{url}/api/status?token={self._token}",
                         environment=private_environment(folder, JUPYTER_TOKEN=self._token))

    def address(self, lesson: str) -> str:
        """Where a lesson opens in a workspace of its own."""
        return self._opened(lesson, Course().card(lesson).notebook.name)

    def address_of(self, notebook: Any, name: str) -> str:
        """Where a notebook that is no lesson opens, which is put beside the lessons."""
        path = self.folder / "notebooks" / f"{name}.ipynb"
        path.write_text(nbformat.writes(notebook), "utf-8")
        return self._opened(name, path.name)

    def _opened(self, workspace: str, file: str) -> str:
        return f"{self.url}/lab/workspaces/{workspace}/tree/{file}?reset&token={self._token}"
