"""Whitening: shift and turn the vectors, then give every direction the same variance; what is left of cosine is no longer ruled by a few directions.

PCA whitening writes a vector in the principal axes, where the weakest can be dropped; ZCA turns the result back to where it came from. Both are
linear, need one pass over the vectors and no training. Taught in lesson ``12_bert_whitening``.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..core import DamagedFile, Estimator, check_choice, check_float, check_int, load_model, save_model, warn_data
from .affine import Affine
from .principal import PrincipalAxes, moments_of, principal_axes

__all__ = ["Whitening"]

KINDS = ("pca", "zca")


class Whitening(Estimator):
    """Linear map after which the fitted vectors have mean 0 and covariance I.

        Σ = U Λ Uᵀ,     x̃ = (x - β μ) W,     W = U_k Λ_k^(-γ/2)  ("pca")   or   U_k Λ_k^(-γ/2) U_kᵀ  ("zca"),     Σ about β μ

    Parameters
        k: directions that are kept, the strongest first; None keeps all in which the vectors vary. kind: "pca" gives k columns; "zca", the whitening
        that moves vectors least, gives as many as before, because it turns the k directions back; cosines are those of "pca". beta: how much of the
        mean goes. gamma >= 0: how far variances are evened out; beta=gamma=0 only turns. ddof: Σ is divided by n - ddof, 1 as in the authors'
        program (np.cov), 0 as in the paper; it scales all vectors alike. threshold: of the largest variance; what varies less counts as not varying.
    Attributes
        mean_ (d,). spectrum_ (d,): all variances, falling. components_ (k, d): the axes in use, as rows, the entry of largest magnitude positive.
        variances_ (k,): along them. matrix_ (d, dim): W. All float64. rank_: directions above the threshold. moments_: `kernels.Moments` of all
        vectors seen; ``fit(moments_)`` makes another Whitening of them without reading them again.
    Notes
        Directions that do not vary are left out, with a DataWarning where ``k`` is None: dividing by their variance would enlarge rounding errors
        (the last LayerNorm of a BERT leaves one). With gamma=0 nothing is divided and all are kept. About as many rows as columns are enough to
        fit but not to generalise: the weakest directions then come out too weak. Statistics are float64, from float64 products; of float32 vectors
        ``fit(kernels.Moments(d).update(x))`` takes float32 products in half the time, which costs about 1e-5 where variances differ 10^4-fold and
        wants threshold=1e-6. Vectors leave as float32, by products in float64 unless the vectors are float32 or shorter and float32 products lose
        nothing that matters (`Affine`).
    References: [su2021whitening], [su2022whitening] for β and γ, [kessy2018optimal] for ZCA.

    >>> x = np.random.default_rng(0).normal(size=(500, 3)) @ [[3, 1, 0], [0, 1, 0], [0, 0, 5]] + 7
    >>> np.cov(Whitening().fit(x).transform(x).T).round(5).tolist() == np.eye(3).tolist()
    True
    """

    def __init__(self, k: int | None = None, kind: str = "pca", *, beta: float = 1.0, gamma: float = 1.0, ddof: int = 1, threshold: float = 1e-10):
        self.k, self.kind, self.beta, self.gamma, self.ddof, self.threshold = k, kind, beta, gamma, ddof, threshold

    @property
    def name(self) -> str:
        """What it does in a few words, such as ``whitening 256``."""
        settings = vars(self).get("_fitted_settings") or self.get_params()
        words = ["whitening"] + ["zca"] * (settings["kind"] == "zca") + [str(settings["k"])] * (settings["k"] is not None)
        changed = [f"{sign}={settings[key]:g}" for key, sign in (("beta", "β"), ("gamma", "γ")) if settings[key] != 1]
        return " ".join(words + changed)

    def _checked_settings(self, d: int) -> dict[str, Any]:
        """The settings as plain numbers, so that they can be written into a file."""
        return {"k": None if self.k is None else check_int("k", self.k, high=d), "kind": check_choice("kind", self.kind, KINDS),
                "beta": check_float("beta", self.beta), "gamma": check_float("gamma", self.gamma, low=0),
                "ddof": check_int("ddof", self.ddof, low=0, high=1), "threshold": check_float("threshold", self.threshold, low=0, high=1)}

    # -------------------------------------------------------------------------------------------- fit

    def fit(self, x: Any) -> Self:
        """Learn mean and covariance of vectors, and from them the map.

        Parameters: x, (n, d) real, n >= 2 different rows; or `kernels.Moments` of such. Returns self. Raises TypeError, ValueError (settings, shape,
        NaN, fewer than 2 different rows, more directions asked for than the vectors have); a former fit then stays. DataWarning: see Notes.
        """
        moments = moments_of(x)
        fresh = type(self)(**self._checked_settings(moments.dim))
        fresh._take(moments, fresh.get_params())
        found = fresh._map                        # may raise, so before anything is replaced
        self._take(moments, fresh.get_params())
        self._principal, self._map = fresh._principal, found
        return self

    def partial_fit(self, x: Any) -> Self:
        """Take further vectors in; in any number of parts they give what `fit` of all gives.

        Parameters: x, (n, d) real, n >= 0. Returns self. The map is made anew when it is next used, and only then is it checked that the vectors
        differ, and in enough directions. Raises TypeError, ValueError (settings, shape, NaN); the vectors before then stay.
        """
        moments = moments_of(x)
        if hasattr(self, "moments_"):
            if moments.dim != self.moments_.dim:
                raise ValueError(f"x has {moments.dim} columns; expected {self.moments_.dim}, as before")
            moments = self.moments_.merge(moments)
        self._take(moments, self._checked_settings(moments.dim))
        return self

    def _take(self, moments: Any, settings: dict[str, Any]) -> None:
        for name in ("_principal", "_map", "_back"):
            vars(self).pop(name, None)
        self.moments_, self._fitted_settings = moments, settings

    @cached_property
    def _principal(self) -> PrincipalAxes:
        self._check_fitted("moments_")
        return principal_axes(self.moments_, beta=self._fitted_settings["beta"], ddof=self._fitted_settings["ddof"])

    @cached_property
    def _map(self) -> Affine:
        used = self._used()
        if used < len(self.spectrum_) and self._fitted_settings["k"] is None:
            warn_data(f"{self._varies()}; only these {used} are kept. Pass k <= {used} to say so", stacklevel=4)
        return self._made(used)

    def _varies(self) -> str:
        return (f"the {self.moments_.n:,} rows of x vary in {self.rank_} directions of {len(self.spectrum_)} (above "
                f"{self._fitted_settings['threshold']:g} of the largest variance)")

    def _used(self) -> int:
        """How many directions the map keeps: ``k``, else all above the threshold; where nothing is divided, all there are."""
        rank, k = self.rank_, self._fitted_settings["k"]
        if self._fitted_settings["gamma"] == 0:
            return k or len(self.spectrum_)
        if k is not None and k > rank:
            raise ValueError(f"k={k} is more than there is: {self._varies()}; expected k <= {rank}, or more and different rows")
        return k or rank

    def _made(self, used: int) -> Affine:
        spectrum, axes, gamma = self.spectrum_[:used], self._principal.axes[:used], self._fitted_settings["gamma"]
        with np.errstate(all="ignore"):
            scales = spectrum ** (-gamma / 2)
            matrix = (axes.T * scales) @ axes if self._fitted_settings["kind"] == "zca" else axes.T * scales
        if not (np.isfinite(matrix).all() and scales.all()):
            raise ValueError(f"gamma={gamma:g} with variances from {spectrum[0]:.3g} to {spectrum[-1]:.3g} leaves float64; expected a smaller gamma, "
                             "a smaller k, or x on another scale")
        return Affine(self._fitted_settings["beta"] * self.mean_, matrix, np.zeros(matrix.shape[1]), scales)

    @cached_property
    def _back(self) -> Affine:
        """The way back: what was divided is multiplied, what was left out stays out."""
        lengths, axes = 1 / self._map.enlarged, self.components_
        matrix = (axes.T * lengths) @ axes if self._fitted_settings["kind"] == "zca" else axes * lengths[:, None]
        return Affine(np.zeros(len(matrix)), matrix, self._map.before, lengths)

    # -------------------------------------------------------------------------------------------- what was learned

    @property
    def dim(self) -> int:
        """Numbers per vector that leaves `transform`."""
        return self._map.matrix.shape[1]

    @property
    def mean_(self) -> np.ndarray:
        """Mean of the vectors seen, (d,) float64."""
        return self._principal.mean

    @property
    def spectrum_(self) -> np.ndarray:
        """All variances about β μ, (d,) float64, falling."""
        return self._principal.spectrum

    @property
    def rank_(self) -> int:
        """How many of them are above the threshold."""
        spectrum = self._principal.spectrum
        return int(np.count_nonzero(spectrum > self._fitted_settings["threshold"] * spectrum[0]))

    @property
    def components_(self) -> np.ndarray:
        """The axes in use, (k, d) float64, one per row, the strongest first."""
        return self._principal.axes[: len(self._map.enlarged)]

    @property
    def variances_(self) -> np.ndarray:
        """Variances along the axes in use, (k,) float64."""
        return self._principal.spectrum[: len(self._map.enlarged)]

    @property
    def matrix_(self) -> np.ndarray:
        """W, (d, dim) float64."""
        return self._map.matrix

    # -------------------------------------------------------------------------------------------- vectors

    def transform(self, x: Any, *, normalize: bool = False) -> np.ndarray:
        """Whiten vectors: (x - β μ) W.

        Parameters: x, (n, d) real, n >= 0; normalize, scale the results to length 1, so that inner products are cosines (the evaluation takes
        cosines itself). Returns (n, dim) float32; a vector at β μ is zeros. Memory beyond x and the result: a block of rows. Raises NotFittedError,
        TypeError, ValueError (shape, NaN, numbers that leave float32).
        """
        return self._map(x, normalize=normalize)

    def inverse_transform(self, z: Any) -> np.ndarray:
        """Vectors back from whitened ones: x where all directions were kept, else the projection of x on those that were.

        Parameters: z, (n, dim) real, n >= 0, of `transform` with ``normalize=False``. Returns (n, d) float32. Raises as `transform`.
        """
        return self._back(z, name="z")

    # -------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write settings, the statistics of all vectors seen, and the axes into a folder; a loaded one can take further vectors in.

        Raises NotFittedError, ValueError (what was seen cannot be whitened), OSError.
        """
        self._used()                              # what cannot be used is not worth a file
        arrays = {"mean": self.mean_, "scatter": self.moments_.scatter.cpu().numpy(), "spectrum": self.spectrum_, "axes": self._principal.axes}
        save_model(path, type(self).__name__, settings=self._fitted_settings, arrays=arrays, extra={"n": self.moments_.n})

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a folder that `save` wrote; the same vectors leave `transform` on every machine, to float32 rounding.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        from .. import kernels

        settings, arrays, extra = load_model(path, cls.__name__)
        try:
            loaded = cls(**settings)
            moments = kernels.Moments.of(extra["n"], arrays["mean"], arrays["scatter"])
            loaded._take(moments, loaded._checked_settings(moments.dim))
            loaded._principal = _checked_axes(arrays, moments.dim)
            loaded._map = loaded._made(loaded._used())           # without the warning, which the fit gave
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is a {cls.__name__} that this version cannot read ({error}). Save it again") from error
        return loaded


def _checked_axes(arrays: dict[str, np.ndarray], d: int) -> PrincipalAxes:
    for name, shape in {"mean": (d,), "spectrum": (d,), "axes": (d, d)}.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"its array {name!r} has shape {array.shape} and dtype {array.dtype}, or holds NaN; expected {shape} of finite float64")
    return PrincipalAxes(arrays["mean"], arrays["spectrum"], arrays["axes"])
