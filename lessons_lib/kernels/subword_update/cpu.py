"""Subword updates on the processor: the loop of window updates, with a list of rows for each word.

The changes of threads are added, and only rows of words that they met are looked at. Taught in
``05_glove_and_fasttext``.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from torch import Tensor

from ..window_update.cpu import learn, on_host
from ..window_update.state import Settings
from . import SubwordState

__all__ = ["subword_update"]


def subword_update(inputs: Tensor, outputs: Tensor, state: SubwordState,
                   how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the
    number of these pairs."""
    lists = state.row_offsets, state.rows
    work = partial(learn, lists=lists, touched=partial(_touched, state))
    return on_host(work, inputs, outputs, state, how)


def _touched(state: SubwordState, first: int, last: int) -> np.ndarray:
    """The rows of all words in some pieces of the text, in order."""
    met = np.zeros(len(state.counts), dtype=bool)
    met[state.words[state.pieces[first] : state.pieces[last]]] = True
    of_words = np.zeros(len(state.inputs), dtype=bool)
    of_words[state.rows[np.repeat(met, np.diff(state.row_offsets))]] = True
    return np.flatnonzero(of_words)
