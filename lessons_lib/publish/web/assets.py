"""The scripts that pages need, taken from installed packages, so that a page opens without a
network: plotly, MathJax and reveal.js.

plotly comes with the course. The others, and Sphinx, are an extra set: ``site`` in pyproject.toml,
with a lock of its own.
"""

from __future__ import annotations

import shutil
from importlib import metadata
from pathlib import Path

from ...core import BackendUnavailable
from ...locking import install_line

__all__ = ["THEME", "check_installed", "check_out", "copy_scripts", "keep", "site_missing"]

THEME = Path(__file__).with_name("theme")  # what we wrote ourselves: settings, styles, one script
MARK = ".made-by-lessons"
PACKAGES = ("sphinx", "myst-nb", "sphinx-book-theme", "sphinx-mathjax-offline", "sphinx-revealjs",
            "jupyterlab-slideshow")
# Package and file there; the page finds it by its name alone. MathJax that draws SVG is one file:
# its letters are inside. The one for pages is half as large, and looks for its fonts below itself.
MATHJAX = "sphinx-mathjax-offline/static/mathjax"
FONTS = "output/chtml/fonts/woff-v2"
SCRIPTS = {"plotly": [("plotly", "plotly/package_data/plotly.min.js")],
           "mathjax": [("sphinx-mathjax-offline", f"{MATHJAX}/tex-chtml.js")],
           "mathjax-svg": [("sphinx-mathjax-offline", f"{MATHJAX}/tex-svg.js")],
           "reveal": [("sphinx-revealjs", f"sphinx_revealjs/_static/revealjs/{name}")
                      for name in ("dist/reset.css", "dist/reveal.css", "dist/reveal.js",
                                   "plugin/notes/notes.js")]}


def site_missing() -> str | None:
    """Why no site and no slides can be made here, and what to do; None where all is installed."""
    missing = []
    for package in PACKAGES:
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            missing.append(package)
    if not missing:
        return None
    return (f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed: "
            f"{install_line('site')}")


def check_installed() -> None:
    """Raise BackendUnavailable, with the command that helps, without the extra set."""
    if reason := site_missing():
        raise BackendUnavailable(reason)


def copy_scripts(folder: Path, *names: str) -> None:
    """Copy the scripts of these names, keys of ``SCRIPTS``, into a folder, flat; the fonts of
    "mathjax" into one in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for package, file in (pair for name in names for pair in SCRIPTS[name]):
        shutil.copy(metadata.distribution(package).locate_file(file), folder)
    if "mathjax" in names:
        fonts = metadata.distribution("sphinx-mathjax-offline").locate_file(f"{MATHJAX}/{FONTS}")
        shutil.copytree(fonts, folder / FONTS)


def check_out(out: Path, what: str) -> None:
    """Raise ValueError where ``out`` is a file or holds what ``lessons <what>`` did not make."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"out={str(out)!r} is a file; expected a folder")
    mark = out / MARK
    made = mark.is_file() and mark.read_text("utf-8") == f"lessons {what}\n"
    if not made and out.is_dir() and any(out.iterdir()):
        raise ValueError(f"out={str(out)!r} holds other files; expected a new or empty folder, or "
                         f"one that `lessons {what}` made")


def keep(made: Path, out: Path, what: str) -> None:
    """Move a finished folder to the place of an earlier one. Raises as `check_out`."""
    check_out(out, what)
    (made / MARK).write_text(f"lessons {what}\n", "utf-8")
    if out.exists():
        shutil.rmtree(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made, out)
