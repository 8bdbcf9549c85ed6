"""Subword updates on the processor: compiled loops over the text, vector code for the rows, threads that share it.

Threads work as in window updates, but their changes are added, and only rows of words that they met are looked at. Taught in
``05_glove_and_fasttext``.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from torch import Tensor

from ..side_by_side import Matrices, over_text
from ..window_update.state import Settings, on_host
from .room import Room, plan_of, room_for, source_of
from .state import SubwordState

__all__ = ["subword_update"]


def subword_update(inputs: Tensor, outputs: Tensor, state: SubwordState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    if inputs.is_cuda:
        return on_host(subword_update, inputs, outputs, state, how)
    from .training import Tables, train

    source, owners = source_of(state, how)
    rooms = [room_for(state, how, inputs.shape[1]) for _ in range(how.threads)]
    plan = plan_of(how)

    def work(matrices: Matrices, room: Room, part: tuple[int, int]) -> tuple[float, int]:
        return train(source, Tables(*(x.ctypes.data for x in matrices), matrices[0].shape[1]), plan, room, *part)

    found = over_text(work, (inputs.numpy(), outputs.numpy()), [room for room, _ in rooms], state, how, touched=partial(_touched, state))
    del owners, rooms                               # until here the addresses had to stay good
    return found


def _touched(state: SubwordState, first: int, last: int) -> np.ndarray:
    """The rows of all words in some pieces of the text, in order."""
    met = np.zeros(len(state.counts), dtype=bool)
    met[state.words[state.pieces[first] : state.pieces[last]]] = True
    of_words = np.zeros(len(state.inputs), dtype=bool)
    of_words[state.rows[np.repeat(met, np.diff(state.row_offsets))]] = True
    return np.flatnonzero(of_words)
