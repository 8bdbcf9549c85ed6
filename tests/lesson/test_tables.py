"""Tables: every cell escaped, aligned as text, numbers on the right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.lesson import start
from lessons_lib.lesson.tables import Table


def test_numbers_are_formatted_and_missing_cells_are_dashes():
    table = Table([["a", 12345, 0.123456], {"w": "b", "n": None, "x": 2.0}], ["w", "n", "x"], "Counts")
    assert table.to_text().splitlines() == ["Counts", "w       n       x", "-  ------  ------", "a  12,345  0.1235", "b       –       2"]


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_cell_can_bring_markup(cell, head):
    html = Table([[cell]], [head], cell).to_html()
    assert html.count("<") == Table([["a"]], ["b"], "c" if cell else "").to_html().count("<")


def test_columns_have_a_scope_and_the_table_a_caption():
    html = Table([[1]], ["n"], "One number").to_html()
    assert '<th scope="col" style="text-align:right">n</th>' in html and "<caption>One number</caption>" in html


@pytest.mark.parametrize(("rows", "kind", "message"), [([[1, 2]], ValueError, r"rows\[0\] has 2 cells; expected 1"),
                                                       (["ab"], TypeError, r"rows\[0\]='ab'")])
def test_a_row_of_another_length_or_kind_is_refused(rows, kind, message):
    with pytest.raises(kind, match=message):
        Table(rows, ["n"])


def test_the_lesson_shows_a_table(notebooks, displayed):
    start("one_hot", notebooks=notebooks).table([["<b>", 1]], ["word", "count"], "Words")
    bundle = displayed[0][0]._repr_mimebundle_()
    assert "&lt;b&gt;" in bundle["text/html"] and bundle["text/plain"].startswith("Words")
