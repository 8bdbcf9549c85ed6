"""Updates of rows on the processor: one compiled loop over the text, vector code for the rows,
threads that share it.

The loop gets numbers and addresses of arrays, which live here as long as it runs. On one thread
every window sees all that was learned before it. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import Tensor

from ..layout import padded
from .state import PIECE, Settings, WindowState
from .threads import Matrices, over_text
from .training import SEATS, Plan, Tables, Text, Workspace, train

__all__ = ["learn", "on_host", "window_update"]

Arrays = dict[str, np.ndarray]
BLOCK = 64  # windows whose outputs are drawn together
MOST_ASKED = 1 << 11  # outputs of windows on parts, which may be many, that are drawn together
_NONE = (np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.float32))


def window_update(inputs: Tensor, outputs: Tensor, state: WindowState,
                  how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the
    number of these pairs."""
    return on_host(learn, inputs, outputs, state, how)


def on_host(work: Callable[..., tuple[float, int]], inputs: Tensor, outputs: Tensor,
            state: WindowState, how: Settings) -> tuple[float, int]:
    """``work`` on both matrices; if they lie on a GPU, on copies, which are then copied back."""
    if not inputs.is_cuda:
        return work(inputs, outputs, state, how)
    copies = padded(inputs.cpu()), padded(outputs.cpu())
    result = work(*copies, state, how)
    inputs.copy_(copies[0])
    outputs.copy_(copies[1])
    return result


def learn(inputs: Tensor, outputs: Tensor, state: WindowState, how: Settings, *,
          lists: tuple[np.ndarray, np.ndarray] = _NONE[:2],
          tags: tuple[np.ndarray, np.ndarray, np.ndarray] = (_NONE[1], _NONE[0], _NONE[0]),
          documents: Tensor | None = None, parts: int = 1,
          touched: Callable[[int, int], np.ndarray] | None = None) -> tuple[float, int]:
    """The one loop of all updates of rows, on one thread or several.

    ``lists``: bounds and rows of each word's list (``how.subwords``); ``tags``: row numbers of
    ``documents``, and where those of each piece begin and end; ``documents`` None: the rows of
    inputs behind those of words and edge, if there are tags; ``parts``: inputs that stand side by
    side in an output; ``touched``: as in `over_text`.
    """
    columns, n_words, with_tags = inputs.shape[1], len(state.counts), tags[0] is not _NONE[1]
    tree = tuple(state.paths) if how.hierarchical else _NONE
    noise = state.thresholds.astype(np.uint64) << np.uint64(32) | state.others.astype(np.uint64)
    owned = (state.words, state.pieces, state.keys(how), state.keep, noise, *tree, *lists, *tags)
    owned = tuple(np.ascontiguousarray(x) for x in owned)
    text = Text(*(x.ctypes.data for x in owned))
    text = text._replace(keys=text.keys - 8 * how.pieces[0])
    near = how.subwords and how.cbow
    most = int(np.diff(state.paths.offsets).max()) if how.hierarchical else 1 + how.negatives
    if how.subwords and not how.cbow:
        most *= 2 * how.window
    plan = Plan(hierarchical=how.hierarchical, window=how.window, negatives=how.negatives,
                draws=how.draws, first_rate=how.rates[0], rate_span=how.rates[1] - how.rates[0],
                share_error=how.share_error, note=256 // how.loss_every if how.loss_every else 0,
                block=max(4, min(BLOCK, MOST_ASKED // (most + 3))) if how.subwords else BLOCK,
                subwords=how.subwords, near=near, around=how.neighbours and not how.subwords,
                each=not (how.combine or how.subwords), mean=how.combine == "mean" or how.subwords,
                frozen=how.frozen, parts=parts, edge=n_words, n_words=n_words,
                n_tokens=max(1, len(state.words)))
    most_tags = int((tags[2] - tags[1]).max(initial=0)) if with_tags else 0
    most_rows = int(np.diff(lists[0]).max()) if how.subwords else 0
    contexts = max(2 * how.window + 1 + most_tags, most_rows)
    spaces = [_workspace(plan, columns, outputs=most + 3, contexts=contexts, seats=len(outputs))
              for _ in range(how.threads)]

    def work(matrices: Matrices, space: tuple[Workspace, Arrays],
             piece: tuple[int, int]) -> tuple[float, int]:
        words, rows = (x.ctypes.data for x in matrices)
        behind = words + 4 * columns * (n_words + 1) if with_tags else 0
        there = behind if documents is None else documents.data_ptr()
        return train(text, plan, space[0], Tables(words, there, rows, columns), *piece)

    return over_text(work, (inputs.numpy(), outputs.numpy()), spaces, state, how, touched)


def _workspace(plan: Plan, columns: int, *, outputs: int, contexts: int,
               seats: int) -> tuple[Workspace, Arrays]:
    """Where one thread works, with so many outputs and inputs of a window, and the arrays that it
    is. Most are longer than asked for: vectors are written whole."""
    tokens, block = PIECE + 8, plan.block * outputs + 16
    arrays: Arrays = {name: np.empty(tokens, np.int32)
                      for name in ("kept", "places", "halves", "noted", "repeats")}
    arrays |= {"rows": np.empty(tokens, np.int64), "rates": np.empty(tokens, np.float32)}
    arrays |= {name: np.zeros(block, np.int64) for name in ("starts", "outputs")}
    arrays |= {name: np.zeros(block, np.float32) for name in ("labels", "weights")}
    arrays |= {name: np.zeros(contexts + 16, np.int64) for name in ("contexts", "tags")}
    arrays["gains"] = np.zeros((contexts if plan.each else 1) * outputs + 64, np.float32)
    wide = columns * plan.parts
    arrays |= {name: np.zeros(wide, np.float32) for name in ("hidden", "error", "none")}
    for name in ("hidden", "error"):
        arrays[f"to_{name}"] = np.array([arrays[name].ctypes.data])
    spare = arrays["spare"] = np.zeros((contexts if plan.each else 0, columns), np.float32)
    arrays["copies"] = np.zeros(len(spare) + 16, np.int64)
    arrays["copies"][:len(spare)] = spare.ctypes.data + 4 * columns * np.arange(len(spare))
    arrays |= {"seen": np.full(SEATS, -1, np.int32), "serial": np.zeros(1, np.int32)}
    slots = 2 * plan.window + 2 if plan.near else 0
    arrays["seats"] = np.zeros(seats if plan.subwords else 1, np.int32)
    arrays |= {name: np.zeros((slots, columns), np.float32) for name in ("sums", "learned")}
    at = {name: arrays[name].ctypes.data for name in Workspace._fields if name != "slots"}
    return Workspace(**at, slots=slots), arrays
