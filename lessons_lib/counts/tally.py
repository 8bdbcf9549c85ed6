"""Counts of features in shards of a collection, and how two of them become one.

A feature is known by its name; the columns of a matrix are given out once, at the end and in the
order of the letters, so the cut into shards changes no bit. Used by `BagOfWords` and what is made
of it; taught in lesson ``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..core import shown
from ..text.growing_array import Oddities
from ..text.sharded_corpus import one_numbering
from ..text.shards import FileShard, Shards, TextShard
from ..text.strings import Strings
from .analysis import Analysis, FeatureTable
from .bag_of_words import BagOfWords, Counted
from .rows import GrowingRows

__all__ = ["fit_in_shards", "fit_transform_in_shards"]


class _Tally(NamedTuple):
    """Names of features, documents with each, occurrences, and cells: numbers of features, counts
    and ends of rows, unless only a fit is made."""

    names: Strings
    in_rows: np.ndarray
    in_all: np.ndarray
    oddities: Oddities
    cells: tuple[np.ndarray, np.ndarray, np.ndarray] | None


def fit_in_shards(model: BagOfWords, shards: Shards) -> BagOfWords:
    """`fit` on texts in shards, which the workers of a Dask client count.

    Parameters
    ----------
    model : BagOfWords, TfIdf, BM25, OneHot or search.InvertedIndex
    shards : text.shards.Shards

    Returns
    -------
    BagOfWords
        The model; what it has learned is that of `fit` on all texts, to the last byte.

    Raises
    ------
    TypeError, ValueError
        As `fit`; a vocabulary that is given, which needs no counting.
    """
    learned, _ = model._learn(_counted(model, shards, keep_rows=model._needs_texts),
                              keep_rows=False)
    vars(model).update(learned)
    return model


def fit_transform_in_shards(model: BagOfWords, shards: Shards) -> sparse.csr_matrix:
    """`fit_transform` on texts in shards; the matrix is in this process.

    Parameters
    ----------
    model, shards
        As for `fit_in_shards`.

    Returns
    -------
    (n_texts, n_columns) CSR

    Raises
    ------
    TypeError, ValueError
        As `fit_in_shards`.
    """
    learned, matrix = model._learn(_counted(model, shards, keep_rows=True), keep_rows=True)
    vars(model).update(learned)
    return matrix


def _counted(model: BagOfWords, shards: Shards, *, keep_rows: bool) -> Counted:
    """What the model counts in all shards."""
    given = model._check_settings()["vocabulary"]
    if given is not None:
        raise ValueError(f"vocabulary={shown(list(given))} is given, and shards are counted to "
                         "learn one; leave it None, or use transform")
    settings = model._settings_now()
    own = {name: settings[name] for name in BagOfWords._PARAMETERS} | {"threads": 1}
    tally = shards.merged(partial(_tally, settings=own, keep_rows=keep_rows), _follow)
    table, rows = FeatureTable(), GrowingRows() if keep_rows else None
    number = table.add_names(tally.names.to_list(), chained=Analysis(settings).chains)
    if rows is not None:
        columns, counts, row_ends = tally.cells
        rows.append(number[columns], counts, row_ends)
    in_rows, in_all = np.zeros((2, len(table)), dtype=np.int64)
    in_rows[number], in_all[number] = tally.in_rows, tally.in_all
    return Counted(table, in_rows, in_all, tally.oddities, rows)


def _tally(part: TextShard | FileShard, settings: Mapping[str, Any], keep_rows: bool) -> _Tally:
    counted = BagOfWords(**settings)._count(Analysis(settings), [part.texts()],
                                            keep_rows=keep_rows)
    seen = np.flatnonzero(counted.in_rows)       # others only begin longer n-grams
    cells = None
    if keep_rows:
        number = np.full(len(counted.table), -1, dtype=np.int32)
        number[seen] = np.arange(len(seen))
        columns, counts, row_ends = counted.rows.cells
        cells = number[columns], counts, row_ends
    return _Tally(Strings.of(counted.table.names(seen)), counted.in_rows[seen],
                  counted.in_all[seen], counted.oddities, cells)


def _follow(a: _Tally, b: _Tally) -> _Tally:
    """The documents of ``b`` after those of ``a``."""
    names, number = one_numbering(a.names, b.names)
    in_rows, in_all = (np.concatenate([x, np.zeros(len(names) - len(x), np.int64)])
                       for x in (a.in_rows, a.in_all))
    in_rows[number] += b.in_rows
    in_all[number] += b.in_all
    cells = None
    if a.cells is not None:
        (columns, counts, ends), (more, more_counts, more_ends) = a.cells, b.cells
        cells = (np.concatenate([columns, number[more].astype(np.int32)]),
                 np.concatenate([counts, more_counts]),
                 np.concatenate([ends, more_ends + len(columns)]))
    return _Tally(names, in_rows, in_all, a.oddities.and_then(b.oddities), cells)
