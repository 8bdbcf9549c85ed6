"""Latent semantic analysis: keep the few directions in which a table of counts varies most.

A truncated singular value decomposition writes documents and words as points in one space of
``dim`` directions, where documents that share no word can still be close. It is not centred, as
principal components would be, so the table stays sparse until it is multiplied. Taught in lesson
``02_bag_of_words``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..core import (DamagedFile, Estimator, check_array, check_choice, check_int, check_seed,
                    generator, load_model, save_model, shown, track)
from .encoding import loaded_array

__all__ = ["LSA"]

SCALES = {"singular": 1.0, "root": 0.5, "none": 0.0}  # power of the singular values in a vector
VECTORIZERS = ("BM25", "BagOfWords", "OneHot", "TfIdf")
PACKED = "vectorizer."  # before the names of the vectorizer's arrays in a saved model


class LSA(Estimator):
    """Vectors of texts and words from a truncated singular value decomposition of their counts, X ~
    U_k S_k V_k^T.

    Parameters: dim, directions kept, 1 to min(n, V); vectorizer, what turns texts into counts (an
    estimator with ``fit`` and ``transform``; it is copied, never changed), None for
    ``TfIdf(sublinear_tf=True)``; scale, how strong directions count: ``"singular"`` gives U S
    (document products as in X), ``"root"`` U sqrt(S), ``"none"`` U (every direction alike); n_iter,
    power iterations, more is closer to the exact decomposition; oversamples, directions computed
    beyond dim; seed. With dim + oversamples >= min(n, V) the decomposition is exact. Learned:
    ``components_`` (dim, V), rows of V_k^T at right angles and of length 1, each turned so that its
    largest entry by magnitude is positive; ``singular_values_`` (dim,), falling; ``explained_``
    (dim,), share of the sum of squares of X that each direction carries; ``dim_``; ``vectorizer_``
    when fitted on texts. A direction beyond the rank of X is zero. [deerwester1990indexing;
    halko2011finding]
    """

    name = "LSA"

    def __init__(self, dim: int = 100, *, vectorizer: Any = None, scale: str = "singular",
                 n_iter: int = 5, oversamples: int = 20, seed: int = 0):
        self.dim, self.vectorizer, self.scale = dim, vectorizer, scale
        self.n_iter, self.oversamples, self.seed = n_iter, oversamples, seed

    # -------------------------------------------------------------------------- learning

    def fit(self, data: Iterable[str] | sparse.spmatrix | np.ndarray) -> LSA:
        """Learn the directions from texts, or from a matrix of shape (n, V), sparse or dense, whose
        rows are documents (or words).

        Returns self. Raises ValueError when dim exceeds min(n, V) or an entry is not finite,
        TypeError or ValueError for a wrong setting.
        """
        self._fit(data)
        return self

    def fit_transform(self, data: Iterable[str] | sparse.spmatrix | np.ndarray) -> np.ndarray:
        """Learn the directions and return the vectors of the same rows, (n, dim) float64."""
        return self._project(self._fit(data))

    def _fit(self, data: Any) -> sparse.csr_matrix | np.ndarray:
        check_int("dim", self.dim)
        check_choice("scale", self.scale, SCALES)
        check_int("n_iter", self.n_iter, low=0)
        check_int("oversamples", self.oversamples, low=0)
        check_seed(self.seed)
        vectorizer = None
        if _is_matrix(data):
            matrix = _checked_matrix(data)
        else:
            vectorizer = self._new_vectorizer()
            matrix = _checked_matrix(vectorizer.fit_transform(data))
        if self.dim > min(matrix.shape):
            raise ValueError(f"dim={self.dim} must be in [1, {min(matrix.shape)}] for a matrix of "
                             f"shape {matrix.shape}")
        self.components_, self.singular_values_, self.explained_ = self._decompose(matrix)
        self.dim_, self.vectorizer_, self._fitted_scale = self.dim, vectorizer, self.scale
        return matrix

    def _new_vectorizer(self) -> Any:
        if self.vectorizer is None:
            from . import TfIdf

            return TfIdf(sublinear_tf=True)
        if not (hasattr(self.vectorizer, "fit_transform")
                and hasattr(self.vectorizer, "get_params")):
            raise TypeError(f"vectorizer={shown(self.vectorizer)} is "
                            f"{type(self.vectorizer).__name__}; expected a counts estimator such "
                            "as TfIdf()")
        return _unfitted(self.vectorizer)

    def _decompose(
            self,
            matrix: sparse.csr_matrix | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from sklearn.utils.extmath import randomized_svd

        start = int(generator(self.seed).integers(2**32))     # scikit-learn's seeds end at 2^32
        _, s, vt = randomized_svd(matrix, self.dim, n_oversamples=self.oversamples,
                                  n_iter=self.n_iter, power_iteration_normalizer="QR",
                                  flip_sign=False, random_state=start)
        beyond_rank = s <= (s[0] * max(matrix.shape) * np.finfo(np.float64).eps)
        s[beyond_rank], vt[beyond_rank] = 0.0, 0.0            # directions of rounding noise
        largest = vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)]
        vt *= np.where(largest < 0, -1.0, 1.0)[:, None]
        return vt, s, _shares(matrix, s)

    # -------------------------------------------------------------------------- using

    def transform(self, data: Iterable[str] | sparse.spmatrix | np.ndarray) -> np.ndarray:
        """Vectors of new rows in the learned space, (n, dim) float64: texts, or a matrix with the V
        columns of `fit`.

        A row without counts becomes zero. Raises NotFittedError, ValueError for another number of
        columns, and for texts where `fit` saw a matrix.
        """
        self._check_fitted("components_")
        return self._project(
            _checked_matrix(data, self.components_.shape[1]) if _is_matrix(data) else self.
            _vectorized(data))

    def encode(self, texts: Iterable[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, (n, dim) float32; the `Encoder` contract.

        Parameters: texts; batch_size, rows multiplied at a time; progress, show a bar. Raises as
        `transform`.
        """
        self._check_fitted("components_")
        check_int("batch_size", batch_size)
        matrix = self._vectorized(texts)
        vectors = np.empty((matrix.shape[0], self.dim_), dtype=np.float32)
        for start in track(range(0, len(vectors), batch_size), label=self.name, show=progress):
            vectors[start : start + batch_size] = self._project(matrix[start : start + batch_size])
        return vectors

    def term_vectors(self) -> np.ndarray:
        """One vector per column (word), V_k S_k, scaled as the documents are: (V, dim) float64."""
        self._check_fitted("components_")
        return self.components_.T * self.singular_values_ ** SCALES[self._fitted_scale]

    def _vectorized(self, texts: Iterable[str]) -> sparse.csr_matrix:
        if self.vectorizer_ is None:
            raise ValueError(f"texts cannot be read by this {type(self).__name__}: it was fitted "
                             "on a matrix and knows no words. "
                             "Fit it on texts, or compose it: TfIdf().fit(texts) | lsa")
        return self.vectorizer_.transform(texts)

    def _project(self, matrix: sparse.csr_matrix | np.ndarray) -> np.ndarray:
        power = SCALES[self._fitted_scale] - 1.0                      # X V = U S already
        factor = np.zeros_like(self.singular_values_)
        np.power(self.singular_values_, power, out=factor, where=self.singular_values_ > 0)
        return np.asarray(matrix @ (self.components_.T * factor))

    # -------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the model and, when it was fitted on texts, its vectorizer into one folder,
        atomically.

        Raises NotFittedError, OSError, and TypeError when the vectorizer is none of this room's.
        """
        self._check_fitted("components_")
        settings = (
            {name: value for name, value in self.get_params().items() if name != "vectorizer"}
            | {"scale": self._fitted_scale})
        arrays = {
            "components": self.components_, "singular_values": self.singular_values_,
            "explained": self.explained_
        }
        extra = {"vectorizer": None, "default_vectorizer": self.vectorizer is None}
        if self.vectorizer_ is not None:
            extra["vectorizer"], packed = _packed(self.vectorizer_)
            arrays |= packed
        save_model(path, "LSA", settings=settings, arrays=arrays, extra=extra)

    @classmethod
    def load(cls, path: str | os.PathLike) -> LSA:
        """Read a model written by `save`. Raises FileNotFoundError or DamagedFile."""
        settings, arrays, extra = load_model(path, "LSA")
        try:
            model = cls(**settings)
            check_choice("scale", model.scale, SCALES)
            if not {"vectorizer", "default_vectorizer"} <= set(extra):
                raise ValueError("it does not say which vectorizer it has")
        except (TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is an LSA that this version cannot read ({error}). Save the "
                              "model again") from error
        dim, n_columns = (*getattr(arrays.get("components"), "shape", ()), 0, 0)[:2]
        model.components_ = loaded_array(path, arrays, "components", shape=(dim, n_columns))
        model.singular_values_, model.explained_ = (loaded_array(path, arrays, name, shape=(dim, ))
                                                     for name in ("singular_values", "explained"))
        model.dim_, model.vectorizer_, model._fitted_scale = dim, None, model.scale
        if extra["vectorizer"] is not None:
            model.vectorizer_ = _unpacked(extra["vectorizer"],
                                          {n: a for n, a in arrays.items() if n.startswith(PACKED)},
                                          path)
            if model.vectorizer_.dim != n_columns:
                raise DamagedFile(f"{path}: array 'components' has {n_columns} columns, its "
                                  f"vectorizer {model.vectorizer_.dim}. Save the model again")
            model.vectorizer = None if extra["default_vectorizer"] else _unfitted(model.vectorizer_)
        return model


def _unfitted(vectorizer: Any) -> Any:
    return type(vectorizer)(**vectorizer.get_params(deep=False))


def _packed(vectorizer: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A fitted vectorizer as JSON and named arrays, taken from what its own ``save`` writes, so
    that one card holds all of a model.
    """
    kind = type(vectorizer).__name__
    if not type(vectorizer).__module__.startswith(__package__):
        raise TypeError(f"vectorizer={shown(vectorizer)} is {type(vectorizer).__module__}.{kind}, "
                        "which cannot be saved here; "
                        "use TfIdf() or another of lessons_lib.counts")
    with tempfile.TemporaryDirectory() as folder:
        vectorizer.save(Path(folder) / "model")
        settings, arrays, extra = load_model(Path(folder) / "model", kind)
    return {"kind": kind, "settings": settings,
            "extra": extra}, {PACKED + name: array for name, array in arrays.items()}


def _unpacked(card: dict[str, Any], arrays: dict[str, np.ndarray], path: str | os.PathLike) -> Any:
    from .. import counts

    if not isinstance(card, dict) or not {"kind", "settings", "extra"
                                          } <= set(card) or card["kind"] not in VECTORIZERS:
        raise DamagedFile(f"{path} names the vectorizer {shown(card)}, which lessons_lib.counts "
                          "does not have; save the model again")
    own = {name.removeprefix(PACKED): array for name, array in arrays.items()}
    with tempfile.TemporaryDirectory() as folder:
        save_model(
            Path(folder) / "model", card["kind"], settings=card["settings"], arrays=own,
            extra=card["extra"])
        return getattr(counts, card["kind"]).load(Path(folder) / "model")


def _shares(matrix: sparse.csr_matrix | np.ndarray, s: np.ndarray) -> np.ndarray:
    """Share of the sum of squares per direction; divided by a power of two first, so that no square
    leaves the range of floats.
    """
    entries = matrix.data if sparse.issparse(matrix) else matrix
    _, exponent = np.frexp(np.abs(entries).max(initial=0.0))
    squares = (np.ldexp(entries, -exponent) ** 2).sum()
    return np.ldexp(s, -exponent) ** 2 / (squares if squares > 0 else 1.0)


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
