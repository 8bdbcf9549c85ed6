"""Window updates on the processor: compiled loops over the text, vector code for the rows, threads that share it.

On one thread every window sees all that was learned before it; how several work together is told in `side_by_side`. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from torch import Tensor

from ..side_by_side import Matrices, over_text
from .state import Settings, WindowState, on_host

__all__ = ["window_update"]


def window_update(inputs: Tensor, outputs: Tensor, state: WindowState, how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the number of these pairs."""
    if inputs.is_cuda:
        return on_host(window_update, inputs, outputs, state, how)
    from .room import plan_of, room_for, source_of
    from .training import train

    (source, _owners), plan = source_of(state, how), plan_of(how)
    rooms = [room_for(state, how, inputs.shape[1]) for _ in range(how.threads)]
    shared = inputs.numpy(), outputs.numpy()

    def work(matrices: Matrices, room: object, part: tuple[int, int]) -> tuple[float, int]:
        return train(source, *(x.ctypes.data for x in matrices), inputs.shape[1], plan, room[0], *part)

    return over_text(work, shared, rooms, state, how)
