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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ..core import (BackendUnavailable, DamagedFile, DataMissing, DownloadFailed, atomic_open,
                    cache_folder, warn_data)
from ..core.files import process_lives
from .canonical import row_sums
from .download import fetch_published
from .publishers import OURS, Publisher, publishers_of
from .readers import READERS, Files, Row
from .receipts import Receipt, notice, write_receipt
from .registry import RegisteredFile

__all__ = ["downloads", "make_file"]

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f]")
BREAKS = re.compile(r"[\r\n\t]")
PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": lambda data: gzip.compress(data, mtime=0),
                                                ".bz2": bz2.compress,
                                                ".xz": lambda data: lzma.compress(data, preset=3)}


@contextlib.contextmanager
def downloads() -> Iterator[Path]:
    """A folder for publishers' files while a command runs, removed at its end. It is the process's
    own, so that two commands do not take each other's files away; folders of processes that are
    gone are removed too. What was cut stays beside it, for the next command."""
    folder = cache_folder() / "downloads" / f"run-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    try:
        yield folder
    finally:
        for path in folder.parent.glob("run-*"):
            pid = path.name.split("-")[1]
            if path == folder or not (pid.isdigit() and process_lives(int(pid))):
                shutil.rmtree(path, ignore_errors=True)


def make_file(file: RegisteredFile, target: Path, folder: Path, *, own: Path | None = None,
              ours: Callable[[str], Path],
              on_bytes: Callable[[str, int, int], None] | None = None) -> Receipt:
    """Make one file of ours, at ``target``, from the first publisher whose rows hold. ``folder`` is
    for what is fetched meanwhile, see `downloads`; ``own`` is a folder of publishers' own files to
    take instead of the network; ``ours`` gives the path of another file of ours by its name, for a
    file that is made from others; ``on_bytes`` is called with name, bytes so far and 0 (how many
    there will be is not known). Returns where it came from and what was proved; a DataWarning says
    what is not exactly as the course had it. Raises DataMissing (no publisher is known, or ``own``
    has no files of one), DownloadFailed (each publisher, and why it failed), OSError (no room, or
    no right to write)."""
    causes, there = [], False
    for publisher in publishers_of(file.path):
        try:
            if publisher.base == (OURS,):
                files = Files({name: ours(name) for name in publisher.files})
                address = "this machine"
            elif own is not None:
                files, address = _from_folder(publisher, own), str(own)
            else:
                files, address = _fetched(publisher, folder, on_bytes)
            there = True
            receipt = _made(file, publisher, target, files, address)
        except DataMissing as error:
            causes.append(str(error))
        except (DownloadFailed, DamagedFile, BackendUnavailable) as error:
            there = True
            causes.append(str(error))
        else:
            if text := notice(file.path, receipt):
                warn_data(text)
            return receipt
    if not there:
        why = "; ".join(dict.fromkeys(causes)) or "no publisher is known"
        raise DataMissing(f"{file.path}: {why}")
    raise DownloadFailed(
        f"{file.path} could not be had: {'; '.join(causes)}.\nOther ways: lessons data get NAME "
        "--from FOLDER, with our layout or the publisher's own files, or LESSONS_DATA")


def _from_folder(publisher: Publisher, folder: Path) -> Files:
    """The publisher's own files in a folder, by path or bare name."""
    paths: dict[str, Path] = {}
    for name in publisher.own_names():
        places = (folder / name, folder / posixpath.basename(name))
        if (place := next(filter(Path.is_file, places), None)) is None:
            names = ", ".join(publisher.own_names()[:4])
            raise DataMissing(f"{folder} holds not all of {names}")
        paths[name] = place
    return _files(publisher, paths)


def _fetched(publisher: Publisher, folder: Path,
             on_bytes: Callable[[str, int, int], None] | None) -> tuple[Files, str]:
    """A publisher's files, each from the first address that delivers it, and the last address."""
    paths, used = {}, ""
    for name in publisher.own_names():
        causes = []
        for address in publisher.archive or [base + name for base in publisher.base]:
            short = hashlib.sha256(address.encode("utf-8")).hexdigest()[:12]
            target = folder / f"{short}-{posixpath.basename(name)}"
            report = on_bytes and (lambda n, name=name: on_bytes(name, n, 0))
            limits = {"limit": publisher.limit, "seconds": publisher.seconds}
            try:
                paths[name] = fetch_published(address, target, **limits, parts=folder.parent,
                                              on_bytes=report)
            except DownloadFailed as error:
                causes.append(str(error))
            else:
                used = address
                break
        if name not in paths:
            raise DownloadFailed("; ".join(causes))
    return _files(publisher, paths), used if publisher.archive else used.removesuffix(name)


def _files(publisher: Publisher, paths: dict[str, Path]) -> Files:
    if publisher.archive:
        return Files({}, *paths.values(), members=publisher.files)
    return Files(paths)


def _rows(publisher: Publisher, files: Files) -> Iterator[Row]:
    """The rows of all parts, after what the entry says of values and texts, each cell on a line."""
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
                    raise DamagedFile(f"{column}={row[column]!r}; expected {', '.join(names)}")
                row[column] = names[row[column]]
            for column, pairs in part.get("replace", {}).items():
                for old, new in pairs:
                    row[column] = row[column].replace(old, new)
            if "text_escaped" in row:
                post = row["text_escaped"]
                head = post.partition("\n\n")[0].split("\n")
                subjects = (line[8:] for line in head if line.lower().startswith("subject:"))
                row["subject"] = next(subjects, "")
                post = CONTROLS.sub("", post).replace("\t", " ")
                row["text_escaped"] = post.replace("\\", "\\\\").replace("\n", "\\n")
            yield {column: BREAKS.sub(" ", text).strip() for column, text in row.items()}


def _bytes_of(file: RegisteredFile, columns: Sequence[str], rows: Sequence[Row]) -> bytes:
    """Our file: a table, lines, or arrays of words and vectors, packed as its name says."""
    if file.path.endswith(".npz"):
        stream = io.BytesIO()
        # row by row: as texts, the numbers of a large set are ten times as large
        matrix = [np.array(row["numbers"].split(), dtype=np.float32).astype(np.float16)
                  for row in rows]
        words = np.array([row["word"].encode("utf-8") for row in rows])
        np.savez_compressed(stream, words=words, vectors=np.array(matrix))
        return stream.getvalue()
    lines = ["\t".join(columns)] if columns else []
    lines += ["\t".join(row[column] for column in columns or ("text",)) for row in rows]
    data = ("\n".join(lines) + "\n").encode("utf-8")
    return PACKERS.get(Path(file.path).suffix, bytes)(data)


def _proof(file: RegisteredFile, publisher: Publisher, rows: Sequence[Row]) -> str:
    """What the rows prove, see `receipts`. Raises DownloadFailed where it is nothing: both
    checksums, or how many rows came."""
    if not rows:
        raise DownloadFailed(f"{publisher.name}: no rows came")
    if publisher.sample:
        least = max(part.get("least", 0) for part in publisher.parts)
        message = f"{publisher.name}: {len(rows):,} rows came; expected"
        if len(rows) < least:
            raise DownloadFailed(f"{message} {least:,} or more")
        if file.rows and not file.exact and len(rows) != file.rows:
            raise DownloadFailed(f"{message} {file.rows:,}")
        return "sample"
    if lacking := [column for column in file.columns if column not in rows[0]]:
        raise DownloadFailed(f"{publisher.name}: no column {lacking[0]}")
    try:
        sums = row_sums(rows, file.columns)
    except ValueError as error:
        raise DownloadFailed(f"{publisher.name}: {error}") from error
    if proof := sums.proof_of(file):
        return proof
    raise DownloadFailed(f"{publisher.name}: {sums.differences(file)}")


def _made(file: RegisteredFile, publisher: Publisher, target: Path, files: Files,
          address: str) -> Receipt:
    """Read, compare, write: the receipt first, so that the file never lies there without it.
    Parsers raise what they like on what they do not expect: that becomes a DamagedFile, but for
    what is no fault of the files, the disk's errors and a missing package."""
    try:
        rows = list(_rows(publisher, files))
        proof = _proof(file, publisher, rows)
        columns = [column for column in (*file.columns, *file.extra) if column in rows[0]]
        data = _bytes_of(file, columns, rows)
    except (OSError, BackendUnavailable):  # DownloadFailed is an OSError
        raise
    except DamagedFile as error:
        raise DamagedFile(f"{publisher.name}: {error}") from error
    except Exception as error:
        why = f"what came cannot be read: {type(error).__name__} {error}"
        raise DamagedFile(f"{publisher.name}: {why}") from error
    missing = tuple(column for column in file.extra if column not in columns)
    digest = hashlib.sha256(data).hexdigest()
    receipt = Receipt(publisher.name, address, digest, proof, len(rows), missing)
    write_receipt(target, receipt)
    with atomic_open(target, "wb") as stream:
        stream.write(data)
    return receipt
