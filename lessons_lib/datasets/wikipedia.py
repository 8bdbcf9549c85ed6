"""Takes the markup out of Wikipedia's dumps, and keeps the clean text of the one in gensim's wheel.

The course installs gensim anyway, so this text is on every machine without a download. gensim is
imported only to read a dump; that takes three seconds once, and the clean text is then kept in the
cache. Lessons 00 to 03 stand on it.
"""

from __future__ import annotations

import bz2
import contextlib
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from ..core import DamagedFile, cache_folder, locks, read_json, sha256, write_json

__all__ = ["articles", "clean_line", "sample_of"]

CLEANING = 1  # raise when clean_line changes, so that nobody reads an older result
MIN_WORDS = 5
QUOTES = re.compile(r"'{2,5}")  # bold and italic
CAPTION_TAIL = re.compile(r"\|(?:alt=.*|thumb|\d*x?\d+px)\s*$")
EMPTY_BRACKETS = re.compile(r"\((?:[\s,;:.–—/\"']|or|and)*\)")  # what a removed template leaves
NOT_PROSE = ("=", "|", "!", "{", "}", "^", "+")  # headings, and remnants of tables
PAGE = re.compile(r"(?:File|Image|Category|Template):")


def clean_line(line: str) -> str:
    """One line of a filtered article as plain text, or "" for a heading, a remnant of a table or a
    fragment of fewer than 5 words."""
    line = line.strip()
    if line.startswith(NOT_PROSE):
        return ""
    line = re.sub(r"^[*#:;–\s]+", "", line)  # list marks
    if PAGE.match(line):
        return ""
    line = EMPTY_BRACKETS.sub("", QUOTES.sub("", CAPTION_TAIL.sub("", line)))
    line = re.sub(r"\(\s*[,;]\s*", "(", line)
    line = re.sub(r" ([,.;:!?)])", r"\1", " ".join(line.split()))
    return line if len(re.findall(r"[^\W\d_]{2,}", line)) >= MIN_WORDS else ""


def articles(dump: BinaryIO) -> Iterator[tuple[str, Iterator[str]]]:
    """Title and clean lines of each article of a dump that is no redirect. The lines are cleaned
    when they are asked for."""
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki
    def lines(raw: str) -> Iterator[str]:
        yield from filter(None, map(clean_line, filter_wiki(raw).split("\n")))

    for title, raw, _ in extract_pages(dump, ("0",)):
        if not re.match(r"\s*#redirect", raw or "", re.IGNORECASE):
            yield title, lines(raw or "")


def _extracted(dump: Path) -> dict[str, list[str]]:
    """Titles and clean texts of all articles in a dump that have any text."""
    with bz2.open(dump) as file:
        pairs = [(text, title) for title, lines in articles(file) if (text := "\n".join(lines))]
    return {"texts": [text for text, _ in pairs], "titles": [title for _, title in pairs]}


def _kept(path: Path) -> dict[str, list[str]] | None:
    """What a former call extracted, or None when it is not there or not whole."""
    try:
        kept = read_json(path)
        whole = isinstance(kept["texts"], list) and isinstance(kept["titles"], list)
        return kept if whole and len(kept["texts"]) == len(kept["titles"]) > 0 else None
    except (FileNotFoundError, DamagedFile, TypeError, KeyError):
        return None


def sample_of(dump: Path) -> dict[str, list[str]]:
    """``texts`` (paragraphs are separated by a newline) and ``titles`` of a dump's articles, from
    the cache where a former call kept them."""
    version = f"{CLEANING}-gensim-{metadata.version('gensim')}-{sha256(dump)[:16]}"
    path = cache_folder() / "derived" / f"wikipedia-sample-{version}.json"
    with contextlib.ExitStack() as stack:
        if (kept := _kept(path)) is None:
            with contextlib.suppress(OSError):  # without a cache or its lock it only takes longer
                stack.enter_context(locks.locked(path))
            if (kept := _kept(path)) is None:  # another lesson may have made it meanwhile
                kept = _extracted(dump)
                with contextlib.suppress(OSError):
                    write_json(path, kept)
    return kept
