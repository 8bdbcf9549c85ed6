"""One table of vectors, all figures of anisotropy: what a lesson prints for every model, layer or
moment of a training.

No single number tells it: a common mean shows in the mean cosine and in the first singular value,
uneven spread in IsoScore, a few large dimensions in their share of the mean cosine. Taught in
``09_anisotropy``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .projection import cone_angle
from .cosines import rogue_dimensions
from .frequency import norm_by_frequency
from .rows import as_rows, norms
from .spectrum import effective_rank, isoscore, partition_isotropy, top_share

__all__ = ["Anisotropy", "anisotropy"]


@dataclass(frozen=True)
class Anisotropy:
    """Figures of a table of vectors; what an isotropic cloud of many vectors would have is in
    brackets.

    Attributes
    ----------
    n, dim : int
        Rows and columns.
    mean_cosine : float
        Of all pairs (0).
    standardised : float
        The same once every dimension has mean 0 and variance 1.
    top_share : float
        σ₁²/Σσ² (1/dim).
    angle : float
        Degrees of the cone around the mean direction that holds 95 % (a little above 90).
    effective_rank : float
        (dim).
    isoscore : float
        (1).
    partition : float
        `partition_isotropy` (near 1 for short vectors).
    rogue_share : float
        Of the three strongest dimensions in the mean cosine.
    mean_norm : float
    norm_frequency : float or None
        Correlation of norm and log count; None without counts.
    """

    n: int
    dim: int
    mean_cosine: float
    standardised: float
    top_share: float
    angle: float
    effective_rank: float
    isoscore: float
    partition: float
    rogue_share: float
    mean_norm: float
    norm_frequency: float | None


def anisotropy(x: Any, *, counts: Any = None, exclude: Sequence[int] = (),
               least: int = 1) -> Anisotropy:
    """All figures that need no more than the vectors, for word tables also how the norm follows
    frequency.

    Parameters
    ----------
    x : (n, d) real, n >= 2 different rows, d >= 2
    counts : (n,) real, optional
        Of each word; None for vectors of no words.
    exclude, least
        As in `norm_by_frequency`: they choose the rows of every figure, so that words that were
        never read do not look isotropic.

    Returns
    -------
    Anisotropy

    Raises
    ------
    TypeError, ValueError
    """
    x = as_rows("x", x, min_rows=2)
    known = None
    if counts is not None:
        known = norm_by_frequency(x, counts, exclude=exclude, least=least)
        x = x[known.rows]
    rogue = rogue_dimensions(x, min(3, x.shape[1]))
    return Anisotropy(len(x), x.shape[1], rogue.mean_cosine, rogue.standardised, top_share(x),
                      cone_angle(x), effective_rank(x), isoscore(x), partition_isotropy(x),
                      float(rogue.shares.sum()), float(norms(x).mean()),
                      known.pearson if known else None)
