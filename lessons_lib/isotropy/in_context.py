"""How much a word's vector depends on its sentence, and what chance alone would give.

Three measures of Ethayarajh: occurrences of a word against each other, tokens of a sentence against
their mean, and how well one static vector could stand for a word. In a narrow cone all of them are
high for any vectors at all, so each is measured again on as many random rows, with the same
formula, and only the difference counts. Taught in ``09_anisotropy``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import check_int, generator, shown
from .rows import BLOCK, as_rows, blocks, power_of_two
from .spectrum import share_of_first, values_of

__all__ = ["Adjusted", "Contextuality", "against_chance", "contextuality",
           "intra_sentence_similarity", "maximum_explainable_variance", "self_similarity"]


@dataclass(frozen=True)
class Groups:
    """Groups of rows of a table: group i, of ``labels[i]``, has ``rows[offsets[i]:offsets[i +
    1]]``.

    Attributes
    ----------
    rows, offsets, labels : arrays
    pool : (any,) int
        All rows that carry a label, those of groups that were left out included: from them `random`
        draws.
    n_rows : int
        Rows of the table.
    """

    rows: np.ndarray = field(repr=False)
    offsets: np.ndarray = field(repr=False)
    labels: np.ndarray = field(repr=False)
    pool: np.ndarray = field(repr=False)
    n_rows: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each group has, (groups,)."""
        return np.diff(self.offsets)

    def random(self, *, seed: int = 0) -> Groups:
        """Groups of the same sizes, of rows drawn from the pool, none twice: the baseline with as
        many vectors.

        Parameters
        ----------
        seed : int, default 0

        Returns
        -------
        Groups
        """
        drawn = generator(seed).permutation(self.pool)[: len(self.rows)]
        return Groups(drawn, self.offsets, self.labels, self.pool, self.n_rows)


def group_rows(labels: Any, *, contexts: Any = None, least: int = 1, most: int | None = None,
               seed: int = 0) -> Groups:
    """Group row numbers by label, in the order of the labels. [ethayarajh2019contextual]

    Parameters
    ----------
    labels : (n,) int or str
        The word or the sentence of each row; a negative one, or ``""``, leaves the row out (special
        tokens).
    contexts : (n,) int, optional
        The sentence of each row.
    least : int >= 1, default 1
        How many rows a group needs, or how many different contexts where these are given (5 for
        words in the paper).
    most : int >= 1, optional
        Rows of a group, drawn by chance where there are more; None for no limit.
    seed : int, default 0
        Of that.

    Returns
    -------
    Groups

    Raises
    ------
    TypeError, ValueError
        Lengths, no group left.

    Examples
    --------
    >>> group_rows(["a", "b", "a", ""]).rows.tolist()
    [0, 2, 1]
    """
    labels = _labels(labels)
    pool = np.flatnonzero(labels != "" if labels.dtype.kind == "U" else labels >= 0)
    names, of_row = np.unique(labels[pool], return_inverse=True)
    seen = (np.bincount(of_row, minlength=len(names)) if contexts is None
            else _different(of_row, _contexts(contexts, len(labels))[pool], len(names)))
    enough = seen >= check_int("least", least)
    if not enough.any():
        what = "rows" if contexts is None else "different contexts"
        raise ValueError(f"labels hold {len(names)} groups, the largest with {seen.max(initial=0)} "
                         f"{what}; expected >= 1 with least={least}")
    kept = enough[of_row]
    pool_rows, number = pool[kept], (np.cumsum(enough) - 1)[of_row[kept]]
    order = np.argsort(number, kind="stable")
    rows, number = pool_rows[order], number[order]
    if most is not None:
        rows, number = _at_most(rows, number, check_int("most", most), seed)
    return Groups(rows, np.searchsorted(number, np.arange(enough.sum() + 1)), names[enough], pool,
                  len(labels))


def _labels(labels: Any) -> np.ndarray:
    if isinstance(labels, (str, bytes)) or not (isinstance(labels, Sequence)
                                                or hasattr(labels, "__array__")):
        raise TypeError(f"labels={shown(labels)} is {type(labels).__name__}; expected a list or an "
                        "array, one label per row")
    array = np.asarray(labels)
    if array.dtype == object and array.ndim == 1 and all(isinstance(label, str) for label in array):
        array = array.astype(np.str_)                 # as a column of pandas is
    if array.ndim != 1 or not len(array):
        raise ValueError(f"labels has shape {array.shape}; expected one label per row, >= 1")
    if array.dtype.kind not in "iuU":
        raise TypeError(f"labels={shown(labels)} has dtype {array.dtype}; expected ints or str")
    return array


def _contexts(contexts: Any, n: int) -> np.ndarray:
    array = np.asarray(contexts)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise ValueError(f"contexts has shape {array.shape} and dtype {array.dtype}; expected {n} "
                         "ints, one per label")
    return array


def _different(of_row: np.ndarray, contexts: np.ndarray, n: int) -> np.ndarray:
    """How many different contexts each group has."""
    _, context = np.unique(contexts, return_inverse=True)
    width = int(context.max(initial=0)) + 1
    return np.bincount(np.unique(of_row * width + context) // width, minlength=n)


def _at_most(rows: np.ndarray, number: np.ndarray, most: int,
             seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their groups, at most ``most`` drawn from each; the order stays."""
    shuffled = np.lexsort([generator(seed).random(len(rows)), number])
    # of each shuffled row in its group
    place = np.arange(len(rows)) - np.searchsorted(number, number)
    keep = np.sort(shuffled[place < most])
    return rows[keep], number[keep]


def _checked(vectors: Any, groups: Groups) -> np.ndarray:
    vectors = as_rows("vectors", vectors)
    if not isinstance(groups, Groups):
        raise TypeError(f"groups is {type(groups).__name__}; expected Groups. Make them: "
                        "group_rows(labels)")
    if groups.n_rows != len(vectors):
        raise ValueError(f"vectors has {len(vectors)} rows and groups were made of {groups.n_rows} "
                         "labels; expected as many")
    return vectors


def _moments(vectors: np.ndarray, groups: Groups) -> Any:
    """`kernels.SegmentMoments` of the groups in float64, up to a power of two, block by block."""
    import torch

    from .. import kernels

    s, d = len(groups), vectors.shape[1]
    zeros = (torch.zeros(shape, dtype=torch.float64) for shape in ((s, d), (s, d), (s,)))
    total = kernels.SegmentMoments(*zeros, torch.zeros(s, dtype=torch.int64))
    start = 0
    # a factor that cancels in every cosine
    for block in blocks(vectors, index=groups.rows, exponent=power_of_two(vectors)):
        stop = start + len(block)
        first = np.searchsorted(groups.offsets, start, side="right") - 1
        last = np.searchsorted(groups.offsets, stop)
        bounds = np.clip(groups.offsets[first : last + 1], start, stop) - start
        parts = kernels.segment_moments(torch.from_numpy(block), bounds, backend="cpu")
        for sums, part in zip(total, parts, strict=True):
            sums[first:last] += part
        start = stop
    return total


def self_similarity(vectors: Any, groups: Groups) -> np.ndarray:
    """How alike the occurrences of each word are: the mean cosine over pairs of different rows.

    Parameters
    ----------
    vectors : (rows, d) real
        One layer.
    groups : Groups
        Of `group_rows`.

    Returns
    -------
    (groups,) float64 in [-1, 1]
        0 for a group of one row.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, another number of rows.

    Notes
    -----
    (‖Σ u‖² - Σ ‖u‖²) / (n (n - 1)), u = x / ‖x‖, in one pass. [ethayarajh2019contextual, Sec. 3]
    """
    from .. import kernels

    vectors = _checked(vectors, groups)
    return kernels.self_similarity(_moments(vectors, groups), groups.offsets).numpy()


def intra_sentence_similarity(vectors: Any, groups: Groups) -> np.ndarray:
    """How much the tokens of each sentence agree with their mean: the mean of cos(mean, x).

    The mean contains every token, so about 1/√n is left even where n tokens have nothing in common;
    `against_chance` takes that away, too. [ethayarajh2019contextual, Sec. 3]

    Parameters
    ----------
    vectors, groups
        As in `self_similarity`.

    Returns
    -------
    (groups,) float64 in [-1, 1]
        0 where the rows sum to zero.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, another number of rows.
    """
    from .. import kernels

    vectors = _checked(vectors, groups)
    return kernels.intra_sentence_similarity(_moments(vectors, groups), groups.offsets).numpy()


def maximum_explainable_variance(vectors: Any, groups: Groups, *,
                                 centred: bool = False) -> np.ndarray:
    """How well one static vector could stand for all occurrences of a word.

    Parameters
    ----------
    vectors, groups
        As in `self_similarity`.
    centred : bool, default False
        Take the mean of the occurrences away first, as the code of the paper does; the paper takes
        them as they are.

    Returns
    -------
    (groups,) float64 in [0, 1]
        0 for a group of zeros, and for a single row when centred.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, another number of rows.

    Notes
    -----
    σ₁² / Σ σ² of each group. It falls with the number of rows (1/n for n orthogonal ones), so words
    with few occurrences look static: compare with as many random rows only. Groups of one size are
    done
    together; memory: a block of rows, for larger groups d x d. [ethayarajh2019contextual, Sec. 3]
    """
    vectors = _checked(vectors, groups)
    result, exponent = np.zeros(len(groups)), power_of_two(vectors)
    for same in _of_one_size(groups.sizes, vectors.shape[1]):
        rows = groups.rows[groups.offsets[same][:, None] + np.arange(groups.sizes[same[0]])]
        if rows.shape[1] > vectors.shape[1]:
            result[same[0]] = share_of_first(
                values_of(vectors, index=rows[0], exponent=exponent, centred=centred))
        else:
            result[same] = _shares(vectors[rows], centred=centred)
    return result


def _of_one_size(sizes: np.ndarray, d: int) -> Iterator[np.ndarray]:
    """Numbers of groups of one size, a block at a time; groups of n > d rows one by one."""
    order = np.argsort(sizes, kind="stable")
    for same in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
        size = int(sizes[same[0]])
        step = 1 if size > d else max(1, BLOCK // (size * d))
        yield from (same[start : start + step] for start in range(0, len(same), step))


def _shares(x: np.ndarray, *, centred: bool) -> np.ndarray:
    """σ₁² / Σ σ² of each matrix of (groups, n, d), by the n x n products of its rows."""
    x = np.array(x, dtype=np.float64, order="C")
    x = np.ldexp(x, -np.frexp(np.abs(x).max(axis=(1, 2)))[1][:, None, None])
    if centred:
        x -= x.mean(axis=1, keepdims=True)
    products = x @ x.transpose(0, 2, 1)
    total = np.trace(products, axis1=1, axis2=2)
    # below: the rounding of a mean of equal rows
    some = total > (1e-28 * x.shape[1] * x.shape[2] if centred else 0)
    first = np.linalg.eigvalsh(products)[:, -1]
    return np.where(some, np.minimum(first / np.where(some, total, 1.0), 1.0), 0.0)


@dataclass(frozen=True)
class Adjusted:
    """A measure of every group and of as many random rows.

    Attributes
    ----------
    raw : (groups,) float64
    chance : (groups,) float64
    """

    raw: np.ndarray = field(repr=False)
    chance: np.ndarray = field(repr=False)

    @property
    def adjusted(self) -> np.ndarray:
        """raw - chance, group by group, (groups,)."""
        return self.raw - self.chance

    @property
    def means(self) -> tuple[float, float, float]:
        """Means over all groups: raw, chance, adjusted."""
        return float(self.raw.mean()), float(self.chance.mean()), float(self.adjusted.mean())

    def __repr__(self) -> str:
        return "Adjusted(raw={:.3f}, chance={:.3f}, adjusted={:.3f})".format(*self.means)


def against_chance(measure: Callable[[Any, Groups], np.ndarray], vectors: Any, groups: Groups, *,
                   seed: int = 0) -> Adjusted:
    """Measure groups, and with the same formula groups of as many random rows from the whole table.

    A baseline of another formula or another number of vectors is none: Ethayarajh's released
    figures subtract the share of one vector in 1000 random occurrences from that in a handful of
    them, which for GPT-2 falls far below zero.

    Parameters
    ----------
    measure : function of vectors and groups
        Such as `self_similarity`, `intra_sentence_similarity`, `maximum_explainable_variance`.
    vectors, groups
        As there.
    seed : int, default 0
        Of the draw.

    Returns
    -------
    Adjusted

    Raises
    ------
    TypeError, ValueError
        As the measure does.
    """
    if not callable(measure):
        raise TypeError(f"measure={shown(measure)} is {type(measure).__name__}; expected a "
                        "function such as self_similarity")
    return Adjusted(measure(vectors, groups), measure(vectors, groups.random(seed=seed)))


@dataclass(frozen=True)
class Contextuality:
    """One layer, each measure but the first against chance.

    Attributes
    ----------
    mean_cosine : float
        Of all pairs of rows.
    self_similarity : Adjusted
        Of words.
    intra_similarity : Adjusted
        Of sentences.
    explained : Adjusted
        Of words.
    """

    mean_cosine: float
    self_similarity: Adjusted
    intra_similarity: Adjusted
    explained: Adjusted


def contextuality(vectors: Any, words: Any, sentences: Any, *, least: int = 5,
                  most: int | None = 200, seed: int = 0) -> Contextuality:
    """All measures of Ethayarajh for one layer, each against chance.

    Call it for every layer with the same words, so that the layers compare.
    [ethayarajh2019contextual]

    Parameters
    ----------
    vectors : (rows, d) real
        A row per token.
    words : (rows,) int or str
        The word of each row; negative or ``""`` for what is left out, such as [CLS] and [SEP].
    sentences : (rows,) int >= 0
    least : int >= 1, default 5
        The number of different sentences a word needs.
    most : int >= 1 or None, default 200
        Occurrences of a word that are looked at; None for all.
    seed : int, default 0

    Returns
    -------
    Contextuality

    Raises
    ------
    TypeError, ValueError
        Shapes, NaN, no word that is frequent enough.
    """
    of_word = group_rows(words, contexts=sentences, least=least, most=most, seed=seed)
    inside = np.full(of_word.n_rows, -1)
    inside[of_word.pool] = np.asarray(sentences)[of_word.pool]
    if (inside[of_word.pool] < 0).any():
        row = of_word.pool[inside[of_word.pool] < 0][0]
        raise ValueError(f"sentences[{row}]={inside[row]} of a row whose word counts; expected "
                         "ints >= 0. To leave a row out make its word negative, "
                         "or ''")
    of_sentence = group_rows(inside)
    whole = Groups(of_word.pool, np.array([0, len(of_word.pool)]), np.array(["all"]), of_word.pool,
                   of_word.n_rows)
    return Contextuality(float(self_similarity(vectors, whole)[0]),
                         against_chance(self_similarity, vectors, of_word, seed=seed),
                         against_chance(intra_sentence_similarity, vectors, of_sentence, seed=seed),
                         against_chance(maximum_explainable_variance, vectors, of_word, seed=seed))
