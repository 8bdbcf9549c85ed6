"""All entries, in the order of the lessons. A new lesson adds a module with ``ENTRIES`` and its name here."""

from __future__ import annotations

from . import anisotropy, bert, cosent, doc2vec, flow, glove, outlook, rounding, sbert, sif, simcse, topics, word2vec
from .entry import Entry

__all__ = ["entries"]

_MODULES = (topics, word2vec, glove, sif, doc2vec, bert, anisotropy, sbert, rounding, flow, cosent, simcse, outlook)


def entries() -> dict[str, Entry]:
    """Every figure and table that can be measured again, by id.

    Raises ValueError when two entries have one id.
    """
    found: dict[str, Entry] = {}
    for entry in (entry for module in _MODULES for entry in module.ENTRIES):
        if entry.id in found:
            raise ValueError(f"id={entry.id!r} belongs to two entries; expected one each")
        found[entry.id] = entry
    return found
