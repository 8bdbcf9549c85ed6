"""What a word's frequency does to its vector: its length, and how near its neighbours lie.

In a language model's word table frequent words are short and close together, rare words long and
far apart (Li et al. 2020): a word that is hardly ever the right answer is pushed away from all
contexts. Count and length are compared word by word and by bins of frequency rank. Taught in
``09_anisotropy``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ..core import check_array, check_int, check_memory, shown
from .rows import BLOCK, as_rows, norms, power_of_two

__all__ = ["BERT_FLOW_EDGES", "BERT_FLOW_KS", "FrequencyBins", "NormByFrequency", "binned_means",
           "knn_by_frequency", "norm_by_frequency"]

# the last one is printed as 1K, which cannot be meant
BERT_FLOW_EDGES = (0, 100, 500, 5000, 10_000)
BERT_FLOW_KS = (3, 5, 7)


def _ranked(table: Any, counts: Any, exclude: Sequence[int],
            least: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The table, its counts, and the rows that count by falling frequency, ties in order."""
    table, counts = as_rows("table", table, min_rows=2), check_array("counts", counts, ndim=1)
    if len(counts) != len(table) or (counts < 0).any():
        raise ValueError(f"counts has {len(counts)} values, the least {min(counts, default=0):g}, "
                         f"for {len(table)} rows; expected one >= 0 per row")
    left_out = np.asarray(_listed("exclude", exclude, "row numbers") or np.zeros(0, int))
    if left_out.dtype.kind not in "iu" or left_out.ndim != 1 \
            or ((left_out < 0) | (left_out >= len(table))).any():
        raise ValueError(f"exclude={shown(exclude)} holds something that is no row; expected row "
                         f"numbers in [0, {len(table) - 1}]")
    keep = counts >= check_int("least", least)
    keep[left_out] = False
    rows = np.flatnonzero(keep)
    if len(rows) < 2:
        raise ValueError(f"table has {len(rows)} rows with a count >= {least} that are not "
                         "excluded; expected >= 2")
    return table, counts, rows[np.argsort(-counts[rows], kind="stable")]


def _listed(name: str, values: Any, what: str) -> list[Any]:
    """Values as a list. Raises TypeError for what holds none, or for a text."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or getattr(
            values, "ndim", 1) != 1:
        raise TypeError(f"{name}={shown(values)} is {type(values).__name__}; expected a list of "
                        f"{what}")
    return list(values)


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's correlation; 0 where one side is constant."""
    if x.min() == x.max() or y.min() == y.max():
        return 0.0
    return float(np.clip(np.corrcoef(np.ldexp(x, -power_of_two(x)), y)[0, 1], -1.0, 1.0))


def binned_means(x: Any, y: Any, *, bins: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means of y over bins that are equally wide in log x: a line through a cloud of points.

    Parameters
    ----------
    x : (n,) real, > 0
    y : (n,) real
    bins : int >= 1, default 12

    Returns
    -------
    middle, mean, size : arrays, one value for each bin that has points, by rising x
        Geometric mean of x, mean of y, number of points.

    Raises
    ------
    TypeError, ValueError
        Lengths, x <= 0, NaN.
    """
    x = check_array("x", x, ndim=1, min_rows=1).astype(np.float64)
    y = check_array("y", y, ndim=1).astype(np.float64)
    if len(x) != len(y) or (x <= 0).any():
        raise ValueError(f"x has {len(x)} values, the least {x.min():g}, and y has {len(y)}; "
                         "expected as many, and x > 0")
    logs = np.log(x)
    bins = check_int("bins", bins)
    check_memory(f"{bins:,} bins", 24 * bins, f"Lower bins={bins}")
    width = (logs.max() - logs.min()) / bins
    bin_of = (np.minimum((logs - logs.min()) / width, bins - 1).astype(int)
              if width > 0 else np.zeros(len(x), int))
    sizes = np.bincount(bin_of, minlength=bins)
    some = sizes > 0
    middle, mean = (np.bincount(bin_of, values, minlength=bins)[some] / sizes[some]
                    for values in (logs, y))
    return np.exp(middle), mean, sizes[some]


@dataclass(frozen=True)
class NormByFrequency:
    """Norm of each vector beside its count, the most frequent first.

    Attributes
    ----------
    rows, counts, norms : (n,)
        Rows of the table, their counts and norms; place i has frequency rank i + 1.
    pearson : float
        Correlation of norm and log count; 0 where all norms are equal.
    spearman : float
        Of their ranks.
    """

    rows: np.ndarray = field(repr=False)
    counts: np.ndarray = field(repr=False)
    norms: np.ndarray = field(repr=False)
    pearson: float
    spearman: float

    def by_count(self, *, bins: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Count, mean norm and number of words of bins that are equally wide in log count.

        Parameters
        ----------
        bins : int >= 1, default 12

        Returns
        -------
        counts, norms, sizes : arrays
        """
        return binned_means(self.counts, self.norms, bins=bins)


def norm_by_frequency(table: Any, counts: Any, *, exclude: Sequence[int] = (),
                      least: int = 1) -> NormByFrequency:
    """The norm of each word's vector, ordered by how frequent the word is.

    Measure the raw table: what leaves the embedding layer of a BERT went through LayerNorm, which
    gives all vectors nearly one norm. [li2020sentence, Tab. 1]

    Parameters
    ----------
    table : (n, d) real
        One row per word.
    counts : (n,) real
        Of each word in a large text.
    exclude : sequence of int, default ()
        Rows that are no words (special and unused tokens).
    least : int >= 1, default 1
        The count below which a word is left out: the vector of a word that was never read is still
        the random initialisation.

    Returns
    -------
    NormByFrequency

    Raises
    ------
    TypeError, ValueError
        Shapes, NaN, negative counts, fewer than 2 words left.
    """
    from .. import kernels                       # here, not above: it loads torch

    table, counts, rows = _ranked(table, counts, exclude, least)
    lengths, seen = norms(table, index=rows), counts[rows].astype(np.float64)
    ranks = [kernels.ranks(values, backend="cpu").numpy() for values in (lengths, seen)]
    return NormByFrequency(rows, counts[rows], lengths, _correlation(lengths, np.log(seen)),
                           _correlation(*ranks))


@dataclass(frozen=True)
class FrequencyBins:
    """Norms and neighbours by frequency rank, one row per bin.

    Attributes
    ----------
    edges : (bins, 2) int
        Ranks from (included, the most frequent word has 0) and to (excluded).
    ks : tuple of int
    norms : (bins,) float64
        Mean norm.
    distances : (bins, len(ks)) float64
        Mean Euclidean distance of the k nearest neighbours.
    dots : (bins, len(ks)) float64
        Mean dot product with the k rows that have the largest.
    """

    edges: np.ndarray
    ks: tuple[int, ...]
    norms: np.ndarray = field(repr=False)
    distances: np.ndarray = field(repr=False)
    dots: np.ndarray = field(repr=False)

    @property
    def names(self) -> list[str]:
        """The bins as a reader says them: ``rank 1-100``."""
        return [f"rank {low + 1:,}–{high:,}" for low, high in self.edges.tolist()]


def knn_by_frequency(table: Any, counts: Any, *, edges: Sequence[int] = BERT_FLOW_EDGES,
                     ks: Sequence[int] = BERT_FLOW_KS, exclude: Sequence[int] = (),
                     least: int = 1) -> FrequencyBins:
    """Table 1 of BERT-flow: norms, nearest words and largest dot products, by bins of frequency
    rank.

    Neighbours are looked for among all words that are not left out, the word itself excepted. Dot
    products rise for rare words because their vectors are longer, not because they are closer: read
    them beside the distances. [li2020sentence, Tab. 1]

    Parameters
    ----------
    table, counts, exclude, least
        As in `norm_by_frequency`.
    edges : sequence of rising int, default BERT_FLOW_EDGES
        Bin i holds edges[i] <= rank < edges[i + 1], counted from 0, and is cut where the words end.
    ks : sequence of int, default BERT_FLOW_KS
        Numbers of neighbours.

    Returns
    -------
    FrequencyBins

    Raises
    ------
    TypeError, ValueError
        As `norm_by_frequency`; edges that do not rise, a k that is more than there are other words.

    Notes
    -----
    Memory: two float64 copies of the table and blocks.
    """
    table, counts, rows = _ranked(table, counts, exclude, least)
    bounds = _bounds(edges, len(rows))
    listed = _listed("ks", ks, "numbers of neighbours, such as (3, 5, 7)")
    ks = tuple(check_int(f"ks[{i}]", k, high=len(rows) - 1) for i, k in enumerate(listed))
    if not ks:
        raise ValueError("ks is empty; expected >= 1 numbers of neighbours, such as (3, 5, 7)")
    exponent = power_of_two(table)  # squares of huge and of tiny numbers stay inside the type
    words = np.ldexp(np.ascontiguousarray(table[rows], dtype=np.float64), -exponent)
    asked = slice(bounds[0, 0], bounds[-1, 1])
    lengths = np.ldexp(norms(words), exponent)
    inside = [slice(low - asked.start, high - asked.start) for low, high in bounds.tolist()]
    result = []
    for metric, factor in (("l2", exponent), ("dot", 2 * exponent)):
        values = _nearest(words, asked, max(ks), metric=metric)
        means = np.array([[values[part, :k].mean() for k in ks] for part in inside])
        with np.errstate(over="ignore"):
            result.append(np.ldexp(means, factor))
    if not np.isfinite(result[1]).all():
        raise ValueError(f"table holds numbers up to {np.abs(table).max():.3g}, whose dot products "
                         "are beyond float64; divide it by a number first")
    means = np.array([lengths[low:high].mean() for low, high in bounds.tolist()])
    return FrequencyBins(bounds, ks, means, *result)


def _bounds(edges: Sequence[int], n: int) -> np.ndarray:
    """First rank and the one after the last of every bin that holds a word, (bins, 2)."""
    listed = _listed("edges", edges, "rising ranks, such as (0, 100, 500)")
    marks = [check_int(f"edges[{i}]", edge, low=0) for i, edge in enumerate(listed)]
    if len(marks) < 2 or any(b <= a for a, b in pairwise(marks)) or marks[0] >= n:
        raise ValueError(f"edges={shown(edges)} of {n} words; expected >= 2 rising ranks that "
                         f"begin below {n}")
    return np.array([(low, min(high, n)) for low, high in pairwise(marks) if low < n])


def _nearest(words: np.ndarray, asked: slice, k: int, *, metric: str) -> np.ndarray:
    """Distances to the k nearest rows, or the k largest dot products, of the rows ``asked`` for,
    each without itself; (asked, k). Largest dot products are nearest neighbours, too: with a
    coordinate √(M² - ‖x‖²), 0 in the query, all rows have norm M and ‖q - x‖² = ‖q‖² + M² - 2 q·x.
    """
    from .. import kernels

    query, among = words[asked], words
    if metric == "dot":
        squares = np.einsum("ij,ij->i", words, words)
        among = np.column_stack([words, np.sqrt(squares.max() - squares)])
        query = np.column_stack([query, np.zeros(len(query))])
    # k + 1: one of them may be the word itself
    result = kernels.knn(query, among, k=k + 1, metric="l2", backend="cpu")[1].numpy()
    own = result == np.arange(asked.start, asked.stop)[:, None]
    # not among them (equal rows, short vectors): the last one is too many
    own[~own.any(axis=1), -1] = True
    others = result[~own].reshape(len(query), k)
    step = max(1, BLOCK // (k * words.shape[1]))
    values = []
    for start in range(0, len(others), step):
        a, b = words[asked][start : start + step, None, :], words[others[start : start + step]]
        values.append(np.linalg.norm(a - b, axis=2) if metric == "l2" else (a * b).sum(axis=2))
    return np.concatenate(values)
