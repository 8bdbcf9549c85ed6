"""GloVe steps on the processor: tiles in compiled loops, one thread or several on tiles that share
no row.

In each round every group of words meets another group of contexts, so the tiles of a round can be
learned side by side and in any order: the result is bitwise the same for any number of threads.
Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from torch import Tensor

from .state import GloveState, Settings
from .training import Tables, train

__all__ = ["glove_step"]

COUNTS_PER_CALL = 1 << 22  # then Python is asked whether Ctrl-C was pressed


def glove_step(words: Tensor, state: GloveState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns Σ ½ f diff² over the counts, and how many were left out. A
    state on a GPU is copied here and back."""
    names = ("words", "contexts", "rows", "columns", "logs", "weights")
    here = {name: getattr(state, name).cpu() for name in names}
    tables = Tables(*(x.data_ptr() for x in here.values()), words.shape[2])
    bounds, group = state.tiles.cpu().numpy(), np.arange(state.groups)
    shifts = np.array(how.shifts, dtype=np.int64)[:, None]
    tiles = (group * state.groups + (group + shifts) % state.groups).ravel()  # round after round
    losses, left_out = np.zeros(len(tiles)), 0

    def work(part: slice) -> int:
        rate, clip = np.float32(how.rate), np.float32(how.clip)
        return train(tables, bounds, tiles[part], losses[part], rate, clip)

    with ThreadPoolExecutor(how.threads) as pool:  # starts no thread before it is asked to
        each = pool.map if how.threads > 1 else map
        for parts in _parts(np.diff(bounds)[tiles], state.groups, how.threads):
            left_out += sum(each(work, parts))
    words.copy_(here["words"])
    state.contexts.copy_(here["contexts"])
    return float(losses.sum()), int(left_out)


def _parts(counts: np.ndarray, groups: int, threads: int) -> Iterator[list[slice]]:
    """Runs of tiles that are worked on side by side: one for each thread out of a round; a thread
    alone need not stop after each."""
    size = groups if threads > 1 else max(1, len(counts))
    for first in range(0, len(counts), size):
        done = np.cumsum(counts[first : first + size])
        n = threads if threads > 1 else max(1, -(-int(done[-1]) // COUNTS_PER_CALL))
        cuts = np.searchsorted(done, done[-1] * np.arange(1, n) / n) + first
        parts = [slice(*bounds) for bounds in pairwise([first, *cuts, first + len(done)])]
        yield from [parts] if threads > 1 else [[part] for part in parts]
