"""Checking the settings of a pass over a text, and that its state is still whole: what operations on windows have in common.

Used by `window_update` and `subword_update`, in lessons ``04_word2vec`` and ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import numpy as np
import torch

from ...core import check_choice, check_float, check_int, shown
from ..layout import ALIGNMENT
from .state import PIECE, Settings, WindowState

__all__ = ["check_sound", "checked_settings"]

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


def check_sound(state: WindowState, pieces: tuple[int, int], *, rows: int, parts: int = 1) -> None:
    """Check what compiled loops take on trust, because numbers become addresses there: arrays may have been changed since the state was made.

    Parameters: state; pieces, first and last + 1 of those that will be worked on: others are not looked at; rows, how many inputs there
    must be at least; parts, how many times as wide as an input an output is. Raises ValueError.
    """
    width, n_words, bounds = state.inputs.shape[-1], len(state.counts), state.pieces[pieces[0] : pieces[1] + 1]
    for name, columns in (("inputs", width), ("outputs", parts * width)):
        x = getattr(state, name)
        if x.dtype != torch.float32 or x.ndim != 2 or x.shape[1] != columns or width % ALIGNMENT or not x.is_contiguous():
            raise ValueError(f"state.{name} has become {x.dtype} of shape {tuple(x.shape)}; expected contiguous float32 rows, padded to a multiple "
                             f"of {ALIGNMENT}. Write into it: state.{name}[:, :state.dim] = …, or make a new state")
    lengths, words = np.diff(bounds), state.words[max(0, bounds[0]) : bounds[-1]]
    if words.dtype != np.int32 or words.ndim != 1 or len(words) != lengths.sum() or (lengths < 0).any() or (lengths > PIECE).any():
        raise ValueError(f"state.words or state.pieces was changed: {len(state.words)} words, pieces {shown(bounds)}. Make a new state")
    if len(words) and not 0 <= words.min() <= words.max() < n_words:
        raise ValueError(f"state.words was changed and reaches from {words.min()} to {words.max()}; expected ints in [0, {n_words - 1}]")
    tables = [len(x) for x in (state.keep, state.thresholds, state.others)]
    if len(state.inputs) < rows or tables != [n_words] * 3:
        raise ValueError(f"state.counts or state.inputs was changed: {n_words} words, tables of {tables}, {len(state.inputs)} rows of inputs, "
                         f"{rows} needed. Make a new state")


def _rates(learning_rate: float | tuple[float, float]) -> tuple[float, float]:
    both = learning_rate if isinstance(learning_rate, (tuple, list)) and len(learning_rate) == 2 else (learning_rate, learning_rate)
    return check_float("learning_rate", both[0], low=0.0, open_low=True), check_float("learning_rate", both[1], low=0.0)


def _part(pieces: tuple[int, int] | None, n: int) -> tuple[int, int]:
    if pieces is None:
        return 0, n
    if not isinstance(pieces, (tuple, list)) or len(pieces) != 2:
        raise TypeError(f"pieces={shown(pieces)} is {type(pieces).__name__}; expected (first, last + 1), or None for all {n}")
    first = check_int("pieces[0]", pieces[0], low=0, high=n)
    return first, check_int("pieces[1]", pieces[1], low=first, high=n)
