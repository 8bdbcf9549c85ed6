"""How the kernels of window updates are launched: the tile that a program holds, how many programs
may race, and what they cannot do.

Without Triton, so that the choice of an implementation can ask. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import numpy as np
import torch

from .state import Settings, WindowState

__all__ = ["limit", "side_by_side", "tile", "warps"]

UNIT = 64  # columns of a tile: sixteen lanes read a row of it, 16 bytes each
NUMBERS_PER_WARP, MOST_WARPS = 1280, 16  # output rows in registers, and as much for their changes
# Windows at work that may share a row: with 300 the loss grows without bounds, with 75 by 1 %.
IN_FLIGHT = 64
TOKENS_PER_PROGRAM = 4096  # else the first steps of a short text, all taken at once, cost more
ROOT = 1 / 8  # a tree's root is in every window, yet 500 at once do no harm: its steps average out


def _power_of_two(n: int) -> int:
    return 1 << max(0, n - 1).bit_length()


def tile(state: WindowState, how: Settings) -> dict[str, int]:
    """Contexts that are looked at together, outputs, columns of a tile, and tiles of a row."""
    columns, slots = state.inputs.shape[1], _power_of_two(2 * how.window)
    most = int(np.diff(state.paths.offsets).max()) if how.hierarchical else how.negatives + 1
    unit = min(UNIT, _power_of_two(columns))
    return {"SLOTS": min(slots, 8) if how.cbow else slots, "MOST": _power_of_two(most),
            "UNIT": unit, "PIECES": -(-columns // unit)}


def warps(sizes: dict[str, int]) -> int:
    """Warps of a program, a power of two, so that its tile fits into registers."""
    return _power_of_two(-(-sizes["MOST"] * sizes["UNIT"] * sizes["PIECES"] // NUMBERS_PER_WARP))


def side_by_side(state: WindowState, how: Settings) -> int:
    """Programs that may work at the same time: steps on one row that do not see each other must
    stay few."""
    kept = state.counts * state.keep
    share = (how.window + 1) * kept.max() / max(kept.sum(), 1e-300)
    if how.hierarchical:
        share = max(share, ROOT)
    else:
        noise = np.where(state.counts > 0,
                         np.maximum(state.counts, 1e-300)**state.noise_exponent, 0.0)
        share = max(share,
                    (how.negatives * noise / noise.sum() + kept / max(kept.sum(), 1e-300)).max())
    return max(1, int(min(IN_FLIGHT / share, len(state.words) / TOKENS_PER_PROGRAM)))


def limit(state: WindowState, how: Settings) -> str | None:
    """Why the kernel cannot train like this, with the remedy."""
    if how.deterministic or torch.are_deterministic_algorithms_enabled():
        where = ("deterministic=True"
                 if how.deterministic else "torch.use_deterministic_algorithms(True)")
        return (
            f"{where} asks for one order of additions, and its programs race (deterministic=False)")
    sizes = tile(state, how)
    if warps(sizes) > MOST_WARPS:
        return (f"{sizes['MOST']} outputs of {state.inputs.shape[1]} numbers do not fit into "
                "registers (fewer negatives or dimensions)")
    return None
