"""Score an encoder: how well the cosines of sentence pairs follow the grades that people gave them.

The score is the Spearman correlation; for sets made of several files the protocol says how the
files are joined, which moves published numbers by up to 20 points (methods 21). One call gives
score, interval, shape of the space and time. Taught in ``01_one_hot``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import (DataWarning, Encoder, NotFittedError, check_array, check_choice, check_int,
                    check_seed, generator, shown, track, warn_data)
from .bootstrap import checked_resamples, in_brackets, percentile_interval, spearman_resamples
from .geometry import alignment, pair_cosines, uniformity
from .pair_sets import PairSet, pair_sets
from .ranks import pearson, spearman
from .tables import html_table, spanned, text_table

__all__ = ["PROTOCOLS", "Results", "STSResult", "evaluate"]

PROTOCOLS = ("all", "mean", "wmean")
BLOCK = 1 << 24  # numbers per dense block of vectors: 64 MB in float32
SPARSE_BELOW = 0.1  # share of non-zeros below which vectors are kept as CSR


@dataclass(frozen=True, repr=False)
class STSResult:
    """One encoder on one set. Correlations lie in [-1, 1] and are printed x 100.

    Attributes
    ----------
    name, split, protocol : str
    spearman, pearson : float
    interval : (low, high) or None
        95 % bootstrap interval of ``spearman`` over pairs; None when switched off.
    alignment : float or None
        None when no pair is graded above four fifths of the scale.
    uniformity : float
    seconds : float
        Wall time to encode and score.
    n_pairs, n_subsets, dim : int
    encoder : str
    by_subset : dict of str to float
        Spearman of each file that has one.
    """

    name: str
    split: str
    protocol: str
    spearman: float
    pearson: float
    interval: tuple[float, float] | None
    alignment: float | None
    uniformity: float
    seconds: float
    n_pairs: int
    n_subsets: int
    dim: int
    encoder: str
    by_subset: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (f"STSResult({self.encoder} on {self.name} {self.split}: Spearman "
                f"{100 * self.spearman:.1f}{in_brackets(self.interval)}, Pearson "
                f"{100 * self.pearson:.1f} (x 100, {self.protocol}), {self.n_pairs:,} pairs, "
                f"{self.seconds:.2f} s)")

    def _repr_html_(self) -> str:
        return Results({self.name: self})._repr_html_()


class Results(dict):
    """The mapping name -> `STSResult` of `evaluate`; prints as a table, correlations x 100."""

    HEADER = ("set", "split", "protocol", "Spearman", "95 % interval", "Pearson", "alignment",
              "uniformity", "pairs", "seconds")

    def _cells(self) -> list[tuple[str, ...]]:
        rows = []
        for name, r in self.items():
            aligned = "–" if r.alignment is None else f"{r.alignment:.2f}"
            rows.append((str(name), r.split, r.protocol, f"{100 * r.spearman:.1f}",
                         spanned(r.interval), f"{100 * r.pearson:.1f}", aligned,
                         f"{r.uniformity:.2f}", f"{r.n_pairs:,}", f"{r.seconds:.2f}"))
        return rows

    def __repr__(self) -> str:
        if not self:
            return "Results({})"
        table = text_table([self.HEADER, *self._cells()], left=3)
        return f"{self._names()} (correlations x 100)\n{table}"

    def _repr_html_(self) -> str:
        return html_table([self.HEADER, *self._cells()],
                          caption=f"{self._names()} (correlations × 100)")

    def _names(self) -> str:
        return ", ".join(dict.fromkeys(r.encoder for r in self.values()))


def evaluate(encoder: Encoder, datasets: Any, *, protocol: str = "all", split: str | None = None,
             batch_size: int = 256, progress: bool = False, bootstrap: int = 1000,
             seed: int = 0) -> Results:
    """Score an encoder on sets of graded sentence pairs.

    Parameters
    ----------
    encoder : Encoder
        Anything with ``encode``, ``dim`` and ``name``.
    datasets : str, list of str or SentencePairs, or dict of str to SentencePairs
    protocol : {"all", "mean", "wmean"}
        For sets of several files: "all" joins them before one Spearman, "mean" averages the files'
        scores, "wmean" weighs them by pairs. The three agree for one file.
    split : str, optional
        For names; None: the set's own.
    batch_size : int >= 1, default 256
        Passed to the encoder.
    progress : bool, default False
        Show a bar.
    bootstrap : int >= 0, default 1000
        Resamples of the 95 % interval, 0: none; "mean" and "wmean" resample inside each file.
    seed : int, default 0

    Returns
    -------
    dict of str to STSResult

    Raises
    ------
    TypeError
        No encoder, no pairs.
    NotFittedError
    ValueError
        Grades or cosines without a correlation.
    DataMissing
        A set is not here.

    Notes
    -----
    Each distinct sentence is encoded once, in blocks of at most 64 MB; vectors with less than 10 %
    non-zeros are kept sparse. A zero vector has cosine 0 with every other.
    """
    _check_encoder(encoder)
    check_choice("protocol", protocol, PROTOCOLS)
    check_int("batch_size", batch_size)
    checked_resamples("bootstrap", bootstrap, low=0)
    check_seed(seed)
    sets = pair_sets(datasets, split=split)
    results = Results()
    for pairs in track(sets, label=str(encoder.name), show=progress and len(sets) > 1):
        start = time.perf_counter()
        vectors = _encoded(encoder, pairs, batch_size, progress)
        scores = _scored(encoder, pairs, vectors, protocol=protocol, bootstrap=bootstrap, seed=seed)
        results[pairs.name] = STSResult(**scores, seconds=time.perf_counter() - start)
    return results


def _has(encoder: Any, name: str) -> bool:
    """``hasattr`` that lets NotFittedError pass, which is an AttributeError but says what to do."""
    try:
        getattr(encoder, name)
    except NotFittedError:
        raise
    except AttributeError:
        return False
    return True


def _check_encoder(encoder: Any) -> None:
    missing = [name for name in ("encode", "dim", "name") if not _has(encoder, name)]
    if missing or isinstance(encoder, type):
        what = (f"the class {encoder.__name__}, not an object of it" if isinstance(encoder, type)
                else f"without {', '.join(missing)}")
        raise TypeError(f"encoder={shown(encoder)} is {what}; expected an Encoder: encode(texts, "
                        "batch_size=, progress=), dim, name")


@contextmanager
def _one_warning_per_set(name: str) -> Iterator[None]:
    """Pass on the first DataWarning of a set with its name; its further blocks would repeat it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        yield
    data = [w for w in caught if issubclass(w.category, DataWarning)]
    for other in (w for w in caught if w not in data):
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    if data:
        more = f" (and {len(data) - 1} more such warnings)" if len(data) > 1 else ""
        warn_data(f"{name}: {data[0].message}{more}", stacklevel=5)


def _encoded(encoder: Encoder, pairs: PairSet, batch_size: int, progress: bool) -> Any:
    """One row per distinct sentence: a float array, or CSR when the first block is mostly zeros."""
    dim = check_int("encoder.dim", encoder.dim)
    step = max(1, min(len(pairs.sentences), BLOCK // dim))
    blocks: list[Any] = []
    with _one_warning_per_set(pairs.name):
        for start in range(0, len(pairs.sentences), step):
            texts = pairs.sentences[start : start + step]
            block = encoder.encode(texts, batch_size=min(batch_size, step), progress=progress)
            block = check_array("encoder.encode(texts)", _as_array(encoder, block), columns=dim)
            if len(block) != len(texts):
                raise ValueError(f"encoder.encode gave {len(block)} rows for {len(texts)} texts of "
                                 f"{pairs.name}; expected one row per text")
            blocks.append(_compact(block, like=blocks))
    if len(blocks) == 1 or not hasattr(blocks[0], "tocsr"):
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    from scipy import sparse

    return sparse.vstack(blocks, format="csr")


def _as_array(encoder: Encoder, block: Any) -> Any:
    """A torch tensor, from any device, as an array; bfloat16, which NumPy lacks, as float32."""
    if not hasattr(block, "detach"):
        return block
    try:
        tensor = block.detach().cpu()
        return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    except (TypeError, RuntimeError) as error:
        raise TypeError(f"{encoder.name}.encode gave a {type(block).__name__} that is no dense "
                        f"array of numbers: {error}") from error


def _compact(block: np.ndarray, *, like: list[Any]) -> Any:
    """The block as CSR if those before it are, or if it is the first and mostly zeros."""
    if not (hasattr(like[0], "tocsr") if like
            else np.count_nonzero(block) < SPARSE_BELOW * block.size):
        return block
    from scipy import sparse

    rows, columns = np.divmod(np.flatnonzero(block), block.shape[1])
    indptr = np.searchsorted(rows, np.arange(len(block) + 1))
    return sparse.csr_array((block[rows, columns], columns, indptr), shape=block.shape)


def _scored(encoder: Encoder, pairs: PairSet, vectors: Any, *, protocol: str, bootstrap: int,
            seed: int) -> dict[str, Any]:
    # what differs in the thirteenth digit is rounding noise; pairs that tie on paper tie here
    cosines = np.round(pair_cosines(vectors, pairs.left, pairs.right), 12)
    if cosines.min() == cosines.max():
        raise ValueError(f"{encoder.name} gives all {len(cosines)} pairs of {pairs.name} the "
                         f"cosine {cosines[0]:g}, so there is no order to score. Was it fitted on "
                         "such text? Zero vectors give 0 everywhere, equal vectors 1")
    parts = {pairs.name: np.arange(len(cosines))} if protocol == "all" else pairs.subsets
    weights = np.array([len(part) if protocol == "wmean" else 1 for part in parts.values()],
                       dtype=np.float64)
    weights /= weights.sum()
    columns = [_column(encoder, name, cosines[part], pairs.gold[part], protocol)
               for name, part in parts.items()]
    near, ends = pairs.close, np.concatenate([pairs.left, pairs.right])
    files = {name: (cosines[part], pairs.gold[part]) for name, part in pairs.subsets.items()}
    return {
        "name": pairs.name, "split": pairs.split, "protocol": protocol,
        "encoder": str(encoder.name), "dim": vectors.shape[1], "n_pairs": len(cosines),
        "n_subsets": len(files),
        "spearman": float(weights @ [spearman(*c) for c in columns]),
        "pearson": float(weights @ [pearson(*c) for c in columns]),
        "interval": _interval(columns, weights, bootstrap, seed) if bootstrap else None,
        "alignment": (alignment(vectors[pairs.left[near]], vectors[pairs.right[near]])
                      if len(near) else None),
        "uniformity": uniformity(vectors[ends]),
        "by_subset": {name: spearman(x, y) for name, (x, y) in files.items()
                      if _has_correlation(x, y)}}


def _has_correlation(x: np.ndarray, y: np.ndarray) -> bool:
    return len(x) > 1 and x.min() < x.max() and y.min() < y.max()


def _column(encoder: Encoder, name: str, cosines: np.ndarray, gold: np.ndarray,
            protocol: str) -> tuple[np.ndarray, np.ndarray]:
    if not _has_correlation(cosines, gold):
        side = "cosines" if len(gold) > 1 and gold.min() < gold.max() else "grades"
        raise ValueError(f"subset {name!r} ({len(gold)} pairs) has no correlation: its {side} are "
                         f"constant for {encoder.name}, or it has 1 pair. protocol={protocol!r} "
                         "needs one per subset; use protocol='all'")
    return cosines, gold


def _interval(columns: list[tuple[np.ndarray, np.ndarray]], weights: np.ndarray, n_resamples: int,
              seed: int) -> tuple[float, float]:
    """Interval of the weighted mean over files, or of one file."""
    rng = generator(seed)
    samples = [spearman_resamples([x], y, n_resamples=n_resamples, rng=rng)[0] for x, y in columns]
    return percentile_interval((weights[:, None] * np.stack(samples)).sum(axis=0))
