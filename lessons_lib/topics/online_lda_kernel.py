"""The compiled loops under `OnlineLDA`: topics of documents with the words held fixed, then counts
of words with the documents held fixed.

A document copies the rows of its own words once, topic by topic, and then iterates on that small
table in float32, where every loop runs along words or topics and becomes vector instructions; it
stops on its own. Counts are collected word by word in a fixed order, so that threads change no bit.
Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.compiled import compiled

__all__ = ["FLOOR", "HEADROOM", "LEAST", "add_expected", "exp_digamma", "expected_words",
           "infer_documents", "order_by_word"]

f32 = np.float32
# a row of exp(digamma) is scaled to about 2^56 and cut at 2^-100: products of two stay in float32's
# range
HEADROOM, FLOOR = 56.0, -100.0
CEILING = 60.0  # guards the exponent where a vanishing prior has used up all digits of a float
LEAST = 1e-30                            # a Dirichlet parameter below it counts as this
HALF_LOG_TWO_PI, UNDERFLOW = 0.5 * math.log(2.0 * math.pi), 1e-250
LANES = 16  # floats in the widest vector; rows that are worked on are padded to it
TINY = f32(1e-35)  # keeps a product of two vanishing weights away from slow, subnormal numbers
LOG2_E, SHIFT = f32(1 / np.log(2.0)), f32(6.0)
# exp(digamma(y + 1/2)) = y + E1/y + E3/y^3 + E5/y^5 + ...
E1, E3, E5 = f32(1 / 24), f32(-37 / 5760), f32(10313 / 2903040)
P1, P2, P3, P4, P5, P6 = (f32(np.log(2.0)**n / d)
                          for n, d in enumerate((1, 2, 6, 24, 120, 720), start=1))


@compiled(reorder=True)
def exp_digamma(x: np.ndarray, power: float, out: np.ndarray) -> None:
    """Fill ``out`` with 2^power exp(digamma(x)), cut below at about 2^FLOOR: float32, x >= LEAST.

    exp(digamma) needs no logarithm where x is large: it is x - 1/2 + 1/(24 (x - 1/2)) - …; smaller
    x are moved up by six first, by digamma(x) = digamma(x + 6) - sum_i 1 / (x + i). Relative error
    < 1e-6 (1 + 1/x).
    """
    scale = f32(power)
    for i in range(len(x)):
        v = x[i]
        small = v < SHIFT
        # the six terms in pairs: x (x + 5), (x + 1) (x + 4), (x + 2) (x + 3)
        a = v * (v + f32(5.0))
        b, c = a + f32(4.0), a + f32(6.0)
        terms = (f32(2.0) * v + f32(5.0)) * ((b + a) * c + a * b) / (a * b * c)
        y = (v + SHIFT if small else v) - f32(0.5)
        q = f32(1.0) / (y * y)
        moved = y * (f32(1.0) + q * (E1 + q * (E3 + q * E5)))
        t = min(max(scale - (terms if small else f32(0.0)) * LOG2_E, f32(FLOOR)), f32(CEILING))
        whole = np.floor(t + f32(0.5))
        r = t - whole
        fraction = f32(1.0) + r * (P1 + r * (P2 + r * (P3 + r * (P4 + r * (P5 + r * P6)))))
        # 2^whole, written as the exponent of a float
        bits = (np.int32(whole) + np.int32(127)) << np.int32(23)
        out[i] = moved * fraction * np.int32(bits).view(np.float32)


@compiled
def _power(largest: float) -> float:
    """The power of two that brings exp(digamma(largest)) to about 2^HEADROOM."""
    return HEADROOM - (np.log2(largest) if largest >= 1.0 else -1.0 / (largest * np.log(2.0)))


@compiled(reorder=True)
def _row_weights(x: np.ndarray, out: np.ndarray) -> None:
    largest = f32(0.0)
    for k in range(len(x)):
        largest = max(largest, x[k])
    exp_digamma(x, np.ceil(_power(largest)), out)


# ------------------------------------------------------------------------------ documents


@compiled(reorder=True)
def _mix(words: np.ndarray, weight: np.ndarray, out: np.ndarray) -> None:
    """out = weight @ words, four topics at a time: words (K', n), weight (>= K',), out (n,)."""
    for j in range(len(out)):
        out[j] = TINY
    for k in range(0, len(words), 4):
        b0, b1, b2, b3 = words[k], words[k + 1], words[k + 2], words[k + 3]
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        for j in range(len(out)):
            out[j] += (w0 * b0[j] + w1 * b1[j]) + (w2 * b2[j] + w3 * b3[j])


@compiled(reorder=True)
def _collect(words: np.ndarray, ratio: np.ndarray, out: np.ndarray) -> None:
    """out = words @ ratio, four topics at a time: words (K', n), ratio (n,), out (>= K',)."""
    for k in range(0, len(words), 4):
        b0, b1, b2, b3 = words[k], words[k + 1], words[k + 2], words[k + 3]
        s0, s1, s2, s3 = f32(0.0), f32(0.0), f32(0.0), f32(0.0)
        for j in range(len(ratio)):
            r = ratio[j]
            s0 += r * b0[j]
            s1 += r * b1[j]
            s2 += r * b2[j]
            s3 += r * b3[j]
        out[k], out[k + 1], out[k + 2], out[k + 3] = s0, s1, s2, s3


@compiled
def _copy(source: np.ndarray, target: np.ndarray) -> None:
    """Copy by a plain loop: Numba takes seconds to compile an assignment of slices."""
    for i in range(len(source)):
        target[i] = source[i]


@compiled
def _gather(slots: np.ndarray, table: np.ndarray, words: np.ndarray) -> None:
    """Copy the rows of a document's words, topic by topic; what is padding becomes 0."""
    n_topics = table.shape[1]
    words[:, len(slots) :] = f32(0.0)
    words[n_topics:] = f32(0.0)
    for j in range(len(slots)):
        row = table[slots[j]]
        for k in range(n_topics):
            words[k, j] = row[k]


@compiled(reorder=True)
def _ratios(counts: np.ndarray, mixed: np.ndarray, ratio: np.ndarray) -> None:
    for j in range(len(ratio)):
        ratio[j] = counts[j] / mixed[j]


@compiled(reorder=True)
def _step(alpha: np.ndarray, weight: np.ndarray, collected: np.ndarray, gamma: np.ndarray) -> float:
    """gamma = alpha + weight * collected. Returns the sum of absolute changes."""
    change = f32(0.0)
    for k in range(len(alpha)):
        value = alpha[k] + weight[k] * collected[k]
        change += abs(value - gamma[k])
        gamma[k] = value
    return change


@compiled
def infer_documents(cells: tuple[np.ndarray, np.ndarray, np.ndarray], table: np.ndarray,
                    priors: tuple[np.ndarray, int, float],
                    result: tuple[np.ndarray, np.ndarray, np.ndarray], first: int,
                    last: int) -> int:
    """The E step on documents ``first`` to ``last``: gamma = alpha + weight * sum_w ratio_w table_w
    until it stands still. Returns all steps made.

    Parameters: cells, CSR as (offsets, slots, counts), a slot being a row of ``table`` (words, K);
    priors, (alpha (K,), most steps per document, tolerance of the mean change); result: gamma (D,
    K), which holds the start; weight (D, K), scaled exp(E log theta); ratio (nnz,), n / sum_k
    weight table, all written here in float32.
    """
    offsets, slots, counts = cells
    alpha, most, tolerance = priors
    gamma, weights, ratios = result
    n_topics, steps, longest = len(alpha), 0, 0
    for d in range(first, last):
        longest = max(longest, offsets[d + 1] - offsets[d])
    width, padded = -(-longest // LANES) * LANES, -(-n_topics // LANES) * LANES
    mixed = np.empty(width, dtype=np.float32)
    ratio = np.empty(width, dtype=np.float32)
    count = np.empty(width, dtype=np.float32)
    own = np.empty(padded, dtype=np.float32)
    weight = np.empty(padded, dtype=np.float32)
    collected = np.empty(padded, dtype=np.float32)
    for d in range(first, last):
        begin, end = offsets[d], offsets[d + 1]
        if begin == end:
            _copy(alpha, gamma[d])
            weights[d] = f32(0.0)
            continue
        n = -(-(end - begin) // LANES) * LANES
        words = np.empty((-(-n_topics // 4) * 4, n), dtype=np.float32)
        _gather(slots[begin:end], table, words)
        _copy(counts[begin:end], count)
        count[end - begin : n] = f32(0.0)
        _copy(gamma[d], own)
        own[n_topics:] = alpha[0]  # padding that never is the largest
        _row_weights(own, weight)
        for _ in range(most):
            _mix(words, weight, mixed[:n])
            _ratios(count, mixed, ratio[:n])
            _collect(words, ratio[:n], collected)
            change = _step(alpha, weight, collected, own)
            _row_weights(own, weight)
            steps += 1
            if change < tolerance * n_topics:
                break
        _mix(words, weight, mixed[:n])
        _ratios(count, mixed, ratio[:n])
        _copy(ratio[: end - begin], ratios[begin:end])
        _copy(own[:n_topics], gamma[d])
        _copy(weight[:n_topics], weights[d])
    return steps


# ------------------------------------------------------------------------------ words


@compiled
def expected_words(used: np.ndarray, excess: np.ndarray, prior: tuple[np.ndarray, float],
                   topic_factor: np.ndarray, table: np.ndarray, first: int, last: int) -> None:
    """Fill rows ``first`` to ``last`` of ``table`` with exp(E log p(word | topic)) of the words
    ``used``, each row scaled by a power of two; lambda = beta + scale * excess, with prior = (beta
    (V,), scale); topic_factor (K,), exp(-digamma(sum of a topic's lambda)) over its largest value.
    """
    beta, scale = prior
    n_topics = excess.shape[1]
    padded = -(-n_topics // LANES) * LANES
    row, weight = np.empty(padded, dtype=np.float32), np.empty(padded, dtype=np.float32)
    for u in range(first, last):
        own, start = excess[used[u]], beta[used[u]]
        for k in range(n_topics):
            row[k] = max(start + scale * own[k], LEAST)
        row[n_topics:] = row[0]
        _row_weights(row, weight)
        for k in range(n_topics):
            table[u, k] = weight[k] * topic_factor[k]


@compiled
def order_by_word(offsets: np.ndarray, slots: np.ndarray,
                  n_used: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort CSR entries by column: (word offsets, entries, their documents), documents rising."""
    starts = np.zeros(n_used + 1, dtype=np.int64)
    for e in range(len(slots)):
        starts[slots[e] + 1] += 1
    for u in range(n_used):
        starts[u + 1] += starts[u]
    filled = starts[:-1].copy()
    entries, documents = np.empty(len(slots), dtype=np.int64), np.empty(len(slots), dtype=np.int32)
    for d in range(len(offsets) - 1):
        for e in range(offsets[d], offsets[d + 1]):
            place = filled[slots[e]]
            entries[place], documents[place] = e, d
            filled[slots[e]] += 1
    return starts, entries, documents


@compiled(reorder=True)
def add_expected(by_word: tuple[np.ndarray, np.ndarray, np.ndarray],
                 result: tuple[np.ndarray, np.ndarray], table: np.ndarray,
                 goal: tuple[np.ndarray, np.ndarray, float], first: int, last: int) -> np.ndarray:
    """The M step on rows ``first`` to ``last`` of ``table``: add ``step`` times each word's
    expected counts to ``excess``; goal = (used words, excess (V, K), step), the others of
    `order_by_word` and `infer_documents`. Returns what was added per topic: (K,) float64.
    """
    starts, entries, documents = by_word
    weights, ratios = result
    used, excess, step = goal
    n_topics = table.shape[1]
    total, row = np.zeros(n_topics), np.empty(n_topics)
    for u in range(first, last):
        for k in range(n_topics):
            row[k] = 0.0
        for place in range(starts[u], starts[u + 1]):
            r, weight = ratios[entries[place]], weights[documents[place]]
            for k in range(n_topics):
                row[k] += r * weight[k]
        own, words = excess[used[u]], table[u]
        for k in range(n_topics):
            before = own[k]
            own[k] = f32(before + step * (row[k] * words[k]))
            total[k] += np.float64(own[k]) - before             # what float32 kept of it
    return total


# ------------------------------------------------------------------------------ the bound
# With gamma and lambda given, the best responsibilities of tokens are known, and putting them in
# leaves one sum over words of log sum_k exp(E log theta_k + E log phi_kw) and two Kullback-Leibler
# terms, in float64. Each step in batch mode can only raise it.


@compiled
def log_gamma_digamma(x: float) -> tuple[float, float]:
    """(log Gamma(x), digamma(x)) for x > 0, to about 1e-14, by Stirling's series; else NaN."""
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
    """Fill ``mean_log`` = E log p; returns sum (prior - x) E log p + log Gamma(x)/Gamma(prior)."""
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
    """The bound's share of documents ``first`` to ``last``; ``topics`` has for each slot of
    ``cells`` E log p(word | topic) and its exponential, (words, K) each.
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
    """The bound's share of words ``first`` to ``last``, lambda = beta + scale * excess, without the
    terms of each topic's total, whose digamma is given; fills rows of ``mean_logs`` (V, K).
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
