"""Latent semantic analysis: keep the few directions in which a table of counts varies most.

A truncated singular value decomposition writes documents and words as points in one space of
``dim`` directions, where documents that share no word can still be close. It is not centred, as
principal components would be, so the table stays sparse until it is multiplied. Taught in lesson
``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..core import check_array, check_int, check_memory, generator, shown, taken, track
from ..core.estimator import SavedEstimator
from ..core.learned import Array, Learned
from ..core.parameters import Choice, Given, Int, Seed

__all__ = ["LSA"]

SCALES = {"singular": 1.0, "root": 0.5, "none": 0.0}  # power of the singular values in a vector
VECTORIZERS = ("BM25", "BagOfWords", "OneHot", "TfIdf")
PACKED = "vectorizer."  # before the names of the vectorizer's arrays in a saved model


def _counts_estimator(name: str, value: Any) -> Any:
    """Anything that is made and fitted as scikit-learn's vectorizers are."""
    if not (hasattr(value, "fit_transform") and hasattr(value, "get_params")):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected a counts "
                        "estimator such as TfIdf()")
    return value


def _unfitted(vectorizer: Any) -> Any:
    return type(vectorizer)(**vectorizer.get_params(deep=False))


class _Vectorizer(Learned):
    """A fitted counting method within another model's files: one card holds all of both."""

    def pack(self, value: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        if value is None:
            return {}, {self.file: None}
        kind = type(value).__name__
        if not type(value).__module__.startswith(__package__):
            raise TypeError(f"vectorizer={shown(value)} is {type(value).__module__}.{kind}, which "
                            "cannot be saved here; use TfIdf() or another of lessons_lib.counts")
        settings, arrays, extra = value._contents()
        return ({PACKED + name: array for name, array in arrays.items()},
                {self.file: {"kind": kind, "settings": settings, "extra": extra}})

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> Any:
        from .. import counts

        card = extra[self.file]
        if card is None:
            return None
        if not isinstance(card, dict) or not {"kind", "settings", "extra"} <= set(card) \
                or card["kind"] not in VECTORIZERS:
            raise ValueError(f"it names the vectorizer {shown(card)}, which lessons_lib.counts "
                             "does not have")
        own = {name.removeprefix(PACKED): array for name, array in arrays.items()
               if name.startswith(PACKED)}
        result = getattr(counts, card["kind"])._from_contents(card["settings"], own, card["extra"])
        if result.dim != sizes["columns"]:
            raise ValueError(f"array 'components' has {sizes['columns']} columns, its vectorizer "
                             f"{result.dim}")
        return result


class LSA(SavedEstimator):
    """Vectors of texts and words from a truncated singular value decomposition of their counts.

    Notes
    -----
    X ~ U_k S_k V_k^T. With dim + oversamples >= min(n, V) the decomposition is exact. A direction
    beyond the rank of X is zero. [deerwester1990indexing; halko2011finding]
    """

    dim = Int(100, "directions kept, at most min(n, V)", positional=1)
    vectorizer = Given(None, "makes counts of texts; it is copied, never changed. None: "
                             "TfIdf(sublinear_tf=True)", kind="estimator", check=_counts_estimator)
    scale = Choice(*SCALES, doc="how strong directions count: 'singular' gives U S (document "
                                "products as in X), 'root' U sqrt(S), 'none' U")
    n_iter = Int(5, "power iterations; more is closer to the exact decomposition", low=0,
                 high=10_000, remedy="The exact one: oversamples=min(n, V)")
    oversamples = Int(20, "directions computed beyond dim", low=0)
    seed = Seed()

    components_ = Array("directions", "columns", dtype="f", file="components",
                        doc="rows of V_k^T, orthonormal, the entry of largest magnitude positive")
    singular_values_ = Array("directions", dtype="f", file="singular_values", doc="S_k, falling")
    explained_ = Array("directions", dtype="f", file="explained",
                       doc="share of the sum of squares of X that each direction carries")
    vectorizer_ = _Vectorizer("estimator or None", "fitted, where LSA was fitted on texts",
                              file="vectorizer")
    dim_ = Learned("int", "directions of the fit")

    name = "LSA"

    def fit(self, data: Iterable[str] | sparse.spmatrix | np.ndarray) -> Self:
        """Learn the directions.

        Parameters
        ----------
        data : iterable of str, or (n, V) matrix, sparse or dense
            Rows are documents, or words.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings; dim above min(n, V); an entry that is not finite.
        """
        self._fit(data)
        return self

    def fit_transform(self, data: Iterable[str] | sparse.spmatrix | np.ndarray) -> np.ndarray:
        """Learn the directions and return the vectors of the same rows.

        Parameters
        ----------
        data
            As in `fit`.

        Returns
        -------
        (n, dim) float64

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        return self._project(self._fit(data))

    def _fit(self, data: Any) -> sparse.csr_matrix | np.ndarray:
        self._check_settings()
        vectorizer = None
        if not _is_matrix(data):
            from . import TfIdf

            vectorizer = (TfIdf(sublinear_tf=True) if self.vectorizer is None
                          else _unfitted(self.vectorizer))
            data = vectorizer.fit_transform(data)
        matrix = _checked_matrix(data)
        if self.dim > min(matrix.shape):
            raise ValueError(f"dim={self.dim} must be in [1, {min(matrix.shape)}] for a matrix of "
                             f"shape {matrix.shape}")
        self.components_, self.singular_values_, self.explained_ = self._decompose(matrix)
        self.dim_, self.vectorizer_, self._fitted_scale = self.dim, vectorizer, self.scale
        return matrix

    def _decompose(self, matrix: sparse.csr_matrix | np.ndarray) -> tuple[np.ndarray, ...]:
        """V_k^T, S_k, and the share of each direction."""
        from sklearn.utils.extmath import randomized_svd
        from threadpoolctl import threadpool_limits

        most = min(matrix.shape)
        oversamples = taken("oversamples", self.oversamples, most, f"a matrix of shape "
                            f"{matrix.shape} has {most:,} directions", stacklevel=5)
        check_memory(f"{self.dim:,} + {oversamples:,} directions of a matrix of shape "
                     f"{matrix.shape}", 8 * sum(matrix.shape) * (self.dim + oversamples),
                     f"Lower dim={self.dim} or oversamples={self.oversamples}")
        start = int(generator(self.seed).integers(2**32))     # scikit-learn's seeds end at 2^32
        # A tall thin QR gains little from a second thread, and where no core is free for it the
        # two wait for each other: nine times the processor time.
        with threadpool_limits(limits=1, user_api="blas"):
            _, s, vt = randomized_svd(matrix, self.dim, n_oversamples=oversamples,
                                      n_iter=self.n_iter, power_iteration_normalizer="QR",
                                      flip_sign=False, random_state=start)
        beyond_rank = s <= (s[0] * max(matrix.shape) * np.finfo(np.float64).eps)
        s[beyond_rank], vt[beyond_rank] = 0.0, 0.0            # directions of rounding noise
        largest = vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)]
        vt *= np.where(largest < 0, -1.0, 1.0)[:, None]
        # divided by a power of two first, so that no square leaves the range of floats
        entries = matrix.data if sparse.issparse(matrix) else matrix
        _, exponent = np.frexp(np.abs(entries).max(initial=0.0))
        squares = (np.ldexp(entries, -exponent) ** 2).sum()
        return vt, s, np.ldexp(s, -exponent) ** 2 / (squares if squares > 0 else 1.0)

    def transform(self, data: Iterable[str] | sparse.spmatrix | np.ndarray) -> np.ndarray:
        """Vectors of new rows in the learned space; a row without counts becomes zero.

        Parameters
        ----------
        data : iterable of str, or (n, V) matrix

        Returns
        -------
        (n, dim) float64

        Raises
        ------
        NotFittedError, ValueError
            Not fitted; another number of columns; texts where `fit` saw a matrix.
        """
        self._check_fitted("components_")
        return self._project(_checked_matrix(data, self.components_.shape[1]) if _is_matrix(data)
                             else self._vectorized(data))

    def encode(self, texts: Iterable[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts.

        Parameters
        ----------
        texts, batch_size, progress
            As `core.Encoder.encode`; texts may be any iterable of str.

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        NotFittedError, ValueError
            As `transform`.
        """
        self._check_fitted("components_")
        check_int("batch_size", batch_size)
        matrix = self._vectorized(texts)
        check_memory(f"{matrix.shape[0]:,} vectors of {self.dim_:,} numbers",
                     4 * matrix.shape[0] * self.dim_, "Encode fewer texts at once")
        vectors = np.empty((matrix.shape[0], self.dim_), dtype=np.float32)
        for start in track(range(0, len(vectors), batch_size), label=self.name, show=progress):
            vectors[start : start + batch_size] = self._project(matrix[start : start + batch_size])
        return vectors

    def term_vectors(self) -> np.ndarray:
        """One vector per column (word), V_k S_k, scaled as the documents are.

        Returns
        -------
        (V, dim) float64

        Raises
        ------
        NotFittedError
        """
        self._check_fitted("components_")
        return self.components_.T * self.singular_values_ ** SCALES[self._fitted_scale]

    def _vectorized(self, texts: Iterable[str]) -> sparse.csr_matrix:
        if self.vectorizer_ is None:
            raise ValueError(f"texts cannot be read by this {type(self).__name__}: it was fitted "
                             "on a matrix and knows no words. Fit it on texts, or compose it: "
                             "TfIdf().fit(texts) | lsa")
        return self.vectorizer_.transform(texts)

    def _project(self, matrix: sparse.csr_matrix | np.ndarray) -> np.ndarray:
        """X V = U S, with the singular values to the power that ``scale`` says."""
        factor = np.zeros_like(self.singular_values_)
        np.power(self.singular_values_, SCALES[self._fitted_scale] - 1.0, out=factor,
                 where=self.singular_values_ > 0)
        return np.asarray(matrix @ (self.components_.T * factor))

    def _saved_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The vectorizer is among the arrays; its settings are in its part of the card."""
        settings = self._check_settings() | {"scale": self._fitted_scale}
        del settings["vectorizer"]
        return settings, {"default_vectorizer": self.vectorizer is None}

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        self.dim_, self._fitted_scale = len(self.components_), self.scale
        if self.vectorizer_ is not None and not extra["default_vectorizer"]:
            self.vectorizer = _unfitted(self.vectorizer_)


def _is_matrix(data: object) -> bool:
    return (sparse.issparse(data)
            or (isinstance(data, np.ndarray) and data.dtype.kind in "fiubc" and data.ndim > 0))


def _checked_matrix(data: Any, columns: int | None = None) -> sparse.csr_matrix | np.ndarray:
    """A finite float matrix, sparse as CSR; the input is never written."""
    if not sparse.issparse(data):
        return np.ascontiguousarray(check_array("data", data, columns=columns), dtype=np.float64)
    if data.dtype.kind not in "fiub":
        raise TypeError(f"data has dtype {data.dtype}; expected real numbers")
    if columns is not None and data.shape[1] != columns:
        raise ValueError(f"data has shape {data.shape}; expected {columns} columns")
    matrix = sparse.csr_matrix(data, dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise ValueError(f"data[{row}, {matrix.indices[bad[0]]}] is {matrix.data[bad[0]]} "
                         f"({len(bad)} entries are not finite); "
                         "expected finite numbers")
    return matrix
