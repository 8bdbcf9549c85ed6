"""What the compiled loop of window updates is handed: numbers and addresses of arrays, which their owners here keep alive.

Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .draws import GOLDEN, draws, epoch_key
from .state import PIECE, Settings, WindowState

__all__ = ["BLOCK", "SEATS", "Owners", "Plan", "Room", "Source", "addresses", "plan_of", "room_for", "source_of"]

Owners = tuple[np.ndarray, ...]
BLOCK = 64                                      # windows whose outputs are drawn together
SEATS = 1024                                    # a power of two; words that share a seat look like the same word, which costs a copy, no more


class Source(NamedTuple):
    """Text, chance and tree. Addresses, but for the two numbers."""

    words: int
    pieces: int
    keys: int
    keep: int
    noise: int
    paths: int
    nodes: int
    bits: int
    n_words: int
    n_tokens: int


class Plan(NamedTuple):
    """The settings as plain numbers; ``note``: how many of 256 windows have their loss noted."""

    cbow: bool
    hierarchical: bool
    window: int
    negatives: int
    first_rate: float
    rate_span: float
    share_error: bool
    note: int


class Room(NamedTuple):
    """Where one thread works: tokens of a piece, outputs of a block of windows, one window, spare rows with a table each. All are addresses.

    ``repeats``: for each token, where the last word stands that came again up to here, -1 for none; ``seats``: where a word came last, counted in
    tokens since the ``serial`` number 0; ``contexts`` is a table of the rows of a window, ``copies`` of spare rows for them.
    """

    kept: int
    places: int
    rows: int
    halves: int
    rates: int
    noted: int
    repeats: int
    starts: int
    outputs: int
    labels: int
    weights: int
    contexts: int
    gains: int
    seats: int
    serial: int
    none: int
    hidden: int
    error: int
    copies: int


def addresses(arrays: Iterable[np.ndarray]) -> list[int]:
    """Where arrays begin. Who calls keeps them alive."""
    return [x.ctypes.data for x in arrays]


def source_of(state: WindowState, how: Settings) -> tuple[Source, Owners]:
    """The text as addresses, and the arrays that lie there; keys only for the pieces that are worked on."""
    first, last = how.pieces
    keys = draws(last - first, 0, (epoch_key(how.seed, how.epoch) + first * GOLDEN) % 2**64)
    noise = state.thresholds.astype(np.uint64) << np.uint64(32) | state.others.astype(np.uint64)
    tree = tuple(state.paths) if how.hierarchical else (np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.float32))
    arrays = tuple(np.ascontiguousarray(x) for x in (state.words, state.pieces, keys, state.keep, noise, *tree))
    at = Source(*addresses(arrays), len(state.counts), max(1, len(state.words)))
    return at._replace(keys=at.keys - 8 * first), arrays


def plan_of(how: Settings) -> Plan:
    """The settings as the loop takes them."""
    return Plan(how.cbow, how.hierarchical, how.window, how.negatives, how.rates[0], how.rates[1] - how.rates[0], how.share_error,
                256 // how.loss_every if how.loss_every else 0)


def room_for(state: WindowState, how: Settings, columns: int) -> tuple[Room, Owners]:
    """Room for one thread on rows of so many columns, and the arrays that it is. Some are longer than asked for: vectors are written whole."""
    slots = 3 + (int(np.diff(state.paths.offsets).max()) if how.hierarchical else how.negatives + 1)
    contexts = 2 * how.window + 1
    tokens = [np.empty(PIECE + 8, kind) for kind in (np.int32, np.int32, np.int64, np.int32, np.float32, np.int32, np.int32)]
    block = [np.zeros(BLOCK * slots + 16, kind) for kind in (np.int64, np.int64, np.float32, np.float32)]
    window = [np.zeros(contexts + 16, np.int64), np.zeros(contexts * slots + 64, np.float32)]
    seen, spare = [np.full(SEATS, -1, np.int32), np.zeros(1, np.int32)], np.zeros((3 + contexts, columns), np.float32)
    table = spare.ctypes.data + 4 * columns * np.arange(3 + contexts)
    arrays = (*tokens, *block, *window, *seen)
    return Room(*addresses(arrays), *addresses(table[i:] for i in range(4))), (*arrays, spare, table)
