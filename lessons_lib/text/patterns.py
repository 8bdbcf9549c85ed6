"""Token patterns from outside: compiled with a clear error, and run in a child process where they
could hold up this one.

A regular expression such as ``(a+)+b`` needs time that doubles with each letter. So a pattern with
more than one repeat or choice, and any pattern on a text of more than 10,000 characters, is run by
a second Python that ends itself when a text takes more than a second per 10,000 characters. (The
package ``regex`` has time limits, but its ``\\w`` finds other words in most scripts of India: it
counts combining marks. A signal would stop ``re``, but not on Windows, nor in a thread.) Used by
`Tokenizer` and ``counts``.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import subprocess
import sys
import threading

from ..core import shown

__all__ = ["TokenPattern", "may_explode"]

LONG_TEXT = 10_000                               # characters; also the unit of the time limit
SECONDS = 1.0                                    # per LONG_TEXT
# faulthandler's clock runs while `re` holds the interpreter; it ends the child, and so its answers
_CHILD = """
import faulthandler, json, os, re, sys
nowhere = open(os.devnull, "w")
for line in sys.stdin:
    pattern, text, seconds = json.loads(line)
    faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
    result = re.findall(pattern, text)
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps(result), flush=True)
"""


def may_explode(pattern: str) -> bool:
    """Whether a pattern has more than one repeat, optional part or choice, which is what it takes
    for a time beyond the square of a text's length. Many such patterns are harmless."""
    signs = re.findall(r"\\.|\(\?|[*+?{|]", pattern, re.DOTALL)
    return sum(len(sign) == 1 for sign in signs) > 1


class _Child:
    """A second Python that runs one pattern on one text at a time; it ends with this process, or
    when a text takes too long."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._owner, self._lock = 0, threading.Lock()

    def findall(self, pattern: str, text: str, seconds: float) -> list[str] | None:
        """What ``re.findall`` gives; None when it takes longer. Runs here, without a limit, where
        no process can be started."""
        with self._lock:
            process = self._started()
            if process is None:
                return re.findall(pattern, text)
            try:
                process.stdin.write(json.dumps([pattern, text, seconds]) + "\n")
                process.stdin.flush()
                if answer := process.stdout.readline():
                    return json.loads(answer)
            except OSError:
                pass
            except BaseException:      # Ctrl-C: its answer must not meet the next question
                self.close()
                raise
            self.close()
            return None

    def _started(self) -> subprocess.Popen | None:
        running = self._process is not None and self._process.poll() is None
        if not running or self._owner != os.getpid():
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _CHILD], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="ascii")
            except (OSError, ValueError):
                return None
            self._owner = os.getpid()
        return self._process

    def close(self) -> None:
        """End the child."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.stdout.close()
            with contextlib.suppress(OSError):   # what it did not read is lost
                process.stdin.close()
            process.wait()


_child = _Child()
atexit.register(_child.close)


class TokenPattern:
    """A checked regular expression whose `findall` gives the tokens: the whole match, or its one
    group.

    ``name`` is the caller's argument. Raises TypeError (not a str), ValueError (invalid: with
    position; more than one group).
    """

    def __init__(self, pattern: str, *, name: str = "token_pattern"):
        if not isinstance(pattern, str):
            raise TypeError(f"{name}={shown(pattern)} is {type(pattern).__name__}; expected a "
                            "regular expression (str)")
        try:
            compiled = re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            at = f"{error.msg} at position {error.pos}" if isinstance(error, re.error) else error
            raise ValueError(f"{name}={shown(pattern)} is no regular expression: {at}") from None
        if compiled.groups > 1:
            raise ValueError(f"{name}={shown(pattern)} has {compiled.groups} groups; expected at "
                             "most 1 capturing group. Write (?:…) for the others")
        self.pattern, self.name, self._findall = pattern, name, compiled.findall
        self._plain = not may_explode(pattern)

    def findall(self, text: str) -> list[str]:
        """All matches in a text, in order. Raises ValueError when a pattern takes more than a
        second per 10,000 characters."""
        if self._plain and len(text) <= LONG_TEXT:
            return self._findall(text)
        units = -(-max(len(text), 1) // LONG_TEXT)
        result = _child.findall(self.pattern, text, SECONDS * units)
        if result is None:
            raise ValueError(f"{self.name}={shown(self.pattern)} was stopped: it needs more than "
                             f"{SECONDS * units:g} s for {units * LONG_TEXT:,} characters (here: "
                             f"{len(text):,}). Avoid a repeat inside a repeat, such as (a+)+")
        return result
