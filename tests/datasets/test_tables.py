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
PACKERS = {".tsv": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
READS = [read_text, lambda path: list(iterate_lines(path))]
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(folder: Path, text: str | bytes, name: str = "t.tsv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


cells = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=("Cs",)), max_size=12)


@same_folder
@given(st.lists(st.tuples(cells, cells, cells), max_size=8), st.sampled_from(list(PACKERS)),
       st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_F11_whatever_was_written_is_read_back(tmp_path, rows, ending, newline, mark):
    lines = ["\t".join(row) for row in [("a", "b", "c"), *rows]]
    text = "\ufeff" * mark + newline.join([*lines, ""])
    path = written(tmp_path, PACKERS[ending](text.encode()), f"t{ending}")
    table = read_table(path, ["a", "c"])
    assert list(zip(table["a"], table["b"], table["c"], strict=True)) == rows
    assert len(table) == len(rows)


@same_folder
@given(st.binary(max_size=200), st.sampled_from(list(PACKERS)))
def test_F01_any_bytes_are_a_table_or_a_clear_error(tmp_path, data, ending):
    path = written(tmp_path, data, f"t{ending}")
    try:
        assert "score" in read_table(path, ["score"]).columns
    except ValueError as error:  # DamagedFile is one too
        assert str(path) in str(error)


@pytest.mark.parametrize("word", ["nan", "null", "true", '"', "#", "'", "a\u2028b", "x\x85y",
                                  "a\x0bb", '"half quoted'])
def test_F11_F14_odd_words_and_stray_quotes_are_plain_text(tmp_path, word):
    path = written(tmp_path, f"w\tc\n{word}\t1\nnext\t2\n")
    assert read_table(path, ["w"])["w"] == [word, "next"]


def test_lines_are_split_at_newlines_only_and_an_encoding_can_be_said(tmp_path):
    path = written(tmp_path, "\ufeffone\u2028still one\r\ntwo\x0cstill two\n\nlast")
    lines = ["one\u2028still one", "two\x0cstill two", "", "last"]
    assert list(iterate_lines(path)) == lines
    path = written(tmp_path, "zwölf\n".encode("latin-1"))
    assert read_text(path, encoding="latin-1") == "zwölf\n"


def number(path: Path) -> object:
    return read_table(path, ["score"]).where("sentence1", "a").numbers("score")


@pytest.mark.parametrize("text, call, words", [
    ("", number, ["line 1: column 'score' is missing"]),  # F03
    ("score\tsentence1\n1\ta\n", lambda path: read_table(path, ["sentence2"]),
     ["line 1: column 'sentence2' is missing", "['score', 'sentence1']", "needed ['sentence2']"]),
    ("score\tscore\n1\t2\n", number, ["line 1: a column name stands twice"]),
    *((f"{HEADER}5\ta\tb\n{row}\n1\tc\td\n", number,
       [f"line 3: {n} fields", "expected 3: score, sentence1, sentence2"])
      for row, n in [("1\ta", 2), ("1\ta\tb\tc", 4), ("", 1)]),
    *((f"{HEADER}5\tx\tb\n5\ta\tb\n{value}\ta\tb\n", number,  # the line survives a selection
       ["line 4: score=", "expected a finite number"])
      for value in ["nan", "inf", "-inf", "", "4,5", "five"]),
    (f"{HEADER}1\tab\tb\n", number, ["sentence1='a' is unknown", "Allowed: 'ab'"]),
    *(("eins\nzwölf\nfünf\n".encode("latin-1"), read,
       ["line 2, byte 7: 0xf6 is not utf-8", "encoding='latin-1'"]) for read in READS)])
def test_F03_F08_F14_T16_what_does_not_fit_names_file_line_and_column(tmp_path, text, call, words):
    with pytest.raises(ValueError) as caught:
        call(written(tmp_path, text))
    assert all(word in str(caught.value) for word in words), caught.value
    assert "is unknown" in str(caught.value) or str(tmp_path / "t.tsv") in str(caught.value)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("read", READS)
def test_F01_F02_a_cut_or_changed_archive_is_damaged_at_every_length(tmp_path, ending, read):
    whole = PACKERS[ending](b"line of text\n" * 40)
    for length in range(1, len(whole) - 1, 7):
        path = written(tmp_path, whole[:length], f"t{ending}")
        with pytest.raises(DamagedFile, match=rf"\({length:,} bytes\) is cut or damaged"):
            read(path)
    data = bytearray(gzip.compress(b"some text that is long enough to be worth it " * 20))
    data[-6] ^= 1  # in the checksum
    with pytest.raises(DamagedFile, match="cut or damaged"):
        read(written(tmp_path, bytes(data), "t.gz"))


def test_F03_F18_a_folder_and_an_archive_that_grows_beyond_the_bound_are_refused(tmp_path):
    with pytest.raises(DamagedFile, match="is a folder"):
        read_table(tmp_path, [])
    path = written(tmp_path, gzip.compress(b"0" * 100_000), "t.gz")
    with pytest.raises(DamagedFile, match="more than 50,000 bytes"):
        read_text(path, max_bytes=50_000)


def test_F15_a_missing_file_gets_the_nearest_name(tmp_path):
    written(tmp_path, HEADER, "sts12.tsv")
    with pytest.raises(FileNotFoundError, match=r"nearest name: .*sts12\.tsv"):
        read_table(tmp_path / "sts12.tvs", ["score"])
