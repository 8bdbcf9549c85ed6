"""GloVe steps on the processor: tiles in compiled loops, one thread or several on tiles that share no row.

In each round every group of words meets another group of contexts, so the tiles of a round can be learned side by side and in any order: the
result is bitwise the same for any number of threads. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from torch import Tensor

from .state import GloveState, Settings

__all__ = ["glove_step"]

COUNTS_PER_CALL = 1 << 22                       # then Python is asked whether Ctrl-C was pressed


def glove_step(words: Tensor, state: GloveState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns Σ ½ f diff² over the counts, and how many were left out. A state on a GPU is copied here and back."""
    from .training import Tables, train

    on_host = {name: getattr(state, name).cpu() for name in ("words", "contexts", "rows", "columns", "logs", "weights")}
    tables, bounds = Tables(*(x.data_ptr() for x in on_host.values()), words.shape[2]), state.tiles.cpu().numpy()
    tiles = _tiles(state.groups, how.shifts)
    losses = np.zeros(len(tiles))

    def work(part: slice) -> int:
        return train(tables, bounds, tiles[part], losses[part], np.float32(how.rate), np.float32(how.clip))

    left_out = 0
    with ThreadPoolExecutor(how.threads) as pool:                        # which starts no thread before it is asked to
        each = pool.map if how.threads > 1 else map
        for parts in _parts(np.diff(bounds)[tiles], state.groups, how.threads):
            left_out += sum(each(work, parts))
    words.copy_(on_host["words"])
    state.contexts.copy_(on_host["contexts"])
    return float(losses.sum()), int(left_out)


def _tiles(groups: int, shifts: tuple[int, ...]) -> np.ndarray:
    """The tiles of the rounds, one round after the other."""
    group = np.arange(groups)
    return (group * groups + (group + np.array(shifts, dtype=np.int64)[:, None]) % groups).ravel()


def _parts(counts: np.ndarray, groups: int, threads: int) -> Iterator[list[slice]]:
    """Runs of tiles that are worked on side by side: one for each thread out of a round; a thread alone need not stop after each."""
    size = groups if threads > 1 else max(1, len(counts))
    for first in range(0, len(counts), size):
        done = np.cumsum(counts[first : first + size])
        n = threads if threads > 1 else max(1, -(-int(done[-1]) // COUNTS_PER_CALL))
        cuts = np.searchsorted(done, done[-1] * np.arange(1, n) / n) + first
        parts = [slice(*bounds) for bounds in pairwise([first, *cuts.tolist(), first + len(done)])]
        yield from [parts] if threads > 1 else [[part] for part in parts]
