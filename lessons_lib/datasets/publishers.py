"""Who hands out what the course measures on: the table ``data/publishers.toml``, and what is
shown of it.

Nothing here touches the network. `conversion` takes from here what to fetch, and how to read it.
"""

from __future__ import annotations

import functools
import posixpath
import tomllib
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import PROJECT
from .download import checked_source
from .readers import READERS
from .registry import Dataset, dataset_names, read_toml, registered, safe_path

__all__ = ["OURS", "Publisher", "can_be_fetched", "publishers_of", "publishers_table",
           "read_publishers"]

TABLE = PROJECT / "data" / "publishers.toml"
OURS = "ours:"  # in place of an address: files of our own layout
SEEN = ("file", "listing", "mention")  # what was looked up, explained in the table


@dataclass(frozen=True)
class Publisher:
    """One way to a file of ours: addresses of a folder (``base``) or of one ``archive``, and how to
    read what comes. ``parts`` are what the reader of the name ``reader`` reads, one after the
    other; ``sample`` says that another sample of the same kind is all that can be had; ``seen``
    says what was looked up of the addresses."""

    file: str
    name: str
    reader: str
    base: tuple[str, ...]
    archive: tuple[str, ...]
    parts: tuple[Mapping[str, Any], ...]
    seen: str
    sample: bool
    limit: int
    seconds: float

    @property
    def files(self) -> list[str]:
        """The names of all files or members that the parts need."""
        return list(dict.fromkeys(name for part in self.parts for name in part.get("files", ())))

    def own_names(self) -> list[str]:
        """The names of the files as they are downloaded."""
        if not self.archive:
            return self.files
        return [posixpath.basename(urllib.parse.urlsplit(self.archive[0]).path)]


def _publisher(entry: dict[str, Any]) -> Publisher:
    entry = dict(entry)
    base, archive = tuple(entry.pop("base", ())), tuple(entry.pop("archive", ()))
    for address in (*(folder + "x" for folder in base if folder != OURS), *archive):
        checked_source(address)
    parts = entry.pop("parts")
    known = {"file": safe_path(entry.pop("file")), "name": entry.pop("from"),
             "seen": entry.pop("seen"), "reader": entry.pop("reader"),
             "sample": entry.pop("sample", False), "seconds": entry.pop("minutes", 10) * 60.0,
             "limit": int(entry.pop("megabytes", 64) * 1_000_000)}
    if known["reader"] not in READERS or known["seen"] not in SEEN:
        raise KeyError(known["reader"], known["seen"])
    if bool(base) == bool(archive) or not parts:
        raise KeyError("either base or archive, and parts")
    parts = tuple(entry | part for part in parts)  # a part may say anything anew
    return Publisher(base=base, archive=archive, parts=parts, **known)


def read_publishers(path: Path) -> dict[str, list[Publisher]]:
    """Read a table of publishers, by the path of the file that each makes. Raises as `read_toml`;
    ValueError also for an address that is not HTTPS and for a bad path."""
    def build(raw: dict[str, Any]) -> dict[str, list[Publisher]]:
        by_file: dict[str, list[Publisher]] = {}
        for publisher in map(_publisher, raw["publisher"]):
            by_file.setdefault(publisher.file, []).append(publisher)
        return by_file
    return read_toml(path, "table of publishers", build)


_table = functools.lru_cache(maxsize=4)(read_publishers)


def publishers_of(path: str) -> list[Publisher]:
    """The ways to a file of the manifest, in the order in which they are tried."""
    return _table(TABLE).get(path, [])


def can_be_fetched(dataset: Dataset) -> bool:
    """Whether every file of a dataset, or every file of one of its splits, has a known address."""
    parts = dataset.split_files.values() or [dataset.files]
    return any(
        files and all(file.sources or publishers_of(file.path) for file in files) for files in parts
    )


def publishers_table() -> str:
    """The addresses of ``data/publishers.toml`` as a table, for ``data/README.md``.

    Returns
    -------
    str, Markdown
    """
    looked_up = tomllib.loads(TABLE.read_text(encoding="utf-8"))["looked_up"]
    ways: dict[tuple[str, tuple[str, ...], str, bool], dict[str, None]] = {}
    for name in dataset_names():
        for way in (way for file in registered(name).files for way in publishers_of(file.path)):
            key = way.name, way.base + way.archive, way.seen, way.sample
            ways.setdefault(key, {})[name] = None
    lines = [f"| dataset | from | addresses, all looked up on {looked_up} and **not reached here** "
             "| looked up |", "|---|---|---|---|"]
    for (who, addresses, seen, sample), names in ways.items():
        where = "<br>".join(f"`{address}`" for address in addresses)
        if addresses == (OURS,):
            where = "none: from the files of `nli-pairs`"
        kind = " (not compared)" if sample else ""
        lines.append(f"| {', '.join(names)} | {who}{kind} | {where} | {seen} |")
    return "\n".join(lines) + "\n"
