"""What there is, where it is, whether it is whole, and how it gets here: behind ``lessons data list``, ``get`` and ``verify``.

Fetching takes the manifest's own sources, a mirror (``LESSONS_MIRROR`` or ``source=``: an address or a folder with the same layout), or
both; what arrives lies in the user's cache. Introduced in lesson ``00_start_here``.
"""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import DataMissing, sha256, shown
from .download import checked_source, copy, fetch
from .registry import Dataset, RegisteredFile, dataset_names, registered
from .resolve import bundled_files, cached_path, find, gensim_version, place_of, readable_size

__all__ = ["DatasetRow", "FileState", "get", "list_datasets", "verify"]


@dataclass(frozen=True)
class DatasetRow:
    """One line of the list: ``found`` is where it would be read from ("LESSONS_DATA", "project", "gensim 4.4.0", "cache") or "" when it is missing.

    ``here`` are the splits (or ("all",)) whose files are on this machine; ``bytes`` is 0 when the size is not registered.
    """

    name: str
    kind: str
    found: str
    here: tuple[str, ...]
    bytes: int
    licence: str
    language: str
    description: str


@dataclass(frozen=True)
class FileState:
    """One file of one dataset: ``state`` is "ok", "changed", "missing", or "unchecked" (the manifest knows no checksum)."""

    name: str
    file: str
    place: str
    path: Path | None
    state: str


def _row(dataset: Dataset) -> DatasetRow:
    parts = {split: dataset.files_of(split) for split in (dataset.splits if dataset.split_files else ("all",))}
    places = {split: place_of(dataset, files) for split, files in parts.items()}
    here = tuple(split for split, place in places.items() if place)
    place = next((places[split] for split in here), "") or ""
    size = dataset.bytes or sum(path.stat().st_size for path in bundled_files(dataset))
    size = size or sum(found.path.stat().st_size for file in dataset.files if (found := find(file)))
    return DatasetRow(dataset.name, dataset.kind, f"gensim {gensim_version()}" if place == "gensim" else place, here, size, dataset.licence,
                      dataset.language, dataset.description)


def list_datasets() -> list[DatasetRow]:
    """Every dataset the library knows, in the order of the manifest."""
    return [_row(registered(name)) for name in dataset_names()]


def _states(dataset: Dataset) -> list[FileState]:
    states, bundled = [], bundled_files(dataset)
    for file in dataset.files:
        found = find(file)
        if found is None and bundled:
            continue                                         # what gensim ships takes its place
        if found is None:
            states.append(FileState(dataset.name, file.path, "", None, "missing"))
        else:
            same = not file.sha256 or (found.path.stat().st_size == file.bytes and sha256(found.path) == file.sha256)
            state = ("ok" if file.sha256 else "unchecked") if same else "changed"
            states.append(FileState(dataset.name, file.path, found.place, found.path, state))
    return states + [FileState(dataset.name, path.name, "gensim", path, "unchecked") for path in bundled]


def verify(names: Iterable[str] | None = None) -> list[FileState]:
    """Compare the files of datasets with their registered checksums.

    Parameters: names, all for None. A "changed" file below LESSONS_DATA or ``data/`` may be a table that has grown; one in the cache is damaged.
    Raises ValueError for an unknown name, TypeError for one str or no iterable.
    """
    if isinstance(names, str):
        raise TypeError(f"names={names!r} is one str; expected a list of names. Pass [{names!r}]")
    if names is not None and (isinstance(names, bytes) or not isinstance(names, Iterable)):
        raise TypeError(f"names={shown(names)} is {type(names).__name__}; expected a list of names, or None for all")
    chosen = [registered(name) for name in (dataset_names() if names is None else names)]
    return [state for dataset in chosen for state in _states(dataset)]


def _check_source(source: object) -> None:
    if source is not None and not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source={shown(source)} is {type(source).__name__}; expected an https:// address or a folder")
    if source is not None and not str(source).strip():
        raise ValueError(f"source={shown(source)} is empty; expected an https:// address or a folder with the layout of LESSONS_DATA")


def _mirror(source: str | None) -> str | None:
    """The base to take files from: an address or a folder that exists. Raises ValueError, FileNotFoundError."""
    base = source if source is not None else os.environ.get("LESSONS_MIRROR") or None
    if base is None:
        return None
    if "://" in str(base):
        return checked_source(str(base)).rstrip("/")
    folder = Path(base).expanduser().resolve()
    if not folder.is_dir():
        raise FileNotFoundError(f"source={str(folder)!r} is no folder; expected one with the layout of LESSONS_DATA, or an https:// address")
    return str(folder)


def _no_source(dataset: Dataset, file: RegisteredFile) -> DataMissing:
    size = f" ({readable_size(file.bytes)})" if file.bytes else ""
    if dataset.made_by:
        return DataMissing(f"{dataset.name} does not exist yet: {dataset.made_by} will make {file.path}")
    why = "has no public download in this format" if file.sha256 else "has no registered checksum, so that no address can be trusted with it"
    return DataMissing(f"{dataset.name}: {file.path}{size} {why} (origin: {dataset.origin}).\nIf you have it: lessons data get {dataset.name} --from "
                       f"{'URL_OR_FOLDER' if file.sha256 else 'FOLDER'}, or set LESSONS_DATA to the folder that holds {file.path}")


def _get_file(dataset: Dataset, file: RegisteredFile, base: str | None, on_bytes: Callable[[str, int, int], None] | None) -> Path:
    target = cached_path(file)
    if base is not None and "://" not in base:
        origin = Path(base) / file.path
        if origin.is_file():
            return copy(file, origin, target)
        raise DataMissing(f"{dataset.name}: {base} holds no {file.path}; expected a folder with the layout of LESSONS_DATA")
    sources = [f"{base}/{urllib.parse.quote(file.path)}"] if base else []
    if not file.sha256 or not (sources or file.sources):
        raise _no_source(dataset, file)
    report = None if on_bytes is None else lambda n: on_bytes(file.path, n, file.bytes)
    return fetch(file, target, [*sources, *file.sources], on_bytes=report)


def get(name: str, *, source: str | None = None, files: Sequence[RegisteredFile] | None = None,
        on_bytes: Callable[[str, int, int], None] | None = None) -> list[Path]:
    """Bring a dataset into the cache; what is already whole there is not fetched again.

    Parameters: name; source, an https address or a folder with the layout of LESSONS_DATA (None: LESSONS_MIRROR, then the manifest's sources);
    files, only these (None: all); on_bytes, called with path, bytes so far and bytes in all. From a folder, splits that are not in it are
    left out as long as one is. A dataset that gensim ships needs no fetching: its installed files are returned.
    Returns the paths. Raises ValueError (name, address), FileNotFoundError (folder), DataMissing (nobody has it), DownloadFailed, OSError.
    """
    dataset = registered(name)
    _check_source(source)
    if bundled_files(dataset) and (source is None or not dataset.files):
        return bundled_files(dataset)
    base = _mirror(source)
    wanted = list(dataset.files if files is None else files)
    if files is None and len(dataset.split_files) > 1:
        reachable = [file for file in wanted if _reachable(file, base)]
        wanted = reachable or wanted
    done = [cached_path(file) for file in wanted if _whole(file)]
    return done + [_get_file(dataset, file, base, on_bytes) for file in wanted if not _whole(file)]


def _reachable(file: RegisteredFile, base: str | None) -> bool:
    if base is not None and "://" not in base:
        return (Path(base) / file.path).is_file()
    return bool(file.sha256 and (base or file.sources))


def _whole(file: RegisteredFile) -> bool:
    return bool(file.sha256) and cached_path(file).is_file() and sha256(cached_path(file)) == file.sha256
