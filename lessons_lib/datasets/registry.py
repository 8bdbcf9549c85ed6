"""The datasets this library knows by name, read from ``data/manifest.toml``.

Each has a kind, files with sizes and checksums, splits, licence and origin; nothing here touches the data itself. Paths in the manifest
are names, never directions: whatever could leave the data folder is refused. Listed by ``lessons data list``, lesson ``00_start_here``.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core import PROJECT, DamagedFile, check_choice, existing_path

__all__ = ["Dataset", "RegisteredFile", "dataset_names", "read_manifest", "registered", "safe_path"]

MANIFEST = PROJECT / "data" / "manifest.toml"
FORMAT = 1
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)       # names that Windows keeps for devices


@dataclass(frozen=True)
class RegisteredFile:
    """One file of the layout: ``path`` below a data folder, ``bytes`` and ``sha256`` ("" when unknown), documents in it (0: unknown).

    ``columns`` are those that its row checksums ``exact`` and ``folded`` are over (see `canonical`), ``extra`` the others,
    which not every publisher has; ``rows`` is their number.
    """

    path: str
    bytes: int = 0
    sha256: str = ""
    texts: int = 0
    sources: tuple[str, ...] = ()
    rows: int = 0
    columns: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    exact: str = ""
    folded: str = ""


@dataclass(frozen=True)
class Dataset:
    """One entry of the manifest. ``split_files`` maps each split to its files; with ``in_column`` all splits lie in the same files.

    With ``part_by`` the parts are no splits of data: they are chosen by a keyword of that name, such as ``model``.
    """

    name: str
    kind: str
    description: str
    language: str
    licence: str
    origin: str
    default: str
    splits: tuple[str, ...]
    files: tuple[RegisteredFile, ...]
    split_files: dict[str, tuple[RegisteredFile, ...]] = field(repr=False)
    bundled: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
    made_by: str = ""
    part_by: str = ""
    label: str = ""
    columns: dict[str, str] = field(default_factory=dict, repr=False)
    escaped: bool = False

    @property
    def bytes(self) -> int:
        """Size of all files whose size is known."""
        return sum(file.bytes for file in self.files)

    @property
    def in_column(self) -> bool:
        """Whether the rows of a file say which split they belong to."""
        return bool(self.splits) and not self.split_files

    def checked_split(self, split: str | None) -> str:
        """The split to load: the default for None. Raises ValueError with the nearest and all allowed names."""
        return self.default if split is None else check_choice("split", split, dict.fromkeys((*self.splits, "all")))

    def files_of(self, split: str) -> tuple[RegisteredFile, ...]:
        """The files that hold a split."""
        return self.split_files.get(split, self.files)


def safe_path(path: str) -> str:
    """Return a relative path of plain names. Raises ValueError for anything that could lead out of a data folder on any system."""
    parts = path.split("/")
    bad = any(not part or part in (".", "..") or part != part.strip(" .") or RESERVED.fullmatch(part) for part in parts)
    if bad or re.search(r"[\\:\x00-\x1f<>\"|?*]", path):
        raise ValueError(f"path={path[:60]!r} is not allowed; expected plain names joined by '/', below the data folder")
    return path


def _file(path: str, entry: dict[str, Any]) -> RegisteredFile:
    lists = {key: tuple(entry.get(key, ())) for key in ("sources", "columns", "extra")}
    return RegisteredFile(path=safe_path(path), **(entry | lists))


def _dataset(name: str, entry: dict[str, Any], files: dict[str, RegisteredFile]) -> Dataset:
    entry = dict(entry)
    by_split = {split: tuple(files[path] for path in paths) for split, paths in entry.pop("splits", {}).items()}
    every = [file for part in by_split.values() for file in part] + [files[path] for path in entry.pop("files", ())]
    for key in ("bundled", "filters"):
        entry[key] = tuple(entry.get(key, ()))
    scale = entry.pop("scale", None)
    return Dataset(name=name, splits=tuple(by_split) or tuple(entry.pop("split_names", ())), split_files=by_split, files=tuple(every),
                   scale=(float(scale[0]), float(scale[1])) if scale else None, default=entry.pop("default", "all"), **entry)


def read_manifest(path: str | os.PathLike) -> dict[str, Dataset]:
    """Read a manifest. Raises FileNotFoundError, DamagedFile (no TOML, unknown or missing fields), ValueError (a newer format, a bad path)."""
    file = existing_path(path)
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
        if raw["format"] > FORMAT:
            raise ValueError(f"{file} has format {raw['format']}, this version reads up to {FORMAT}; upgrade the course")
        files = {name: _file(name, entry) for name, entry in raw["files"].items()}
        return {name: _dataset(name, entry, files) for name, entry in raw["datasets"].items()}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise DamagedFile(f"{file} is no dataset manifest: {type(error).__name__} {error}. Restore it: git checkout data/manifest.toml") from error


@functools.lru_cache(maxsize=4)
def _manifest(path: Path) -> dict[str, Dataset]:
    return read_manifest(path)


def dataset_names() -> list[str]:
    """The names that `load` knows, in the order of the manifest."""
    return list(_manifest(MANIFEST))


def registered(name: str) -> Dataset:
    """The entry of one dataset. Raises ValueError with the nearest and all known names."""
    known = _manifest(MANIFEST)
    return known[check_choice("name", name, known)]
