"""Folded cells and texts: in JupyterLab, on the site and on slides, by one set of tags."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_output

from lessons_lib.core import write_text
from lessons_lib.publish import notebook_of, read_bibliography, refreshed_text
from lessons_lib.publish.folds import DETAILS, without_details
from lessons_lib.publish.web import deck
from lessons_lib.publish.web.outputs import Pictures
from lessons_lib.publish.web.sources import still_notebook

BOTH = {"source_hidden": True, "outputs_hidden": True}
CURIOUS = """## A

<details><summary>For the curious: **why** $x$</summary>

Because of $y$.

| a | b |
|---|---|

</details>

After. <details><summary>Two</summary>B.</details>"""


def said(text):
    return new_output("display_data", data={"text/markdown": text, "text/plain": text})


@pytest.fixture
def card(course):
    return course.card("counting")


@pytest.mark.parametrize(("tag", "hidden"), [
    ("hide-output", {"outputs_hidden": True}), ("hide-input", {"source_hidden": True}),
    ("check", BOTH), ("curious", BOTH), ("other", None)])
def test_a_tag_folds_a_cell_in_the_notebook_and_alone_stands_in_the_text(course, tag, hidden):
    card, papers = course.card("counting"), read_bibliography(course.notebooks / "references.bib")
    text = card.path.read_text("utf-8").replace("ipython3\nwords", f"ipython3\n:tags: [{tag}]\n\n"
                                                                  "words", 1)
    write_text(card.path, text)
    made = notebook_of(card, course.cards(), papers)
    cell = next(cell for cell in made.cells if cell.cell_type == "code")
    assert cell.metadata.get("jupyter") == hidden
    text = refreshed_text(card, made)
    assert f":tags: [{tag}]" in text and "jupyter:\n" not in text
    assert cell.metadata.get("jupyter") == hidden, "the notebook stays as it was"


def test_a_text_saved_by_jupyterlab_loses_what_it_says_of_folds(course):
    card, papers = course.card("counting"), read_bibliography(course.notebooks / "references.bib")
    text = card.path.read_text("utf-8").replace(
        "ipython3\nwords", "ipython3\n---\njupyter:\n  outputs_hidden: true\n---\nwords", 1)
    write_text(card.path, text)
    made = notebook_of(card, course.cards(), papers)
    assert not any("jupyter" in cell.metadata for cell in made.cells)


def test_the_site_folds_the_same_cells_and_finds_places_as_jupyterlab_names_them(notebook,
                                                                                 tmp_path):
    made = notebook(("x", [], {"tags": ["check"]}), ("x", [], {"tags": ["hide-output"]}),
                    "[a](#3.-Why-it-fails), [b](02_b.ipynb#What-now%3F)")
    check, answer, text = still_notebook(made, Pictures(tmp_path, "")).cells
    assert check.metadata["tags"] == ["check", "hide-cell"]
    assert answer.metadata["tags"] == ["hide-output"], "which Sphinx knows"
    assert answer.metadata["mystnb"]["code_prompt_show"] == "Show the answer"
    assert text.source == "[a](#3-why-it-fails), [b](02_b.ipynb#what-now)"


def test_folded_text_is_found_and_taken_out_whole():
    assert [summary for summary, _ in DETAILS.findall(CURIOUS)] == [
        "For the curious: **why** $x$", "Two"]
    assert without_details(CURIOUS).split() == ["##", "A", "After."]


def test_an_answer_is_a_slide_after_its_question_and_checks_and_folded_text_are_none(
        card, notebook, picture, table):
    made = notebook(CURIOUS, ("ask()", [said("**Predict.** Up?\n- a. yes")], {}),
                    ("show()", [said("**The answer: a. yes.**"), table],
                     {"tags": ["hide-output"]}),
                    ("show()", [said("**The answer: b. no.**")], {"tags": ["hide-output"]}),
                    ("plot()", [picture()], {"tags": ["hide-output"], "slide": False}),
                    ("plot()", [picture()], {"tags": ["check"]}),
                    "## Told in one table\n\n| method | cost |\n|---|---|\n| a | 1 |\n\nMore.",
                    "## Ten questions\n\n$$x$$", ("plot()", [picture()], {}))
    _, first, second, last = deck(card, made)
    assert first.question == "**Predict.** Up?\n- a. yes"
    assert first.output is made.cells[2].outputs[1]
    assert first.sentence == "**The answer: a. yes.**" and second.output is None
    assert second.question == "What do you expect?" and "answer: b" in second.sentence
    assert last.body.startswith("| method | cost |") and last.heading == "Told in one table"
    assert "Because" not in str(first.notes)
