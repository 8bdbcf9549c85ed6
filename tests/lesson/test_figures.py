"""Figures: alt text always, the same bytes on every run, a static twin for whatever moves, files where the build wants them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from lessons_lib.core import output_folder
from lessons_lib.lesson import start
from lessons_lib.lesson.figures import FIGURES_VARIABLE, PLOTLY, figure_bundle

ALT = "Line plot of y against x that rises to the right."


def line(n: int = 3) -> Figure:
    fig = Figure(figsize=(4, 3))
    fig.add_subplot().plot(np.arange(n), np.arange(n))
    return fig


def scatter() -> object:
    import plotly.graph_objects as go

    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4]))


@pytest.fixture
def lesson(notebooks):
    return start("one_hot", notebooks=notebooks)


def test_a_figure_is_shown_as_svg_with_a_label_and_as_png(lesson, displayed):
    lesson.show(line(), id="rising", alt=ALT)
    data, keywords = displayed[0]
    assert data["image/svg+xml"].startswith("<svg ") and f'role="img" aria-label="{ALT}"' in data["image/svg+xml"]
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG") and data["text/plain"] == ALT
    assert keywords == {"raw": True, "metadata": {"image/svg+xml": {"alt": ALT}, "image/png": {"alt": ALT}}}


def test_two_runs_give_the_same_bytes():
    first, second = (figure_bundle(line(), id="rising", alt=ALT) for _ in range(2))
    assert first == second and "date" not in first[0]["image/svg+xml"].lower()


def test_more_than_2000_marks_are_shown_as_png_alone():
    assert "image/svg+xml" in figure_bundle(line(2000), id="many", alt=ALT)[0]
    assert set(figure_bundle(line(2001), id="many", alt=ALT)[0]) == {"image/png", "text/plain"}


def test_alt_text_is_escaped_in_the_svg():
    alt = 'Bars of "a" & <b> counts, the first is longest'
    svg = figure_bundle(line(), id="bars", alt=alt)[0]["image/svg+xml"]
    assert "&quot;a&quot; &amp; &lt;b&gt;" in svg


@pytest.mark.parametrize("alt", ["", "a plot", None, 5, "word " * 41])
def test_an_alt_text_of_less_than_5_or_more_than_40_words_is_refused(lesson, displayed, alt):
    with pytest.raises(ValueError, match="5 to 40 words"):
        lesson.show(line(), id="rising", alt=alt)
    assert displayed == []


@pytest.mark.parametrize("id", ["", "../up", "a b", "A", "x" * 61, None, "c:\\x"])
def test_a_figure_name_is_never_a_path(lesson, id):
    with pytest.raises(ValueError, match="no figure name"):
        lesson.show(line(), id=id, alt=ALT)


def test_anything_but_a_figure_is_refused(lesson):
    with pytest.raises(TypeError, match="is int; expected a matplotlib or plotly figure"):
        lesson.show(3, id="three", alt=ALT)


def test_an_interactive_figure_needs_a_static_twin_and_carries_both(lesson, displayed):
    with pytest.raises(ValueError, match="pass static="):
        lesson.show(scatter(), id="points", alt=ALT)
    lesson.show(scatter(), static=line(), id="points", alt=ALT)
    data, keywords = displayed[0]
    assert data[PLOTLY]["data"][0]["type"] == "scatter" and "image/svg+xml" in data
    assert keywords["metadata"][PLOTLY] == {"alt": ALT}
    json.dumps(data)


def test_figures_go_to_the_users_output_folder(lesson, displayed):
    lesson.show(line(), id="rising", alt=ALT)
    assert {p.name for p in (output_folder() / "figures").iterdir()} == {"rising.svg"}


def test_a_build_collects_figures_in_its_own_folder(lesson, displayed, tmp_path: Path, monkeypatch):
    monkeypatch.setenv(FIGURES_VARIABLE, str(tmp_path / "drawn"))
    lesson.show(line(), id="rising", alt=ALT)
    assert (tmp_path / "drawn" / "rising.svg").read_text(encoding="utf-8") == displayed[0][0]["image/svg+xml"]
    assert not (output_folder() / "figures").exists()


def test_a_shown_figure_is_closed(lesson, displayed):
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots()
    ax.plot([1, 2])
    lesson.show(fig, id="rising", alt=ALT)
    assert fig.number not in plt.get_fignums()
