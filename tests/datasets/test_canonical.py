"""Checksums over rows: what they tell apart, and what they do not."""

from __future__ import annotations

import pytest

from lessons_lib.datasets.canonical import row_sums, row_sums_of
from lessons_lib.datasets.tables import read_table

COLUMNS = ["score", "text"]


def sums(*rows: tuple[str, str]):
    return row_sums([dict(zip(COLUMNS, row, strict=True)) for row in rows], COLUMNS)


CAFE, NAIVE = ("4.4", "Café au lait ."), ("0", "naïve")
KNOWN = sums(CAFE, NAIVE)


@pytest.mark.parametrize("rows", [
    [("4.400", "Cafe\u0301 au  lait . "), ("0.0", "\tnaïve\r\n")], [CAFE, ("1e-9", "naïve")],
    [("4.4000001", "Café au lait ."), ("-0.0004", "naïve")]])
def test_white_space_composition_and_the_form_of_numbers_do_not_count(rows):
    assert sums(*rows) == KNOWN


@pytest.mark.parametrize("same, rows", [
    *((True, rows) for rows in [
        [NAIVE, CAFE], [("4.4", "CAFÉ au-lait"), NAIVE], [CAFE, ("0", "na ïve!")]]),
    *((False, rows) for rows in [
        [CAFE], [CAFE, NAIVE, NAIVE], [("4.5", "Café au lait ."), NAIVE],
        [("4.4", "Cafe au lait ."), NAIVE], [("0", "Café au lait ."), ("4.4", "naïve")]])])
def test_order_casing_and_punctuation_count_only_in_the_exact_sum_and_other_rows_have_neither(
        same, rows):
    result = sums(*rows)
    assert result.exact != KNOWN.exact and (result.folded == KNOWN.folded) == same


def test_cells_and_rows_do_not_run_into_each_other():
    cells = [[("ab", "c")], [("a", "bc")], [("a", "b"), ("c", "")], [("abc", "")], [("", "abc")]]
    found = [row_sums([{"a": a, "b": b} for a, b in rows], ["a", "b"]) for rows in cells]
    assert len({s.exact for s in found}) == len({s.folded for s in found}) == len(cells)


def test_a_file_of_ours_has_the_sums_of_its_rows_whatever_else_is_in_it(tmp_path):
    text = "text\tmore\tscore\nCafé au lait .\tx\t4.40\nnaïve\ty\t0\n"
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    assert row_sums_of(read_table(tmp_path / "t.tsv", COLUMNS), COLUMNS) == KNOWN
