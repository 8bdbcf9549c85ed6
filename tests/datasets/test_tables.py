"""The table reader: what it keeps as it is, and what it refuses with which words."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessons_lib.core import DamagedFile
from lessons_lib.datasets.tables import iterate_lines, read_table, read_text

HEADER = "score\tsentence1\tsentence2\n"


def written(folder: Path, text: str | bytes, name: str = "t.tsv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


fields = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=("Cs",)), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(fields, fields, fields), max_size=8), ending=st.sampled_from([".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.xz"]),
       newline=st.sampled_from(["\n", "\r\n"]), mark=st.booleans())
def test_F11_whatever_was_written_is_read_back(tmp_path, rows, ending, newline, mark):
    path = tmp_path / f"t{ending}"
    opened = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "wb") as stream:
        stream.write(("\ufeff" * mark + newline.join("\t".join(row) for row in [("a", "b", "c"), *rows]) + newline).encode())
    table = read_table(path, ["a", "c"])
    assert list(zip(table["a"], table["b"], table["c"], strict=True)) == rows
    assert len(table) == len(rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), ending=st.sampled_from(["t.tsv", "t.tsv.gz", "t.tsv.bz2", "t.tsv.xz"]))
def test_F01_any_bytes_are_a_table_or_a_clear_error(tmp_path, data, ending):
    path = written(tmp_path, data, ending)
    try:
        assert "score" in read_table(path, ["score"]).columns
    except ValueError as error:                                   # DamagedFile is one too
        assert str(path) in str(error)


@pytest.mark.parametrize("word", ["nan", "null", "true", '"', "#", "'", "a\u2028b", "x\x85y", "a\x0bb", '"half quoted'])
def test_F11_F14_odd_words_and_stray_quotes_are_plain_text(tmp_path, word):
    assert read_table(written(tmp_path, f"w\tc\n{word}\t1\nnext\t2\n"), ["w"])["w"] == [word, "next"]


def test_F14_a_missing_column_is_named_with_those_found(tmp_path):
    with pytest.raises(ValueError, match=r"t\.tsv, line 1: column 'sentence2' is missing. Found \['score', 'sentence1'\]; needed"):
        read_table(written(tmp_path, "score\tsentence1\n1\ta\n"), ["score", "sentence2"])


def test_F14_a_repeated_column_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a column name stands twice"):
        read_table(written(tmp_path, "a\ta\n1\t2\n"), ["a"])


@pytest.mark.parametrize("row, found", [("1\ta", 2), ("1\ta\tb\tc", 4), ("", 1)])
def test_F14_missing_or_extra_fields_name_the_line(tmp_path, row, found):
    with pytest.raises(ValueError, match=rf"t\.tsv, line 3: {found} fields, .*; expected 3: score, sentence1, sentence2"):
        read_table(written(tmp_path, f"{HEADER}5\ta\tb\n{row}\n1\tc\td\n"), ["score"])


def test_F03_an_empty_file_has_no_columns(tmp_path):
    with pytest.raises(ValueError, match="column 'score' is missing"):
        read_table(written(tmp_path, ""), ["score"])


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "", "4,5", "five"])
def test_F08_a_bad_number_names_line_and_column(tmp_path, value):
    table = read_table(written(tmp_path, f"{HEADER}5\ta\tb\n{value}\ta\tb\n"), ["score"])
    with pytest.raises(ValueError, match=r"t\.tsv, line 3: score='.*'; expected a finite number"):
        table.numbers("score")


def test_line_numbers_survive_a_selection(tmp_path):
    table = read_table(written(tmp_path, "k\tn\na\t1\nb\t2\na\tx\n"), ["k"]).where("k", "a")
    assert table["n"] == ["1", "x"]
    with pytest.raises(ValueError, match="line 4: n='x'"):
        table.numbers("n")


def test_P27_an_unknown_value_gets_the_nearest_one(tmp_path):
    table = read_table(written(tmp_path, "dataset\tn\nLCQMC\t1\nOCNLI\t2\n"), ["dataset"])
    with pytest.raises(ValueError, match=r"dataset='LCMQC' is unknown. Did you mean 'LCQMC'\? Allowed: 'LCQMC', 'OCNLI'"):
        table.where("dataset", "LCMQC")


@pytest.mark.parametrize("read", [read_text, lambda path: list(iterate_lines(path))])
def test_T16_bytes_that_are_not_utf8_name_line_byte_and_remedy(tmp_path, read):
    path = written(tmp_path, "eins\nzwölf\nfünf\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"t\.tsv, line 2, byte 7: 0xf6 is not utf-8. Say what it is: encoding='latin-1'"):
        read(path)
    assert read_text(path, encoding="latin-1") == "eins\nzwölf\nfünf\n"


@pytest.mark.parametrize("opener, name", [(gzip.open, "t.gz"), (bz2.open, "t.bz2"), (lzma.open, "t.xz")])
@pytest.mark.parametrize("read", [read_text, lambda path: list(iterate_lines(path))])
def test_F01_a_cut_archive_is_damaged_at_every_length(tmp_path, opener, name, read):
    path = tmp_path / name
    with opener(path, "wb") as stream:
        stream.write(b"line of text\n" * 40)
    whole = path.read_bytes()
    for length in range(1, len(whole) - 1, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFile, match=rf"\({length:,} bytes\) is cut or damaged"):
            read(path)


def test_F02_a_flipped_byte_in_an_archive_is_noticed(tmp_path):
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(b"some text that is long enough to be worth it " * 20))
    data = bytearray(path.read_bytes())
    data[-6] ^= 1                                                 # in the checksum
    path.write_bytes(bytes(data))
    with pytest.raises(DamagedFile, match="cut or damaged"):
        read_text(path)


def test_F18_an_archive_that_grows_beyond_the_bound_is_refused(tmp_path):
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(b"0" * 100_000))
    with pytest.raises(DamagedFile, match="more than 50,000 bytes"):
        read_text(path, max_bytes=50_000)


def test_F15_a_missing_file_gets_the_nearest_name(tmp_path):
    written(tmp_path, HEADER, "sts12.tsv")
    with pytest.raises(FileNotFoundError, match=r"nearest name: .*sts12\.tsv"):
        read_table(tmp_path / "sts12.tvs", ["score"])


def test_F03_a_folder_is_no_file(tmp_path):
    with pytest.raises(DamagedFile, match="is a folder"):
        read_text(tmp_path)


def test_lines_are_split_at_newlines_only(tmp_path):
    path = written(tmp_path, "\ufeffone\u2028still one\r\ntwo\x0cstill two\n\nlast")
    assert list(iterate_lines(path)) == ["one\u2028still one", "two\x0cstill two", "", "last"]
