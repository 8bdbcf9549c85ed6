"""How well a topic model predicts words it has not seen, and how well its topics agree with true
ones.

Held-out words are scored by document completion: half of a document finds its topics, the other
half is predicted. Topics have no order, so found and true ones are paired first, by the assignment
of smallest total variation. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..core import check_array, generator
from .counts_input import Counts, as_counts

__all__ = ["TopicMatch", "completion_perplexity", "log_likelihood", "match_topics",
           "split_documents"]

_AT_ONCE = 1 << 22                               # numbers gathered at a time, 32 MB
_MOST_TOKENS = 1 << 27                           # that are dealt one by one, at about 50 bytes each


def split_documents(data: Any, *, seed: int = 0) -> tuple[Counts, Counts]:
    """Deal the tokens of each document at random into two halves, which add up to ``data``.

    Of an odd number of tokens the first half gets one more, so that a scored token has always a
    seen one beside it. Every split of a document is equally likely.

    Parameters
    ----------
    data : (D, V) counts, text.Corpus or Counts
    seed : int >= 0, default 0

    Returns
    -------
    (seen, scored), Counts with the documents and columns of ``data``

    Raises
    ------
    TypeError, ValueError
        As `as_counts`; more than 2^27 tokens, because each of them is dealt by itself.
    """
    counts = data if isinstance(data, Counts) else as_counts(data, fitting=False)
    if counts.n_tokens > _MOST_TOKENS:
        raise ValueError(f"data holds {counts.n_tokens:,} tokens; expected <= {_MOST_TOKENS:,}, "
                         "which are dealt one by one. Pass fewer documents")
    rng = generator(seed)
    word_ids = np.repeat(counts.matrix.indices, counts.matrix.data)
    lengths = counts.document_lengths
    document = np.repeat(np.arange(counts.n_documents), lengths)
    order = np.lexsort((rng.random(len(word_ids)), document))  # shuffled inside each document
    begins = np.cumsum(lengths) - lengths
    place = np.arange(len(word_ids)) - begins[document]
    first = place < ((lengths + 1) // 2)[document]

    def half(chosen: np.ndarray) -> Counts:
        cells = (document[chosen], word_ids[order[chosen]])
        ones = np.ones(len(cells[0]), dtype=np.int32)
        matrix = sparse.coo_matrix((ones, cells), shape=counts.matrix.shape)
        return Counts(matrix.tocsr(), counts.tokens)

    return half(first), half(~first)


def completion_perplexity(model: Any, counts: Counts, *, seed: int = 0) -> float:
    """exp(-mean log p(w)) of the scored halves; see `TopicModel.perplexity`.

    Parameters
    ----------
    model : TopicModel
        Infers topics from the seen half of each document.
    counts : Counts
        With the model's columns.
    seed : int >= 0, default 0
        Of the split.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        No document has two tokens; a wrong seed.
    """
    seen, scored = split_documents(counts, seed=seed)
    if scored.n_tokens == 0:
        raise ValueError(f"data: none of {counts.n_documents} documents has 2 known tokens; "
                         "expected >= 1, one token to infer from and one to score")
    likelihood = log_likelihood(scored, model._infer(seen, model.seed), model.components_)
    return float(np.exp(-likelihood / scored.n_tokens))


def log_likelihood(data: Any, doc_topic: np.ndarray, components: np.ndarray) -> float:
    """Sum over all tokens of log sum_k p(k | document) p(word | k), in nats.

    Parameters
    ----------
    data : (D, V) counts, text.Corpus or Counts
    doc_topic : (D, K) floats >= 0
    components : (K, V) floats >= 0

    Returns
    -------
    float
        -inf where a token has probability 0.

    Raises
    ------
    TypeError, ValueError
        Shapes that do not fit; negative probabilities.
    """
    counts = data if isinstance(data, Counts) else as_counts(data, fitting=False)
    components = check_array("components", components, columns=counts.n_words)
    doc_topic = check_array("doc_topic", doc_topic, columns=len(components))
    if len(doc_topic) != counts.n_documents:
        raise ValueError(f"doc_topic has {len(doc_topic)} rows, data has {counts.n_documents} "
                         "documents; expected one row for each document")
    for name, array in (("doc_topic", doc_topic), ("components", components)):
        if array.size and array.min() < 0:
            raise ValueError(f"{name}[{int(np.argmax((array < 0).any(axis=1)))}] holds "
                             f"{array.min():g}; expected probabilities >= 0")
    entries = counts.matrix.tocoo()
    word_topic = np.ascontiguousarray(components.T)
    size = max(1, _AT_ONCE // max(1, len(components)))
    total = 0.0
    for start in range(0, entries.nnz, size):
        part = slice(start, start + size)
        probability = np.einsum("nk,nk->n", doc_topic[entries.row[part]],
                                word_topic[entries.col[part]])
        with np.errstate(divide="ignore"):
            total += float(entries.data[part] @ np.log(probability))
    return total


@dataclass(frozen=True, eq=False)
class TopicMatch:
    """Which found topic stands for which true one.

    Parameters
    ----------
    order : (K_true,) int64
        The found topic paired with each true one, -1 where fewer were found.
    distance : (K_true,) float64
        Their total variation, 0 (equal) to 1 (no word in common, or unpaired).
    """

    order: np.ndarray
    distance: np.ndarray


def match_topics(found: np.ndarray, true: np.ndarray) -> TopicMatch:
    """Pair found topics with true ones so that the sum of total variations is smallest.

    Parameters
    ----------
    found : (K, V) floats
    true : (K_true, V) floats
        Rows are distributions over the same words.

    Returns
    -------
    TopicMatch

    Raises
    ------
    TypeError, ValueError
        Different columns; no rows.

    Notes
    -----
    Total variation: 1/2 sum_w |p(w) - q(w)|.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    true = check_array("true", true, min_rows=1)
    found = check_array("found", found, columns=true.shape[1], min_rows=1)
    variation = 0.5 * cdist(found, true, metric="cityblock")
    rows, columns = linear_sum_assignment(variation)
    order, distance = np.full(len(true), -1, dtype=np.int64), np.ones(len(true))
    order[columns], distance[columns] = rows, variation[rows, columns]
    return TopicMatch(order, distance)
