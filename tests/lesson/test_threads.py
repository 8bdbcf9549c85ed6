"""The number of threads of a lesson: two, or what LESSONS_THREADS says, for libraries that are loaded and for those that come later."""

from __future__ import annotations

import os

import pytest
import torch

from lessons_lib.lesson.threads import THREADS, fix_threads, lesson_threads, thread_environment


def test_two_threads_unless_told():
    assert lesson_threads() == THREADS == 2 and thread_environment()["OPENBLAS_NUM_THREADS"] == "2"


def test_one_thread_for_the_libraries_and_two_for_the_kernels_that_are_asked_for_two(monkeypatch):
    monkeypatch.setenv("LESSONS_THREADS", "1")
    for name in thread_environment():
        monkeypatch.setenv(name, "7")
    assert fix_threads() == torch.get_num_threads() == 1
    assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert thread_environment()["NUMBA_NUM_THREADS"] == "2" and thread_environment(4)["NUMBA_NUM_THREADS"] == "4"


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "²", "1025"])
def test_another_value_is_named(monkeypatch, value):
    monkeypatch.setenv("LESSONS_THREADS", value)
    with pytest.raises(ValueError, match=f"LESSONS_THREADS='{value}' is no number of threads; expected 1 to 1024"):
        lesson_threads()
