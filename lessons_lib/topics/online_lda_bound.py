"""The evidence lower bound of LDA in float64: how much of log p(words) the variational posterior
accounts for.

With gamma (documents) and lambda (topics) given, the best responsibilities of tokens are known, and
putting them in leaves one sum over words of log sum_k exp(E log theta_k + E log phi_kw) and two
Kullback-Leibler terms. Each step of `OnlineLDA` in batch mode can only raise it. Taught in lesson
``03_topic_models``.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.compiled import compiled
from .online_lda_kernel import LEAST

__all__ = ["document_bounds", "log_gamma_digamma", "topic_bounds"]

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
UNDERFLOW = 1e-250


@compiled
def log_gamma_digamma(x: float) -> tuple[float, float]:
    """(log Gamma(x), digamma(x)) for x > 0, to about 1e-14: moved up to x >= 10 by their
    recurrences, then Stirling's series; NaN elsewhere.
    """
    # NaN too: the loop below would not end at -1e30, where adding 1 changes nothing
    if not x > 0.0:
        return math.nan, math.nan
    product, terms = 1.0, 0.0
    while x < 10.0:
        product *= x
        terms += 1.0 / x
        x += 1.0
    q = 1.0 / (x * x)
    log = math.log(x)
    series = ((1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q *
                                                            (1 / 1188 - q * 691 / 360360))))) / x)
    slope = (q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q * (1 / 240 - q *
                                                              (1 / 132 - q * 691 / 32760))))))
    return (x - 0.5) * log - x + HALF_LOG_TWO_PI + series - math.log(
        product), log - 0.5 / x - slope - terms


@compiled
def _row_terms(x: np.ndarray, prior: np.ndarray, digamma_total: float,
               mean_log: np.ndarray) -> float:
    """Fill ``mean_log`` with E log p under Dirichlet(x).

    Returns sum (prior - x) E log p + log Gamma(x) - log Gamma(prior).
    """
    terms = 0.0
    for k in range(len(x)):
        log_gamma, digamma = log_gamma_digamma(x[k])
        mean_log[k] = digamma - digamma_total
        terms += (prior[k] - x[k]) * mean_log[k] + log_gamma - log_gamma_digamma(prior[k])[0]
    return terms


@compiled(reorder=True)
def _product(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@compiled
def _log_sum(a: np.ndarray, b: np.ndarray) -> float:
    """log sum exp(a + b), where the plain sum of products would vanish."""
    largest, total = -np.inf, 0.0
    for k in range(len(a)):
        largest = max(largest, a[k] + b[k])
    for k in range(len(a)):
        total += math.exp(a[k] + b[k] - largest)
    return largest + math.log(total)


@compiled
def document_bounds(cells: tuple[np.ndarray, np.ndarray, np.ndarray], gamma: np.ndarray,
                    alpha: np.ndarray, topics: tuple[np.ndarray, np.ndarray], first: int,
                    last: int) -> float:
    """The bound's share of documents ``first`` to ``last``.

    Parameters: cells, CSR as (offsets, slots, counts); gamma (D, K); alpha (K,); topics, for each
    slot E log p(word | topic) and its exponential: (words, K) each.
    """
    offsets, slots, counts = cells
    mean_logs, weights = topics
    own, mean_log, weight = np.empty(len(alpha)), np.empty(len(alpha)), np.empty(len(alpha))
    prior_total = log_gamma_digamma(alpha.sum())[0]
    bound = 0.0
    for d in range(first, last):
        total = 0.0
        for k in range(len(alpha)):
            own[k] = gamma[d, k]
            total += own[k]
        log_gamma, digamma = log_gamma_digamma(total)
        bound += _row_terms(own, alpha, digamma, mean_log) + prior_total - log_gamma
        for k in range(len(alpha)):
            weight[k] = math.exp(mean_log[k])
        for e in range(offsets[d], offsets[d + 1]):
            p = _product(weight, weights[slots[e]])
            bound += counts[e] * (math.log(p)
                                  if p > UNDERFLOW else _log_sum(mean_log, mean_logs[slots[e]]))
    return bound


@compiled
def topic_bounds(excess: np.ndarray, prior: tuple[np.ndarray, float], digamma_total: np.ndarray,
                 mean_logs: np.ndarray, first: int, last: int) -> float:
    """The bound's share of words ``first`` to ``last`` of every topic, without the terms of each
    topic's total; fills rows of ``mean_logs`` (V, K).

    Parameters: excess (V, K), prior (beta (V,), scale) with lambda = beta + scale * excess;
    digamma_total (K,), digamma of each topic's sum.
    """
    beta, scale = prior
    bound = 0.0
    for w in range(first, last):
        prior_term = log_gamma_digamma(beta[w])[0]
        for k in range(excess.shape[1]):
            value = max(beta[w] + scale * excess[w, k], LEAST)
            log_gamma, digamma = log_gamma_digamma(value)
            mean_logs[w, k] = digamma - digamma_total[k]
            bound += (beta[w] - value) * mean_logs[w, k] + log_gamma - prior_term
    return bound
