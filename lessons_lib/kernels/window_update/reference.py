"""Window and document updates as in a textbook: window by window, one step of gradient descent on
the loss of the window, in the type of float64 numbers.

All dot products of a window are taken before anything moves; a word that occurs twice in it moves
twice. Taught in ``04_word2vec`` and ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from .draws import draws
from .state import Settings, WindowState

__all__ = ["drawn_word", "kept_tokens", "learned", "outputs_of", "window_update", "windows_of"]

Window = tuple[int, list[int], np.ndarray, int]  # centre, contexts, the centre's draws, its place


def kept_tokens(state: WindowState, how: Settings, piece: int,
                key: int) -> Iterator[tuple[int, int, np.ndarray, int]]:
    """Word, half the width of its window, draws and place in the text of each token that
    subsampling leaves."""
    begin, end = map(int, state.pieces[piece : piece + 2])
    for place, numbers in enumerate(draws(end - begin, how.draws, key), start=begin):
        word, first = int(state.words[place]), int(numbers[0])
        if first >> 33 < state.keep[word]:
            yield word, ((first >> 8 & 0xFFFFFF) * how.window >> 24) + 1, numbers, place


def windows_of(state: WindowState, how: Settings, piece: int, key: int,
               tags: list[int] | None = None) -> Iterator[Window]:
    """The windows of a piece; contexts are words, the edge of a text (row V) and, last, ``tags``,
    which every window has; a window without contexts is left out."""
    kept, edge, tags = list(kept_tokens(state, how, piece, key)), len(state.counts), tags or []
    words = [word for word, *_ in kept]
    for at, (centre, half, numbers, place) in enumerate(kept):
        near = words[max(0, at - half) : at] + words[at + 1 : at + half + 1]
        if how.combine == "concat":
            around = [j for j in range(at - how.window, at + how.window + 1) if j != at]
            near = [words[j] if 0 <= j < len(kept) else edge for j in around]
        contexts = (near if how.neighbours else []) + tags
        if contexts:
            yield centre, contexts, numbers, place


def drawn_word(state: WindowState, number: int) -> int:
    """The word that a draw picks from the alias table."""
    column = (number >> 32) * len(state.counts) >> 32
    keeps = number & 0x7FFFFFFF < state.thresholds[column]
    return column if keeps else int(state.others[column])


def outputs_of(state: WindowState, how: Settings, centre: int,
               numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the outputs and what each should say, 1 or 0."""
    if how.hierarchical:
        path = slice(*state.paths.offsets[centre : centre + 2])
        return state.paths.nodes[path], 1.0 - state.paths.bits[path]
    drawn = [drawn_word(state, int(x)) for x in numbers[1:]]
    rows = np.array([centre, *(word for word in drawn if word != centre)])
    return rows, (np.arange(len(rows)) == 0).astype(float)


def learned(a: np.ndarray, b: np.ndarray, state: WindowState, how: Settings,
            windows: Iterator[Window]) -> tuple[float, int]:
    """Move rows of the inputs ``a`` and the outputs ``b`` by some windows; returns the noted loss
    and its pairs. If ``frozen``, only the rows of tags move."""
    loss, pairs, span = 0.0, 0, how.rates[1] - how.rates[0]
    for centre, contexts, numbers, place in windows:
        rows, labels = outputs_of(state, how, centre, numbers)
        x = a[contexts]
        if how.combine == "concat":
            x = x.reshape(1, -1)
        elif how.combine:
            n = len(contexts) if how.combine == "mean" else 1
            x = x.sum(axis=0, keepdims=True) / n
        p = 1.0 / (1.0 + np.exp(-(x @ b[rows].T)))
        gains = (how.rates[0] + span * place / len(state.words)) * (labels - p)
        shared = how.combine == "mean" and how.share_error
        errors = gains @ b[rows] / (len(contexts) if shared else 1)
        moves = np.broadcast_to(errors.reshape(-1, a.shape[1]), (len(contexts), a.shape[1]))
        moving = [i for i, row in enumerate(contexts) if row > len(state.counts) or not how.frozen]
        np.add.at(a, np.array(contexts)[moving], moves[moving])
        if not how.frozen:
            np.add.at(b, rows, gains.T @ x)
        if how.noted(int(numbers[0])):
            loss -= float(np.log(np.where(labels == 1, p, 1 - p)).sum())
            pairs += len(x)
    return loss, pairs


def window_update(inputs: Float32[Tensor, "v d"], outputs: Float32[Tensor, "rows d"],
                  state: WindowState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the
    number of these pairs."""
    a, b = inputs.double().cpu().numpy(), outputs.double().cpu().numpy()
    loss, pairs = 0.0, 0
    for piece, key in zip(range(*how.pieces), state.keys(how).tolist(), strict=True):
        more, n = learned(a, b, state, how, windows_of(state, how, piece, key))
        loss, pairs = loss + more, pairs + n
    inputs.copy_(torch.from_numpy(a))
    outputs.copy_(torch.from_numpy(b))
    return loss, pairs
