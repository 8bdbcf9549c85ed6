"""Counting co-occurrences block by block and row by row, so that neither the text nor the counts
need to fit into memory.

A block of text is counted in one sweep over its words: all places of a word are visited in turn,
and the words around them are added into one dense row, which is then read out in order. Several
blocks give several parts, whose rows are added up in the same way. All sums are of whole numbers,
so the cut into blocks changes no bit. Taught in lessons ``02_bag_of_words`` and
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import itertools
import math
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

__all__ = ["Nonzeros", "Task", "count_nonzeros", "weights_by_distance"]

GROUP_PAIRS = 1 << 20  # pairs that one call of a kernel adds, unless a single row has more
# tokens; a larger one would keep a kernel busy with its most frequent word
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 16, 1 << 26
BYTES_PER_TOKEN = 9  # of a block: its tokens, their positions, the breaks between documents
# tokens that one call of a kernel sorts: none takes long, so that Ctrl-C is heard
STRETCH = 1 << 22

Nonzeros = tuple[np.ndarray, np.ndarray, np.ndarray]      # offsets, columns, values


@dataclass(frozen=True)
class Task:
    """What is counted: documents, words V, weights by distance in a unit (see
    `weights_by_distance`), the last side that is looked at (-1 back, 1 ahead too), type of the
    result.
    """

    token_ids: np.ndarray
    offsets: np.ndarray
    n_words: int
    weights: np.ndarray
    unit: float
    last_side: int
    dtype: np.dtype


def weights_by_distance(window: int, n_tokens: int, harmonic: bool) -> tuple[np.ndarray, float]:
    """Weights of distances 1..window (0 is unused) as whole numbers, and the unit they are in.

    1/distance is exact in units of 1/lcm(1..window) while no sum can overflow; a longer window
    (from 25 on for 10^7 tokens) takes the smallest unit that cannot, and rounds each weight to it.
    """
    distance = np.arange(1, window + 1)
    if not harmonic:
        return np.ones(window + 1, dtype=np.int64), 1.0
    # no cell can exceed the mass of the whole matrix
    most = int(2**61 / (max(n_tokens, 1) * (1 + math.log(window))))
    exact = math.lcm(*distance[:60].tolist())
    unit = exact if window <= 60 and exact <= most else most
    weights = np.maximum((2 * unit + distance) // (2 * distance), 1)
    return np.concatenate([[0], weights]), float(unit)


def count_nonzeros(task: Task, *, memory: int, folder: Path, threads: int = 1) -> Nonzeros:
    """Count all pairs: offsets, columns in order, and values of the compressed rows, no zeros.

    Of ``memory`` bytes a quarter is for a block of text, a quarter for counts of former blocks,
    half for the result; what is beyond lies in nameless files in ``folder``. Raises OSError there.
    """
    starts = range(0, len(task.token_ids),
                   min(max(memory // 4 // BYTES_PER_TOKEN, SMALLEST_BLOCK), LARGEST_BLOCK))
    with ExitStack() as stack:
        crew = _Crew(task, threads, stack)
        if len(starts) <= 1:
            return crew.collect(*_rows_of_block(task, range(0, len(task.token_ids))), memory // 2,
                                folder)
        parts, left = [], memory // 4
        for start in starts:
            block = range(start, min(start + starts.step, len(task.token_ids)))
            parts.append(crew.collect(*_rows_of_block(task, block), left, folder, raw=True))
            left -= sum(array.nbytes for array in parts[-1][1:] if not isinstance(array, np.memmap))
        return crew.collect(*_rows_of_parts(parts), memory // 2, folder)


# --------------------------------------------------------------- groups of rows, several at a time


class _Work:
    """What one call of a kernel writes into: a dense row, its columns' bits, the entries."""

    def __init__(self, task: Task):
        words = -(-task.n_words // 64)
        bits = np.zeros(words, dtype=np.uint64), np.zeros(words // 64 + 1, dtype=np.uint64)
        self.dense = np.zeros(task.n_words, dtype=np.int64), bits
        most = GROUP_PAIRS + task.n_words + 1                     # a kernel writes one ahead
        self._columns = np.empty(most, dtype=np.int32)
        self._row_sizes = np.empty(task.n_words, dtype=np.int64)
        self._values = {dtype: np.empty(most, dtype=dtype)
                        for dtype in {np.dtype(np.int64), task.dtype}}

    def out(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """Columns and values of this type."""
        return self._columns, self._values[dtype]

    def row_sizes(self, group: tuple[int, int]) -> np.ndarray:
        """One place for each row of the group."""
        return self._row_sizes[: group[1] - group[0]]


_Fill = Callable[[tuple[int, int], _Work, np.dtype, float | None], int]


class _Crew:
    """Threads and what they write into. One thread is the caller's own."""

    def __init__(self, task: Task, threads: int, stack: ExitStack):
        self._task, self._works = task, [_Work(task) for _ in range(threads + (threads > 1))]
        self._pool = stack.enter_context(ThreadPoolExecutor(threads)) if threads > 1 else None

    def collect(self, fill: _Fill, pairs: np.ndarray, memory: int, folder: Path, *,
                raw: bool = False) -> Nonzeros:
        """All rows, in groups of about GROUP_PAIRS pairs; ``raw`` keeps sums in their unit."""
        task = self._task
        dtype = np.dtype(np.int64) if raw else task.dtype
        unit = None if dtype == np.int64 else task.unit
        most = int(np.minimum(pairs, task.n_words).sum())
        with closing(NonzeroStore(task.n_words, dtype, most=most, memory=memory,
                                  folder=folder)) as store:
            for size, group, work in self._in_order(
                    _row_groups(pairs), lambda group, work: fill(group, work, dtype, unit)):
                columns, values = work.out(dtype)
                store.append(columns[:size], values[:size], work.row_sizes(group))
            return store.finish()

    def _in_order(self, groups: Iterable[tuple[int, int]],
                  call: Callable[[tuple[int, int], _Work], int]) -> Iterator[tuple]:
        """Yield (result, group, work) in order; the next request frees the work."""
        if self._pool is None:
            yield from ((call(group, self._works[0]), group, self._works[0]) for group in groups)
            return
        free, waiting = deque(self._works), deque()
        for group in groups:
            waiting.append((self._pool.submit(call, group, free[0]), group, free.popleft()))
            if not free:
                done, group, work = waiting.popleft()
                yield done.result(), group, work
                free.append(work)
        yield from ((done.result(), group, work) for done, group, work in waiting)


def _row_groups(pairs: np.ndarray) -> Iterator[tuple[int, int]]:
    """Cut the rows into runs of about GROUP_PAIRS pairs, whatever the number of threads."""
    group = np.cumsum(pairs) // GROUP_PAIRS
    cuts = np.flatnonzero(np.diff(group)) + 1
    return itertools.pairwise([0, *cuts.tolist(), len(pairs)])


# ------------------------------------------------------------------------- what rows are made from


def _rows_of_block(task: Task, block: range) -> tuple[_Fill, np.ndarray]:
    """How to fill rows from a block of tokens, and how many pairs each has at most."""
    from . import cooccurrence_kernel as kernel

    window = len(task.weights) - 1
    padded, first, last = _padded(task.token_ids, task.offsets, block, window)
    counts = np.zeros(task.n_words, dtype=np.int64)
    for start in range(first, last, STRETCH):
        kernel.count_words(padded[start : min(start + STRETCH, last)], counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    wide = len(padded) > np.iinfo(np.int32).max
    filled = starts[:-1].copy()
    positions = np.empty(starts[-1], dtype=np.int64 if wide else np.int32)
    for start in range(first, last, STRETCH):
        kernel.place_words(padded[start : min(start + STRETCH, last)], start, filled, positions)

    def fill(group: tuple[int, int], work: _Work, dtype: np.dtype, unit: float | None) -> int:
        return kernel.count_rows((padded, starts, positions), task.weights, task.last_side, group,
                                 work.dense, work.out(dtype), work.row_sizes(group), unit)

    return fill, counts * (2 * window)


def _padded(token_ids: np.ndarray, offsets: np.ndarray, block: range,
            window: int) -> tuple[np.ndarray, int, int]:
    """The block's tokens, ``window`` more on both sides, breaks; and the range of the centres."""
    from . import cooccurrence_kernel as kernel

    low, high = max(block.start - window, 0), min(block.stop + window, len(token_ids))
    breaks = offsets[np.searchsorted(offsets, low) : np.searchsorted(offsets, high, side="right")]
    breaks = breaks[np.diff(breaks, prepend=-1) > 0]  # an empty document needs no break of its own
    padded = np.full(high - low + len(breaks) + 2, kernel.BREAK, dtype=np.uint32)
    kernel.spread(np.asarray(token_ids[low:high], dtype=np.int32), breaks - low, padded)
    first = block.start - low + int(np.searchsorted(breaks, block.start, side="right")) + 1
    last = block.stop - low + int(np.searchsorted(breaks, block.stop, side="left")) + 1
    return padded, first, last


def _rows_of_parts(parts: list[Nonzeros]) -> tuple[_Fill, np.ndarray]:
    """How to add up rows of parts counted in blocks, and how many entries each has at most."""
    from . import cooccurrence_kernel as kernel

    def fill(group: tuple[int, int], work: _Work, dtype: np.dtype, unit: float | None) -> int:
        spans = [part[0][group[0] : group[1] + 1] for part in parts]
        sizes = [0, *itertools.accumulate(int(span[-1] - span[0]) for span in spans)]
        starts = np.stack([span - span[0] + before
                           for span, before in zip(spans, sizes, strict=False)])
        own = ([part[k][span[0] : span[-1]] for part, span in zip(parts, spans, strict=True)]
               for k in (1, 2))
        return kernel.merge_rows(tuple(map(np.concatenate, own)), starts, work.dense,
                                 work.out(dtype), work.row_sizes(group), unit)

    return fill, sum(np.diff(part[0]) for part in parts)


# ------------------------------------------------------------------ nonzeros, in memory or files


class _LongArray:
    """A 1-D array with `append`: up to ``capacity`` items in memory, or all of them in a file."""

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
    """Compressed rows on their way: `append` some rows, then `finish`; at most ``most`` nonzeros,
    which are laid in files in ``folder`` where they need more than ``memory`` bytes.
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
