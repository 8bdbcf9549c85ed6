"""Interactive figures: small, without a template, with escaped text."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING


def example(n: int = 40, hover: str = "a text"):
    return plots.document_map_interactive(np.random.default_rng(0).normal(size=(n, 2)), ["a", "b"] * (n // 2), title=FINDING, hover=[hover] * n)


def test_no_template_is_stored_and_an_example_stays_small():
    stored = json.loads(example().to_json())
    assert stored["layout"].get("template", {}) == {"data": {}, "layout": {}} or not stored["layout"].get("template", {}).get("layout")
    assert len(example().to_json()) < 8_000


def test_each_group_is_one_trace_with_all_its_points():
    fig = example()
    assert [trace.name for trace in fig.data] == ["a", "b"] and sum(len(trace.x) for trace in fig.data) == 40
    assert {trace.marker.symbol for trace in fig.data} == {"circle", "square"}


def test_data_text_is_escaped_cut_and_never_empty():
    assert example(2, "<a href='x'>& click").data[0].text[0] == "&lt;a href=&#x27;x&#x27;&gt;&amp; click"
    assert len(example(2, "word " * 100).data[0].text[0]) < 130
    assert example(2, "  ").data[0].text[0] == "(empty)"


def test_the_same_input_gives_the_same_bytes():
    assert example().to_json() == example().to_json()


def test_V05_unequal_rows_are_named():
    with pytest.raises(ValueError, match="2, 1 and 2 rows"):
        plots.document_map_interactive(np.zeros((2, 2)), ["a"], title="x", hover=["a", "b"])


def test_a_title_that_is_no_text_is_named():
    with pytest.raises(TypeError, match="title=5 is int"):
        plots.document_map_interactive(np.zeros((2, 2)), ["a", "b"], title=5, hover=["x", "y"])
