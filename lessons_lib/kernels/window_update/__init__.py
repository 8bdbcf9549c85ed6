"""Window updates: every word of a text learns to predict its neighbours, or they it, by steps of gradient descent on a few rows of two matrices.

One operation for skip-gram and CBOW, with negative sampling and with hierarchical softmax: a window is a set of input rows (the contexts, or
their mean) and a set of output rows with labels (the centre and some noise, or the nodes on its path). Taught in ``04_word2vec``, its vector code
in ``15_gpu_kernels``.
"""

from __future__ import annotations

from ...core import shown
from ..dispatch import Operation
from .huffman import Paths, huffman_paths
from .launching import limit
from .settings import check_sound, checked_settings
from .state import WindowState

__all__ = ["OPERATION", "Paths", "WindowState", "huffman_paths", "window_update"]

OPERATION = Operation("window_update", processor="vector code")


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
    which each has its own copy of both matrices, merged now and then; otherwise threads write into the same matrices as they come, and so do
    the programs of the kernel, which can do nothing else; backend, "triton", "cpu" or "reference".
    Raises TypeError, ValueError (settings), BackendUnavailable. [mikolov2013distributed; ji2016parallelizing]

    >>> import numpy as np
    >>> state = WindowState([0, 1, 0, 1], [0, 4], np.full((2, 3), 0.1), np.zeros((2, 3)), [2, 2])
    >>> loss, pairs = window_update(state, loss_every=1)
    """
    if not isinstance(state, WindowState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a WindowState")
    how = checked_settings(state, architecture=architecture, objective=objective, window=window, negatives=negatives, learning_rate=learning_rate,
                           share_error=share_error, loss_every=loss_every, seed=seed, epoch=epoch, pieces=pieces, threads=threads,
                           deterministic=deterministic)
    check_sound(state, how.pieces, rows=len(state.counts))
    return OPERATION.run("window_update", state.inputs, state.outputs, state, how, backend=backend, limit=limit(state, how))
