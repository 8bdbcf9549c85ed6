"""The E step of `OnlineLDA` on the workers of a Dask client.

A document's mixture depends on the topics and on its own words alone, so each shard of documents
travels with the rows of the topics that it needs, and comes back with what the M step counts from.
These are fewer numbers than the sums over a shard (words times topics) where a step sees few
documents, and added up in one place and order they give the topics of one machine, to the last
bit. Used where one machine is too small.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..text.shards import merged
from .counts_input import runs
from .online_lda_kernel import infer_documents
from .online_lda_state import Batch

__all__ = ["infer_in_shards"]


class _Documents(NamedTuple):
    """Cells of some documents, the rows of the topics that they point to, where gamma begins."""

    offsets: np.ndarray
    slots: np.ndarray
    counts: np.ndarray
    table: np.ndarray
    gamma: np.ndarray


def infer_in_shards(client: Any, n_shards: int, batch: Batch, table: np.ndarray,
                    priors: tuple[np.ndarray, int, float],
                    result: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Fill ``result`` as `infer_documents` does, on about ``n_shards`` shards of the documents."""
    cuts = runs(batch.offsets, -(-len(batch.slots) // n_shards))
    parts = []
    for first, last in cuts:
        cells = slice(batch.offsets[first], batch.offsets[last])
        used, slots = np.unique(batch.slots[cells], return_inverse=True)
        parts.append(_Documents(batch.offsets[first : last + 1] - cells.start,
                                slots.astype(np.int32), batch.counts[cells], table[used],
                                result[0][first:last]))
    whole = merged(client, partial(_infer, priors=priors), parts, _follow)
    for ours, theirs in zip(result, whole, strict=True):
        ours[:] = theirs


def _infer(part: _Documents, priors: tuple[np.ndarray, int, float]) -> tuple[np.ndarray, ...]:
    # what comes over the network may be read-only
    gamma = np.array(part.gamma)
    result = gamma, np.empty_like(gamma), np.empty(len(part.slots), dtype=np.float32)
    cells = tuple(np.require(x, requirements="W")
                  for x in (part.offsets, part.slots, part.counts))
    infer_documents(cells, np.require(part.table, requirements="W"), priors, result, 0,
                    len(part.offsets) - 1)
    return result


def _follow(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The documents of ``b`` after those of ``a``."""
    return tuple(map(np.concatenate, zip(a, b, strict=True)))
