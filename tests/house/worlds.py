"""Other worlds for the jobs of `killed_jobs`, made in the process that calls: a clock that jumps,
and our modules as on Windows and macOS, as far as the standard library can be made to look like it.

What a world takes away is taken from the modules of ours only: those of the standard library run on
this system and need it. Processes that a job starts are of this system again.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import random
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import lessons_lib

JUMP = 1e8                                       # seconds, three years: how far a clock jumps
POSIX = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
# What the module of that name has here and not there.
LACKS = {
    "win32": {"os": ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fchmod",
                     "fork", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getuid",
                     "killpg", "mkfifo", "nice", "openpty", "posix_spawn", "pread", "pwrite",
                     "sched_getaffinity", "setsid", "statvfs", "sysconf", "uname", "wait"),
              "signal": ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "alarm",
                         "pause", "pthread_sigmask", "setitimer", "sigwait"),
              "time": ("clock_gettime", "tzset")},
    "darwin": {"os": ("memfd_create", "posix_fadvise", "posix_fallocate", "sched_getaffinity",
                      "sched_setaffinity", "sendfile"), "signal": ("sigtimedwait",)}}
SAID = {"win32": {"os": {"name": "nt"}, "sys": {"platform": "win32"}},
        "darwin": {"sys": {"platform": "darwin"}}}


class _Lacking(ModuleType):
    """A module without some of its names, and with other values of others."""

    def __init__(self, real: ModuleType, gone: tuple[str, ...], said: dict[str, Any]) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(said, _real=real, _gone=frozenset(gone))

    def __getattr__(self, name: str) -> Any:
        if name in self._gone:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} there")
        return getattr(self._real, name)


def import_all() -> None:
    """Import all modules of ours, so that none is imported from within a world."""
    for found in pkgutil.walk_packages(lessons_lib.__path__, "lessons_lib."):
        if not found.name.endswith("__main__"):
            with contextlib.suppress(ImportError):       # of extra sets that are not installed
                importlib.import_module(found.name)


def _as_on(system: str) -> None:
    """Let all modules of ours see this system."""
    if system == "win32":
        sys.modules.update(dict.fromkeys(POSIX))         # what imports them from now on fails
    lacks, said = LACKS[system], SAID[system]
    lacking = {id(real := sys.modules[name]): _Lacking(real, lacks.get(name, ()),
                                                       said.get(name, {}))
               for name in lacks.keys() | said.keys()}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "lessons_lib" and module is not None:
            for key, value in list(vars(module).items()):
                if id(value) in lacking:
                    setattr(module, key, lacking[id(value)])


def _the_clock_jumps() -> None:
    """Let each look at the clock, and the time of each file that is renamed, be years off, back or
    forth. But jupyter_client keeps the true one: by it, it waits for a kernel to begin, and where
    the clock jumps ahead meanwhile it gives up, which `build` reports."""
    import nbclient  # noqa: F401  (and with it all of jupyter_client that is used)

    real, real_ns, rename, rng = time.time, time.time_ns, os.replace, random.Random(28)
    true = _Lacking(time, (), {"time": real})
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "jupyter_client" and vars(module).get("time") is time:
            module.time = true

    def replace(source: Any, target: Any) -> None:
        moment = real() + rng.uniform(-JUMP, JUMP)
        os.utime(source, (moment, moment))
        rename(source, target)

    time.time = lambda: real() + rng.uniform(-JUMP, JUMP)
    time.time_ns = lambda: real_ns() + int(rng.uniform(-JUMP, JUMP) * 1e9)
    os.replace = replace


WORLDS: dict[str, Callable[[], None]] = {
    "a clock that jumps": _the_clock_jumps,
    "Windows": lambda: _as_on("win32"),
    "macOS": lambda: _as_on("darwin"),
}
