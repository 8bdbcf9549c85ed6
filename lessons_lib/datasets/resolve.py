"""Finds the files of a dataset on this machine, in a fixed order, and says plainly what is missing
and how to get it.

The order: the folder that ``LESSONS_DATA`` names, ``data/`` of the project, what gensim's wheel
ships, the user's cache. Files in the first two are the user's own and may grow; a file in the
cache must still have the checksum of the manifest. Weights that a Python package holds are files
of its folder: of its code nothing is run, and their checksums must hold. Lesson ``00_start_here``.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import PROJECT, DamagedFile, DataMissing, cache_folder, external_data_folder, sha256
from .publishers import publishers_of
from .receipts import place_of_receipt, receipt_of
from .registry import Dataset, RegisteredFile

__all__ = ["Found", "bundled_files", "cached_path", "checksum_of", "find", "find_all",
           "in_package", "missing", "packaged_files", "place_of", "remedy", "state_of"]

CACHE = "cache"
STATES = {"exact": "ok", "folded": "same rows, written otherwise", "sample": "another sample"}


@dataclass(frozen=True)
class Found:
    """Where a registered file lies: ``place`` is "LESSONS_DATA", "project" or "cache"."""

    file: RegisteredFile
    path: Path
    place: str


def cached_path(file: RegisteredFile) -> Path:
    """Where the cache keeps a file, there or not."""
    return cache_folder() / "data" / file.path


def _folders() -> dict[str, Path]:
    external = external_data_folder()
    first = {"LESSONS_DATA": external} if external else {}
    return first | {"project": PROJECT / "data", CACHE: cache_folder() / "data"}


def find(file: RegisteredFile) -> Found | None:
    """The first place that holds a file, or None."""
    for place, folder in _folders().items():
        if (folder / file.path).is_file():
            return Found(file, folder / file.path, place)
    return None


def checksum_of(file: RegisteredFile) -> str:
    """The checksum for the card of what is made from a file.

    Parameters
    ----------
    file : RegisteredFile

    Returns
    -------
    str : sha256 of the manifest, or of what a publisher's files became here
    """
    at = find(file)
    receipt = receipt_of(at.path) if at is not None and at.place == CACHE else None
    return receipt.sha256 if receipt is not None else file.sha256


def state_of(file: RegisteredFile, path: Path) -> str:
    """What is known of a file by its checksum or by the receipt of its making, see `FileState`."""
    if file.sha256 and path.stat().st_size == file.bytes and sha256(path) == file.sha256:
        return "ok"
    if (receipt := receipt_of(path)) is not None:
        return STATES[receipt.proof]
    return "changed" if file.sha256 or place_of_receipt(path).is_file() else "unchecked"


def _package_folder(module: str) -> Path | None:
    """Where a Python package lies; it is not imported, so that none of its code is run."""
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def _gensim_folder() -> Path | None:
    package = _package_folder("gensim")
    folder = package and package / "test" / "test_data"
    return folder if folder and folder.is_dir() else None


def bundled_files(dataset: Dataset) -> list[Path]:
    """The files of a dataset that gensim's wheel ships; empty when it ships none or is not
    installed whole."""
    folder = _gensim_folder() if dataset.bundled else None
    paths = [folder / name for name in dataset.bundled] if folder else []
    return paths if all(path.is_file() for path in paths) else []


def in_package(dataset: Dataset) -> dict[RegisteredFile, Path | None]:
    """Where the files of a dataset that is a package of weights lie; None for what is not there."""
    folder = _folder_of_weights(dataset)
    paths = {file: folder and folder.parent / file.path for file in dataset.packaged}
    return {file: path if path and path.is_file() else None for file, path in paths.items()}


def _folder_of_weights(dataset: Dataset) -> Path | None:
    modules = {file.path.split("/")[0] for file in dataset.packaged}  # none, or one
    return next(map(_package_folder, modules), None)


def packaged_files(dataset: Dataset) -> list[Path]:
    """The files of a dataset that is a package of weights, and those of ours that belong to it.
    Raises DataMissing with what installs it; DamagedFile for a file that is not the registered
    one."""
    again = f"Install it again: pip install --force-reinstall --no-deps {dataset.package}"
    paths, remedies = in_package(dataset), dict.fromkeys(dataset.packaged, again)
    if _folder_of_weights(dataset) is None:
        raise missing(dataset, dataset.packaged)
    for file, path in zip(dataset.files, find_all(dataset, dataset.files), strict=True):
        paths[file], remedies[file] = path, f"Remove it, or: git checkout data/{file.path}"
    for file, path in paths.items():
        if path is None or state_of(file, path) != "ok":
            there = f"{path} has {path.stat().st_size:,} bytes" if path else f"no {file.path}"
            raise DamagedFile(
                f"{dataset.name} was changed or damaged: {there}, expected {file.bytes:,} with "
                f"checksum {file.sha256[:12]}…. {remedies[file]}")
    return list(paths.values())


def place_of(dataset: Dataset, files: Sequence[RegisteredFile]) -> str | None:
    """The one word that says where a dataset would be read from, or None when some is missing."""
    if dataset.packaged:
        whole = all(in_package(dataset).values()) and all(map(find, files))
        return dataset.package.split("==")[0] if whole else None
    places = [find(file) for file in files]
    here = bool(files) and all(places)
    if here and not (dataset.bundled and any(f.place == CACHE for f in places)):
        return places[0].place
    return "gensim" if bundled_files(dataset) else CACHE if here else None


def find_all(dataset: Dataset, files: Sequence[RegisteredFile], *,
             split: str = "all") -> list[Path]:
    """The paths of files that must be there. Raises DataMissing, and DamagedFile for a changed
    file of the cache."""
    places = {file: find(file) for file in files}
    if absent := [file for file, at in places.items() if at is None]:
        raise missing(dataset, absent, split=split)
    for file, at in places.items():
        if at.place == CACHE and state_of(file, at.path) == "changed":
            wanted = (f"{file.bytes:,} with {file.sha256[:12]}…" if file.sha256
                      else "those it was made with")
            raise DamagedFile(
                f"{at.path} was changed or damaged: {at.path.stat().st_size:,} bytes with checksum "
                f"{sha256(at.path)[:12]}…, expected {wanted}. Remove it and get it again: lessons "
                "data get")
    return [at.path for at in places.values()]


def missing(dataset: Dataset, absent: Sequence[RegisteredFile], *,
            split: str = "all") -> DataMissing:
    """The error for data that is not here: name, size, splits that are here, folders searched, and
    the remedy."""
    what = dataset.name
    if dataset.packaged and absent == dataset.packaged:
        return DataMissing(f"{what} is not on this machine: it needs the package {dataset.package},"
                           f" which is not installed.\n{remedy(dataset, absent)}")
    if split != "all":
        what += f" ({dataset.part_by or 'split'} {split!r})"
    size = sum(file.bytes for file in absent)
    readable = f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
    present = [name for name, files in dataset.split_files.items() if all(map(find, files))]
    others = f" Splits that are here: {', '.join(map(repr, present))}." if present else ""
    folders = _folders()
    external = folders.pop("LESSONS_DATA", None)
    first = ("LESSONS_DATA (not set)" if external is None else
             f"{external}{'' if external.is_dir() else ' (no such folder)'}")
    return DataMissing(
        f"{what} is not on this machine{f' ({readable})' if size else ''}.{others}\n"
        f"Looked in {', '.join([first, *map(str, folders.values())])}\n{remedy(dataset, absent)}"
    )


def remedy(dataset: Dataset, absent: Sequence[RegisteredFile]) -> str:
    """What brings the files of a dataset here that are absent."""
    if dataset.made_by:
        return f"It does not exist yet: {dataset.made_by} will make it"
    if dataset.packaged and absent == dataset.packaged:
        size = sum(file.bytes for file in absent)
        return f"Get it ({size / 1e6:.0f} MB): pip install --no-deps {dataset.package}"
    if not absent:
        return "It comes with gensim: python -m lessons_lib test installs what the course needs"
    names = ", ".join(file.path for file in absent[:3]) + (", …" if len(absent) > 3 else "")
    public = all(file.sources or publishers_of(file.path) for file in absent)
    known = all(file.sha256 for file in absent)  # no address is trusted with the others
    source = "" if public else " --from URL_OR_FOLDER" if known else " --from FOLDER"
    if known and os.environ.get("LESSONS_MIRROR"):
        source = ""
    return (
        f"Get it: lessons data get {dataset.name}{source}; or set LESSONS_DATA to a folder with "
        f"{names} (origin: {dataset.origin})")
