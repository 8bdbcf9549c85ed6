"""Checks of the settings that topic models share: the number of topics and the concentrations of
Dirichlet priors.

Used by every model of ``topics``. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import check_float, check_int, shown, warn_data

__all__ = ["LARGEST_PRIOR", "MAX_TOPICS", "SMALLEST_PRIOR", "checked_prior", "checked_topics"]

MAX_TOPICS = 32_767                              # a topic number fits into 16 bits with sign
# float32 can multiply two of the one, and still sees a token beside the other
SMALLEST_PRIOR, LARGEST_PRIOR = 1e-12, 1e6


def checked_topics(n_topics: object, *, n_documents: int, n_words: int) -> int:
    """The number of topics as int.

    Raises TypeError or ValueError outside [1, MAX_TOPICS]; warns above the documents or words there
    are.
    """
    k = check_int("n_topics", n_topics, high=MAX_TOPICS)
    if k > min(n_documents, n_words):
        warn_data(f"n_topics={k} is more than the {n_documents} documents or the {n_words} words; "
                  "some topics will be alike or hold chance",
                  stacklevel=3)
    return k


def checked_prior(name: str, value: Any, size: int, *, default: float | None = None,
                  whose: str = "topics") -> np.ndarray:
    """A Dirichlet concentration per topic (or word) as float64 of shape (size,); one number stands
    for all of them.

    Parameters: name and value of the setting; size, how many numbers; default, the number that None
    stands for, where None is allowed; whose, what there are ``size`` of. Raises TypeError or
    ValueError with name, value and bound outside [SMALLEST_PRIOR, LARGEST_PRIOR], or for another
    shape.
    """
    expected = (f"one number in [{SMALLEST_PRIOR:g}, {LARGEST_PRIOR:g}], or {size} of them (one "
                f"for each of the {whose})")
    if value is None and default is not None:
        return np.full(size, float(default))
    if not isinstance(value, (list, tuple, np.ndarray)) or np.ndim(value) == 0:
        number = value.item() if isinstance(value, np.ndarray) else value
        return np.full(size, check_float(name, number, low=SMALLEST_PRIOR, high=LARGEST_PRIOR))
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has dtype {array.dtype}; expected {expected}")
    if array.shape != (size,):
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")
    bad = np.flatnonzero(~((array >= SMALLEST_PRIOR) & (array <= LARGEST_PRIOR)))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}]={shown(array[bad[0]].item())} is out of range; "
                         f"expected {expected}")
    return array.astype(np.float64)
