"""Pages on paper: Chromium, without a window or a network, prints finished pages to PDF."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...core import BackendUnavailable, ProgramFailed

__all__ = ["BROWSERS", "chromium_command", "find_chromium", "print_missing", "print_pages"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
            "msedge", "microsoft-edge")
# Where these systems install a browser, which is on no path there.
PLACES = {"darwin": ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
                     "/Applications/Chromium.app/Contents/MacOS/Chromium",
                     "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"),
          "win32": (r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
                    r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
                    r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
                    r"%ProgramFiles%\Microsoft\Edge\Application\msedge.exe")}
SECONDS = 180
FORMULAS = 30_000  # milliseconds of the page's own clock, for formulas and figures
# whatever the browser does on its own, no name is looked up
NO_NAMES = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"


def find_chromium() -> str | None:
    """The browser: ``LESSONS_BROWSER``, else on the path, else where the system keeps it."""
    if named := os.environ.get("LESSONS_BROWSER"):
        return shutil.which(named)
    places = map(os.path.expandvars, PLACES.get(sys.platform, ()))
    return next(filter(None, map(shutil.which, (*BROWSERS, *places))), None)


def print_missing() -> str | None:
    """Why nothing can be printed here, and what to do; None where there is a browser."""
    if find_chromium() is not None:
        return None
    named = os.environ.get("LESSONS_BROWSER")
    why = (f"LESSONS_BROWSER={named!r} is no program" if named
           else f"none of {', '.join(BROWSERS)} is on the path")
    return (f"no browser to print with: {why}. Install one, or set LESSONS_BROWSER to its program; "
            "the site itself needs none")


def chromium_command(profile: str | os.PathLike, *options: str) -> list[str]:
    """The browser without a window, a past (``profile`` is a new folder) or a network."""
    command = [str(find_chromium()), "--headless", "--disable-gpu", "--no-first-run",
               "--disable-background-networking", NO_NAMES, f"--user-data-dir={profile}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Chromium refuses its sandbox to the administrator, as whom containers run
        command.append("--no-sandbox")
    return [*command, *options]


def print_pages(pages: Sequence[Path], folder: Path) -> list[Path]:
    """Print HTML files to PDF files of the same names in a folder, and give their paths.

    Raises BackendUnavailable where no browser is found, ProgramFailed with its last words when it
    prints nothing.
    """
    if reason := print_missing():
        raise BackendUnavailable(reason)
    folder.mkdir(parents=True, exist_ok=True)
    printed = []
    for page in pages:
        target = folder / f"{page.stem}.pdf"
        target.unlink(missing_ok=True)            # a former one must not stand for this one
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            command = chromium_command(
                profile, "--no-pdf-header-footer", f"--virtual-time-budget={FORMULAS}",
                f"--print-to-pdf={target.resolve()}", page.resolve().as_uri())
            try:
                said = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                      timeout=SECONDS).stderr
            except subprocess.TimeoutExpired:
                said = f"it was not done after {SECONDS} seconds"
        if not target.is_file():
            raise ProgramFailed(f"{Path(command[0]).name} printed no {target.name}: {said[-500:]}")
        printed.append(target)
    return printed
