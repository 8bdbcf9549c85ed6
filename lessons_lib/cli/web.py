"""``lessons lab``, ``site``, ``slides``: the course in JupyterLab, as pages, before a class."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..bootstrap import hand_over
from ..core import PROJECT, output_folder
from .options import argument, option, unset

__all__ = ["find_library", "lab", "site", "slides"]


def find_library() -> None:
    """Tell programs that this process starts where the library is: kernels begin elsewhere."""
    paths = [str(PROJECT), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def _jupyterlab(notebook: Path, *options: str) -> None:
    find_library()
    raise typer.Exit(hand_over([sys.executable, "-m", "jupyterlab", str(notebook),
                                "--ServerApp.ip=127.0.0.1", *options]))


def lab(context: typer.Context) -> None:
    """Open JupyterLab at a lesson (default: start_here), or at a notebook such as `run` keeps of a
    lesson that stopped.

    It listens on this machine only and keeps its token.
    """
    from ..lesson.course import Course

    named = bool(context.args) and not context.args[0].startswith("-")
    lesson, options = (context.args[0], context.args[1:]) if named else ("start_here", context.args)
    notebook = Path(lesson).absolute()
    if notebook.suffix != ".ipynb" or not notebook.is_file():
        notebook = Course().card(lesson).notebook
    os.chdir(PROJECT)
    inside = notebook.is_relative_to(PROJECT)
    _jupyterlab(notebook.relative_to(PROJECT) if inside else notebook, *options)


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
        notebook = Course().card(next(iter(counts))).notebook.name
        _jupyterlab(folder / "live" / notebook, f"--ServerApp.root_dir={folder / 'live'}")
