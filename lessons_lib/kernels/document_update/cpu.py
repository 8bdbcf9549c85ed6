"""Document updates on the processor: the loop of window updates, whose lists end with the rows of
a document's tags. The changes of threads are added. Taught in ``07_doc2vec``.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from ..window_update.cpu import learn
from ..window_update.state import Settings
from . import DocumentState

__all__ = ["document_update"]


def document_update(inputs: Tensor, outputs: Tensor, state: DocumentState,
                    how: Settings) -> tuple[float, int]:
    """Update the matrices; returns the sum of −log p over the pairs whose loss was noted, and the
    number of these pairs."""
    edge, (begins, ends) = len(state.counts), state.tag_bounds()

    def touched(first: int, last: int) -> np.ndarray:
        """Rows of words, if they learn, of the edge, and of tags."""
        met = state.words[state.pieces[first] : state.pieces[last]] if how.neighbours else []
        tags = state.tags[begins[first] : ends[last - 1]]
        rows = [np.unique(met), [edge], edge + 1 + np.unique(tags)]
        return np.concatenate(rows).astype(np.int64)

    documents = None if state.own else state.documents
    tags = state.tags, begins, ends
    return learn(inputs, outputs, state, how, tags=tags, documents=documents, parts=state.parts,
                 touched=touched)
