"""Texts that are read from their files each time they are iterated, so that 50 million words need no memory.

A stream can be iterated any number of times and knows its length without reading when its files are those of the manifest. It has no
``[i]``: the way to text number i leads through all before it; ``take`` gives the first n as `Documents`. Used from lesson 04 on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ..core import check_int
from .records import Documents
from .rows import Request
from .tables import iterate_lines

__all__ = ["StreamedDocuments", "streamed_articles", "streamed_lines"]


def _articles(path: Path) -> Iterator[str]:
    """Texts between blank lines, their lines joined by a newline."""
    lines: list[str] = []
    for line in iterate_lines(path):
        if line:
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def _lines(path: Path) -> Iterator[str]:
    return (line for line in iterate_lines(path) if line)


@dataclass(frozen=True, eq=False)
class StreamedDocuments:
    """Texts read anew at each iteration; an iterable of str with a length, and the attributes of `Documents`."""

    paths: tuple[Path, ...] = field(repr=False)
    read: Callable[[Path], Iterator[str]] = field(repr=False)
    known: int | None = field(default=None, repr=False)
    name: str = ""
    split: str = "all"
    labels: None = field(default=None, repr=False)
    titles: None = field(default=None, repr=False)
    label_names: tuple[str, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[str]:
        return (text for path in self.paths for text in self.read(path))

    def __len__(self) -> int:
        return self._count if self.known is None else self.known

    @functools.cached_property
    def _count(self) -> int:
        return sum(1 for _ in self)

    @property
    def texts(self) -> StreamedDocuments:
        """The stream itself, where `Documents` has its list."""
        return self

    def take(self, n: int) -> Documents:
        """The first ``n`` texts (or all there are) in memory. Raises TypeError or ValueError for anything but an int >= 1."""
        return Documents(list(islice(self, check_int("n", n))), name=self.name, split=self.split)


def _known(request: Request) -> int | None:
    """How many texts the manifest promises, if every file has the size it knows."""
    by_name = {Path(file.path).name: file for file in request.dataset.files}
    files = [by_name.get(path.name) for path in request.paths]
    if all(file and file.texts and file.bytes == path.stat().st_size for file, path in zip(files, request.paths, strict=True)):
        return sum(file.texts for file in files)
    return None


def streamed_articles(request: Request) -> StreamedDocuments:
    """One article per text, one sentence per line in it."""
    return _stream(request, _articles)


def streamed_lines(request: Request) -> StreamedDocuments:
    """One line per text."""
    return _stream(request, _lines)


def _stream(request: Request, read: Callable[[Path], Iterator[str]]) -> StreamedDocuments:
    return StreamedDocuments(request.paths, read, _known(request), request.dataset.name, request.split)
