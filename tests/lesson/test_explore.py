"""Exploring: the default is drawn, controls change it in place, a stored notebook has no widget.

Plotly's own sliders and menus become widgets that the keyboard reaches, and do the same.
"""

from __future__ import annotations

import base64
import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from lessons_lib.lesson.explore import BUILD_VARIABLE, defaults_of, widgets_work
from lessons_lib.lesson.figures import PLOTLY, PNG
from lessons_lib.plots import training_explorer
from lessons_lib.plots.explore import explorer

from .conftest import ALT, line

FRAMES = np.arange(12, dtype=float).reshape(3, 2, 2)


def draw(k: int = 3, kind: str = "a"):
    return line(k)


def test_without_widgets_the_default_and_a_note_are_shown(lesson, displayed):
    lesson.explore(draw, id="growth", alt=ALT, k=(1, 10), kind=["a", "b"])
    assert displayed[0][0]["text/plain"] == ALT and "image/svg+xml" in displayed[0][0]
    note = "Run this cell to move: k from 1 to 10 · kind: a, b"
    assert displayed[1][0]["text/plain"] == note


def test_a_live_kernel_gets_controls_that_redraw_in_place(lesson, displayed, live):
    lesson.explore(draw, id="growth", k=(1, 10), kind=["a", "b"],
                   alt=lambda k, kind: f"Line plot that grows with k, which is {k}.")
    slider, choice = displayed[0][0].children
    assert "image/svg+xml" in displayed[2][0], "complete at first, for the page without a kernel"
    assert not slider.continuous_update and choice.value == "a"
    assert (slider.value, slider.min, slider.max) == (3, 1, 10)
    slider.value = 7
    data, keywords = displayed[3]
    assert keywords["updated"] and data["text/plain"].endswith("which is 7.")


def test_a_moved_picture_is_twice_as_fine_as_its_page_and_drawn_once(lesson, displayed, live):
    drawn = []

    def counted(many_dots: int = 3):
        drawn.append(many_dots)
        return line(many_dots)

    lesson.explore(counted, id="growth", alt=ALT, many_dots=(1, 10))
    (slider,) = displayed[0][0].children
    for value in (7, 3, 7, 3):
        slider.value = value
    assert drawn == [3, 7, 3], "a picture that was seen is kept"
    data, keywords = displayed[-1]
    assert set(data) == {PNG, "text/plain"}
    size = keywords["metadata"][PNG]
    assert (size["width"], size["height"]) == (384, 288), "4 x 3 inches at 96 pixels"
    assert Image.open(io.BytesIO(base64.b64decode(data[PNG]))).size == (768, 576)


def test_axes_lie_still_while_a_control_moves_what_they_hold(lesson, displayed, live):
    from matplotlib.pyplot import subplots

    places = []

    def drawn(height: float = 1.0):
        fig, (left, _) = subplots(1, 2, layout="constrained", figsize=(6, 3))
        left.plot([0, height])
        fig.suptitle("A title over both")
        places.append(fig)
        return fig

    lesson.explore(drawn, id="growth", alt=ALT, height=(0.0, 1e6))
    displayed[0][0].children[0].value = 1e6      # its numbers are wider
    first, moved = ([*(ax.get_position().bounds for ax in fig.axes), fig.texts[0].get_position()]
                    for fig in places)
    assert moved == first


def test_a_control_has_a_name_in_words(lesson, displayed, live):
    def drawn(q: int = 2, many_dots: int = 3):
        return line(many_dots)

    lesson.explore(drawn, id="growth", alt=ALT, names={"q": "question"}, q=(1, 5),
                   many_dots=(1, 10))
    assert [w.description for w in displayed[0][0].children] == ["question", "many dots"]
    with pytest.raises(TypeError, match="qq"):
        lesson.explore(drawn, id="growth", alt=ALT, names={"qq": "question"}, q=(1, 5))


def test_a_control_in_a_page_that_was_loaded_anew_says_run_this_cell(lesson, displayed, live,
                                                                     monkeypatch):
    lesson.explore(draw, id="growth", alt=ALT, k=(1, 10))
    box = displayed[0][0]
    box.children[0].value = 4
    assert len(box.children) == 1
    monkeypatch.setattr("lessons_lib.lesson.live.page_of_now", lambda: "another page")
    box.children[0].value = 5
    box.children[0].value = 6
    _slider, note = box.children
    assert "Run this cell" in note.value


def test_controls_stand_above_and_a_note_waits_for_a_kernel_that_knows_none(lesson, displayed,
                                                                            live):
    lesson.explore(draw, id="growth", alt=ALT, k=(1, 10))
    note, picture = displayed[1][0], displayed[2][0]
    assert note["text/plain"].startswith("Run this cell") and "image/svg+xml" in picture
    assert 'class="lesson-asleep"' in note["text/html"]


def test_an_error_while_exploring_is_shown_and_not_lost(lesson, displayed, live):
    lesson.explore(lambda k=1: str(1 // (2 - k)), id="growth", alt=ALT, k=(1, 3))
    displayed[0][0].children[0].value = 2
    assert displayed[3][0]["text/plain"].startswith("ZeroDivisionError")


def test_controls_start_at_the_functions_default_else_at_the_first_choice():
    def function(k, kind="b", log=False, size=2.5):
        return ""

    controls = {"k": (2, 9, 1), "kind": {"A": "a", "B": "b"}, "log": True, "size": (0.5, 4.0)}
    assert defaults_of(function, controls) == {"k": 2, "kind": "b", "log": False, "size": 2.5}


def test_widgets_are_off_in_plain_python_and_in_a_build(monkeypatch):
    assert not widgets_work()
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert widgets_work()
    monkeypatch.setenv(BUILD_VARIABLE, "1")
    assert not widgets_work()


def moving():
    return training_explorer(FRAMES, ["a", "a"], steps=["none", "half", "all"], title="It moves",
                             hover=["x", "y"])


def menu():
    import plotly.graph_objects as go

    buttons = [{"label": f"&lt;{name}&gt;", "method": "update",
                "args": [{"visible": [name == "b", name == "c"]}, {"title.text": name}]}
               for name in "bc"]
    steps = [{"label": str(k), "method": "restyle", "args": [{"y": [[k], [2 * k]]}]}
             for k in (1, 2, 3)]
    traces = [go.Scatter(x=[0], y=[1], name=name, visible=name == "b") for name in "bc"]
    slider = {"steps": steps, "active": 1, "currentvalue": {"prefix": "k = "}}
    return explorer(traces, title="A choice", updatemenus=[{"buttons": buttons}], sliders=[slider])


def show(lesson, fig):
    lesson.show(fig, id="moving", alt=ALT, static=line())


def test_a_slider_over_frames_becomes_a_widget_and_moves_the_points_in_place(lesson, displayed,
                                                                             live):
    show(lesson, moving())
    (box, _), _note, (first, _) = displayed[:3]
    assert not {"sliders", "updatemenus"} & set(first[PLOTLY]["layout"])
    assert "frames" not in first[PLOTLY]
    assert set(first) == {PLOTLY, "text/plain"}, "JupyterLab would show a still picture at first"
    (slider,) = box.children
    assert [label for label, _ in slider.options] == ["none", "half", "all"] and slider.value == 0
    slider.value = 2
    (between, _), (data, keywords) = displayed[3:5]
    assert set(between) == {"text/plain"}, "else plotly in JupyterLab keeps its first drawing"
    trace = data[PLOTLY]["data"][0]
    assert keywords["updated"] and data["text/plain"] == ALT
    assert trace["x"] == FRAMES[2, :, 0].tolist()
    assert trace["mode"] == "markers", "what a frame does not name stays"


def test_a_menu_and_a_slider_do_what_plotly_does_and_leave_the_figure_as_it_was(lesson, displayed,
                                                                                live):
    fig = menu()
    before = fig.to_json()
    show(lesson, fig)
    slider, choice = displayed[0][0].children
    assert slider.description == "k" and slider.value == 1 and choice.options[0][0] == "<b>"
    choice.value = 1
    drawn = displayed[4][0][PLOTLY]
    assert [trace["visible"] for trace in drawn["data"]] == [False, True]
    assert drawn["layout"]["title"]["text"] == "c"
    slider.value = 2
    assert [trace["y"] for trace in displayed[6][0][PLOTLY]["data"]] == [[3], [6]]
    assert fig.to_json() == before


def test_plotly_keeps_its_own_without_a_live_kernel(lesson, displayed):
    show(lesson, menu())
    layout = displayed[0][0][PLOTLY]["layout"]
    assert len(displayed) == 1 and layout["sliders"] and layout["updatemenus"]


def test_a_figure_without_controls_gets_none(lesson, displayed, live):
    show(lesson, explorer([], title="Nothing to move"))
    assert len(displayed) == 1 and PLOTLY in displayed[0][0]


def test_a_text_is_a_control_that_waits_for_a_pause_and_refuses_in_a_sentence(lesson, displayed,
                                                                              live):
    def say(first: str = "a rose", loud: bool = False):
        if first.isnumeric():
            raise ValueError("Numbers say nothing.")
        return first.upper() if loud else first

    lesson.explore(say, id="said", alt=ALT, names={"first": "your text"}, first="a tulip",
                   loud=False)
    box, loud = displayed[0][0].children
    assert (box.value, box.description) == ("a rose", "your text")
    said = []
    for value in ("a lily", " ", "x" * 3000, "12"):
        box.value = value
        said.append(displayed[-1][0]["text/plain"])
    assert said[0] == "a lily" and said[1] == "Type something into “your text”."
    assert "at most 2,000" in said[2] and said[3] == "Numbers say nothing."
    box.value, loud.value = "a lily", True
    assert displayed[-1][0]["text/plain"] == "A LILY"


@pytest.mark.parametrize("default", ["", " \n"])
def test_an_empty_text_is_no_control(lesson, default):
    with pytest.raises(ValueError, match="first="):
        lesson.explore(lambda first: first, id="said", alt=ALT, first=default)


def test_without_widgets_a_text_is_named_among_the_controls(lesson, displayed):
    lesson.explore(lambda first: first, id="said", alt=ALT, first="a rose")
    assert displayed[1][0]["text/plain"] == "Run this cell to move: first: your own text"
