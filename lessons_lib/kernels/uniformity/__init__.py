"""Uniformity: how evenly points spread over the sphere, as the log of a mean over all pairs.

One number that says whether a space is used: 0 when all points fall together, about -2t when they
fill a sphere of high dimension. N points have N²/2 pairs; no implementation here keeps them.
Taught in ``14_simcse``, its kernel in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ...core import check_float
from ..autograd import scalar_loss
from ..dispatch import Operation
from ..inputs import as_vectors

__all__ = ["OPERATION", "uniformity"]

OPERATION = Operation("uniformity", dot=True)
_loss = scalar_loss(OPERATION, ("x",), t="float")


def uniformity(x: Any, *, t: float = 2.0, backend: str | None = None) -> Tensor:
    """Log of the mean of exp(-t ‖x_i - x_j‖²) over all pairs i < j.

    Parameters
    ----------
    x : (n, d) floating, n >= 2
        Taken as it is: scale the rows to norm 1 first, as the definition demands. A point whose
        squares overflow pulls at nothing. NaN gives NaN.
    t : float in (0, 100], default 2.0
    backend : {"triton", "cpu", "reference"}, optional
        By default the device of x decides.

    Returns
    -------
    scalar Tensor
        <= 0, in x's type (float32 for half types), differentiable once; -inf with gradient 0
        where all pairs are infinitely far apart.

    Raises
    ------
    ValueError
        Shape, t, backend.
    TypeError
        x is not floating.
    BackendUnavailable
        The named backend cannot run here.

    Notes
    -----
    ::

        U = log( 2 / (N (N - 1)) Σ_{i<j} exp(-t ‖x_i - x_j‖²) )
        ∂U/∂x_i = -2t Σ_j w_ij (x_i - x_j),   w_ij = exp(-t ‖x_i - x_j‖²) / Σ_{a<b} exp(…)

    Memory beyond x and its gradient is a copy of x and a block of rows, never n x n.
    [wang2020understanding]

    Examples
    --------
    >>> uniformity([[1.0, 0.0], [-1.0, 0.0]]).item()
    -8.0
    """
    t = check_float("t", t, low=0, high=100, open_low=True)
    return _loss(as_vectors("x", x, min_rows=2), t, backend=backend)
