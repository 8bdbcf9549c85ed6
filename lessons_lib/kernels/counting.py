"""The compiled loop under `spearman_resamples`, in a module of its own so that Numba is loaded only
when something is resampled.

One resample at a time: count the pairs, add the counts up by groups of equal values, and the
running sum is the rank. Ranks are kept doubled and centred, so all of them are whole numbers and
their sums exact below 2^53 (about 300,000 pairs). Taught in ``01_one_hot``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled

__all__ = ["correlate"]


@compiled
def _rank_groups(counts: np.ndarray, group: np.ndarray, n_drawn: int, size: np.ndarray,
                 rank: np.ndarray) -> float:
    """Fill ``rank`` with twice the centred rank of each group. Returns the sum of its squares over
    the drawn pairs."""
    last = 0
    for i in range(len(group)):
        last = max(last, group[i])
    for g in range(last + 1):
        size[g] = 0
    for i in range(len(group)):
        size[group[i]] += counts[i]
    up_to, square = 0, 0.0
    for g in range(last + 1):
        up_to += size[g]
        rank[g] = 2.0 * up_to - size[g] - n_drawn
        square += size[g] * rank[g] * rank[g]
    return square


@compiled
def correlate(groups: np.ndarray, draws: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out``, (columns, resamples), with Spearman of each column and the last one; NaN where
    a side is constant.

    Parameters: groups, (columns + 1, n) numbers of groups of equal values, rising with the value,
    gold last; draws, (resamples, m) row numbers.
    """
    n, n_drawn = groups.shape[1], draws.shape[1]
    counts, size = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    rank, gold = np.empty(n, dtype=np.float64), np.empty(n, dtype=np.float64)
    for r in range(len(draws)):
        counts[:] = 0
        for k in range(n_drawn):
            counts[draws[r, k]] += 1
        square = _rank_groups(counts, groups[-1], n_drawn, size, rank)
        for i in range(n):
            gold[i] = counts[i] * rank[groups[-1, i]]
        for c in range(len(groups) - 1):
            spread = np.sqrt(square * _rank_groups(counts, groups[c], n_drawn, size, rank))
            product = 0.0
            for i in range(n):
                product += gold[i] * rank[groups[c, i]]
            out[c, r] = min(1.0, max(-1.0, product / spread)) if spread > 0 else np.nan
