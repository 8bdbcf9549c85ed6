"""The list, fetching from folders and servers, and verifying: what `lessons data` stands on."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from lessons_lib.core import DamagedFile, DataMissing, DownloadFailed, cache_folder
from lessons_lib.datasets import (
    RegisteredFile, get, list_datasets, load, registered, registry, verify)
from lessons_lib.datasets.canonical import RowSums

TABLE = b"score\tsentence1\tsentence2\tsubset\n4.5\tA cat.\tOne cat.\tx\n0\tA dog.\tRain.\ty\n"
KNOWN = RegisteredFile("sts/sts12.tsv", len(TABLE), hashlib.sha256(TABLE).hexdigest())


@pytest.fixture
def sts12(monkeypatch, no_data):
    """The manifest with sts12's file replaced by a small one."""
    real = dict(registry._manifest(registry.MANIFEST))

    def put(file: RegisteredFile) -> None:
        real["sts12"] = replace(real["sts12"], files=(file,), split_files={"test": (file,)})

    monkeypatch.setattr(registry, "_manifest", lambda path: real)
    put(KNOWN)
    return put


@pytest.fixture
def mirror(tmp_path):
    """A folder with our layout, and a table in it."""
    def write(body: bytes, name: str = "sts12.tsv") -> str:
        (tmp_path / "mirror/sts").mkdir(parents=True, exist_ok=True)
        (tmp_path / "mirror/sts" / name).write_bytes(body)
        return str(tmp_path / "mirror")
    return write


def test_the_list_names_every_dataset_and_where_it_is(no_data):
    rows = {row.name: row for row in list_datasets()}
    assert list(rows) == registry.dataset_names()
    assert rows["course-sts"].found == "project" and rows["course-sts"].bytes > 10_000
    assert rows["lee"].found.startswith("gensim 4.") and rows["lee"].bytes == 384_740
    assert (rows["agnews"].found, rows["agnews"].here, rows["agnews"].bytes) == ("", (), 1_225_729)
    assert rows["wordsim353"].here == ("all",)
    # what gensim ships needs no fetching
    assert [path.name for path in get("lee")] == ["lee_background.cor", "lee.cor"]
    assert get("wordsim353")[0].name == "wordsim353.tsv"
    states = [(state.place, state.state) for state in verify(["wordsim353", "agnews"])]
    assert states == [("gensim", "unchecked"), ("", "missing")]


@pytest.mark.data
def test_the_real_folder_is_listed_and_verified(lessons_data):
    rows = {row.name: row for row in list_datasets()}
    assert rows["agnews"].found == "LESSONS_DATA" and set(rows["sick"].here) >= {"train", "dev"}
    states = verify(["stsb", "agnews", "glove-sample", "sick"])
    assert {state.state for state in states if "sick_test" not in state.file} == {"ok"}
    assert len([state for state in states if state.name == "stsb"]) == 3


def test_a_folder_fills_the_cache_and_the_cache_is_checked(sts12, mirror):
    with pytest.raises(DownloadFailed, match="an HTML page"):  # F22
        get("sts12", source=mirror(b"<html>sorry"))
    assert not (cache_folder() / "data/sts/sts12.tsv").exists()
    folder = mirror(TABLE)
    with pytest.raises(DataMissing):
        load("sts12")
    (path,) = get("sts12", source=folder)
    assert path == cache_folder() / "data/sts/sts12.tsv" and load("sts12").subset == ["x", "y"]
    assert next(row.found for row in list_datasets() if row.name == "sts12") == "cache"
    assert verify(["sts12"])[0].state == "ok"
    path.write_bytes(TABLE.replace(b"4.5", b"4.4"))
    assert verify(["sts12"])[0].state == "changed"
    with pytest.raises(DamagedFile, match=r"was changed or damaged: .*expected .*lessons data get"):
        load("sts12")
    assert get("sts12", source=folder)[0].read_bytes() == TABLE


def test_a_mirror_named_by_the_environment_serves_download(sts12, site, monkeypatch):
    site.files["/layout/sts/sts12.tsv"] = TABLE
    with pytest.raises(DataMissing, match="lessons data get sts12"):
        load("sts12")
    assert site.requests == []  # never the network unless told to
    monkeypatch.setenv("LESSONS_MIRROR", f"{site.url}/layout/")
    assert load("sts12", download=True).score.tolist() == [4.5, 0.0]
    assert load("sts12", download=True).split == "test" and len(site.requests) == 1


def test_a_registered_source_is_used(sts12, site):
    site.files["/x"] = TABLE
    sts12(replace(KNOWN, sources=(f"{site.url}/x",)))
    seen = []
    assert get("sts12", on_bytes=lambda *report: seen.append(report))[0].is_file()
    assert seen == [("sts/sts12.tsv", len(TABLE), len(TABLE))]
    get("sts12")
    assert len(site.requests) == 1


def test_F19_a_dataset_nobody_offers_says_so(no_data):
    with pytest.raises(DataMissing) as caught:
        get("embedding-space")
    words = ["has no public download in this format", "--from URL_OR_FOLDER", "LESSONS_DATA",
             "(origin: Ethayarajh 2019, kawine/contextual)"]
    assert all(word in str(caught.value) for word in words)
    assert str(caught.value).count("\n") <= 2


def test_splits_that_a_folder_lacks_are_left_out(no_data, mirror, monkeypatch):
    (file,) = registered("sick").files_of("test")
    proved = RowSums(1, file.exact, file.folded)
    monkeypatch.setattr("lessons_lib.datasets.catalogue.row_sums_of", lambda *table: proved)
    text = b"score\tsentence1\tsentence2\tentailment\n1\ta\tb\tneutral\n"
    folder = mirror(text, "sick_test.tsv")
    assert [path.name for path in get("sick", source=folder)] == ["sick_test.tsv"]
    assert len(load("sick", "test")) == 1
    why = "holds no sts/stsb_en_train.tsv; expected a folder with the layout of LESSONS_DATA"
    with pytest.raises(DataMissing, match=why):
        get("stsb", source=folder)


def test_a_file_without_a_checksum_does_not_come_from_a_mirror(no_data, site):
    why = r"has no registered checksum(.|\n)*lessons data get sick"
    with pytest.raises(DataMissing, match=why):
        get("sick", source=site.url, files=registered("sick").files_of("test"))
    assert site.requests == []
