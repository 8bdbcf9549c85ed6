"""A class of two in a real browser: own passwords, own servers, lesson 01 at smoke scale."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from lessons_lib.classroom.hub import Hub, hub_missing, write_hub

from .lab import AS_ROOT, WATCH, Server, free_port, private_environment
from .pages import PATIENCE, LessonPage

FOR_THE_TEST = """
import os
c.Spawner.args = [*c.Spawner.args, "--LabApp.expose_app_in_browser=True", *{as_root}]
path = os.pathsep.join(["{watch}", c.Spawner.environment["PYTHONPATH"]])
c.Spawner.environment = c.Spawner.environment | {{"PYTHONPATH": path}}
c.Spawner.env_keep = ["LESSONS_TEST_CALLS", "JUPYTERLAB_SETTINGS_DIR"]
"""
LIMIT_GB = 3.0


class Class:
    """A hub that runs, and the passwords of its students."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder / "class"
        self.passwords = write_hub(Hub(("anna", "bo"), port=port, scale="smoke",
                                       memory_gb=LIMIT_GB), self.folder)
        with open(self.folder / "jupyterhub_config.py", "a", encoding="utf-8") as config:
            config.write(FOR_THE_TEST.format(as_root=AS_ROOT, watch=WATCH))
        url = f"http://127.0.0.1:{port}"
        self.server = Server([sys.executable, "-m", "jupyterhub", "-f",
                              str(self.folder / "jupyterhub_config.py")], folder, url=url,
                             ready=f"{url}/hub/health", environment=private_environment(folder))

    def log_in(self, page: Any, name: str, password: str) -> None:
        """Fill in the form of the first page."""
        page.goto(f"{self.server.url}/hub/login", timeout=PATIENCE)
        page.fill("#username_input", name)
        page.fill("#password_input", password)
        page.click("#login_submit")

    def server_of(self, name: str) -> psutil.Process:
        """The process of a student's server."""
        (found,) = ([process for process in psutil.Process(self.server.pid).children()
                     if process.environ().get("USER") == name])
        return found


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Class]:
    """A hub for Anna and Bo on this machine."""
    if reason := hub_missing():
        pytest.skip(reason)
    made = Class(tmp_path, free_port(2))
    try:
        made.server.wait()
        yield made
    finally:
        made.server.stop()
        for path in (made.folder / "course", *(made.folder / "course").rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


def turned_away(page: Any, hub: Class) -> None:
    """Try other passwords than the right one, and find no server started."""
    for name, password in (("anna", hub.passwords["bo"]), ("eve", hub.passwords["bo"]), ("anna",
                                                                                         "")):
        hub.log_in(page, name, password)
        page.wait_for_selector("p.login_error")
        assert "/hub/login" in page.url
    assert not (hub.folder / "homes").exists()


@pytest.mark.slow
def test_two_students_run_lesson_01_on_servers_of_their_own_and_a_wrong_password_opens_nothing(
        browser, context, hub, pictures):
    turned_away(context.new_page(), hub)
    pages = {}
    for name in ("anna", "bo"):
        window = browser.new_context(viewport={"width": 1280, "height": 900})
        window.set_default_timeout(PATIENCE)
        page = window.new_page()
        hub.log_in(page, name, hub.passwords[name])
        page.wait_for_url(f"**/user/{name}/lab/tree/lessons/00_start_here.ipynb*")
        pages[name] = LessonPage(
            page,
            f"{hub.server.url}/user/{name}/lab/workspaces/one/tree/lessons/01_one_hot.ipynb?reset")
        pages[name].start_all()
    for name, lesson in pages.items():
        lesson.finish()
        lesson.keep_screenshot(pictures, f"hub_{name}")
        assert (hub.folder / "homes" / name / "lessons" /
                "01_one_hot.ipynb").stat().st_mode & stat.S_IWUSR
        assert (hub.folder / "homes" / name / "output" / "figures").is_dir()
        server = hub.server_of(name)
        if sys.platform == "linux":              # elsewhere no process has such a limit
            assert all(process.rlimit(psutil.RLIMIT_DATA)[0] == LIMIT_GB * 1e9
                       for process in (server, *server.children(recursive=True)))
    answer = pages["anna"].page.goto(f"{hub.server.url}/user/bo/lab")
    assert answer.status in (403, 404), "Anna has no business on Bo's server"
    assert hub.server.calls() == []
