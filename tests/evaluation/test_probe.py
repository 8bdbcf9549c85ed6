"""Linear probes, triplets and tables."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from lessons_lib.datasets import Triplets
from lessons_lib.evaluation import linear_probe
from lessons_lib.evaluation.tables import html_table, text_table
from lessons_lib.evaluation.triplets import triplet_accuracy


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


class Angles:
    """Encodes a text that is a number of degrees as a vector of that direction."""

    dim, name = 2, "angles"

    def encode(self, texts):
        turn = np.radians([float(text) for text in texts])
        return (np.column_stack([np.cos(turn), np.sin(turn)]).astype(np.float32)
                * np.arange(1, len(turn) + 1)[:, None])


def test_a_triplet_counts_when_the_entailment_is_nearer_whatever_the_lengths_of_the_vectors():
    triplets = Triplets(["0", "0", "90", "10"], ["10", "50", "80", "20"], ["20", "40", "10", "200"])
    assert triplet_accuracy(Angles(), triplets) == 0.75


def test_a_tie_does_not_count_and_neither_does_a_text_that_equals_its_contradiction():
    assert triplet_accuracy(Angles(), Triplets(["0"], ["0"], ["0"])) == 0.0
    assert triplet_accuracy(Angles(), Triplets(["0"], ["30"], ["0"])) == 0.0


ROWS = [["name", "score"], ["a<b", "7.5"], ["long name", "12.0"]]


def test_text_columns_are_aligned_words_left_and_numbers_right():
    assert text_table(ROWS, left=1) == "name       score\na<b          7.5\nlong name   12.0"


def test_html_escapes_cells_and_caption_and_stresses_the_chosen_cells():
    page = html_table(ROWS, caption="x > y", bold=frozenset({(1, 1)}))
    assert "a&lt;b" in page and "x &gt; y" in page and page.count(
        "<b>") == 1 and "<b>12.0</b>" in page
    assert page.count("<tr>") == 3 and page.count('<th scope="col">') == 2
