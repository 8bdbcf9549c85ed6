"""Makes the site: sources, Sphinx, then a look at every page that came out.

Sphinx runs in a process of its own and starts no kernel; a warning of it is a problem of the site.
The folder changes only when all is made.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ...core import BackendUnavailable, ProgramFailed, available_cores, write_text
from ...datasets import load
from ...lesson.course import Course
from .assets import THEME, check_installed, check_out, keep
from .pages import page_problems
from .printing import print_missing, print_pages
from .search_index import search_index
from .sources import SENTENCE_PAGE, model_folder, write_sources

__all__ = ["Site", "build_site"]

# What Sphinx and its theme lay beside the pages and no page loads: half of the folder.
UNUSED = ("**/*.map", "locales", "images/logo_*", "scripts/fontawesome.js", "searchtools.js",
          "language_data.js", "vendor/fontawesome/webfonts/fa-brands-400.woff2",
          "vendor/fontawesome/webfonts/fa-regular-400.woff2", "webpack-macros.html")
WARNING = re.compile(r"^(.*?): (WARNING|ERROR|CRITICAL): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Site:
    """What was made: a folder with ``index.html``, what is wrong with it, and printed PDF files."""

    folder: Path
    pages: int
    megabytes: float
    seconds: float
    problems: tuple[str, ...]
    printed: tuple[Path, ...] = ()


def _sphinx(sources: Path, target: Path) -> list[str]:
    """Run Sphinx and return its warnings. Raises ProgramFailed with its last words."""
    command = [
        sys.executable, "-m", "sphinx", "-b", "html", "-c",
        str(THEME), "-D", f"html_static_path={sources / '_static'}", "-d",
        str(target.with_name("doctrees")), "-j",
        str(available_cores()), "-q", "--no-color",
        str(sources),
        str(target)
    ]
    # One order of sets makes the same pages twice; what a package says to its own developers is no
    # problem of the site.
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace",
                          env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore",
                                            "PYTHONUTF8": "1"})
    if done.returncode != 0:
        raise ProgramFailed(f"Sphinx failed: {done.stderr[-2000:]}")
    return [f"{place.removeprefix(str(sources) + os.sep)}: {text}"
            for place, _, text in WARNING.findall(done.stderr)]


def _remove_unused(static: Path) -> None:
    for path in [path for pattern in UNUSED for path in static.glob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def build_site(out: Path, *, course: Course | None = None, pdf: bool = False) -> Site:
    """Make the static site of a course (None: the one here) in a new or empty folder, or in one
    that an earlier call made; ``pdf``: with a PDF of each lesson, which needs Chromium or a
    relative of it.

    Raises ValueError for a folder with other files, BackendUnavailable without the extra set or
    without a browser, DataMissing for a lesson that was never built, ProgramFailed when Sphinx
    fails.
    """
    check_installed()
    check_out(out, "site")
    if pdf and (reason := print_missing()):
        raise BackendUnavailable(reason)          # before a minute of work
    start, course = time.perf_counter(), course or Course()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        sources, made = Path(folder, "sources"), Path(folder, "site")
        write_sources(sources, course)
        warnings = _sphinx(sources, made)
        _remove_unused(made / "_static")
        write_text(made / "_static" / "search_index.js", search_index(made))
        if model := model_folder(course):
            from .sentence_page import sentence_page         # here, not above: it loads torch

            write_text(made / SENTENCE_PAGE, sentence_page(model, load("course-sts")))
        problems = warnings + [str(problem) for problem in page_problems(made)]
        keep(made, out, "site")
    printed = (print_pages([out / "notebooks" / f"{card.stem}.html"
                            for card in course.cards()], out / "pdf") if pdf else [])
    files = [path for path in out.rglob("*") if path.is_file()]
    return Site(out, sum(path.suffix == ".html" for path in files),
                sum(path.stat().st_size for path in files) / 1e6,
                time.perf_counter() - start, tuple(problems), tuple(printed))
