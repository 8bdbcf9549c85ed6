"""The datasets this library knows by name, read from ``data/manifest.toml``.

Each has a kind, files with sizes and checksums, splits, licence and origin; nothing here touches
the data itself. Paths in the manifest are names, never directions: whatever could leave the data
folder is refused. Listed by ``lessons data list``, lesson ``00_start_here``.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..core import PROJECT, DamagedFile, check_choice, existing_path

__all__ = ["Dataset", "RegisteredFile", "dataset_names", "read_manifest", "read_toml", "registered",
           "safe_path"]

MANIFEST = PROJECT / "data" / "manifest.toml"
FORMAT = 1
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # devices of Windows


@dataclass(frozen=True)
class RegisteredFile:
    """One file of the layout.

    Parameters
    ----------
    path : str, below a data folder
    bytes, texts, rows : int, size, documents and rows; 0: unknown
    sha256 : str, "": unknown
    sources : tuple of str, addresses of exactly this file
    columns, extra : tuple of str
        Those that the row checksums are over, and the others, which not every publisher has.
    exact, folded : str, checksums of the rows, see `canonical`
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
    """One entry of the manifest.

    Parameters
    ----------
    name, kind, description, language, licence, origin : str
    default : str, the split that is loaded when none is named
    splits : tuple of str
    files : tuple of RegisteredFile, of all splits
    split_files : dict of tuple of RegisteredFile
        The files of each split; empty where all splits lie in the same files.
    bundled : tuple of str, files of gensim's wheel that hold the same
    filters : tuple of str, keywords of `load`
    scale : (float, float), optional, of the grades
    made_by : str, what will make a set that does not exist yet
    part_by : str
        The parts are no splits of data: they are chosen by a keyword of this name.
    label : str, of its rows in a table of several sets
    columns : dict of str, which column of a table is the text, the label, the title
    escaped : bool, texts have ``\\n`` for a line end
    package : str, name==version of the Python package that ``packaged`` belong to
    packaged : tuple of RegisteredFile
        Files of that package, by the module's name and the path in it.
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
    package: str = ""
    packaged: tuple[RegisteredFile, ...] = ()

    @property
    def bytes(self) -> int:
        """Size of all files whose size is known."""
        return sum(file.bytes for file in (*self.packaged, *self.files))

    @property
    def in_column(self) -> bool:
        """Whether the rows of a file say which split they belong to."""
        return bool(self.splits) and not self.split_files

    def checked_split(self, split: str | None) -> str:
        """The split to load.

        Parameters
        ----------
        split : str, optional
            None: the default.

        Returns
        -------
        str

        Raises
        ------
        ValueError : an unknown split, with the nearest and all allowed names
        """
        allowed = dict.fromkeys((*self.splits, "all"))
        return self.default if split is None else check_choice("split", split, allowed)

    def files_of(self, split: str) -> tuple[RegisteredFile, ...]:
        """The files that hold a split.

        Parameters
        ----------
        split : str

        Returns
        -------
        tuple of RegisteredFile
        """
        return self.split_files.get(split, self.files)


def safe_path(path: str) -> str:
    """Return a relative path of plain names. Raises ValueError for anything that could lead out of
    a data folder on any system."""
    parts = path.split("/")
    bad = re.search(r"[\\:\x00-\x1f<>\"|?*]", path) or any(
        part in ("", ".", "..") or part != part.strip(" .") or RESERVED.fullmatch(part)
        for part in parts
    )
    if bad:
        raise ValueError(
            f"path={path[:60]!r} is not allowed; expected plain names joined by '/', below the "
            "data folder")
    return path


def read_toml(path: str | os.PathLike, what: str, build: Callable[[dict[str, Any]], Any]) -> Any:
    """What ``build`` makes of a TOML file of the project's data folder. Raises FileNotFoundError,
    DamagedFile (no TOML, unknown or missing fields), ValueError (a newer format, and what ``build``
    raises)."""
    file = existing_path(path)
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
        if raw["format"] > FORMAT:
            newer = f"{file} has format {raw['format']}"
            raise ValueError(f"{newer}, this version reads up to {FORMAT}; upgrade the course")
        return build(raw)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError,
            AttributeError) as error:
        raise DamagedFile(f"{file} is no {what}: {type(error).__name__} {error}. "
                          f"Restore it: git checkout data/{file.name}") from error


def read_manifest(path: str | os.PathLike) -> dict[str, Dataset]:
    """Read a manifest. Raises as `read_toml`; ValueError also for a bad path in it."""
    def dataset(name: str, entry: dict[str, Any], files: dict[str, RegisteredFile]) -> Dataset:
        by_split = {split: tuple(files[path] for path in paths)
                    for split, paths in entry.pop("splits", {}).items()}
        every = [file for part in by_split.values() for file in part]
        every += [files[path] for path in entry.pop("files", ())]
        names = tuple(entry.pop("split_names", ()))
        packaged = tuple(files[path] for path in entry.pop("packaged", ()))
        for key, kind in {"bundled": str, "filters": str, "scale": float}.items():
            if key in entry:
                entry[key] = tuple(map(kind, entry[key]))
        return Dataset(name=name, splits=tuple(by_split) or names, split_files=by_split,
                       files=tuple(every), packaged=packaged, **{"default": "all"} | entry)

    def build(raw: dict[str, Any]) -> dict[str, Dataset]:
        files = {}
        for name, entry in raw["files"].items():
            lists = {key: tuple(entry.get(key, ())) for key in ("sources", "columns", "extra")}
            files[name] = RegisteredFile(path=safe_path(name), **(entry | lists))
        return {name: dataset(name, entry, files) for name, entry in raw["datasets"].items()}

    return read_toml(path, "dataset manifest", build)


_manifest = functools.lru_cache(maxsize=4)(read_manifest)


def dataset_names() -> list[str]:
    """The names that `load` knows.

    Returns
    -------
    list of str, in the order of the manifest
    """
    return list(_manifest(MANIFEST))


def registered(name: str) -> Dataset:
    """The entry of one dataset.

    Parameters
    ----------
    name : str

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError : an unknown name, with the nearest and all known ones
    """
    known = _manifest(MANIFEST)
    return known[check_choice("name", name, known)]
