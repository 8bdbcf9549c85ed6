"""Triangles of mixtures, bars of documents, and words of a topic."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots
from lessons_lib.plots.topics import CORNERS

from .conftest import FINDING

TOPICS = np.eye(3) * 0.7 + 0.1
THIRDS = np.full((1, 3), 1 / 3)


def simplex(documents, **options):
    return plots.topic_simplex(TOPICS, documents, corners=["a", "b", "c"], names=["x", "y", "z"], title=FINDING, **options)


def points(ax, label: str) -> np.ndarray:
    line = next(line for line in ax.lines if line.get_label() == label)
    return np.column_stack(line.get_data())


def test_a_pure_document_lies_on_its_corner_and_an_even_one_in_the_middle():
    drawn = points(simplex(np.vstack([np.eye(3), THIRDS])).axes[0], "document: mixture of topics")
    assert np.allclose(drawn[:3], CORNERS) and np.allclose(drawn[3], CORNERS.mean(axis=0))


def test_every_topic_is_a_square_with_its_name():
    ax = simplex(THIRDS).axes[0]
    assert np.allclose(points(ax, "topic"), TOPICS @ CORNERS)
    assert [t.get_text() for t in ax.texts] == ["a", "b", "c", "x", "y", "z"]


def test_what_was_counted_is_tied_to_its_document():
    ax = simplex(THIRDS, seen=np.eye(3)[:1]).axes[0]
    ends = np.column_stack(next(line for line in ax.lines if len(line.get_xdata()) == 2).get_data())
    assert np.allclose(ends, [CORNERS.mean(axis=0), CORNERS[0]])


@pytest.mark.parametrize(("call", "said"), [
    (lambda: simplex([[0.5, 0.5, 0.5]]), "no distribution"),
    (lambda: simplex([[1.5, -0.5, 0.0]]), "no distribution"),
    (lambda: simplex(THIRDS, seen=np.eye(3)), "3 rows for 1 documents"),
    (lambda: plots.topic_simplex(TOPICS, THIRDS, corners=["a", "b"], names=["x", "y", "z"], title="x"), "corners has 2 names"),
    (lambda: plots.topic_simplex(TOPICS, THIRDS, corners=["a", "b", "c"], names=["x"], title="x"), "names has 1 values for 3 topics"),
    (lambda: plots.posterior_simplex({}, corners=["a", "b", "c"], title="x"), "panels holds 0 pictures"),
    (lambda: plots.mixture_bars(THIRDS, ["a", "b"], names=["x", "y", "z"], title="x"), "expected these to agree"),
    (lambda: plots.mixture_bars(np.full((21, 3), 1 / 3), ["a"] * 21, names=["x", "y", "z"], title="x"), "at most 20 documents"),
    (lambda: plots.topic_words(["a"], [1, 2], [3, 4], title="x"), "have 1, 2 and 2 values"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_the_posterior_shows_samples_their_mean_and_the_estimate_in_each_panel():
    samples = np.random.default_rng(0).dirichlet([1, 1, 1], size=50)
    fig = plots.posterior_simplex({"short": (samples, np.eye(3)[1]), "long": (samples, THIRDS[0])}, corners=["a", "b", "c"], title=FINDING)
    assert [ax.get_title() for ax in fig.axes] == ["short", "long"]
    assert len(points(fig.axes[0], "posterior samples")) == 50
    assert np.allclose(points(fig.axes[0], "their mean"), samples.mean(axis=0) @ CORNERS)
    assert np.allclose(points(fig.axes[0], "point estimate"), CORNERS[1])


def test_the_parts_of_a_bar_are_its_shares_largest_first_and_fill_it():
    ax = plots.mixture_bars([[0.2, 0.75, 0.05]], ["one"], names=["x" * 4, "y" * 4, "z" * 4], title=FINDING).axes[0]
    assert np.allclose([bar.get_width() for bar in ax.patches], [0.75, 0.2, 0.05])         # the last is the grey rest
    assert [t.get_text() for t in ax.texts] == ["yyyy", "xxxx"]
    assert np.isclose(max(bar.get_x() + bar.get_width() for bar in ax.patches), 1)


def test_neighbouring_parts_of_a_bar_differ_in_colour_and_a_topic_keeps_its_colour():
    mixtures = np.eye(12)[:10] * 0.5 + np.roll(np.eye(12)[:10], 1, axis=1) * 0.5
    ax = plots.mixture_bars(mixtures, [str(k) for k in range(10)], names=[f"t{k}" for k in range(12)], title=FINDING).axes[0]
    colour = {}
    for row in range(10):
        first, second, _ = ax.patches[3 * row : 3 * row + 3]
        assert first.get_facecolor() != second.get_facecolor()
        for text, bar in zip(ax.texts[2 * row : 2 * row + 2], (first, second), strict=True):
            assert colour.setdefault(text.get_text(), bar.get_facecolor()) == bar.get_facecolor()


def test_a_long_name_is_cut_to_its_part():
    ax = plots.mixture_bars([[0.85, 0.15]], ["one"], names=["short", "much too long a name for so small a part"], title=FINDING).axes[0]
    assert ax.texts[1].get_text() == "much too"               # whole words, as many as fit


def test_the_words_of_a_topic_have_one_bar_inside_another():
    ax = plots.topic_words(["war", "$5"], [30, 4], [40, 5], title=FINDING).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [40, 5, 30, 4] and ax.yaxis_inverted()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["war", r"\$5"]
