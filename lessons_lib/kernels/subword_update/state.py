"""What a subword update changes and what it needs to know: rows of words and of their parts, and for each word the list of its rows.

Everything else, text, chance and tree, is that of window updates. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core import check_int, shown
from ..window_update import WindowState
from ..window_update.state import Settings, whole

__all__ = ["SubwordState", "most_draws"]


@dataclass
class SubwordState(WindowState):
    """The model and the text of a subword update; `subword_update` changes ``inputs`` and ``outputs`` in place.

    Parameters: as of `WindowState`, but ``inputs`` is (R, d), a row for each word and each part of words; rows and row_offsets (V + 1,): the vector
    of word w is the mean of the inputs ``rows[row_offsets[w]:row_offsets[w + 1]]``, at least one; a part that a word holds twice counts twice.
    Attributes: as of `WindowState`; ``rows`` int32, ``row_offsets`` int64. Raises TypeError, ValueError.
    """

    rows: Any = field(kw_only=True)
    row_offsets: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        self.rows, self.row_offsets = whole("rows", self.rows, np.int32), whole("row_offsets", self.row_offsets, np.int64)
        super().__post_init__()

    def _check_shapes(self, n_inputs: int) -> None:
        check_int("number of rows", len(self.inputs))
        super()._check_shapes(len(self.inputs))
        self.check_lists()

    def check_lists(self) -> None:
        """Check that the lists of rows are whole, also before each use: numbers become addresses. Raises ValueError."""
        n_inputs, n_rows, bounds = len(self.counts), len(self.inputs), self.row_offsets
        if bounds.shape != (n_inputs + 1,) or bounds[0] != 0 or bounds[-1] != len(self.rows) or (np.diff(bounds) < 1).any():
            raise ValueError(f"row_offsets={shown(bounds)} are wrong; expected {n_inputs + 1} whole numbers that begin with 0, rise by >= 1 for each "
                             f"word and end with {len(self.rows)}")
        if self.rows.ndim != 1 or self.rows.dtype != np.int32 or not 0 <= self.rows.min() <= self.rows.max() < n_rows:
            raise ValueError(f"rows reach from {self.rows.min()} to {self.rows.max()}; expected ints in [0, {n_rows - 1}]")


def most_draws(how: Settings) -> int:
    """The noise words of a window with as many words to guess as there can be."""
    return how.negatives * (1 if how.cbow else 2 * how.window)
