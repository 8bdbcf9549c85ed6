"""Schematics: what is drawn is drawn to measure, and nothing covers anything else."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lessons_lib.plots import GREY, PALETTE, Part, Schematic, svg_text

BLUE = PALETTE["blue"]


def fault(s: Schematic) -> str:
    with pytest.raises(ValueError) as caught:
        s.draw()
    return str(caught.value)


def fills(s: Schematic) -> list[tuple]:
    return [patch.get_facecolor()[:3] for patch in s._ax.patches]


def test_a_box_is_as_large_as_its_words_need_and_an_arrow_ends_at_its_edge():
    s = Schematic(7, 2, title="A text becomes a vector")
    short, long = s.box("a", 1, 1), s.box("a longer text", 3, 1)
    assert long.width > 2 * short.width and short.height == long.height < 0.5
    s.arrow(short, long, "encode")
    (_, places, _), = s._arrows
    assert places[:, 1] == pytest.approx([1, 1])
    assert short.corners[1, 0] < places[0, 0] < short.corners[1, 0] + 0.1
    assert long.corners[0, 0] - 0.1 < places[1, 0] < long.corners[0, 0]
    fig = s.draw()
    assert fig.get_suptitle() == "A text becomes a vector"
    assert "<svg" in svg_text(fig, "Diagram of a text that becomes a vector by an encoder.",
                              salt="x")


@pytest.mark.parametrize("angle", np.linspace(0, 2 * np.pi, 9))
def test_an_arrow_ends_just_outside_a_box_and_a_circle_from_every_side(angle):
    towards = tuple(np.array([2, 2]) + 1.5 * np.array([np.cos(angle), np.sin(angle)]))
    box, circle = Part("b", 2, 2, 1.2, 0.6), Part("c", 2, 2, 0.6, 0.6, round=True)
    x, y = np.abs(np.array(box.edge(towards)) - 2)
    assert max(x - 0.6, y - 0.3) == pytest.approx(0, abs=0.07) and (x > 0.6 or y > 0.3)
    assert np.hypot(*(np.array(circle.edge(towards)) - 2)) == pytest.approx(0.36)


def test_a_vector_is_darker_where_it_is_larger_and_white_with_a_cross_where_it_is_hidden():
    s = Schematic(3, 2)
    part = s.strip([0.5, 1.0, 0.2], 1, 1, hidden=[1], label="$h$")
    first, hidden, last = fills(s)
    assert hidden == (1, 1, 1) and sum(first) < sum(last) < 3 and len(s._ax.lines) == 2
    assert part.width == pytest.approx(3 * part.height)
    column = s.strip([1.0, 1.0], 2.5, 1, upright=True)
    assert column.height == pytest.approx(2 * column.width) and s.draw()


def test_a_matrix_has_two_colours_names_and_a_mask_and_arrows_stop_before_its_names():
    s = Schematic(6, 3)
    part = s.matrix([[1.0, -1.0], [0.0, 2.0]], 4, 1.3, texts=[["a", "b"], ["c", "d"]],
                    rows=["$h_1$", "$h_2$"], columns=["one", "two"],
                    hidden=[[False, False], [False, True]])
    half_blue, half_red, white, masked = map(np.array, fills(s))
    assert white.tolist() == masked.tolist() == [1, 1, 1]
    assert half_blue == pytest.approx((1 + np.array(to_rgb(BLUE))) / 2, abs=0.01)
    assert half_red[0] > half_red[2]
    box = s.box("encoder", 1, 1.3)
    s.arrow(box, part, "cosines")
    assert s._arrows[0][1][-1, 0] < part.corners[0, 0] - 0.2 and s.draw()


def test_a_plate_diagram_of_observed_and_hidden_variables():
    s = Schematic(5, 2)
    topic, word = s.node("z", 1, 1.1), s.node("w", 3, 1.1, observed=True)
    s.arrow(topic, word)
    s.plate(2, 1, 3.4, 1.6, "N words")
    assert fills(s)[0] == (1, 1, 1) and fills(s)[1] != (1, 1, 1) and s.draw()


def two_boxes(gap: float = 4.0) -> tuple[Schematic, Part, Part]:
    s = Schematic(7, 2)
    return s, s.box("left", 1, 1), s.box("right", 1 + gap, 1)


@pytest.mark.parametrize(("spoil", "words"), [
    (lambda s, a, b: s.label("on it", 1.2, 1.1), "the label 'on it' lies on 'left'"),
    (lambda s, a, b: (s.label("under", 3, 1), s.arrow(a, b)),
     "the arrow left → right runs through the label 'under'"),
    (lambda s, a, b: (s.box("between", 3, 1), s.arrow(a, b)), "runs through 'between'"),
    (lambda s, a, b: (s.label("one", 3, 1.5), s.label("two", 3.1, 1.5)),
     "the labels 'two' and 'one' overlap"),
    (lambda s, a, b: s.box("over", 1.2, 1), "'left' and 'over' overlap"),
    (lambda s, a, b: s.box("a long text", 3, 1, width=0.5), "'a long text' does not fit into"),
    (lambda s, a, b: s.label("outside", 6.9, 1), "'outside' leaves the page of 7.0 × 2.0"),
    (lambda s, a, b: s.matrix([[1.0]], 3, 1, cell=0.2, texts=[["pull"]]), "'pull' does not fit")])
def test_what_cannot_be_read_is_refused_by_name(spoil, words):
    s, a, b = two_boxes()
    s.draw()
    spoil(s, a, b)
    assert words in fault(s) and "Move them" in fault(s)


def test_an_arrow_goes_round_what_is_in_its_way():
    s, a, b = two_boxes()
    s.box("between", 3, 1)
    s.arrow(a, b, "round it", via=[(1, 1.6), (5, 1.6)], colour=GREY)
    assert s.draw() and len(s._arrows[0][1]) == 4


@pytest.mark.parametrize(("call", "words"), [
    (lambda s: s.matrix(np.eye(2), 1, 1, rows=["a"]), "rows: 1"),
    (lambda s: s.matrix(np.eye(2), 1, 1, columns=["a"]), "columns: 1"),
    (lambda s: s.strip([], 1, 1), "values"), (lambda s: s.strip([[1]], 1, 1), "values")])
def test_names_and_numbers_that_do_not_fit_are_refused(call, words):
    with pytest.raises(ValueError) as caught:
        call(Schematic(3, 2))
    assert words in str(caught.value)
