"""One submission in a process of its own: start it confined, run its cells, call its functions, and
end it when it takes too much.

The grader keeps cases, right answers and judges. The other side gets inputs, one call at a time,
and sends plain data back, so nothing that it prints or claims is a verdict. `Limits` says how much
time, memory and disk it may take. Used by ``lessons grade``.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import BackendUnavailable
from ..core.files import process_lives
from .sandbox import wire
from .sandbox.confine import protections

__all__ = ["Ended", "Limits", "RemoteFunction", "Submission", "check_protections",
           "missing_protections"]

SANDBOX = Path(__file__).parent / "sandbox"
LIBRARY = Path(__file__).parent.parent
WATCH_EVERY_SECONDS = 0.1
MAX_CALLBACKS = 10_000
MAX_FILES = 500
MAX_THREADS = 200
MAX_NAMELESS_MAPPED = 20
OUT_OF_REACH = ("lessons_lib is out of reach while grading; write it with NumPy and the standard "
                "library")
SYSTEM_FILES = ("/usr", "/lib", "/lib64", "/bin", "/nix/store", "/etc/ld.so.cache",
                "/etc/localtime", "/dev/urandom", "/dev/random", "/proc/cpuinfo", "/proc/meminfo",
                "/sys/devices/system/cpu")
FOLDERS = "submission-"                          # then the grader's process id
GUARDS = {"network": "it could use the network",
          "processes": "it could start or end other processes",
          "files": "it could read and delete files",
          "memory": "it could use up the memory before it is noticed"}


@dataclass(frozen=True)
class Limits:
    """What one submission may take.

    Parameters
    ----------
    cell, call : float, default 20.0 and 10.0
        Seconds of the processor for one cell and one call; by the clock three times as many.
    total : float, default 300.0
        Seconds by the clock for all.
    memory, disk : int, default 2e9 and 5e7
        Bytes.
    """

    cell: float = 20.0
    call: float = 10.0
    total: float = 300.0
    memory: int = 2_000_000_000
    disk: int = 50_000_000


class Ended(RuntimeError):
    """The process of a submission is gone; the message says why."""


def _said(error: Any, *, with_line: bool = False) -> str:
    """An error over there, [kind, text, line], as one line; it may have written anything."""
    if not isinstance(error, list) or len(error) != 3:
        return "Error"
    kind, text, line = str(error[0])[:60], str(error[1])[:300], error[2]
    if kind == "OutOfTime":
        return text
    if "lessons_lib" in text and kind in ("AttributeError", "ImportError", "ModuleNotFoundError"):
        return OUT_OF_REACH
    place = f", line {line}" if with_line and isinstance(line, int) else ""
    return f"{kind}{place}: {text}" if text else f"{kind}{place}"


def missing_protections() -> dict[str, str]:
    """What this system cannot forbid a submission.

    Returns
    -------
    dict of str to str
        Protection -> what could happen; empty on Linux 5.13 or newer.
    """
    return {name: GUARDS[name] for name, held in protections().items() if not held}


def check_protections(weak: bool) -> None:
    """Raise BackendUnavailable, with what is missing and what to do, where foreign code cannot be
    confined.
    """
    missing = missing_protections()
    if missing and not weak:
        raise BackendUnavailable(
            f"this system ({sys.platform}) cannot confine a submission: "
            f"{'; '.join(missing.values())}. Grade on Linux 5.13 or newer (WSL 2, a virtual "
            "machine or a container will do), or, where you trust every student, with --weak: time "
            "limits and checks inside Python remain")


def _but(folder: str, hidden: Sequence[str]) -> list[str]:
    """A folder as paths that leave ``hidden`` ones out: itself, or what lies in it."""
    below = folder.rstrip("/") + "/"
    inside = [path for path in hidden if path == folder or path.startswith(below)]
    if not inside:
        return [folder]
    if folder in inside or not os.path.isdir(folder):
        return []
    return [path for entry in sorted(os.scandir(folder), key=lambda e: e.name)
            for path in _but(os.path.join(folder, entry.name), inside)]


def readable_paths(hidden: Sequence[Path]) -> list[str]:
    """What a submission may read: Python and the system, but no solutions and not ``hidden``."""
    shut = [os.path.realpath(path) for path in (LIBRARY, *hidden)]
    packages = [path for path in sys.path if path and os.path.isdir(path)
                and os.path.basename(path) in ("site-packages", "dist-packages")]
    roots = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *packages, *SYSTEM_FILES]
    roots = list(dict.fromkeys(os.path.realpath(path) for path in roots if os.path.exists(path)))
    roots = [path for path in roots if path not in ("/", os.path.realpath(LIBRARY.parent))]
    return list(dict.fromkeys(path for root in roots for path in _but(root, shut)))


def _by_the_clock(seconds: float) -> float:
    """When a process is ended that ignores its limit, or sleeps, on a machine with other work."""
    return 3 * seconds + 3


def remove_left_folders() -> None:
    """Remove the folders of submissions whose grader was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*-*"):
        grader = folder.name.removeprefix(FOLDERS).split("-")[0]
        if grader.isdecimal() and not process_lives(int(grader)):
            shutil.rmtree(folder, ignore_errors=True)        # links and others' folders stay


def _bytes_in(folder: str) -> float:
    """Bytes of all files below a folder; infinite for more than 500. Raises OSError for what cannot
    be listed.
    """
    total, entries, todo = 0.0, 0, [folder]
    while todo:
        with os.scandir(todo.pop()) as listed:
            for entry in listed:
                entries += 1
                if entries > MAX_FILES:
                    return float("inf")
                try:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue                     # gone in the meantime
    return total


def _nameless_bytes(pid: int) -> float:
    """Bytes of files that a process holds open after it removed them, which no folder shows; 0
    where the system does not tell, infinite where it holds many by their mappings.
    """
    sizes = {}
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            about = os.stat(entry.path)
            if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
                sizes[about.st_dev, about.st_ino] = about.st_size
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as lines:
            mapped = {tuple(line.split(maxsplit=5)[3:5])
                      for line in lines if line.endswith(" (deleted)\n")}
    except OSError:
        return sum(sizes.values())               # closed in the meantime, or no system that tells
    return float("inf") if len(mapped) > MAX_NAMELESS_MAPPED else sum(sizes.values())


class RemoteFunction:
    """A function of a submission, called over there on plain data, which comes back as such."""

    def __init__(self, submission: Submission, name: str):
        self.__name__, self._submission = name, submission

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._submission.call(self.__name__, args, keywords)

    def launch(self, grid: Sequence[int], *args: Any, **keywords: Any) -> list[Any]:
        """Run it as a Triton kernel in the interpreter; returns its arrays as it left them."""
        return self._submission.request({"op": "launch", "name": self.__name__, "grid": list(grid),
                                         "args": wire.pack(args), "keywords": wire.pack(keywords)})

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


class Submission:
    """A confined process; use it as a context. ``ended`` tells why it is gone, None while it lives.
    On Linux it ends with the thread that opened it.

    Parameters: limits; until, the moment of ``time.monotonic`` at which its total is used up
    (default: from now on); hidden, files and folders that must not be read although they lie among
    Python's own; weak, run it where the system cannot confine it; stop, ends it when it is set.
    Raises BackendUnavailable as `check_protections` does, or when a protection did not come up.
    """

    def __init__(self, limits: Limits | None = None, *, until: float | None = None,
                 hidden: Sequence[Path] = (), weak: bool = False,
                 stop: threading.Event | None = None):
        check_protections(weak)
        self.limits, self.ended = limits or Limits(), None
        self.until = time.monotonic() + self.limits.total if until is None else until
        self._hidden, self._weak, self._stop = hidden, weak, stop or threading.Event()
        self._deadline, self._done, self._functions = float("inf"), threading.Event(), {}

    def __enter__(self) -> Submission:
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDERS}{os.getpid()}-",
                                                   ignore_cleanup_errors=True)
        settings = {"readable": readable_paths(self._hidden),
                    "writable": [os.path.realpath(self._folder.name)], "memory": self.limits.memory,
                    "cpu_seconds": int(self.limits.total) + 10, "file_bytes": self.limits.disk}
        self.process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-B", "-X", "utf8", str(SANDBOX)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self._folder.name,
            env=self._environment(), start_new_session=os.name == "posix")
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        try:
            # a command line has no room for all packages of a large Python
            held = self._reply(30.0, settings).get("held", {})
            if not self._weak and not all(held.values()):
                shut = ", ".join(name for name, holds in held.items() if not holds)
                raise BackendUnavailable(f"this system refused to confine a submission: {shut} "
                                         "stayed open")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                continue                         # the other end is gone
        self.process.wait()
        self._watcher.join()
        try:
            self._folder.cleanup()
        except RecursionError:                   # however deep it was made
            subprocess.run(["rm", "-rf", "--", self._folder.name], check=False, capture_output=True)

    def _environment(self) -> dict[str, str]:
        """Nothing of the teacher's own variables but what the system needs to start a program."""
        needed = ("PATH", "SYSTEMROOT", "SystemRoot", "LD_LIBRARY_PATH")
        own = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), self._folder.name)
        own |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                              "NUMBA_NUM_THREADS", "TRITON_INTERPRET"), "1")
        own |= {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg",
                "KMP_AFFINITY": "disabled"}
        return {name: os.environ[name] for name in needed if name in os.environ} | own

    def _breach(self) -> str | None:
        """Which limit is passed just now."""
        import psutil

        if self._stop.is_set():
            return "stopped with the grader"
        if time.monotonic() > self.until:
            return self._total
        if time.monotonic() > self._deadline:
            return "took too long and was ended"
        try:
            process = psutil.Process(self.process.pid)
            if process.memory_info().rss > self.limits.memory:
                return f"took more than {self.limits.memory / 1e6:,.0f} MB of memory and was ended"
            if process.num_threads() > MAX_THREADS:
                return f"started more than {MAX_THREADS} threads and was ended"
        except psutil.Error:
            return None
        try:
            if _bytes_in(self._folder.name) + _nameless_bytes(self.process.pid) > self.limits.disk:
                return (f"wrote more than {self.limits.disk / 1e6:,.0f} MB, or {MAX_FILES} files, "
                        "and was ended")
        except OSError:
            return "made folders that cannot be read and was ended"
        return None

    def _watch(self) -> None:
        while not self._done.wait(WATCH_EVERY_SECONDS):
            if reason := self._breach():
                self.ended = self.ended or reason
                self.process.kill()
                return

    @property
    def _total(self) -> str:
        return f"took more than {self.limits.total:g} s in all and was ended"

    def _gone(self, reason: str) -> Ended:
        self.ended = self.ended or reason
        self.process.kill()
        return Ended(self.ended)

    def _reply(self, seconds: float, message: dict) -> dict:
        """Send a message, answer calls for our functions, and wait for the answer."""
        if self.ended:
            raise Ended(self.ended)
        if time.monotonic() > self.until:
            raise self._gone(self._total)
        self._deadline = time.monotonic() + seconds
        try:
            for _ in range(MAX_CALLBACKS):
                wire.send(self.process.stdin, message)
                reply = wire.receive(self.process.stdout)
                if reply is None:
                    self.process.wait(5)
                    raise self._gone("ended its own process, or the system ended it for taking too "
                                     "much")
                if "ask" not in reply:
                    # what is written between two looks of the watch counts too
                    if reason := self._breach():
                        raise self._gone(reason)
                    return reply
                message = self._called(reply)
        # a closed pipe, or bytes that are no message
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise self._gone(f"broke the line to the grader: {type(error).__name__}") from None
        finally:
            self._deadline = float("inf")
        raise self._gone("called back too often")

    def _called(self, reply: dict) -> dict:
        """Answer a call for a function that went over as an argument: ours, on plain data."""
        try:
            return {"value": wire.pack(self._functions[reply["ask"]](*wire.unpack(reply["args"])))}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[:300]}

    def request(self, message: dict) -> Any:
        """One job with the limit of a call. Returns the value. Raises NotImplementedError where the
        answer does, RuntimeError for other errors of the answer, `Ended` when the process is gone.
        """
        reply = self._reply(_by_the_clock(self.limits.call),
                            message | {"seconds": self.limits.call})
        if (error := reply.get("error")) is not None:
            unwritten = isinstance(error, list) and error[:1] == ["NotImplementedError"]
            raise NotImplementedError if unwritten else RuntimeError(_said(error))
        return wire.unpack(reply.get("value"))

    def run_cell(self, source: str) -> str | None:
        """Run the code of one cell; returns its error in one line, or None. Raises `Ended`."""
        reply = self._reply(_by_the_clock(self.limits.cell),
                            {"op": "cell", "source": source, "seconds": self.limits.cell})
        error = reply.get("error")
        return None if error is None else _said(error, with_line=True)

    def answer(self, name: str) -> Any:
        """The value of a variable as plain data, a function as `RemoteFunction`; None where there
        is no such variable. Raises as `request`.
        """
        reply = self._reply(_by_the_clock(self.limits.call), {"op": "value", "name": name})
        if reply.get("missing"):
            return None
        if reply.get("error") is not None:
            raise RuntimeError(_said(reply["error"]))
        return wire.unpack(reply.get("value"),
                           lambda number, known_as, text: RemoteFunction(self, name))

    def call(self, name: str, args: tuple, keywords: dict[str, Any]) -> Any:
        """Call a function of the submission; functions among the arguments stay here and are called
        back. Raises as `request`.
        """
        self._functions = {}

        def number(function: Any) -> int:
            self._functions[len(self._functions)] = function
            return len(self._functions) - 1

        return self.request({"op": "call", "name": name, "args": wire.pack(args, number),
                             "keywords": wire.pack(keywords, number)})
