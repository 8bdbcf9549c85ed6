"""Vectors of many texts into one ``.npy`` file, a few thousand at a time: what is stopped goes on
where it stopped.

Rows are added to a file beside the place (``….npy.part``); a card (``….npy.json``) says of which
texts they are and by which encoder, once they are on the disk. When all are there the file gets its
name. Works for every `core.Encoder`. Used by ``lessons encode``.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..core import (DamagedFile, DataWarning, Encoder, check_int, check_kind, checked_batches,
                    checked_path, read_json, shown, track, warn_data, write_json)
from ..core.files import writing
from ..core.locks import locked
from ..text.shared_work import in_turn

__all__ = ["encode_to"]

FORMAT = 1
TEXTS_AT_ONCE = 4096                              # between two moments from which a run can go on
PROBE = "A man plays a large flute in the harbour of the old town, and 3 children listen to him."


def encode_to(encoder: Encoder, path: str | os.PathLike, texts: Iterable[str], *,
              batch_size: int = 256, progress: bool = False, client: Any = None) -> np.ndarray:
    """Encode texts into a file, and go on with it if it was begun before; nothing is encoded twice.

    Ctrl-C keeps all rows but those of the last 4096 texts at most; the same call goes on. A
    finished file of the same texts and encoder is returned as it is.

    Parameters
    ----------
    encoder : Encoder
    path : str or path
        Ends in ``.npy``.
    texts : iterable of str
        In the same order whenever the call is repeated.
    batch_size : int >= 1, default 256
        Handed on to the encoder.
    progress : bool, default False
    client : distributed.Client, optional
        As `text.shards.dask_client` gives it: its workers encode, 4096 texts at a time; the
        encoder is pickled and sent to each once. Rows are those of one process; of a network up to
        rounding, where workers use another number of threads.

    Returns
    -------
    (n, dim) float32
        Mapped from the file.

    Raises
    ------
    TypeError, ValueError
        A path, texts, a file of other texts or of another encoder.
    FileExistsError
        A file without a card.
    DamagedFile
    """
    check_int("batch_size", batch_size)
    check_kind("encoder", encoder, Encoder, "an encoder, with name, dim and encode")
    target = checked_path(path)
    if target.suffix != ".npy":
        raise ValueError(f"path={str(path)!r} ends in {target.suffix!r}; expected a file that ends "
                         "in '.npy'")
    batches = checked_batches(texts, name="texts", allow_empty=True, size=TEXTS_AT_ONCE)
    total = len(texts) if hasattr(texts, "__len__") else None
    with writing(target, state="What was encoded is kept: the same call goes on"), locked(target):
        rows = _Rows(target, encoder)
        with _one_warning() as heard:
            tasks = _tasks(batches, len(rows.known), encoder, batch_size, client)
            for batch, vectors in track(tasks, total=total, label=f"encode {target.name}",
                                        show=progress, size=lambda task: len(task[0]),
                                        unit=" texts"):
                heard(rows.n)
                rows.add(batch, vectors)
            rows.finish()
    return np.load(target, mmap_mode="r")


def _tasks(batches: Iterator[list[str]], n_known: int, encoder: Encoder, batch_size: int,
           client: Any) -> Iterator[tuple[list[str], Callable[[], np.ndarray]]]:
    """Some texts, and what gives their vectors; workers get no texts whose vectors are known."""
    work = partial(_encoded, encoder=encoder, batch_size=batch_size)
    for batch in batches if client is None else islice(batches, n_known):
        yield batch, partial(work, batch)
    if client is not None:
        for batch, task in in_turn(client, partial(_encoded, batch_size=batch_size), batches,
                                   encoder):
            yield batch, task.result


def _encoded(batch: list[str], encoder: Encoder, batch_size: int) -> np.ndarray:
    return encoder.encode(batch, batch_size=batch_size)


class _Rows:
    """The file on its way, and its card."""

    def __init__(self, target: Path, encoder: Encoder) -> None:
        self.target, self.part = target, target.with_name(f"{target.name}.part")
        self.card_file = target.with_name(f"{target.name}.json")
        self.dim, self.about = int(encoder.dim), _about(encoder)
        self.finished, self.n, self.at = target.exists(), 0, 0
        self.sums: list[int] = []                 # crc32 of the rows of each part
        self.known: list[list[Any]] = self._known()
        if self.finished:
            self._check_size(self.target)
        else:
            self._cut()
        self._check_rows(self.target if self.finished else self.part)

    def _known(self) -> list[list[Any]]:
        """Number and checksum of the texts of each part. Raises ValueError for another encoder's.
        """
        if not self.card_file.exists():
            if self.finished:
                raise FileExistsError(f"{self.target} exists and nothing says whose vectors it "
                                      "holds; remove it, or choose another name")
            return []
        card = read_json(self.card_file)
        try:
            known = [[int(n), str(digest)] for n, digest in card["parts"]]
            self.sums = [int(number) for number in card.get("sums", ())]    # none, once
            about, version = card["encoder"], int(card["format"])
            same = (about["settings"] == self.about["settings"]
                    and np.allclose(about["probe"], self.about["probe"], rtol=1e-3, atol=1e-6))
        except (TypeError, KeyError, ValueError) as error:
            raise DamagedFile(f"{self.card_file} is no card of encoded texts: {error!r}. Remove it "
                              f"and {self.part.name}, and begin anew") from error
        if version > FORMAT:
            raise ValueError(f"{self.card_file} has format {version}, this version reads up to "
                             f"{FORMAT}; upgrade the course")
        if not same:
            raise ValueError(f"{self.target} was begun by another encoder: "
                             f"{shown(about['settings'])}, now {shown(self.about['settings'])}, or "
                             "one with other weights. Choose another name, or remove "
                             f"{self.target.name}, .part and .json")
        return known

    def _check_size(self, path: Path) -> None:
        """Raise DamagedFile for a file without the bytes of the rows that the card knows."""
        n = sum(n for n, _ in self.known)
        size, expected = path.stat().st_size, len(self._header(n)) + self._row * n
        if size != expected:
            raise DamagedFile(f"{path} was cut or changed: {size:,} bytes found, {expected:,} "
                              f"expected. Remove it and {self.card_file.name}, and begin anew")

    def _check_rows(self, path: Path) -> None:
        """Raise DamagedFile where rows are not those that were written."""
        at = 0
        with open(path, "rb") as file:
            file.seek(len(self._header(0)))
            for (n, _), noted in zip(self.known, self.sums, strict=False):    # old: none
                if zlib.crc32(file.read(self._row * n)) != noted:
                    raise DamagedFile(f"{path} was changed or damaged in rows {at:,} to "
                                      f"{at + n:,}. Remove it and {self.card_file.name}, and "
                                      "begin anew")
                at += n

    @property
    def _row(self) -> int:
        return 4 * self.dim

    def _cut(self) -> None:
        """Leave in the file what the card knows; what a stopped run wrote after it goes."""
        size = len(self._header(0)) + self._row * sum(n for n, _ in self.known)
        there = self.part.stat().st_size if self.part.exists() else 0
        if self.known and there < size:
            raise DamagedFile(f"{self.part} was cut: {there:,} bytes found, {size:,} expected. "
                              f"Remove it and {self.card_file.name}, and begin anew")
        self.part.parent.mkdir(parents=True, exist_ok=True)
        with open(self.part, "r+b" if self.part.exists() else "wb") as file:
            file.write(self._header(0))
            file.truncate(size)

    def _header(self, n: int) -> bytes:
        """That of a NumPy file; it has the same length for every n."""
        file = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (n, self.dim)})
        return file.getvalue()

    def add(self, batch: list[str], vectors: Callable[[], np.ndarray]) -> None:
        """Add the vectors of some texts, unless they are there. Raises ValueError for other texts'
        vectors.
        """
        mark = [len(batch), _checksum(batch)]
        if self.at < len(self.known):
            if self.known[self.at] != mark:
                raise ValueError(f"{self.target} holds vectors of other texts (from "
                                 f"texts[{self.n}] on). Choose another name, or remove "
                                 f"{self.target.name}, .part and .json")
        elif self.finished:
            raise ValueError(f"{self.target} holds vectors of {self.n:,} texts, and there are "
                             "more. Choose another name, or remove it")
        else:
            self._write(vectors(), len(batch))
            self.known.append(mark)
            write_json(self.card_file, {"format": FORMAT, "encoder": self.about,
                                        "parts": self.known, "sums": self.sums})
        self.n, self.at = self.n + len(batch), self.at + 1

    def _write(self, vectors: Any, n: int) -> None:
        array = np.ascontiguousarray(vectors, dtype="<f4")
        if array.shape != (n, self.dim):
            raise ValueError(f"the encoder gave vectors of shape {array.shape} for {n} texts; "
                             f"expected {(n, self.dim)}")
        with open(self.part, "ab") as file:
            file.write(array.data)
            file.flush()
            os.fsync(file.fileno())
        if len(self.sums) == len(self.known):     # one that an earlier version began has none
            self.sums.append(zlib.crc32(array.data))

    def finish(self) -> None:
        """Give the file its name. Raises ValueError where there were fewer texts than before."""
        if self.at < len(self.known):
            raise ValueError(f"{self.target} holds vectors of more than these {self.n:,} texts. "
                             "Choose another name, or remove it and its .json")
        if self.finished:
            return
        if not self.known:
            write_json(self.card_file, {"format": FORMAT, "encoder": self.about, "parts": []})
        with open(self.part, "r+b") as file:
            file.write(self._header(self.n))
            file.flush()
            os.fsync(file.fileno())
        self._check_size(self.part)
        os.replace(self.part, self.target)


def _about(encoder: Encoder) -> dict[str, Any]:
    """By what an encoder is known again: its settings in words, and a few numbers of the vector of
    one sentence, which change with its weights.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        probe = encoder.encode([PROBE])[0]
    words = repr(encoder)
    return {"settings": f"{encoder.name}, {encoder.dim}" if " at 0x" in words else words,
            "probe": [float(f"{x:.5g}") for x in probe[:16]]}


def _checksum(texts: list[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


@contextmanager
def _one_warning() -> Iterator[Any]:
    """Let only the first DataWarning of all parts through, with the text that its part began with.
    """
    began, heard = [0], []

    def show(message: Warning | str, category: type[Warning], *rest: Any, **options: Any) -> None:
        if issubclass(category, DataWarning):
            heard.append((began[0], str(message)))
        else:
            before(message, category, *rest, **options)

    def part(first: int) -> None:
        began[0] = first

    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        before, warnings.showwarning = warnings.showwarning, show
        yield part
    if heard:
        more = f"; {len(heard) - 1} more warnings like it" if len(heard) > 1 else ""
        warn_data(f"{heard[0][1]} (texts counted from texts[{heard[0][0]}] on{more})", stacklevel=4)
