"""Window updates on the processor: compiled loops over the text, vector code for the rows, threads that share it.

On one thread every window sees all that was learned before it. On several with ``deterministic`` each has its own copies of the matrices; after some
ten thousand tokens their changes are merged, row by row, by Adasum: changes in different directions add up, equal ones count once. The schedule is
fixed, so a run can be repeated bit by bit. Otherwise threads write into the same rows as they come. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from ..lda_sweep.state import padded
from .state import Settings, WindowState, on_host

__all__ = ["window_update"]

Matrices = tuple[np.ndarray, np.ndarray]          # inputs and outputs; a thread may have its own
Work = Callable[[Matrices, object, tuple[int, int]], tuple[float, int]]
TOKENS_PER_CALL = 1 << 19                       # then Python is asked whether Ctrl-C was pressed
TOKENS_PER_MERGE = 1 << 16                      # of one thread, at least; more where the matrices are large, which are read whole


def window_update(inputs: Tensor, outputs: Tensor, state: WindowState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    if inputs.is_cuda:
        return on_host(window_update, inputs, outputs, state, how)
    from .room import plan_of, room_for, source_of
    from .training import train

    (source, _owners), plan = source_of(state, how), plan_of(how)
    rooms = [room_for(state, how, inputs.shape[1]) for _ in range(how.threads)]
    shared = inputs.numpy(), outputs.numpy()

    def work(matrices: Matrices, room: object, part: tuple[int, int]) -> tuple[float, int]:
        return train(source, *(x.ctypes.data for x in matrices), inputs.shape[1], plan, room[0], *part)

    if how.threads == 1:
        return _sum(work(shared, rooms[0], part) for part in _parts(state, how.pieces, TOKENS_PER_CALL, 1))
    with ThreadPoolExecutor(how.threads) as pool:
        together = partial(_merged, pool) if how.deterministic else partial(_racing, pool)
        return together(work, shared, rooms, state, how)


def _racing(pool: ThreadPoolExecutor, work: Work, shared: Matrices, rooms: list, state: WindowState, how: Settings) -> tuple[float, int]:
    """All threads on the same rows, without locks."""
    found = []
    for parts in _rounds(state, how, TOKENS_PER_CALL):
        found += list(pool.map(work, [shared] * len(parts), rooms, parts))
    return _sum(found)


def _merged(pool: ThreadPoolExecutor, work: Work, shared: Matrices, rooms: list, state: WindowState, how: Settings) -> tuple[float, int]:
    """Each thread on its own copies, which are brought together after each round."""
    from .merging import merge

    own = [tuple(padded(torch.from_numpy(x)).numpy() for x in shared) for _ in rooms]
    found = []
    for parts in _rounds(state, how, max(TOKENS_PER_MERGE, 2 * len(state.counts))):
        found += list(pool.map(work, own, rooms, parts))
        for base, *copies in zip(shared, *own, strict=True):
            cuts = np.linspace(0, len(base), how.threads + 1).astype(int)
            list(pool.map(partial(merge, base, tuple(copies)), cuts[:-1], cuts[1:]))
    return _sum(found)


def _sum(found: object) -> tuple[float, int]:
    losses = list(found)
    return float(sum(loss for loss, _ in losses)), int(sum(n for _, n in losses))


def _parts(state: WindowState, pieces: tuple[int, int], tokens: int, at_least: int) -> Iterator[tuple[int, int]]:
    """Runs of pieces with about as many tokens each, in all at least so many, and a multiple of it."""
    first, last = pieces
    begin, whole = state.pieces[first], int(state.pieces[last] - state.pieces[first])
    n = at_least * max(1, -(-whole // (tokens * at_least)))
    cuts = np.searchsorted(state.pieces[first : last + 1], begin + whole * np.arange(1, n) // n) + first
    bounds = np.concatenate([[first], cuts, [last]]).tolist()
    yield from pairwise(bounds)


def _rounds(state: WindowState, how: Settings, tokens: int) -> Iterator[list[tuple[int, int]]]:
    """Parts that are worked on side by side, one for each thread."""
    parts = list(_parts(state, how.pieces, tokens, how.threads))
    for i in range(0, len(parts), how.threads):
        yield parts[i : i + how.threads]
