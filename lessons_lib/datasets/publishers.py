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

from ..core import PROJECT, DamagedFile, existing_path
from .download import checked_source
from .readers import READERS
from .registry import Dataset, dataset_names, registered, safe_path

__all__ = [
    "OURS",
    "Publisher",
    "can_be_fetched",
    "publishers_of",
    "publishers_table",
    "read_publishers",
]

TABLE = PROJECT / "data" / "publishers.toml"
FORMAT = 1
OURS = "ours:"  # in place of an address: files of our own layout
SEEN = {
    "file": "the file itself, in a stored copy of the repository",
    "listing": "a stored page that lists it",
    "mention": "others' code or documentation that uses the address",
}


@dataclass(frozen=True)
class Publisher:
    """One way to a file of ours: addresses of a folder (``base``) or of one ``archive``, and how
    to read what comes.

    ``parts`` are what the reader of the name ``reader`` reads, one after the other; ``sample``
    says that another sample of the same kind is all that can be had; ``seen`` says what was
    looked up of the addresses.
    """

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

    @property
    def addresses(self) -> list[str]:
        """The addresses, shown: of the folder or the archive."""
        return [*self.base, *self.archive]

    def own_names(self) -> list[str]:
        """The names of the files as they are downloaded."""
        return (
            [posixpath.basename(urllib.parse.urlsplit(self.archive[0]).path)]
            if self.archive
            else self.files
        )


def _publisher(entry: dict[str, Any]) -> Publisher:
    entry = dict(entry)
    base, archive = tuple(entry.pop("base", ())), tuple(entry.pop("archive", ()))
    for address in (*base, *archive):
        if address != OURS:
            checked_source(address + ("x" if address in base else ""))
    parts = entry.pop("parts")
    known = {
        "file": safe_path(entry.pop("file")),
        "name": entry.pop("from"),
        "seen": entry.pop("seen"),
        "reader": entry.pop("reader"),
        "sample": entry.pop("sample", False),
        "limit": int(entry.pop("megabytes", 64) * 1_000_000),
        "seconds": entry.pop("minutes", 10) * 60.0,
    }
    READERS[known["reader"]], SEEN[known["seen"]]
    if bool(base) == bool(archive) or not parts:
        raise KeyError("either base or archive, and parts")
    return Publisher(
        base=base, archive=archive, parts=tuple(entry | part for part in parts), **known
    )


def read_publishers(path: Path) -> dict[str, list[Publisher]]:
    """Read a table of publishers, by the path of the file that each makes.

    Raises FileNotFoundError, DamagedFile (no TOML, unknown or missing fields), ValueError (a
    newer format, an address that is not HTTPS, a bad path).
    """
    file = existing_path(path)
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
        if raw["format"] > FORMAT:
            raise ValueError(
                f"{file} has format {raw['format']}, this version reads up to {FORMAT}; "
                "upgrade the course"
            )
        found: dict[str, list[Publisher]] = {}
        for entry in raw["publisher"]:
            publisher = _publisher(entry)
            found.setdefault(publisher.file, []).append(publisher)
        return found
    except (
        tomllib.TOMLDecodeError,
        UnicodeDecodeError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        raise DamagedFile(
            f"{file} is no table of publishers: {type(error).__name__} {error}. "
            "Restore it: git checkout data/publishers.toml"
        ) from error


@functools.lru_cache(maxsize=4)
def _table(path: Path) -> dict[str, list[Publisher]]:
    return read_publishers(path)


def publishers_of(path: str) -> list[Publisher]:
    """The ways to a file of the manifest, in the order in which they are tried."""
    return _table(TABLE).get(path, [])


def can_be_fetched(dataset: Dataset) -> bool:
    """Whether every file of a dataset, or every file of one of its splits, has a known address."""
    parts = dataset.split_files.values() if dataset.split_files else [dataset.files]
    return any(
        files and all(file.sources or publishers_of(file.path) for file in files) for files in parts
    )


def publishers_table() -> str:
    """The addresses as a Markdown table, for ``data/README.md``."""
    looked_up = tomllib.loads(TABLE.read_text(encoding="utf-8"))["looked_up"]
    ways: dict[tuple[str, tuple[str, ...], str, bool], dict[str, None]] = {}
    for name in dataset_names():
        for way in (way for file in registered(name).files for way in publishers_of(file.path)):
            ways.setdefault((way.name, tuple(way.addresses), way.seen, way.sample), {})[name] = None
    lines = [
        f"| dataset | from | addresses, all looked up on {looked_up} and **not reached here** "
        "| looked up |",
        "|---|---|---|---|",
    ]
    for (who, addresses, seen, sample), names in ways.items():
        shown = (
            "none: from the files of `nli-pairs`"
            if addresses == (OURS,)
            else "<br>".join(f"`{address}`" for address in addresses)
        )
        kind = " (not compared)" if sample else ""
        lines.append(f"| {', '.join(names)} | {who}{kind} | {shown} | {seen} |")
    return "\n".join(lines) + "\n"
