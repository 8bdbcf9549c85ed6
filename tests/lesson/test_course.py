"""The list of lessons is the folder of their texts, and threads and scale are what was asked for.
"""

from __future__ import annotations

import dataclasses
import os

import pytest
import torch

from lessons_lib.lesson import Course
from lessons_lib.lesson.course import chosen_scale, split_front_matter
from lessons_lib.lesson.threads import THREADS, fix_threads, lesson_threads, thread_environment


def test_lessons_are_found_by_number_and_id(notebooks):
    course = Course(notebooks.parent)
    assert course.ids() == ["start_here", "one_hot"]
    assert [card.stem for card in course.cards()] == ["00_start_here", "01_one_hot"]
    for name in ("one_hot", "01_one_hot", "1", "01"):
        assert course.card(name).id == course.plain_id(name) == "one_hot"


def test_settings_are_a_frozen_dataclass_per_scale(notebooks):
    card = Course(notebooks.parent).card("one_hot")
    assert card.settings("smoke").n_documents == 3 and card.settings("paper").sizes == (100, 200)
    with pytest.raises(dataclasses.FrozenInstanceError):
        card.settings("smoke").n_documents = 4


def test_windows_line_ends_and_a_byte_order_mark_are_read():
    text = "\ufeff---\r\na: 1\r\n---\r\nText\r\n"
    assert split_front_matter(text) == ("a: 1\n", "Text\n")


def test_the_scale_is_the_argument_then_the_environment_then_laptop(monkeypatch):
    monkeypatch.delenv("LESSONS_SCALE", raising=False)
    assert chosen_scale(None) == "laptop"
    monkeypatch.setenv("LESSONS_SCALE", "smoke")
    assert chosen_scale(None) == "smoke" and chosen_scale("paper") == "paper"


def test_two_threads_unless_told_and_two_for_kernels_that_are_asked_for_two(monkeypatch):
    assert lesson_threads() == THREADS == 2
    assert thread_environment()["OPENBLAS_NUM_THREADS"] == "2"
    monkeypatch.setenv("LESSONS_THREADS", "1")
    for name in thread_environment():
        monkeypatch.setenv(name, "7")
    assert fix_threads() == torch.get_num_threads() == 1
    assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert thread_environment()["NUMBA_NUM_THREADS"] == "2"
    assert thread_environment(4)["NUMBA_NUM_THREADS"] == "4"
