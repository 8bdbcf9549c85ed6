"""Programs that come from npm: the proxy in front of JupyterHub, and the accessibility rules that
the tests hold pages against.

Each set is a folder ``locks/npm/<set>`` whose lock names every package with its checksum. It is
installed beside the packages of this Python, so that it goes when the environment goes, and no
package may run a script while it is installed. Used by ``lessons hub`` and by the tests in a
browser.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .core import PROJECT, BackendUnavailable, ProgramFailed, check_choice

__all__ = ["SETS", "install", "installed", "npm_missing"]

LOCKS = PROJECT / "lessons_lib" / "locks" / "npm"
SETS = ("axe", "hub")
LOCK = "package-lock.json"
MINUTES = 5                                      # for a download; a slow line needs one


def _place(name: str) -> Path:
    return Path(sys.prefix) / "share" / "embeddings-measured" / "npm" / check_choice(
        "name", name, SETS)


def npm_missing(name: str) -> str | None:
    """Why a set is not there, and what to do; None where it is installed as its lock says."""
    place = _place(name)
    if (place / "node_modules").is_dir() and (place / LOCK).read_bytes() == (LOCKS / name /
                                                                             LOCK).read_bytes():
        return None
    if shutil.which("npm") is None:
        return (f"the set {name!r} comes from npm, which is not installed: install Node.js, then: "
                f"lessons npm {name}")
    return f"the set {name!r} of npm is not installed: lessons npm {name}"


def installed(name: str) -> Path:
    """The folder ``node_modules`` of a set. Raises BackendUnavailable where there is none."""
    if reason := npm_missing(name):
        raise BackendUnavailable(reason)
    return _place(name) / "node_modules"


def install(name: str) -> Path:
    """Install a set as its lock says, whole or not at all; at once where it is there already.
    Returns its folder ``node_modules``.

    Raises BackendUnavailable without npm, ProgramFailed with npm's last words when it fails.
    """
    if npm_missing(name) is None:
        return installed(name)
    npm, place = shutil.which("npm"), _place(name)
    if npm is None:
        raise BackendUnavailable(npm_missing(name))
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, ignore_cleanup_errors=True) as folder:
        fresh = Path(folder, name)
        shutil.copytree(LOCKS / name, fresh)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
        done = subprocess.run(command, cwd=fresh, capture_output=True, text=True,
                              timeout=60 * MINUTES)
        if done.returncode != 0:
            raise ProgramFailed(f"npm could not install the set {name!r}: "
                                f"{(done.stderr or done.stdout)[-1000:]}")
        shutil.rmtree(place, ignore_errors=True)
        fresh.rename(place)
    return place / "node_modules"
