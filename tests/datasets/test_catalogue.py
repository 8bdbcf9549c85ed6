"""What is listed, fetched and verified."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from lessons_lib.core import DamagedFile, DataMissing, DownloadFailed, cache_folder
from lessons_lib.datasets import RegisteredFile, get, list_datasets, load, registered, registry, verify
from lessons_lib.datasets.canonical import RowSums

TABLE = b"score\tsentence1\tsentence2\tsubset\n4.5\tA cat.\tOne cat.\tx\n0\tA dog.\tRain.\ty\n"


def known(body: bytes, path: str = "sts/sts12.tsv", **more) -> RegisteredFile:
    return RegisteredFile(path, len(body), hashlib.sha256(body).hexdigest(), **more)


@pytest.fixture
def sts12(monkeypatch, no_data):
    """The manifest with sts12's file replaced by a small one."""
    real = dict(registry._manifest(registry.MANIFEST))

    def put(file: RegisteredFile) -> None:
        real["sts12"] = replace(real["sts12"], files=(file,), split_files={"test": (file,)})

    monkeypatch.setattr(registry, "_manifest", lambda path: real)
    put(known(TABLE))
    return put


def test_the_list_names_every_dataset_and_where_it_is(no_data):
    rows = {row.name: row for row in list_datasets()}
    assert list(rows) == registry.dataset_names()
    assert rows["course-sts"].found == "project" and rows["course-sts"].bytes > 10_000
    assert rows["lee"].found.startswith("gensim 4.") and rows["lee"].bytes == 384_740 and rows["agnews"].found == ""
    assert rows["agnews"].bytes == 1_225_729 and rows["agnews"].here == () and rows["wordsim353"].here == ("all",)


@pytest.mark.data
def test_the_real_folder_is_listed_and_verified(lessons_data):
    rows = {row.name: row for row in list_datasets()}
    assert rows["agnews"].found == "LESSONS_DATA" and set(rows["sick"].here) >= {"train", "dev"}
    states = verify(["stsb", "agnews", "glove-sample", "sick"])
    assert {state.state for state in states if "sick_test" not in state.file} == {"ok"}
    assert len([state for state in states if state.name == "stsb"]) == 3


def test_a_folder_fills_the_cache_and_the_cache_is_checked(sts12, tmp_path):
    mirror = tmp_path / "mirror"
    (mirror / "sts").mkdir(parents=True)
    (mirror / "sts" / "sts12.tsv").write_bytes(TABLE)
    with pytest.raises(DataMissing):
        load("sts12")
    (path,) = get("sts12", source=str(mirror))
    assert path == cache_folder() / "data" / "sts" / "sts12.tsv" and load("sts12").subset == ["x", "y"]
    assert next(row.found for row in list_datasets() if row.name == "sts12") == "cache" and verify(["sts12"])[0].state == "ok"
    path.write_bytes(TABLE.replace(b"4.5", b"4.4"))
    assert verify(["sts12"])[0].state == "changed"
    with pytest.raises(DamagedFile, match=r"was changed or damaged: .*expected .* with .*lessons data get"):
        load("sts12")
    assert get("sts12", source=str(mirror))[0].read_bytes() == TABLE


def test_F22_a_folder_with_other_bytes_is_refused(sts12, tmp_path):
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts" / "sts12.tsv").write_bytes(b"<html>sorry")
    with pytest.raises(DownloadFailed, match="an HTML page"):
        get("sts12", source=str(tmp_path))
    assert not (cache_folder() / "data" / "sts" / "sts12.tsv").exists()


def test_a_mirror_named_by_the_environment_serves_download(sts12, site, monkeypatch):
    site.files["/layout/sts/sts12.tsv"] = TABLE
    with pytest.raises(DataMissing, match="lessons data get sts12"):
        load("sts12")
    assert site.requests == []                                    # never the network unless told to
    monkeypatch.setenv("LESSONS_MIRROR", f"{site.url}/layout/")
    assert load("sts12", download=True).score.tolist() == [4.5, 0.0]
    assert load("sts12", download=True).split == "test" and len(site.requests) == 1


def test_a_registered_source_is_used(sts12, site):
    site.files["/x"] = TABLE
    sts12(known(TABLE, sources=(f"{site.url}/x",)))
    seen = []
    assert get("sts12", on_bytes=lambda *report: seen.append(report))[0].is_file()
    assert seen == [("sts/sts12.tsv", len(TABLE), len(TABLE))]
    get("sts12")
    assert len(site.requests) == 1


def test_F19_a_dataset_nobody_offers_says_so(no_data):
    with pytest.raises(DataMissing) as caught:
        get("embedding-space")
    message = str(caught.value)
    assert "has no public download in this format" in message and "--from URL_OR_FOLDER" in message
    assert "LESSONS_DATA" in message and message.count("\n") <= 2


def test_splits_that_a_folder_lacks_are_left_out(no_data, tmp_path, monkeypatch):
    (known,) = registered("sick").files_of("test")
    proved = RowSums(1, known.exact, known.folded)
    monkeypatch.setattr(
        "lessons_lib.datasets.catalogue.row_sums_of", lambda table, columns: proved
    )
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts" / "sick_test.tsv").write_bytes(b"score\tsentence1\tsentence2\tentailment\n1\ta\tb\tneutral\n")
    assert [path.name for path in get("sick", source=str(tmp_path))] == ["sick_test.tsv"]
    assert len(load("sick", "test")) == 1
    with pytest.raises(DataMissing, match="holds no sts/stsb_en_train.tsv; expected a folder with the layout of LESSONS_DATA"):
        get("stsb", source=str(tmp_path))


def test_a_file_without_a_checksum_comes_from_a_folder_only(no_data, site):
    with pytest.raises(DataMissing, match=r"has no registered checksum(.|\n)*lessons data get sick"):
        get("sick", source=site.url, files=registered("sick").files_of("test"))
    assert site.requests == []


def test_what_gensim_ships_needs_no_fetching(no_data):
    assert [path.name for path in get("lee")] == ["lee_background.cor", "lee.cor"]
    assert get("wordsim353")[0].name == "wordsim353.tsv"


@pytest.mark.parametrize("source, error", [("http://example.org/x", ValueError), ("ftp://x/y", ValueError), ("nowhere/at/all", FileNotFoundError)])
def test_security_a_source_is_https_or_a_folder(no_data, source, error):
    with pytest.raises(error, match="source="):
        get("agnews", source=source)


@pytest.mark.parametrize("call", [lambda: get("../agnews"), lambda: verify(["../agnews"]), lambda: load("../agnews")])
def test_F18_P27_names_are_looked_up_and_never_used_as_paths(call):
    with pytest.raises(ValueError, match=r"name='\.\./agnews' is unknown. Did you mean 'agnews'"):
        call()


def test_verify_wants_a_list_of_names():
    with pytest.raises(TypeError, match=r"names='stsb' is one str; expected a list of names. Pass \['stsb'\]"):
        verify("stsb")


def test_verify_counts_what_gensim_ships_as_here(no_data):
    assert [(state.place, state.state) for state in verify(["wordsim353"])] == [("gensim", "unchecked")]
    assert [state.state for state in verify(["agnews"])] == ["missing"]


@pytest.mark.parametrize("call, error, message", [
    (lambda: verify(5), TypeError, "names=5 is int"), (lambda: get("lee", source=5), TypeError, "source=5 is int"),
    (lambda: get("lee", source=""), ValueError, "source='' is empty"), (lambda: load("lee", download="no"), TypeError, "download='no' is str")])
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
