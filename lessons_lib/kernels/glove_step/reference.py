"""GloVe steps as in a textbook: count by count, in float64.

A row is a vector, its bias and a 1, beside the sum of squares of each number; the product of two
such rows already holds both biases. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from .state import GloveState, Settings

__all__ = ["glove_step"]


def glove_step(words: Float32[Tensor, "v 2 d"], state: GloveState,
               how: Settings) -> tuple[float, int]:
    """w −= u / √G, G += u², u = η clip(f diff w̃) for both rows of every count; returns Σ ½ f diff²
    and how many counts were left out."""
    a, b = words.double().cpu().numpy(), state.contexts.double().cpu().numpy()
    counts = state.rows, state.columns, state.logs, state.weights, state.tiles
    rows, columns, logs, weights, tiles = (x.cpu().numpy() for x in counts)
    loss, left_out = 0.0, 0
    for shift in how.shifts:
        for group in range(state.groups):
            tile = group * state.groups + (group + shift) % state.groups
            for k in range(tiles[tile], tiles[tile + 1]):
                (w, w_squares), (c, c_squares) = a[rows[k]], b[columns[k]]  # views of the state
                diff = w @ c - logs[k]
                if not np.isfinite(diff):
                    left_out += 1
                    continue
                pull = weights[k] * diff
                loss += 0.5 * pull * diff
                steps = [how.rate * np.clip(pull * x, -how.clip, how.clip) for x in (c, w)]
                for x, squares, step in ((w, w_squares, steps[0]), (c, c_squares, steps[1])):
                    x -= step / np.sqrt(squares)
                    squares += step**2
    words.copy_(torch.from_numpy(a))
    state.contexts.copy_(torch.from_numpy(b))
    return loss, left_out
