"""Figures and tables of papers, measured again: what was printed beside what comes out here, by one command.

An `Entry` names paper and item, holds the printed numbers, and knows how to measure and draw; `run` does it at a scale and writes picture and
numbers, at the laptop's scale under ``figures/``; `run_each` does it for many. Corpora and models differ from the papers', so each entry says which
claims have to hold, whether they do, and if not, why. Used by ``lessons reproduce``.
"""

from .entry import Claim, Entry, Outcome, run
from .headline import headline
from .recorded import Record, recorded
from .registry import entries
from .runs import Finished, run_each

__all__ = ["Claim", "Entry", "Finished", "Outcome", "Record", "entries", "headline", "recorded", "run", "run_each"]
