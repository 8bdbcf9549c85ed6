"""The look: contrast, letters, no side effects, and text from data that stays text."""

from __future__ import annotations

import subprocess
import sys
import warnings

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.plots import GREY, LINE_COLOURS, PALETTE, plain, save, style, styled, use_style, zipf

from .conftest import FINDING

SERIES, MAX_STEPS = ("whitening_steps",), 4         # the same points after each step, on one scale: nothing new has to be read from panel to panel


def luminance(colour: str) -> float:
    channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize("colour", [*LINE_COLOURS, GREY])
def test_line_colours_have_a_contrast_of_three_to_one_on_white(colour):
    assert 1.05 / (luminance(colour) + 0.05) >= 3


def test_fills_that_lack_this_contrast_are_not_among_the_line_colours():
    for name in ("orange", "sky", "yellow"):
        assert 1.05 / (luminance(PALETTE[name]) + 0.05) < 3 and PALETTE[name] not in LINE_COLOURS


def test_line_colours_differ_in_lightness_or_hue_so_that_markers_are_not_the_only_help():
    rgb = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in LINE_COLOURS])
    distances = np.abs(rgb[:, None] - rgb).sum(axis=2)[~np.eye(len(rgb), dtype=bool)]
    assert distances.min() > 100 and len(set(style.MARKERS)) == len(LINE_COLOURS) == len(set(style.DASHES))


def test_every_letter_of_every_figure_has_at_least_10_points(any_figure):
    from matplotlib.text import Text

    any_figure.draw_without_rendering()
    sizes = {text.get_text(): text.get_fontsize() for text in any_figure.findobj(Text) if text.get_text().strip() and text.get_visible()}
    assert len(sizes) >= 5 and min(sizes.values()) >= 10, sizes
    assert not any("^" in text or "_{" in text for text in sizes), "raised and lowered letters would be smaller"


def test_every_figure_has_a_title_named_axes_and_at_most_two_panels_unless_it_shows_steps(any_figure, request):
    assert " ".join(any_figure.get_suptitle().split()) == FINDING
    panels = [ax for ax in any_figure.axes if ax.get_label() != "<colorbar>"]
    most = MAX_STEPS if request.node.callspec.params["any_figure"] in SERIES else 2
    assert 1 <= len(panels) <= most
    for ax in any_figure.axes:
        is_drawing = not (ax.axison and (len(ax.get_xticks()) or len(ax.get_yticks())))      # a diagram has no axes to name
        assert is_drawing or ax.get_xlabel() or ax.images or (ax.get_label() == "<colorbar>" and ax.get_ylabel()), "an axis without a name"


def test_no_text_runs_out_of_any_figure(any_figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(any_figure).get_renderer()
    any_figure.draw(renderer)
    page = any_figure.bbox
    for ax in any_figure.axes:
        ticks = [label for axis in (ax.xaxis, ax.yaxis)              # a panel whose rows are named in its neighbour has no labels of its own
                 for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
                 if min(axis.get_view_interval()) <= place <= max(axis.get_view_interval())]
        for artist in [*ax.texts, *ticks, ax.xaxis.label, ax.yaxis.label]:
            if artist.get_text().strip() and artist.get_visible():
                box = artist.get_window_extent(renderer)
                assert box.x0 >= -2 and box.x1 <= page.width + 2 and box.y0 >= -2 and box.y1 <= page.height + 2, artist.get_text()


def test_the_look_ends_with_its_block_and_with_each_figure(any_figure):
    before = dict(matplotlib.rcParams)
    with styled():
        assert matplotlib.rcParams["axes.titlesize"] == 13
    assert dict(matplotlib.rcParams) == before


def test_use_style_sets_the_look_and_importing_the_room_does_not():
    code = ("import matplotlib; before = dict(matplotlib.rcParams); import lessons_lib.plots as p, lessons_lib.plots.counts, "
            "lessons_lib.plots.documents, lessons_lib.plots.explore, lessons_lib.plots.leaderboard; assert dict(matplotlib.rcParams) == before; "
            "p.use_style(); assert matplotlib.rcParams['font.size'] == 11")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_room_loads_no_plot_library_before_it_is_needed():
    code = "import sys, lessons_lib.plots as p; assert not {'matplotlib', 'plotly'} & set(sys.modules); assert callable(p.save) and callable(p.zipf)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_use_style_takes_effect_for_figures_of_the_reader():
    with matplotlib.rc_context():
        use_style()
        assert matplotlib.rcParams["axes.spines.top"] is False


def test_an_unknown_plot_names_the_known_ones():
    from lessons_lib import plots

    with pytest.raises(AttributeError, match=r"no 'zipff'; it has .*zipf"):
        plots.zipff
    assert set(plots.__all__) == set(dir(plots)) and all(hasattr(plots, name) for name in plots.__all__)


@given(st.text(max_size=80))
def test_any_text_can_be_drawn_without_a_warning_or_a_formula(text):
    from matplotlib.figure import Figure

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fig = Figure(figsize=(2, 1))
        fig.text(0, 0, plain(text))
        fig.draw_without_rendering()
    assert len(plain(text).replace(r"\$", "$")) <= 60 and "\n" not in plain(text)


def test_dollars_are_escaped_and_long_text_is_cut():
    assert plain("$x^2$ a_b") == r"\$x^2\$ a_b"
    assert plain("line one\nline\ttwo\x00") == "line one line two"
    assert len(plain("x" * 500)) == 60 and plain("x" * 500).endswith("…")


def test_words_with_dollars_and_chinese_are_drawn_as_they_are(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fig = zipf([9, 5, 2], words=["$", "嵌入", "a$b$c"], title="Costs of $5", fit=(1, 3))
        save(fig, tmp_path / "words", "Line chart of counts against rank, falling")
