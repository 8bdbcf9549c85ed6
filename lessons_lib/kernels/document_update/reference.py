"""Document updates as in a textbook: the windows of window updates, whose contexts end with the
rows of the document's tags. Taught in ``07_doc2vec``.
"""

from __future__ import annotations

import torch
from jaxtyping import Float32
from torch import Tensor

from ..window_update.reference import learned, windows_of
from ..window_update.state import Settings
from . import DocumentState

__all__ = ["document_update"]


def document_update(inputs: Float32[Tensor, "n d"], outputs: Float32[Tensor, "rows parts_d"],
                    state: DocumentState, how: Settings) -> tuple[float, int]:
    """Update the matrices; returns the sum of −log p over the pairs whose loss was noted, and the
    number of these pairs."""
    n = len(state.counts) + 1
    a = torch.cat([inputs[:n], state.documents]).double().numpy()
    b, loss, pairs = outputs.double().numpy(), 0.0, 0
    for piece, key in zip(range(*how.pieces), state.keys(how).tolist(), strict=True):
        tags = (state.tags_of(piece) + n).tolist()
        more, result = learned(a, b, state, how, windows_of(state, how, piece, key, tags))
        loss, pairs = loss + more, pairs + result
    state.documents.copy_(torch.from_numpy(a[n:]))
    inputs[:n].copy_(torch.from_numpy(a[:n]))
    outputs.copy_(torch.from_numpy(b))
    return loss, pairs
