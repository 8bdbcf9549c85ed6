"""Subword updates as in a textbook: window by window, one step of gradient descent on the loss of the window, in the type of float64 numbers.

With CBOW the tokens near the centre keep a sum of their rows and what they have learned since they came. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from ..window_update.draws import draws, piece_key
from ..window_update.state import Settings
from .state import SubwordState, most_draws

__all__ = ["subword_update"]

Window = tuple[int, range, np.ndarray, int]      # position of the centre, positions around it, the centre's draws and its place in the text


def _windows(state: SubwordState, how: Settings, piece: int) -> tuple[np.ndarray, Iterator[Window]]:
    """Words of a piece that are kept, and the windows over them."""
    begin, end = state.pieces[piece], state.pieces[piece + 1]
    numbers = draws(int(end - begin), 0 if how.hierarchical else most_draws(how), piece_key(how.seed, how.epoch, piece))
    kept = [i for i in range(end - begin) if int(numbers[i, 0]) >> 33 < state.keep[state.words[begin + i]]]

    def windows() -> Iterator[Window]:
        for at, i in enumerate(kept):
            half = ((int(numbers[i, 0]) >> 8 & 0xFFFFFF) * how.window >> 24) + 1
            yield at, range(max(0, at - half), min(len(kept), at + half + 1)), numbers[i], int(begin) + i

    return state.words[begin:end][kept], windows()


def _outputs(state: SubwordState, how: Settings, targets: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows of the outputs, what each should say, and how much it counts."""
    right: dict[int, float] = {}
    asked: dict[int, float] = {}
    for word in targets.tolist():
        path = slice(*state.paths.offsets[word : word + 2]) if how.hierarchical else None
        for row, label in zip(state.paths.nodes[path].tolist(), 1.0 - state.paths.bits[path], strict=True) if path else [(word, 1.0)]:
            right[row], asked[row] = right.get(row, 0.0) + label, asked.get(row, 0.0) + 1.0
    for x in map(int, numbers[1 : 1 + how.negatives * len(targets)]):
        column = (x >> 32) * len(state.counts) >> 32
        word = column if x & 0x7FFFFFFF < state.thresholds[column] else int(state.others[column])
        asked[word] = asked.get(word, 0.0) + 1.0 - right.get(word, 0.0) / len(targets)
    rows, weights = np.array(list(asked)), np.array(list(asked.values()))
    positive = np.array([right.get(row, 0.0) for row in asked])
    return rows, np.divide(positive, weights, out=np.zeros_like(weights), where=weights > 0), weights


def _learned(x: np.ndarray, b: np.ndarray, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray, rate: float) -> tuple[np.ndarray, float]:
    """Move the outputs; returns what the input should move by, and the loss of the window."""
    p = 1.0 / (1.0 + np.exp(-(b[rows] @ x)))
    gains = rate * weights * (labels - p)
    error = gains @ b[rows]
    b[rows] += np.outer(gains, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.where(labels > 0, labels * np.log(p), 0.0) + np.where(labels < 1, (1 - labels) * np.log(1 - p), 0.0)
    return error, -float(weights @ losses)


class _Rows:
    """The rows of the tokens of a piece: those of the centre at once, those of contexts as long as they are near."""

    def __init__(self, a: np.ndarray, state: SubwordState, words: np.ndarray):
        self.a, self.lists = a, [state.rows[state.row_offsets[w] : state.row_offsets[w + 1]] for w in words]
        self.sums: dict[int, np.ndarray] = {}
        self.learned: dict[int, np.ndarray] = {}

    def come(self, position: int) -> None:
        self.sums[position] = self.a[self.lists[position]].sum(axis=0)
        self.learned[position] = np.zeros(self.a.shape[1])

    def leave(self, position: int) -> None:
        del self.sums[position]
        np.add.at(self.a, self.lists[position], self.learned.pop(position))

    def learn(self, position: int, error: np.ndarray) -> None:
        self.learned[position] += error
        self.sums[position] += len(self.lists[position]) * error


def _piece(a: np.ndarray, b: np.ndarray, state: SubwordState, how: Settings, piece: int) -> tuple[float, int]:
    words, windows = _windows(state, how, piece)
    rows, reach, span = _Rows(a, state, words), how.window if how.cbow else 0, how.rates[1] - how.rates[0]
    loss, pairs, here = 0.0, 0, 0
    for at, around, numbers, place in windows:
        while here < min(len(words), at + reach + 1):
            rows.come(here)
            here += 1
        contexts = [j for j in around if j != at]
        inputs = contexts if how.cbow else [at]
        if contexts:
            n, targets = sum(len(rows.lists[j]) for j in inputs), words[[at]] if how.cbow else words[contexts]
            x = np.add.reduce([rows.sums[j] for j in inputs]) / n
            error, found = _learned(x, b, *_outputs(state, how, targets, numbers), how.rates[0] + span * place / len(state.words))
            for j in inputs:
                rows.learn(j, error / n if how.share_error else error)
            if how.loss_every and int(numbers[0]) % 256 < 256 // how.loss_every:
                loss, pairs = loss + found, pairs + len(targets)
        if at >= reach:
            rows.leave(at - reach)
    for position in list(rows.sums):
        rows.leave(position)
    return loss, pairs


def subword_update(inputs: Float32[Tensor, "r d"], outputs: Float32[Tensor, "rows d"], state: SubwordState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    a, b = inputs.double().cpu().numpy(), outputs.double().cpu().numpy()
    loss, pairs = 0.0, 0
    for piece in range(*how.pieces):
        found = _piece(a, b, state, how, piece)
        loss, pairs = loss + found[0], pairs + found[1]
    inputs.copy_(torch.from_numpy(a))
    outputs.copy_(torch.from_numpy(b))
    return loss, pairs
