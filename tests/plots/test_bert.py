"""Figures about a BERT: panels share their colours, the best cell is outlined, levels stand where they belong, attention is made of shares."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from lessons_lib import plots

from .conftest import FINDING

TABLE = np.array([[1.0, 2.0], [30.25, 4.0], [5.0, 6.0]])
RUNS = {"here": ([1e3, 1e4], [6.2, 5.0]), "LessonBERT": ([1e5, 1e8], [9.0, 3.0])}
LEVELS = {name: {"chance": 6.2, "counts": 5.1} for name in RUNS}


def maps(**panels):
    return plots.pooling_maps(panels or {"trained": TABLE, "random": TABLE[::-1] / 2}, [0, 1, 2], ["[CLS]", "mean, all"], title=FINDING).axes


def test_both_maps_have_the_same_colours_and_the_input_at_the_bottom():
    axes = maps()
    assert {image.get_clim() for ax in axes for image in ax.images} == {(0.5, 30.25)}
    assert all(ax.images[0].origin == "lower" for ax in axes) and [ax.get_title() for ax in axes] == ["trained", "random"]


def test_the_best_cell_of_each_map_is_outlined():
    cells = [tuple(np.round(patch.get_xy(), 2)) for ax in maps() for patch in ax.patches if isinstance(patch, Rectangle)]
    assert cells == [(-0.46, 0.56), (-0.46, 0.56)]
    assert [text.get_text() for text in maps()[0].texts][:2] == ["1.0", "2.0"]


def test_a_cell_without_a_score_says_so_and_is_never_the_best():
    holes = np.where(np.eye(3, 2) == 1, np.nan, TABLE)
    axes = maps(trained=holes, random=TABLE)
    assert [text.get_text() for text in axes[0].texts] == ["none", "2.0", "30.2", "none", "5.0", "6.0"]
    assert axes[0].images[0].get_clim() == (1.0, 30.25)
    for worthless in (np.full((3, 2), np.nan), np.where(TABLE > 5, np.inf, TABLE)):
        with pytest.raises(ValueError, match="expected numbers, and NaN"):
            maps(trained=worthless, random=TABLE)


@pytest.mark.parametrize("panels", [{"one": TABLE}, {"a": TABLE, "b": TABLE[:2]}, {k: TABLE for k in "abcd"}])
def test_maps_that_cannot_be_compared_are_refused(panels):
    with pytest.raises(ValueError, match="expected 2 or 3"):
        maps(**panels)


def test_each_run_has_its_own_levels_in_its_own_panel():
    axes = plots.loss_curves(RUNS, LEVELS | {"here": {"chance": 6.0, "counts": 5.5}}, title=FINDING).axes
    heights = [[line.get_ydata()[0] for line in ax.lines[1:]] for ax in axes]
    assert heights == [[6.0, 5.5], [6.2, 5.1]] and axes[0].get_ylim() == axes[1].get_ylim()
    assert axes[0].get_ylim()[0] < 3.0 and axes[0].get_ylim()[1] > 9.0
    assert [text.get_text() for text in axes[0].texts if text.get_text()] == ["chance", "counts"]


def test_runs_without_levels_and_losses_without_tokens_are_refused():
    with pytest.raises(ValueError, match="expected the runs of curves"):
        plots.loss_curves(RUNS, {"here": {}}, title=FINDING)
    with pytest.raises(ValueError, match="as many tokens"):
        plots.loss_curves({"here": ([0, 1], [2, 1])}, {"here": {}}, title=FINDING)


def test_every_row_of_attention_is_outlined_where_it_looks_most():
    ax = plots.attention_map(np.array([[0.2, 0.8], [0.9, 0.1]]), ["[CLS]", "sea"], title=FINDING).axes[0]
    cells = {tuple(np.round(patch.get_xy(), 2)) for patch in ax.patches if isinstance(patch, Rectangle)}
    assert cells == {(0.54, -0.44), (-0.46, 0.56)}
    with pytest.raises(ValueError, match="a row that sums to 1.5"):
        plots.attention_map(np.array([[0.7, 0.8], [0.9, 0.1]]), ["[CLS]", "sea"], title=FINDING)
