"""Subword updates: a word is the mean of its own row and the rows of its parts, and what it learns
goes to all of them.

One operation for skip-gram and CBOW, with negative sampling and with hierarchical softmax, as in
window updates; but every window has one input, made of many rows, and its outputs are met once,
however often they are asked for. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core import check_int, shown
from ..contents import whole
from ..dispatch import Operation
from ..window_update.state import WindowState, check_sound, checked_settings

__all__ = ["OPERATION", "SubwordState", "subword_update"]

OPERATION = Operation("subword_update", kernel=False, processor="vector code",
                      without="gathering some twenty scattered rows for each word waits for "
                      "memory, not for arithmetic")


@dataclass
class SubwordState(WindowState):
    """The model and the text of a subword update; `subword_update` changes ``inputs`` and
    ``outputs`` in place.

    Parameters
    ----------
    words, offsets, outputs, counts, sample, noise_exponent, device : as of `WindowState`
    inputs : (R, d) numbers, copied
        A row for each word and each part of words.
    rows : (n,) ints in [0, R)
    row_offsets : (V + 1,) ints
        The vector of word w is the mean of the inputs ``rows[row_offsets[w]:row_offsets[w + 1]]``,
        at least one; a part that a word holds twice counts twice.

    Attributes
    ----------
    rows, row_offsets : int32, int64

    Raises
    ------
    TypeError, ValueError
        As of `WindowState`, and where the lists of rows are wrong.
    """

    rows: Any = field(kw_only=True)
    row_offsets: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        self.rows = whole("rows", self.rows, np.int32)
        self.row_offsets = whole("row_offsets", self.row_offsets, np.int64)
        super().__post_init__()

    def _check_shapes(self, n_inputs: int) -> None:
        check_int("number of rows", len(self.inputs))
        super()._check_shapes(len(self.inputs))
        self.check_lists()

    def check_lists(self) -> None:
        """Check that the lists of rows are whole, also before each use: numbers become addresses.

        Raises
        ------
        ValueError
            They are not.
        """
        n_words, n_rows, bounds = len(self.counts), len(self.inputs), self.row_offsets
        ends = bounds.shape == (n_words + 1,) and bounds[0] == 0 and bounds[-1] == len(self.rows)
        if not ends or (np.diff(bounds) < 1).any():
            raise ValueError(
                f"row_offsets={shown(bounds)} are wrong; expected {n_words + 1} whole numbers that "
                f"begin with 0, rise by >= 1 for each word and end with {len(self.rows)}")
        plain = self.rows.ndim == 1 and self.rows.dtype == np.int32
        if not plain or not 0 <= self.rows.min() <= self.rows.max() < n_rows:
            raise ValueError(f"rows reach from {self.rows.min()} to {self.rows.max()}; expected "
                             f"ints in [0, {n_rows - 1}]")


def subword_update(state: SubwordState, *, architecture: str = "skip_gram",
                   objective: str = "negative_sampling", window: int = 5, negatives: int = 5,
                   learning_rate: float | tuple[float, float] = 0.05, share_error: bool = False,
                   loss_every: int = 16, seed: int = 0, epoch: int = 0,
                   pieces: tuple[int, int] | None = None, threads: int = 1,
                   deterministic: bool = True, backend: str | None = None) -> tuple[float, int]:
    """Go over the text once and update ``state.inputs`` and ``state.outputs`` in place.

    Parameters
    ----------
    state : SubwordState
    architecture, objective, window, negatives, learning_rate, loss_every, seed, epoch, pieces, \
threads, deterministic, backend : as in `window_update`, but ``learning_rate`` 0.05
    share_error : bool, default False
        Each row gets 1/n of the error, which is the gradient, instead of the whole, as in fastText.

    Returns
    -------
    loss, pairs : float, int
        The sum of −log p over the pairs whose loss was noted, and their number.

    Raises
    ------
    TypeError, ValueError
        Settings out of range, or a state whose arrays were changed.
    BackendUnavailable
        The backend that was named cannot run.

    Notes
    -----
    ::

        x = mean of the n rows r of the centre (skip-gram) or of all contexts (CBOW)
        o += lr w (y − σ(o·x)) x        r += lr Σ_o w (y − σ(o·x)) o
        y = 1 for the words to guess, all contexts or the centre, 0 for words drawn from counts^α;
            or 1 − bit for the nodes on their paths

    With m words to guess K m negatives are drawn; each stands for all of those that it is not
    itself, with weight w = their share. An output that is asked for more than once has the sum of
    the weights and the mean label. With CBOW a token's rows are read when it comes within
    ``window`` of the centre and changed when it has left; between, its own sum follows all that it
    learns. [bojanowski2017enriching; ji2016parallelizing]

    Examples
    --------
    >>> import numpy as np
    >>> words, rows = [0, 1, 0, 1], np.full((3, 3), 0.1)
    >>> lists = {"rows": [0, 2, 1, 2], "row_offsets": [0, 2, 4]}
    >>> state = SubwordState(words, [0, 4], rows, np.zeros((2, 3)), [2, 2], **lists)
    >>> loss, pairs = subword_update(state, loss_every=1)
    """
    if not isinstance(state, SubwordState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a SubwordState")
    how = checked_settings(
        state, architecture=architecture, objective=objective, window=window, negatives=negatives,
        learning_rate=learning_rate, share_error=share_error, loss_every=loss_every, seed=seed,
        epoch=epoch, pieces=pieces, threads=threads, deterministic=deterministic, subwords=True)
    check_sound(state, how.pieces, rows=1)
    state.check_lists()
    return OPERATION.run("subword_update", state.inputs, state.outputs, state, how, backend=backend)
