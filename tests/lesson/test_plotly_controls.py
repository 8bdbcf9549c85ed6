"""Plotly's sliders and menus in a live kernel: widgets that the keyboard reaches, and that do what plotly would have done."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from matplotlib.figure import Figure

from lessons_lib.lesson import start
from lessons_lib.lesson.figures import PLOTLY
from lessons_lib.plots import training_explorer
from lessons_lib.plots.explore import explorer

ALT = "Two points that move to the right while tokens are read."
FRAMES = np.arange(12, dtype=float).reshape(3, 2, 2)


@pytest.fixture
def live(notebooks, monkeypatch):
    """A lesson in a kernel with widgets."""
    monkeypatch.setattr(importlib.import_module("lessons_lib.lesson.explore"), "widgets_work", lambda: True)
    return start("one_hot", notebooks=notebooks)


def static() -> Figure:
    fig = Figure(figsize=(3, 2))
    fig.add_subplot().plot([1, 2])
    return fig


def moving():
    return training_explorer(FRAMES, ["a", "a"], steps=["none", "half", "all"], title="It moves", hover=["x", "y"], start=0)


def menu():
    import plotly.graph_objects as go

    buttons = [{"label": f"&lt;{name}&gt;", "method": "update", "args": [{"visible": [name == "b", name == "c"]}, {"title.text": name}]}
               for name in "bc"]
    steps = [{"label": str(k), "method": "restyle", "args": [{"y": [[k], [2 * k]]}]} for k in (1, 2, 3)]
    traces = [go.Scatter(x=[0], y=[1], name=name, visible=name == "b") for name in "bc"]
    slider = {"steps": steps, "active": 1, "currentvalue": {"prefix": "k = "}}
    return explorer(traces, title="A choice", updatemenus=[{"buttons": buttons}], sliders=[slider])


def test_a_slider_over_frames_becomes_a_widget_and_moves_the_points_in_place(live, displayed):
    live.show(moving(), id="moving", alt=ALT, static=static())
    (first, _), (box, _) = displayed[:2]
    assert "sliders" not in first[PLOTLY]["layout"] and "updatemenus" not in first[PLOTLY]["layout"] and "frames" not in first[PLOTLY]
    assert set(first) == {PLOTLY, "text/plain"}, "JupyterLab would show a still picture until a mouse passes over it"
    (slider,) = box.children
    assert [label for label, _ in slider.options] == ["none", "half", "all"] and slider.value == 0
    slider.value = 2
    (between, _), (data, keywords) = displayed[2:4]
    assert set(between) == {"text/plain"}, "without it, plotly in JupyterLab would keep its first drawing"
    assert keywords["updated"] and data[PLOTLY]["data"][0]["x"] == FRAMES[2, :, 0].tolist() and data["text/plain"] == ALT
    assert data[PLOTLY]["data"][0]["mode"] == "markers", "what a frame does not name stays"


def test_a_menu_and_a_slider_do_what_plotly_does(live, displayed):
    live.show(menu(), id="menu", alt=ALT, static=static())
    slider, choice = displayed[1][0].children
    assert slider.description == "k" and slider.value == 1 and choice.options[0][0] == "<b>"
    choice.value = 1
    drawn = displayed[3][0][PLOTLY]
    assert [trace["visible"] for trace in drawn["data"]] == [False, True] and drawn["layout"]["title"]["text"] == "c"
    slider.value = 2
    assert [trace["y"] for trace in displayed[5][0][PLOTLY]["data"]] == [[3], [6]]


def test_the_figure_that_was_shown_stays_as_it_was(live, displayed):
    fig = menu()
    before = fig.to_json()
    live.show(fig, id="menu", alt=ALT, static=static())
    displayed[1][0].children[1].value = 1
    assert fig.to_json() == before


def test_without_a_live_kernel_plotly_keeps_its_own(notebooks, displayed):
    start("one_hot", notebooks=notebooks).show(menu(), id="menu", alt=ALT, static=static())
    assert len(displayed) == 1 and displayed[0][0][PLOTLY]["layout"]["sliders"] and displayed[0][0][PLOTLY]["layout"]["updatemenus"]


def test_a_figure_without_controls_gets_none(live, displayed):
    live.show(explorer([], title="Nothing to move"), id="still", alt=ALT, static=static())
    assert len(displayed) == 1
