"""What there is, where it is, whether it is whole, and how it gets here: behind ``lessons data
list``, ``get`` and ``verify``.

Fetching takes a mirror (``LESSONS_MIRROR`` or ``source=``: an address or a folder with our
layout), the manifest's own sources, or the publishers of ``data/publishers.toml``, whose files
become ours here; what arrives lies in the user's cache. Introduced in lesson ``00_start_here``.
"""

from __future__ import annotations

import logging
import os
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from ..core import (DamagedFile, DataMissing, DownloadFailed, cache_folder, checked_path,
                    read_json, sha256, shown, warn_data, write_json)
from .canonical import RowSums, row_sums_of
from .conversion import downloads, make_file
from .download import checked_source, copy, fetch, locked
from .publishers import can_be_fetched, publishers_of
from .receipts import Receipt, notice, place_of_receipt, receipt_of, write_receipt
from .registry import Dataset, RegisteredFile, dataset_names, registered
from .resolve import (STATES, bundled_files, cached_path, find, in_package, packaged_files,
                      place_of, remedy, state_of)
from .tables import Table, read_table

__all__ = ["DatasetRow", "FileState", "conditions", "get", "list_datasets", "verify"]

FREE = ("MIT", "MIT, as the project", "Apache-2.0", "PDDL 1.0")  # ask nothing of who measures


@dataclass(frozen=True)
class DatasetRow:
    """One line of the list of datasets.

    Parameters
    ----------
    name, kind, licence, language, description : str
    found : {"LESSONS_DATA", "project", "gensim 4.4.0", "cache", ""}, or the name of a package
        Where it would be read from; "" when it is missing.
    here : tuple of str, the splits, or ("all",), whose files are on this machine
    bytes : int, 0 when the size is not registered
    fetchable : bool, whether an address is known
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
    """One file of one dataset.

    Parameters
    ----------
    name, file, place : str, of the dataset, of the file, and where it lies
    path : Path, optional
    state : str
        "ok", "changed", "missing", or "unchecked" (no checksum is known). Of what was made from a
        publisher's files, and where rows are compared: "ok" (the very rows), "same rows, written
        otherwise" (in another order, casing or spacing) or "another sample".
    """

    name: str
    file: str
    place: str
    path: Path | None
    state: str


def list_datasets() -> list[DatasetRow]:
    """Every dataset the library knows.

    Returns
    -------
    list of DatasetRow, in the order of the manifest
    """
    return [_row(registered(name)) for name in dataset_names()]


def _row(dataset: Dataset) -> DatasetRow:
    splits = dataset.splits if dataset.split_files else ("all",)
    places = {split: place_of(dataset, dataset.files_of(split)) for split in splits}
    places = {split: place for split, place in places.items() if place}
    place = next(iter(places.values()), "")
    bundled = sum(path.stat().st_size for path in bundled_files(dataset))
    size = sum(at.path.stat().st_size for file in dataset.files if (at := find(file)))
    if place == "gensim":
        place += f" {metadata.version('gensim')}"
    return DatasetRow(dataset.name, dataset.kind, place, tuple(places),
                      dataset.bytes or bundled or size, dataset.licence, dataset.language,
                      dataset.description, can_be_fetched(dataset))


def verify(names: Iterable[str] | None = None, *, rows: bool = False) -> list[FileState]:
    """Compare the files of datasets with their registered checksums.

    Parameters
    ----------
    names : iterable of str, optional, None: all datasets
    rows : bool, default False, compare what the tables say, and not their bytes

    Returns
    -------
    list of FileState
        A "changed" file below LESSONS_DATA or ``data/`` may be a table that has grown; one in the
        cache is damaged.

    Raises
    ------
    ValueError : an unknown name
    TypeError : one str, or no iterable
    """
    if isinstance(names, str):
        raise TypeError(f"names={names!r} is one str; expected a list of names. Pass [{names!r}]")
    if names is not None and (isinstance(names, bytes) or not isinstance(names, Iterable)):
        got = f"names={shown(names)} is {type(names).__name__}"
        raise TypeError(f"{got}; expected a list of names, or None for all")
    states = []
    for dataset in [registered(name) for name in (dataset_names() if names is None else names)]:
        bundled = bundled_files(dataset)
        for file in dataset.files:
            if (at := find(file)) is not None:
                state = _state(file, at.path, rows)
                states.append(FileState(dataset.name, file.path, at.place, at.path, state))
            elif not bundled:  # what gensim ships takes the place of a missing file
                states.append(FileState(dataset.name, file.path, "", None, "missing"))
        states += [FileState(dataset.name, p.name, "gensim", p, "unchecked") for p in bundled]
        for file, path in in_package(dataset).items():
            place = dataset.package.split("==")[0] if path else ""
            state = state_of(file, path) if path else "missing"
            states.append(FileState(dataset.name, file.path, place, path, state))
    return states


def _state(file: RegisteredFile, path: Path, rows: bool) -> str:
    """What is known of a file, by its bytes or by its rows."""
    receipt = receipt_of(path)
    if not (rows and _has_rows(file)) or (receipt and receipt.proof == "sample"):
        return state_of(file, path)
    try:
        return STATES.get(_sums(file, path)[0].proof_of(file), "changed")
    except ValueError:  # DamagedFile is one too
        return "changed"


def _has_rows(file: RegisteredFile) -> bool:
    """Whether the rows of a file can be summed again: arrays keep fewer digits than came."""
    return bool(file.exact) and not file.path.endswith(".npz")


def _sums(file: RegisteredFile, path: Path) -> tuple[RowSums, Table]:
    """The checksums of the rows of a file that lies somewhere, and its table."""
    table = read_table(path, file.columns)
    return row_sums_of(table, file.columns), table


def conditions(name: str, *, remember: bool = False) -> str | None:
    """The licence of a dataset where it asks something of its user and was not shown before.

    Parameters
    ----------
    name : str
    remember : bool, default False, note in the cache that it is shown now

    Returns
    -------
    str, or None : nothing to show

    Raises
    ------
    ValueError : an unknown name
    """
    dataset = registered(name)
    licence = dataset.licence
    if licence.startswith("as ") and licence[3:] in dataset_names():
        licence = registered(licence[3:]).licence
    path = cache_folder() / "licences_shown.json"
    try:
        before = read_json(path) if path.is_file() else {}
    except DamagedFile:
        before = {}
    if licence in FREE or not isinstance(before, dict) or before.get(name) == licence:
        return None
    if remember:
        write_json(path, before | {name: licence})
    return f"{name}: {licence} (origin: {dataset.origin})"


def get(name: str, *, source: str | None = None, files: Sequence[RegisteredFile] | None = None,
        on_bytes: Callable[[str, int, int], None] | None = None,
        tell: Callable[[str], None] | None = None) -> list[Path]:
    """Bring a dataset into the cache; what is already whole there is not fetched again.

    From a folder, splits that are not in it are left out as long as one is. A dataset that gensim
    or a package of weights ships needs no fetching: its installed files are returned.

    Parameters
    ----------
    name : str
    source : str or Path, optional
        An https address or a folder with the layout of LESSONS_DATA; a folder may hold the
        publisher's own files too. None: LESSONS_MIRROR, the manifest's sources, then the
        publishers of ``data/publishers.toml``.
    files : sequence of RegisteredFile, optional, only these
    on_bytes : callable, optional, of the path, the bytes so far and in all (0: not known)
    tell : callable, optional
        Called with the licence, once per dataset, before something comes that has conditions.
        None: a warning of ``logging``.

    Returns
    -------
    list of Path
        A DataWarning says where rows are not exactly those that the course was measured on.

    Raises
    ------
    ValueError, TypeError : name, address
    FileNotFoundError : the folder
    DataMissing : nobody has it
    DownloadFailed : each address and its cause; other rows than the course's, with both checksums
    OSError : no room, or no right to write
    """
    dataset = registered(name)
    if dataset.packaged:
        return packaged_files(dataset)
    bundled = bundled_files(dataset)
    if source is None and bundled:
        return bundled
    base = _base(source)
    if not dataset.files and bundled:
        return bundled

    def reachable(file: RegisteredFile) -> bool:
        if isinstance(base, Path):
            own = [name for way in publishers_of(file.path) for name in way.own_names()]
            names = (file.path, *own, *(Path(name).name for name in own))
            return any((base / name).is_file() for name in names)
        return bool(file.sha256 and (base or file.sources)) or bool(publishers_of(file.path))

    wanted = list(dataset.files if files is None else files)
    if files is None and len(dataset.split_files) > 1:
        wanted = list(filter(reachable, wanted)) or wanted
    with downloads() as folder:
        getting = _Getting(dataset, base, source is not None, folder, on_bytes)
        if not all(map(_whole, wanted)) and (text := conditions(name, remember=True)):
            (tell or logging.getLogger(__name__).warning)(f"Licence of {text}")
        return [getting.file(file) for file in wanted]


def _base(source: object) -> str | Path | None:
    """What to take files from: an address, a folder that exists, or None. Raises TypeError,
    ValueError, FileNotFoundError."""
    expected = "expected an https:// address or a folder with the layout of LESSONS_DATA"
    if source is not None and not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source={shown(source)} is {type(source).__name__}; {expected}")
    if source is not None and not str(source).strip():
        raise ValueError(f"source={shown(source)} is empty; {expected}")
    base = str(os.environ.get("LESSONS_MIRROR", "") if source is None else source)
    if not base:
        return None
    if "://" in base:
        return checked_source(base).rstrip("/")
    try:
        folder = checked_path(base, "source").resolve()
    except RuntimeError as error:  # links in a circle, or no such user
        raise FileNotFoundError(f"source={shown(base)} leads nowhere: {error}") from error
    if not folder.is_dir():
        raise FileNotFoundError(f"source={str(folder)!r} is no folder; {expected}")
    return folder


def _whole(file: RegisteredFile) -> bool:
    path = cached_path(file)
    return path.is_file() and state_of(file, path) not in ("changed", "unchecked")


@dataclass
class _Getting:
    """One call of `get`: where to look (``named``: in the call, so nowhere else), and the folder
    for what is fetched on the way."""

    dataset: Dataset
    base: str | Path | None
    named: bool
    folder: Path
    on_bytes: Callable[[str, int, int], None] | None

    def file(self, file: RegisteredFile) -> Path:
        """Bring one file into the cache: from a folder, a mirror, the manifest's sources, or its
        publishers."""
        target = cached_path(file)
        if _whole(file):
            return target
        if isinstance(self.base, Path):
            return self._from_folder(file, target)
        sources = [f"{self.base}/{urllib.parse.quote(file.path)}"] if self.base else []
        publishers = [] if self.base and self.named else publishers_of(file.path)
        if file.sha256 and (sources or file.sources):
            report = self.on_bytes and (lambda n: self.on_bytes(file.path, n, file.bytes))
            try:
                return fetch(file, target, [*sources, *file.sources], on_bytes=report)
            except DownloadFailed:
                if not publishers:
                    raise
        if not publishers:
            why = "public download in this format"
            if not file.sha256:
                why = "registered checksum, so that no address can be trusted with it"
            way = remedy(self.dataset, [file])
            raise DataMissing(f"{self.dataset.name}: {file.path} has no {why}.\n{way}")
        return self._made(file, target)

    def _from_folder(self, file: RegisteredFile, target: Path) -> Path:
        origin = self.base / file.path
        if not origin.is_file():
            try:
                return self._made(file, target)
            except DataMissing as error:
                own = publishers_of(file.path) and f", or the publisher's own files ({error})"
                raise DataMissing(
                    f"{self.dataset.name}: {self.base} holds no {file.path}; expected a folder "
                    f"with the layout of LESSONS_DATA{own or ''}") from error
        known = self._proved(file, origin)
        if known is None:
            copy(file, origin, target)
            place_of_receipt(target).unlink(missing_ok=True)  # of the file before this one
            return target
        with locked(target):
            write_receipt(target, known)
        copy(replace(file, sha256=known.sha256, bytes=origin.stat().st_size), origin, target)
        if text := notice(file.path, known):
            warn_data(text)
        return target

    def _proved(self, file: RegisteredFile, origin: Path) -> Receipt | None:
        """What is known of a file in our layout that was made from a publisher's: by its receipt,
        or by its rows. None where its sha256 decides. Raises DownloadFailed where nothing else
        could, and the rows are others."""
        digest = sha256(origin)
        if digest == file.sha256:
            return None
        receipt = receipt_of(origin)  # of a cache that somebody shares
        if receipt is not None and (receipt.proof == "sample" or not _has_rows(file)):
            return receipt
        if not _has_rows(file):
            return None
        try:
            sums, table = _sums(file, origin)
        except ValueError as error:  # DamagedFile is one too
            raise DownloadFailed(f"{origin} was not copied: {error}") from error
        if proof := sums.proof_of(file):
            lacks = tuple(column for column in file.extra if column not in table.columns)
            return Receipt("a folder with our layout", str(self.base), digest, proof, sums.rows,
                           lacks)
        if file.sha256:
            return None
        raise DownloadFailed(f"{origin} was not copied: {sums.differences(file)}")

    def _made(self, file: RegisteredFile, target: Path) -> Path:
        own = self.base if isinstance(self.base, Path) else None
        with locked(target):
            if not _whole(file):  # another process may have made it
                make_file(file, target, self.folder, own=own, ours=self._ours,
                          on_bytes=self.on_bytes)
        return target

    def _ours(self, path: str) -> Path:
        """Another file of ours, which one is made from: where it lies, or fetched now."""
        known = (file for name in dataset_names() for file in registered(name).files)
        file = next(file for file in known if file.path == path)
        at = find(file)
        return at.path if at is not None else self.file(file)
