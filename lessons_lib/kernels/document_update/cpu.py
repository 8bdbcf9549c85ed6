"""Document updates on the processor: compiled loops over the text, vector code for the rows, threads that share it.

Threads with ``deterministic`` have their own copies, whose changes are added after each round. Taught in ``07_doc2vec``.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from ..side_by_side import Matrices, over_text
from ..window_update.room import plan_of
from .room import Tables, room_of, text_of
from .state import DocumentSettings, DocumentState

__all__ = ["document_update"]


def document_update(inputs: Tensor, outputs: Tensor, state: DocumentState, how: DocumentSettings) -> tuple[float, int]:
    """Update the matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    from .training import train

    source, tags, owners = text_of(state, how)
    columns, plan = inputs.shape[1], plan_of(how)
    rooms = [room_of(state, how, columns) for _ in range(how.threads)]
    behind = 4 * columns * (len(state.counts) + 1)

    def work(matrices: Matrices, room: tuple, part: tuple[int, int]) -> tuple[float, int]:
        words, outputs = (x.ctypes.data for x in matrices)
        documents = words + behind if state.own else state.documents.data_ptr()
        return train(source, tags, Tables(words, documents, outputs, columns), plan, room[0], room[1], *part)

    def touched(first: int, last: int) -> np.ndarray:
        """Rows of words, if they learn, of the edge, and of tags."""
        edge, begins, ends = len(state.counts), *state.tag_bounds()
        words = np.unique(state.words[state.pieces[first] : state.pieces[last]]) if how.neighbours else []
        return np.concatenate([words, [edge], edge + 1 + np.unique(state.tags[begins[first] : ends[last - 1]])]).astype(np.int64)

    found = over_text(work, (inputs.numpy(), outputs.numpy()), rooms, state, how, touched=touched)
    del owners                                      # until here the addresses had to stay good
    return found
