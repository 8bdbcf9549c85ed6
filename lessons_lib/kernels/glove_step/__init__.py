"""GloVe steps: for every two words that were seen together, their vectors move until their product tells the logarithm of the count.

Weighted least squares on log counts, one count after the other, with AdaGrad's own rate for every number. Counts lie in tiles of a few
words times a few contexts, in the order of a Latin square: tiles that are worked on side by side share no row. Taught in
``05_glove_and_fasttext``, its vector code in ``15_gpu_kernels``.
"""

from __future__ import annotations

from ...core import check_float, check_int, shown
from ..dispatch import Operation
from .state import GloveState, Settings, shifts

__all__ = ["OPERATION", "GloveState", "glove_step"]

OPERATION = Operation("glove_step", processor="vector code")


def glove_step(state: GloveState, *, learning_rate: float = 0.05, clip: float = 100.0, seed: int = 0, epoch: int = 0,
               rounds: tuple[int, int] | None = None, threads: int = 1, backend: str | None = None) -> tuple[float, int]:
    """Go over the counts once and update ``state.words`` and ``state.contexts``; returns the loss and the number of counts left out.

        diff = w·w̃ + b + b̃ − log X          loss = Σ ½ f diff²          f = min(1, X / x_max)^exponent
        u = η clip(f diff w̃)                w −= u / √G                 G += u²              likewise w̃ with w, and b, b̃ with 1

    The loss of a count is the one before its own step. A step of both rows uses their old values. A count whose diff is NaN or infinite is left out.
    Parameters: state, a `GloveState`; learning_rate η > 0, which stands inside of the sums G: with G = 1 at the beginning this is AdaGrad with
    rate 1 and 1 / η² at the beginning; clip > 0, the largest part of a gradient; seed and epoch >= 0, which decide the order of the rounds; rounds,
    first and last + 1, to work on a part of the ``state.groups`` rounds of an epoch; threads, without influence on the result; backend, "triton",
    "cpu" or "reference". Raises TypeError, ValueError (settings), BackendUnavailable. [pennington2014glove; duchi2011adaptive]

    >>> import numpy as np
    >>> state = GloveState([0, 1, 2], [1, 0], [3.0, 3.0], np.full((2, 4), 0.1), np.full((2, 4), 0.1))
    >>> loss, left_out = glove_step(state)
    >>> loss > glove_step(state)[0], left_out
    (True, 0)
    """
    if not isinstance(state, GloveState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a GloveState")
    order = shifts(state.groups, check_int("seed", seed, low=0), check_int("epoch", epoch, low=0))
    state.check_sound()
    first, last = _pair(rounds, state.groups)
    first = check_int("rounds[0]", first, low=0, high=state.groups)
    last = check_int("rounds[1]", last, low=first, high=state.groups)
    how = Settings(check_float("learning_rate", learning_rate, low=0.0, open_low=True),
                   check_float("clip", clip, low=0.0, open_low=True), tuple(order[first:last]), check_int("threads", threads))
    return OPERATION.run("glove_step", state.words, state, how, backend=backend)


def _pair(rounds: tuple[int, int] | None, n: int) -> tuple[int, int]:
    if rounds is None:
        return 0, n
    if not isinstance(rounds, (tuple, list)) or len(rounds) != 2:
        raise TypeError(f"rounds={shown(rounds)} is {type(rounds).__name__}; expected (first, last + 1), or None for all {n}")
    return tuple(rounds)
