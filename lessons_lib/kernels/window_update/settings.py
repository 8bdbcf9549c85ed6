"""Checking the settings of a pass over a text: what operations on windows are told in common.

Used by `window_update` and `subword_update`, in lessons ``04_word2vec`` and ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import numpy as np

from ...core import check_choice, check_float, check_int, shown
from .state import Settings, WindowState

__all__ = ["checked_settings"]

WIDEST, MOST_NEGATIVES = 1000, 255


def checked_settings(state: WindowState, *, architecture: str, objective: str, window: int, negatives: int,
                     learning_rate: float | tuple[float, float], share_error: bool, loss_every: int, seed: int, epoch: int,
                     pieces: tuple[int, int] | None, threads: int, deterministic: bool) -> Settings:
    """Settings as the implementations take them. Raises TypeError, ValueError; also where the state's outputs have too few rows for them."""
    hierarchical = check_choice("objective", objective, ("negative_sampling", "hierarchical_softmax")) == "hierarchical_softmax"
    cbow = check_choice("architecture", architecture, ("skip_gram", "cbow")) == "cbow"
    for name, value in (("share_error", share_error), ("deterministic", deterministic)):
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected True or False")
    how = Settings(cbow, hierarchical, check_int("window", window, high=WIDEST),
                   0 if hierarchical else check_int("negatives", negatives, high=MOST_NEGATIVES), _rates(learning_rate),
                   bool(share_error), check_int("loss_every", loss_every, low=0, high=256), check_int("seed", seed, low=0, high=2**63 - 1),
                   check_int("epoch", epoch, low=0, high=2**31 - 1), _part(pieces, state.n_pieces), check_int("threads", threads),
                   bool(deterministic))
    rows, needed = len(state.outputs), len(state.counts) - hierarchical
    if rows < needed:
        raise ValueError(f"outputs has {rows} rows; expected {needed}, one for each {'inner node' if hierarchical else 'word'}")
    return how


def _rates(learning_rate: float | tuple[float, float]) -> tuple[float, float]:
    both = learning_rate if isinstance(learning_rate, (tuple, list)) and len(learning_rate) == 2 else (learning_rate, learning_rate)
    return check_float("learning_rate", both[0], low=0.0, open_low=True), check_float("learning_rate", both[1], low=0.0)


def _part(pieces: tuple[int, int] | None, n: int) -> tuple[int, int]:
    if pieces is None:
        return 0, n
    first = check_int("pieces[0]", pieces[0], low=0, high=n)
    return first, check_int("pieces[1]", pieces[1], low=first, high=n)
