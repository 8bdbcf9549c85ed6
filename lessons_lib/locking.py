"""Makes the locks: from the pins of ``environment.yml`` to every exact version of the whole set, one file per Python version.

``uv`` resolves the pins once for each system that has wheels (Linux on x86-64 and Arm, macOS 14 on Arm, Windows); the results are merged into one
constraints file. Constraints for packages that a system does not install are ignored by pip, so one file serves all systems.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import bootstrap
from .core import write_text

__all__ = ["PYTHONS", "SYSTEMS", "make_locks", "resolve"]

PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")
# What torch's CUDA build adds on Linux is chosen by that build, not by the course. (Triton is pinned: the kernels need it without a GPU too.)
SKIPPED = re.compile(r"(nvidia-|cuda-|setuptools$)")


def resolve(python: str, system: str) -> dict[str, str]:
    """Name -> version of everything the pins need on one Python version and system. Raises RuntimeError when it cannot be resolved."""
    if shutil.which("uv") is None:
        raise RuntimeError("locks are resolved by uv, which is not installed: pip install uv")
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "pins.txt")
        wanted.write_text("\n".join(bootstrap.pins()) + "\n", "utf-8")
        command = ["uv", "pip", "compile", str(wanted), "--quiet", "--no-header", "--no-annotate", "--python-version", python,
                   "--python-platform", system, "--no-config"]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"})
    if done.returncode != 0:
        raise RuntimeError(f"uv found no set for Python {python} on {system}:\n{done.stderr[-2000:]}")
    return dict(re.findall(r"^([\w.\-]+)==([^\s;+]+)", done.stdout, re.M))


def make_locks() -> list[Path]:
    """Write one lock per Python version and return their paths. A package whose version differs between systems raises RuntimeError."""
    written = []
    for python in PYTHONS:
        merged: dict[str, str] = {}
        for system in SYSTEMS:
            for name, version in resolve(python, system).items():
                if merged.setdefault(name, version) != version:
                    raise RuntimeError(f"{name} is {merged[name]} elsewhere and {version} on {system}; pin it in environment.yml")
        lines = [f"{name}=={version}" for name, version in sorted(merged.items()) if not SKIPPED.match(name)]
        path = bootstrap.lock_file(tuple(map(int, python.split("."))))
        header = f"# Made by `lessons lock` from environment.yml for Python {python}. Constraints, not requirements."
        write_text(path, "\n".join([header, *lines]) + "\n")
        written.append(path)
    return written
