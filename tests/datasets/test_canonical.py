"""Checksums over rows: what they tell apart, and what they do not."""

from __future__ import annotations

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.datasets.canonical import row_sums, row_sums_of
from lessons_lib.datasets.tables import read_table

ROWS = [{"score": "4.4", "text": "Café au lait ."}, {"score": "0", "text": "naïve"}]
COLUMNS = ["score", "text"]
SUMS = row_sums(ROWS, COLUMNS)


@pytest.mark.parametrize(
    "rows",
    [
        [
            {"score": "4.400", "text": "Cafe\u0301 au  lait . "},
            {"score": "0.0", "text": "\tnaïve\r\n"},
        ],
        [ROWS[0] | {"more": "x"}, {"score": "1e-9", "text": "naïve"}],
        [ROWS[0] | {"score": "4.4000001"}, {"score": "-0.0004", "text": "naïve"}],
    ],
)
def test_white_space_composition_and_the_form_of_numbers_do_not_count(rows):
    assert row_sums(rows, COLUMNS) == SUMS


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[::-1],
        [{"score": "4.4", "text": "CAFÉ au-lait"}, ROWS[1]],
        [ROWS[0], {"score": "0", "text": "na ïve!"}],
    ],
)
def test_order_casing_and_punctuation_count_only_in_the_exact_sum(rows):
    sums = row_sums(rows, COLUMNS)
    assert sums.folded == SUMS.folded and sums.exact != SUMS.exact


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[:1],
        [*ROWS, ROWS[1]],
        [{"score": "4.5", "text": "Café au lait ."}, ROWS[1]],
        [{"score": "4.4", "text": "Cafe au lait ."}, ROWS[1]],
        [{"score": "0", "text": "Café au lait ."}, {"score": "4.4", "text": "naïve"}],
    ],
)
def test_other_rows_have_neither_sum(rows):
    sums = row_sums(rows, COLUMNS)
    assert sums.folded != SUMS.folded and sums.exact != SUMS.exact


def test_cells_and_rows_do_not_run_into_each_other():
    cells = [[("ab", "c")], [("a", "bc")], [("a", "b"), ("c", "")], [("abc", "")], [("", "abc")]]
    sums = [row_sums([{"a": a, "b": b} for a, b in rows], ["a", "b"]) for rows in cells]
    assert (
        len({found.exact for found in sums}) == len({found.folded for found in sums}) == len(cells)
    )


def test_a_file_of_ours_has_the_sums_of_its_rows(tmp_path):
    (tmp_path / "t.tsv").write_text(
        "text\tscore\nCafé au lait .\t4.40\nnaïve\t0\n", encoding="utf-8"
    )
    assert row_sums_of(read_table(tmp_path / "t.tsv", COLUMNS), COLUMNS) == SUMS


def test_a_score_that_is_no_number_and_a_folder_are_named(tmp_path):
    with pytest.raises(ValueError, match="could not convert"):
        row_sums([{"score": "x", "text": ""}], COLUMNS)
    with pytest.raises(DamagedFile, match="is a folder"):
        row_sums_of(read_table(tmp_path, COLUMNS), COLUMNS)
