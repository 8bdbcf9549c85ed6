"""Mean and covariance of many vectors: shifted before they are multiplied, in joinable pieces.

The short form E[x xᵀ] - μ μᵀ subtracts two large numbers that are nearly equal; with a coordinate
30 standard deviations from zero, as BERT has them, float32 keeps no digit of the small eigenvalues.
Here a shift near the mean goes first and what it missed is corrected exactly. Taught in
``12_bert_whitening``, its kernel in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import check_int, check_memory, shown
from ..autograd import result_type
from ..contents import check_finite
from ..dispatch import Operation, backend_name
from ..inputs import as_tensor, as_vectors

__all__ = ["OPERATION", "Moments", "mean_covariance"]

OPERATION = Operation("mean_covariance", dot=True, processor="blocked symmetric products")


def mean_covariance(x: Any, *, backend: str | None = None) -> tuple[Tensor, Tensor]:
    """Mean and sample covariance of the rows of x.

    Parameters
    ----------
    x : (n, d) floating, finite, n >= 2
    backend : {"triton", "cpu", "reference"}, optional

    Returns
    -------
    mean : Tensor, (d,)
    covariance : Tensor, (d, d)
        Exactly symmetric, with ddof=1 as in np.cov. float64 for float64 input, else float32, made
        of float32 products of some thousand rows that are added up in float64. No gradient.

    Raises
    ------
    ValueError
        Shape, NaN or infinity (first bad row), numbers whose squares overflow.
    TypeError
        x is not floating.
    BackendUnavailable
        The named backend cannot run here.

    Notes
    -----
    ``μ = 1/n Σ_i x_i``, ``Σ = 1/(n - 1) Σ_i (x_i - μ)(x_i - μ)ᵀ``. Memory beyond x is a block of
    rows and d x d, no centred copy. [chan1983algorithms]

    Examples
    --------
    >>> mean_covariance([[0.0, 1.0], [2.0, 5.0]])[1].tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """
    x = as_vectors("x", x, min_rows=2)
    mean, scatter = _mean_and_scatter(x.detach(), "x", backend_name(backend), False)
    return mean.to(result_type(x)), (scatter / (len(x) - 1)).to(result_type(x))


class Moments:
    """Mean and covariance of vectors that come in batches, from one place or from several.

    Each batch is centred on its own; two sets are joined by Chan's rule. All state is float64, on
    the device of the first batch.

    Parameters
    ----------
    dim : int >= 1
        The dimension of the vectors.

    Notes
    -----
    ``S = S_a + S_b + n_a n_b / n (μ_b - μ_a)(μ_b - μ_a)ᵀ`` [chan1983algorithms]

    Examples
    --------
    >>> Moments(1).update([[1.0], [2.0]]).merge(Moments(1).update([[6.0]])).mean.tolist()
    [3.0]
    """

    def __init__(self, dim: int) -> None:
        self.dim = check_int("dim", dim)
        check_memory(f"sums of {self.dim:,} x {self.dim:,} products", 8 * self.dim**2,
                     f"Lower dim={self.dim}")
        self._n = 0
        self._mean = torch.zeros(self.dim, dtype=torch.float64)
        self._scatter = torch.zeros(self.dim, self.dim, dtype=torch.float64)

    def __repr__(self) -> str:
        return f"Moments(dim={self.dim}, n={self._n})"

    @property
    def n(self) -> int:
        """How many vectors were seen."""
        return self._n

    @property
    def mean(self) -> Tensor:
        """Their mean, (dim,) float64. Raises ValueError before the first vector."""
        if self._n == 0:
            raise ValueError(f"{self!r} has seen no vector, so there is no mean; call "
                             "update(batch) first")
        return self._mean.clone()

    @property
    def scatter(self) -> Tensor:
        """Σ (x_i - μ)ᵀ(x_i - μ), (dim, dim) float64; zeros before the first vector."""
        return self._scatter.clone()

    @classmethod
    def of(cls, n: int, mean: Any, scatter: Any) -> Moments:
        """Moments from what others reported, such as what was written into a file.

        Parameters
        ----------
        n : int >= 0
        mean : (d,) real
        scatter : (d, d) real, symmetric

        Returns
        -------
        Moments

        Raises
        ------
        TypeError
            No real numbers.
        ValueError
            Shapes, NaN, a scatter that is not symmetric.
        """
        mean = as_tensor("mean", mean, ndim=1).double()
        scatter, d = as_vectors("scatter", scatter, min_rows=0).double(), len(mean)
        if scatter.shape != (d, d):
            raise ValueError(f"scatter has shape {tuple(scatter.shape)} for a mean of {d} numbers; "
                             f"expected ({d}, {d})")
        finite = torch.isfinite(mean).all() & torch.isfinite(scatter).all()
        if not bool(finite & (scatter == scatter.T).all()):
            raise ValueError("mean or scatter holds NaN or infinity, or scatter is not symmetric; "
                             "expected those of Moments")
        result = cls(d)
        if check_int("n", n, low=0):
            result._join(n, mean, scatter, name="scatter")
        return result

    def covariance(self, ddof: int = 1) -> Tensor:
        """Their covariance.

        Parameters
        ----------
        ddof : int >= 0, default 1
            The scatter is divided by n - ddof.

        Returns
        -------
        float64 Tensor, (dim, dim)

        Raises
        ------
        ValueError
            Unless n > ddof.
        """
        ddof = check_int("ddof", ddof, low=0)
        if self._n <= ddof:
            raise ValueError(f"{self!r} has seen {self._n} vectors; covariance(ddof={ddof}) needs "
                             f">= {ddof + 1}")
        return self._scatter / (self._n - ddof)

    def update(self, batch: Any, *, backend: str | None = None, double: bool = False) -> Moments:
        """Take in the rows of a batch; a refused one changes nothing.

        Parameters
        ----------
        batch : (n, dim) floating, finite, n >= 0
        backend : {"triton", "cpu", "reference"}, optional
        double : bool, default False
            Take products in float64 also of shorter numbers, for who divides by small variances:
            float32 products leave 4e-5 of the smallest where the largest is 10^4 times as much.

        Returns
        -------
        Moments
            self

        Raises
        ------
        ValueError, TypeError, BackendUnavailable
            As `mean_covariance`; ValueError too for another width or an overflow when joined.
        """
        batch = as_vectors("batch", batch, min_rows=0)
        if batch.shape[1] != self.dim:
            raise ValueError(f"batch has {batch.shape[1]} columns; expected {self.dim}, the dim of "
                             "these moments")
        if len(batch):
            sums = _mean_and_scatter(batch.detach(), "batch", backend_name(backend), double)
            self._join(len(batch), *sums, name="batch")
        return self

    def merge(self, other: Moments) -> Moments:
        """New moments of both sets of vectors; self and other stay as they are.

        Parameters
        ----------
        other : Moments

        Returns
        -------
        Moments

        Raises
        ------
        TypeError
            No Moments.
        ValueError
            Another dim, or an overflow when joined.
        """
        if not isinstance(other, Moments):
            raise TypeError(f"other={shown(other)} is {type(other).__name__}; expected Moments")
        if other.dim != self.dim:
            raise ValueError(f"other has dim {other.dim} and these moments have {self.dim}; "
                             "expected the same")
        joined = Moments(self.dim)
        for part in (self, other):
            if part.n:
                joined._join(part.n, part._mean, part._scatter, name="other")
        return joined

    def _join(self, n: int, mean: Tensor, scatter: Tensor, *, name: str) -> None:
        """Chan's rule, written into the own state once all of it is finite."""
        if self._n == 0:
            self._n, self._mean, self._scatter = n, mean.clone(), scatter.clone()
            return
        total = self._n + n
        apart = mean.to(self._mean.device) - self._mean
        joined = self._scatter + scatter.to(self._mean.device)
        joined += torch.outer(apart, apart).mul_(self._n * n / total)
        if not bool(torch.isfinite(joined).all()):
            raise ValueError(f"{name} and the {self._n} vectors before it have means up to "
                             f"{apart.abs().max().item():.3g} apart: their joined covariance "
                             "overflows float64; scale all vectors down")
        self._n, self._mean, self._scatter = total, self._mean + apart * (n / total), joined


@torch.library.custom_op("lessons_lib::mean_and_scatter", mutates_args=())
def _mean_and_scatter(x: Tensor, name: str, backend: str, double: bool) -> tuple[Tensor, Tensor]:
    limit = "the kernel multiplies in float32 and products in float64 are asked for"
    mean, scatter = OPERATION.run("mean_and_scatter", x, backend=backend or None, double=double,
                                  limit=limit if double else None)
    # cheaper than looking at x: a bad number spoils both
    if not bool(torch.isfinite(mean).all() & torch.isfinite(scatter).all()):
        check_finite(name, x)
        kind = "float64" if double or x.dtype == torch.float64 else "float32"
        remedy = "scale it down" if kind == "float64" else f"pass {name}.double() or scale it down"
        raise ValueError(f"{name} holds numbers up to {x.abs().max().item():.3g}, whose squares "
                         f"overflow in {kind} products; {remedy}")
    return mean, (scatter + scatter.T) / 2


@_mean_and_scatter.register_fake
def _shapes(x: Tensor, name: str, backend: str, double: bool) -> tuple[Tensor, Tensor]:
    home = "cpu" if x.device.type == "mps" else x.device          # Apple's GPUs know no float64
    exact, d = torch.float64, x.shape[1]
    return (x.new_empty(d, dtype=exact, device=home), x.new_empty(d, d, dtype=exact, device=home))
