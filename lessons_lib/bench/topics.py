"""Cases of the topic models: Gibbs sampling beside tomotopy, online variational Bayes beside gensim and scikit-learn.

A speed counts only where held-out documents are predicted as well. The cases are in `topics_gibbs` and `topics_online`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import topics_gibbs, topics_online
from .measure import Case, Row, race

__all__ = ["cases", "rows"]


def cases() -> Iterator[Case]:
    """The races, one after the other; corpora are made when a case is asked for."""
    yield from topics_gibbs.cases()
    yield from topics_online.cases()


def rows(*, repeats: int, tell: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """The group: the races whose name holds ``only``."""
    yield from race((case for case in cases() if only in case.name), repeats=repeats, tell=tell)
