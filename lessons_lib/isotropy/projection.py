"""The cone: where the vectors of a table lie, seen from the origin.

Gao et al. project word vectors on the first two right singular vectors of the *uncentred* table.
Principal components would move the mean into the origin and the cone would be gone. Trained
language models show all words on one side; skip-gram vectors lie around the origin. Taught in
``09_anisotropy``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import check_array, check_float, check_int
from .rows import as_rows, blocks, unit
from .spectrum import right_singular_vectors

__all__ = ["Cone", "cone", "cone_angle", "narrowest_sector"]


@dataclass(frozen=True)
class Cone:
    """A table of vectors seen along its strongest directions.

    Attributes
    ----------
    points : (n, dim) float64
        The rows' coordinates.
    axes : (dim, d) float64
        The directions, orthonormal.
    shares : (dim,) float64
        Of the squared singular values in their sum.
    angle : float
        Degrees: 95 % of the rows, with all their dimensions, lie within it of the mean direction.
    """

    points: np.ndarray = field(repr=False)
    axes: np.ndarray = field(repr=False)
    shares: np.ndarray
    angle: float


def cone(x: Any, *, dim: int = 2) -> Cone:
    """Project a table on its strongest directions without centring it.

    Parameters
    ----------
    x : (n, d) real
    dim : {2, 3}, default 2
        2 for print or 3 to turn around, at most n and d.

    Returns
    -------
    Cone
        The first axis points to where most of the rows are; of every other axis the entry of
        largest magnitude is positive.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, dim.

    Notes
    -----
    Memory beyond x: the points, a block of rows and d x d. [gao2019representation, Fig. 1]
    """
    x = as_rows("x", x, min_rows=2)
    dim = check_int("dim", dim, low=2, high=3)
    if dim > min(x.shape):
        raise ValueError(f"dim={dim} is more than x of shape {x.shape} spans; expected dim <= "
                         f"{min(x.shape)}")
    axes, values = right_singular_vectors(x, dim)
    points = np.concatenate([block @ axes.T for block in blocks(x)])
    if points[:, 0].sum() < 0:
        axes[0], points[:, 0] = -axes[0], -points[:, 0]
    relative = values / values[0] if values[0] > 0 else values
    return Cone(points, axes, relative[:dim] ** 2 / max((relative**2).sum(), 1e-300), cone_angle(x))


def cone_angle(x: Any, *, share: float = 0.95) -> float:
    """The half-angle of the cone around the mean direction that holds a share of the rows.

    Parameters
    ----------
    x : (n, d) real
        Rows of zeros have no direction and do not count.
    share : float in (0, 1], default 0.95

    Returns
    -------
    float
        Degrees: about 90 for many dimensions without a common direction, 0 for rows that all point
        one way, 180 where the directions cancel and there is no mean one.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, only zeros.

    Notes
    -----
    The mean direction is Σ u_i with u_i = x_i / ‖x_i‖.
    """
    x, share = as_rows("x", x), check_float("share", share, low=0, high=1, open_low=True)
    total = sum(unit(block).sum(axis=0) for block in blocks(x))
    length = np.linalg.norm(total)
    if length <= 1e-12 * len(x):
        if not x.any():
            raise ValueError(f"x has {len(x)} rows of zeros; expected >= 1 row with a direction")
        return 180.0
    cosines = np.concatenate(
        [rows[rows.any(axis=1)] @ (total / length) for rows in map(unit, blocks(x))])
    inside = np.sort(cosines)[::-1][int(np.ceil(share * len(cosines))) - 1]
    return float(np.degrees(np.arccos(np.clip(inside, -1.0, 1.0))))


def narrowest_sector(points: Any, *, share: float = 0.95) -> tuple[float, float]:
    """The narrowest sector around the origin that holds a share of the points of a plane.

    Parameters
    ----------
    points : (n, 2) real
        Those at the origin have no direction and do not count.
    share : float in (0, 1], default 0.95

    Returns
    -------
    begin : float in [-180, 180)
        Degrees against the clock from the first axis.
    width : float in [0, 360)

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, no point off the origin.

    Examples
    --------
    >>> narrowest_sector([[1.0, 0.0], [0.0, 2.0]])
    (0.0, 90.0)
    """
    points, share = check_array("points", points, columns=2, min_rows=1), check_float(
        "share", share, low=0, high=1, open_low=True)
    points = points[points.any(axis=1)].astype(np.float64)
    if not len(points):
        raise ValueError("points all lie in the origin; expected >= 1 point with a direction")
    angles = np.sort(np.degrees(np.arctan2(points[:, 1], points[:, 0])))
    angles[angles >= 180] -= 360
    angles, inside = np.sort(angles), int(np.ceil(share * len(angles)))
    widths = np.append(angles, angles + 360)[inside - 1 : inside - 1 + len(angles)] - angles
    begin = int(widths.argmin())
    return float(angles[begin]), float(widths[begin])
