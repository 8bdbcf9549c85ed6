"""Fetching from a server on this machine that cuts, lies, changes and refuses; the final name appears only over the right bytes."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from lessons_lib.core import DownloadFailed
from lessons_lib.datasets import RegisteredFile, download
from lessons_lib.datasets.download import checked_source, copy, fetch, locked

BODY = random.Random(5).randbytes(300_000)
OTHER = random.Random(6).randbytes(300_000)
FILE = RegisteredFile("sets/data.bin", len(BODY), hashlib.sha256(BODY).hexdigest())


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "data.bin"


def left_in(folder: Path) -> list[str]:
    """What lies beside the published files, locks aside."""
    return sorted(path.name for path in folder.glob("*") if not path.name.startswith(".lock-"))


def test_a_file_arrives_whole_under_its_name(site, target):
    site.files["/a"] = BODY
    seen: list[int] = []
    assert fetch(FILE, target, [f"{site.url}/a"], on_bytes=seen.append) == target
    assert target.read_bytes() == BODY and left_in(target.parent) == ["data.bin"] and seen[-1] == len(BODY) and seen == sorted(seen)


def test_a_whole_file_is_not_fetched_again(site, target):
    site.files["/a"] = BODY
    fetch(FILE, target, [f"{site.url}/a"])
    fetch(FILE, target, [f"{site.url}/a"])
    assert len(site.requests) == 1


def test_F21_a_cut_transfer_goes_on_where_it_stopped(site, target):
    site.files["/a"], site.cut_at = BODY, [100_000, 50_000]
    fetch(FILE, target, [f"{site.url}/a"])
    assert target.read_bytes() == BODY
    assert [wanted for _, wanted in site.requests] == [None, "bytes=100000-", "bytes=150000-"]


def test_F21_a_later_call_goes_on_after_a_failed_one(site, target):
    site.files["/a"], site.cut_at = BODY, [100_000, 0, 0, 0, 0]
    with pytest.raises(DownloadFailed, match=r"127.0.0.1: ConnectionError: cut after 100,000 of 300,000 bytes \(3 tries without a new byte\)"):
        fetch(FILE, target, [f"{site.url}/a"])
    assert not target.exists() and left_in(target.parent) == [f".part-data.bin-{FILE.sha256[:12]}"]
    site.cut_at, site.requests = [], []
    fetch(FILE, target, [f"{site.url}/a"])
    assert target.read_bytes() == BODY and [wanted for _, wanted in site.requests] == ["bytes=100000-"]


def test_F21_a_server_without_ranges_starts_again(site, target):
    site.files["/a"], site.cut_at, site.ranges = BODY, [100_000], False
    fetch(FILE, target, [f"{site.url}/a"])
    assert target.read_bytes() == BODY and len(site.requests) == 2


def test_F21_a_file_that_changed_meanwhile_is_fetched_anew(site, target):
    site.files["/a"] = BODY
    target.parent.mkdir()
    (target.parent / f".part-data.bin-{FILE.sha256[:12]}").write_bytes(OTHER[:100_000])       # the first third of what it was
    fetch(FILE, target, [f"{site.url}/a"])
    assert target.read_bytes() == BODY and [wanted for _, wanted in site.requests] == ["bytes=100000-", None]


@pytest.mark.parametrize("part", [BODY + b"more", OTHER, BODY])
def test_F21_a_part_of_full_length_is_checked_before_it_is_used(site, target, part):
    site.files["/a"] = BODY
    target.parent.mkdir()
    (target.parent / f".part-data.bin-{FILE.sha256[:12]}").write_bytes(part)
    fetch(FILE, target, [f"{site.url}/a"])
    assert target.read_bytes() == BODY and left_in(target.parent) == ["data.bin"]


def test_F22_wrong_bytes_of_the_right_length_are_not_kept(site, target):
    site.files["/a"] = OTHER
    with pytest.raises(DownloadFailed) as caught:
        fetch(FILE, target, [f"{site.url}/a"])
    assert FILE.sha256[:12] in str(caught.value) and hashlib.sha256(OTHER).hexdigest()[:12] in str(caught.value)
    assert left_in(target.parent) == [] and len(site.requests) == 1


@pytest.mark.parametrize("body, what", [(b"<!DOCTYPE html><title>Log in</title>", "an HTML page"), (b"\n <HTML>", "an HTML page"),
                                        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"), (b"", "sent 0 bytes")])
def test_F22_a_page_in_place_of_the_data_is_recognised(site, target, body, what):
    site.files["/a"] = body
    with pytest.raises(DownloadFailed, match=f"{what}.*; expected 300,000 bytes"):
        fetch(FILE, target, [f"{site.url}/a"])
    assert left_in(target.parent) == []


def test_F22_an_endless_answer_is_stopped_one_byte_too_late(site, target):
    site.files["/a"] = BODY + bytes(5_000_000)
    with pytest.raises(DownloadFailed, match=r"it sent 300,001 bytes"):
        fetch(FILE, target, [f"{site.url}/a"])


@pytest.mark.parametrize("status", [404, 403, 410])
def test_F20_a_refusal_is_final_and_names_host_and_cause(site, target, status):
    site.status = [status] * 5
    with pytest.raises(DownloadFailed, match=rf"sets/data.bin could not be fetched from 127.0.0.1: HTTP {status} (.|\n)*--from URL_OR_FOLDER"):
        fetch(FILE, target, [f"{site.url}/a"])
    assert len(site.requests) == 1 and left_in(target.parent) == []


def test_F20_a_busy_server_is_asked_three_times(site, target):
    site.files["/a"], site.status = BODY, [503, 503]
    fetch(FILE, target, [f"{site.url}/a"])
    assert target.read_bytes() == BODY and len(site.requests) == 3
    target.unlink()
    site.status = [503, 500, 503]
    with pytest.raises(DownloadFailed, match=r"HTTP 503 .*3 tries"):
        fetch(FILE, target, [f"{site.url}/a"])


def test_F20_the_second_source_helps_when_the_first_fails(site, target):
    site.files["/b"] = BODY
    fetch(FILE, target, [f"{site.url}/a", f"{site.url}/b"])
    assert target.read_bytes() == BODY


def test_F20_a_closed_port_is_reported_after_three_tries(target):
    with pytest.raises(DownloadFailed, match=r"127.0.0.1: ConnectionRefusedError.*\(3 tries"):
        fetch(FILE, target, ["http://127.0.0.1:9/a"])


def test_F20_a_host_that_cannot_be_reached_is_named(target):
    with pytest.raises(DownloadFailed, match=r"could not be fetched from example.invalid: "):
        fetch(FILE, target, ["https://example.invalid/a"])


def test_F20_a_search_for_the_host_that_never_ends_is_given_up():
    release = threading.Event()
    with pytest.raises(TimeoutError, match="no answer within 0 s"):
        download.within(0.05, release.wait)
    release.set()


@pytest.mark.parametrize("url", ["http://example.org/a", "ftp://example.org/a", "file:///etc/passwd", "example.org", "", "https://",
                                 "http://[bad", "//x/y"])
def test_security_only_https_is_used(url, target):
    with pytest.raises(ValueError, match=r"source='.*' is not allowed; expected an https:// address"):
        fetch(FILE, target, [url])
    assert not target.parent.exists()


def test_security_https_and_this_machine_are_allowed():
    assert checked_source("https://example.org/a") and checked_source("http://127.0.0.1:8/a") and checked_source("http://localhost/a")


@pytest.mark.parametrize("where", ["http://example.org/a", "file:///etc/passwd"])
def test_security_a_redirect_away_from_https_is_refused(site, target, where):
    site.redirect = where
    with pytest.raises(DownloadFailed, match=r"redirects to|Redirection to"):
        fetch(FILE, target, [f"{site.url}/a"])
    assert len(site.requests) == 1


def test_a_file_without_a_checksum_is_never_fetched(site, target):
    with pytest.raises(ValueError, match="has no checksum in the manifest"):
        fetch(RegisteredFile("sets/x"), target, [f"{site.url}/a"])
    assert site.requests == []


def test_F16_too_little_room_is_noticed_before_the_transfer(site, target, monkeypatch):
    monkeypatch.setattr(download.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1000}))
    with pytest.raises(OSError, match=r"300,000 bytes are needed; 1,000 bytes are free there. LESSONS_CACHE moves the folder"):
        fetch(FILE, target, [f"{site.url}/a"])
    assert site.requests == []


def test_F16_a_disk_that_fills_up_is_no_reason_to_ask_again(site, target, monkeypatch):
    site.files["/a"] = BODY

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download.os, "fsync", full)
    with pytest.raises(OSError, match=r"cannot write to .*No space left on device; .* bytes are free there. LESSONS_CACHE moves"):
        fetch(FILE, target, [f"{site.url}/a"])
    assert len(site.requests) == 1 and not target.exists()


def test_F16_a_folder_that_cannot_be_made_is_named(site, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write to .*file.below"):
        fetch(FILE, tmp_path / "file" / "below" / "data.bin", [f"{site.url}/a"])


# ------------------------------------------------------------------------------------------------ copying from a folder


def test_a_copy_is_checked_and_atomic(tmp_path, target):
    origin = tmp_path / "origin.bin"
    origin.write_bytes(BODY)
    assert copy(FILE, origin, target).read_bytes() == BODY and left_in(target.parent) == ["data.bin"]


def test_F22_a_copy_of_other_bytes_leaves_the_old_file(tmp_path, target):
    origin = tmp_path / "origin.bin"
    origin.write_bytes(OTHER)
    target.parent.mkdir()
    target.write_bytes(BODY)
    with pytest.raises(DownloadFailed, match=r"origin.bin was not copied: 300,000 bytes with checksum .*; expected 300,000 with"):
        copy(FILE, origin, target)
    assert target.read_bytes() == BODY and left_in(target.parent) == ["data.bin"]


# ------------------------------------------------------------------------------------------------ several processes


def _fetch_in_child(url: str, target: Path, queue: multiprocessing.Queue) -> None:
    fetch(FILE, target, [url])
    queue.put(hashlib.sha256(target.read_bytes()).hexdigest())


def test_two_processes_share_one_transfer(site, target):
    site.files["/a"] = BODY
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    children = [context.Process(target=_fetch_in_child, args=(f"{site.url}/a", target, queue)) for _ in range(2)]
    for child in children:
        child.start()
    assert {queue.get(timeout=30) for _ in children} == {FILE.sha256}
    for child in children:
        child.join(30)
        assert child.exitcode == 0
    assert len(site.requests) == 1 and left_in(target.parent) == ["data.bin"]


def test_a_waiting_process_is_told_who_holds_the_lock(target):
    release, held = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(target):
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    with pytest.raises(DownloadFailed, match=rf"is being written by process {os.getpid()} for more than 0 s"), locked(target, seconds=0.05):
        pass
    release.set()
    thread.join()
    entered = False
    with locked(target, seconds=0.05):                            # it is free again
        entered = True
    assert entered


def _hold_and_wait(target: Path, ready: multiprocessing.Event) -> None:
    with locked(target):
        part = target.parent / f".part-{target.name}-{FILE.sha256[:12]}"
        part.write_bytes(BODY[:100_000])
        ready.set()
        time.sleep(60)


@pytest.mark.skipif(os.name != "posix", reason="kills with a POSIX signal")
def test_a_killed_process_leaves_no_file_under_the_name_and_no_lock(site, target):
    site.files["/a"] = BODY
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    child = context.Process(target=_hold_and_wait, args=(target, ready))
    child.start()
    assert ready.wait(30)
    os.kill(child.pid, signal.SIGKILL)
    child.join(10)
    assert not target.exists()
    fetch(FILE, target, [f"{site.url}/a"])
    assert target.read_bytes() == BODY and [wanted for _, wanted in site.requests] == ["bytes=100000-"] and left_in(target.parent) == ["data.bin"]
