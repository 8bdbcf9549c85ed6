"""``lessons lab``, ``site``, ``slides``: the course in JupyterLab, as pages, before a class."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..bootstrap import hand_over
from ..core import PROJECT, output_folder, write_json
from .options import argument, option, unset

__all__ = ["find_library", "lab", "site", "slides"]


def find_library() -> None:
    """Tell programs that this process starts where the library is: kernels begin elsewhere."""
    paths = [str(PROJECT), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


# What a reader finds without having asked for it; own settings win over these.
SETTINGS = {"@jupyterlab/apputils-extension:notification":
            {"fetchNews": "false", "checkForUpdates": False},
            "@jupyterlab/docmanager-extension:plugin":
            {"defaultViewers": {"markdown": "Markdown Preview"}}}       # the course's start page
# A first window shows the table of contents of what is open, and no list of files; later ones are
# as the reader left them.
FIRST_WINDOW = {
    "data": {"layout-restorer:data": {
        "left": {"collapsed": False, "visible": True, "current": "@jupyterlab/toc:plugin",
                 "widgets": ["filebrowser", "running-sessions", "@jupyterlab/toc:plugin",
                             "extensionmanager.main-view"]},
        "relativeSizes": [0.22, 0.78, 0]}},
    "metadata": {"id": "default"}}


def _jupyterlab(*arguments: str) -> None:
    find_library()
    raise typer.Exit(hand_over([sys.executable, "-m", "jupyterlab", *arguments]))


def _make_plain(folder: Path) -> str:
    """Give JupyterLab the course's settings, from a folder that nothing else uses; an option for
    it.
    """
    from ..lesson.dark import give_dark_pictures

    write_json(folder / "labconfig" / "default_setting_overrides.json", SETTINGS)
    paths = [str(folder), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    return give_dark_pictures(folder / "labextensions")


def _left_open(windows: Path) -> bool:
    """Whether a reader left notebooks open, which JupyterLab opens again; makes a first window
    where there is none.
    """
    from jupyterlab_server.workspaces_handler import WorkspacesManager

    manager = WorkspacesManager(str(windows))
    try:
        kept = manager.load("default")["data"]
        if kept:
            return any(name.startswith("notebook:") for name in kept)
    except (OSError, ValueError, TypeError, KeyError):
        pass                                     # damaged; JupyterLab would not open it either
    manager.save("default", json.dumps(FIRST_WINDOW))
    return False


def lab(context: typer.Context) -> None:
    """Open JupyterLab at your copy of a lesson (default: where you left off; at first a page of all
    lessons), or at a notebook such as `run` keeps of a lesson that stopped.

    The page, `work/course.md`, says at each start which checks have passed and where to go on. Your
    copies are in `work/`, which git does not see: what you write there stays when the course
    is updated. To begin a lesson anew, delete its copy. JupyterLab listens on this machine only and
    keeps its token.
    """
    from ..classroom.start_page import write_start_page
    from ..lesson import copies
    from ..lesson.course import Course

    named = bool(context.args) and not context.args[0].startswith("-")
    lesson, options = (context.args[0], context.args[1:]) if named else ("start_here", context.args)
    notebook, work = Path(lesson).absolute(), copies.WORK
    options = ["--ServerApp.ip=127.0.0.1", _make_plain(work / copies.COURSE_FOLDER), *options]
    if notebook.suffix == ".ipynb" and notebook.is_file():
        _jupyterlab(str(notebook), *options)
    notebook = work / Course().card(lesson).notebook.name
    done = copies.renew_copies(Course().notebooks, work)
    if "copied" in done.values():
        print(f"Your copies of the lessons: {work}")
    for name, what in done.items():
        if what != "copied":
            print(f"{name}: {what}")
    windows = work / copies.COURSE_FOLDER / "workspaces"
    start_page = write_start_page(Course(), work)
    place = [str(notebook if named or start_page is None else start_page)]
    if _left_open(windows) and not named:
        place = [f"--ServerApp.root_dir={work}"]
    _jupyterlab(*place, f"--LabApp.workspaces_dir={windows}", *options)


def site(
    out: Annotated[Path | None, unset("a new or empty folder, or one made before; default: site in "
                                      "your output folder")] = None,
    pdf: Annotated[bool, option("print each lesson to PDF too, by an installed Chromium, Chrome or "
                                "Edge", "--pdf")] = False,
) -> None:
    """Make the course a static site from the committed notebooks: it opens without a kernel and
    without a network.
    """
    from ..publish.web import build_site

    made = build_site(out or output_folder() / "site", pdf=pdf)
    print(f"{made.pages} pages, {made.megabytes:.0f} MB, {made.seconds:.0f} s: open "
          f"{made.folder / 'index.html'}")
    if made.printed:
        print(f"{len(made.printed)} PDF files in {made.printed[0].parent}")
    for problem in made.problems:
        print(f"  {problem}")
    if made.problems:
        raise typer.Exit(1)


def slides(
    ids: Annotated[list[str] | None, argument("lessons, such as one_hot; default: all")] = None,
    out: Annotated[Path | None, unset("a new or empty folder, or one made before; default: slides "
                                      "in your output folder")] = None,
    live: Annotated[bool, option("open the first deck in JupyterLab, to run its cells",
                                 "--live")] = False,
) -> None:
    """Make slides of lessons: pages that open anywhere, and notebooks for jupyterlab-slideshow."""
    from ..lesson.course import Course
    from ..publish.web import build_slides

    folder = (out or output_folder() / "slides").absolute()
    counts = build_slides(ids, folder)
    for name, count in counts.items():
        print(f"{name}: {count} slides")
    print(f"open {folder / 'index.html'}; to run cells in class: python -m lessons_lib slides "
          "LESSON --live, then Start Deck")
    if live:
        notebook, decks = Course().card(next(iter(counts))).notebook.name, folder / "live"
        # jupyterlab-slideshow keeps in the settings that a deck is shown, also after its tab is
        # closed: in settings of its own it changes no lesson that is opened later
        _jupyterlab(str(decks / notebook), "--ServerApp.ip=127.0.0.1",
                    f"--ServerApp.root_dir={decks}",
                    f"--LabApp.user_settings_dir={decks}/.settings",
                    f"--LabApp.workspaces_dir={decks}/.workspaces")
