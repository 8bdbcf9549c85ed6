"""How a word table loses its evenness while a model learns: frequent words get short, all words
come to point one way.

The raw table is measured, not the output of the embedding layer, which LayerNorm has evened out.
Figures are taken at moments ever further apart, so that lesson ``09_anisotropy`` can show the
change as a film. Norm and frequency: Li et al. 2020; the narrow cone: Gao et al. 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import check_array, check_int, generator

__all__ = ["SAMPLE", "sampled_pieces", "table_frame", "table_statistics"]

SAMPLE = 2000                   # tokens in each frame of the film
LEAST = 5                       # occurrences below which a token says nothing about frequency
SHARES = 5


def sampled_pieces(counts: np.ndarray, n: int = SAMPLE, *, seed: int = 0) -> np.ndarray:
    """Ids of at most ``n`` tokens that occur at least five times, spread evenly over frequency
    ranks; in order of falling frequency.
    """
    known = np.flatnonzero(counts >= LEAST)
    known = known[np.argsort(-counts[known], kind="stable")]
    if len(known) <= check_int("n", n):
        return known
    edges = np.linspace(0, len(known), n + 1).astype(int)
    return known[generator(seed).integers(edges[:-1], edges[1:])]


def table_statistics(table: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Four figures of a word table.

    Parameters
    ----------
    table : (vocabulary, dim) real
    counts : (vocabulary,) int
        Tokens with less than five occurrences are left out.

    Returns
    -------
    dict
        ``norm_frequency``, Pearson's correlation of a vector's norm and the logarithm of its count;
        ``mean_cosine`` of all pairs of different words; ``shares`` of the first five squared
        singular values in their sum, uncentred; ``mean_norm``.

    Raises
    ------
    TypeError, ValueError
    """
    table, counts = check_array("table", table), check_array("counts", counts, ndim=1)
    if len(counts) != len(table):
        raise ValueError(f"counts has {len(counts)} entries and table {len(table)} rows; expected "
                         "one count per row")
    known = counts >= LEAST
    if known.sum() < 2:
        raise ValueError(f"counts has {int(known.sum())} tokens with at least {LEAST} occurrences; "
                         "expected >= 2")
    rows = np.asarray(table[known], np.float64)
    norms = np.linalg.norm(rows, axis=1)
    unit = rows / np.maximum(norms, 1e-300)[:, None]
    n, logs = len(rows), np.log(counts[known])
    spectrum = np.linalg.eigvalsh(rows.T @ rows)[::-1].clip(min=0)
    even = norms.std() == 0 or logs.std() == 0
    cosines = np.sum(unit.sum(axis=0)**2) - np.sum(unit**2)
    return {"norm_frequency": 0.0 if even else float(np.corrcoef(norms, logs)[0, 1]),
            "mean_cosine": float(cosines / (n * (n - 1))),
            "shares": (spectrum[:SHARES] / max(spectrum.sum(), 1e-300)).tolist(),
            "mean_norm": float(norms.mean())}


def table_frame(table: np.ndarray, counts: np.ndarray, sampled: np.ndarray) -> np.ndarray:
    """One frame of the film (tokens, 3) float32: coordinates along the first two right singular
    vectors, uncentred as in Gao et al., and norm. The first axis points to where most words are,
    the second to frequent words.
    """
    rows = np.asarray(table[counts >= LEAST], np.float64)
    axes = np.linalg.eigh(rows.T @ rows)[1][:, :-3:-1]
    chosen = np.asarray(table[sampled], np.float64)
    flat = chosen @ axes
    logs = np.log(counts[sampled])
    signs = np.array([flat[:, 0].sum(), flat[:, 1] @ (logs - logs.mean())])
    return np.column_stack([flat * np.where(signs < 0, -1.0, 1.0),
                            np.linalg.norm(chosen, axis=1)]).astype(np.float32)
