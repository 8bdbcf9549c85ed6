"""Nonzeros of a matrix that is made row by row: in memory up to a limit, then in nameless files
that are mapped into memory.

A nameless file has no entry in any folder, so nothing of it is left when the last array on it is
gone, or the process is killed. Used by `cooccurrence` and `Cooccurrences`; taught in lesson
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

import numpy as np

__all__ = ["NonzeroStore"]


class _LongArray:
    """A 1-D array with `append`: ``capacity`` items in memory, which cost nothing until they are
    written, or all of them in a file.
    """

    def __init__(self, dtype: np.dtype, capacity: int, folder: Path):
        self._array, self._n, self._folder = np.empty(capacity, dtype=dtype), 0, folder
        self._file: IO[bytes] | None = None

    def append(self, values: np.ndarray) -> None:
        """Add values at the end. Raises OSError where the file cannot be written."""
        if self._file is None and self._n + len(values) > len(self._array):
            self._move_to_file()
        if self._file is None:
            self._array[self._n : self._n + len(values)] = values
        else:
            self._write(values)
        self._n += len(values)

    def finish(self) -> np.ndarray:
        """The array, mapped read-only where it lies in a file."""
        if self._file is None:
            self._array.resize(self._n, refcheck=False)  # gives back the memory that was not needed
            return self._array
        self._write(self._array[:0], flush=True)
        return (np.memmap(self._file, dtype=self._array.dtype, mode="r", shape=self._n)
                if self._n else self._array[:0])

    def close(self) -> None:
        """Close the file; arrays on it stay."""
        if self._file is not None:
            self._file.close()

    def _move_to_file(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(  # noqa: SIM115
                dir=self._folder, prefix=".tmp-")
        except OSError as error:
            raise self._explained(error) from error
        self._write(self._array[: self._n])
        self._array = np.empty(0, dtype=self._array.dtype)

    def _write(self, values: np.ndarray, *, flush: bool = False) -> None:
        try:
            self._file.write(np.ascontiguousarray(values, dtype=self._array.dtype).data)
            if flush:
                self._file.flush()
        except OSError as error:
            raise self._explained(error) from error

    def _explained(self, error: OSError) -> OSError:
        free = shutil.disk_usage(
            next(place for place in (self._folder, *self._folder.parents) if place.exists())).free
        there = self._n * self._array.dtype.itemsize
        return type(error)(error.errno, f"cannot lay counts in {self._folder}: {error.strerror}; "
                                        f"{there:,} bytes of one array are there, {free:,} "
                           "are free. Nothing was kept. A larger memory= needs no files, "
                           "LESSONS_CACHE moves the folder")


class NonzeroStore:
    """Compressed rows on their way: `append` some rows, then `finish`.

    Parameters: n_rows; dtype of the values; most, nonzeros there can be; memory, bytes beyond which
    they are laid in files in ``folder``.
    """

    def __init__(self, n_rows: int, dtype: np.dtype, *, most: int, memory: int,
                 folder: str | os.PathLike):
        capacity = min(most, memory // (np.dtype(dtype).itemsize + 4))
        self.offsets, self._n_rows = np.zeros(n_rows + 1, dtype=np.int64), 0
        self._columns, self._values = (_LongArray(np.dtype(kind), capacity, Path(folder))
                                       for kind in (np.int32, dtype))

    def append(self, columns: np.ndarray, values: np.ndarray, row_sizes: np.ndarray) -> None:
        """Add the next rows. Raises OSError where a file cannot be written."""
        first, last = self._n_rows, self._n_rows + len(row_sizes)
        np.cumsum(row_sizes, out=self.offsets[first + 1 : last + 1])
        self.offsets[first + 1 : last + 1] += self.offsets[first]
        self._columns.append(columns)
        self._values.append(values)
        self._n_rows = last

    def finish(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets of the rows (int64), columns (int32) and values of all nonzeros."""
        return self.offsets, self._columns.finish(), self._values.finish()

    def close(self) -> None:
        """Close the files; arrays that `finish` gave stay."""
        self._columns.close()
        self._values.close()
