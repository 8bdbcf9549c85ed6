"""The formula of MaxSim, as one would write it on paper: text by text.

Any type, also float64; float32 for half types. Taught in ``17_search``.
"""

from __future__ import annotations

from itertools import pairwise

from jaxtyping import Float, Int64
from torch import Tensor

from ..autograd import result_type


def maxsim(query: Float[Tensor, "m d"], tokens: Float[Tensor, "n d"],
           offsets: Int64[Tensor, " bounds"]) -> Float[Tensor, " bounds-1"]:
    """Σ_a max_t q_a · x_t over the tokens of each text."""
    exact = query.to(result_type(query))
    scores = exact.new_zeros(len(offsets) - 1)
    for i, (start, stop) in enumerate(pairwise(offsets.tolist())):
        if start < stop:
            products = exact @ tokens[start:stop].to(exact.dtype).T
            scores[i] = products.amax(dim=1).sum()
    return scores
