"""The colours of the course: contrast on white, and still apart for eyes that see fewer of them."""

from __future__ import annotations

import re
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex

from lessons_lib.core import PROJECT
from lessons_lib.plots import GREY, LINE_COLOURS, PALETTE
from lessons_lib.plots.style import FILL_COLOURS, INK_OF

from .colour_vision import DEFICIENCIES, difference, linear, seen

AT_A_GLANCE = 10        # CIEDE2000; a marker, a dash or a word stands beside every colour anyway
SOURCES = (PROJECT / "lessons_lib" / "plots").glob("*.py")
MAPS = {name for path in SOURCES for name in re.findall(r'cmap="(\w+)"', path.read_text("utf-8"))}
DIVERGING = {"PuOr", "PuOr_r"}


def closest(colours, deficiency) -> float:
    """The smallest difference between any two."""
    return min(difference(seen(a, deficiency), seen(b, deficiency))
               for a, b in combinations(colours, 2))


def on_white(colour: str) -> float:
    """Contrast of a colour on white (WCAG)."""
    return 1.05 / (linear(colour) @ (0.2126, 0.7152, 0.0722) + 0.05)


def test_lines_have_a_contrast_of_three_on_white_words_of_four_and_a_half_and_fills_less():
    assert min(map(on_white, (*LINE_COLOURS, GREY))) >= 3
    assert min(map(on_white, (GREY, *INK_OF.values()))) >= 4.5
    assert max(map(on_white, FILL_COLOURS)) < 3 and set(FILL_COLOURS) == set(INK_OF)


@pytest.mark.parametrize("first, second, expected", [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((50, 2.5, 0), (58, 24, 15), 19.4535), ((50, -1, 2), (50, 0, 0), 2.3669),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082)])
def test_the_difference_is_that_of_the_published_table(first, second, expected):
    assert difference(np.array(first), np.array(second)) == pytest.approx(expected, abs=1e-4)
    assert difference(np.array(second), np.array(first)) == pytest.approx(expected, abs=1e-4)


def test_the_simulation_leaves_grey_alone_and_takes_red_from_green():
    for deficiency in DEFICIENCIES:
        assert np.abs(seen("#808080", deficiency)[1:]).max() < 1
    red_green = ["#C04000", "#608000"]
    assert closest(red_green, "none") > 3 * closest(red_green, "deuteranopia")
    assert closest(red_green, "deuteranopia") < AT_A_GLANCE, "such a palette would be refused"


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_any_two_colours_of_the_course_are_told_apart_at_a_glance(deficiency):
    assert closest([*PALETTE.values(), GREY], deficiency) >= AT_A_GLANCE


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("name", sorted(MAPS))
def test_more_is_lighter_or_darker_throughout_in_every_colour_map(name, deficiency):
    colours = [seen(to_hex(matplotlib.colormaps[name](x)), deficiency)
               for x in np.linspace(0, 1, 11)]
    steps = np.diff([colour[0] for colour in colours])
    if name in DIVERGING:
        assert (steps[:4] > 0).all() and (steps[-4:] < 0).all()
        assert difference(colours[1], colours[-2]) > AT_A_GLANCE
    else:
        assert (steps > 0).all() or (steps < 0).all()


def test_the_maps_of_all_figures_were_found():
    assert {"Blues", "cividis"} <= MAPS
