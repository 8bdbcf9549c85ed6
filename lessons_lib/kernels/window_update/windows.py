"""Windows as lists: which rows of the inputs and which of the outputs each window joins, drawn for
many windows at once.

The same draws as in `draws`, in torch's whole numbers of 64 bits on any device, so that a kernel
finds its work ready and knows nothing of text. A list of rows may come from anywhere: a document's
own row in it makes paragraph vectors. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .draws import GOLDEN, MIXING, epoch_key
from .state import Settings, WindowState

__all__ = ["Windows", "drawn_windows", "slabs"]

ENTRIES_PER_SLAB = 1 << 23  # of the lists: a few hundred megabytes at work


class Windows(NamedTuple):
    """Window i joins ``contexts[context_bounds[i]:context_bounds[i + 1]]``, at least one, to
    ``rows[row_begins[i]:row_ends[i]]`` with ``labels``.

    ``contexts``, ``rows``: int32 row numbers; ``labels``: float32, 1 or 0; the bounds: int64;
    ``rates`` (n,) float32; ``noted`` (n,) bool, whether the loss is asked for.
    """

    contexts: Tensor
    context_bounds: Tensor
    rows: Tensor
    labels: Tensor
    row_begins: Tensor
    row_ends: Tensor
    rates: Tensor
    noted: Tensor


class _Tokens(NamedTuple):
    """The tokens that subsampling leaves: words (int64), places in the text, pieces, numbers of
    draw 0, and keys and counters of the others."""

    words: Tensor
    places: Tensor
    pieces: Tensor
    numbers: Tensor
    counters: Tensor
    borders: Tensor


def slabs(state: WindowState, how: Settings) -> Iterator[tuple[int, int]]:
    """Runs of pieces of text whose lists fit into memory together."""
    first, last = how.pieces
    tokens = max(1, ENTRIES_PER_SLAB // (how.window + how.negatives + 2))
    begin, whole = state.pieces[first], int(state.pieces[last] - state.pieces[first])
    n = max(1, -(-whole // tokens))
    cuts = (np.searchsorted(state.pieces[first:last + 1], begin + whole * np.arange(1, n) // n) +
            first)
    yield from pairwise(np.unique(np.concatenate([[first], cuts, [last]])).tolist())


def _signed(x: int) -> int:
    """A number of 64 bits as torch writes it."""
    return x - (1 << 64) if x >> 63 else x


def _shifted(x: Tensor, by: int) -> Tensor:
    """x >> by without copies of the sign."""
    return (x >> by) & ((1 << (64 - by)) - 1)


def _mixed(x: Tensor) -> Tensor:
    for shift, factor in MIXING:
        x = (x ^ _shifted(x, shift)) * _signed(factor)  # wraps around as numbers without sign do
    return x ^ _shifted(x, 31)


def _there(x: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(x)).to(like.device)


def _kept(state: WindowState, how: Settings, part: tuple[int, int]) -> _Tokens:
    """Draw 0 of every token of some pieces, and the tokens that stay."""
    begin, edges = (int(state.pieces[part[0]]),
                    _there(state.pieces[part[0]:part[1] + 1], state.inputs))
    words = _there(state.words[begin:state.pieces[part[1]]], state.inputs).long()
    pieces = torch.repeat_interleave(edges.diff())
    places = torch.arange(begin, begin + len(words), device=words.device)
    keys = _mixed(torch.arange(*part, device=words.device) * _signed(GOLDEN)
                  + _signed(epoch_key(how.seed, how.epoch)))
    counters = keys[pieces] + (places - edges[pieces]) * (1 + how.negatives) * _signed(GOLDEN)
    numbers = _mixed(counters)
    stay = torch.nonzero(_shifted(numbers, 33) < _there(state.keep, words)[words]).squeeze(1)
    borders = torch.searchsorted(stay, edges - begin)
    return _Tokens(words[stay], places[stay], pieces[stay], numbers[stay], counters[stay], borders)


def _neighbours(words: Tensor, own: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """The words from ``low`` to ``high`` but ``own``, window after window, and their bounds."""
    sizes = high - low - 1
    bounds = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
    window = torch.repeat_interleave(sizes)
    at = low[window] + torch.arange(len(window), device=words.device) - bounds[window]
    return words[at + (at >= own[window])].int(), bounds


def _noise(state: WindowState, centre: Tensor, counters: Tensor,
           negatives: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Each centre and the words drawn against it: rows, labels, begins and ends."""
    n_words, draw = len(state.counts), torch.arange(1, negatives + 1, device=centre.device)
    x = _mixed(counters[:, None] + draw * _signed(GOLDEN))
    column = _shifted(_shifted(x, 32) * n_words, 32)
    word = torch.where((x & 0x7FFFFFFF) < _there(state.thresholds, x)[column], column,
                       _there(state.others, x)[column].long())
    live = torch.cat([torch.ones_like(centre)[:, None] == 1, word != centre[:, None]], dim=1)
    ends = live.sum(1).cumsum(0)
    rows = torch.cat([centre[:, None], word], dim=1)[live].int()
    begins = torch.nn.functional.pad(ends, (1, -1)) if len(ends) else ends
    labels = torch.zeros(len(rows), device=centre.device)
    labels[begins] = 1.0
    return rows, labels, begins, ends


def _paths(state: WindowState, centre: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The paths of all words: nodes, labels, and where those of the centres begin and end."""
    offsets, nodes, bits = (_there(x, centre) for x in state.paths)
    return nodes, 1.0 - bits, offsets[centre], offsets[centre + 1]


def drawn_windows(state: WindowState, how: Settings, part: tuple[int, int]) -> Windows:
    """The windows of some pieces of text in the order of the text, those without a context left
    out."""
    tokens = _kept(state, how, part)
    own = torch.arange(len(tokens.words), device=tokens.words.device)
    half = (((tokens.numbers >> 8) & 0xFFFFFF) * how.window >> 24) + 1
    low = torch.maximum(own - half, tokens.borders[tokens.pieces])
    high = torch.minimum(own + half + 1, tokens.borders[tokens.pieces + 1])
    some = high - low > 1
    contexts = _neighbours(tokens.words, own[some], low[some], high[some])
    centre = tokens.words[some]
    outputs = (_paths(state, centre)
               if how.hierarchical else _noise(state, centre, tokens.counters[some], how.negatives))
    done = tokens.places[some].double() / max(1, len(state.words))
    note = 256 // how.loss_every if how.loss_every else 0
    return Windows(*contexts, *outputs, (how.rates[0] + (how.rates[1] - how.rates[0])
                                         * done).float(), (tokens.numbers[some] & 0xFF) < note)
