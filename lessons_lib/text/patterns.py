"""Token patterns from outside: compiled with a clear error, and tried in a child process before they can hold up this one.

A regular expression such as ``(a+)+b`` needs time that doubles with each letter, and Python cannot stop it. So a pattern that is not one of
the fast ones is first run on a sample of the texts by a second Python, which is ended after a second. Used by `Tokenizer` and ``counts``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence

from ..core.checks import shown

__all__ = ["TokenPattern"]

SAMPLE_CHARACTERS = 10_000
SECONDS = 1.0
_CHILD = ("import json, re, sys\nprint('ready', flush=True)\npattern, texts = json.loads(sys.stdin.readline())\n"
          "for text in texts: re.findall(pattern, text)\nprint('done', flush=True)")


def _sample(texts: Sequence[str]) -> list[str]:
    """The longest text first, then the others from the start, 10,000 characters in all."""
    sample, room = [], SAMPLE_CHARACTERS
    for text in [max(texts, key=len, default=""), *texts]:
        if room <= 0:
            break
        sample.append(text[:room])
        room -= len(text) + 1
    return sample


def _takes_too_long(pattern: str, texts: list[str]) -> bool:
    """Whether a second Python needs more than a second for the sample. False where no process can be started."""
    try:
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
    except (OSError, ValueError):
        return False
    with child:
        if child.stdout.readline().strip() != b"ready":          # no Python that can be started here; else the second counts from now
            return False
        timer = threading.Timer(SECONDS, child.kill)
        timer.start()
        try:
            answer, _ = child.communicate(json.dumps([pattern, texts]).encode() + b"\n")
        finally:
            timer.cancel()
            child.kill()
    return b"done" not in answer


class TokenPattern:
    """A checked regular expression whose `findall` gives the tokens: the whole match, or its one group.

    Parameters: pattern, the expression; name, the caller's argument. Raises TypeError (not a str), ValueError (invalid: with position; more
    than one group).
    """

    def __init__(self, pattern: str, *, name: str = "token_pattern"):
        if not isinstance(pattern, str):
            raise TypeError(f"{name}={shown(pattern)} is {type(pattern).__name__}; expected a regular expression (str)")
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{name}={shown(pattern)} is no regular expression: {error.msg} at position {error.pos}") from None
        if compiled.groups > 1:
            raise ValueError(f"{name}={shown(pattern)} has {compiled.groups} groups; expected at most 1 capturing group. Write (?:…) for the others")
        self.pattern, self.name, self.findall = pattern, name, compiled.findall
        self._longest_tried = 0

    def try_on(self, texts: Sequence[str]) -> None:
        """Run the pattern on 10,000 characters of these texts in a child process. Raises ValueError when a second is not enough.

        Texts not much longer than those tried before are not tried again.
        """
        longest = max(map(len, texts), default=0)
        if longest <= 4 * self._longest_tried:
            return
        if _takes_too_long(self.pattern, _sample(texts)):
            raise ValueError(f"{self.name}={shown(self.pattern)} was stopped: it needs more than {SECONDS:g} s for {SAMPLE_CHARACTERS:,} characters. "
                             "Avoid a repeat inside a repeat, such as (a+)+")
        self._longest_tried = longest
