"""Figures and tables of papers, measured again: what was printed beside what comes out here, by one command.

An `Entry` names paper and item, holds the printed numbers, and knows how to measure and draw; `run` does it at a scale and writes picture and numbers
under ``figures/``. Corpora differ from the papers', so each entry says which claims have to hold, and whether they do. Used by ``lessons reproduce``.
"""

from .entry import Claim, Entry, Outcome, run
from .recorded import Record, recorded
from .registry import entries

__all__ = ["Claim", "Entry", "Outcome", "Record", "entries", "recorded", "run"]
