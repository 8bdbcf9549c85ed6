"""Subword updates: a word is the mean of its own row and the rows of its parts, and what it learns goes to all of them.

One operation for skip-gram and CBOW, with negative sampling and with hierarchical softmax, as in window updates; but every window has one input, made
of many rows, and its outputs are met once, however often they are asked for. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from ...core import shown
from ..dispatch import Operation
from ..window_update.settings import check_sound, checked_settings
from .state import SubwordState

__all__ = ["OPERATION", "SubwordState", "subword_update"]

OPERATION = Operation("subword_update", kernel=False, processor="vector code",
                      without="gathering some twenty scattered rows for each word waits for memory, not for arithmetic")


def subword_update(state: SubwordState, *, architecture: str = "skip_gram", objective: str = "negative_sampling", window: int = 5,
                   negatives: int = 5, learning_rate: float | tuple[float, float] = 0.05, share_error: bool = False, loss_every: int = 16,
                   seed: int = 0, epoch: int = 0, pieces: tuple[int, int] | None = None, threads: int = 1, deterministic: bool = True,
                   backend: str | None = None) -> tuple[float, int]:
    """Go over the text once and update ``state.inputs`` and ``state.outputs``; returns a sum of losses and the number of pairs in it.

        x = mean of the n rows r of the centre (skip-gram) or of all contexts (CBOW)
        o += lr w (y − σ(o·x)) x          r += lr Σ_o w (y − σ(o·x)) o
        y = 1 for the words to guess, all contexts or the centre, 0 for words drawn from counts^α; or 1 − bit for the nodes on their paths

    A window is one step: its products are taken before anything moves. With m words to guess K m negatives are drawn; each stands for all of those
    that it is not itself, with weight w = their share. An output that is asked for more than once has the sum of the weights and the mean label.
    With CBOW a token's rows are read when it comes within ``window`` of the centre and changed when it has left; between, its own sum follows all
    that it learns. Half the window's width is drawn from 1 … ``window``; subsampling removes words before windows are laid.
    Parameters: state, a `SubwordState`; share_error, each row gets 1/n of the error, which is the gradient, instead of the whole, as in fastText; all
    others as in `window_update`. Raises TypeError, ValueError (settings), BackendUnavailable. [bojanowski2017enriching; ji2016parallelizing]

    >>> import numpy as np
    >>> state = SubwordState([0, 1, 0, 1], [0, 4], np.full((3, 3), 0.1), np.zeros((2, 3)), [2, 2], rows=[0, 2, 1, 2], row_offsets=[0, 2, 4])
    >>> loss, pairs = subword_update(state, loss_every=1)
    """
    if not isinstance(state, SubwordState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a SubwordState")
    how = checked_settings(state, architecture=architecture, objective=objective, window=window, negatives=negatives, learning_rate=learning_rate,
                           share_error=share_error, loss_every=loss_every, seed=seed, epoch=epoch, pieces=pieces, threads=threads,
                           deterministic=deterministic)
    check_sound(state, how.pieces, rows=1)
    state.check_lists()
    return OPERATION.run("subword_update", state.inputs, state.outputs, state, how, backend=backend)
