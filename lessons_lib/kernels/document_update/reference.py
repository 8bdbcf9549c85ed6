"""Document updates as in a textbook: window by window, one step of gradient descent on the loss of the window, in the type of float64 numbers.

All dot products of a window are taken before anything moves; a word that occurs twice in it moves twice. Taught in ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from ..window_update.draws import draws
from ..window_update.reference import outputs_of
from .state import DocumentSettings, DocumentState

__all__ = ["document_update", "windows_of"]


def windows_of(state: DocumentState, how: DocumentSettings, piece: int, key: int) -> Iterator[tuple[int, list[int], np.ndarray, int]]:
    """Centre, contexts, the centre's draws and place of each window; contexts are words, the edge and, last, the rows of the document's tags."""
    begin, end = state.pieces[piece], state.pieces[piece + 1]
    numbers = draws(int(end - begin), 0 if how.hierarchical else how.negatives, key)
    words, edge = state.words[begin:end].tolist(), len(state.counts)
    kept = [i for i in range(len(words)) if int(numbers[i, 0]) >> 33 < state.keep[words[i]]]
    tags = (state.tags_of(piece) + edge + 1).tolist()
    for at, i in enumerate(kept):
        half = ((int(numbers[i, 0]) >> 8 & 0xFFFFFF) * how.window >> 24) + 1
        if how.combine == "concat":
            near = [words[kept[j]] if 0 <= j < len(kept) else edge for j in range(at - how.window, at + how.window + 1) if j != at]
        else:
            near = [words[j] for j in kept[max(0, at - half) : at] + kept[at + 1 : at + half + 1]] if how.neighbours else []
        yield words[i], near + tags, numbers[i], int(begin) + i


def _inputs(rows: np.ndarray, contexts: list[int], how: DocumentSettings) -> np.ndarray:
    """What the outputs are multiplied with: (m, d) or (1, d) or (1, m · d)."""
    x = rows[contexts]
    if not how.combine:
        return x
    return x.reshape(1, -1) if how.combine == "concat" else x.sum(axis=0, keepdims=True) / (len(x) if how.combine == "mean" else 1)


def document_update(inputs: Float32[Tensor, "n d"], outputs: Float32[Tensor, "rows parts_d"], state: DocumentState,
                    how: DocumentSettings) -> tuple[float, int]:
    """Update the matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    n = len(state.counts) + 1
    a, b = torch.cat([inputs[:n], state.documents]).double().numpy(), outputs.double().numpy()
    loss, pairs, span, keys = 0.0, 0, how.rates[1] - how.rates[0], state.keys(how).tolist()
    for piece in range(*how.pieces):
        for centre, contexts, numbers, place in windows_of(state, how, piece, keys[piece]):
            rows, labels = outputs_of(state, how, centre, numbers)
            x = _inputs(a, contexts, how)
            p = 1.0 / (1.0 + np.exp(-(x @ b[rows].T)))
            gains = (how.rates[0] + span * place / len(state.words)) * (labels - p)
            errors = gains @ b[rows] / (len(contexts) if how.combine == "mean" and how.share_error else 1)
            moves = np.broadcast_to(errors.reshape(-1, a.shape[1]), (len(contexts), a.shape[1]))
            moving = [i for i, row in enumerate(contexts) if row >= n or not how.frozen]
            np.add.at(a, np.array(contexts)[moving], moves[moving])
            if not how.frozen:
                np.add.at(b, rows, gains.T @ x)
            if how.loss_every and int(numbers[0]) % 256 < 256 // how.loss_every:
                loss, pairs = loss - float(np.log(np.where(labels == 1, p, 1 - p)).sum()), pairs + len(x)
    state.documents.copy_(torch.from_numpy(a[n:]))
    inputs[:n].copy_(torch.from_numpy(a[:n]))
    outputs.copy_(torch.from_numpy(b))
    return loss, pairs
