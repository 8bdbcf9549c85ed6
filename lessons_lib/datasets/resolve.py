"""Finds the files of a dataset on this machine, in a fixed order, and says plainly what is missing and how to get it.

The order: the folder that ``LESSONS_DATA`` names, ``data/`` of the project, what gensim's wheel ships, the user's cache. Files in the
first two are the user's own and may grow; a file in the cache must still have the checksum of the manifest. Lesson ``00_start_here``.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..core import PROJECT, DamagedFile, DataMissing, cache_folder, external_data_folder, sha256
from .publishers import publishers_of
from .receipts import has_receipt, receipt_of
from .registry import Dataset, RegisteredFile

__all__ = ["Found", "bundled_files", "cached_path", "checksum_of", "find", "find_all", "gensim_version", "missing", "place_of", "readable_size"]

CACHE = "cache"


@dataclass(frozen=True)
class Found:
    """Where a registered file lies: ``place`` is "LESSONS_DATA", "project" or "cache"."""

    file: RegisteredFile
    path: Path
    place: str


def readable_size(n: int) -> str:
    """Bytes for people: ``18.5 MB``."""
    return f"{n / 1e6:.1f} MB" if n >= 100_000 else f"{n / 1e3:.1f} kB"


def cached_path(file: RegisteredFile) -> Path:
    """Where the cache keeps a file, there or not."""
    return cache_folder() / "data" / file.path


def _folders() -> list[tuple[str, Path]]:
    external = external_data_folder()
    first = [("LESSONS_DATA", external)] if external else []
    return [*first, ("project", PROJECT / "data"), (CACHE, cache_folder() / "data")]


def find(file: RegisteredFile) -> Found | None:
    """The first place that holds a file, or None."""
    return next((Found(file, folder / file.path, place) for place, folder in _folders() if (folder / file.path).is_file()), None)


def checksum_of(file: RegisteredFile) -> str:
    """The sha256 for the card of what is made from a file: of the manifest, or of what a publisher's files became here."""
    found = find(file)
    receipt = receipt_of(found.path) if found is not None and found.place == CACHE else None
    return receipt.sha256 if receipt is not None else file.sha256


def _checked(found: Found) -> Found:
    if found.place == CACHE and (found.file.sha256 or has_receipt(found.path)):
        digest = sha256(found.path)
        if digest != found.file.sha256 and receipt_of(found.path) is None:
            wanted = "those it was made with"
            if found.file.sha256:
                wanted = f"{found.file.bytes:,} with {found.file.sha256[:12]}…"
            raise DamagedFile(f"{found.path} was changed or damaged: {found.path.stat().st_size:,} bytes with checksum {digest[:12]}…, expected "
                              f"{wanted}. Remove it and get it again: lessons data get")
    return found


def _gensim_folder() -> Path | None:
    spec = importlib.util.find_spec("gensim")                # finds the package without importing it, which would take a second
    folder = Path(spec.submodule_search_locations[0], "test", "test_data") if spec and spec.submodule_search_locations else None
    return folder if folder and folder.is_dir() else None


def gensim_version() -> str:
    """Version of the installed gensim."""
    return metadata.version("gensim")


def bundled_files(dataset: Dataset) -> list[Path]:
    """The files of a dataset that gensim's wheel ships; empty when it ships none or is not installed whole."""
    folder = _gensim_folder() if dataset.bundled else None
    paths = [folder / name for name in dataset.bundled] if folder else []
    return paths if all(path.is_file() for path in paths) else []


def place_of(dataset: Dataset, files: Sequence[RegisteredFile]) -> str | None:
    """The one word that says where a dataset would be read from, or None when some of it is missing."""
    found = [find(file) for file in files]
    if files and all(found) and not (dataset.bundled and any(f.place == CACHE for f in found)):
        return found[0].place
    return "gensim" if bundled_files(dataset) else CACHE if files and all(found) else None


def find_all(dataset: Dataset, files: Sequence[RegisteredFile], *, split: str = "all") -> list[Path]:
    """The paths of files that must be there. Raises DataMissing, and DamagedFile for a changed file of the cache."""
    found = [find(file) for file in files]
    if not all(found):
        raise missing(dataset, [file for file, place in zip(files, found, strict=True) if not place], split=split)
    return [_checked(place).path for place in found]


def _looked_in() -> str:
    external = external_data_folder()
    first = "LESSONS_DATA (not set)" if external is None else f"{external}{'' if external.is_dir() else ' (no such folder)'}"
    return ", ".join([first, *(str(folder) for place, folder in _folders() if place != "LESSONS_DATA")])


def _remedy(dataset: Dataset, absent: Sequence[RegisteredFile]) -> str:
    if dataset.made_by:
        return f"It does not exist yet: {dataset.made_by} will make it"
    if not absent:
        return "It comes with gensim: python -m lessons_lib test installs what the course needs"
    names = ", ".join(file.path for file in absent[:3]) + (", …" if len(absent) > 3 else "")
    public = all(file.sources or publishers_of(file.path) for file in absent) or os.environ.get("LESSONS_MIRROR")
    source = "" if public else f" --from {'URL_OR_FOLDER' if all(file.sha256 for file in absent) else 'FOLDER'}"
    return f"Get it: lessons data get {dataset.name}{source}; or set LESSONS_DATA to a folder with {names} (origin: {dataset.origin})"


def missing(dataset: Dataset, absent: Sequence[RegisteredFile], *, split: str = "all") -> DataMissing:
    """The error for data that is not here: name, size, splits that are here, folders searched, and the remedy."""
    size = sum(file.bytes for file in absent)
    part = dataset.part_by or "split"
    what = f"{dataset.name}{f' ({part} {split!r})' if split != 'all' else ''}"
    present = [name for name, files in dataset.split_files.items() if all(map(find, files))]
    others = f" Splits that are here: {', '.join(map(repr, present))}." if present else ""
    return DataMissing(f"{what} is not on this machine{f' ({readable_size(size)})' if size else ''}.{others}\n"
                       f"Looked in {_looked_in()}\n{_remedy(dataset, absent)}")
