"""A class at once: every student of a hub runs lesson 04 whole, on a server of its own, in the same
minutes. Nobody's kernel is killed and no cell fails.

Two students at smoke scale; ``LESSONS_STUDENTS=8 LESSONS_HUB_SCALE=laptop`` is the class that the
hub's page tells of. Without a browser: what a page of JupyterLab sends, this sends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from lessons_lib.classroom.hub import Hub, hub_missing, write_hub
from lessons_lib.lesson.course import Course

from .lab import AS_ROOT, PATIENCE, Server, free_port, private_environment

STUDENTS = int(os.environ.get("LESSONS_STUDENTS", "2"))
SCALE = os.environ.get("LESSONS_HUB_SCALE", "smoke")
LIMIT_GB, TOKEN, LESSON = 3.0, uuid.uuid4().hex, "topic_models"
CELL_SECONDS = 600
# this test asks the hub as a service that may start and use everybody's server
FOR_THE_TEST = f"""
c.Spawner.args = [*c.Spawner.args, *{AS_ROOT}]
c.JupyterHub.services = [*c.JupyterHub.services, {{"name": "load", "api_token": "{TOKEN}"}}]
c.JupyterHub.load_roles = [*c.JupyterHub.load_roles, {{"name": "load", "services": ["load"],
                           "scopes": ["admin:servers", "access:servers", "read:users"]}}]
"""
HEADERS = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}


class Class:
    """A hub that runs, with its students."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.names = folder / "class", [f"s{n}" for n in range(STUDENTS)]
        port = free_port(2)
        write_hub(Hub(tuple(self.names), port=port, scale=SCALE, memory_gb=LIMIT_GB), self.folder)
        with open(self.folder / "jupyterhub_config.py", "a", encoding="utf-8") as config:
            config.write(FOR_THE_TEST)
        url = f"http://127.0.0.1:{port}"
        self.server = Server([sys.executable, "-m", "jupyterhub", "-f",
                              str(self.folder / "jupyterhub_config.py")], folder, url=url,
                             ready=f"{url}/hub/health", environment=private_environment(folder))

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """What hub or server answers."""
        request = urllib.request.Request(
            f"{self.server.url}/{path}", headers=HEADERS, method=method,
            data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or "null")

    def start(self) -> None:
        """Start everybody's server, and come back when all are up."""
        for name in self.names:
            self.ask(f"hub/api/users/{name}/server", {}, "POST")
        until = time.monotonic() + PATIENCE
        for name in self.names:
            while not self.ask(f"hub/api/users/{name}").get("server"):
                assert time.monotonic() < until, self.server.log()
                time.sleep(0.5)

    def processes(self) -> dict[str, list[psutil.Process]]:
        """The server of each student with its kernels."""
        family: dict[str, list[psutil.Process]] = {name: [] for name in self.names}
        for server in psutil.Process(self.server.pid).children():
            with contextlib.suppress(psutil.Error):
                if (name := server.environ().get("USER")) in family:
                    family[name] = [server, *server.children(recursive=True)]
        return family


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Class]:
    """A hub for some students on this machine, all servers up."""
    if reason := hub_missing():
        pytest.skip(reason)
    made = Class(tmp_path)
    try:
        made.server.wait()
        made.start()
        yield made
    finally:
        made.server.stop()
        for path in (made.folder / "course", *(made.folder / "course").rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


async def run_lesson(hub: Class, name: str, notebook: str, cells: list[str]) -> float:
    """Run the cells of a lesson in a student's server, as its page does. Returns the seconds."""
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    began = time.monotonic()
    session = await asyncio.to_thread(hub.ask, f"user/{name}/api/sessions", {
        "path": f"lessons/{notebook}", "name": notebook, "type": "notebook",
        "kernel": {"name": "python3"}}, "POST")
    address = hub.server.url.replace("http", "ws")
    connection = await websocket_connect(HTTPRequest(
        f"{address}/user/{name}/api/kernels/{session['kernel']['id']}/channels", headers=HEADERS,
        request_timeout=CELL_SECONDS), max_message_size=1 << 28)
    for number, source in enumerate(cells):
        asked = uuid.uuid4().hex
        await connection.write_message(json.dumps({
            "header": {"msg_id": asked, "msg_type": "execute_request", "username": name,
                       "session": session["id"], "version": "5.3"},
            "parent_header": {}, "metadata": {}, "channel": "shell", "buffers": [],
            "content": {"code": source, "silent": False, "store_history": True,
                        "allow_stdin": False, "stop_on_error": True, "user_expressions": {}}}))
        async with asyncio.timeout(CELL_SECONDS):
            while True:
                read = await connection.read_message()
                assert read is not None, f"{name}, cell {number}: the kernel is gone"
                said = json.loads(read) if isinstance(read, str) else {}
                if (said.get("msg_type") == "execute_reply"
                        and said["parent_header"].get("msg_id") == asked):
                    break
                assert said.get("content", {}).get("execution_state") not in (
                    "restarting", "dead"), f"{name}, cell {number}: the kernel was killed"
        reply = said["content"]
        assert reply["status"] == "ok", f"{name}, cell {number}: {reply.get('evalue')}"
    connection.close()
    return time.monotonic() - began


async def together(hub: Class, notebook: str, cells: list[str]) -> tuple[list[float],
                                                                         dict[str, float]]:
    """Everybody's seconds, and the most memory that each server with its kernel took, in GB."""
    most = dict.fromkeys(hub.names, 0.0)

    async def watch() -> None:
        while True:
            for name, family in (await asyncio.to_thread(hub.processes)).items():
                resident = 0
                for process in family:
                    with contextlib.suppress(psutil.Error):
                        resident += process.memory_info().rss
                most[name] = max(most[name], resident / 1e9)
            await asyncio.sleep(1)

    watching = asyncio.create_task(watch())
    try:
        return await asyncio.gather(*(run_lesson(hub, name, notebook, cells)
                                      for name in hub.names)), most
    finally:
        watching.cancel()


@pytest.mark.slow
def test_a_class_runs_lesson_04_at_once_and_nobody_s_kernel_is_killed(hub):
    card = Course().card(LESSON)
    cells = [cell.source for cell in nbformat.read(card.notebook, 4).cells
             if cell.cell_type == "code"]
    servers = {name: family[0].pid for name, family in hub.processes().items()}
    seconds, most = asyncio.run(together(hub, card.notebook.name, cells))
    print(f"{STUDENTS} students at {SCALE} scale: {min(seconds):.0f} to {max(seconds):.0f} s, "
          f"{min(most.values()):.2f} to {max(most.values()):.2f} GB each, "
          f"{sum(most.values()):.1f} GB together")
    assert {name: family[0].pid for name, family in hub.processes().items()} == servers
    for name, family in hub.processes().items():
        assert 0 < most[name] < 2 * LIMIT_GB, "a server and a kernel, each with its limit"
        if sys.platform == "linux":
            assert len(family) > 1 and all(process.rlimit(psutil.RLIMIT_DATA)[0] == LIMIT_GB * 1e9
                                           for process in family)
