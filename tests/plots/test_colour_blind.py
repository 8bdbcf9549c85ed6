"""The colours of the course for eyes that see fewer of them: still apart, and light stays light."""

from __future__ import annotations

import re
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex

from lessons_lib.core import PROJECT
from lessons_lib.plots import GREY, PALETTE
from lessons_lib.plots.style import INK_OF

from .colour_vision import DEFICIENCIES, difference, linear, seen

AT_A_GLANCE = 10                                  # CIEDE2000; beside every colour stands a marker, a dash or a word all the same
MAPS = {name for path in (PROJECT / "lessons_lib" / "plots").glob("*.py") for name in re.findall(r'cmap="(\w+)"', path.read_text("utf-8"))}
DIVERGING = {"PuOr", "PuOr_r"}


def closest(colours, deficiency) -> float:
    """The smallest difference between any two."""
    return min(difference(seen(a, deficiency), seen(b, deficiency)) for a, b in combinations(colours, 2))


@pytest.mark.parametrize("first, second, expected", [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 2.5, 0), (73, 25, -18), 27.1492), ((50, 2.5, 0), (58, 24, 15), 19.4535),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644), ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ((50, -1, 2), (50, 0, 0), 2.3669)])
def test_the_difference_is_that_of_the_published_table(first, second, expected):
    assert difference(np.array(first), np.array(second)) == pytest.approx(expected, abs=1e-4)
    assert difference(np.array(second), np.array(first)) == pytest.approx(expected, abs=1e-4)


def test_the_simulation_leaves_grey_alone_and_takes_red_from_green():
    for deficiency in DEFICIENCIES:
        assert np.abs(seen("#808080", deficiency)[1:]).max() < 1
    red, green = "#C04000", "#608000"
    assert closest([red, green], "none") > 3 * closest([red, green], "deuteranopia")
    assert closest([red, green], "deuteranopia") < AT_A_GLANCE, "a palette with these two would be refused"


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_any_two_colours_of_the_course_are_told_apart_at_a_glance(deficiency):
    assert closest([*PALETTE.values(), GREY], deficiency) >= AT_A_GLANCE


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("name", sorted(MAPS))
def test_more_is_lighter_or_darker_throughout_in_every_colour_map(name, deficiency):
    colours = [seen(to_hex(matplotlib.colormaps[name](x)), deficiency) for x in np.linspace(0, 1, 11)]
    steps = np.diff([colour[0] for colour in colours])
    if name in DIVERGING:
        assert (steps[:4] > 0).all() and (steps[-4:] < 0).all() and difference(colours[1], colours[-2]) > AT_A_GLANCE
    else:
        assert (steps > 0).all() or (steps < 0).all()


def test_the_maps_of_all_figures_were_found():
    assert {"cividis", "PuOr_r"} <= MAPS


@pytest.mark.parametrize("ink", [GREY, *INK_OF.values()])
def test_words_have_a_contrast_of_four_and_a_half_on_white(ink):
    assert 1.05 / (linear(ink) @ (0.2126, 0.7152, 0.0722) + 0.05) >= 4.5
