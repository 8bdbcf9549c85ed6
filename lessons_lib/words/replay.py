"""The windows that training will take, told before they are taken, to check a step by hand.

Every draw of `kernels.window_update` is a function of seed, epoch and place, so the same windows
can be listed as often as one likes. Taught in lesson ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core import check_choice, check_int, shown

if TYPE_CHECKING:
    from ..kernels import WindowState

__all__ = ["OBJECTIVES", "Window", "windows"]

OBJECTIVES = ("negative_sampling", "hierarchical_softmax")


class Window(NamedTuple):
    """One step of training: input rows ``contexts`` (m,) and output rows ``outputs`` (k,) int32,
    which should say ``labels`` (k,) float32, 1 or 0."""

    contexts: np.ndarray
    outputs: np.ndarray
    labels: np.ndarray


def windows(state: WindowState, *, objective: str = "negative_sampling", window: int = 5,
            negatives: int = 5, seed: int = 0, epoch: int = 0) -> Iterator[Window]:
    """Every window of one epoch of `kernels.window_update`, in order; nothing is trained.

    Parameters
    ----------
    state : kernels.WindowState
        For its text, counts and sampling.
    objective, window, negatives, seed, epoch
        As in `kernels.window_update`.

    Yields
    ------
    Window
        Its first output is the centre, the others are negative samples; with "hierarchical_softmax"
        the outputs are the inner nodes on the centre's path.

    Raises
    ------
    TypeError, ValueError
        When the first window is asked for.

    Examples
    --------
    >>> from lessons_lib.kernels import WindowState
    >>> state = WindowState([0, 1], [0, 2], np.zeros((2, 1)), np.zeros((2, 1)), [1, 1], sample=0)
    >>> [(w.contexts.tolist(), w.outputs[0].item()) for w in windows(state)]
    [([1], 0), ([0], 1)]
    """
    from ..kernels import WindowState
    from ..kernels.window_update.state import Settings
    from ..kernels.window_update.windows import drawn_windows, slabs

    if not isinstance(state, WindowState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a "
                        "kernels.WindowState")
    tree = check_choice("objective", objective, OBJECTIVES) == "hierarchical_softmax"
    settings = Settings(
        False, tree, check_int("window", window, high=1000),
        0 if tree else check_int("negatives", negatives, high=255), (1.0, 1.0), False, 0,
        check_int("seed", seed, low=0, high=2**63 - 1),
        check_int("epoch", epoch, low=0, high=2**31 - 1), (0, state.n_pieces), 1, True)
    for part in slabs(state, settings):
        result = drawn_windows(state, settings, part)
        contexts, bounds, rows, labels, begins, ends = (x.cpu().numpy() for x in result[:6])
        for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            yield Window(contexts[bounds[i] : bounds[i + 1]], rows[begin:end], labels[begin:end])
