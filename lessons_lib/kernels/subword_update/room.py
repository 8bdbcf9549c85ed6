"""What the compiled loop of subword updates is handed: numbers and addresses of arrays, which their owners here keep alive.

Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..window_update.draws import draws, epoch_key
from ..window_update.room import Owners, Plan, addresses, plan_of
from ..window_update.state import PIECE, Settings
from .state import SubwordState, most_draws

__all__ = ["Plan", "Room", "Source", "plan_of", "room_for", "source_of"]


class Source(NamedTuple):
    """Text, chance, tree and lists of rows. Addresses, but for three numbers; ``draws``: the most noise words of a window."""

    words: int
    pieces: int
    keys: int
    keep: int
    thresholds: int
    others: int
    paths: int
    nodes: int
    bits: int
    bounds: int
    rows: int
    n_words: int
    n_tokens: int
    draws: int


class Room(NamedTuple):
    """Where one thread works. Addresses, but for the slots of a half of the outputs (even and odd windows) and of the tokens that are near."""

    kept: int
    halves: int
    places: int
    numbers: int
    seats: int
    asked: int
    outputs: int
    labels: int
    weights: int
    gains: int
    members: int
    to_hidden: int
    to_errors: int
    hidden: int
    errors: int
    nothing: int
    sums: int
    learned: int
    slots: int
    near: int


def source_of(state: SubwordState, how: Settings) -> tuple[Source, Owners]:
    """The text as addresses, and the arrays that lie there."""
    keys = draws(state.n_pieces, 0, epoch_key(how.seed, how.epoch))
    tree = tuple(state.paths) if how.hierarchical else (np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.float32))
    arrays = (state.words, state.pieces, keys, state.keep, state.thresholds, state.others, *tree, state.row_offsets, state.rows)
    arrays = tuple(np.ascontiguousarray(x) for x in arrays)
    return Source(*addresses(arrays), len(state.counts), max(1, len(state.words)), most_draws(how)), arrays


def room_for(state: SubwordState, how: Settings, columns: int) -> tuple[Room, Owners]:
    """Room for one thread on rows of so many columns, and the arrays that it is."""
    of_one = int(np.diff(state.paths.offsets).max()) if how.hierarchical else 1
    slots, near = of_one * (1 if how.cbow else 2 * how.window) + most_draws(how) + 32, 2 * how.window + 2
    members = max(near, int(np.diff(state.row_offsets).max()))
    tokens: list[Any] = [np.empty(PIECE, kind) for kind in (np.int32, np.int32, np.int32, np.int64)]
    outputs = (np.zeros(len(state.outputs), np.int32), np.empty(slots, np.int32), np.empty(2 * slots, np.int64), np.zeros(2 * slots, np.float32),
               np.zeros(2 * slots, np.float32), np.zeros(slots, np.float32), np.empty(members, np.int64))
    vectors, near_rows = np.zeros((3, columns), np.float32), np.zeros((2, near, columns), np.float32)
    tables = tuple(np.array([row.ctypes.data]) for row in vectors[:2])
    at = addresses((*tokens, *outputs, *tables, *vectors, *near_rows))
    return Room(*at, slots, near), (*tokens, *outputs, *tables, vectors, near_rows)
