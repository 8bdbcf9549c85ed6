"""Lessons in a real browser: they run whole, a control moves the picture, nothing calls home."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lessons_lib.lesson.course import Course

from .lab import private_environment
from .pages import LessonPage

# Lesson, a mark of the cell with a control, the key that moves the control once it has the focus: a
# button is pressed, a letter typed.
CONTROLS = {"start_here": ('id="start_here_pair"', "x"),
            "bert_whitening": ('id="whitening_dials"', "ArrowRight")}


@pytest.mark.slow
@pytest.mark.parametrize("lesson", CONTROLS)
def test_a_lesson_runs_whole_and_the_keyboard_moves_its_picture(lesson, lab, context, pictures):
    mark, key = CONTROLS[lesson]
    page = LessonPage(context.new_page(), lab.address(lesson))
    page.start_all()
    page.finish()
    page.scroll_to(mark)
    page.keep_screenshot(pictures, f"{lesson}_before")
    page.tab_to(mark)
    before = page.picture(mark)  # at the last moment: nothing but the key may change it
    assert before
    page.page.keyboard.press(key)
    page.wait_for_another_picture(mark, before)
    page.keep_screenshot(pictures, f"{lesson}_after")
    page.close()
    assert page.crashes == []
    assert len(context.requests.all) > 50 and context.requests.outside() == []
    assert lab.calls() == []


@pytest.mark.slow
def test_no_cell_scrolls_sideways_on_the_screen_of_a_small_laptop(lab, browser):
    window = browser.new_context(viewport={"width": 1366, "height": 768})
    found = {}
    for lesson in (card.id for card in Course().cards()):
        page = LessonPage(window.new_page(), lab.address(lesson))
        found[lesson] = page.sideways()
        page.close()
    assert found and not any(found.values()), found


def test_a_request_to_another_machine_is_seen(context):
    page = context.new_page()
    page.set_content('<img src="http://elsewhere.example/pixel.png"><script>new '
                     'WebSocket("ws://elsewhere.example/talk")</script>')
    page.wait_for_timeout(200)
    assert context.requests.outside() == ["http://elsewhere.example/pixel.png",
                                          "ws://elsewhere.example/talk"]


def test_a_process_that_calls_another_machine_is_stopped_and_told(tmp_path):
    code = "import socket; socket.create_connection(('elsewhere.example', 80))"
    done = subprocess.run([sys.executable, "-c", code], env=private_environment(tmp_path),
                          capture_output=True, text=True)
    assert "tried to reach elsewhere.example; tests are offline" in done.stderr
    assert (tmp_path / "calls.txt").read_text() == "socket.getaddrinfo elsewhere.example\n"
