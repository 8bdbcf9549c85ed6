"""Co-occurrence counts of any size, row by row: in memory, or in files that are mapped into memory.

GloVe needs the nonzero counts themselves, of more word pairs than a matrix in memory may hold. They
are the same to the last bit wherever they lie and however many threads counted them. Taught in
lesson ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..core import DamagedFile, checked_path, load_files, save_files
from .cooccurrence import counted

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["Cooccurrences"]

_FILES = {"offsets": "<i8", "columns": "<i4", "values": "<f4"}
_AT_ONCE = 1 << 22                             # items that are written or checked at a time


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """Nonzero co-occurrence counts of V words by row (word), then by column (neighbour).

    Made by `from_corpus` or `load`; arrays that lie in files are mapped read-only.

    Parameters
    ----------
    offsets : (V + 1,) int64
        The nonzeros of word i are ``offsets[i]`` to ``offsets[i + 1]``.
    columns : (n,) int32
    values : (n,) float32
        Each the exact sum rounded.
    n_tokens : int
        Tokens that were counted.
    """

    offsets: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    n_tokens: int

    @staticmethod
    def from_corpus(corpus: Corpus, window: int = 15, *, symmetric: bool = True,
                    weighting: str = "harmonic", memory: int = 1 << 30,
                    folder: str | os.PathLike | None = None, threads: int = 1) -> Cooccurrences:
        """Count pairs of words, by 1/distance as GloVe does.

        Parameters
        ----------
        corpus, window, symmetric, weighting, threads
            As for `cooccurrence`.
        memory : int, default 2^30
            Bytes for text and counts, to which about 40 MB are added. What is beyond is laid in
            nameless files in the cache folder, which vanish with the result.
        folder : path, optional
            Where to keep the result instead.

        Returns
        -------
        Cooccurrences
            Bitwise the same for any memory and threads.

        Raises
        ------
        TypeError, ValueError
            As `cooccurrence`.
        OSError
            A file cannot be written: then nothing is left of it.
        """
        scratch = None if folder is None else _place_beside(checked_path(folder, "folder"))
        offsets, columns, values = counted(corpus, window, symmetric=symmetric, weighting=weighting,
                                           threads=threads, dtype=np.float32, memory=memory,
                                           folder=scratch)
        n_tokens = len(corpus.token_ids) if hasattr(corpus, "token_ids") else corpus.n_tokens
        counts = Cooccurrences(offsets, columns, values, n_tokens)
        if folder is None:
            return counts
        counts.save(folder)
        return Cooccurrences.load(folder)

    def __len__(self) -> int:
        """Number of nonzeros."""
        return len(self.columns)

    def __repr__(self) -> str:
        return (f"Cooccurrences of {self.n_words:,} words, {len(self):,} nonzeros, counted in "
                f"{self.n_tokens:,} tokens")

    @property
    def n_words(self) -> int:
        """Number of words V."""
        return len(self.offsets) - 1

    @property
    def rows(self) -> np.ndarray:
        """The row of every nonzero, int32; made anew at each call."""
        return np.repeat(np.arange(self.n_words, dtype=np.int32), np.diff(self.offsets))

    def matrix(self) -> sparse.csr_matrix:
        """The counts as a matrix that shares their memory.

        Returns
        -------
        (V, V) CSR of float32
        """
        return sparse.csr_matrix((self.values, self.columns, self.offsets),
                                 shape=(self.n_words, self.n_words))

    def save(self, path: str | os.PathLike) -> None:
        """Write the counts into a folder; older ones there stay whole until the new ones are.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        OSError
        """
        def write(file: IO[bytes], name: str) -> None:
            array = getattr(self, name)
            for first in range(0, len(array), _AT_ONCE):
                part = array[first : first + _AT_ONCE]
                file.write(np.ascontiguousarray(part, dtype=_FILES[name]).data)

        save_files(path, "Cooccurrences",
                   {f"{name}.{dtype[1:]}": partial(write, name=name)
                    for name, dtype in _FILES.items()}, {"n_tokens": self.n_tokens})

    @staticmethod
    def load(path: str | os.PathLike, *, verify: bool = True) -> Cooccurrences:
        """Open saved counts, mapped from the files, read-only.

        Parameters
        ----------
        path : str or path
        verify : bool, default True
            Compare every byte with the checksums of when it was saved with (about 0.5 s per GB).

        Returns
        -------
        Cooccurrences

        Raises
        ------
        FileNotFoundError, DamagedFile
        ValueError
            A newer format.
        """
        card, files = load_files(path, "Cooccurrences", verify=verify)
        try:
            arrays = {name: _mapped(files[f"{name}.{dtype[1:]}"], np.dtype(dtype))
                      for name, dtype in _FILES.items()}
            counts = Cooccurrences(np.array(arrays["offsets"], dtype=np.int64), arrays["columns"],
                                   arrays["values"], int(card["n_tokens"]))
            _check(counts)
        except (KeyError, ValueError, TypeError) as error:
            raise DamagedFile(f"{path} holds no co-occurrence counts that can be read: {error}. "
                              "Count again") from error
        return counts


def _place_beside(path: Path) -> Path:
    """An existing folder on the disk where ``path`` is to be a folder."""
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"folder={path} is a file; counts are kept in a folder. Choose "
                              "another name, or remove the file")
    return next(place for place in (path, *path.absolute().parents) if place.exists())


def _mapped(path: Path, dtype: np.dtype) -> np.ndarray:
    if not path.stat().st_size:
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r")


def _check(counts: Cooccurrences) -> None:
    """Raise ValueError unless the arrays fit each other, so that no loop reads beyond them."""
    offsets = counts.offsets
    if len(offsets) < 1 or offsets[0] != 0 or (np.diff(offsets) < 0).any() \
            or not offsets[-1] == len(counts.columns) == len(counts.values):
        raise ValueError(f"the offsets do not fit {len(counts.columns)} columns and "
                         f"{len(counts.values)} values")
    for first in range(0, len(counts), _AT_ONCE):
        part = counts.columns[first : first + _AT_ONCE]
        if int(part.min()) < 0 or int(part.max()) >= counts.n_words:
            raise ValueError(f"columns from {int(part.min())} to {int(part.max())}; expected [0, "
                             f"{counts.n_words - 1}]")
