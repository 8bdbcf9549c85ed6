"""A start for variational Bayes that does not get stuck: topics begin as the word counts of
clusters of similar documents.

Variational updates let a topic that is ahead win, so from a random start two true topics often
share one found topic for good. Clusters of documents (k-means on an LSA of a sample, the best of
several tries) already tell most topics apart. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core import generator
from ..counts import LSA
from .counts_input import Counts

__all__ = ["clustered_counts"]

SAMPLE, DIMENSIONS, ITERATIONS = 4096, 100, 30
# of k-means: at most so many, and about so many clusters in all, which bounds the time
MOST_TRIES, TRIED_CLUSTERS = 10, 200


def clustered_counts(counts: Counts, n_topics: int, seed: int) -> np.ndarray | None:
    """Word counts of ``n_topics`` clusters of documents, scaled to the whole corpus: (V, K)
    float64; None where there are fewer documents.

    Parameters: counts; n_topics; seed, of the sample of at most SAMPLE documents, of LSA and of
    k-means. Documents are compared by square roots of counts, weighted by the logarithm of inverse
    document frequency.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    rng = generator(seed)
    filled = np.flatnonzero(np.diff(counts.matrix.indptr))
    chosen = np.sort(rng.choice(filled, size=min(SAMPLE, len(filled)), replace=False))
    dim = min(2 * n_topics, DIMENSIONS, counts.n_words, len(chosen))
    if len(chosen) < n_topics or n_topics == 1 or dim < 2:
        return None
    sample, tries = counts.matrix[chosen], min(MOST_TRIES, max(1, TRIED_CLUSTERS // n_topics))
    # sums of several threads come in any order, and a fit has to repeat itself
    with threadpool_limits(1):
        vectors = LSA(dim, n_iter=2, seed=int(rng.integers(2**31))).fit_transform(_weighted(sample))
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        means = KMeans(n_topics, n_init=tries, max_iter=ITERATIONS,
                       random_state=int(rng.integers(2**31)))
        cluster = means.fit(vectors).labels_
    members = sparse.csr_matrix((np.ones(len(chosen)), (cluster, np.arange(len(chosen)))),
                                shape=(n_topics, len(chosen)))
    return (members @ sample).toarray().T * (len(filled) / len(chosen))


def _weighted(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    frequency = np.bincount(matrix.indices, minlength=matrix.shape[1])
    # a word that is everywhere keeps a trace: no row is zero
    weight = np.log((1 + matrix.shape[0]) / (1 + frequency)) + 1e-3
    return sparse.csr_matrix((np.sqrt(matrix.data) * weight[matrix.indices], matrix.indices,
                              matrix.indptr), shape=matrix.shape)
