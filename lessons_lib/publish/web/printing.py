"""Pages on paper: Chromium, or a browser made from it, prints finished pages to PDF without a window and without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...core import BackendUnavailable

__all__ = ["BROWSERS", "find_chromium", "print_pages"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
SECONDS = 180
FORMULAS = 30_000                                 # milliseconds of the page's own clock, for formulas and figures


def find_chromium() -> str | None:
    """The program of an installed Chromium, Chrome or Edge: what ``LESSONS_BROWSER`` names, else the first on the path; None where there is none."""
    return os.environ.get("LESSONS_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)


def print_pages(pages: Sequence[Path], folder: Path) -> list[Path]:
    """Print HTML files to PDF files of the same names in a folder, and give their paths.

    Raises BackendUnavailable where no browser is found, RuntimeError with its last words when it prints nothing.
    """
    browser = find_chromium()
    if browser is None:
        raise BackendUnavailable(f"no browser to print with: none of {', '.join(BROWSERS)} is on the path. Install one, or set LESSONS_BROWSER "
                                 "to its program; the site itself needs none")
    folder.mkdir(parents=True, exist_ok=True)
    return [_printed(browser, page, folder / f"{page.stem}.pdf") for page in pages]


def _printed(browser: str, page: Path, target: Path) -> Path:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer", "--disable-background-networking",
                   f"--user-data-dir={profile}", f"--virtual-time-budget={FORMULAS}", f"--print-to-pdf={target.resolve()}",
                   page.resolve().as_uri()]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")         # Chromium refuses its sandbox to the administrator, as whom containers run
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if not target.is_file():
        raise RuntimeError(f"{Path(browser).name} printed no {target.name}: {done.stderr[-500:]}")
    return target
