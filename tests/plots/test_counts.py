"""Figures about counts show the numbers they were given, and refuse what they cannot draw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lessons_lib import plots
from lessons_lib.plots.counts import _pooled

from .conftest import FINDING


def texts(fig) -> str:
    return " | ".join(t.get_text() for ax in fig.axes for t in ax.texts)


@given(st.floats(-3, 3), st.floats(0.01, 100))
def test_power_law_recovers_exponent_and_factor(exponent, factor):
    x = np.geomspace(1, 500, 20)
    found, scale = plots.power_law(x, factor * x**exponent)
    assert found == pytest.approx(exponent, abs=1e-9) and scale == pytest.approx(factor, rel=1e-9)


def test_zipf_sorts_counts_writes_the_fitted_slope_and_names_words_of_its_own_order():
    rank = np.arange(1, 2001)
    counts = (1e6 / rank).round()
    order = np.random.default_rng(0).permutation(2000)
    fig = plots.zipf(counts[order], words=[f"rank{r}" for r in rank[order]], title=FINDING)
    assert "slope −1.00" in texts(fig) and all(f"rank{r}" in texts(fig) for r in (1, 10, 100, 1000))
    x, y = fig.axes[0].lines[0].get_data()
    assert (y == counts[np.asarray(x) - 1]).all()


def test_heaps_names_each_curve_at_its_end_with_its_exponent():
    tokens = np.geomspace(10, 1e5, 30)
    fig = plots.heaps({"square root": (tokens, tokens**0.5), "linear": (tokens, tokens)}, title=FINDING)
    assert "square root\n(exponent 0.50)" in texts(fig) and "linear\n(exponent 1.00)" in texts(fig)


def test_matrix_memory_writes_the_last_sizes_in_words():
    fig = plots.matrix_memory([1, 10], [4e3, 4e10], [100, 2e6], title=FINDING, memory=16e9)
    assert all(text in texts(fig) for text in ("dense\n40 GB", "CSR\n2 MB", "a laptop: 16 GB"))


def test_sparsity_writes_first_middle_and_last_share():
    assert texts(plots.sparsity([10, 100, 1000], [0.5, 0.04, 0.00001], title=FINDING)) == "50% | 4% | 1e-05"


def test_spy_counts_shows_each_cell_of_a_small_matrix_and_each_filled_block_of_a_large_one():
    small = sparse.random_array((20, 50), density=0.2, rng=np.random.default_rng(0), format="csr")
    image = plots.spy_counts(small, title=FINDING).axes[0].images[0].get_array()
    assert ((image == 0) == (small.toarray() != 0)).all()
    large = sparse.random_array((1000, 5000), density=0.001, rng=np.random.default_rng(0), format="csr")
    assert _pooled(large, 100, 100).sum() == large.nnz
    fig = plots.spy_counts(large, title=FINDING)
    assert "0.1% of the cells are filled; a dot stands for a block" in fig.axes[0].get_title(loc="left")


def test_ngram_growth_labels_every_bar():
    fig = plots.ngram_growth([1, 2], [13_900, 97_800], [0.41, 0.745], title=FINDING, unit="characters")
    assert texts(fig) == "13.9 k | 97.8 k | 41% | 74%"
    assert "characters per n-gram" in fig.axes[0].get_xlabel()
    assert plots.ngram_growth([1], [4], [0.0], title=FINDING).axes[1].get_ylim()[0] == 0


@pytest.mark.parametrize("call, message", [
    (lambda: plots.zipf([3, 0, 1], title="x"), r"counts\[1\]=0 cannot be drawn on a log axis"),
    (lambda: plots.zipf([], title="x"), "counts has 0 rows"),
    (lambda: plots.zipf([3, 2, 1], words=["a"], title="x", fit=(1, 3)), "words: 1, counts: 3"),
    (lambda: plots.heaps({"a": ([1, 2], [1])}, title="x"), "tokens: 2, types: 1"),
    (lambda: plots.matrix_memory([1, 2], [1, 2], [1, np.nan], title="x"), r"csr_bytes\[1\] holds NaN"),
    (lambda: plots.sparsity([1], [0.5, 1], title="x"), "sizes: 1, nonzero_share: 2"),
    (lambda: plots.ngram_growth([1, 2], [1, 2], [0.5], title="x"), "once: 1"),
    (lambda: plots.spy_counts(np.zeros((0, 3)), title="x"), r"shape \(0, 3\)"),
    (lambda: plots.power_law([2, 2], [1, 3]), "1 distinct value"),
])
def test_V01_V05_what_cannot_be_drawn_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("draw, error, message", [
    (lambda: plots.zipf([5], title="x"), ValueError, r"fit=\(10, 1000\) holds 0 of the 1 ranks"),
    (lambda: plots.zipf(np.arange(1, 99), title="x", fit=(50, 10)), ValueError, r"fit=\(50, 10\)"),
    (lambda: plots.zipf(np.arange(1, 99), title="x", fit=5), TypeError, "fit=5 is no pair"),
    (lambda: plots.zipf(np.arange(1, 99), title=5), TypeError, "title=5 is int"),
    (lambda: plots.heaps({}, title="x"), ValueError, "curves={} holds no curve"),
    (lambda: plots.matrix_memory([1, 2], [3, 4], [1, 2], title="x", memory=np.nan), ValueError, "memory=nan"),
    (lambda: plots.sparsity([1, 2], [0.5, 1.5], title="x"), ValueError, r"nonzero_share\[1\]=1.5"),
    (lambda: plots.spy_counts([1, 0, 2], title="x"), ValueError, r"matrix has shape \(3,\)"),
    (lambda: plots.spy_counts([[1, np.nan]], title="x"), ValueError, r"matrix.data\[1\] holds NaN"),
    (lambda: plots.ngram_growth([1], [5], [2.0], title="x"), ValueError, r"once\[0\]=2 is no share")])
def test_what_cannot_be_drawn_is_named(draw, error, message):
    with pytest.raises(error, match=message):
        draw()
