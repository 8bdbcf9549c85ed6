"""Threads that share a text: each takes a part of it, and what they learn is brought together.

One thread goes through the text alone. Several with ``deterministic`` each have their own copies of
the matrices; after some ten thousand tokens their changes are brought together, row by row, by
Adasum or by adding, on a fixed schedule, so that a run can be repeated bit by bit. Otherwise
threads write into the same rows as they come. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
import torch

from .lda_sweep.state import padded
from .window_update.state import Settings, WindowState

__all__ = ["Matrices", "Work", "over_text"]

Matrices = tuple[np.ndarray, np.ndarray]          # inputs and outputs; a thread may have its own
Work = Callable[[Matrices, object, tuple[int, int]], tuple[float, int]]
TOKENS_PER_CALL = 1 << 19       # then Python is asked whether Ctrl-C was pressed
TOKENS_PER_MERGE = 1 << 16      # of one thread, at least; more where the matrices are large
TOKENS_PER_SUM = 1 << 16        # of all threads: with more, common changes would be learned twice


def over_text(work: Work, shared: Matrices, workspaces: Sequence[object], state: WindowState,
              how: Settings, *,
              touched: Callable[[int, int], np.ndarray] | None = None) -> tuple[float, int]:
    """One thread per workspace does ``work(matrices, workspace, (first piece, last piece + 1))``
    on its part of all pieces; returns the sums of what it returns.

    ``touched``: the rows of the inputs that pieces ``first`` to ``last`` may change; given, changes
    are added, and other rows not looked at.
    """
    if how.threads == 1:
        parts = _parts(state, how.pieces, TOKENS_PER_CALL, 1)
        return _sum(work(shared, workspaces[0], part) for part in parts)
    with ThreadPoolExecutor(how.threads) as pool:
        if how.deterministic and touched is not None:
            return _added(pool, work, shared, workspaces, state, how, touched=touched)
        run = _merged if how.deterministic else _racing
        return run(pool, work, shared, workspaces, state, how)


def _racing(pool: ThreadPoolExecutor, work: Work, shared: Matrices, workspaces: Sequence[object],
            state: WindowState, how: Settings) -> tuple[float, int]:
    """All threads on the same rows, without locks."""
    results = []
    for parts in _rounds(state, how, TOKENS_PER_CALL):
        results += list(pool.map(work, [shared] * len(parts), workspaces, parts))
    return _sum(results)


def _merged(pool: ThreadPoolExecutor, work: Work, shared: Matrices, workspaces: Sequence[object],
            state: WindowState, how: Settings) -> tuple[float, int]:
    """Each thread on its own copies, which are brought together after each round."""
    from .window_update.merging import merge

    own = [tuple(padded(torch.from_numpy(x)).numpy() for x in shared) for _ in workspaces]
    results = []
    for parts in _rounds(state, how, max(TOKENS_PER_MERGE, 2 * len(shared[0]))):
        results += list(pool.map(work, own, workspaces, parts))
        for base, *copies in zip(shared, *own, strict=True):
            cuts = np.linspace(0, len(base), how.threads + 1).astype(int)
            list(pool.map(partial(merge, base, tuple(copies)), cuts[:-1], cuts[1:]))
    return _sum(results)


def _added(pool: ThreadPoolExecutor, work: Work, shared: Matrices, workspaces: Sequence[object],
           state: WindowState, how: Settings, *,
           touched: Callable[[int, int], np.ndarray]) -> tuple[float, int]:
    """Each thread on its own copies, whose changes are added after each round."""
    from .window_update.merging import add_up

    own = [tuple(padded(torch.from_numpy(x)).numpy() for x in shared) for _ in workspaces]
    results = []
    for parts in _rounds(state, how, max(1, TOKENS_PER_SUM // how.threads)):
        results += list(pool.map(work, own, workspaces, parts))
        changed = touched(parts[0][0], parts[-1][1]), np.arange(len(shared[1]))
        for base, copies, rows in zip(shared, zip(*own, strict=True), changed, strict=True):
            list(pool.map(partial(add_up, base, copies), np.array_split(rows, how.threads)))
    return _sum(results)


def _sum(results: object) -> tuple[float, int]:
    losses = list(results)
    return float(sum(loss for loss, _ in losses)), int(sum(n for _, n in losses))


def _parts(state: WindowState, pieces: tuple[int, int], tokens: int,
           at_least: int) -> Iterator[tuple[int, int]]:
    """Runs of pieces with about as many tokens each; their number is a multiple of at_least."""
    first, last = pieces
    begin, whole = state.pieces[first], int(state.pieces[last] - state.pieces[first])
    n = at_least * max(1, -(-whole // (tokens * at_least)))
    cuts = np.searchsorted(state.pieces[first : last + 1],
                           begin + whole * np.arange(1, n) // n) + first
    bounds = np.concatenate([[first], cuts, [last]]).tolist()
    yield from pairwise(bounds)


def _rounds(state: WindowState, how: Settings, tokens: int) -> Iterator[list[tuple[int, int]]]:
    """Parts that are worked on side by side, one for each thread."""
    parts = list(_parts(state, how.pieces, tokens, how.threads))
    for i in range(0, len(parts), how.threads):
        yield parts[i : i + how.threads]
