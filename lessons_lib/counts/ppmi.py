"""Positive pointwise mutual information: how much more often do two words meet than chance would
have it?

A raw count says mostly that a word is frequent. Dividing by the count that two independent words
would reach leaves what is special about the pair; its logarithm, cut at 0, makes a sparse matrix
whose rows are word vectors. Taught in lesson ``02_bag_of_words``; skip-gram with negative sampling
factorises the same matrix, shifted (``04_word2vec``).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core import check_float, shown

__all__ = ["ppmi"]


def ppmi(counts: sparse.sparray | sparse.spmatrix | np.ndarray, *, shift: float = 0.0,
         smoothing: float = 1.0) -> sparse.csr_matrix:
    """Turn counts of words with contexts into positive pointwise mutual information.

    Parameters
    ----------
    counts : (n, m) matrix, sparse or dense, finite and >= 0
    shift : float >= 0, default 0.0
        log k for k negative samples.
    smoothing : float in (0, 1], default 1.0
        Exponent of the context counts; 0.75 keeps rare contexts from winning.

    Returns
    -------
    (n, m) CSR of float64
        In natural logarithms, no zero stored; a row or column without counts stays zero.

    Raises
    ------
    ValueError
        A count that is negative or not finite, by row and column.
    TypeError
        No matrix of numbers.

    Notes
    -----
    max(0, log(P(w, c) / (P(w) P_s(c))) - shift), P_s(c) = n_c^smoothing / sum n_c^smoothing.
    Scaling all counts changes nothing, and a symmetric matrix stays symmetric where smoothing is 1.
    [levy2014neural, Eq. 9 and 10; levy2015improving, Sec. 3.1]
    """
    shift = check_float("shift", shift, low=0.0)
    smoothing = check_float("smoothing", smoothing, low=0.0, high=1.0, open_low=True)
    matrix = _checked_counts(counts)
    if not matrix.nnz:
        return matrix
    _, exponent = np.frexp(matrix.data.max())
    # the largest entry as high as sums allow, so that small ones do not vanish
    matrix.data = np.ldexp(matrix.data, 1000 - matrix.nnz.bit_length() - exponent)
    n_w, n_c = (np.asarray(matrix.sum(axis=axis)).ravel() for axis in (1, 0))
    if smoothing != 1.0:
        n_c = n_c**smoothing
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    ratio = _log_ratio(matrix.data, n_w[rows], n_c[matrix.indices], n_c.sum())
    np.maximum(ratio - shift, 0.0, out=matrix.data)
    matrix.eliminate_zeros()
    return matrix


def _log_ratio(n_wc: np.ndarray, n_w: np.ndarray, n_c: np.ndarray, total: float) -> np.ndarray:
    """log(n_wc / (n_w * n_c / total)), with powers of two apart: products may overflow."""
    (n_wc, e_wc), (n_w, e_w), (n_c, e_c), (total, e) = map(np.frexp, (n_wc, n_w, n_c, total))
    power = e_wc - e_w - e_c + e
    near = np.clip(power, -1000, 1000)
    # an entry too small even for this scale is 0, and its logarithm -inf is cut
    with np.errstate(divide="ignore"):
        return np.log(np.ldexp(n_wc / (n_w * n_c / total), near)) + (power - near) * np.log(2.0)


def _checked_counts(counts: object) -> sparse.csr_matrix:
    """A float64 copy in CSR with sorted columns, each stored once and none of them 0."""
    kind = getattr(getattr(counts, "dtype", None), "kind", "O")
    if kind not in "fiub" or getattr(counts, "ndim", 0) != 2:
        what = (f"shape {counts.shape}, dtype {counts.dtype}"
                if hasattr(counts, "dtype") else f"{type(counts).__name__}, {shown(counts)}")
        raise TypeError(f"counts is no matrix of real numbers ({what}); expected a sparse or dense "
                        "matrix with 2 axes. "
                        "Make one: cooccurrence(corpus)")
    matrix = sparse.csr_matrix(counts, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    bad = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0)))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise ValueError(f"counts[{row}, {matrix.indices[bad[0]]}] is {matrix.data[bad[0]]:g} "
                         f"({len(bad)} entries are negative or not finite); "
                         "expected finite counts >= 0. Pass raw counts, not logarithms or centred "
                         "values")
    matrix.eliminate_zeros()
    return matrix
