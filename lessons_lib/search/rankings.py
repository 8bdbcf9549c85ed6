"""Rankings: several of one question joined into one, and the best of one put in a better order.

Neither needs to know where a ranking comes from. Taught in ``17_search``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core import check_array, check_float, check_int, shown

__all__ = ["reciprocal_rank_fusion", "rerank"]


def reciprocal_rank_fusion(rankings: Iterable[Iterable[Hashable]], *, k: int = 10,
                           constant: float = 60.0,
                           weights: Sequence[float] | None = None) -> list[tuple[Any, float]]:
    """One ranking of several: who stands high in one of them, or fairly high in all, wins.

    Scores do not count, only places, so cosines and BM25 need no common scale.

    Parameters
    ----------
    rankings : iterable of iterable
        Each the numbers of texts, best first, none twice; they may have different lengths.
    k : int >= 1, default 10
        How many of the joined ranking are given.
    constant : float >= 0, default 60
        The larger, the less the first places differ.
    weights : sequence of float >= 0, optional
        One for each ranking; None: 1.

    Returns
    -------
    list of (item, score)
        Falling; of equals the one that was met first, ranking after ranking.

    Raises
    ------
    TypeError, ValueError
        No ranking, an item twice in one; numbers out of range.

    Notes
    -----
    score(d) = Σ_r weight_r / (constant + rank_r(d)), with ranks from 1, over the rankings that hold
    d.

    Examples
    --------
    >>> [item for item, _ in reciprocal_rank_fusion([[7, 1, 2], [1, 5]])]
    [1, 7, 5, 2]
    """
    constant, k = check_float("constant", constant, low=0), check_int("k", k)
    if isinstance(rankings, str) or not isinstance(rankings, Iterable):
        raise TypeError(f"rankings={shown(rankings)} is {type(rankings).__name__}; expected a list "
                        "of rankings, such as [[3, 1], [1, 2]]")
    lists = []
    for i, ranking in enumerate(rankings):
        if isinstance(ranking, (str, bytes)) or not isinstance(ranking, Iterable):
            raise TypeError(f"rankings[{i}]={shown(ranking)} is {type(ranking).__name__}; expected "
                            "items, best first")
        items = ranking.tolist() if hasattr(ranking, "tolist") else list(ranking)
        if len(set(items)) < len(items):
            twice = next(item for item in items if items.count(item) > 1)
            raise ValueError(f"rankings[{i}] holds {shown(twice)} twice; expected each item once")
        lists.append(items)
    weights = [1.0] * len(lists) if weights is None else list(weights)
    if not lists or len(weights) != len(lists):
        raise ValueError(f"rankings holds {len(lists)} rankings and weights {len(weights)} "
                         "numbers; expected >= 1 ranking and a weight for each")
    scores: dict[Any, float] = {}
    for i, (items, weight) in enumerate(zip(lists, weights, strict=True)):
        weight = check_float(f"weights[{i}]", weight, low=0)
        for rank, item in enumerate(items, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (constant + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])[:k]


def rerank(query: str, texts: Sequence[str], score: Callable[[list[tuple[str, str]]], Any], *,
           k: int = 10) -> list[tuple[int, float]]:
    """Candidates in the order of a slower judge, which sees question and text together.

    A cross-encoder is such a judge: it reads each pair as one text, so nothing of it can be
    computed before the question is there. It is asked about few candidates.

    Parameters
    ----------
    query : str
    texts : sequence of str
        The candidates of a faster search.
    score : callable
        Gets the list of pairs (query, text) and gives a number for each, higher for better; such as
        a `CrossEncoder`.
    k : int >= 1, default 10

    Returns
    -------
    list of (index into texts, score)
        Falling; of equals the first.

    Raises
    ------
    TypeError, ValueError
        No text, no function; it gives anything but a finite number for each pair.

    Examples
    --------
    >>> rerank("a cat", ["dogs", "a cat!"], lambda pairs: [q in t for q, t in pairs], k=1)
    [(1, 1.0)]
    """
    k = check_int("k", k)
    if not isinstance(query, str):
        raise TypeError(f"query={shown(query)} is {type(query).__name__}; expected one str")
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"texts={shown(texts)} is no list of str; expected the candidates")
    if not callable(score):
        raise TypeError(f"score={shown(score)} is {type(score).__name__}; expected a function of "
                        "pairs (query, text), such as CrossEncoder(folder)")
    if not len(texts):
        return []
    given = score([(query, text) for text in texts])
    scores = check_array("score(pairs)", given, ndim=1).astype(np.float64)
    if len(scores) != len(texts):
        raise ValueError(f"score gave {len(scores)} numbers for {len(texts)} pairs; expected one "
                         "for each")
    return [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")[:k]]
