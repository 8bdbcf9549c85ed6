"""From a publisher's files to ours: fetched, read, compared with the manifest by their rows,
written whole or not at all.

What was proved stands in a receipt beside the file, see `receipts`. Rows that neither checksum
proves are refused, and nothing of them is kept.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import lzma
import os
import posixpath
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..core import (
    BackendUnavailable,
    DamagedFile,
    DataMissing,
    DownloadFailed,
    atomic_open,
    cache_folder,
    warn_data,
)
from ..core.files import process_lives
from .canonical import row_sums
from .download import fetch_published
from .publishers import OURS, Publisher, publishers_of
from .readers import READERS, Files, Row
from .receipts import Receipt, notice, write_receipt
from .registry import RegisteredFile

__all__ = ["downloads", "make_file"]

ESCAPES = {"\\": "\\\\", "\n": "\\n"}
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f]")


@contextlib.contextmanager
def downloads() -> Iterator[Path]:
    """A folder for publishers' files while a command runs, removed at its end.

    It is the process's own, so that two commands do not take each other's files away; folders of
    processes that are gone are removed too. What was cut stays beside it, for the next command.
    """
    folder = cache_folder() / "downloads" / f"run-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    try:
        yield folder
    finally:
        for path in folder.parent.glob("run-*"):
            pid = path.name.split("-")[1]
            if path == folder or not (pid.isdigit() and process_lives(int(pid))):
                shutil.rmtree(path, ignore_errors=True)


# ---------------------------------------------------------------------------------- fetching


def _fetched(
    addresses: Sequence[str],
    name: str,
    publisher: Publisher,
    folder: Path,
    on_bytes: Callable[[str, int, int], None] | None,
) -> tuple[Path, str]:
    """One file of a publisher from the first address that delivers it, and that address."""
    causes = []
    for address in addresses:
        short = hashlib.sha256(address.encode("utf-8")).hexdigest()[:12]
        target = folder / f"{short}-{posixpath.basename(name)}"
        report = None if on_bytes is None else lambda n: on_bytes(name, n, 0)
        try:
            path = fetch_published(
                address,
                target,
                limit=publisher.limit,
                seconds=publisher.seconds,
                parts=folder.parent,
                on_bytes=report,
            )
            return path, address
        except DownloadFailed as error:
            causes.append(str(error))
    raise DownloadFailed("; ".join(causes))


def _from_folder(folder: Path, names: Iterable[str]) -> dict[str, Path] | None:
    """The publisher's own files in a folder, by path or bare name; None when one is not there."""
    places = {
        name: next(
            (
                place
                for place in (folder / name, folder / posixpath.basename(name))
                if place.is_file()
            ),
            None,
        )
        for name in names
    }
    return None if None in places.values() else places


def _files(
    publisher: Publisher,
    folder: Path,
    own: Path | None,
    ours: Callable[[str], Path],
    on_bytes: Callable[[str, int, int], None] | None,
) -> tuple[Files, str]:
    """A publisher's files, fetched or from the folder ``own``, and where they came from."""
    if publisher.base == (OURS,):
        return Files({name: ours(name) for name in publisher.files}), "this machine"
    if own is not None:
        places = _from_folder(own, publisher.own_names())
        if places is None:
            raise DataMissing(f"{own} holds not all of {', '.join(publisher.own_names()[:4])}")
        if publisher.archive:
            return Files({}, *places.values(), members=tuple(publisher.files)), str(own)
        return Files(places), str(own)
    if publisher.archive:
        path, address = _fetched(
            publisher.archive, publisher.own_names()[0], publisher, folder, on_bytes
        )
        return Files({}, path, tuple(publisher.files)), address
    places, used = {}, ""
    for name in publisher.files:
        places[name], used = _fetched(
            [base + name for base in publisher.base], name, publisher, folder, on_bytes
        )
    return Files(places), used.removesuffix(name)


# ---------------------------------------------------------------------- their rows into ours


def _rows(publisher: Publisher, files: Files) -> Iterator[Row]:
    """The rows of all parts, after what the entry says of values and texts."""
    for part in publisher.parts:
        labels, constants = part.get("labels", {}), part.get("set", {})
        for row in READERS[part.get("reader", publisher.reader)](files, part):
            row |= constants
            if any(row[column] in values for column, values in part.get("drop", {}).items()):
                continue
            if any(row[column] != value for column, value in part.get("where", {}).items()):
                continue
            for column, names in labels.items():
                if row[column] not in names:
                    raise DamagedFile(
                        f"{column}={row[column]!r}; expected {', '.join(names)}"
                    )
                row[column] = names[row[column]]
            for column, pairs in part.get("replace", {}).items():
                for old, new in pairs:
                    row[column] = row[column].replace(old, new)
            yield row


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ").replace("\t", " ").strip()


def _table(file: RegisteredFile, rows: Iterable[Row]) -> tuple[list[str], list[Row]]:
    """The columns that the rows have of ours, and the rows with each cell on one line."""
    finished = []
    for row in rows:
        if "text_escaped" in row:
            row["subject"] = _one_line(_subject(row["text_escaped"]))
            row["text_escaped"] = CONTROLS.sub("", row["text_escaped"]).replace("\t", " ")
            row["text_escaped"] = "".join(
                ESCAPES.get(letter, letter) for letter in row["text_escaped"]
            )
        finished.append({column: _one_line(text) for column, text in row.items()})
    columns = [
        column for column in (*file.columns, *file.extra) if finished and column in finished[0]
    ]
    return columns, finished


def _subject(post: str) -> str:
    """The subject line of a post, or nothing."""
    head = post.partition("\n\n")[0].split("\n")
    return next((line[8:] for line in head if line.lower().startswith("subject:")), "")


def _bytes_of(file: RegisteredFile, columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    """Our file: a table, lines, or arrays of words and vectors, packed as its name says."""
    if file.path.endswith(".npz"):
        stream = io.BytesIO()
        matrix = np.array([row["numbers"].split() for row in rows], dtype=np.float32).astype(
            np.float16
        )
        np.savez_compressed(
            stream, words=np.array([row["word"].encode("utf-8") for row in rows]), vectors=matrix
        )
        return stream.getvalue()
    lines = ["\t".join(row[column] for column in columns or ("text",)) for row in rows]
    if columns:
        lines.insert(0, "\t".join(columns))
    data = ("\n".join(lines) + "\n").encode("utf-8")
    pack: Mapping[str, Callable[[bytes], bytes]] = {
        ".gz": lambda d: gzip.compress(d, mtime=0),
        ".bz2": bz2.compress,
        ".xz": lambda d: lzma.compress(d, preset=3),
    }
    return pack.get(Path(file.path).suffix, bytes)(data)


def _proof(file: RegisteredFile, publisher: Publisher, rows: Sequence[Row]) -> str:
    """What the rows prove, see `receipts`. Raises DownloadFailed with both checksums: nothing."""
    if publisher.sample:
        if len(rows) < (least := max(part.get("least", 0) for part in publisher.parts)):
            raise DownloadFailed(
                f"{publisher.name}: {len(rows):,} rows came; expected {least:,} or more"
            )
        if file.rows and not file.exact and len(rows) != file.rows:
            raise DownloadFailed(
                f"{publisher.name}: {len(rows):,} rows came; expected {file.rows:,}"
            )
        return "sample"
    if lacking := [column for column in file.columns if rows and column not in rows[0]]:
        raise DownloadFailed(f"{publisher.name}: no column {lacking[0]}")
    try:
        sums = row_sums(rows, file.columns)
    except ValueError as error:
        raise DownloadFailed(f"{publisher.name}: {error}") from error
    if sums.exact == file.exact:
        return "exact"
    if sums.folded == file.folded:
        return "folded"
    raise DownloadFailed(
        f"{publisher.name}: other rows came: {sums.rows:,} with checksums {sums.exact[:12]}… and, "
        f"folded, {sums.folded[:12]}…; expected {file.rows:,} with {file.exact[:12]}… or "
        f"{file.folded[:12]}…"
    )


@contextlib.contextmanager
def _readable(publisher: Publisher) -> Iterator[None]:
    """Says whose files cannot be read, as parsers raise what they like on what they do not expect.

    Raises DamagedFile; what is no fault of the files passes: the disk's errors, a missing package.
    """
    try:
        yield
    except (DownloadFailed, BackendUnavailable):
        raise
    except DamagedFile as error:
        raise DamagedFile(f"{publisher.name}: {error}") from error
    except Exception as error:
        if isinstance(error, OSError):
            raise
        raise DamagedFile(
            f"{publisher.name}: what came cannot be read: {type(error).__name__} {error}"
        ) from error


def _made(
    file: RegisteredFile, publisher: Publisher, target: Path, files: Files, address: str
) -> Receipt:
    """Read, compare, write: the receipt first, so that the file never lies there without it."""
    with _readable(publisher):
        columns, rows = _table(file, _rows(publisher, files))
        if not rows:
            raise DownloadFailed(f"{publisher.name}: no rows came")
        proof = _proof(file, publisher, rows)
        data = _bytes_of(file, columns, rows)
    missing = tuple(column for column in file.extra if column not in columns)
    receipt = Receipt(
        publisher.name, address, hashlib.sha256(data).hexdigest(), proof, len(rows), missing
    )
    write_receipt(target, receipt)
    with atomic_open(target, "wb") as stream:
        stream.write(data)
    return receipt


def make_file(
    file: RegisteredFile,
    target: Path,
    folder: Path,
    *,
    own: Path | None = None,
    ours: Callable[[str], Path],
    on_bytes: Callable[[str, int, int], None] | None = None,
) -> Receipt:
    """Make one file of ours from the first publisher whose rows hold.

    Parameters
    ----------
    file : the file, with the checksums of its rows
    target : where it is to lie
    folder : for what is fetched meanwhile, see `downloads`
    own : a folder of publishers' own files to take instead of the network
    ours : gives the path of another file of ours by its name, for a file that is made from others
    on_bytes : called with name, bytes so far and 0 (how many there will be is not known)

    Returns
    -------
    Receipt : where it came from and what was proved; a DataWarning says what is not exactly as
    the course had it

    Raises
    ------
    DataMissing : no publisher is known, or ``own`` has no files of one
    DownloadFailed : each publisher, and why it failed
    OSError : no room, or no right to write
    """
    causes, there = [], False
    for publisher in publishers_of(file.path):
        try:
            files, address = _files(publisher, folder, own, ours, on_bytes)
            there = True
            receipt = _made(file, publisher, target, files, address)
        except DataMissing as error:
            causes.append(str(error))
        except (DownloadFailed, DamagedFile, BackendUnavailable) as error:
            there = True
            causes.append(f"{error}")
        else:
            if text := notice(file.path, receipt):
                warn_data(text)
            return receipt
    if not there:
        raise DataMissing(
            f"{file.path}: {'; '.join(dict.fromkeys(causes)) or 'no publisher is known'}"
        )
    raise DownloadFailed(
        f"{file.path} could not be had: "
        + "; ".join(causes)
        + ".\nOther ways: lessons data get NAME "
        "--from FOLDER, with our layout or the publisher's own files, or LESSONS_DATA"
    )
