"""The map of lessons: between its markers, nowhere else."""

from __future__ import annotations

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.publish import lesson_map, write_map


def test_the_map_has_link_question_minutes_and_needs_and_only_it_changes_and_once(course):
    readme, table = course.root / "README.md", lesson_map(course.cards())
    assert "(notebooks/00_start_here.ipynb) | What is here? | 5 / 1 min | – |\n" in table
    assert table.count("\n") == 3
    assert write_map(readme, course.cards()) and not write_map(readme, course.cards())
    text = readme.read_text("utf-8")
    assert text.startswith("# Tiny\n\n<!-- lessons:begin -->\n| lesson |")
    assert text.endswith("|\n<!-- lessons:end -->\n\nEnd.\n")


@pytest.mark.parametrize("text", ["no markers", "<!-- lessons:end --> <!-- lessons:begin -->",
                                  "<!-- lessons:begin -->"])
def test_a_readme_without_its_markers_is_left_alone(course, text):
    readme = course.root / "README.md"
    readme.write_text(text, "utf-8")
    with pytest.raises(DamagedFile, match="README.md needs one line"):
        write_map(readme, course.cards())
    assert readme.read_text("utf-8") == text
