"""Window updates: every word of a text learns to predict its neighbours, or they it, by steps of gradient descent on a few rows of two matrices.

One operation for skip-gram and CBOW, with negative sampling and with hierarchical softmax: a window is a set of input rows (the contexts, or
their mean) and a set of output rows with labels (the centre and some noise, or the nodes on its path). Taught in ``04_word2vec``, its vector code
in ``15_gpu_kernels``.
"""

from __future__ import annotations

import numpy as np

from ...core import check_choice, check_float, check_int, shown
from ..dispatch import Operation
from .huffman import Paths, huffman_paths
from .state import Settings, WindowState

__all__ = ["OPERATION", "Paths", "WindowState", "huffman_paths", "window_update"]

OPERATION = Operation("window_update", kernel=False, without="it is not written yet", processor="vector code")
WIDEST, MOST_NEGATIVES = 1000, 255


def window_update(state: WindowState, *, architecture: str = "skip_gram", objective: str = "negative_sampling", window: int = 5, negatives: int = 5,
                  learning_rate: float | tuple[float, float] = 0.025, share_error: bool = False, loss_every: int = 16, seed: int = 0,
                  epoch: int = 0, pieces: tuple[int, int] | None = None, threads: int = 1, deterministic: bool = True,
                  backend: str | None = None) -> tuple[float, int]:
    """Go over the text once and update ``state.inputs`` and ``state.outputs``; returns a sum of losses and the number of pairs in it.

        o += lr Σ_c (y − σ(o·c)) c          c += lr Σ_o (y − σ(o·c)) o          c: a context (skip-gram) or the mean of all (CBOW)
        y = 1 for the centre word, 0 for each of K words drawn from counts^α; or 1 − bit for each node on the centre's Huffman path

    A window is one step: its products are taken before anything moves, its negatives serve all its contexts, and a negative that is the centre is
    left out. Half the window's width is drawn from 1 … ``window``; subsampling removes words before windows are laid.
    Parameters: state, a `WindowState`; architecture, "skip_gram" or "cbow"; objective, "negative_sampling" or "hierarchical_softmax"; learning_rate,
    one number > 0, or the ones at the first and after the last token of the text, with a straight line between; share_error, CBOW only: each
    context gets its share 1/m of the error, which is the gradient, instead of the whole, which is what word2vec and gensim do; loss_every, note
    the loss in one window of so many (1 to 256; 0: never); seed in [0, 2^63) and epoch in [0, 2^31), which decide every draw; pieces, first and
    last + 1, to work on a part of ``state.n_pieces``; threads; deterministic: the result is bitwise the same for the same number of threads, of
    which each has its own copy of both matrices, merged now and then; otherwise threads write into the same matrices as they come; backend,
    "cpu" or "reference".
    Raises TypeError, ValueError (settings), BackendUnavailable. [mikolov2013distributed; ji2016parallelizing]

    >>> import numpy as np
    >>> state = WindowState([0, 1, 0, 1], [0, 4], np.full((2, 3), 0.1), np.zeros((2, 3)), [2, 2])
    >>> loss, pairs = window_update(state, loss_every=1)
    """
    if not isinstance(state, WindowState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a WindowState")
    hierarchical = check_choice("objective", objective, ("negative_sampling", "hierarchical_softmax")) == "hierarchical_softmax"
    cbow = check_choice("architecture", architecture, ("skip_gram", "cbow")) == "cbow"
    for name, value in (("share_error", share_error), ("deterministic", deterministic)):
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected True or False")
    how = Settings(cbow, hierarchical, check_int("window", window, high=WIDEST),
                   0 if hierarchical else check_int("negatives", negatives, high=MOST_NEGATIVES), _rates(learning_rate),
                   bool(share_error), check_int("loss_every", loss_every, low=0, high=256), check_int("seed", seed, low=0, high=2**63 - 1),
                   check_int("epoch", epoch, low=0, high=2**31 - 1), _part(pieces, state.n_pieces), check_int("threads", threads),
                   bool(deterministic))
    _check_outputs(state, hierarchical)
    return OPERATION.run("window_update", state.inputs, state.outputs, state, how, backend=backend)


def _rates(learning_rate: float | tuple[float, float]) -> tuple[float, float]:
    both = learning_rate if isinstance(learning_rate, (tuple, list)) and len(learning_rate) == 2 else (learning_rate, learning_rate)
    return check_float("learning_rate", both[0], low=0.0, open_low=True), check_float("learning_rate", both[1], low=0.0)


def _part(pieces: tuple[int, int] | None, n: int) -> tuple[int, int]:
    if pieces is None:
        return 0, n
    first = check_int("pieces[0]", pieces[0], low=0, high=n)
    return first, check_int("pieces[1]", pieces[1], low=first, high=n)


def _check_outputs(state: WindowState, hierarchical: bool) -> None:
    rows, needed = len(state.outputs), len(state.counts) - hierarchical
    if rows < needed:
        raise ValueError(f"outputs has {rows} rows; expected {needed}, one for each {'inner node' if hierarchical else 'word'}")
