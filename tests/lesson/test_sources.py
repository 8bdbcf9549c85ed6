"""Library code on display: with its place inside the project, never the place on this machine."""

from __future__ import annotations

import functools
import json

import pytest

from lessons_lib.core import PROJECT, Composed, Estimator, checks
from lessons_lib.lesson import start
from lessons_lib.lesson.sources import source_markdown


def test_the_source_of_a_function_comes_with_its_relative_path():
    text = source_markdown(checks.check_seed)
    assert text.startswith("`lessons_lib/core/checks.py`\n\n```python\ndef check_seed(value: object) -> int:")
    assert str(PROJECT) not in text


@pytest.mark.parametrize("thing", [Estimator, Composed.encode, Composed.name, checks, functools.wraps(checks.check_seed)(lambda value: value)])
def test_classes_methods_properties_modules_and_wrapped_functions_have_a_source(thing):
    assert source_markdown(thing).startswith("`lessons_lib/core/")


def test_docstrings_can_be_left_out():
    short = source_markdown(Composed, docstring=False)
    assert '"""' not in short and "def encode(" in short and len(short) < len(source_markdown(Composed))


def test_code_that_holds_a_fence_gets_a_longer_one():
    def fenced() -> str:
        return "```"

    assert source_markdown(fenced).count("````") == 2


def test_code_of_another_library_is_named_by_its_module():
    assert source_markdown(json.dumps).startswith("`json (not of this course)`")


@pytest.mark.parametrize("thing", [3, "text", len, None])
def test_what_has_no_source_is_refused(thing):
    with pytest.raises(TypeError, match="has no Python source"):
        source_markdown(thing)


def test_the_lesson_displays_markdown(notebooks, displayed):
    start("one_hot", notebooks=notebooks).source(checks.check_seed)
    data, keywords = displayed[0]
    assert data["text/markdown"] == data["text/plain"] and keywords["raw"]
