"""Texts in shards, on which the processes of a Dask cluster work: a map over the shards, whose
results are merged two by two, neighbours first.

A merge that keeps the order of its two sides gives what one process would have found, however many
workers there are and whichever is ready first. Dask remembers how each result came about, so what
was lost with a worker is worked out again by another. Used by ``counts``, ``topics`` and
``search``; the page on machines that are too small says when it pays.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self

from ..core import BackendUnavailable, check_int, checked_batches, existing_path, shown
from ..locking import install_line
from .shared_work import merged

__all__ = ["FileShard", "Shards", "TextShard", "dask_client", "merged"]

CHARACTERS, BYTES = 1 << 20, 1 << 25     # of a shard: texts that travel, and a part of a file


@contextmanager
def dask_client(scheduler: str | None = None, *, workers: int = 2) -> Iterator[Any]:
    """A client of a Dask cluster.

    Parameters
    ----------
    scheduler : str or None
        Address of a scheduler, such as ``tcp://10.0.0.1:8786``; its workers need the course and
        the same versions. None starts processes on this machine, and ends them.
    workers : int >= 1, default 2
        How many, without a scheduler.

    Yields
    ------
    distributed.Client

    Raises
    ------
    BackendUnavailable
        Dask is not installed, or no scheduler answers.
    TypeError, ValueError
        ``workers``.
    """
    workers = check_int("workers", workers)
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise BackendUnavailable(f"work in shards needs Dask, which is not installed ({error}): "
                                 f"{install_line('dask')}") from error
    if scheduler is None:
        with (LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as own,
              Client(own) as client):
            yield client
        return
    try:
        client = Client(scheduler)
    except (OSError, ValueError) as error:
        raise BackendUnavailable(f"scheduler={shown(scheduler)} does not answer ({error}). Start "
                                 "one: dask scheduler; and workers beside it: dask worker "
                                 f"{scheduler}") from error
    with client:
        yield client


@dataclass(frozen=True, eq=False)
class TextShard:
    """Some texts, which travel to their worker."""

    held: list[str]

    def texts(self) -> list[str]:
        """The texts."""
        return self.held


@dataclass(frozen=True)
class FileShard:
    """The lines of a file that lie between two bytes; a worker reads them where it is."""

    path: str
    begin: int
    end: int
    encoding: str = "utf-8"

    def texts(self) -> list[str]:
        """A text for each line. Raises OSError, ValueError for bytes of another encoding."""
        with open(self.path, "rb") as file:
            file.seek(self.begin)
            data = file.read(self.end - self.begin)
        try:
            text = data.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path}, byte {self.begin + error.start}: not "
                             f"{self.encoding} ({error.reason}); name the file's encoding, such "
                             "as encoding='latin-1'") from error
        lines = text.removeprefix("\ufeff" if self.begin == 0 else "").split("\n")
        return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


class Shards:
    """Texts in shards and who works on them: `counts.tally` fits bags of words on them,
    `sharded_corpus` numbers them.

    Parameters
    ----------
    parts : iterable of TextShard or FileShard, one at least
    client : distributed.Client
    """

    def __init__(self, parts: Iterable[TextShard | FileShard], client: Any):
        self.parts, self.client = list(parts), client

    @classmethod
    def of_texts(cls, texts: Iterable[str], client: Any, *, characters: int = CHARACTERS) -> Self:
        """Texts of this process, about so many ``characters`` in a shard. Raises as
        `core.checked_batches`."""
        parts, held, size = [], [], 0
        for text in chain.from_iterable(checked_batches(texts, name="texts")):
            held.append(text)
            size += len(text)
            if size >= characters:
                parts.append(TextShard(held))
                held, size = [], 0
        return cls(parts + [TextShard(held)] * bool(held), client)

    @classmethod
    def of_file(cls, path: str | os.PathLike, client: Any, *, encoding: str = "utf-8",
                size: int = BYTES) -> Self:
        """The lines of a text file that all workers can read under this path, about ``size`` bytes
        in a shard. Raises FileNotFoundError, ValueError for an encoding whose lines do not end in
        the byte 10, and for a file without lines."""
        file = existing_path(path)
        if "\n".encode(encoding) != b"\n" or codecs.lookup(encoding).name == "utf-7":
            raise ValueError(f"encoding={encoding!r} cannot be cut at the ends of lines; expected "
                             "one with one byte for a line end, such as 'utf-8'. Convert the file")
        return cls(_cut(file, encoding, check_int("size", size)), client)

    def merged(self, work: Callable[..., Any], merge: Callable[[Any, Any], Any], *,
               shared: Any = None) -> Any:
        """`merged` over these shards."""
        return merged(self.client, work, self.parts, merge, shared=shared)


def _cut(file: Path, encoding: str, size: int) -> list[FileShard]:
    """Shards that end where lines do."""
    total, cuts = file.stat().st_size, [0]
    if total == 0:
        raise ValueError(f"{file} holds 0 documents; expected >= 1 line")
    with open(file, "rb") as opened:
        while cuts[-1] + size < total:
            opened.seek(cuts[-1] + size - 1)
            opened.readline()
            cuts.append(opened.tell())
    ends = [*cuts[1:], total] if cuts[-1] < total else cuts[1:]
    return [FileShard(str(file.absolute()), begin, end, encoding)
            for begin, end in zip(cuts, ends, strict=False)]
