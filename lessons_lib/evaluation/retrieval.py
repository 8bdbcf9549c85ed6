"""How good is a ranking? Where the texts that answer a question stand in it.

nDCG@k counts what a reader gains who reads k texts from the top, recall@k how much of what there is
they have met, MRR how soon they meet the first. Each is a mean over questions, with an interval of
other questions drawn from the same. Taught in ``17_search``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import check_float, check_int, generator, shown
from .bootstrap import checked_resamples, in_brackets, percentile_interval

__all__ = ["RetrievalResult", "ndcg_at", "recall_at", "reciprocal_rank", "retrieval_scores"]


@dataclass(frozen=True, repr=False)
class RetrievalResult:
    """Rankings of many questions, measured. All figures lie in [0, 1] and are printed x 100.

    Attributes
    ----------
    ndcg, recall, mrr : float
    ndcg_interval, recall_interval, mrr_interval : (low, high) or None
        Bootstrap intervals over questions; None when switched off.
    k : int
        Places that count.
    n_questions : int
    by_question : (n_questions, 3) float64
        nDCG, recall and reciprocal rank of each.
    dim : int
        Numbers of a vector; 0 for a ranking without vectors.
    seconds : float
        Of encoding and search; 0 where they were not timed.
    split : str
        Of the questions; "" where it was not told.
    """

    ndcg: float
    recall: float
    mrr: float
    ndcg_interval: tuple[float, float] | None
    recall_interval: tuple[float, float] | None
    mrr_interval: tuple[float, float] | None
    k: int
    n_questions: int
    by_question: np.ndarray
    dim: int = 0
    seconds: float = 0.0
    split: str = ""

    def __repr__(self) -> str:
        return (f"RetrievalResult(nDCG@{self.k} {100 * self.ndcg:.1f}"
                f"{in_brackets(self.ndcg_interval)}, recall@{self.k} {100 * self.recall:.1f}"
                f"{in_brackets(self.recall_interval)}, MRR@{self.k} {100 * self.mrr:.1f}"
                f"{in_brackets(self.mrr_interval)} (x 100), {self.n_questions:,} questions)")


def _checked(ranking: Any, relevant: Any, where: str = "") -> tuple[list, dict[Hashable, float]]:
    """A ranking as a list, and the grade of each text that has one."""
    if isinstance(ranking, (str, bytes)) or not isinstance(ranking, Iterable):
        raise TypeError(f"ranking{where}={shown(ranking)} is {type(ranking).__name__}; expected "
                        "texts, best first")
    items = ranking.tolist() if hasattr(ranking, "tolist") else list(ranking)
    if len(set(items)) < len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise ValueError(f"ranking{where} holds {shown(twice)} twice; expected each text once")
    if isinstance(relevant, (str, bytes)) or not isinstance(relevant, Iterable):
        raise TypeError(f"relevant{where}={shown(relevant)} is {type(relevant).__name__}; expected "
                        "the texts that answer, or a dict from text to grade")
    graded = dict(relevant) if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1.0)
    graded = {item: check_float(f"relevant{where}[{shown(item)}]", grade, low=0)
              for item, grade in graded.items()}
    if not any(graded.values()):
        raise ValueError(f"relevant{where} names no text with a grade above 0; expected >= 1. "
                         "Leave out questions that nothing answers")
    return items, graded


def _ndcg(items: list, graded: Mapping[Hashable, float], k: int) -> float:
    def gain(grades: list[float]) -> float:
        return sum(grade / np.log2(place + 2) for place, grade in enumerate(grades[:k]))

    return float(gain([graded.get(item, 0.0) for item in items])
                 / gain(sorted(graded.values(), reverse=True)))


def _recall(items: list, graded: Mapping[Hashable, float], k: int) -> float:
    answers = {item for item, grade in graded.items() if grade > 0}
    return len(answers.intersection(items[:k])) / len(answers)


def _first(items: list, graded: Mapping[Hashable, float], k: int) -> float:
    return next((1 / place for place, item in enumerate(items[:k], start=1)
                 if graded.get(item, 0) > 0), 0.0)


def ndcg_at(ranking: Sequence[Hashable], relevant: Any, *, k: int = 10) -> float:
    """Discounted gain of the first k texts, as a share of the best that is possible.

    Parameters
    ----------
    ranking : sequence of texts' names or numbers
        Best first, each once; it may be shorter than k.
    relevant : mapping from text to grade >= 0, or iterable of texts (grade 1)
        What answers the question; a text that is not named has grade 0.
    k : int >= 1, default 10

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    TypeError, ValueError
        A text twice; no text with a grade above 0, where the measure is not defined.

    Notes
    -----
    DCG = Σ_i grade_i / log2(i + 1) over places i = 1 … k; nDCG = DCG / DCG of the best order. The
    gain is the grade itself, as in scikit-learn and trec_eval (others take 2^grade - 1).

    Examples
    --------
    >>> round(ndcg_at(["a", "b", "c"], {"b": 1}), 4)
    0.6309
    """
    return _ndcg(*_checked(ranking, relevant), check_int("k", k))


def recall_at(ranking: Sequence[Hashable], relevant: Any, *, k: int = 10) -> float:
    """Share of the texts that answer which stand among the first k.

    Parameters
    ----------
    ranking, relevant, k
        As in `ndcg_at`; every grade above 0 counts alike.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    TypeError, ValueError
        As `ndcg_at`.

    Examples
    --------
    >>> recall_at([3, 1, 2], [2, 3, 7], k=2)
    0.3333333333333333
    """
    return _recall(*_checked(ranking, relevant), check_int("k", k))


def reciprocal_rank(ranking: Sequence[Hashable], relevant: Any, *, k: int = 10) -> float:
    """1 / the place of the first text that answers; 0 when none is among the first k.

    Parameters
    ----------
    ranking, relevant, k
        As in `ndcg_at`.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    TypeError, ValueError
        As `ndcg_at`.

    Examples
    --------
    >>> reciprocal_rank(["a", "b"], ["b"])
    0.5
    """
    return _first(*_checked(ranking, relevant), check_int("k", k))


def retrieval_scores(rankings: Sequence[Sequence[Hashable]], relevant: Sequence[Any], *,
                     k: int = 10, bootstrap: int = 1000, confidence: float = 0.95,
                     seed: int = 0) -> RetrievalResult:
    """nDCG@k, recall@k and MRR@k over questions, with intervals.

    Parameters
    ----------
    rankings : sequence of rankings, one for each question
    relevant : sequence of the same length
        What answers each question, as in `ndcg_at`.
    k : int >= 1, default 10
    bootstrap : int >= 0, default 1000
        Draws of as many questions with replacement; 0: no intervals.
    confidence : float in (0, 1], default 0.95
    seed : int, default 0

    Returns
    -------
    RetrievalResult

    Raises
    ------
    TypeError, ValueError
        Lengths differ, no question; as `ndcg_at`, with the number of the question.

    Examples
    --------
    >>> retrieval_scores([[1, 2], [5, 4]], [[1], [4]], bootstrap=0).mrr
    0.75
    """
    k, n_draws = check_int("k", k), checked_resamples("bootstrap", bootstrap, low=0)
    if len(rankings) != len(relevant) or not len(rankings):
        raise ValueError(f"rankings has {len(rankings)} questions and relevant {len(relevant)}; "
                         "expected as many, >= 1")
    scores = np.empty((len(rankings), 3))
    for i, (ranking, answers) in enumerate(zip(rankings, relevant, strict=True)):
        items, graded = _checked(ranking, answers, f"[{i}]")
        scores[i] = [measure(items, graded, k) for measure in (_ndcg, _recall, _first)]
    intervals = [None] * 3
    if n_draws:
        rng, n = generator(seed), len(scores)
        means = np.stack([scores[rng.integers(n, size=n)].mean(axis=0) for _ in range(n_draws)])
        intervals = [percentile_interval(column, confidence=confidence) for column in means.T]
    return RetrievalResult(*map(float, scores.mean(axis=0)), *intervals, k, len(scores), scores)
