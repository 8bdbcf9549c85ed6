"""Window updates as in a textbook: window by window, one step of gradient descent on the loss of the window, in the type of float64 numbers.

All dot products of a window are taken before anything moves; a word that occurs twice in it moves twice. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from .draws import draws, piece_key
from .state import Settings, WindowState

__all__ = ["outputs_of", "window_update"]


def _windows(state: WindowState, how: Settings, piece: int) -> Iterator[tuple[int, list[int], np.ndarray, int]]:
    """Centre, contexts, the centre's draws and place of each window of a piece, after subsampling."""
    begin, end = state.pieces[piece], state.pieces[piece + 1]
    negatives = 0 if how.hierarchical else how.negatives
    numbers = draws(int(end - begin), negatives, piece_key(how.seed, how.epoch, piece))
    words = state.words[begin:end]
    kept = [i for i in range(len(words)) if int(numbers[i, 0]) >> 33 < state.keep[words[i]]]
    for at, i in enumerate(kept):
        half = ((int(numbers[i, 0]) >> 8 & 0xFFFFFF) * how.window >> 24) + 1
        contexts = [int(words[j]) for j in kept[max(0, at - half) : at] + kept[at + 1 : at + half + 1]]
        if contexts:
            yield int(words[i]), contexts, numbers[i], int(begin) + i


def outputs_of(state: WindowState, how: Settings, centre: int, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the outputs and what each should say, 1 or 0."""
    if how.hierarchical:
        path = slice(*state.paths.offsets[centre : centre + 2])
        return state.paths.nodes[path], 1.0 - state.paths.bits[path]
    found = [centre]
    for x in map(int, numbers[1:]):
        column = (x >> 32) * len(state.counts) >> 32
        word = column if x & 0x7FFFFFFF < state.thresholds[column] else int(state.others[column])
        found += [word] if word != centre else []
    return np.array(found), np.array([1.0] + [0.0] * (len(found) - 1))


def window_update(inputs: Float32[Tensor, "v d"], outputs: Float32[Tensor, "rows d"], state: WindowState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    a, b = inputs.double().cpu().numpy(), outputs.double().cpu().numpy()
    loss, pairs, span = 0.0, 0, how.rates[1] - how.rates[0]
    for piece in range(*how.pieces):
        for centre, contexts, numbers, place in _windows(state, how, piece):
            rows, labels = outputs_of(state, how, centre, numbers)
            rate = how.rates[0] + span * place / len(state.words)
            x = a[contexts].mean(axis=0, keepdims=True) if how.cbow else a[contexts]
            p = 1.0 / (1.0 + np.exp(-(x @ b[rows].T)))
            gains = rate * (labels - p)
            errors = gains @ b[rows]
            np.add.at(b, rows, gains.T @ x)
            np.add.at(a, contexts, errors / (len(contexts) if how.cbow and how.share_error else 1))
            if how.loss_every and int(numbers[0]) % 256 < 256 // how.loss_every:
                loss, pairs = loss - float(np.log(np.where(labels == 1, p, 1 - p)).sum()), pairs + len(x)
    inputs.copy_(torch.from_numpy(a))
    outputs.copy_(torch.from_numpy(b))
    return loss, pairs
