"""MaxSim in blocks of whole texts: one product, and the largest of each stretch of it.

A block has about four million products, whatever the number of texts. Runs on any device. Taught in
``17_search``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..autograd import result_type

BLOCK = 1 << 22                 # products that are kept at a time: 16 MB in float32


def maxsim(query: Tensor, tokens: Tensor, offsets: Tensor) -> Tensor:
    """Texts that fit into a block together; a longer one has a block to itself."""
    kind, bounds = result_type(query), offsets.cpu()
    scores = torch.zeros(len(offsets) - 1, dtype=kind, device=query.device)
    question, most, first = query.to(kind).T.contiguous(), max(1, BLOCK // max(1, len(query))), 0
    while first < len(scores):
        fits = int(torch.searchsorted(bounds, bounds[first] + most, right=True)) - 1
        last = max(first + 1, fits)
        rows = tokens[int(bounds[first]) : int(bounds[last])]
        sizes = bounds[first : last + 1].diff().to(query.device)
        text = torch.repeat_interleave(sizes)[:, None].expand(-1, len(query))
        best = torch.full((last - first, len(query)), -torch.inf, dtype=kind, device=query.device)
        best.scatter_reduce_(0, text, rows.to(kind) @ question, "amax")
        scores[first:last] = torch.where(sizes > 0, best.sum(dim=1), 0)
        first = last
    return scores
