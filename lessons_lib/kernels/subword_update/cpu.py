"""Subword updates on the processor: compiled loops over the text, vector code for the rows, threads that share it.

Threads work as in window updates. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from ..side_by_side import Matrices, over_text
from ..window_update.state import Settings
from .state import SubwordState

__all__ = ["subword_update"]


def subword_update(inputs: Tensor, outputs: Tensor, state: SubwordState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    from ..window_update.huffman import Paths
    from ..window_update.training import Chance, Plan, Tables, Text
    from .training import Lists, scratch, train

    nothing = Paths(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    paths = state.paths if how.hierarchical else nothing
    of_one = int(np.diff(paths.offsets).max()) if how.hierarchical else 1
    most = of_one * (1 if how.cbow else 2 * how.window) + how.negatives
    plan = Plan(how.cbow, how.hierarchical, how.window, how.negatives, how.rates[0], how.rates[1] - how.rates[0], how.share_error,
                256 // how.loss_every if how.loss_every else 0, how.seed, how.epoch)
    text, lists, chance = Text(state.words, state.pieces, state.keep), Lists(state.row_offsets, state.rows), Chance(state.thresholds, state.others)
    longest = int(np.diff(state.row_offsets).max()) + 1
    rooms = [scratch(how.window, most, longest, len(outputs), inputs.shape[1]) for _ in range(how.threads)]

    def work(matrices: Matrices, room: object, part: tuple[int, int]) -> tuple[float, int]:
        tables = Tables(*(x.ctypes.data for x in matrices), matrices[0].shape[1])
        return train(text, lists, tables, chance, paths, plan, room, *part)

    return over_text(work, (inputs.numpy(), outputs.numpy()), rooms, state, how)
