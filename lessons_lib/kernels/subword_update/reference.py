"""Subword updates as in a textbook: window by window, one step of gradient descent on the loss of
the window, in the type of float64 numbers.

With CBOW the tokens near the centre keep a sum of their rows and what they have learned since they
came. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from ..window_update.reference import drawn_word, kept_tokens
from ..window_update.state import Settings
from . import SubwordState

__all__ = ["subword_update"]


def _outputs(state: SubwordState, how: Settings, targets: list[int],
             numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows of the outputs, what each should say, and how much it counts."""
    right: dict[int, float] = {}
    asked: dict[int, float] = {}
    for word in targets:
        rows, labels = [word], [1.0]
        if how.hierarchical:
            path = slice(*state.paths.offsets[word : word + 2])
            rows = state.paths.nodes[path].tolist()
            labels = (1.0 - state.paths.bits[path]).tolist()
        for row, label in zip(rows, labels, strict=True):
            right[row] = right.get(row, 0.0) + label
            asked[row] = asked.get(row, 0.0) + 1.0
    for x in numbers[1 : 1 + how.negatives * len(targets)].tolist():
        word = drawn_word(state, x)
        asked[word] = asked.get(word, 0.0) + 1.0 - right.get(word, 0.0) / len(targets)
    weights = np.array(list(asked.values()))
    positive = np.array([right.get(row, 0.0) for row in asked])
    labels = np.divide(positive, weights, out=np.zeros_like(weights), where=weights > 0)
    return np.array(list(asked)), labels, weights


def _learned(x: np.ndarray, b: np.ndarray, rows: np.ndarray, labels: np.ndarray,
             weights: np.ndarray, rate: float) -> tuple[np.ndarray, float]:
    """Move the outputs; returns what the input should move by, and the loss of the window."""
    p = 1.0 / (1.0 + np.exp(-(b[rows] @ x)))
    gains = rate * weights * (labels - p)
    error = gains @ b[rows]
    b[rows] += np.outer(gains, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        positive = np.where(labels > 0, labels * np.log(p), 0.0)
        negative = np.where(labels < 1, (1 - labels) * np.log(1 - p), 0.0)
    return error, -float(weights @ (positive + negative))


def _piece(a: np.ndarray, b: np.ndarray, state: SubwordState, how: Settings, piece: int,
           key: int) -> tuple[float, int]:
    """Learn from one piece of text; returns the noted loss and its pairs."""
    kept = list(kept_tokens(state, how, piece, key))
    words = [word for word, *_ in kept]
    lists = [state.rows[slice(*state.row_offsets[word : word + 2])] for word in words]
    reach, span = how.window if how.cbow else 0, how.rates[1] - how.rates[0]
    sums, moves, loss, pairs = {}, {}, 0.0, 0  # of tokens that are near, by position
    for at, (_, half, numbers, place) in enumerate(kept):
        for j in range(0 if at == 0 else at + reach, min(len(kept), at + reach + 1)):
            sums[j], moves[j] = a[lists[j]].sum(axis=0), np.zeros(a.shape[1])
        contexts = [j for j in range(max(0, at - half), min(len(kept), at + half + 1)) if j != at]
        inputs, targets = (contexts, [at]) if how.cbow else ([at], contexts)
        if contexts:
            n = sum(len(lists[j]) for j in inputs)
            x = np.add.reduce([sums[j] for j in inputs]) / n
            outputs = _outputs(state, how, [words[j] for j in targets], numbers)
            rate = how.rates[0] + span * place / len(state.words)
            error, cost = _learned(x, b, *outputs, rate)
            error = error / n if how.share_error else error
            for j in inputs:
                moves[j] += error
                sums[j] += len(lists[j]) * error
            if how.noted(int(numbers[0])):
                loss, pairs = loss + cost, pairs + len(targets)
        if at >= reach:
            np.add.at(a, lists[at - reach], moves.pop(at - reach))
    for j, move in moves.items():
        np.add.at(a, lists[j], move)
    return loss, pairs


def subword_update(inputs: Float32[Tensor, "r d"], outputs: Float32[Tensor, "rows d"],
                   state: SubwordState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the
    number of these pairs."""
    a, b = inputs.double().cpu().numpy(), outputs.double().cpu().numpy()
    loss, pairs = 0.0, 0
    for piece, key in zip(range(*how.pieces), state.keys(how).tolist(), strict=True):
        more, result = _piece(a, b, state, how, piece, key)
        loss, pairs = loss + more, pairs + result
    inputs.copy_(torch.from_numpy(a))
    outputs.copy_(torch.from_numpy(b))
    return loss, pairs
