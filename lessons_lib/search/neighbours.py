"""Neighbours of a question's vector among those of many texts: all of them looked at, or few of
them, or all of them in fewer numbers and bits.

Everything is measured by the cosine, and every method has ``fit(vectors)`` and ``search(queries)``.
What a method loses is counted against `ExactNeighbours` by `neighbour_recall`, and much of it is
won back by `rescored`. Taught in ``17_search``.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from ..core import BackendUnavailable, Estimator, check_array, check_int, check_memory, taken
from ..core.compiled import compiled
from ..core.learned import Array
from ..core.parameters import Int, Threads

__all__ = ["CompactVectors", "ExactNeighbours", "Hnsw", "neighbour_recall", "rescored",
           "unit_rows"]

SCORES_AT_ONCE = 1 << 22                         # cosines of a block of questions: 16 MB
FEW = 2                                          # questions for which a matrix product is slower


def unit_rows(name: str, vectors: Any, *, dim: int | None = None, columns: int | None = None,
          min_rows: int = 0) -> np.ndarray:
    """The first ``dim`` numbers of each row, scaled to norm 1, as float32; zeros stay zeros."""
    x = check_array(name, vectors, columns=columns, min_rows=min_rows)[:, :dim]
    x = x / np.maximum(np.abs(x).max(axis=1, keepdims=True, initial=0), np.finfo(x.dtype).tiny)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return (x / np.where(norms > 0, norms, 1)).astype(np.float32)


@compiled(reorder=True)
def _products(queries: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Dot products of float32 rows with float32 or int8 rows, each of which is read once."""
    scores = np.empty((len(queries), len(codes)), np.float32)
    for j in range(len(codes)):
        code = codes[j]
        for i in range(len(queries)):
            query, total = queries[i], np.float32(0)
            for c in range(code.size):
                total += query[c] * np.float32(code[c])
            scores[i, j] = total
    return scores


class _Neighbours(Estimator):
    """What the methods share: vectors in, and for each question its best rows, best first."""

    def __len__(self) -> int:
        self._check_fitted("n_")
        return self.n_

    def _keep(self, vectors: np.ndarray, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes of a fit with these unit vectors."""
        raise NotImplementedError

    def _find(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Cosines (m, k), falling, and rows (m, k) for unit vectors (m, dim)."""
        raise NotImplementedError

    def fit(self, vectors: np.ndarray) -> Self:
        """Take the vectors among which neighbours are sought.

        Parameters
        ----------
        vectors : (n, dim) real, n >= 1
            Their norms do not count.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings; no numbers, NaN, no row.
        BackendUnavailable
            A package that the method needs is not installed.
        """
        settings = self._check_settings()
        x = check_array("vectors", vectors, min_rows=1)
        dim = settings.get("dim")
        if dim is not None and dim > x.shape[1]:
            raise ValueError(f"dim={dim} is more than the {x.shape[1]} columns of vectors; "
                             f"expected int in [1, {x.shape[1]}]")
        kept = self._keep(unit_rows("vectors", x, dim=dim), settings)
        vars(self).update(kept, n_=len(x), columns_=x.shape[1], _dim=dim)
        return self

    def search(self, queries: np.ndarray, *, k: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The k rows of highest cosine for each question, best first.

        Parameters
        ----------
        queries : (m, dim) real
        k : int in [1, n], default 10

        Returns
        -------
        cosines : (m, k) float32
            Falling; as exact as the method is.
        rows : (m, k) int64

        Raises
        ------
        NotFittedError, TypeError, ValueError
            Not fitted; no numbers, another width, NaN; k out of range.
        """
        self._check_fitted("n_")
        k = check_int("k", k, low=1, high=self.n_)
        queries = unit_rows("queries", queries, dim=self._dim, columns=self.columns_)
        step = max(1, SCORES_AT_ONCE // self.n_)
        parts = [self._find(queries[i : i + step], k) for i in range(0, len(queries), step)]
        parts = parts or [(np.empty((0, k), np.float32), np.empty((0, k), np.int64))]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


class ExactNeighbours(_Neighbours):
    """All vectors are compared with the question: nothing is missed.

    Notes
    -----
    A product of matrices in float32 comes first; what lies within its largest rounding error,
    dim · 2⁻²⁴, of place k is scored again in float64; of equals the first row comes first.
    `kernels.knn` gives the same rows, but prepares the vectors anew at each call, which is what one
    question after the other cannot pay for.

    Examples
    --------
    >>> cosines, rows = ExactNeighbours().fit([[0, 2], [3, 0], [1, 1]]).search([[1, 0]], k=2)
    >>> rows.tolist()
    [[1, 2]]
    """

    vectors_ = Array("texts", "numbers", doc="at norm 1")

    def _keep(self, vectors: np.ndarray, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"vectors_": vectors}

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors."""
        self._check_fitted("n_")
        return self.vectors_.nbytes

    def _find(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        cosines, rows = self.ranked(queries, k)
        return cosines.astype(np.float32), rows

    def ranked(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """`search` in float64, by which rows of several shards can be put in one order.

        Parameters
        ----------
        queries : (m, dim) float32
            Of norm 1, few enough to be scored at once.
        k : int in [1, n]

        Returns
        -------
        cosines : (m, k) float64
        rows : (m, k) int64
        """
        few = len(queries) <= FEW
        scores = _products(queries, self.vectors_) if few else queries @ self.vectors_.T
        cosines, rows = np.empty((len(queries), k)), np.empty((len(queries), k), int)
        error = 2 * (queries.shape[1] + 2) * 2.0**-24
        for i, (query, of_query) in enumerate(zip(queries, scores, strict=True)):
            place_k = np.partition(of_query, len(of_query) - k)[len(of_query) - k]
            near = np.flatnonzero(of_query >= place_k - error)
            # equal rows are summed alike, wherever they stand
            exact = (self.vectors_[near].astype(np.float64) * query).sum(axis=1)
            best = np.argsort(-exact, kind="stable")[:k]
            cosines[i], rows[i] = exact[best], near[best]
        return cosines, rows


def _faiss() -> ModuleType:
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise BackendUnavailable("approximate neighbours need the package faiss-cpu, which is not "
                                 "installed here: pip install faiss-cpu. ExactNeighbours does "
                                 "without it, and gives the exact ones") from error


@contextlib.contextmanager
def _threads(faiss: ModuleType, n: int) -> Iterator[None]:
    """So many threads within the block: with more than one a graph depends on who came first."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


class Hnsw(_Neighbours):
    """Few vectors are compared: one walks from neighbour to neighbour through a graph in layers.

    The upper layers hold ever fewer vectors and make long steps, the lowest holds all. A walk keeps
    the ``ef`` best that it has seen, so ``ef`` buys recall with time.

    Notes
    -----
    The graph is that of the package ``faiss-cpu`` (MIT licence; wheels for Linux on x86-64 and
    Arm, Windows and macOS on Arm, Python 3.11 to 3.13), which is needed here only. It was measured
    beside ``usearch`` (Apache licence, the same wheels) on 50,000 x 256 vectors, one
    thread, 16 neighbours in a layer: built in 27 processor seconds against 56; recall@10 of
    .983 / 1.000 at ef 16 / 64 in 0.11 / 0.36 ms a question, against .974 / 1.000 in 0.27 / 0.88 ms;
    69 MB against 66. With one thread the same vectors give the same graph.

    Examples
    --------
    >>> cosines, rows = Hnsw(ef=64).fit(vectors).search(questions, k=10)       # doctest: +SKIP
    """

    m = Int(16, "neighbours of a vector in each layer, twice as many in the lowest", low=2)
    ef_construction = Int(100, "how many vectors a walk keeps while the graph is built")
    ef = Int(64, "how many a walk keeps in a search, k at least; may be changed after `fit`")
    threads = Threads(1, "more build sooner, and not the same graph each time")

    def _keep(self, vectors: np.ndarray, settings: Mapping[str, Any]) -> dict[str, Any]:
        faiss, n = _faiss(), len(vectors)
        m = taken("m", settings["m"], max(2, n), f"there are {n:,} vectors", stacklevel=4)
        walk = taken("ef_construction", settings["ef_construction"], n, f"there are {n:,} vectors",
                     stacklevel=4)
        check_memory(f"{n:,} vectors with 2 x {m:,} neighbours each", 8 * n * m,
                     f"Lower m={settings['m']}")
        graph = faiss.IndexHNSWFlat(vectors.shape[1], m, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = walk
        with _threads(faiss, settings["threads"]):
            graph.add(vectors)
        return {"_graph": graph}

    def _find(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        settings, faiss = self._check_settings(), _faiss()
        walk = taken("ef", settings["ef"], self.n_, f"there are {self.n_:,} vectors", stacklevel=4)
        self._graph.hnsw.efSearch = max(walk, k)
        with _threads(faiss, settings["threads"]):
            cosines, rows = self._graph.search(queries, k)
            lost = (rows < 0).any(axis=1)        # a walk that saw fewer than k vectors
            if lost.any():
                everything = faiss.downcast_index(self._graph.storage)
                cosines[lost], rows[lost] = everything.search(queries[lost], k)
        return cosines, rows


def _top(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k highest of each row, falling, and their places; of equals the first."""
    rows = np.empty((len(scores), k), np.int64)
    for i, of_query in enumerate(scores):
        place_k = np.partition(of_query, len(of_query) - k)[len(of_query) - k]
        near = np.flatnonzero(of_query >= place_k)
        rows[i] = near[np.argsort(-of_query[near], kind="stable")[:k]]
    return np.take_along_axis(scores, rows, axis=1), rows


class CompactVectors(_Neighbours):
    """All vectors are compared, with fewer numbers of fewer bits each.

    ``dim`` keeps the first numbers, which is for vectors of a model that was trained for it
    (`contrastive.Matryoshka`). 8 bits keep each number as a whole number from -127 to 127 times
    what its column needs; 1 bit keeps its sign alone, and the score is the cosine of the signs,
    1 - 2 · (signs that differ) / dim.

    Examples
    --------
    >>> CompactVectors(bits=1).fit([[0.3, -0.9], [-0.2, 0.4]]).search([[1, -1]], k=1)[1].tolist()
    [[0]]
    """

    dim = Int(None, "numbers that are kept; None: all")
    bits = Int(8, "of each number: 1, 8 or 32")

    BITS: ClassVar[tuple[int, ...]] = (1, 8, 32)

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        if settings["bits"] not in self.BITS:
            raise ValueError(f"bits={settings['bits']} is out of range; expected 1, 8 or 32")

    def _keep(self, vectors: np.ndarray, settings: Mapping[str, Any]) -> dict[str, Any]:
        kept = {"_bits": settings["bits"], "_scale": None, "codes_": vectors}
        if settings["bits"] == 8:
            scale = np.abs(vectors).max(axis=0) / 127
            kept["_scale"] = np.where(scale > 0, scale, 1).astype(np.float32)
            kept["codes_"] = np.rint(vectors / kept["_scale"]).astype(np.int8)
        elif settings["bits"] == 1:
            kept["codes_"] = _signs(vectors)
        return kept

    @property
    def nbytes(self) -> int:
        """Bytes of the kept numbers."""
        self._check_fitted("n_")
        return self.codes_.nbytes + (0 if self._scale is None else self._scale.nbytes)

    def _find(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self._bits == 32:
            return _top(queries @ self.codes_.T, k)
        if self._bits == 8:
            return _top(_products(queries * self._scale, self.codes_), k)
        differ = np.stack([np.bitwise_count(self.codes_ ^ signs).sum(axis=1, dtype=np.int32)
                           for signs in _signs(queries)])
        return _top((1 - 2 * differ / queries.shape[1]).astype(np.float32), k)


def _signs(vectors: np.ndarray) -> np.ndarray:
    """One bit for each number, 1 above zero, as rows of uint64."""
    packed = np.packbits(vectors > 0, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def rescored(queries: np.ndarray, rows: np.ndarray, vectors: np.ndarray, *,
             k: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """The best of some candidates, by their whole vectors.

    A method that is small or fast names more candidates than are wanted, say 4 k; the whole vectors
    may lie on disk (`numpy.memmap`), because few are read.

    Parameters
    ----------
    queries : (m, dim) real
    rows : (m, candidates) int
        As a ``search`` gives them.
    vectors : (n, dim) real
    k : int in [1, candidates], default 10

    Returns
    -------
    cosines : (m, k) float32
    rows : (m, k) int64

    Raises
    ------
    TypeError, ValueError
        No numbers, other shapes, a row that is not there; k out of range.

    Examples
    --------
    >>> x = np.eye(3) + 0.1
    >>> few = CompactVectors(bits=1).fit(x).search(x[:1], k=2)[1]
    >>> rescored(x[:1], few, x, k=1)[1].tolist()
    [[0]]
    """
    from ..kernels import knn

    queries, rows = check_array("queries", queries), np.asarray(rows)
    if rows.ndim != 2 or len(rows) != len(queries) or rows.dtype.kind not in "iu":
        raise ValueError(f"rows has shape {rows.shape} of {rows.dtype}; expected row numbers (int) "
                         f"of candidates for {len(queries)} queries")
    k = check_int("k", k, low=1, high=rows.shape[1])
    if rows.size and not 0 <= rows.min() <= rows.max() < len(vectors):
        raise ValueError(f"rows holds {rows.min()} to {rows.max()}; expected rows of vectors, in "
                         f"[0, {len(vectors) - 1}]")
    cosines, best = np.empty((len(rows), k), np.float32), np.empty((len(rows), k), np.int64)
    for i, (query, of_query) in enumerate(zip(queries, rows, strict=True)):
        near = np.sort(of_query)
        candidates = check_array("vectors", vectors[near], columns=queries.shape[1])
        values, places = knn(query[None].astype(np.float64), candidates.astype(np.float64), k=k)
        cosines[i], best[i] = values[0].numpy(), near[places[0].numpy()]
    return cosines, best


def neighbour_recall(rows: np.ndarray, exact: np.ndarray) -> float:
    """Share of the exact neighbours that a method has found, the mean over questions.

    Parameters
    ----------
    rows : (m, any) int
    exact : (m, k) int, m >= 1
        Of `ExactNeighbours`.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    ValueError
        Other shapes.

    Examples
    --------
    >>> neighbour_recall([[4, 2, 9]], [[2, 7]])
    0.5
    """
    rows, exact = np.asarray(rows), np.asarray(exact)
    if rows.ndim != 2 or exact.ndim != 2 or len(rows) != len(exact) or not exact.size:
        raise ValueError(f"rows has shape {rows.shape} and exact {exact.shape}; expected (m, any) "
                         "and (m, k) for the same m >= 1 questions")
    return float(np.mean([np.isin(right, own).mean()
                          for own, right in zip(rows, exact, strict=True)]))
