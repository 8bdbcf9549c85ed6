"""GloVe steps: for every two words that were seen together, their vectors move until their product
tells the logarithm of the count.

Weighted least squares on log counts, one count after the other, with AdaGrad's own rate for every
number. Counts lie in tiles of a few words times a few contexts, in the order of a Latin square:
tiles that are worked on side by side share no row. Taught in ``05_glove_and_fasttext``, its vector
code in ``15_gpu_kernels``.
"""

from __future__ import annotations

from ...core import check_float, check_int, check_rate, check_threads, shown
from ..contents import part
from ..dispatch import Operation
from .state import GloveState, Settings, shifts

__all__ = ["OPERATION", "GloveState", "glove_step"]

OPERATION = Operation("glove_step", processor="vector code")


def glove_step(state: GloveState, *, learning_rate: float = 0.05, clip: float = 100.0,
               seed: int = 0, epoch: int = 0, rounds: tuple[int, int] | None = None,
               threads: int = 1, backend: str | None = None) -> tuple[float, int]:
    """Go over the counts once and update ``state.words`` and ``state.contexts`` in place.

    Parameters
    ----------
    state : GloveState
    learning_rate : float > 0, default 0.05
        η stands inside of the sums G: with G = 1 at the beginning this is AdaGrad with rate 1 and
        1 / η² at the beginning.
    clip : float > 0, default 100
        The largest part of a gradient.
    seed, epoch : int >= 0, default 0
        Decide the order of the rounds.
    rounds : (first, last + 1), default None
        Work on a part of the ``state.groups`` rounds of an epoch; None: on all.
    threads : int >= 1, default 1
        Without influence on the result.
    backend : "triton", "cpu" or "reference", default None

    Returns
    -------
    loss, left_out : float, int
        Σ ½ f diff², each before its own step, and how many counts were left out because their diff
        is NaN or infinite.

    Raises
    ------
    TypeError, ValueError
        Settings out of range, or a state whose tensors were replaced.
    BackendUnavailable
        The backend that was named cannot run.

    Notes
    -----
    ::

        diff = w·w̃ + b + b̃ − log X      f = min(1, X / x_max)^exponent
        u = η clip(f diff w̃)            w −= u / √G         G += u²
        likewise w̃ with w, and b, b̃ with 1

    A step of both rows uses their old values. [pennington2014glove; duchi2011adaptive]

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.full((2, 4), 0.1)
    >>> state = GloveState([0, 1, 2], [1, 0], [3.0, 3.0], rows, rows)
    >>> loss, left_out = glove_step(state)
    >>> loss > glove_step(state)[0], left_out
    (True, 0)
    """
    if not isinstance(state, GloveState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a GloveState")
    seed, epoch = check_int("seed", seed, low=0), check_int("epoch", epoch, low=0)
    state.check_sound()
    first, last = part("rounds", rounds, state.groups)
    how = Settings(rate=check_rate("learning_rate", learning_rate),
                   clip=check_float("clip", clip, low=0.0, open_low=True),
                   shifts=tuple(shifts(state.groups, seed, epoch)[first:last]),
                   threads=check_threads(threads))
    return OPERATION.run("glove_step", state.words, state, how, backend=backend)
