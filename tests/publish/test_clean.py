"""Cleaning: what changes from run to run goes, what a lesson says stays."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lessons_lib.core import PROJECT
from lessons_lib.publish import clean
from lessons_lib.publish.clean import WIDGET, clean_text


def executed() -> object:
    stream = [new_output("stream", name="stdout", text="a"),
              new_output("stream", name="stderr", text="warning"),
              new_output("stream", name="stdout", text="b\n")]
    shown = new_output("execute_result", data={"text/plain": "<function f at 0x7f12ab34cd56>"},
                       execution_count=9)
    widget = new_output("display_data",
                        data={WIDGET: {"model_id": "x"}, "text/plain": "IntSlider()"})
    picture = new_output("display_data",
                         data={"image/svg+xml": "<svg><dc:date>2024</dc:date></svg>",
                               "image/png": "iVBORw"})
    cells = [new_markdown_cell("Text"), new_code_cell("f", execution_count=7, outputs=stream,
                                                      metadata={"execution": {"iopub": "2024"}}),
             new_code_cell("g", execution_count=9, outputs=[shown, widget, picture]),
             new_code_cell("g", execution_count=12)]
    return new_notebook(cells=cells, metadata={"widgets": {"a": 1}, "language_info": {
                                                   "name": "python", "version": "3.11.7"}})


def test_what_changes_from_run_to_run_is_gone_and_what_a_lesson_says_stays():
    notebook = clean(executed())
    _, first, second, third = notebook.cells
    assert [cell.execution_count for cell in (first, second, third)] == [1, 2, 3]
    assert [output.text for output in first.outputs] == ["ab\n"]           # no standard error
    assert second.outputs[0].data["text/plain"] == "<function f>"
    assert second.outputs[0].execution_count == 2 and len(second.outputs) == 2
    assert second.outputs[1].data["image/svg+xml"] == "<svg></svg>"
    assert "execution" not in first.metadata and "widgets" not in notebook.metadata
    assert notebook.metadata["language_info"] == {"name": "python"}


def test_ids_follow_from_content_and_stay_when_a_cell_is_added_before():
    first = clean(executed())
    longer = executed()
    longer.cells.insert(0, new_markdown_cell("New"))
    ids = [c["id"] for c in first.cells]
    assert len(set(ids)) == 4 and [c["id"] for c in clean(longer).cells][1:] == ids


def test_cleaning_twice_is_cleaning_once_and_the_input_stays():
    notebook = executed()
    before = copy.deepcopy(notebook)
    once = clean(notebook)
    assert notebook == before and clean(once) == once
    assert clean(new_notebook(cells=[new_code_cell("x")])).cells[0].execution_count is None


@pytest.mark.parametrize(("text", "expected"),
                         [("10%|# | 1/10\r100%|##| 10/10\nend\n", "end\n"),
                          ("working\rdone\n", "done\n"), ("a\r\nb", "a\nb"),
                          (f"{PROJECT}/data/x.tsv", "data/x.tsv"),
                          ("<A object at 0x7fabcdef1234>", "<A object>"),
                          ("mask 0xff", "mask 0xff"), ("50% | of 100", "50% | of 100")])
def test_text_is_cleaned(text, expected):
    assert clean_text(text) == expected


@given(st.text(max_size=60))
def test_cleaning_text_twice_is_cleaning_it_once(text):
    assert clean_text(clean_text(text)) == clean_text(text)
