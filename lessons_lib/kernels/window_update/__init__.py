"""Window updates: every word of a text learns to predict its neighbours, or they it, by steps of
gradient descent on a few rows of two matrices.

One operation for skip-gram and CBOW, with negative sampling and with hierarchical softmax: a window
is a list of input rows (the contexts, or their mean) and a list of output rows with labels (the
centre and some noise, or the nodes on its path). Subword and document updates are the same loop
with other lists. Taught in ``04_word2vec``, its vector code in ``15_gpu_kernels``.
"""

from __future__ import annotations

from ...core import shown
from ..dispatch import Operation
from .huffman import Paths, huffman_paths
from .launching import limit
from .state import WindowState, check_sound, checked_settings

__all__ = ["OPERATION", "Paths", "WindowState", "huffman_paths", "window_update"]

OPERATION = Operation("window_update", processor="vector code")


def window_update(state: WindowState, *, architecture: str = "skip_gram",
                  objective: str = "negative_sampling", window: int = 5, negatives: int = 5,
                  learning_rate: float | tuple[float, float] = 0.025, share_error: bool = False,
                  loss_every: int = 16, seed: int = 0, epoch: int = 0,
                  pieces: tuple[int, int] | None = None, threads: int = 1,
                  deterministic: bool = True, backend: str | None = None) -> tuple[float, int]:
    """Go over the text once and update ``state.inputs`` and ``state.outputs`` in place.

    Parameters
    ----------
    state : WindowState
    architecture : "skip_gram" or "cbow", default "skip_gram"
    objective : "negative_sampling" or "hierarchical_softmax", default "negative_sampling"
    window : int in [1, 1000], default 5
        Words to each side; half the width of a window is drawn from 1 … ``window``.
    negatives : int in [1, 255], default 5
        Words drawn against a centre, for all its contexts; one that is the centre is left out.
    learning_rate : float > 0 or two of them, default 0.025
        At the first and after the last token of the text, with a straight line between.
    share_error : bool, default False
        CBOW only: each context gets its share 1/m of the error, which is the gradient, instead of
        the whole, which is what word2vec and gensim do.
    loss_every : int in [0, 256], default 16
        Note the loss in one window of so many; 0: never.
    seed : int in [0, 2^63), default 0
    epoch : int in [0, 2^31), default 0
        Both decide every draw.
    pieces : (first, last + 1), default None
        Work on a part of ``state.n_pieces``; None: on all.
    threads : int >= 1, default 1
    deterministic : bool, default True
        The result is bitwise the same for the same number of threads, of which each has its own
        copy of both matrices, merged now and then. Otherwise threads write into the same matrices
        as they come, and so do the programs of the kernel, which can do nothing else.
    backend : "triton", "cpu" or "reference", default None

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

        o += lr Σ_c (y − σ(o·c)) c      c += lr Σ_o (y − σ(o·c)) o
        c: a context (skip-gram) or the mean of all (CBOW)
        y = 1 for the centre word, 0 for each of K words drawn from counts^α;
            or 1 − bit for each node on the centre's Huffman path

    A window is one step: its products are taken before anything moves. Subsampling removes words
    before windows are laid. [mikolov2013distributed; ji2016parallelizing]

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.full((2, 3), 0.1)
    >>> state = WindowState([0, 1, 0, 1], [0, 4], rows, np.zeros((2, 3)), [2, 2])
    >>> loss, pairs = window_update(state, loss_every=1)
    """
    if not isinstance(state, WindowState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a WindowState")
    how = checked_settings(state, architecture=architecture, objective=objective, window=window,
                           negatives=negatives, learning_rate=learning_rate,
                           share_error=share_error, loss_every=loss_every, seed=seed, epoch=epoch,
                           pieces=pieces, threads=threads, deterministic=deterministic)
    check_sound(state, how.pieces, rows=len(state.counts))
    return OPERATION.run("window_update", state.inputs, state.outputs, state, how, backend=backend,
                         limit=limit(state, how))
