"""A folder with everything a hub needs, and what Docker and Kubernetes want to know."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import os
import re
import secrets
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from ...core import PROJECT, BackendUnavailable, atomic_folder, checked_path, existing_path
from ...core.files import writing
from ...lesson.course import Course
from ...locking import extra_lock, install_line, pins_of
from ...npm import npm_missing
from ..assignment import names_in
from .accounts import new_accounts
from .configuring import COURSE, FIRST, INSIDE, environment_of
from .settings import Hub, check_new_names, read_hub
from .sizing import measured

__all__ = ["draw_passwords", "hub_missing", "names_from", "start_command", "update_course",
           "without_password", "write_hub"]

VOLUMES = """\
    extraVolumes:                 # asked for by --models: without this claim no server starts
      - name: models
        persistentVolumeClaim:
          claimName: models
          readOnly: true
    extraVolumeMounts:
      - name: models
        mountPath: {place}
        readOnly: true
"""
FILES = Path(__file__).with_name("files")
# What the course brings, by name: beside it may lie solved notebooks, sets with other owners, and
# whatever else is nobody's business.
BROUGHT = ("notebooks/references.bib", "notebooks/glossary.ipynb", "data/README.md",
           "data/manifest.toml", "data/publishers.toml", "data/leaderboard.json",
           "data/course_*.tsv",
           "data/benchmarks/*.csv", "data/benchmarks/*.json", "data/models/lesson-*/*",
           "data/vectors/*.tsv", "data/vectors/*.json", "data/vectors/*.safetensors",
           "data/vectors/*.xz", "figures/README.md", "figures/*.svg", "figures/*.png",
           "figures/*.json")
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*")
# of the hub, which runs outside the containers
OUTSIDE = ("jupyterhub-idle-culler", "dockerspawner")


def hub_missing() -> str | None:
    """Why no hub can start here, and what to do; None where nothing is missing."""
    if os.name != "posix":
        return ("JupyterHub runs on Linux and macOS only: start the hub there; students need a "
                "browser alone")
    if any(importlib.util.find_spec(name) is None for name in ("jupyterhub",
                                                               "jupyterhub_idle_culler")):
        return f"JupyterHub is not installed: {install_line('hub')}"
    return npm_missing("hub")


def start_command(folder: str | os.PathLike) -> list[str]:
    """The command line of a hub that was written. Raises FileNotFoundError or DamagedFile as
    `read_hub`, BackendUnavailable where a part is missing, PermissionError for the administrator:
    students' code would have all rights.
    """
    hub, _ = read_hub(folder)
    if reason := hub_missing():
        raise BackendUnavailable(reason)
    if hub.spawner == "simple" and os.geteuid() == 0:
        raise PermissionError("the hub was started as root, and what students run would have all "
                              "rights; start it as an ordinary user")
    return [sys.executable, "-m", "jupyterhub", "-f",
            str(existing_path(Path(folder) / "jupyterhub_config.py").resolve())]


def write_hub(hub: Hub, folder: str | os.PathLike) -> dict[str, str]:
    """Write the folder of a hub, whole or not at all, and return name -> password; they lie in
    ``passwords.csv`` too.

    Raises ValueError for a folder that is there already, and for names of the system.
    """
    target = checked_path(folder, "folder")
    check_new_names((hub.teacher, *hub.students))
    with writing(target):
        exists = target.exists()
    if exists:
        raise ValueError(f"folder={str(target)!r} exists; expected a new one. To change a hub, "
                         "edit its hub.json; a new term gets a new folder")
    passwords, accounts = new_accounts([hub.teacher, *hub.students])
    with atomic_folder(target) as made:
        _copy_course(made / COURSE)
        hub.save(made, accounts)
        _write_passwords(made / "passwords.csv", passwords)
        shutil.copyfile(FILES / "jupyterhub_config.py", made / "jupyterhub_config.py")
        shutil.copyfile(FILES / "Dockerfile", made / "Dockerfile")
        # what a student's server needs, and the lock that holds for it, as pip reads them
        wanted = [pin for pin in pins_of("hub") if not pin.startswith(OUTSIDE)]
        (made / "requirements.txt").write_text("\n".join(wanted) + "\n", "utf-8")
        shutil.copyfile(extra_lock("hub", (3, 11)), made / "constraints.txt")
        # passwords and keys, perhaps within a clone
        (made / ".gitignore").write_text("*\n", "utf-8")
        # nor do these go to a builder
        (made / ".dockerignore").write_text("*\n!course\n!requirements.txt\n!constraints.txt\n",
                                            "utf-8")
        for name, values in {"README.md": _page(hub, target), "values.yaml": _chart(hub)}.items():
            (made / name).touch(mode=0o600)      # the chart holds two passwords
            text = Template((FILES / name).read_text("utf-8"))
            (made / name).write_text(text.substitute(values), "utf-8")
    _lock(target / COURSE)  # at last: a folder without the right to write in it cannot be moved
    return passwords


def update_course(folder: str | os.PathLike) -> None:
    """Put the course as it is now into the folder of a hub; folders that were handed out beside its
    lessons stay. Raises as `read_hub`.
    """
    read_hub(folder)
    course = Path(folder) / COURSE
    fresh, old = (course.with_name(f"{COURSE}.{word}") for word in ("new", "old"))
    for path in (fresh, old):                     # of an update that was cut off
        _remove(path)
    _copy_course(fresh)
    for path in sorted((course / "notebooks").glob("[!.]*/")):
        shutil.copytree(path, fresh / "notebooks" / path.name)
    if course.exists():
        course.chmod(0o755)                       # or it could not be moved
        course.rename(old)
    fresh.rename(course)
    _lock(course)
    _remove(old)


def _remove(course: Path) -> None:
    for path in [course, *course.rglob("*")] if course.exists() else []:
        if path.is_dir():
            path.chmod(0o755)
    if course.exists():
        shutil.rmtree(course)


def draw_passwords(folder: str | os.PathLike, names: Sequence[str]) -> dict[str, str]:
    """Draw new passwords for names of a hub; a name that it does not have becomes a student.
    Returns name -> password.

    They are in ``passwords.csv``, too, beside those that it still holds; the hub takes them when it
    starts again. Raises as `read_hub` and `Hub` do, before anything is changed.
    """
    place, (hub, accounts) = Path(folder), read_hub(folder)
    known = {hub.teacher, *hub.students}
    late = [name for name in names if name not in known]
    check_new_names(late)
    grown = dataclasses.replace(hub, students=(*hub.students, *late))
    if not names or len(set(names)) < len(names):
        raise ValueError(f"names holds {len(names)} names, {len(names) - len(set(names))} of them "
                         "twice; expected >= 1, each once")
    file, (passwords, made) = place / "passwords.csv", new_accounts(names)
    lines = file.read_text("utf-8").splitlines()[1:] if file.is_file() else []
    kept = dict(csv.reader(lines))
    _write_passwords(file, kept | passwords)
    grown.save(place, accounts | made)
    return passwords


def without_password(folder: str | os.PathLike) -> list[str]:
    """Names that cannot log in, because somebody wrote them into ``hub.json`` by hand."""
    hub, accounts = read_hub(folder)
    return [name for name in (hub.teacher, *hub.students) if name not in accounts]


def _copy_course(place: Path, root: Path = PROJECT) -> None:
    """Copy the library, texts and notebooks of the lessons, and what `BROUGHT` names."""
    shutil.copytree(root / "lessons_lib", place / "lessons_lib", ignore=LEFT_OUT)
    lessons = [path for text in Course(root).notebooks.glob("[0-9][0-9]_*.md")
               for path in (text, text.with_suffix(".ipynb"))]
    for path in [*lessons, *(path for pattern in BROUGHT for path in root.glob(pattern))]:
        if path.is_file() and not path.name.startswith("."):
            copy = place / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _lock(place: Path) -> None:
    """Everybody reads (a container's student is another user), nobody writes."""
    for path in (place, *place.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def _write_passwords(path: Path, passwords: dict[str, str]) -> None:
    path.touch(mode=0o600)
    path.chmod(0o600)                            # it may have been there
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("name", "password"), *passwords.items()])


def _page(hub: Hub, target: Path) -> dict[str, Any]:
    release = next(pin.partition("==")[2].split(".")[0]
                   for pin in pins_of("hub") if pin.startswith("jupyterhub=="))
    return {"n": len(hub.students), "release": release, "memory": f"{hub.memory_gb:g}",
            "cores": f"{hub.cores:g}", "idle": hub.idle_minutes, "hours": f"{hub.hours:g}",
            "folder": shlex.quote(str(target)), "address": hub.address,
            "claim": " Put the models into a volume that is claimed as `models`: without the claim "
            "no server starts." if hub.models else ""}


def _chart(hub: Hub) -> dict[str, Any]:
    models = INSIDE["models"] if hub.models else None
    inside = environment_of(hub, INSIDE["course"], data=None, models=models)
    seconds, limit = 60 * hub.idle_minutes, int(1000 * hub.memory_gb)
    # YAML takes a plain no or on for a truth value
    names = [f'"{name}"' for name in (hub.teacher, *hub.students)]
    # Not those of passwords.csv: there is one for the class and one for the teacher, who can do
    # everything.
    secret = {"class_password": secrets.token_hex(8), "teacher_password": secrets.token_hex(16)}
    times = {"timeout": seconds, "every": max(10, seconds // 10), "age": int(3600 * hub.hours)}
    sizes = {"limit": limit, "guarantee": min(limit, round(measured().together_mb)),
             "cores": f"{hub.cores:g}"}
    places = {"first": FIRST, "home": INSIDE["home"],
              "volumes": VOLUMES.format(place=models) if models else "",
              "environment": "\n".join(f'    {name}: "{value}"' for name, value in inside.items())}
    return secret | times | sizes | places | {"teacher": names[0], "students": ", ".join(names[1:])}


def names_from(values: Sequence[str]) -> tuple[str, ...]:
    """Names of students: each value is a name, or a text file with one name a line. Raises
    FileNotFoundError for what looks like a file and is none, ValueError for an empty file and one
    that is not UTF-8.
    """
    names: list[str] = []
    for value in values:
        # no name has such a sign in it
        if not Path(value).is_file() and not re.search(r"[./\\]", value):
            names.append(value)
            continue
        if not (listed := names_in(existing_path(value))):
            raise ValueError(f"students={value!r} is an empty file; expected one name a line")
        names += listed
    return tuple(names)
