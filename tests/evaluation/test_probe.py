"""Linear probes: they find what a line separates, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from lessons_lib.evaluation import linear_probe


def drawn(shift: float, n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    return rng.normal(size=(n, 5)) + shift * np.eye(5)[y], y


def test_all_is_told_where_lines_separate_and_a_third_where_nothing_does():
    x, y = drawn(30)
    assert linear_probe(x[:200], y[:200], x[200:], y[200:], alpha=1) == 1
    x, y = drawn(0, n=3000)
    assert 0.25 < linear_probe(x[:2000], y[:2000], x[2000:], y[2000:]) < 0.42


def test_neither_scale_nor_origin_of_a_column_matters():
    x, y = drawn(1.5)
    other = x * [1, 1000, 1, 0.01, 5] + [0, 3, -7, 0, 100]
    assert linear_probe(x[:200], y[:200], x[200:], y[200:]) == linear_probe(
        other[:200], y[:200], other[200:], y[200:])


def test_counts_may_be_sparse_labels_may_be_words_and_a_constant_column_does_no_harm():
    x, y = drawn(30)
    names = np.array(["art", "law", "sea"])[y]
    assert linear_probe(csr_matrix(x[:200]), names[:200], csr_matrix(x[200:]), names[200:],
                        alpha=1) == 1
    with_constant = np.column_stack([x, np.ones(len(x))])
    assert linear_probe(with_constant[:200], y[:200], with_constant[200:], y[200:], alpha=1) == 1
