"""Exploring: the default is always drawn, moved controls change it in place, and a stored notebook holds no widget."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

from lessons_lib.lesson import start
from lessons_lib.lesson.explore import BUILD_VARIABLE, defaults_of, widgets_work

ALT = "Line plot that grows with k to the right."


def draw(k: int = 3, kind: str = "a") -> Figure:
    fig = Figure(figsize=(3, 2))
    fig.add_subplot().plot(range(k))
    return fig


@pytest.fixture
def lesson(notebooks):
    return start("one_hot", notebooks=notebooks)


def test_without_widgets_the_default_and_a_note_are_shown(lesson, displayed):
    lesson.explore(draw, id="growth", alt=ALT, k=(1, 10), kind=["a", "b"])
    assert displayed[0][0]["text/plain"] == ALT and "image/svg+xml" in displayed[0][0]
    assert displayed[1][0]["text/plain"] == "Run this cell to move: k from 1 to 10 · kind: a, b"


def test_a_live_kernel_gets_controls_that_redraw_in_place(lesson, displayed, monkeypatch):
    monkeypatch.setattr(sys.modules["lessons_lib.lesson.explore"], "widgets_work", lambda: True)
    lesson.explore(draw, id="growth", alt=lambda k, kind: f"Line plot that grows with k, which is {k}.", k=(1, 10), kind=["a", "b"])
    box = displayed[1][0]
    slider, choice = box.children
    assert not slider.continuous_update and (slider.value, slider.min, slider.max) == (3, 1, 10) and choice.value == "a"
    slider.value = 7
    data, keywords = displayed[2]
    assert keywords["updated"] and data["text/plain"].endswith("which is 7.")


def test_an_error_while_exploring_is_shown_and_not_lost(lesson, displayed, monkeypatch):
    def fails(k: int = 1) -> str:
        return str(1 // (2 - k))

    monkeypatch.setattr(sys.modules["lessons_lib.lesson.explore"], "widgets_work", lambda: True)
    lesson.explore(fails, id="growth", alt=ALT, k=(1, 3))
    displayed[1][0].children[0].value = 2
    assert displayed[2][0]["text/plain"].startswith("ZeroDivisionError")


def test_controls_start_at_the_functions_default_else_at_the_first_choice():
    def function(k, kind="b", log=False, size=2.5):
        return ""

    controls = {"k": (2, 9, 1), "kind": {"A": "a", "B": "b"}, "log": True, "size": (0.5, 4.0)}
    assert defaults_of(function, controls) == {"k": 2, "kind": "b", "log": False, "size": 2.5}


@pytest.mark.parametrize("control", [(5, 1), (1,), [], {}, "abc", 3, None, (1, 1)])
def test_what_is_no_control_is_refused(control):
    with pytest.raises(ValueError, match="k=.* is no control"):
        defaults_of(lambda k: "", {"k": control})


def test_a_default_outside_its_control_is_refused():
    with pytest.raises(ValueError, match="k=3 is the default"):
        defaults_of(draw, {"k": (5, 9)})


def test_P26_a_control_the_function_has_no_argument_for_gets_the_nearest_name():
    with pytest.raises(TypeError, match="no argument 'kinds'; did you mean 'kind'"):
        defaults_of(draw, {"kinds": ["a"]})


def test_a_result_that_cannot_be_shown_is_named(lesson, displayed):
    with pytest.raises(TypeError, match="the explored function returned"):
        lesson.explore(lambda k: object(), id="growth", alt=ALT, k=(1, 3))


def test_widgets_are_off_in_plain_python_and_in_a_build(monkeypatch):
    assert not widgets_work()
    import IPython

    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(config={"IPKernelApp": {}}))
    assert widgets_work()
    monkeypatch.setenv(BUILD_VARIABLE, "1")
    assert not widgets_work()
