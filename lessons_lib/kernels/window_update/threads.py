"""Threads that share a text: each takes a part of it, and what they learn is brought together.

One thread goes through the text alone. Several with ``deterministic`` each have their own copies of
the matrices; after some ten thousand tokens their changes are brought together, row by row, on a
fixed schedule, so that a run can be repeated bit by bit: added, or by Adasum, where two changes a
and b become (1 − a·b / 2|a|²) a + (1 − a·b / 2|b|²) b, their sum where they have nothing in common,
their mean where they are the same; so a frequent word that all threads have moved to the same place
is not moved twice as far [maleki2021scaling]. Otherwise threads write into the same rows as they
come. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
import torch

from ...core.compiled import compiled
from ..layout import padded
from .state import Settings, WindowState

__all__ = ["add_up", "merge", "over_text"]

Matrices = tuple[np.ndarray, np.ndarray]  # inputs and outputs; a thread may have its own
Work = Callable[[Matrices, object, tuple[int, int]], tuple[float, int]]
TOKENS_PER_CALL = 1 << 19  # then Python is asked whether Ctrl-C was pressed
TOKENS_PER_MERGE = 1 << 16  # of one thread, at least; more where matrices are large: all is read
TOKENS_PER_SUM = 1 << 16  # of all threads: more, and what is common to them is learned twice


@compiled(reorder=True)
def _products(base: np.ndarray, change: np.ndarray,
              other: np.ndarray) -> tuple[float, float, float]:
    """a·b, a·a, b·b of the change a and of b = other − base."""
    ab, aa, bb = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for i in range(len(base)):
        b = other[i] - base[i]
        ab += change[i] * b
        aa += change[i] * change[i]
        bb += b * b
    return ab, aa, bb


@compiled
def merge(base: np.ndarray, copies: tuple, first: int, last: int) -> None:
    """Put the merged rows ``first`` to ``last`` into the base and into all copies, one copy after
    the other."""
    change, half = np.zeros(base.shape[1], np.float32), np.float32(0.5)
    for row in range(first, last):
        change[:] = np.float32(0.0)
        moved = False
        for copy in copies:
            ab, aa, bb = _products(base[row], change, copy[row])
            if bb > 0:
                moved = True
                keep = np.float32(1.0) - half * ab / aa if aa > 0 else np.float32(1.0)
                take = np.float32(1.0) - half * ab / bb
                for i in range(len(change)):
                    change[i] = keep * change[i] + take * (copy[row, i] - base[row, i])
        if moved:
            for i in range(len(change)):
                base[row, i] += change[i]
            for copy in copies:
                copy[row] = base[row]


@compiled(reorder=True)
def add_up(base: np.ndarray, copies: tuple, rows: np.ndarray) -> None:
    """Add the changes of all copies to some rows of the base, and put the sums into all copies."""
    for row in rows:
        for i in range(base.shape[1]):
            before = base[row, i]
            total = before
            for copy in copies:
                total += copy[row, i] - before
            base[row, i] = total
            for copy in copies:
                copy[row, i] = total


def over_text(work: Work, shared: Matrices, workspaces: Sequence[object], state: WindowState,
              how: Settings, touched: Callable[[int, int], np.ndarray] | None) -> tuple[float, int]:
    """Let one thread for each workspace do ``work(matrices, workspace, (first piece, last + 1))``
    on all pieces; returns the sums of what it returns.

    ``touched``: the rows of the inputs that pieces ``first`` to ``last`` may change; given, changes
    are added, and other rows not looked at; else they are merged.
    """
    results: list[tuple[float, int]] = []
    if how.threads == 1:
        for piece in _parts(state, how.pieces, TOKENS_PER_CALL, 1):
            results.append(work(shared, workspaces[0], piece))
        return _sums(results)
    own = [shared] * how.threads
    tokens = TOKENS_PER_CALL
    if how.deterministic:
        own = [tuple(padded(torch.from_numpy(x)).numpy() for x in shared) for _ in workspaces]
        tokens = max(TOKENS_PER_MERGE, 2 * len(shared[0]))
        if touched is not None:
            tokens = max(1, TOKENS_PER_SUM // how.threads)
    parts = list(_parts(state, how.pieces, tokens, how.threads))
    with ThreadPoolExecutor(how.threads) as pool:
        for i in range(0, len(parts), how.threads):
            together = parts[i : i + how.threads]
            results += list(pool.map(work, own, workspaces, together))
            if not how.deterministic:
                continue
            rows = np.arange(len(shared[1]))
            changed = None if touched is None else touched(together[0][0], together[-1][1])
            for base, copies, some in zip(shared, zip(*own, strict=True), (changed, rows),
                                          strict=True):
                if touched is not None:
                    split = np.array_split(some, how.threads)
                    list(pool.map(partial(add_up, base, copies), split))
                else:
                    cuts = np.linspace(0, len(base), how.threads + 1).astype(int)
                    list(pool.map(partial(merge, base, copies), cuts[:-1], cuts[1:]))
    return _sums(results)


def _sums(results: list[tuple[float, int]]) -> tuple[float, int]:
    return float(sum(loss for loss, _ in results)), int(sum(n for _, n in results))


def _parts(state: WindowState, pieces: tuple[int, int], tokens: int,
           at_least: int) -> Iterator[tuple[int, int]]:
    """Runs of pieces with about as many tokens each, in all at least so many, and a multiple of
    it."""
    first, last = pieces
    begin, total = state.pieces[first], int(state.pieces[last] - state.pieces[first])
    n = at_least * max(1, -(-total // (tokens * at_least)))
    cuts = np.searchsorted(state.pieces[first : last + 1], begin + total * np.arange(1, n) // n)
    yield from pairwise([first, *(cuts + first).tolist(), last])
