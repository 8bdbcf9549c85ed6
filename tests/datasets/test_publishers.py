"""Publishers' files, served on this machine in their own formats, become ours; what fails leaves a clear line and nothing else."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from lessons_lib.core import (
    PROJECT,
    DamagedFile,
    DataMissing,
    DataWarning,
    DownloadFailed,
    cache_folder,
)
from lessons_lib.datasets import (
    checksum_of,
    conditions,
    download,
    get,
    list_datasets,
    load,
    publishers,
    receipt_of,
    registry,
    verify,
)
from lessons_lib.datasets.canonical import row_sums, row_sums_of
from lessons_lib.datasets.tables import read_table

ROWS = [
    {
        "score": "4.4",
        "sentence1": "A plane takes off .",
        "sentence2": "An air plane ascends .",
        "subset": "MSRpar",
    },
    {"score": "0", "sentence1": "Two dogs run .", "sentence2": "Rain falls .", "subset": "OnWN"},
]
COLUMNS = ["score", "sentence1", "sentence2"]
TABLE = "".join(
    f"{r['score']}\t{r['sentence1']}\t{r['sentence2']}\t{r['subset']}\n" for r in ROWS
).encode()
ENTRY = {"reader": "table", "columns": [*COLUMNS, "subset"], "parts": [{"files": ["sts.tsv"]}]}


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


@pytest.fixture
def publish(site, no_data, tmp_path, monkeypatch):
    """Puts entries for the file of a dataset ``small`` (sentence pairs, proved by its rows) into the table of publishers."""
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)
    sums = row_sums(ROWS, COLUMNS)

    def put(
        *entries: dict,
        path: str = "sts/small.tsv",
        kind: str = "sentence pairs",
        about: str = "",
        **file: object,
    ) -> None:
        known = {
            "rows": sums.rows,
            "columns": COLUMNS,
            "extra": ["subset"],
            "exact": sums.exact,
            "folded": sums.folded,
        } | file
        lines = [f"{key} = {toml(value)}" for key, value in known.items() if value is not None]
        (tmp_path / "manifest.toml").write_text(
            f"""format = 1
[datasets.small]
kind = "{kind}"
description = "two pairs"
language = "en"
licence = "research only"
origin = "nobody"
scale = [0, 5]
default = "all"
files = ["{path}"]
{about}
[files."{path}"]
"""
            + "\n".join(lines),
            encoding="utf-8",
        )
        text = 'format = 1\nlooked_up = "2026-11-23"\n'
        for number, entry in enumerate(entries):
            entry = {"file": path, "from": f"publisher {number}", "seen": "mention"} | entry
            text += "[[publisher]]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in entry.items())
        (tmp_path / "publishers.toml").write_text(text.replace("SITE", site.url), encoding="utf-8")
        registry._manifest.cache_clear()
        publishers._table.cache_clear()

    monkeypatch.setattr(registry, "MANIFEST", tmp_path / "manifest.toml")
    monkeypatch.setattr(publishers, "TABLE", tmp_path / "publishers.toml")
    yield put
    registry._manifest.cache_clear()
    publishers._table.cache_clear()


def left() -> list[str]:
    """What lies in the cache: our files, receipts and downloads; locks and the note on licences aside."""
    names = (
        path.relative_to(cache_folder()).as_posix()
        for path in cache_folder().rglob("*")
        if path.is_file()
    )
    return sorted(name for name in names if ".lock-" not in name and name != "licences_shown.json")


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


# ------------------------------------------------------------------------------------------------ what comes is proved


def test_the_very_rows_are_kept_with_a_receipt_and_without_a_word(publish, site):
    publish(ENTRY | {"base": ["SITE/a/"]})
    site.files["/a/sts.tsv"] = TABLE
    (path,) = get("small")
    assert load("small").score.tolist() == [4.4, 0.0] and load("small").subset == ["MSRpar", "OnWN"]
    receipt = receipt_of(path)
    assert (receipt.proof, receipt.source, receipt.address) == (
        "exact",
        "publisher 0",
        f"{site.url}/a/",
    )
    assert (
        left() == ["data/sts/small.tsv", "data/sts/small.tsv.origin.json"]
        and verify(["small"])[0].state == "ok"
    )
    get("small")
    assert len(site.requests) == 1  # what is whole is not fetched again


def test_the_same_rows_written_otherwise_are_kept_with_a_notice(publish, site):
    publish(
        {
            "reader": "json lines",
            "columns": {c: c for c in COLUMNS},
            "parts": [{"files": ["test.jsonl.gz"]}],
            "base": ["SITE/"],
        }
    )
    rows = [
        {"score": 0.0, "sentence1": "Two dogs run.", "sentence2": "RAIN falls."},
        {
            "score": 4.4000001,
            "sentence1": "A plane takes off.",
            "sentence2": "An air-plane ascends.",
            "more": 1,
        },
    ]
    site.files["/test.jsonl.gz"] = gzip.compress("\n".join(map(json.dumps, rows)).encode())
    with pytest.warns(
        DataWarning,
        match="publisher 0: the same rows .* scores can differ slightly .* without subset",
    ):
        (path,) = get("small")
    assert receipt_of(path).proof == "folded" and load("small").sentence1[0] == "Two dogs run."
    assert (
        [s.state for s in verify(["small"])]
        == [s.state for s in verify(["small"], rows=True)]
        == ["same rows, written otherwise"]
    )


def test_F22_other_rows_are_refused_with_both_checksums_and_nothing_is_kept(publish, site):
    publish(ENTRY | {"base": ["SITE/a/"]})
    site.files["/a/sts.tsv"] = TABLE.replace(b"4.4", b"4.6")
    with pytest.raises(
        DownloadFailed,
        match=r"other rows: 2 with checksums \w+… and, folded, \w+…; expected 2 with \w+… or \w+…(.|\n)*--from",
    ):
        get("small")
    assert left() == []


def test_another_sample_is_taken_only_where_that_is_declared(publish, site):
    publish(ENTRY | {"base": ["SITE/a/"], "sample": True})
    site.files["/a/sts.tsv"] = TABLE.replace(b"4.4", b"4.6")
    with pytest.warns(DataWarning, match="not the rows that the course measured on"):
        get("small")
    assert load("small").score[0] == 4.6 and verify(["small"])[0].state == "another sample"
    file = registry.registered("small").files[0]               # what is trained on it names this text, not the course's
    assert checksum_of(file) == receipt_of(cache_folder() / "data/sts/small.tsv").sha256 != file.sha256


def test_a_sample_whose_rows_were_counted_must_have_as_many(publish, site):
    publish(ENTRY | {"base": ["SITE/a/"], "sample": True}, rows=3, exact=None, folded=None)
    site.files["/a/sts.tsv"] = TABLE
    with pytest.raises(DownloadFailed, match="2 rows came; expected 3"):
        get("small")


def test_a_file_that_was_changed_after_it_was_made_is_damaged(publish, site):
    publish(ENTRY | {"base": ["SITE/a/"]}, sha256="0" * 64, bytes=5)
    site.files["/a/sts.tsv"] = TABLE
    (path,) = get("small")
    path.write_bytes(path.read_bytes().replace(b"4.4", b"4.5"))
    with pytest.raises(DamagedFile, match="was changed or damaged"):
        load("small")
    get("small")
    assert load("small").score[0] == 4.4


def test_rows_of_a_file_in_our_own_folder_are_compared_too(publish, fake_data):
    publish(ENTRY | {"base": ["SITE/a/"]})
    fake_data(
        "sts/small.tsv",
        "score\tsentence1\tsentence2\n"
        + "".join(f"{r['score']}00\t{r['sentence1']} \t{r['sentence2']}\n" for r in ROWS),
    )
    assert verify(["small"], rows=True)[0].state == "ok"
    fake_data("sts/small.tsv", "score\tsentence1\tsentence2\n1\ta\tb\n")
    assert verify(["small"], rows=True)[0].state == "changed"


# ------------------------------------------------------------------------------------------------ formats


def test_semeval_inputs_and_gold_scores_lie_in_files_side_by_side(publish, site):
    parts = [
        {
            "files": [f"test/STS.gs.{name}.txt", f"test/STS.input.{name}.txt"],
            "set": {"subset": name},
        }
        for name in ("MSRpar", "OnWN")
    ]
    publish(
        {
            "reader": "parallel",
            "columns": [["score"], ["sentence1", "sentence2"]],
            "drop": {"score": [""]},
            "parts": parts,
            "archive": ["SITE/x.zip"],
        }
    )
    site.files["/x.zip"] = zipped(
        {
            "STS/test/STS.gs.MSRpar.txt": b"4.400\r\n\r\n",
            "STS/test/STS.gs.OnWN.txt": b"0\n",
            "STS/readme.txt": b"",
            "STS/test/STS.input.MSRpar.txt": b"A plane takes off . \tAn air plane ascends .\tmore\r\nno score\tleft out\r\n",
            "STS/test/STS.input.OnWN.txt": b"Two dogs run .\tRain falls .\n",
            "__MACOSX/STS/._x": b"\0",
        }
    )
    assert receipt_of(get("small")[0]).proof == "exact" and load("small").subset == [
        "MSRpar",
        "OnWN",
    ]


@pytest.mark.parametrize("lines", ["1\n2\n3\n", "1\n"])
def test_files_side_by_side_must_have_equally_many_lines(publish, site, lines):
    publish(
        {
            "reader": "parallel",
            "columns": [["score"], ["sentence1", "sentence2"]],
            "parts": [{"files": ["gs", "in"]}],
            "base": ["SITE/"],
        }
    )
    site.files |= {"/gs": lines.encode(), "/in": b"a\tb\nc\td\n"}
    with pytest.raises(DownloadFailed, match="not equally many: gs: "):
        get("small")


def test_a_table_with_a_header_has_its_columns_picked_its_rows_filtered_and_its_values_renamed(
    publish, site
):
    publish(
        {
            "reader": "table",
            "columns": {
                "score": "relatedness",
                "sentence1": "A",
                "sentence2": "B",
                "subset": "S",
                "part": "split",
            },
            "where": {"part": "TEST"},
            "labels": {"subset": {"M": "MSRpar", "O": "OnWN"}},
            "parts": [{"files": ["SICK.txt"]}],
            "archive": ["SITE/SICK.zip"],
        }
    )
    table = (
        "id\tA\tB\trelatedness\tS\tsplit\n1\tA plane takes off .\tAn air plane ascends .\t4.4\tM\tTEST\n2\tx\ty\t1\tM\tTRAIN\n"
        "3\tTwo dogs run .\tRain falls .\t0.0\tO\tTEST\n"
    )
    site.files["/SICK.zip"] = zipped({"SICK.txt": table.encode(), "readme.txt": b""})
    get("small")
    assert load("small").subset == ["MSRpar", "OnWN"]


def test_a_quoted_table_may_hold_commas_line_ends_and_quotes(publish, site):
    rows = [{"score": "1", "sentence1": 'He said "no", twice.', "sentence2": "A line and another."}]
    sums = row_sums(rows, COLUMNS)
    publish(
        {
            "reader": "table",
            "delimiter": ",",
            "quoted": True,
            "columns": ["sentence1", "sentence2", "score"],
            "parts": [{"files": ["x.csv"]}],
            "base": ["SITE/"],
        },
        exact=sums.exact,
        folded=sums.folded,
        extra=[],
    )
    site.files["/x.csv"] = b'"He said ""no"", twice.","A line\nand another.",1.0\r\n'
    assert receipt_of(get("small")[0]).proof == "exact" and load("small").sentence2 == [
        "A line and another."
    ]


def documents(publish, rows: list[dict], entry: dict, columns: list[str], **more: object) -> None:
    sums = row_sums(rows, columns)
    about = f"columns = {toml({'text': columns[-1], 'label': 'label'})}\n" + (
        "escaped = true\n" if columns[-1] == "text_escaped" else ""
    )
    publish(
        entry,
        path="topics/small.tsv.xz",
        kind="documents",
        exact=sums.exact,
        folded=sums.folded,
        columns=columns,
        extra=[],
        about=about + 'split_names = ["train", "test"]',
        **more,
    )


def test_20_newsgroups_is_a_tree_of_posts_whose_line_ends_are_kept(publish, site):
    rows = [
        {
            "split": "test",
            "label": "sci.space",
            "text_escaped": "From: a\\nSubject: Re: moon\\n\\nbody\\\\ café",
        },
        {"split": "train", "label": "sci.space", "text_escaped": "no subject"},
    ]
    entry = {
        "reader": "tree",
        "archive": ["SITE/files/5975967"],
        "pattern": r"20news-bydate-(?P<split>train|test)/(?P<label>[^/]+)/(?P<id>\d+)$",
        "encoding": "latin-1",
        "text": "text_escaped",
        "order": ["split", "label", "id"],
        "parts": [{}],
    }
    documents(publish, rows, entry, ["split", "label", "text_escaped"])
    site.files["/files/5975967"] = tarred(
        {
            "20news-bydate-train/sci.space/7": b"no subject",
            "20news-bydate-train/.DS_Store": b"",
            "20news-bydate-test/sci.space/10": "From: a\nSubject: Re: moon\n\nbody\\\x08 café".encode(
                "latin-1"
            ),
        }
    )
    assert receipt_of(get("small")[0]).proof == "exact"
    assert load("small", "test").texts == ["From: a\nSubject: Re: moon\n\nbody\\ café"]


def test_imdb_is_a_tree_whose_numbers_count_and_whose_labels_run_backwards(publish, site):
    rows = [
        {"split": "train", "label": "pos", "text": "Good. Very."},
        {"split": "train", "label": "pos", "text": "tenth"},
        {"split": "train", "label": "neg", "text": "Bad"},
    ]
    entry = {
        "reader": "tree",
        "archive": ["SITE/aclImdb_v1.tar.gz"],
        "order": ["split", "label", "id"],
        "descending": ["split", "label"],
        "numeric": ["id"],
        "pattern": r"(?P<split>train|test)/(?P<label>pos|neg)/(?P<id>\d+)_(?P<rating>\d+)\.txt$",
        "replace": {"text": [["<br />", " "]]},
        "parts": [{}],
    }
    documents(publish, rows, entry, ["split", "label", "text"])
    site.files["/aclImdb_v1.tar.gz"] = tarred(
        {
            "aclImdb/train/neg/0_1.txt": b"Bad",
            "aclImdb/train/pos/10_8.txt": b"tenth",
            "aclImdb/README": b"x",
            "aclImdb/train/pos/9_9.txt": b"Good.<br /><br />Very.",
            "aclImdb/train/unsup/0_0.txt": b"left out",
        }
    )
    assert receipt_of(get("small")[0]).proof == "exact" and load("small", "train").texts == [
        "Good.  Very.",
        "tenth",
        "Bad",
    ]


def test_senteval_gives_a_text_per_line_and_trec_a_label_before_it(publish, site):
    rows = [
        {"split": "train", "label": "1", "text": "good film ."},
        {"split": "test", "label": "DESC", "text": "How so ?"},
    ]
    entry = {
        "reader": "lines",
        "base": ["SITE/"],
        "drop": {"text": [""]},
        "parts": [
            {"files": ["MR/rt-polarity.pos"], "set": {"split": "train", "label": "1"}},
            {
                "files": ["TREC/TREC_10.label"],
                "label_first": True,
                "encoding": "latin-1",
                "set": {"split": "test"},
            },
        ],
    }
    documents(publish, rows, entry, ["split", "label", "text"])
    site.files |= {
        "/MR/rt-polarity.pos": b"good film . \n \n\n".replace(b" \n\n", b"\n"),
        "/TREC/TREC_10.label": b"DESC:manner How so ?\n",
    }
    assert receipt_of(get("small")[0]).proof == "exact"
    site.files["/TREC/TREC_10.label"] = b"nolabel\n"
    (cache_folder() / "data/topics/small.tsv.xz").unlink()
    with pytest.raises(
        DownloadFailed, match="line 1: 'nolabel'; expected a label, a space and a text"
    ):
        get("small")


def test_glove_becomes_arrays_of_the_first_plain_words(publish, site):
    about = ""
    publish(
        {
            "reader": "vectors",
            "sample": True,
            "archive": ["SITE/glove.zip"],
            "parts": [{"files": ["glove.25d.txt"], "dim": 3, "keep": 2}],
        },
        path="words/small.npz",
        kind="vectors",
        about=about,
        exact=None,
        folded=None,
        rows=0,
        columns=[],
        extra=[],
    )
    site.files["/glove.zip"] = zipped(
        {"glove.25d.txt": b"<user> 1 2 3\nthe 1 0.5 -1\ncat 2 0 0.25\ndog 1 1 1\n"}
    )
    with pytest.warns(DataWarning, match="not the rows"):
        get("small")
    vectors = load("small")
    assert list(vectors.tokens) == ["the", "cat"] and vectors["cat"].tolist() == [2, 0, 0.25]


def test_wikipedia_is_read_from_a_dump_of_its_publisher(publish, site):
    import bz2

    page = "<page><title>{}</title><ns>0</ns><id>{}</id><revision><id>1</id><text>{}</text></revision></page>"
    pages = [
        (
            "Amazonite",
            "'''Amazonite''' is a green variety of feldspar. It is named after the river. See [[green]].",
        ),
        ("Redirect", "#REDIRECT [[Amazonite]]"),
        ("Bears", "Bears are large mammals of the family Ursidae."),
        ("Cats", "Cats are small and sleep for most of the day."),
    ]
    dump = (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">'
        + "".join(page.format(t, i, x) for i, (t, x) in enumerate(pages))
        + "</mediawiki>"
    )
    publish(
        {
            "reader": "wikipedia dump",
            "sample": True,
            "base": ["SITE/"],
            "parts": [{"files": ["dump.xml.bz2"], "shard": 0, "of": 2, "words": 1000}],
        },
        path="wiki/small_0.txt.bz2",
        kind="streamed articles",
        exact=None,
        folded=None,
        rows=0,
        columns=[],
        extra=[],
    )
    site.files["/dump.xml.bz2"] = bz2.compress(dump.encode())
    with pytest.warns(DataWarning, match="not the rows"):
        get("small")
    assert list(load("small")) == [
        "Amazonite is a green variety of feldspar.\nIt is named after the river.\nSee green.",
        "Cats are small and sleep for most of the day.",
    ]


@pytest.mark.parametrize(
    "kind, body",
    [
        ("wikipedia dump", b"<mediawiki><page><ti"),
        ("vectors", b"\x1f\x8bno gzip"),
        ("vectors", b"the 1 x 2\n"),
        ("wikipedia dump", b""),
    ],
)
def test_F01_a_stream_that_is_cut_or_of_another_kind_is_damaged(tmp_path, kind, body):
    from lessons_lib.datasets.readers import READERS, Files

    path = tmp_path / ("x.gz" if body.startswith(b"\x1f") else "x")
    path.write_bytes(body)
    with pytest.raises(DamagedFile, match=f"{path.name} is cut or damaged"):
        list(
            READERS[kind](
                Files({path.name: path}),
                {"files": [path.name], "shard": 0, "of": 1, "words": 9, "dim": 3, "keep": 2},
            )
        )


def test_two_commands_at_once_do_not_take_each_others_files_away(publish, site):
    from lessons_lib.datasets.conversion import downloads

    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = TABLE
    dead = cache_folder() / "downloads" / "run-999999999-x"
    dead.mkdir(parents=True)
    with downloads() as mine:
        mine.mkdir(parents=True)
        (mine / "x").write_bytes(b"")
        get("small")
        assert (mine / "x").is_file() and not dead.exists()
    assert not mine.exists()


def test_triplets_are_made_of_two_tables_of_ours(publish, site, fake_data):
    publish(
        {
            "reader": "triplets",
            "base": ["ours:"],
            "parts": [{"files": ["sts/small.tsv"], "source": ["snli"]}],
        },
        path="nli/t.tsv",
        kind="triplets",
    )
    from lessons_lib.datasets.readers import Files, triplets

    table = fake_data(
        "nli/pairs.tsv",
        "split\tlabel\tpremise\thypothesis\ndev\tentailment\tA man .\tA person.\ndev\tneutral\tA man .\tx\n"
        "dev\tcontradiction\tA man .\tNobody.\ntest\tentailment\ta man.\tA person .\n",
    )
    rows = list(triplets(Files({"p": table}), {"files": ["p"], "source": ["snli"]}))
    assert rows == [
        {
            "premise": "A man .",
            "entailment": "A person.",
            "contradiction": "Nobody.",
            "source": "snli",
            "split": "dev",
        }
    ]


def parquet_entry(publish, site) -> None:
    publish(
        {
            "reader": "parquet",
            "columns": {c: c for c in COLUMNS},
            "parts": [{"files": ["x.parquet"]}],
            "base": ["SITE/"],
        }
    )


def test_parquet_without_pyarrow_is_a_clear_line(publish, site, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    parquet_entry(publish, site)
    site.files["/x.parquet"] = b"PAR1"
    with pytest.raises(
        DownloadFailed,
        match=r"x.parquet is a parquet file, which needs the package pyarrow: pip install",
    ):
        get("small")


def test_parquet_is_read_where_pyarrow_is_installed(publish, site):
    pyarrow = pytest.importorskip(
        "pyarrow", reason="pyarrow is not installed: lessons_lib[parquet]"
    )
    from pyarrow.parquet import write_table

    parquet_entry(publish, site)
    stream = io.BytesIO()
    write_table(
        pyarrow.table({c: [float(r[c]) if c == "score" else r[c] for r in ROWS] for c in COLUMNS}),
        stream,
    )
    site.files["/x.parquet"] = stream.getvalue()
    with pytest.warns(DataWarning, match="without subset"):
        assert receipt_of(get("small")[0]).proof == "exact"
    (cache_folder() / "data/sts/small.tsv").unlink()
    site.files["/x.parquet"] = stream.getvalue()[:-20]
    with pytest.raises(DownloadFailed, match="is no whole parquet file"):
        get("small")


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_the_second_address_and_the_second_publisher_take_over(publish, site):
    publish(
        ENTRY | {"base": ["SITE/gone/", "SITE/wrong/"]}, ENTRY | {"base": ["SITE/gone/", "SITE/b/"]}
    )
    site.files |= {"/wrong/sts.tsv": b"1\tx\ty\tz\n", "/b/sts.tsv": TABLE}
    assert receipt_of(get("small")[0]).address == f"{site.url}/b/" and [
        path for path, _ in site.requests
    ] == ["/gone/sts.tsv", "/wrong/sts.tsv", "/gone/sts.tsv", "/b/sts.tsv"]


@pytest.mark.parametrize(
    "body, says",
    [
        (b"<!DOCTYPE html><title>Log in</title>", "an HTML page"),
        (b"", "it sent 0 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
    ],
)
def test_F22_a_page_of_a_proxy_is_no_data(publish, site, body, says):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = body
    with pytest.raises(DownloadFailed, match=says):
        get("small")
    assert [name for name in left() if not name.endswith(".version")] == []


def test_F20_a_missing_page_names_host_and_cause_once(publish, site):
    publish(ENTRY | {"base": ["SITE/"]})
    with pytest.raises(
        DownloadFailed, match=r"sts/small.tsv could not be had: 127.0.0.1: HTTP 404"
    ):
        get("small")
    assert len(site.requests) == 1 and left() == []


def test_F20_a_machine_without_network_is_told_so(publish):
    publish(ENTRY | {"base": ["http://127.0.0.1:9/"]})
    with pytest.raises(DownloadFailed, match=r"127.0.0.1: ConnectionRefusedError.*3 tries"):
        get("small")


@pytest.mark.parametrize(
    "archive, says",
    [
        (zipped({"x/sts.tsv": TABLE})[:-30], "cut, damaged or no archive"),
        (tarred({"x/sts.tsv": TABLE})[:-60], "cut, damaged or no archive"),
        (b"no archive at all", "cut, damaged or no archive"),
        (zipped({"x/other.tsv": TABLE}), "has 0 members 'sts.tsv'; expected 1"),
        (zipped({"x/sts.tsv": TABLE, "y/sts.tsv": TABLE}), "has 2 members"),
        (zipped({"../sts.tsv": TABLE}), "member '../sts.tsv' is refused"),
        (zipped({"x/sts.tsv": bytes(30_000_000)}), "would come out of"),
    ],
)
def test_F18_an_archive_that_is_cut_or_breaks_a_rule_is_refused(publish, site, archive, says):
    publish(ENTRY | {"archive": ["SITE/x.zip"]})
    site.files["/x.zip"] = archive
    with pytest.raises(DownloadFailed, match=re.escape(says)):
        get("small")
    assert left() == []


def test_more_than_the_limit_is_refused_before_and_while_it_comes(publish, site):
    publish(ENTRY | {"base": ["SITE/"], "megabytes": 0.00001})
    site.files["/sts.tsv"] = TABLE
    with pytest.raises(
        DownloadFailed, match=rf"it would send {len(TABLE)} bytes; at most 10 are taken"
    ):
        get("small")
    assert left() == []


def test_what_takes_too_long_is_left_and_gone_on_with(publish, site, tmp_path):
    publish(ENTRY | {"base": ["SITE/"], "minutes": -1})
    site.files["/sts.tsv"], site.etag = TABLE, '"one"'
    with pytest.raises(
        DownloadFailed, match="which is all the time it is given; the next call goes on from there"
    ):
        get("small")
    publish(ENTRY | {"base": ["SITE/"]})
    site.cut_at = []
    assert receipt_of(get("small")[0]).proof == "exact"


def test_F21_a_cut_transfer_goes_on_only_with_the_same_version(publish, site):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"], site.cut_at, site.etag = TABLE, [20, 0, 0, 0], '"one"'
    with pytest.raises(DownloadFailed, match="cut after"):
        get("small")
    assert any(".part-" in name for name in left())
    site.cut_at, site.requests = [], []
    get("small")
    assert [wanted for _, wanted in site.requests] == ["bytes=20-"]
    (cache_folder() / "data/sts/small.tsv").unlink()
    site.cut_at = [20, 0, 0, 0]
    with pytest.raises(DownloadFailed):
        get("small")
    site.cut_at, site.etag, site.files["/sts.tsv"] = (
        [],
        '"two"',
        TABLE.replace(b"A plane", b"B plane").replace(b"B plane", b"A plane"),
    )
    get("small")
    assert load("small").score.tolist() == [4.4, 0.0]


@pytest.mark.parametrize("where", ["fsync", "write"])
def test_F16_a_full_disk_is_named_and_nothing_half_written_stays(publish, site, monkeypatch, where):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = TABLE

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    if where == "fsync":
        monkeypatch.setattr(download.os, "fsync", full)
    else:
        monkeypatch.setattr("lessons_lib.core.files.os.replace", full)
    with pytest.raises(
        OSError, match=r"No space left on device; .* bytes are free there"
    ) as caught:
        get("small")
    assert not isinstance(caught.value, DownloadFailed)
    assert [name for name in left() if ".part-" not in name] == []


def test_security_a_redirect_away_from_https_is_refused(publish, site):
    publish(ENTRY | {"base": ["SITE/"]})
    site.redirect = "http://example.org/x"
    with pytest.raises(DownloadFailed, match="which is not HTTPS"):
        get("small")


@pytest.mark.parametrize(
    "headers, says",
    [
        ({"Content-Encoding": "gzip"}, "sent the file packed"),
        ({"Location": "http://[::1"}, "its redirect cannot be read"),
    ],
)
def test_F20_an_answer_that_makes_no_sense_leaves_the_next_publisher_its_turn(
    publish, site, headers, says
):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"], site.headers, site.redirect = TABLE, headers, headers.get("Location")
    with pytest.raises(DownloadFailed, match=says):
        get("small")


def test_F21_a_length_that_is_no_number_is_passed_over(publish, site):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"], site.headers = TABLE, {"Content-Length": "many"}
    assert receipt_of(get("small")[0]).proof == "exact"


def test_F21_another_part_than_the_wanted_one_is_refused(publish, site):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"], site.cut_at, site.etag = TABLE, [20, 0, 0, 0], '"one"'
    with pytest.raises(DownloadFailed, match="cut after"):
        get("small")
    site.headers, site.cut_at = {"Content-Range": "bytes 7-50/90"}, []
    with pytest.raises(DownloadFailed, match="sent another part of the file"):
        get("small")


def test_security_a_server_elsewhere_cannot_redirect_to_this_machine():
    request = download.urllib.request.Request("https://example.org/x")
    with pytest.raises(download._Refused, match="not HTTPS"):
        redirects = download._SafeRedirects()
        redirects.redirect_request(request, None, 302, "", {}, "http://127.0.0.1:1/")


def test_F03_what_a_parser_cannot_read_leaves_the_next_publisher_its_turn(publish, site):
    quoted = ENTRY | {"base": ["SITE/a/"], "quoted": True}
    publish(quoted, ENTRY | {"base": ["SITE/b/"]})
    site.files |= {"/a/sts.tsv": b'1\t"' + b"x" * 17_000_000 + b'"\ta\tb\n', "/b/sts.tsv": TABLE}
    assert receipt_of(get("small")[0]).source == "publisher 1"
    publish(quoted)
    (cache_folder() / "data/sts/small.tsv").unlink()
    with pytest.raises(DownloadFailed, match="publisher 0: what came cannot be read: Error field"):
        get("small")


@pytest.mark.parametrize(
    "text, says",
    [
        ("a 1 2\n", "has 1 words of letters; expected 2"),
        ("a 1 2\na 3 4\n", "has 1 words"),
        ("a nan 2\nb 1 2\n", "'a' has .*expected numbers from"),
        ("a 1e9 2\nb 1 2\n", "expected numbers from -65,504 to 65,504"),
    ],
)
def test_F08_vectors_that_are_too_few_or_no_numbers_are_refused(publish, site, text, says):
    entry = {"reader": "vectors", "sample": True, "base": ["SITE/"]}
    part = {"files": ["v.txt"], "dim": 2, "keep": 2}
    publish(entry | {"parts": [part]}, rows=None, exact=None, folded=None)
    site.files["/v.txt"] = text.encode()
    with pytest.raises(DownloadFailed, match=says):
        get("small")


def test_a_sample_must_have_the_fewest_rows_that_are_asked_for(publish, site):
    publish(ENTRY | {"base": ["SITE/"], "sample": True, "least": 3})
    site.files["/sts.tsv"] = TABLE
    with pytest.raises(DownloadFailed, match="2 rows came; expected 3 or more"):
        get("small")


def test_F18_a_text_of_endless_lines_is_refused_before_it_is_split(publish, site, monkeypatch):
    monkeypatch.setattr("lessons_lib.datasets.readers.MAX_LINES", 1)
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = TABLE
    with pytest.raises(DownloadFailed, match="has 2 lines; expected at most 1"):
        get("small")


@pytest.mark.parametrize("proof", ["banana", [], None])
def test_F03_a_damaged_receipt_proves_nothing(publish, site, proof):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = TABLE
    (path,) = get("small")
    receipt = path.with_name(path.name + ".origin.json")
    receipt.write_text(json.dumps(json.loads(receipt.read_text()) | {"proof": proof}))
    assert verify(["small"])[0].state == "changed"
    get("small")
    assert verify(["small"])[0].state == "ok"


def test_F02_a_changed_file_is_noticed_where_the_manifest_has_no_checksum(publish, site):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = TABLE
    (path,) = get("small")
    path.write_bytes(path.read_bytes().replace(b"4.4", b"1.1"))
    assert verify(["small"])[0].state == "changed"
    with pytest.raises(DamagedFile, match="expected those it was made with"):
        load("small")


def test_4_6_who_waited_for_another_process_finds_the_file_made(publish, site, monkeypatch):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = TABLE
    (path,) = get("small")
    answers = iter([False, False, True])                       # asked for the licence, before and after the wait
    monkeypatch.setattr("lessons_lib.datasets.catalogue._whole", lambda file: next(answers))
    assert get("small") == [path] and len(site.requests) == 1


# ------------------------------------------------------------------------------------------------ folders, licences, the hub

def test_a_cache_that_was_made_from_publishers_serves_another_machine_as_a_folder(
    publish, site, tmp_path
):
    publish(ENTRY | {"base": ["SITE/"]}, sha256="0" * 64, bytes=5)
    site.files["/sts.tsv"] = TABLE
    (path,) = get("small")
    shared = tmp_path / "shared" / "sts" / "small.tsv"
    shared.parent.mkdir(parents=True)
    path.rename(shared)
    receipt = receipt_of(get("small", source=str(tmp_path / "shared"))[0])
    assert (receipt.proof, receipt.missing) == ("exact", ())
    assert verify(["small"])[0].state == "ok" and len(load("small").score) == 2


def test_a_copy_from_a_folder_is_not_judged_by_the_receipt_of_the_file_before(
    publish, site, tmp_path
):
    publish(ENTRY | {"base": ["SITE/"], "sample": True}, exact=None, folded=None)
    site.files["/sts.tsv"] = TABLE
    with pytest.warns(DataWarning, match="not the rows"):
        (path,) = get("small")
    path.unlink()
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts/small.tsv").write_text("score\tsentence1\tsentence2\n1\ta\tb\n")
    get("small", source=str(tmp_path))
    assert verify(["small"])[0].state == "unchecked" and load("small").score.tolist() == [1.0]


@pytest.mark.parametrize(
    "text", ["score\tsentence1\tsentence2\n1\ta\tb\n", "nothing of the kind\n"]
)
def test_F22_a_folder_in_our_layout_with_other_rows_is_refused(publish, tmp_path, text):
    publish(ENTRY | {"base": ["SITE/"]})
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts/small.tsv").write_text(text)
    with pytest.raises(DownloadFailed, match="was not copied: "):
        get("small", source=str(tmp_path))
    assert left() == []


def test_a_folder_that_leads_nowhere_is_named(publish, tmp_path, monkeypatch):
    publish(ENTRY | {"base": ["SITE/"]})
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileNotFoundError, match="loop"):
        get("small", source=str(tmp_path / "loop"))
    monkeypatch.setenv("LESSONS_DATA", "~nobody-of-this-name/x")
    with pytest.raises(ValueError, match="LESSONS_DATA='~nobody.* leads nowhere"):
        verify(["small"])



def test_a_folder_of_the_publishers_own_files_serves_too(publish, site, tmp_path):
    publish(ENTRY | {"archive": ["SITE/pub/x.zip"]}, ENTRY | {"base": ["SITE/a/"]})
    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(
        DataMissing,
        match="holds no sts/small.tsv; expected a folder with the layout of LESSONS_DATA, or the publisher's own files .*x.zip",
    ):
        get("small", source=str(own))
    (own / "x.zip").write_bytes(zipped({"d/sts.tsv": TABLE}))
    assert receipt_of(get("small", source=str(own))[0]).address == str(own) and site.requests == []


def test_a_licence_with_conditions_is_shown_once(publish, site):
    publish(ENTRY | {"base": ["SITE/"]})
    site.files["/sts.tsv"] = TABLE
    told: list[str] = []
    assert conditions("small") == "small: research only (origin: nobody)"
    get("small", tell=told.append)
    (cache_folder() / "data/sts/small.tsv").unlink()
    get("small", tell=told.append)
    assert (
        told == ["Licence of small: research only (origin: nobody)"] and conditions("small") is None
    )


@pytest.fixture
def hub(site, tmp_path, monkeypatch):
    """The Hugging Face hub, at the site's address, with a cache of its own."""
    from huggingface_hub import constants

    for name, value in {
        "ENDPOINT": site.url,
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": False,
        "HF_HUB_DISABLE_XET": True,
        "HUGGINGFACE_CO_URL_TEMPLATE": site.url + "/{repo_id}/resolve/{revision}/{filename}",
    }.items():
        monkeypatch.setattr(constants, name, value)
    return constants


HUB = ENTRY | {"base": [f"hf://datasets/mteb/small@{'0' * 40}/"]}


def test_the_hub_is_asked_by_its_own_library_and_its_cache_is_used_offline(
    publish, site, hub, monkeypatch
):
    publish(HUB)
    site.files[f"/datasets/mteb/small/resolve/{'0' * 40}/sts.tsv"] = TABLE
    assert receipt_of(get("small")[0]).proof == "exact" and list(
        Path(hub.HF_HUB_CACHE).rglob("sts.tsv")
    )
    (cache_folder() / "data/sts/small.tsv").unlink()
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    seen = len(site.requests) + site.heads
    assert receipt_of(get("small")[0]).proof == "exact" and len(site.requests) + site.heads == seen


def test_the_offline_switch_of_the_hub_is_named(publish, hub, monkeypatch):
    publish(HUB)
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        DownloadFailed, match="huggingface.co: mteb/small/sts.tsv: HF_HUB_OFFLINE is set"
    ):
        get("small")


def test_a_file_that_the_hub_lacks_or_that_is_too_large_is_refused(publish, site, hub):
    publish(HUB)
    with pytest.raises(DownloadFailed, match="huggingface.co: mteb/small/sts.tsv: "):
        get("small")
    site.files[f"/datasets/mteb/small/resolve/{'0' * 40}/sts.tsv"] = TABLE
    publish(HUB | {"megabytes": 0.00001})
    with pytest.raises(
        DownloadFailed, match=f"would send {len(TABLE)} bytes; at most 10 are taken"
    ):
        get("small")


# ------------------------------------------------------------------------------------------------ the real sets, in publishers' formats


@pytest.mark.data
@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_the_real_sts_benchmark_in_the_form_of_its_release_has_our_checksum(
    lessons_data, site, monkeypatch, part
):
    table = read_table(lessons_data / "sts" / f"stsb_en_{part}.tsv", COLUMNS)
    lines = zip(
        *(table[c] for c in ("genre", "file", "year", "genre", "score", "sentence1", "sentence2")),
        strict=True,
    )
    monkeypatch.delenv("LESSONS_DATA")
    real = publishers.read_publishers(PROJECT / "data" / "publishers.toml")
    moved = {path: [replace(ways[0], base=(f"{site.url}/",))] for path, ways in real.items()}
    monkeypatch.setattr(publishers, "_table", lambda path: moved)
    body = "".join("\t".join(cells) + "\n" for cells in lines)
    site.files[f"/sts-{part}.csv"] = body.encode()
    (path,) = get("stsb", files=registry.registered("stsb").files_of(part))
    assert (
        receipt_of(path).proof == "exact"
        and not receipt_of(path).missing
        and len(load("stsb", part)) == len(table)
    )


@pytest.mark.data
def test_the_real_sts12_as_a_benchmark_keeps_it_is_proved_by_its_folded_rows(
    lessons_data, site, hub, monkeypatch
):
    table = read_table(lessons_data / "sts" / "sts12.tsv", COLUMNS)
    rows = [
        {
            "sentence1": a.capitalize().replace(" .", "."),
            "sentence2": b.replace(" ,", ","),
            "score": float(s),
        }
        for s, a, b in zip(*(table[c] for c in COLUMNS), strict=True)
    ]
    monkeypatch.delenv("LESSONS_DATA")
    real = publishers.read_publishers(PROJECT / "data" / "publishers.toml")
    ways = [way for way in real["sts/sts12.tsv"] if way.base and "mteb" in way.base[0]]
    monkeypatch.setattr(publishers, "_table", lambda path: {"sts/sts12.tsv": ways})
    site.files[
        "/datasets/mteb/sts12-sts/resolve/a0d554a64d88156834ff5ae9920b964011b16384/test.jsonl.gz"
    ] = gzip.compress("\n".join(map(json.dumps, reversed(rows))).encode())
    with pytest.warns(DataWarning, match="the same rows as the course measured on"):
        (path,) = get("sts12")
    assert (
        receipt_of(path).proof == "folded"
        and receipt_of(path).missing == ("subset",)
        and len(load("sts12")) == 3108
    )


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "stsb",
        "stsb-zh",
        "sts12",
        "sts13",
        "sts14",
        "sts15",
        "sts16",
        "sick",
        "nli",
        "nli-pairs",
        "bbc",
        "agnews",
        "senteval",
        "rareword",
    ],
)
def test_the_checksums_of_rows_in_the_manifest_are_those_of_the_data_measured_on(
    lessons_data, name
):
    for file in registry.registered(name).files:
        if (lessons_data / file.path).is_file():
            sums = row_sums_of(read_table(lessons_data / file.path, file.columns), file.columns)
            assert (sums.rows, sums.exact, sums.folded) == (file.rows, file.exact, file.folded)


# ------------------------------------------------------------------------------------------------ the real table


def test_every_address_is_https_or_of_the_hub_and_every_file_is_in_the_manifest():
    table = publishers.read_publishers(PROJECT / "data" / "publishers.toml")
    known = {
        file.path: file
        for name in registry.dataset_names()
        for file in registry.registered(name).files
    }
    for path, ways in table.items():
        assert path in known
        for way in ways:
            assert all(
                address.startswith(("https://", "hf://", "ours:")) for address in way.addresses
            ), way
            assert way.sample or (
                known[path].exact and known[path].folded and known[path].columns
            ), path


def test_what_the_issue_asks_for_has_an_address_or_comes_along(no_data):
    rows = {row.name: row for row in list_datasets()}
    wanted = [
        "stsb",
        "sts12",
        "sts13",
        "sts14",
        "sts15",
        "sts16",
        "sick",
        "nli",
        "nli-pairs",
        "nli-simcse",
        "zh-pairs",
        "20newsgroups",
        "imdb",
        "agnews",
        "senteval",
        "wordsim353",
        "simlex999",
        "men",
        "rareword",
        "glove-sample",
        "wiki",
        "wiki-sentences",
        "enwiki-frequencies",
    ]
    assert [name for name in wanted if not rows[name].fetchable] == [] and rows[
        "analogies"
    ].found.startswith("gensim")


def test_the_readme_of_the_data_shows_the_table_as_it_is():
    text = (PROJECT / "data" / "README.md").read_text(encoding="utf-8")
    shown = text.split("<!-- addresses: lessons data list --addresses -->\n")[1].split(
        "<!-- end of addresses -->"
    )[0]
    assert shown == publishers.publishers_table(), (
        "put the output of `lessons data list --addresses` between the two marks in data/README.md"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "format = 1",
        'format = 1\n[[publisher]]\nfile = "a"',
        'format = 1\n[[publisher]]\nfile = "a"\nfrom = "x"\nseen = "guess"\nreader = "table"\nbase = []\nparts = []',
    ],
)
def test_F03_a_file_that_is_no_table_of_publishers_says_so(tmp_path, text):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(DamagedFile, match="is no table of publishers: .*Restore it"):
        publishers.read_publishers(tmp_path / "p.toml")


def test_F05_a_newer_table_and_an_address_without_https_are_refused(tmp_path):
    (tmp_path / "p.toml").write_text("format = 2")
    with pytest.raises(ValueError, match="has format 2, this version reads up to 1; upgrade"):
        publishers.read_publishers(tmp_path / "p.toml")
    (tmp_path / "p.toml").write_text(
        'format = 1\n[[publisher]]\nfile = "a"\nfrom = "x"\nseen = "file"\nreader = "table"\nbase = ["http://example.org/"]\nparts = [{}]'
    )
    with pytest.raises(ValueError, match="is not allowed; expected an https"):
        publishers.read_publishers(tmp_path / "p.toml")


def test_the_real_table_says_when_it_was_looked_up():
    assert re.fullmatch(
        r"\d{4}-\d{2}-\d{2}",
        tomllib.loads(publishers.TABLE.read_text(encoding="utf-8"))["looked_up"],
    )
