"""Figures and tables of papers, measured again: what was printed beside what comes out here.

An `Entry` holds a paper's numbers and its claims, and knows how to measure and to draw; `run` does
it at a scale and writes a picture and a record, `run_each` does it for many. Corpora and models
differ from the papers', so each entry says which claims hold, and if not, why. Used by ``lessons
reproduce``.
"""

from .entry import Claim, Entry
from .recorded import Record, entries, headline, recorded
from .runs import Finished, Outcome, run, run_each

__all__ = ["Claim", "Entry", "Finished", "Outcome", "Record", "entries", "headline", "recorded",
           "run", "run_each"]
