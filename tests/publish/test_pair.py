"""Text and notebook: the same cells, and the author's words untouched."""

from __future__ import annotations

import jupytext
import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.lesson.course import split_front_matter
from lessons_lib.publish import notebook_of, read_bibliography, refreshed_text


@pytest.fixture
def parts(course):
    return course.cards(), read_bibliography(course.notebooks / "references.bib")


def test_the_opening_holds_title_question_and_table(course, parts):
    opening = notebook_of(course.card("counting"), *parts).cells[0].source
    assert opening.startswith("# 01 · Counting\n\n**How far | does counting get?**\n")
    for row in ("| **You will** | count words · draw a line |", "| **You need** | [00 · Start "
                "here](00_start_here.ipynb) |", "| **Time** | 5 minutes to read, 1 minute to run |",
                "| **Papers** | Harris 1954 |", "| **Library** | `lessons_lib.core.checks` |",
                "| **Terms** | [Glossary](glossary.ipynb) |"):
        assert row in opening


def test_the_closing_lists_papers_and_neighbours(course, parts):
    closing = notebook_of(course.card("counting"), *parts).cells[-1].source
    papers = "### Papers\n\n- `[harris1954distributional]` Harris (1954)."
    assert papers in closing and closing.endswith("Previous: [00 · Start "
                                                  "here](00_start_here.ipynb)")
    assert notebook_of(course.card("start_here"),
                       *parts).cells[-1].source == "Next: [01 · Counting](01_counting.ipynb)"


def test_the_map_is_filled_from_all_lessons(course, parts):
    cells = notebook_of(course.card("start_here"), *parts).cells
    row = "| [01 · Counting](01_counting.ipynb) | How far \\| does counting get? | 5 / 1 min | 00 |"
    assert row in cells[1].source


def test_the_text_read_again_is_the_same_notebook_and_the_same_text(course, parts):
    card = course.card("counting")
    notebook = notebook_of(card, *parts)
    text = refreshed_text(card, notebook)
    card.path.write_text(text, "utf-8")
    again = notebook_of(course.card("counting"), *parts)
    assert [(c.cell_type, c.source)
            for c in again.cells] == [(c.cell_type, c.source) for c in notebook.cells]
    assert refreshed_text(course.card("counting"), again) == text


def test_any_reader_of_the_text_sees_the_same_cells_and_the_author_s_front_matter(course, parts):
    card = course.card("counting")
    notebook = notebook_of(card, *parts)
    text = refreshed_text(card, notebook)
    seen = [[(c.cell_type, c.source, c.metadata) for c in one.cells]
            for one in (notebook, jupytext.reads(text, fmt="md:myst"))]
    assert seen[0] == seen[1]
    header, _ = split_front_matter(text)
    assert "  minutes: {read: 5, run: 1}   # the author's own comment\n" in header
    assert header.startswith("jupytext:\n  formats: ipynb,md:myst\n")
    saved, _ = split_front_matter(jupytext.writes(notebook, fmt="md:myst"))     # by JupyterLab
    assert "  id: counting" in saved and "version:" not in saved


def test_a_text_without_cells_is_refused(course, parts):
    card = course.card("counting")
    card.path.write_text("---\n" + split_front_matter(card.path.read_text("utf-8"))[0]
                         + "---\n", encoding="utf-8")
    with pytest.raises(DamagedFile, match="no cell"):
        notebook_of(card, *parts)
