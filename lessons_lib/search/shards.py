"""Texts encoded, and neighbours found, by the workers of a Dask client, each on shards of its own.

The best k of all shards are among the best k of each, so two lists of k are merged into one, and no
worker sees the vectors of another. Used where one machine is too small.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from ..core import Encoder, check_array, check_int, check_kind, existing_path
from ..core.errors import NotFittedError
from ..text.shards import FileShard, Shards, TextShard, merged
from .neighbours import SCORES_AT_ONCE, ExactNeighbours, unit_rows

__all__ = ["ShardedNeighbours", "encode_in_shards"]


def encode_in_shards(encoder: Encoder, shards: Shards, *, batch_size: int = 256) -> np.ndarray:
    """The vectors of texts in shards.

    Parameters
    ----------
    encoder : Encoder
        Pickled, and sent to each worker once.
    shards : text.shards.Shards
    batch_size : int >= 1, default 256
        Handed on to the encoder.

    Returns
    -------
    (n, dim) float32
        Those of ``encoder.encode``; of a network up to rounding, for it pads a batch to its
        longest text, and other texts share a batch.

    Raises
    ------
    TypeError, ValueError
        No encoder, ``batch_size``, and what the encoder raises.
    """
    check_kind("encoder", encoder, Encoder, "an encoder, with name, dim and encode")
    work = partial(_encode, batch_size=check_int("batch_size", batch_size))
    return shards.merged(work, _below, shared=encoder)


def _encode(part: TextShard | FileShard, encoder: Encoder, batch_size: int) -> np.ndarray:
    return encoder.encode(part.texts(), batch_size=batch_size)


def _below(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b])


class _Rows(NamedTuple):
    """Rows of a matrix: themselves, or the .npy file where a worker finds them."""

    vectors: np.ndarray | str
    first: int
    last: int


class ShardedNeighbours:
    """`ExactNeighbours` whose vectors lie with the workers of a Dask client; same result.

    Parameters
    ----------
    client : distributed.Client
    n_shards : int >= 1, default 8
        One for each worker at least.

    Examples
    --------
    >>> near = ShardedNeighbours(client).fit("vectors.npy")                   # doctest: +SKIP
    >>> cosines, rows = near.search(questions, k=10)                          # doctest: +SKIP
    """

    def __init__(self, client: Any, *, n_shards: int = 8):
        self.client, self.n_shards = client, check_int("n_shards", n_shards)

    def fit(self, vectors: np.ndarray | str | os.PathLike) -> Self:
        """Give each worker its rows.

        Parameters
        ----------
        vectors : (n, dim) real, n >= 1, or the path of a .npy file that all workers can read

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            No numbers, no row.
        FileNotFoundError
        """
        path = None
        if isinstance(vectors, (str, os.PathLike)):
            path = str(existing_path(vectors).absolute())
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            vectors = check_array("vectors", vectors, min_rows=1)
        n = len(vectors)
        cuts = np.unique(np.linspace(0, n, min(n, self.n_shards) + 1).astype(int)).tolist()
        parts = [_Rows(vectors[a:b] if path is None else path, a, b) for a, b in pairwise(cuts)]
        self._fitted = [self.client.submit(_fit, part, pure=False) for part in parts]
        self._firsts, self.n_, self.columns_ = cuts[:-1], n, vectors.shape[1]
        return self

    def search(self, queries: np.ndarray, *, k: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The k rows of highest cosine for each question, best first.

        Parameters
        ----------
        queries : (m, dim) real
        k : int in [1, n], default 10

        Returns
        -------
        cosines : (m, k) float32
        rows : (m, k) int64
            As `ExactNeighbours.search`.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            Not fitted; no numbers, another width, NaN; k out of range.
        """
        if not hasattr(self, "_fitted"):
            raise NotFittedError("this ShardedNeighbours is not fitted; call fit first")
        k = check_int("k", k, low=1, high=self.n_)
        units = unit_rows("queries", queries, columns=self.columns_)
        results = [self.client.submit(_search, fitted, units, k, first, pure=False)
                   for fitted, first in zip(self._fitted, self._firsts, strict=True)]
        cosines, rows = merged(self.client, _itself, results, partial(_best, k=k))
        return cosines.astype(np.float32), rows


def _itself(part: Any) -> Any:
    return part


def _fit(part: _Rows) -> ExactNeighbours:
    vectors = part.vectors
    if isinstance(vectors, str):
        vectors = np.load(vectors, mmap_mode="r", allow_pickle=False)[part.first : part.last]
    return ExactNeighbours().fit(vectors)


def _search(near: ExactNeighbours, queries: np.ndarray, k: int,
            first: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines in float64 and rows of the whole, of one shard."""
    k, step = min(k, len(near)), max(1, SCORES_AT_ONCE // len(near))
    parts = [near.ranked(queries[i : i + step], k) for i in range(0, len(queries), step)]
    parts = parts or [(np.empty((0, k)), np.empty((0, k), int))]
    cosines, rows = map(np.concatenate, zip(*parts, strict=True))
    return cosines, rows + first


def _best(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray],
          k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best of two lists; of equals the first, whose rows are the lower ones."""
    cosines, rows = (np.concatenate(pair, axis=1) for pair in zip(a, b, strict=True))
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(cosines, order, axis=1), np.take_along_axis(rows, order, axis=1)
