"""Tables: aligned text and escaped HTML."""

from __future__ import annotations

from lessons_lib.evaluation.tables import html_table, text_table

ROWS = [["name", "score"], ["a<b", "7.5"], ["long name", "12.0"]]


def test_text_columns_are_aligned_words_left_and_numbers_right():
    assert text_table(ROWS, left=1) == "name       score\na<b          7.5\nlong name   12.0"


def test_html_escapes_cells_and_caption_and_stresses_the_chosen_cells():
    page = html_table(ROWS, caption="x > y", bold=frozenset({(1, 1)}))
    assert "a&lt;b" in page and "x &gt; y" in page and page.count(
        "<b>") == 1 and "<b>12.0</b>" in page
    assert page.count("<tr>") == 3 and page.count('<th scope="col">') == 2
