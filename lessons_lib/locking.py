"""Makes the locks: from the pins of ``environment.yml`` to every exact version of the whole set,
one file per Python version, and one more for each extra set of ``pyproject.toml`` that needs other
versions than the course itself.

``uv`` resolves the pins once for each system that has wheels (Linux on x86-64 and Arm, macOS 14 on
Arm, Windows); the results are merged into one constraints file. Constraints for packages that a
system does not install are ignored by pip, so one file serves all systems.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

from . import bootstrap
from .core import write_text

__all__ = ["EXTRAS", "PYTHONS", "SYSTEMS", "extra_lock", "install_line", "make_locks", "pins_of",
           "resolve"]

PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin",
           "x86_64-pc-windows-msvc")
# extra sets with a lock of their own
EXTRAS = ("classroom", "browser", "hub", "site", "onnx", "mteb", "cards", "dask")
# What torch's CUDA build adds on Linux is chosen by that build, not by the course. (Triton is
# pinned: the kernels need it without a GPU too.)
SKIPPED = re.compile(r"(nvidia-|cuda-|setuptools$)")


def extra_lock(extra: str, version: tuple[int, int] | None = None) -> Path:
    """The lock of the course and an extra set for one Python version (default: this one)."""
    plain = bootstrap.lock_file(version)
    return plain.with_name(f"{extra}_{plain.name}")


def install_line(extra: str) -> str:
    """The line that installs an extra set into this Python, typed in the project's folder."""
    python = bootstrap.venv_python().relative_to(
        bootstrap.ROOT) if bootstrap.in_own_venv() else "python"
    return (f'{python} -m pip install -c '
            f'{extra_lock(extra).relative_to(bootstrap.ROOT).as_posix()} -e ".[{extra}]"')


def pins_of(extra: str | None) -> list[str]:
    """The pins of the course and, where an extra set is named, of that set too."""
    if extra is None:
        return bootstrap.pins()
    text = (bootstrap.ROOT / "pyproject.toml").read_text("utf-8")
    return [*bootstrap.pins(), *tomllib.loads(text)["project"]["optional-dependencies"][extra]]


def _kept(python: str, extra: str | None) -> list[str]:
    """Lines of the course's lock that hold for an extra set: all but what the set pins."""
    if extra is None:
        return []
    own = {re.match(r"[\w.\-]+", line)[0] for line in pins_of(extra)}
    lines = bootstrap.lock_file(tuple(map(int, python.split(".")))).read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#") and line.split("==")[0] not in own]


def resolve(python: str, system: str, extra: str | None = None) -> dict[str, str]:
    """Name -> version of everything the pins, and those of an extra set, need on one Python version
    and system. Raises RuntimeError when it cannot be resolved.
    """
    if shutil.which("uv") is None:
        raise RuntimeError("locks are resolved by uv, which is not installed: pip install uv")
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "pins.txt")
        wanted.write_text("\n".join(pins_of(extra)) + "\n", "utf-8")
        kept = Path(folder, "kept.txt")
        kept.write_text("\n".join(_kept(python, extra)) + "\n", "utf-8")
        command = ["uv", "pip", "compile", str(wanted), "--constraint", str(kept),
                   "--quiet", "--no-header", "--no-annotate", "--python-version", python,
                   "--python-platform", system, "--no-config"]
        done = subprocess.run(command, capture_output=True, text=True,
                              env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"})
    if done.returncode != 0:
        raise RuntimeError(f"uv found no set for Python {python} on "
                           f"{system}:\n{done.stderr[-2000:]}")
    return dict(re.findall(r"^([\w.\-]+)==([^\s;+]+)", done.stdout, re.M))


def make_locks() -> list[Path]:
    """Write one lock per Python version, and per extra set, and return their paths. A package whose
    version differs between systems raises RuntimeError.
    """
    written = []
    for python, extra in itertools.product(PYTHONS, (None, *EXTRAS)):
        merged: dict[str, str] = {}
        for system in SYSTEMS:
            for name, version in resolve(python, system, extra).items():
                if merged.setdefault(name, version) != version:
                    raise RuntimeError(f"{name} is {merged[name]} elsewhere and {version} on "
                                       f"{system}; pin it in environment.yml")
        lines = [f"{name}=={version}"
                 for name, version in sorted(merged.items()) if not SKIPPED.match(name)]
        number = tuple(map(int, python.split(".")))
        path = extra_lock(extra, number) if extra else bootstrap.lock_file(number)
        source = f"environment.yml and the extra set {extra!r}" if extra else "environment.yml"
        header = (f"# Made by `lessons lock` from {source} for Python {python}. Constraints, not "
                  "requirements.")
        write_text(path, "\n".join([header, *lines]) + "\n")
        written.append(path)
    return written
