"""The look: letters, titles, no side effects, text that stays text, documented figures."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import warnings

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import plots
from lessons_lib.plots import LINE_COLOURS, plain, save, style, styled, use_style

from .conftest import FINDING, draw

SERIES, MAX_STEPS = ("whitening_steps",), 4       # nothing new is to be read from panel to panel
POWERS = ("tuning_curves",)   # matplotlib's own 10^k at their log axis, so far
PUBLIC = [name for name in plots.__all__ if callable(getattr(plots, name))]


def test_markers_and_dashes_are_as_many_as_line_colours():
    assert len(set(style.MARKERS)) == len(set(LINE_COLOURS)) == len(set(style.DASHES)) == 5


def test_every_letter_of_every_figure_has_at_least_10_points(any_figure, request):
    from matplotlib.text import Text

    any_figure.draw_without_rendering()
    sizes = {text.get_text(): text.get_fontsize() for text in any_figure.findobj(Text)
             if text.get_text().strip() and text.get_visible()}
    assert len(sizes) >= 5 and min(sizes.values()) >= 10, sizes
    raised = any("^" in text or "_{" in text for text in sizes)
    assert raised == (request.node.callspec.params["any_figure"] in POWERS), "they are smaller"


def test_every_figure_has_a_title_named_axes_and_at_most_two_panels_or_steps(any_figure, request):
    assert " ".join(any_figure.get_suptitle().split()) == FINDING
    panels = [ax for ax in any_figure.axes if ax.get_label() != "<colorbar>"]
    most = MAX_STEPS if request.node.callspec.params["any_figure"] in SERIES else 2
    assert 1 <= len(panels) <= most
    for ax in any_figure.axes:
        is_drawing = not (ax.axison and (len(ax.get_xticks()) or len(ax.get_yticks())))
        is_bar = ax.get_label() == "<colorbar>" and ax.get_ylabel()
        assert is_drawing or ax.get_xlabel() or ax.images or is_bar, "an axis without a name"


def test_no_text_runs_out_of_any_figure(any_figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(any_figure).get_renderer()
    any_figure.draw(renderer)
    page = any_figure.bbox
    for ax in any_figure.axes:
        ticks = [label for axis in (ax.xaxis, ax.yaxis)
                 for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
                 if min(axis.get_view_interval()) <= place <= max(axis.get_view_interval())]
        for text in [*ax.texts, *ticks, ax.xaxis.label, ax.yaxis.label]:
            if text.get_text().strip() and text.get_visible():
                box = text.get_window_extent(renderer)
                inside = box.x0 >= -2 and box.x1 <= page.width + 2
                assert inside and box.y0 >= -2 and box.y1 <= page.height + 2, text.get_text()


def test_the_look_ends_with_its_block_and_with_each_figure(any_figure):
    before = dict(matplotlib.rcParams)
    with styled():
        assert matplotlib.rcParams["axes.titlesize"] == 13
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("code", [
    "import matplotlib; before = dict(matplotlib.rcParams); import lessons_lib.plots as p; "
    "[getattr(p, name) for name in p.__all__]; assert dict(matplotlib.rcParams) == before; "
    "p.use_style(); assert matplotlib.rcParams['font.size'] == 11",
    "import sys, lessons_lib.plots as p; [getattr(p, name) for name in p.__all__]; "
    "assert not {'matplotlib', 'plotly', 'torch'} & set(sys.modules)"])
def test_importing_the_room_sets_no_look_and_loads_no_plot_library(code):
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_use_style_takes_effect_for_figures_of_the_reader():
    with matplotlib.rc_context():
        use_style()
        assert matplotlib.rcParams["axes.spines.top"] is False


def test_an_unknown_plot_names_the_known_ones():
    with pytest.raises(AttributeError, match=r"no 'zipff'; it has .*zipf"):
        plots.zipff
    assert set(plots.__all__) == set(dir(plots))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_documents_its_parameters_and_what_it_returns(name):
    call = getattr(plots, name)
    text = inspect.getdoc(call)
    entries = re.findall(r"^([\w, ]+) : ", text, re.MULTILINE)
    documented = {word for entry in entries for word in entry.split(", ")}
    assert set(inspect.signature(call).parameters) <= documented
    assert text.partition("\n")[0].endswith(".")
    returns = not isinstance(call, type) and inspect.signature(call).return_annotation != "None"
    assert ("Returns\n-------" in text) == (returns and name != "styled")


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
        fig = draw("zipf", counts=np.array([9, 5, 2]), words=["$", "嵌入", "a$b$c"], fit=(1, 3),
                   title="Costs of $5")
        save(fig, tmp_path / "words", "Line chart of counts against rank, falling")
