"""What there is, where it is, whether it is whole, and how it gets here: behind ``lessons data list``, ``get`` and ``verify``.

Fetching takes a mirror (``LESSONS_MIRROR`` or ``source=``: an address or a folder with our layout), the manifest's own
sources, or the publishers of ``data/publishers.toml``, whose files become ours here; what arrives lies in the user's
cache. Introduced in lesson ``00_start_here``.
"""

from __future__ import annotations

import logging
import os
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import DamagedFile, DataMissing, DownloadFailed, cache_folder, read_json, sha256, shown, warn_data, write_json
from .canonical import row_sums_of_file
from .conversion import downloads, make_file
from .download import checked_source, copy, fetch, locked
from .publishers import can_be_fetched, publishers_of
from .receipts import Receipt, forget_receipt, has_receipt, notice, receipt_of, write_receipt
from .registry import Dataset, RegisteredFile, dataset_names, registered
from .resolve import bundled_files, cached_path, find, gensim_version, place_of, readable_size
from .tables import read_table

__all__ = ["DatasetRow", "FileState", "conditions", "get", "list_datasets", "verify"]

FREE = ("MIT", "MIT, as the project", "Apache-2.0", "PDDL 1.0")       # licences that ask nothing of who measures


@dataclass(frozen=True)
class DatasetRow:
    """One line of the list: ``found`` is where it would be read from ("LESSONS_DATA", "project", "gensim 4.4.0", "cache") or "" when it is missing.

    ``here`` are the splits (or ("all",)) whose files are on this machine; ``bytes`` is 0 when the size is not registered;
    ``fetchable`` says whether an address is known.
    """

    name: str
    kind: str
    found: str
    here: tuple[str, ...]
    bytes: int
    licence: str
    language: str
    description: str
    fetchable: bool = False


@dataclass(frozen=True)
class FileState:
    """One file of one dataset: ``state`` is "ok", "changed", "missing", or "unchecked" (the manifest knows no checksum).

    Of what was made from a publisher's files, and where rows are compared: "ok" (the very rows), "same rows, written
    otherwise" (in another order, casing or spacing) or "another sample".
    """

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
                      dataset.language, dataset.description, can_be_fetched(dataset))


def list_datasets() -> list[DatasetRow]:
    """Every dataset the library knows, in the order of the manifest."""
    return [_row(registered(name)) for name in dataset_names()]


MADE = {"exact": "ok", "folded": "same rows, written otherwise", "sample": "another sample"}


def _state(file: RegisteredFile, path: Path, rows: bool) -> str:
    """What is known of a file: by its own checksum, by the receipt of its making, or by the checksums of its rows."""
    receipt = receipt_of(path)
    if rows and file.exact and not (receipt and receipt.proof == "sample"):
        try:
            sums = row_sums_of_file(path, file.columns)
        except ValueError:                                   # DamagedFile is one too
            return "changed"
        return "ok" if sums.exact == file.exact else MADE["folded"] if sums.folded == file.folded else "changed"
    if file.sha256 and path.stat().st_size == file.bytes and sha256(path) == file.sha256:
        return "ok"
    if receipt is not None:
        return MADE[receipt.proof]
    return "changed" if file.sha256 or has_receipt(path) else "unchecked"


def _states(dataset: Dataset, rows: bool) -> list[FileState]:
    states, bundled = [], bundled_files(dataset)
    for file in dataset.files:
        found = find(file)
        if found is not None:
            states.append(FileState(dataset.name, file.path, found.place, found.path, _state(file, found.path, rows)))
        elif not bundled:                                    # what gensim ships takes the place of a missing file
            states.append(FileState(dataset.name, file.path, "", None, "missing"))
    return states + [FileState(dataset.name, path.name, "gensim", path, "unchecked") for path in bundled]


def verify(names: Iterable[str] | None = None, *, rows: bool = False) -> list[FileState]:
    """Compare the files of datasets with their registered checksums.

    Parameters
    ----------
    names : of the datasets; None: all
    rows : compare what the tables say, and not their bytes

    Returns
    -------
    list of FileState : a "changed" file below LESSONS_DATA or ``data/`` may be a table that has grown; one in the cache
        is damaged

    Raises
    ------
    ValueError : an unknown name
    TypeError : one str, or no iterable
    """
    if isinstance(names, str):
        raise TypeError(f"names={names!r} is one str; expected a list of names. Pass [{names!r}]")
    if names is not None and (isinstance(names, bytes) or not isinstance(names, Iterable)):
        raise TypeError(f"names={shown(names)} is {type(names).__name__}; expected a list of names, or None for all")
    chosen = [registered(name) for name in (dataset_names() if names is None else names)]
    return [state for dataset in chosen for state in _states(dataset, rows)]


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
    try:
        folder = Path(base).expanduser().resolve()
    except RuntimeError as error:                            # links in a circle, or no such user
        raise FileNotFoundError(f"source={shown(base)} leads nowhere: {error}") from error
    if not folder.is_dir():
        raise FileNotFoundError(f"source={str(folder)!r} is no folder; expected one with the layout of LESSONS_DATA, or an https:// address")
    return str(folder)


def conditions(name: str, *, remember: bool = False) -> str | None:
    """The licence of a dataset where it asks something of its user and was not shown before, else None.

    Parameters: name; remember, note in the cache that it is shown now. Raises ValueError for an unknown name.
    """
    dataset = registered(name)
    licence = dataset.licence
    if licence.startswith("as ") and licence[3:] in dataset_names():
        licence = registered(licence[3:]).licence
    path = cache_folder() / "licences_shown.json"
    try:
        shown_before = read_json(path) if path.is_file() else {}
    except DamagedFile:
        shown_before = {}
    if licence in FREE or not isinstance(shown_before, dict) or shown_before.get(name) == licence:
        return None
    if remember:
        write_json(path, shown_before | {name: licence})
    return f"{name}: {licence} (origin: {dataset.origin})"


def _no_source(dataset: Dataset, file: RegisteredFile) -> DataMissing:
    size = f" ({readable_size(file.bytes)})" if file.bytes else ""
    if dataset.made_by:
        return DataMissing(f"{dataset.name} does not exist yet: {dataset.made_by} will make {file.path}")
    why = "has no public download in this format" if file.sha256 else "has no registered checksum, so that no address can be trusted with it"
    return DataMissing(f"{dataset.name}: {file.path}{size} {why} (origin: {dataset.origin}).\nIf you have it: lessons data get {dataset.name} --from "
                       f"{'URL_OR_FOLDER' if file.sha256 else 'FOLDER'}, or set LESSONS_DATA to the folder that holds {file.path}")


class _Getting:
    """One call of `get`: where to look, and what is made on the way to it."""

    def __init__(self, dataset: Dataset, base: str | None, named: bool, folder: Path,
                 on_bytes: Callable[[str, int, int], None] | None) -> None:
        self.dataset, self.folder, self.on_bytes = dataset, folder, on_bytes
        self.own = Path(base) if base is not None and "://" not in base else None
        self.mirror = base if self.own is None else None
        self.named = named                                   # a mirror that was named in the call is the only one asked

    def file(self, file: RegisteredFile) -> Path:
        """Bring one file into the cache: from a folder, a mirror, the manifest's sources, or its publishers."""
        target = cached_path(file)
        if _whole(file):
            return target
        if self.own is not None:
            return self._from_folder(file, target)
        sources = [f"{self.mirror}/{urllib.parse.quote(file.path)}"] if self.mirror else []
        publishers = [] if self.mirror and self.named else publishers_of(file.path)
        if file.sha256 and (sources or file.sources):
            report = None if self.on_bytes is None else lambda n: self.on_bytes(file.path, n, file.bytes)
            try:
                return fetch(file, target, [*sources, *file.sources], on_bytes=report)
            except DownloadFailed:
                if not publishers:
                    raise
        if not publishers:
            raise _no_source(self.dataset, file)
        return self._made(file, target)

    def _from_folder(self, file: RegisteredFile, target: Path) -> Path:
        origin = self.own / file.path
        if origin.is_file():
            known = self._proved(file, origin)
            if known is None:
                copy(file, origin, target)
                forget_receipt(target)                       # it spoke of the file before this one
                return target
            with locked(target):
                write_receipt(target, known)
            proved = replace(file, sha256=known.sha256, bytes=origin.stat().st_size)
            path = copy(proved, origin, target)
            if text := notice(file.path, known):
                warn_data(text)
            return path
        try:
            return self._made(file, target)
        except DataMissing as error:
            own = f", or the publisher's own files ({error})" if publishers_of(file.path) else ""
            raise DataMissing(f"{self.dataset.name}: {self.own} holds no {file.path}; expected a folder with the layout of LESSONS_DATA"
                              f"{own}") from error

    def _proved(self, file: RegisteredFile, origin: Path) -> Receipt | None:
        """What is known of a file in our layout that was made from a publisher's: by its receipt,
        or by its rows.

        None where its sha256 decides. Raises DownloadFailed where nothing else could, and the rows
        are others.
        """
        digest = sha256(origin)
        if digest == file.sha256:
            return None
        receipt = receipt_of(origin)                         # of a cache that somebody shares
        if receipt is not None and receipt.proof == "sample":
            return receipt
        if not file.exact:
            return None
        try:
            sums = row_sums_of_file(origin, file.columns)
            header = read_table(origin, file.columns).columns
        except ValueError as error:                          # DamagedFile is one too
            raise DownloadFailed(f"{origin} was not copied: {error}") from error
        if sums.exact == file.exact or sums.folded == file.folded:
            proof = "exact" if sums.exact == file.exact else "folded"
            missing = tuple(column for column in file.extra if column not in header)
            who = "a folder with our layout"
            return Receipt(who, str(self.own), digest, proof, sums.rows, missing)
        if file.sha256:
            return None
        raise DownloadFailed(
            f"{origin} was not copied: {sums.rows:,} other rows with checksums {sums.exact[:12]}… "
            f"and, folded, {sums.folded[:12]}…; expected {file.rows:,} with {file.exact[:12]}… or "
            f"{file.folded[:12]}…"
        )

    def _made(self, file: RegisteredFile, target: Path) -> Path:
        with locked(target):
            if not _whole(file):                             # another process may have made it
                make_file(file, target, self.folder, own=self.own, ours=self._ours,
                          on_bytes=self.on_bytes)
        return target

    def _ours(self, path: str) -> Path:
        """Another file of ours, which one is made from: where it lies, or fetched now."""
        file = next(file for name in dataset_names() for file in registered(name).files if file.path == path)
        found = find(file)
        return found.path if found is not None else self.file(file)


def get(name: str, *, source: str | None = None, files: Sequence[RegisteredFile] | None = None,
        on_bytes: Callable[[str, int, int], None] | None = None, tell: Callable[[str], None] | None = None) -> list[Path]:
    """Bring a dataset into the cache; what is already whole there is not fetched again.

    From a folder, splits that are not in it are left out as long as one is. A dataset that gensim ships needs no
    fetching: its installed files are returned.

    Parameters
    ----------
    name : of the dataset
    source : an https address or a folder with the layout of LESSONS_DATA; a folder may hold the publisher's own files
        too. None: LESSONS_MIRROR, the manifest's sources, then the publishers of ``data/publishers.toml``
    files : only these; None: all
    on_bytes : called with the path, the bytes so far and the bytes in all (0: not known)
    tell : called with the licence, once per dataset, before something comes that has conditions; None: a warning of
        ``logging``

    Returns
    -------
    list of Path : the files. A DataWarning says where rows are not exactly those that the course was measured on.

    Raises
    ------
    ValueError : name, address
    FileNotFoundError : the folder
    DataMissing : nobody has it
    DownloadFailed : each address and its cause; other rows than the course's, with both checksums
    OSError : no room, or no right to write
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
    with downloads() as folder:
        getting = _Getting(dataset, base, source is not None, folder, on_bytes)
        if not all(map(_whole, wanted)) and (text := conditions(name, remember=True)):
            (tell or logging.getLogger(__name__).warning)(f"Licence of {text}")
        return [getting.file(file) for file in wanted]


def _reachable(file: RegisteredFile, base: str | None) -> bool:
    if base is not None and "://" not in base:
        own = [name for way in publishers_of(file.path) for name in way.own_names()]
        return any((Path(base) / name).is_file() for name in (file.path, *own, *(Path(name).name for name in own)))
    return bool(file.sha256 and (base or file.sources)) or bool(publishers_of(file.path))


def _whole(file: RegisteredFile) -> bool:
    path = cached_path(file)
    return path.is_file() and ((bool(file.sha256) and sha256(path) == file.sha256) or receipt_of(path) is not None)
