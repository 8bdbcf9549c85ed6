"""Reads the data that gensim's wheel ships for its own tests: a slice of Wikipedia, Lee's news, graded words, analogy questions.

The course installs gensim anyway, so this text is on every machine without a download. gensim is imported only to take the markup out
of the Wikipedia dump; that takes three seconds once, and the clean text is then kept in the cache. Lessons 00 to 03 stand on it.
"""

from __future__ import annotations

import bz2
import contextlib
import re
from pathlib import Path

import numpy as np

from ..core import DamagedFile, cache_folder, read_json, sha256, write_json
from .records import Analogies, Documents, WordPairs
from .resolve import gensim_version
from .rows import Request
from .tables import iterate_lines

__all__ = ["analogies", "clean_line", "lee", "wikipedia_sample", "word_pairs_of_gensim"]

CLEANING = 1                                                 # raise when clean_line changes, so that nobody reads an older result
LOCK_SECONDS = 60
MIN_WORDS = 5
QUOTES = re.compile(r"'{2,5}")                               # bold and italic
CAPTION_TAIL = re.compile(r"\|(?:alt=.*|thumb|\d*x?\d+px)\s*$")
EMPTY_BRACKETS = re.compile(r"\((?:[\s,;:.–—/\"']|or|and)*\)")   # what a removed template leaves behind
NOT_PROSE = ("=", "|", "!", "{", "}", "^", "+")              # headings, and remnants of tables
PAGE = re.compile(r"(?:File|Image|Category|Template):")


def clean_line(line: str) -> str:
    """One line of a filtered article as plain text, or "" for a heading, a remnant of a table or a fragment of fewer than 5 words."""
    line = line.strip()
    if line.startswith(NOT_PROSE):
        return ""
    line = re.sub(r"^[*#:;–\s]+", "", line)                  # list marks
    if PAGE.match(line):
        return ""
    line = EMPTY_BRACKETS.sub("", QUOTES.sub("", CAPTION_TAIL.sub("", line)))
    line = re.sub(r"\(\s*[,;]\s*", "(", line)
    line = re.sub(r" ([,.;:!?)])", r"\1", " ".join(line.split()))
    return line if len(re.findall(r"[^\W\d_]{2,}", line)) >= MIN_WORDS else ""


def _extracted(dump: Path) -> dict[str, list[str]]:
    """Titles and clean texts of all articles in a dump; redirects and articles without text are left out."""
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki

    titles, texts = [], []
    with bz2.open(dump) as file:
        for title, raw, _ in extract_pages(file, ("0",)):
            if re.match(r"\s*#redirect", raw or "", re.IGNORECASE):
                continue
            lines = [clean for line in filter_wiki(raw or "").split("\n") if (clean := clean_line(line))]
            if lines:
                titles.append(title)
                texts.append("\n".join(lines))
    return {"texts": texts, "titles": titles}


def _kept(path: Path) -> dict[str, list[str]] | None:
    """What a former call extracted, or None when it is not there or not whole."""
    try:
        kept = read_json(path)
    except (FileNotFoundError, DamagedFile):
        return None
    whole = isinstance(kept, dict) and all(isinstance(kept.get(key), list) for key in ("texts", "titles"))
    return kept if whole and len(kept["texts"]) == len(kept["titles"]) > 0 else None


def wikipedia_sample(request: Request) -> Documents:
    """The articles with their titles; paragraphs are separated by a newline."""
    dump = request.paths[0]
    path = cache_folder() / "derived" / f"wikipedia-sample-{CLEANING}-gensim-{gensim_version()}-{sha256(dump)[:16]}.json"
    kept = _kept(path)
    if kept is None:
        import filelock

        with contextlib.ExitStack() as stack:
            # A cache that cannot be written or locked costs time, not the lesson.
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(filelock.FileLock(f"{path}.lock", timeout=LOCK_SECONDS))
            kept = _kept(path)                               # another lesson may have made it meanwhile
            if kept is None:
                kept = _extracted(dump)
                with contextlib.suppress(OSError):
                    write_json(path, kept)
    return Documents(kept["texts"], titles=kept["titles"], name=request.dataset.name, split=request.split)


def lee(request: Request) -> Documents:
    """Background documents (train) or the 50 compared ones (test), one per line. The second file is Latin-1."""
    background, compared = request.paths
    chosen = {"train": [background], "test": [compared], "all": [background, compared]}[request.split]
    texts = [line for path in chosen for line in iterate_lines(path, encoding="latin-1" if path == compared else "utf-8") if line]
    return Documents(texts, name=request.dataset.name, split=request.split)


def word_pairs_of_gensim(request: Request) -> WordPairs:
    """Word, word, score in three columns; lines beginning with # are remarks."""
    path, rows = request.paths[0], []
    for number, line in enumerate(iterate_lines(path), start=1):
        fields = line.split("\t")
        if not line or line.startswith("#"):
            continue
        if len(fields) != 3:
            raise ValueError(f"{path}, line {number}: {len(fields)} fields; expected 3: word, word, score")
        rows.append(fields)
    word1, word2, score = (list(column) for column in zip(*rows, strict=True))
    return WordPairs(word1, word2, np.array(score, dtype=np.float64), name=request.dataset.name, scale=request.dataset.scale)


def analogies(request: Request) -> Analogies:
    """Four words per line, under section lines that begin with a colon."""
    path, questions, sections, section = request.paths[0], [], [], ""
    for number, line in enumerate(iterate_lines(path), start=1):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) not in (0, 4):
            raise ValueError(f"{path}, line {number}: {len(words)} words; expected 4")
        if words:
            questions.append(words)
            sections.append(section)
    return Analogies(np.array(questions, dtype=np.str_), sections, name=request.dataset.name)
