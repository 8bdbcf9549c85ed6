"""Figures about word2vec: a tree drawn from codes, costs on log axes, products against PMI, true angles and lengths, arrows of offsets."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

CODES, COUNTS = {"a": "0", "b": "10", "c": "11"}, {"a": 5, "b": 3, "c": 2}
TWO = np.array([[0.0, 0.0], [1.0, 2.0]])


def tree(**options):
    return plots.code_tree(CODES, COUNTS, title=FINDING, **options)


def polar(cosines=(0.5, -0.5)):
    return plots.polar_words(["q", "x", "y"], [1.0, 2.0, 3.0], cosines, title=FINDING)


def offsets(n: int = 2, names: int = 2):
    return plots.offset_arrows({"x": (np.zeros((n, 2)), np.ones((n, 2)), ["a"] * names, ["b"] * names)}, title=FINDING)


def test_every_neighbour_guesses_in_one_panel_and_their_mean_in_the_other():
    skip, cbow = plots.window_diagram(["a", "b", "c", "d", "e"], 2, half=1, title=FINDING).axes
    words = [[text.get_text() for text in ax.texts if text.get_text()] for ax in (skip, cbow)]
    assert words[0].count("vector") == 2 and "mean of the vectors" in words[1] and words[0].count("c") == words[1].count("c") == 1
    assert [ax.get_title() for ax in (skip, cbow)] == ["skip-gram: 2 guesses", "CBOW: 1 guess"]


def test_the_tree_has_a_branch_for_every_bit_and_an_inner_node_fewer_than_leaves():
    ax = tree().axes[0]
    branches = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert len(branches) == 4 and sum(len(line.get_xdata()) == 1 for line in ax.lines) == 2
    assert sorted(t.get_text() for t in ax.texts) == ["0", "0", "1", "1", "a\n5", "b\n3", "c\n2"]


def test_the_marked_path_has_as_many_branches_as_its_code_has_bits():
    wide = [line for line in tree(marked="c").axes[0].lines if len(line.get_xdata()) == 2 and line.get_linewidth() > 2]
    assert len(wide) == len(CODES["c"])


def test_both_axes_of_costs_are_logarithmic():
    ax = plots.cost_curves({"x": ([1, 10], [2, 20])}, title=FINDING, xlabel="words", ylabel="seconds").axes[0]
    assert ax.get_xscale() == ax.get_yscale() == "log" and [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "10"]


def test_equal_values_lie_on_the_line_and_the_heading_has_the_correlation():
    x = np.linspace(-2, 3, 20)
    ax = plots.pmi_scatter({"exact": (x, x)}, title=FINDING, xlabel="x", ylabel="y").axes[0]
    assert ax.get_title() == "exact (r = 1.00)" and np.allclose(*ax.lines[1].get_data())


def test_lengths_and_angles_of_the_plane_are_those_given():
    ax = polar().axes[0]
    tips = np.array([text.xy for text in ax.texts if text.get_text()])
    assert np.allclose(np.linalg.norm(tips, axis=1), [1, 2, 3])
    assert np.allclose(tips[:, 0] / np.linalg.norm(tips, axis=1), [1, 0.5, -0.5])
    assert [text.get_text() for text in ax.texts if text.get_text()][1] == "x\n60° away, distance 1.73"


def test_an_arrow_goes_from_every_start_to_its_end():
    ax = plots.offset_arrows({"x": (TWO, TWO + 1, ["a", "b"], ["c", "d"])}, title=FINDING).axes[0]
    arrows = [text for text in ax.texts if not text.get_text()]
    assert [tuple(arrow.xy) for arrow in arrows] == [(1, 1), (2, 3)] and [tuple(arrow.xyann) for arrow in arrows] == [(0, 0), (1, 2)]


def test_the_words_of_keep_curves_stand_at_their_share():
    ax = plots.keep_curves([0.001, 0.1], {"code": [1, 0.1]}, title=FINDING, words={"the": 0.06}).axes[0]
    assert [(t.get_text(), t.xy[0]) for t in ax.texts] == [("the", 0.06)]


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.window_diagram(["a"], 0, half=1, title="x"), "the window 0 neighbours"),
    (lambda: plots.window_diagram(["a"] * 8, 0, half=1, title="x"), "tokens has 8 words"),
    (lambda: plots.code_tree({"a": "0", "b": "01"}, {"a": 1, "b": 1}, title="x"), "no code that begins another"),
    (lambda: tree(marked="z"), "marked='z'"),
    (lambda: plots.cost_curves({"x": ([1], [0])}, title="x", xlabel="", ylabel=""), "of numbers > 0"),
    (lambda: plots.cost_curves({}, title="x", xlabel="", ylabel=""), "curves holds 0 lines"),
    (lambda: plots.keep_curves([0.1, 0.2], {"x": [1, 2]}, title="x", words={}), "expected 2 probabilities"),
    (lambda: plots.pmi_scatter({}, title="x", xlabel="", ylabel=""), "panels holds 0 pictures"),
    (lambda: plots.pmi_scatter({"a": (np.ones(2), np.ones(3))}, title="x", xlabel="", ylabel=""), "2 and 3 values"),
    (lambda: polar((0.5,)), "expected 3, 3 and 2 cosines"),
    (lambda: polar((0.5, 1.5)), "expected 3, 3 and 2 cosines"),
    (lambda: offsets(names=3), "2 starts, 2 ends, 3 and 3 names"),
    (lambda: offsets(n=11, names=11), "equal numbers <= 10"),
    (lambda: plots.offset_arrows({}, title="x"), "panels holds 0 pictures"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
