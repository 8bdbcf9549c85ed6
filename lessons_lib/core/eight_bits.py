"""Tables of numbers in a quarter of the space: 8 bits for each, and a scale for each row.

Used where vectors and weights are written to be handed on.
"""

from __future__ import annotations

import numpy as np

__all__ = ["quantized"]


def quantized(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A matrix (n, d) in 8 bits, and the float32 scale (n,) of each row: its largest number is 127,
    and no number moves by more than half a scale.
    """
    scale = np.maximum(np.abs(matrix).max(axis=1, initial=0.0) / 127, 1e-30).astype(np.float32)
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale
