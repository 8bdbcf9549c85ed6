"""What the compiled loop of document updates is handed beside text, settings and room of window updates. Taught in ``07_doc2vec``."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..window_update.room import Owners, Room, Source, addresses, room_for, source_of
from .state import DocumentSettings, DocumentState

__all__ = ["Tables", "Tags", "room_of", "text_of"]


class Tags(NamedTuple):
    """Addresses of the tags' row numbers and of where those of each piece begin and end; then settings: one input for each context (``each``) or one
    for all, whose contexts are averaged (``mean``) or stand side by side in so many ``parts``."""

    tags: int
    begins: int
    ends: int
    neighbours: bool
    each: bool
    mean: bool
    frozen: bool
    parts: int
    edge: int


class Tables(NamedTuple):
    """Addresses of the first rows of words, documents and outputs; columns of a row of words."""

    inputs: int
    documents: int
    outputs: int
    columns: int


def text_of(state: DocumentState, how: DocumentSettings) -> tuple[Source, Tags, Owners]:
    """The text and the tags as addresses, and the arrays that lie there."""
    source, owners = source_of(state, how)
    arrays = state.tags, *state.tag_bounds(), state.keys(how)
    *at, keys = addresses(arrays)
    tags = Tags(*at, how.neighbours, not how.combine, how.combine == "mean", how.frozen, state.parts, len(state.counts))
    return source._replace(keys=keys), tags, (*owners, *arrays)


def room_of(state: DocumentState, how: DocumentSettings, columns: int) -> tuple[Room, int, Owners]:
    """Room for one thread, with contexts for the words of a window and the tags of a document; a table for tags; the arrays that they are."""
    most = int(np.diff(state.tag_offsets).max(initial=1))
    wide = replace(how, window=1 if state.parts > 1 else how.window + (most + 1) // 2)
    room, owners = room_for(state, wide, columns * state.parts)
    table = np.zeros(most + 16, np.int64)
    return room, table.ctypes.data, (*owners, table)
