"""How much work an operation cannot avoid: floating-point operations and bytes by its sizes.

A multiplication and an addition count as two operations; bytes are every input read once and every
result written once. Divided by what the machine can do (`ceilings`), they give the floor of a time,
before any code is written. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """What one call cannot avoid.

    Parameters
    ----------
    flops, bytes : float
        Floating-point operations, and bytes read or written.
    """

    flops: float
    bytes: float

    @property
    def intensity(self) -> float:
        """Operations per byte: the horizontal axis of a roofline."""
        return self.flops / self.bytes


def info_nce(n: int, m: int, d: int, *, itemsize: int, backward: bool = True) -> Work:
    """n queries against m keys: one product for the value, two more for both gradients."""
    products, passes = (3, 2) if backward else (1, 1)
    return Work(products * 2 * n * m * d, passes * (n + m) * d * itemsize)


def uniformity(n: int, d: int, *, itemsize: int, backward: bool = False,
               one_pass: bool = False) -> Work:
    """All pairs of n points; the value needs half of a product. With ``one_pass`` value and
    gradient come from the same half blocks, each used for both sides of its pairs (the processor);
    otherwise whole rows are made once more and multiplied (the GPU, which needs no exchange between
    programs)."""
    half = n * n * d                            # a whole product is 2 n n d
    halves, passes = (3 if one_pass else 5, 2) if backward else (1, 1)
    return Work(halves * half, passes * n * d * itemsize)


def knn(n_queries: int, n: int, d: int, k: int, *, itemsize: int) -> Work:
    """Every query against every row; a value and a row number (8 bytes) per neighbour."""
    n_read = n if n_queries == n else n + n_queries
    return Work(2 * n_queries * n * d, n_read * d * itemsize + n_queries * k * (itemsize + 8))


def maxsim(m: int, n: int, d: int, n_texts: int, *, itemsize: int) -> Work:
    """m tokens of a question against n of the texts; a score for each text."""
    return Work(2 * m * n * d, (m + n) * d * itemsize + n_texts * 12)


def lda_sweep(n_tokens: int, n_words: int, n_topics: int) -> Work:
    """Two sums, two products and a running sum for every topic of every token. Words and topics are
    read, topics and counts written once. Counts of words are read again for every token; what of
    that the caches save depends on the text, so it is not in the floor."""
    return Work(5 * n_tokens * n_topics, 4 * (3 * n_tokens + 2 * n_words * n_topics))


def mean_covariance(n: int, d: int, *, itemsize: int) -> Work:
    """Half of the product of x with itself, the covariance being symmetric."""
    return Work(n * d * d, n * d * itemsize + d * d * itemsize)


def pool(n_texts: int, length: int, d: int, *, itemsize: int, layers: int = 1) -> Work:
    """Mean over the real tokens, ``length`` per text, of one layer or of the mean of two."""
    numbers = n_texts * length * d
    return Work((2 * layers - 1) * numbers, layers * numbers * itemsize + n_texts * d * itemsize)


def segment_moments(n_tokens: int, d: int, n_segments: int, *, itemsize: int) -> Work:
    """Sums of vectors, unit vectors and norms, in one read; float32 and a count per segment."""
    return Work(5 * n_tokens * d, n_tokens * d * itemsize + n_segments * ((2 * d + 1) * 4 + 8))


def mean_cosine(n: int, d: int, *, itemsize: int) -> Work:
    """The sum of unit vectors instead of all pairs."""
    return Work(2 * n * d, n * d * itemsize)


def alignment(n: int, d: int, *, itemsize: int, backward: bool = False) -> Work:
    """Difference, square, sum per number; the gradient of one side is the negative of the other."""
    steps, passes = (5, 4) if backward else (3, 2)
    return Work(steps * n * d, passes * n * d * itemsize)


def cosent(n: int, *, itemsize: int) -> Work:
    """A sort (n log n comparisons); similarity and label are read, one gradient written."""
    return Work(n * math.log2(max(n, 2)), 3 * n * itemsize)


def glove_step(n: int, d: int) -> Work:
    """For each of n counts a product and two AdaGrad steps of about five operations per number. The
    context's numbers and sums of squares are read and written for every count; the word's stay in a
    cache while its counts follow each other."""
    return Work(12 * n * d, n * (16 * d + 16))


def ranks(rows: int, n: int, *, itemsize: int) -> Work:
    """A sort of each row; values read and ranks written."""
    return Work(rows * n * math.log2(max(n, 2)), 2 * rows * n * itemsize)


def window_update(n_windows: float, inputs: float, outputs: float, d: int) -> Work:
    """For each input and output row of a window a product and two updates. Every row is read and
    written once; ``inputs`` and ``outputs`` are rows of a window on average. What the caches save
    of frequent rows depends on the text and is not counted."""
    return Work(6 * n_windows * inputs * outputs * d, 8 * n_windows * (inputs + outputs) * d)


def document_update(n_windows: float, inputs: float, outputs: float, d: int) -> Work:
    """As `subword_update`; the document's row stays in a cache while its words go by."""
    return Work(n_windows * (2 * inputs + 6 * outputs) * d,
                8 * n_windows * (inputs - 1 + outputs) * d)


def subword_update(n_windows: float, rows: float, outputs: float, d: int) -> Work:
    """For each window the mean of ``rows`` rows, which then move; two updates for each output."""
    return Work(n_windows * (2 * rows + 6 * outputs) * d, 8 * n_windows * (rows + outputs) * d)


def flow_epoch(n: int, d: int, *, levels: int, depth: int, width: int, itemsize: int = 4) -> Work:
    """The products of every coupling net, forwards and twice backwards; n vectors are read once.
    Shifts, scales and orders, a few operations per number and layer, are not counted, though they
    take most of the time of so narrow nets."""
    flops, first_width = 0, d
    for _ in range(levels):
        flops += depth * 2 * width * (d + width)        # d // 2 numbers in, d - d // 2 out
        d -= d // 2
    return Work(3 * n * flops, n * first_width * itemsize)
