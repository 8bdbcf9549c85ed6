"""Publishers' formats: each becomes rows of ours, and each damage is a DamagedFile with words."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
from pathlib import Path

import pytest

from lessons_lib.core import BackendUnavailable, DamagedFile
from lessons_lib.datasets.conversion import _rows
from lessons_lib.datasets.publishers import Publisher
from lessons_lib.datasets.readers import READERS, Files

from .conftest import packed

THREE = ["score", "sentence1", "sentence2"]
PAIRS = [{"score": "4.4", "sentence1": "A plane.", "sentence2": "An air plane.", "subset": "MSR"},
         {"score": "0", "sentence1": "Two dogs.", "sentence2": "Rain.", "subset": "OnWN"}]
PAGE = ("<page><title>{}</title><ns>0</ns><id>{}</id>"
        "<revision><id>1</id><text>{}</text></revision></page>")
PAGES = {
    "Amazonite": "'''Amazonite''' is a green variety of feldspar. It is named so. See [[green]].",
    "Redirect": "#REDIRECT [[Amazonite]]",
    "Bears": "Bears are large mammals of the family Ursidae.",
    "Cats": "Cats are small and sleep for most of the day."}
DUMP = ('<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">'
        + "".join(PAGE.format(title, i, text) for i, (title, text) in enumerate(PAGES.items()))
        + "</mediawiki>").encode()
NEWS = "From: a\nSubject: Re: moon\n\nbody\\\x08 café".encode("latin-1")
OURS = (b"split\tlabel\tpremise\thypothesis\ndev\tentailment\tA man .\tA person.\n"
        b"dev\tneutral\tA man .\tx\ndev\tcontradiction\tA man .\tNobody.\n"
        b"test\tentailment\ta man.\tA person .\n")


def read(folder: Path, reader: str, parts: list[dict], files: dict[str, bytes], archive: str = ""):
    """The rows of files as `conversion` takes them; ``archive`` is the kind they are packed in."""
    if archive:
        (folder / "x").write_bytes(packed(files, archive))
        members = [name for part in parts for name in part.get("files", ())]
        held = Files({}, folder / "x", members)
    else:
        for name, data in files.items():
            (folder / name).write_bytes(data)
        held = Files({name: folder / name for name in files})
    way = Publisher("f", "p", reader, (), ("x",), tuple(parts), "file", False, 0, 0.0)
    return list(_rows(way, held))


def sts(name: str) -> dict:
    return {"files": [f"gs.{name}.txt", f"in.{name}.txt"], "set": {"subset": name},
            "columns": [["score"], ["sentence1", "sentence2"]], "drop": {"score": [""]}}


WINK = rb"""{"precision":8,"wordIndex":3,"size":3,"words":["the","a\"\u00e9"],"vectors":{
"the":[1,0.5,1.118,0],"a\"\u00e9":[-2, 0, 2, 1],"unkVector":[0.25,1e-4,0.25,2]},
"unkVector":[0,0,0,-1]}"""
FORMATS = {
    "semeval's inputs and gold scores lie in files side by side": (
        "parallel", [sts("MSR"), sts("OnWN")],
        {"STS/gs.MSR.txt": b"4.4\r\n\r\n", "STS/gs.OnWN.txt": b"0\n", "STS/readme.txt": b"",
         "STS/in.MSR.txt": b"A plane. \tAn air plane.\tmore\r\nno score\tleft out\r\n",
         "STS/in.OnWN.txt": b"Two dogs.\tRain.\n", "__MACOSX/STS/._x": b"\0"}, "zip", PAIRS),
    "of a table with a header, columns are picked, rows filtered and values renamed": (
        "table", [{"files": ["SICK.txt"], "where": {"part": "TEST"},
                   "columns": {"score": "relatedness", "sentence1": "A", "sentence2": "B",
                               "subset": "S", "part": "split"},
                   "labels": {"subset": {"M": "MSR", "O": "OnWN"}}}],
        {"SICK.txt": b"id\tA\tB\trelatedness\tS\tsplit\n1\tA plane.\tAn air plane.\t4.4\tM\tTEST\n"
                     b"2\tx\ty\t1\tM\tTRAIN\n3\tTwo dogs.\tRain.\t0\tO\tTEST\n"}, "zip",
        [row | {"part": "TEST"} for row in PAIRS]),
    "a quoted table may hold commas, line ends and quotes": (
        "table", [{"files": ["x.csv"], "delimiter": ",", "quoted": True,
                   "columns": ["sentence1", "", "score"]}],
        {"x.csv": b'"He said ""no"", twice.","A line\nand another.",1.0\r\n"a\nb",,2'}, "",
        [{"score": "1.0", "sentence1": 'He said "no", twice.'},
         {"score": "2", "sentence1": "a b"}]),
    "json lines may be compressed and hold more": (
        "json lines", [{"files": ["x.jsonl.gz"], "columns": {"score": "score", "text": "t"}}],
        {"x.jsonl.gz": gzip.compress(b'{"score": 0.5, "t": "a", "u": 1}\n{"score": 1, "t": null}')},
        "", [{"score": "0.5", "text": "a"}, {"score": "1", "text": ""}]),
    "20 newsgroups is a tree of posts whose line ends are kept": (
        "tree", [{"pattern": r"bydate-(?P<split>train|test)/(?P<label>[^/]+)/(?P<id>\d+)$",
                  "encoding": "latin-1", "text": "text_escaped",
                  "order": ["split", "label", "id"]}],
        {"20news-bydate-train/sci.space/7": b"no subject", "20news-bydate-train/.DS_Store": b"",
         "20news-bydate-test/sci.space/10": NEWS}, "gz",
        [{"split": "test", "label": "sci.space", "id": "10", "subject": "Re: moon",
          "text_escaped": "From: a\\nSubject: Re: moon\\n\\nbody\\\\ café"},
         {"split": "train", "label": "sci.space", "id": "7", "subject": "",
          "text_escaped": "no subject"}]),
    "imdb is a tree whose numbers count and whose labels run backwards": (
        "tree", [{"pattern": r"(?P<label>pos|neg)/(?P<id>\d+)_\d+\.txt$", "numeric": ["id"],
                  "order": ["label", "id"], "descending": ["label"],
                  "replace": {"text": [["<br />", " "]]}}],
        {"aclImdb/train/neg/0_1.txt": b"Bad", "aclImdb/train/pos/10_8.txt": b"tenth",
         "aclImdb/train/pos/9_9.txt": b"Good.<br /><br />Very.", "aclImdb/README": b"x"}, "gz",
        [{"label": "pos", "id": "9", "text": "Good.  Very."},
         {"label": "pos", "id": "10", "text": "tenth"},
         {"label": "neg", "id": "0", "text": "Bad"}]),
    "bbc's first line is the title": (
        "tree", [{"pattern": r"bbc/(?P<label>\w+)/\d+\.txt$", "title": "title"}],
        {"bbc/tech/1.txt": b"A title\n\nThe text."}, "zip",
        [{"label": "tech", "title": "A title", "text": "The text."}]),
    "senteval gives a text per line, and trec a label before it": (
        "lines", [{"files": ["pos"], "set": {"split": "train", "label": "1"},
                   "drop": {"text": [""]}},
                  {"files": ["TREC"], "label_first": True, "encoding": "latin-1",
                   "set": {"split": "test"}}],
        {"pos": b"good film . \n\n", "TREC": b"DESC:manner How so ?\n"}, "",
        [{"text": "good film .", "split": "train", "label": "1"},
         {"label": "DESC", "text": "How so ?", "split": "test"}]),
    "of a table without a delimiter, white space parts the fields": (
        "table", [{"files": ["rel"], "delimiter": "", "columns": ["question", "document", "grade"],
                   "labels": {"grade": {"1": "4", "-1": "0"}}}],
        {"rel": b"1 40 1 \r\n2  7   -1\n"}, "",
        [{"question": "1", "document": "40", "grade": "4"},
         {"question": "2", "document": "7", "grade": "0"}]),
    "smart's records hold fields, a slip of a mark inside a text, and its title once more": (
        "marked", [{"files": ["all"], "marks": ["T", "A", "W"], "unrepeated": ["T", "W"],
                    "columns": {"id": "I", "place": "#", "title": "T", "text": "W"}}],
        {"all": b".I 007\r\n.T\r\nwings in\r\n wind .\r\n.A\r\nnobody\r\n.W\r\nwings in wind .\r\n"
                b"they bend .\r\n.A\r\nand .W break .\r\n.I 9\n.T\n.A\n.W\n"}, "gz",
        [{"id": "7", "place": "1", "title": "wings in wind .",
          "text": "they bend . and .W break ."},
         {"id": "9", "place": "2", "title": "", "text": ""}]),
    "triplets are made of tables of ours": (
        "triplets", [{"files": ["p"], "source": ["snli"]}], {"p": OURS}, "",
        [{"premise": "A man .", "entailment": "A person.", "contradiction": "Nobody.",
          "source": "snli", "split": "dev"}]),
    "of a dump, every so many articles are read": (
        "wikipedia dump", [{"files": ["dump.bz2"], "shard": 0, "of": 2, "words": 1000}],
        {"dump.bz2": bz2.compress(DUMP)}, "",
        [{"text": text} for text in (
            "Amazonite is a green variety of feldspar.", "It is named so.", "See green.", "",
            "Cats are small and sleep for most of the day.", "")]),
    "of a dump, no more than the wanted words are read": (
        "wikipedia dump", [{"files": ["dump"], "shard": 1, "of": 2, "words": 3}],
        {"dump": DUMP}, "",
        [{"text": "Bears are large mammals of the family Ursidae."}, {"text": ""}]),
    "of vectors, the first plain words are taken": (
        "vectors", [{"files": ["g.txt"], "dim": 3, "keep": 2}],
        {"g.txt": b"9 3\n<user> 1 2 3\nthe 1 0.5 -1\ncat 2 0 0.25\ndog 1 1 1\n"}, "zip",
        [{"word": "the", "numbers": "1.0 0.5 -1.0"}, {"word": "cat", "numbers": "2.0 0.0 0.25"}]),
    "of vectors in JSON, those with a row are taken": (
        "json vectors", [{"files": ["g.json"], "dim": 2, "keep": 3}], {"g.json": WINK}, "gz",
        [{"word": "the", "numbers": "1.0 0.5"}, {"word": 'a"\u00e9', "numbers": "-2.0 0.0"},
         {"word": "unkVector", "numbers": "0.25 0.0001"}])}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_becomes_rows_of_ours(tmp_path, name):
    reader, parts, files, archive, rows = FORMATS[name]
    assert read(tmp_path, reader, parts, files, archive) == rows
    assert {reader for reader, *_ in FORMATS.values()} == set(READERS) - {"parquet"}


TABLE = {"columns": THREE}
NAMED = {"columns": {"score": "s"}}
DUMPED = {"of": 1, "shard": 0, "words": 9}
VECTORS = {"dim": 2, "keep": 2}
MARKED = {"marks": ["T", "W"], "columns": {"text": "W"}}
FOREIGN = {"an HTML page": gzip.compress(b" <!DOCTYPE html><title>Log in</title>"),
           "cut": gzip.compress(DUMP)[:99], "no gzip": b"\x1f\x8bno gzip",
           "not UTF-8": gzip.compress(b"\xff\t\xfe\n")}
SIDES = {"columns": [["score"], ["sentence1", "sentence2"]], "files": ["x.gz", "x.gz"]}
ENTRIES = {"table": TABLE, "json lines": NAMED, "parallel": SIDES, "lines": {"label_first": True},
           "triplets": {"source": ["snli"]}, "wikipedia dump": DUMPED, "vectors": VECTORS,
           "json vectors": VECTORS, "marked": MARKED}


@pytest.mark.parametrize("what", FOREIGN)
@pytest.mark.parametrize("reader", ENTRIES)
def test_F01_F03_a_file_that_is_cut_or_of_another_kind_is_damaged(tmp_path, reader, what):
    with pytest.raises(DamagedFile, match=r"x\.gz") as caught:
        read(tmp_path, reader, [{"files": ["x.gz"]} | ENTRIES[reader]], {"x.gz": FOREIGN[what]})
    streams = reader in ("wikipedia dump", "vectors", "json vectors")
    assert what != "an HTML page" or streams or what in str(caught.value)


@pytest.mark.parametrize("reader, entry, data, words", [
    ("table", TABLE, b"1\ta\tb\n1\ta\n", ["x, row 2: 2 fields", "expected 3"]),
    ("table", NAMED, b"a\tb\n1\t2\n", ["x, row 1: no column 's'", "['a', 'b']"]),
    ("table", TABLE | {"labels": {"score": {"0": "no"}}}, b"1\ta\tb\n", ["score='1'", "0"]),
    ("table", TABLE, b"\xe9\ta\tb\n", ["line 1, byte 0: 0xe9 is not utf-8"]),
    ("json lines", NAMED, b'{"s": 1}\n{', ["x, line 2 is no JSON"]),
    ("json lines", NAMED, b"[" * 100_000, ["x, line 1 is no JSON"]),
    ("json lines", NAMED, b"[1]", ["x, line 1 holds list", "expected an object"]),
    ("json lines", NAMED, b'{"t": 1}', ["x, line 1: no column 's'"]),
    ("parallel", SIDES | {"files": ["x", "y"]}, b"1\n2\n3\n", ["not equally many", "x: 3, y: 2"]),
    ("parallel", SIDES | {"files": ["x", "y"]}, b"1\n", ["not equally many", "x: 1, y: 2"]),
    ("parallel", SIDES | {"files": ["y", "x"]}, b"1\n2\n", ["x, line 1: 1 fields", "sentence2"]),
    ("lines", {"label_first": True}, b"nolabel\n", ["x, line 1: 'nolabel'; expected a label"]),
    ("wikipedia dump", DUMPED, b"", ["x is cut or damaged"]),
    ("wikipedia dump", DUMPED, b"<mediawiki><page><ti", ["x is cut or damaged"]),
    ("vectors", VECTORS, b"the 1 x\n", ["x is cut or damaged"]),
    ("vectors", VECTORS, b"a 1 2\n", ["has 1 words of letters; expected 2"]),
    ("vectors", VECTORS, b"a 1 2\na 3 4\n", ["has 1 words"]),
    ("vectors", VECTORS, b"a nan 2\nb 1 2\n", ["'a' has", "expected numbers from"]),
    ("vectors", VECTORS, b"a 1e9 2\nb 1 2\n", ["expected numbers from -65,504 to 65,504"]),
    ("json vectors", VECTORS, b'{"a":[1,2,2,0],"b":[1,2,2,3]}', ["has 1 vectors", "expected 2"]),
    ("json vectors", VECTORS, b'{"a":[1,x,2,0]}', ["x is cut or damaged"]),
    ("json vectors", VECTORS, b'{"a":[1e9,1,2,0]}', ["'a' has", "expected numbers from"])])
def test_F08_what_a_format_does_not_promise_is_damaged(tmp_path, reader, entry, data, words):
    with pytest.raises(DamagedFile) as caught:
        read(tmp_path, reader, [{"files": ["x"]} | entry], {"x": data, "y": b"a\tb\nc\td\n"})
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("name, what", [("MAX_LINES", "has 2 lines; expected at most 1"),
                                        ("MAX_TEXT", "holds more than 1 bytes")])
def test_F18_a_text_too_large_is_refused_before_it_is_split(tmp_path, monkeypatch, name, what):
    monkeypatch.setattr(f"lessons_lib.datasets.readers.{name}", 1)
    with pytest.raises(DamagedFile, match=what):
        read(tmp_path, "table", [{"files": ["x"]} | TABLE], {"x": b"1\ta\tb\n1\ta\tb\n"})
    with pytest.raises(DamagedFile, match="has no file that fits 'y'"):
        read(tmp_path, "tree", [{"pattern": "y"}], {"x": b""}, "zip")


PARQUET = [{"files": ["x.parquet"], "columns": {c: c for c in THREE}}]


def test_parquet_is_read_where_pyarrow_is_installed_and_a_clear_line_elsewhere(
    tmp_path, monkeypatch
):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(BackendUnavailable, match=r"x.parquet .* package pyarrow: pip install"):
            read(tmp_path, "parquet", PARQUET, {"x.parquet": b"PAR1"})
    why = "pyarrow is not installed: lessons_lib[parquet]"
    pyarrow = pytest.importorskip("pyarrow", reason=why)
    from pyarrow.parquet import write_table
    rows = [{column: row[column] for column in THREE} for row in PAIRS]
    stream = io.BytesIO()
    write_table(pyarrow.table({column: [row[column] for row in rows] for column in THREE}), stream)
    whole = stream.getvalue()
    assert read(tmp_path, "parquet", PARQUET, {"x.parquet": whole}) == rows
    with pytest.raises(DamagedFile, match="x.parquet is cut or damaged"):
        read(tmp_path, "parquet", PARQUET, {"x.parquet": whole[:-20]})
