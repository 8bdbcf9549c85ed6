"""The settings of a hub: who comes, where it listens, and what each student may use."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core import (DamagedFile, check_choice, check_float, check_int, checked_path,
                     existing_path, read_json, write_json)
from ...lesson.course import SCALES

__all__ = ["SPAWNERS", "Hub", "check_new_names", "read_hub"]

SPAWNERS = ("simple", "docker")
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
# Of accounts that Linux, macOS and programs make for themselves, here or on the machine of the hub.
OF_SYSTEMS = frozenset([
    "adm", "admin", "administrator", "apache", "avahi", "backup", "bin", "daemon", "dbus",
    "debian", "docker", "ec2-user", "ftp", "games", "gnats", "guest", "halt", "httpd", "hub",
    "irc", "jovyan", "jupyter", "jupyterhub", "list", "localhost", "lp", "mail", "man",
    "messagebus", "mongodb", "mysql", "news", "nfsnobody", "nginx", "nobody", "nogroup", "ntp",
    "operator", "polkitd", "postfix", "postgres", "proxy", "redis", "root", "service", "shutdown",
    "sshd", "staff", "sudo", "sync", "sys", "syslog", "system", "systemd-network",
    "systemd-resolve", "systemd-timesync", "toor", "tss", "ubuntu", "users", "uucp", "vagrant",
    "wheel", "www", "www-data"])
HERE = ("127.0.0.1", "::1", "localhost")
FILE = "hub.json"
FIRST_PERSON, NOBODY = 500, 65534                # ids of people's accounts lie between


@dataclass(frozen=True)
class Hub:
    """One hub. A mistake raises ValueError or TypeError when it is made.

    Parameters: students, their names, each of lower-case letters, digits, - and _; teacher, who
    sees and stops servers; spawner, "simple" (processes on this machine) or "docker"; host and
    port, where it listens (the next two ports are for the hub itself); certificate and key, files
    for HTTPS, needed where others can reach it; memory_gb, cores and disk_gb for each student
    (disk: the largest single file); idle_minutes, after which a server without work is stopped;
    hours, after which any is; scale of the lessons; data, a folder for LESSONS_DATA, and models,
    one of Hugging Face's cache, both shared and read only.
    """

    students: tuple[str, ...]
    teacher: str = "teacher"
    spawner: str = "simple"
    host: str = "127.0.0.1"
    port: int = 8000
    certificate: str | None = None
    key: str | None = None
    memory_gb: float = 2.0
    cores: float = 1.0
    disk_gb: float = 1.0
    idle_minutes: int = 30
    hours: float = 8.0
    scale: str = "laptop"
    data: str | None = None
    models: str | None = None

    def __post_init__(self) -> None:
        names = [*self.students, self.teacher]
        for name in names:
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise ValueError(f"students holds {name!r}; expected a lower-case letter, then "
                                 "letters, digits, - or _, at most 32 in all")
        if not self.students:
            raise ValueError("students is empty; expected >= 1 name")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"students, with teacher={self.teacher!r}, hold names twice: "
                             f"{', '.join(twice)}; expected each once")
        check_choice("spawner", self.spawner, SPAWNERS)
        check_choice("scale", self.scale, SCALES)
        check_int("port", self.port, low=1, high=65533)
        check_int("idle_minutes", self.idle_minutes, low=1)
        for name, low in (("memory_gb", 0.5), ("cores", 0.1), ("disk_gb", 0.1), ("hours", 0.1)):
            check_float(name, getattr(self, name), low=low)
        if (self.certificate is None) != (self.key is None):
            raise ValueError("certificate and key belong together; expected both or none")
        if self.host not in HERE and self.certificate is None:
            raise ValueError(f"host={self.host!r} can be reached by other machines, and passwords "
                             "would travel in plain text; pass certificate and key, or leave the "
                             "hub at 127.0.0.1 behind a web server that speaks HTTPS")
        for name in ("certificate", "key", "data", "models"):
            if (given := getattr(self, name)) is not None:
                there = existing_path(given, name=name)
                if there.is_dir() != (name in ("data", "models")):
                    kind = "a file" if name in ("certificate", "key") else "a folder"
                    raise ValueError(f"{name}={str(given)!r} is something else; expected {kind}")
                # Absolute, for the hub reads its settings in a folder of its own; links stay, for a
                # renewed certificate is another file behind one.
                object.__setattr__(self, name, os.path.abspath(Path(given).expanduser()))

    @property
    def address(self) -> str:
        """What people type into a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}/"

    def save(self, folder: Path, accounts: dict[str, Any]) -> Path:
        """Write ``hub.json`` with the settings and the hashed passwords."""
        path = folder / FILE
        write_json(path, dataclasses.asdict(self) | {"accounts": accounts})
        path.chmod(0o600)
        return path


def check_new_names(names: Iterable[str]) -> None:
    """Raise ValueError for names that belong to the system, here or elsewhere; hubs that have one
    already are read."""
    own = set(OF_SYSTEMS)
    if os.name == "posix":
        import pwd

        own |= {user.pw_name for user in pwd.getpwall() if not FIRST_PERSON <= user.pw_uid < NOBODY}
    if taken := sorted(set(names) & own):
        raise ValueError(f"names holds {', '.join(map(repr, taken[:5]))}, which "
                         f"{'is' if len(taken) == 1 else 'are'} of the system; expected names of "
                         f"people. Choose others, such as {taken[0]}-1")


def read_hub(folder: str | os.PathLike) -> tuple[Hub, dict[str, Any]]:
    """Settings and hashed passwords of a hub's folder.

    Raises FileNotFoundError, DamagedFile, or as `Hub` does.
    """
    values = read_json(existing_path(checked_path(folder, "folder") / FILE))
    known = {field.name for field in dataclasses.fields(Hub)}
    if (not isinstance(values, dict) or not isinstance(values.get("accounts"), dict)
            or set(values) - known - {"accounts"}):
        raise DamagedFile(f"{Path(folder) / FILE} holds no settings of a hub; make them again: "
                          "python -m lessons_lib hub write FOLDER")
    accounts = values.pop("accounts")
    return Hub(**values | {"students": tuple(values.get("students", ()))}), accounts
