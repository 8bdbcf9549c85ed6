"""What is hidden from the model: 15 % of a row's tokens, drawn anew each time the row is read
(Devlin et al. 2019; Liu et al. 2019).

Of the chosen places 80 % become [MASK], 10 % a random token, 10 % stay as they are. A draw is a
hash of seed, row and place, not the next number of a stream: row 1,000,000 is masked the same way
whenever, wherever and beside whatever other rows it is read. Taught in lesson
``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .tokenizer import SPECIAL

__all__ = ["Masked", "mask_rows", "uniforms"]

MASK = SPECIAL.index("[MASK]")
_LOW = 0xFFFFFFFF
_STEP = 0x9E3779B9                                # 2^32 divided by the golden ratio


def _mix(x: Any) -> Any:
    """Scatter 32-bit numbers (an int, or a tensor of int64): the constants of Wellons' lowbias32,
    whose avalanche was measured.
    """
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & _LOW
    x = ((x ^ (x >> 15)) * 0x846CA68B) & _LOW
    return x ^ (x >> 16)


def _hashes(seed: int, purpose: int, rows: Tensor, n: int) -> Tensor:
    """32-bit numbers (rows, n) int64, one for each row number and place."""
    start = 0
    for part in (seed & _LOW, (seed >> 32) & _LOW, purpose):
        start = _mix((start + part + _STEP) & _LOW)
    x = _mix((rows & _LOW) ^ start)
    x = _mix((x + (rows >> 32)) & _LOW)[:, None]
    return _mix((x + _STEP * (1 + torch.arange(n, device=rows.device))) & _LOW)


def uniforms(seed: int, purpose: int, rows: Tensor, n: int) -> Tensor:
    """Numbers in [0, 1) of shape (rows, n), float64: the same for the same seed, purpose, row
    number (int64) and place on every device.
    """
    return _hashes(seed, purpose, rows, n).double() / 2.0**32


@dataclass(frozen=True)
class Masked:
    """Rows to read: ``ids`` (rows, length) as the model sees them; ``positions`` and ``labels``
    (rows, n), the chosen places and what stood there; ``weights`` (rows, n), 0 where a row had
    fewer than n tokens to hide, else 1.
    """

    ids: Tensor
    positions: Tensor
    labels: Tensor
    weights: Tensor


def mask_rows(ids: Tensor, rows: Tensor, *, n: int, seed: int, vocabulary: int,
              goes_on: Tensor | None = None) -> Masked:
    """Choose ``n`` places in each row of ids and hide them; ``rows`` (rows,) int64, the number of
    each in the run, decides its draws. Special tokens are never chosen; with ``goes_on``
    (vocabulary,) bool the tokens of a word are chosen together or not at all.
    """
    draws = _hashes(seed, 0, rows, ids.shape[1])
    special = ids < len(SPECIAL)
    if goes_on is None:
        places = torch.arange(ids.shape[1], device=ids.device)
        keys = (draws << 16) | places             # the place settles a tie
    else:
        words = (~goes_on[ids] | special).cumsum(1) - 1
        words = words.clamp(min=0)                # a row may begin within a word
        keys = (draws.gather(1, words) << 16) | words
    keys = keys.masked_fill(special, torch.iinfo(torch.int64).max)
    order = keys.argsort(dim=1, stable=True)
    positions = order[:, :n]
    weights = ~special.gather(1, positions)
    # a word of which only a part would be chosen is left alone
    if goes_on is not None and order.shape[1] > n:
        cut = keys.gather(1, order[:, n : n + 1])
        weights &= keys.gather(1, positions) != cut
    labels = ids.gather(1, positions)
    seen = torch.where(weights, _replaced(labels, rows, seed=seed, vocabulary=vocabulary), labels)
    return Masked(ids.scatter(1, positions, seen), positions, labels, weights.float())


def _replaced(labels: Tensor, rows: Tensor, *, seed: int, vocabulary: int) -> Tensor:
    """What stands in place of the chosen tokens: [MASK] 80 %, any token 10 %, itself 10 %."""
    fate = uniforms(seed, 1, rows, labels.shape[1])
    draws = uniforms(seed, 2, rows, labels.shape[1])
    other = len(SPECIAL) + (draws * (vocabulary - len(SPECIAL))).long()
    return torch.where(fate < 0.8, MASK, torch.where(fate < 0.9, other, labels))
