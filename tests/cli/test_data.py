"""``lessons data``: several datasets at once, what fails among them, and where they came from."""

from __future__ import annotations

import errno
import gzip
from itertools import islice, product

import pytest

from lessons_lib.core import DownloadFailed, cache_folder
from lessons_lib.datasets import catalogue, conversion

PAIRS = b"love\tsex\t6.77\ntiger\tcat\t7.35\n"


@pytest.fixture(autouse=True)
def wide_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture
def fetched(monkeypatch):
    """What ``fetch_published`` answers by the end of an address; the rest fails."""
    answers: dict[str, bytes] = {}
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    monkeypatch.delenv("LESSONS_MIRROR", raising=False)

    def answer(url, target, **more):
        body = next((body for end, body in answers.items() if url.endswith(end)), None)
        if body is None:
            raise DownloadFailed("example.org: HTTP 404 Not Found")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
        return target

    monkeypatch.setattr(conversion, "fetch_published", answer)
    return answers


def test_the_list_says_what_can_be_fetched(lessons, fetched):
    code, out, _ = lessons("data", "list")
    lines = {line.split("│")[1].strip(): [cell.strip() for cell in line.split("│")]
             for line in out.splitlines() if line.count("│") > 5}
    assert (code == 0 and lines["stsb"][4] == "yes"
            and lines["lee"][4] == lines["course-sts"][4] == "comes along")
    assert lines["embedding-space"][4] == "no"


def test_the_addresses_are_listed_with_their_date(lessons):
    code, out, _ = lessons("data", "list", "--addresses")
    assert (code == 0 and "| hub" not in out and "looked up on 2026-" in out
            and "**not reached here**" in out and "| men" not in out.split("\n")[0])


def test_one_dataset_that_fails_is_one_line(lessons, fetched):
    code, _, err = lessons("data", "get", "agnews")
    assert code == 2 and "Licence of agnews: non-commercial research" in err
    assert "lessons: topics/agnews_dev_test.tsv.gz could not be had: example.org: HTTP 404" in err


def test_after_a_failure_the_others_still_come_and_a_table_says_so(lessons, fetched):
    code, out, _err = lessons("data", "get", "agnews", "lee", "embedding-space")
    assert code == 1
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if line.count("│") > 4}
    assert "FAILED" in rows["agnews"] and "HTTP 404" in rows["agnews"] and "ready" in rows["lee"]
    assert "has no public download" in rows["embedding-space"]


def test_all_passes_over_what_is_here_and_goes_on_after_failures(lessons, fetched):
    code, out, _ = lessons("data", "get", "--all")
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if line.count("│") > 4}
    assert (code == 1 and "here" in rows["course-sts"] and "FAILED" in rows["wiki"]
            and "FAILED" in rows["sts12"])
    assert not [path for path in cache_folder().rglob("*") if path.is_file()
                and ".lock-" not in path.name and path.name != "licences_shown.json"]


@pytest.mark.parametrize("arguments", [[], ["stsb", "--all"]])
def test_names_or_all_but_not_both(lessons, arguments):
    code, _, err = lessons("data", "get", *arguments)
    assert code == 2 and "--all; expected either" in err


def test_an_unknown_name_among_others_is_named_before_anything_is_fetched(lessons, fetched):
    code, _, err = lessons("data", "get", "agnews", "stbs")
    assert (code == 2 and "name='stbs' is unknown. Did you mean 'stsb'" in err
            and "Licence" not in err)


def test_what_is_not_exactly_as_the_course_had_it_is_said(lessons, fetched):
    words = islice(product("abcdefghijklmnopqrstuvwxyz", repeat=3), 12_000)
    lines = ("".join(letters) + " 1" * 25 for letters in words)
    fetched["glove-twitter-25.gz"] = gzip.compress("\n".join(["12000 25", *lines]).encode())
    code, out, _ = lessons("data", "get", "glove-sample")
    assert (code == 0 and "glove-sample: 1 file ready" in out
            and "gensim-data: not the rows that the course measured on" in out)
    code, out, _ = lessons("data", "verify", "--rows", "glove-sample")
    assert code == 0 and "another sample" in out
    assert (catalogue.conditions("glove-sample")
            is None)  # free of conditions, so nothing was to be shown


def test_a_folder_in_the_way_of_one_file_does_not_keep_the_others_away(
        lessons, monkeypatch, fetched):
    def made(file, target, *rest, **more):
        raise IsADirectoryError(errno.EISDIR, f"cannot write {target}: Is a directory")

    monkeypatch.setattr(catalogue, "make_file", made)
    code, out, _ = lessons("data", "get", "imdb", "lee")
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    rows, name = {}, ""  # a long cell goes on in the lines below
    for first, *others in filter(None, cells):
        name = first or name
        rows[name] = f"{rows.get(name, '')} {' '.join(others)}"
    assert code == 1 and "Is a directory" in " ".join(
        rows["imdb"].split()) and "ready" in rows["lee"]


def test_F16_a_full_disk_ends_it_after_a_table_of_what_came(lessons, monkeypatch, fetched):
    def full(file, target, *rest, **more):
        raise OSError(errno.ENOSPC, f"cannot write {target}: No space left on device")

    monkeypatch.setattr(catalogue, "make_file", full)
    code, out, err = lessons("data", "get", "lee", "imdb", "agnews")
    assert code == 2 and "lee" in out.split("Got")[1] and "No space left on device" in err
    assert "agnews" not in out + err
