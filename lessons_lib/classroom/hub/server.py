"""What starts in place of a student's server: lay out the home, set the limits, become JupyterHub's
single-user server.

The home gets ``lessons/``, a copy of the notebooks that is the student's own: what is there stays
as it is, what is new is added. Folders beside the lessons, assignments, are handed out in the same
way. ``course`` leads to the originals, which nobody can change. Run as ``python -m
lessons_lib.classroom.hub.server``; all settings come from the environment.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

__all__ = ["lay_out", "limit"]

NOTICES = (
    ".jupyter/lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings")


def lay_out(home: Path, course: Path) -> list[str]:
    """Copy to ``home/lessons`` the notebooks of the course and of assignments that are not there
    yet, and return their names; link ``home/course`` to the originals.
    """
    lessons, link = home / "lessons", home / "course"
    lessons.mkdir(parents=True, exist_ok=True)
    paths = [path for pattern in ("[0-9][0-9]_*.ipynb", "glossary.ipynb", "[!.]*/*.ipynb")
             for path in sorted((course / "notebooks").glob(pattern))]
    fresh = [name for path in paths
             if not os.path.lexists(lessons / (name := path.relative_to(course / "notebooks")))]
    for name in fresh:
        (lessons / name).parent.mkdir(exist_ok=True)
        # the text alone: the original's read-only mode stays behind
        shutil.copyfile(course / "notebooks" / name, lessons / name)
    if not link.is_symlink():
        link.symlink_to(course / "notebooks", target_is_directory=True)
    # or the first thing that a student sees is JupyterLab's question about its news
    if not (home / NOTICES).exists():
        (home / NOTICES).parent.mkdir(parents=True, exist_ok=True)
        (home / NOTICES).write_text('{"fetchNews": "false"}\n', "utf-8")
    return [name.as_posix() for name in fresh]


def limit(memory: int | None, file: int | None) -> None:
    """Let no process of this server hold more than ``memory`` bytes or write a file longer than
    ``file``: Python raises MemoryError or OSError.

    Where containers set limits, there is nothing to do; Windows and macOS have no such limit of
    memory.
    """
    import resource

    if memory and sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    if file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))


def _number(variable: str) -> int | None:
    return int(os.environ[variable]) if os.environ.get(variable) else None


def main() -> None:
    """Become the server. The rest of the command line is JupyterHub's."""
    home, course = Path.home(), Path(os.environ["LESSONS_COURSE"])
    lay_out(home, course)
    limit(_number("LESSONS_HUB_MEMORY"), _number("LESSONS_HUB_FILE"))
    os.environ.setdefault("LESSONS_OUTPUT", str(home / "output"))
    os.chdir(home)
    os.execv(sys.executable, [sys.executable, "-m", "jupyterhub.singleuser", *sys.argv[1:]])


if __name__ == "__main__":
    main()
