"""Whitening: shift and rotate the vectors, then give every direction the same variance.

What is left of cosine is no longer ruled by a few directions. PCA whitening writes a vector in the
principal axes, where the weakest can be dropped; ZCA rotates the result back to where it came from.
Both are linear, need one pass over the vectors and no training. Taught in ``12_bert_whitening``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ..core import check_int, warn_data
from ..core.estimator import SavedEstimator
from ..core.learned import Learned, checked_array
from ..core.parameters import Choice, Float, Int
from .principal import PrincipalAxes, moments_of, principal_axes
from .rows import BLOCK, as_rows

__all__ = ["Affine", "Whitening"]

# how much stronger than others a direction may be enlarged before float32 products lose digits
STEEP = 32.0
MODERATE = 1e30  # a float32 product holds factors between 1 / this and this


class Whitening(SavedEstimator):
    """Linear map after which the fitted vectors have mean 0 and covariance I.

    Notes
    -----
    Σ = U Λ Uᵀ,  x̃ = (x - β μ) W,  W = U_k Λ_k^(-γ/2) for "pca", U_k Λ_k^(-γ/2) U_kᵀ for "zca"; Σ
    is taken about β μ. [su2021whitening], [su2022whitening] for β and γ, [kessy2018optimal] for
    ZCA.

    Rows may weigh, in μ and Σ; `whiten_words` weighs word vectors by frequency.

    Directions that do not vary are left out, with a DataWarning where ``k`` is None: dividing by
    their variance would enlarge rounding errors (the last LayerNorm of a BERT leaves one). With
    gamma=0 nothing is divided and all are kept. About as many rows as columns are enough to fit but
    not to generalise: the weakest directions then come out too weak.

    Statistics are float64, from float64 products; of float32 vectors
    ``fit(kernels.Moments(d).update(x))`` takes float32 products in half the time, which costs about
    1e-5 where variances differ 10^4-fold and wants threshold=1e-6. Vectors leave as float32; where
    products are float32 or float64, see `Affine`. A saved one holds the statistics of all vectors
    seen, so that more can follow, and its axes, so that the same vectors leave `transform` on every
    machine, to float32 rounding.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3)) @ [[3, 1, 0], [0, 1, 0], [0, 0, 5]] + 7
    >>> np.cov(Whitening().fit(x).transform(x).T).round(5).tolist() == np.eye(3).tolist()
    True
    """

    k = Int(None, "directions that are kept, the strongest first; None: all in which the vectors "
                  "vary", positional=1)
    kind = Choice("pca", "zca", positional=2, doc="'pca' gives k columns; 'zca', the whitening "
                  "that moves vectors least, as many as before: cosines are those of 'pca'")
    beta = Float(1.0, "how much of the mean is taken away")
    gamma = Float(1.0, "how far variances are evened out; beta=gamma=0 only rotates", low=0)
    ddof = Int(1, "Σ is divided by n - ddof: 1 as in the authors' program (np.cov), 0 as in the "
                  "paper; it scales all vectors alike", low=0, high=1)
    threshold = Float(1e-10, "of the largest variance; what varies less counts as not varying",
                      low=0, high=1)

    moments_ = Learned("kernels.Moments", "of all vectors seen; ``fit(moments_)`` makes another "
                                          "Whitening of them without reading them again")

    @property
    def name(self) -> str:
        """What it does in a few words, such as ``whitening 256``."""
        settings = vars(self).get("_fitted") or self.get_params()
        words = ["whitening"] + ["zca"] * (settings["kind"] == "zca")
        words += [str(settings["k"])] * (settings["k"] is not None)
        changed = [f"{sign}={settings[key]:g}" for key, sign in (("beta", "β"), ("gamma", "γ"))
                   if settings[key] != 1]
        return " ".join(words + changed)

    # ------------------------------------------------------------------------------ fit

    def fit(self, x: Any, sample_weight: Any = None) -> Self:
        """Learn mean and covariance of vectors, and from them the map.

        Parameters
        ----------
        x : (n, d) real, or kernels.Moments
            At least 2 different rows.
        sample_weight : (n,) real >= 0, optional
            How much each row counts in mean and covariance, on any scale, at least 2 above 0; None:
            all alike. With ddof=0 whole numbers do what so many copies of the rows do.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, shape, NaN, fewer than 2 different rows, more directions asked for than the
            vectors have, weights for Moments; a former fit then stays.

        Warns
        -----
        DataWarning
            Directions that do not vary are left out; see Notes.
        """
        moments = moments_of(x, sample_weight)
        settings = self._settings_for(moments.dim)
        axes = principal_axes(moments, beta=settings["beta"], ddof=settings["ddof"])
        solution = _solved(axes, settings, n=moments.n, stacklevel=3)
        self.moments_, self._fitted, self._solution = moments, settings, solution
        return self

    def partial_fit(self, x: Any) -> Self:
        """Take further vectors in; in any number of parts they give what `fit` of all gives.

        Each counts 1, as those of a weighted `fit` do on average. The map is made anew when it is
        next used, and only then is it checked that the vectors differ, and in enough directions.

        Parameters
        ----------
        x : (n, d) real, n >= 0

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, shape, NaN; the vectors before then stay.
        """
        moments = moments_of(x)
        if hasattr(self, "moments_"):
            if moments.dim != self.moments_.dim:
                raise ValueError(f"x has {moments.dim} columns; expected {self.moments_.dim}, as "
                                 "before")
            moments = self.moments_.merge(moments)
        self._fitted, self.moments_ = self._settings_for(moments.dim), moments
        vars(self).pop("_solution", None)
        return self

    def _settings_for(self, d: int) -> dict[str, Any]:
        settings = self._check_settings()
        if self.k is not None:
            check_int("k", self.k, high=d)
        return settings

    def _solve(self, *, stacklevel: int = 4) -> _Solution:
        """The map of the vectors seen, made when it is first asked for."""
        self._check_fitted("moments_")
        if "_solution" not in vars(self):
            axes = principal_axes(self.moments_, beta=self._fitted["beta"],
                                  ddof=self._fitted["ddof"])
            self._solution = _solved(axes, self._fitted, n=self.moments_.n,
                                     stacklevel=stacklevel)
        return self._solution

    # ------------------------------------------------------------------------------ learned

    @property
    def dim(self) -> int:
        """Columns of the vectors that leave `transform`."""
        return self.matrix_.shape[1]

    @property
    def mean_(self) -> np.ndarray:
        """μ, the mean of the vectors seen, (d,) float64."""
        return self._solve().axes.mean

    @property
    def spectrum_(self) -> np.ndarray:
        """Λ, all variances about β μ, (d,) float64, falling."""
        return self._solve().axes.spectrum

    @property
    def rank_(self) -> int:
        """How many of them are above the threshold."""
        return self._solve().rank

    @property
    def components_(self) -> np.ndarray:
        """Uᵀ_k, the axes in use, (k, d) float64, the entry of largest magnitude positive."""
        return self._solve().axes.axes[: self._solve().used]

    @property
    def variances_(self) -> np.ndarray:
        """Λ_k, variances along the axes in use, (k,) float64."""
        return self.spectrum_[: self._solve().used]

    @property
    def matrix_(self) -> np.ndarray:
        """W, (d, dim) float64."""
        return self._solve().forward.matrix

    # ------------------------------------------------------------------------------ vectors

    def transform(self, x: Any, *, normalize: bool = False) -> np.ndarray:
        """Whiten vectors: (x - β μ) W. Memory beyond x and the result: a block of rows.

        Parameters
        ----------
        x : (n, d) real, n >= 0
        normalize : bool, default False
            Scale the results to norm 1, so that inner products are cosines (the evaluation takes
            cosines itself).

        Returns
        -------
        (n, dim) float32
            A vector at β μ is zeros.

        Raises
        ------
        NotFittedError, TypeError
        ValueError
            Shape, NaN, numbers that leave float32.
        """
        return self._solve().forward(x, normalize=normalize)

    def inverse_transform(self, z: Any) -> np.ndarray:
        """Vectors back from whitened ones; what was left out stays out.

        Parameters
        ----------
        z : (n, dim) real, n >= 0
            Of `transform` with ``normalize=False``.

        Returns
        -------
        (n, d) float32
            x where all directions were kept, else its projection on those that were.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `transform`.
        """
        return self._solve().backward(z, name="z")

    # ------------------------------------------------------------------------------ files

    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
        axes = self._solve(stacklevel=5).axes
        arrays = {"mean": axes.mean, "spectrum": axes.spectrum, "axes": axes.axes,
                  "scatter": self.moments_.scatter.cpu().numpy()}
        return self._fitted, arrays, {"n": self.moments_.n}

    @classmethod
    def _from_contents(cls, settings: dict[str, Any], arrays: Mapping[str, np.ndarray],
                       extra: Mapping[str, Any]) -> Self:
        from ..kernels import Moments

        loaded, sizes = cls(**settings), {}
        axes = PrincipalAxes(
            checked_array(arrays, "mean", "d", dtype="float64", sizes=sizes),
            checked_array(arrays, "spectrum", "d", dtype="float64", sizes=sizes),
            checked_array(arrays, "axes", "d", "d", dtype="float64", sizes=sizes))
        loaded.moments_ = Moments.of(extra["n"], axes.mean, arrays["scatter"])
        loaded._fitted = loaded._settings_for(sizes["d"])
        loaded._solution = _solved(axes, loaded._fitted, n=extra["n"])
        return loaded


@dataclass(frozen=True, eq=False)
class Affine:
    """x ↦ (x - before) M + after, some rows at a time: no centred copy of the table is written.

    ``before`` (d,), ``matrix`` (d, m), ``after`` (m,), float64. ``enlarged`` (any,): the singular
    values of M, which decide how products of float32 rows are taken: in float32 where they differ
    by a factor of at most 32, else in float64, because the least enlarged direction, often the
    strongest one, would leave its rounding in all others. What is subtracted is rounded to the
    type of the product, and what that rounding missed is added after it, exactly: a mean of 30
    standard deviations costs no digit.
    """

    before: np.ndarray
    matrix: np.ndarray
    after: np.ndarray
    enlarged: np.ndarray

    def working(self, dtype: np.dtype) -> type:
        """The type in which rows of ``dtype`` are multiplied."""
        low, high = float(self.enlarged.min()), float(self.enlarged.max())
        narrow = (dtype.itemsize <= 4 and high <= STEEP * low and low > 1 / MODERATE
                  and high < MODERATE)
        return np.float32 if narrow else np.float64

    def __call__(self, x: Any, *, name: str = "x", normalize: bool = False) -> np.ndarray:
        """The image of every row, (n, m) float32; with ``normalize`` at norm 1, zeros stay zeros.
        Raises TypeError, ValueError (shape, the first row with NaN or infinity, a result beyond
        float32).
        """
        x = as_rows(name, x, min_rows=0, look=False)
        if x.shape[1] != len(self.matrix):
            raise ValueError(f"{name} has shape {x.shape}; expected {len(self.matrix)} columns")
        kind = self.working(x.dtype)
        out = np.empty((len(x), self.matrix.shape[1]), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):       # looked at below
            fine = self._write(x, out, kind, normalize)
        if not fine:
            _explain(name, x, out)
        return out

    def _write(self, x: np.ndarray, out: np.ndarray, kind: type, normalize: bool) -> bool:
        """Fill ``out`` block by block; whether a sum of each block is finite."""
        near, matrix = self.before.astype(kind), np.ascontiguousarray(self.matrix, kind)
        rest = (self.after + (near.astype(np.float64) - self.before) @ self.matrix).astype(kind)
        step, fine = max(1, BLOCK // max(self.matrix.shape)), True
        workspace = np.empty((min(step, len(x)), x.shape[1]), kind)
        product = np.empty((min(step, len(x)), out.shape[1]), kind)
        for start in range(0, len(x), step):
            part = x[start : start + step]
            centred, z = workspace[: len(part)], product[: len(part)]
            np.subtract(part, near, out=centred, casting="unsafe")
            np.matmul(centred, matrix, out=z)
            z += rest
            if normalize:
                norms = np.sqrt(np.einsum("ij,ij->i", z, z))
                z *= (1 / np.where(norms > 0, norms, 1)).astype(z.dtype)[:, None]
            out[start : start + step] = z
            fine &= bool(np.isfinite(z.sum(dtype=np.float64)))
            if kind is np.float64:               # what float32 cannot hold shows in the copy only
                fine &= bool(np.isfinite(out[start : start + step]).all())
        return fine


def _explain(name: str, x: np.ndarray, out: np.ndarray) -> None:
    as_rows(name, x)                                              # raises where a number is none
    bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] gives numbers beyond float32 ({len(bad)} of {len(x)} "
                         f"rows do); scale {name} as the vectors of fit were")


class _Solution(NamedTuple):
    """The axes, how many are above the threshold and how many in use, and the map both ways."""

    axes: PrincipalAxes
    rank: int
    used: int
    forward: Affine
    backward: Affine


def _solved(axes: PrincipalAxes, settings: Mapping[str, Any], *, n: int,
            stacklevel: int | None = None) -> _Solution:
    """From μ, Λ and U of n vectors W and the way back; stacklevel, of the warning, None: none."""
    beta, gamma, k, zca = (*(settings[name] for name in ("beta", "gamma", "k")),
                           settings["kind"] == "zca")
    spectrum = axes.spectrum
    rank = int(np.count_nonzero(spectrum > settings["threshold"] * spectrum[0]))
    varies = (f"the {n:,} rows of x vary in {rank} directions of {len(spectrum)} (above "
              f"{settings['threshold']:g} of the largest variance)")
    used = k or (len(spectrum) if gamma == 0 else rank)
    if used > rank and gamma:
        raise ValueError(f"k={k} is more than there is: {varies}; expected k <= {rank}, or more "
                         "and different rows")
    if used < len(spectrum) and k is None and stacklevel is not None:
        warn_data(f"{varies}; only these {used} are kept. Pass k <= {used} to say so",
                  stacklevel=stacklevel)
    with np.errstate(all="ignore"):
        basis, scales = axes.axes[:used], spectrum[:used] ** (-gamma / 2)
        whiten = basis.T * scales                        # U_k Λ_k^(-γ/2)
        colour = basis * (1 / scales)[:, None]           # Λ_k^(γ/2) U_kᵀ, the way back
        if zca:
            whiten, colour = whiten @ basis, (basis.T * (1 / scales)) @ basis
    if not (np.isfinite(whiten).all() and scales.all()):
        raise ValueError(f"gamma={gamma:g} with variances from {spectrum[0]:.3g} to "
                         f"{spectrum[used - 1]:.3g} leaves float64; expected a smaller gamma, a "
                         "smaller k, or x on another scale")
    centre, nothing = beta * axes.mean, np.zeros(whiten.shape[1])
    return _Solution(axes, rank, used, Affine(centre, whiten, nothing, scales),
                     Affine(np.zeros(len(colour)), colour, centre, 1 / scales))
