"""MaxSim: how well a text answers a question when both keep a vector for each token.

Each token of the question looks for the nearest token of the text, and the cosines of these pairs
are added. A product of matrices holds far more numbers than the scores need, so the fast paths keep
the largest of each text and forget the product. Taught in ``17_search``, its kernel by the rules of
``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..autograd import result_type
from ..contents import check_finite
from ..dispatch import Operation, backend_name
from ..inputs import as_vectors, check_same_width
from ..segment_moments import as_offsets, check_offsets

__all__ = ["OPERATION", "maxsim"]

OPERATION = Operation("maxsim", dot=True)


def maxsim(query: Any, tokens: Any, offsets: Any, *, backend: str | None = None) -> Tensor:
    """Score of every text for a question: the best product of each token of the question, added.

    Parameters
    ----------
    query : (m, d) floating, finite
        A row for each token of the question.
    tokens : (n, d) floating, finite, of query's type
        Those of all texts, one text after the other.
    offsets : (texts + 1,) ints from 0 to n that never fall
        Text i has the rows ``tokens[offsets[i]:offsets[i + 1]]``.
    backend : {"triton", "cpu", "reference"}, optional

    Returns
    -------
    Tensor, (texts,)
        float32 (float64 for float64). 0 for a text without a token. No gradient.

    Raises
    ------
    ValueError
        Shapes, offsets, NaN or infinity.
    TypeError
        Types.
    BackendUnavailable
        The named backend cannot run here.

    Notes
    -----
    score_i = Σ_a max_{offsets[i] <= t < offsets[i + 1]} q_a · x_t. With vectors of norm 1 it lies
    in [-m, m]. Memory beyond the result: blocks of 4 million products; the kernel keeps its
    products in registers. It gives each text to one program, which suits many short texts.
    [khattab2020colbert]

    Examples
    --------
    >>> maxsim([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.5, 0.5], [0.0, -1.0]], [0, 2, 3]).tolist()
    [1.5, -1.0]
    """
    tokens = as_vectors("tokens", tokens, min_rows=0)
    query = as_vectors("query", query, min_rows=0)
    check_same_width(query, tokens, names=("query", "tokens"))
    offsets = as_offsets(offsets, device=tokens.device)
    return _maxsim(query.detach(), tokens.detach(), offsets, backend_name(backend))


@torch.library.custom_op("lessons_lib::maxsim", mutates_args=())
def _maxsim(query: Tensor, tokens: Tensor, offsets: Tensor, backend: str) -> Tensor:
    check_offsets(offsets, len(tokens), of="tokens")
    check_finite("query", query)
    check_finite("tokens", tokens)
    return OPERATION.run("maxsim", query, tokens, offsets, backend=backend or None)


@_maxsim.register_fake
def _shape(query: Tensor, tokens: Tensor, offsets: Tensor, backend: str) -> Tensor:
    return query.new_empty(len(offsets) - 1, dtype=result_type(query))
