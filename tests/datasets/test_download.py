"""Fetching from a server on this machine that cuts, lies, changes and refuses; the final name
appears only over the right bytes."""

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
PART = f".part-data.bin-{FILE.sha256[:12]}"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "data.bin"


@pytest.fixture
def get(site, target):
    """Fetches the file from the server, which holds it at /a."""
    site.files["/a"] = BODY
    return lambda *paths, **more: fetch(
        FILE, target, [site.url + path for path in paths or ["/a"]], **more)


def left_in(folder: Path) -> list[str]:
    """What lies beside the published files, locks aside."""
    return sorted(path.name for path in folder.glob("*") if not path.name.startswith(".lock-"))


def test_a_file_arrives_whole_under_its_name_and_is_not_fetched_again(site, target, get):
    seen: list[int] = []
    assert get(on_bytes=seen.append) == target
    assert target.read_bytes() == BODY and left_in(target.parent) == ["data.bin"]
    assert seen[-1] == len(BODY) and seen == sorted(seen)
    get()
    assert len(site.requests) == 1


@pytest.mark.parametrize("begun, cut_at, ranges, asked", [
    (None, [100_000, 50_000], True, [None, "bytes=100000-", "bytes=150000-"]),
    (None, [100_000], False, [None, "bytes=100000-"]),  # a server without ranges starts again
    (OTHER[:100_000], [], True, ["bytes=100000-", None]),  # it changed since its first third came
    (BODY + b"more", [], True, ["bytes=300004-", None]), (OTHER, [], True, [None]),
    (BODY, [], True, [])])
def test_F21_a_transfer_goes_on_where_it_stopped_or_starts_again(
        site, target, get, begun, cut_at, ranges, asked):
    site.cut_at, site.ranges = cut_at, ranges
    if begun:
        target.parent.mkdir()
        (target.parent / PART).write_bytes(begun)
    get()
    assert target.read_bytes() == BODY and site.ranges_asked == asked
    assert left_in(target.parent) == ["data.bin"]


def test_F21_a_later_call_goes_on_after_a_failed_one(site, target, get):
    site.cut_at = [100_000, 0, 0, 0, 0]
    why = r"127.0.0.1: ConnectionError: cut after 100,000 of 300,000 bytes \(3 tries without"
    with pytest.raises(DownloadFailed, match=why):
        get()
    assert left_in(target.parent) == [PART]
    site.cut_at, site.requests = [], []
    get()
    assert target.read_bytes() == BODY and site.ranges_asked == ["bytes=100000-"]


@pytest.mark.parametrize("change, why", [
    *(({"files": {"/a": body}}, f"{what}.*; expected 300,000 bytes|{what}") for body, what in [
        (OTHER, f"{hashlib.sha256(OTHER).hexdigest()[:12]}.*{FILE.sha256[:12]}"),
        (b"<!DOCTYPE html><title>Log in</title>", "an HTML page"), (b"\n <HTML>", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"", "sent 0 bytes"),
        (BODY + bytes(5_000_000), "it sent 300,001 bytes")]),  # stopped one byte too late
    *(({"status": [status] * 5},
       rf"sets/data.bin could not be fetched from 127.0.0.1: HTTP {status} (.|\n)*--from URL")
      for status in (404, 403, 410)),
    *(({"redirect": where}, "redirects to|Redirection to")  # security: away from HTTPS
      for where in ("http://example.org/a", "file:///etc/passwd"))])
def test_F20_F22_wrong_bytes_and_refusals_are_final_and_named(site, target, get, change, why):
    vars(site).update(change)
    with pytest.raises(DownloadFailed, match=why):
        get()
    assert len(site.requests) == 1 and left_in(target.parent) == []


def test_F20_a_busy_server_is_asked_three_times_and_then_the_second_source(site, target, get):
    site.status = [503, 503]
    get()
    assert target.read_bytes() == BODY and len(site.requests) == 3
    target.unlink()
    site.status = [503, 500, 503]
    with pytest.raises(DownloadFailed, match=r"HTTP 503 .*3 tries"):
        get()
    get("/gone", "/a")
    assert target.read_bytes() == BODY


@pytest.mark.parametrize("url, why", [
    ("http://127.0.0.1:9/a", r"127.0.0.1: ConnectionRefusedError.*\(3 tries"),
    ("https://example.invalid/a", "could not be fetched from example.invalid: ")])
def test_F20_what_cannot_be_reached_is_named(target, url, why):
    with pytest.raises(DownloadFailed, match=why):
        fetch(FILE, target, [url])


def test_F20_a_search_for_the_host_that_never_ends_is_given_up():
    release = threading.Event()
    with pytest.raises(TimeoutError, match="no answer within 0 s"):
        download.within(0.05, release.wait)
    release.set()
    with pytest.raises(ValueError, match="has no checksum in the manifest"):
        fetch(RegisteredFile("sets/x"), Path("x"), ["https://example.invalid/a"])


@pytest.mark.parametrize("url", [
    "http://example.org/a", "ftp://example.org/a", "file:///etc/passwd", "example.org", "",
    "https://", "http://[bad", "//x/y"])
def test_security_only_https_or_this_machine_is_used(url, target):
    with pytest.raises(ValueError, match=r"source='.*' is not allowed; expected an https://"):
        fetch(FILE, target, [url])
    assert not target.parent.exists()
    for good in ("https://example.org/a", "http://127.0.0.1:8/a", "http://localhost/a"):
        assert checked_source(good) == good


def test_F16_too_little_room_is_noticed_before_the_transfer(site, get, monkeypatch):
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(download.shutil, "disk_usage", lambda folder: usage)
    why = r"300,000 bytes are needed; 1,000 bytes are free there. LESSONS_CACHE moves the folder"
    with pytest.raises(OSError, match=why):
        get()
    assert site.requests == []


def test_F16_a_disk_that_fills_up_is_no_reason_to_ask_again(site, target, get, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download.os, "fsync", full)
    why = r"cannot write to .*No space left on device; .* bytes are free there. LESSONS_CACHE moves"
    with pytest.raises(OSError, match=why):
        get()
    assert len(site.requests) == 1 and not target.exists()


def test_F16_a_folder_that_cannot_be_made_is_named(site, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write to .*file.below"):
        fetch(FILE, tmp_path / "file" / "below" / "data.bin", [f"{site.url}/a"])


@pytest.mark.parametrize("body", [BODY, OTHER])
def test_F22_a_copy_is_checked_and_leaves_the_old_file_where_it_is_another(tmp_path, target, body):
    origin = tmp_path / "origin.bin"
    origin.write_bytes(body)
    target.parent.mkdir()
    target.write_bytes(b"old")
    if body is BODY:
        assert copy(FILE, origin, target).read_bytes() == BODY
    else:
        why = r"origin.bin was not copied: 300,000 bytes with checksum .*; expected 300,000 with"
        with pytest.raises(DownloadFailed, match=why):
            copy(FILE, origin, target)
        assert target.read_bytes() == b"old"
    assert left_in(target.parent) == ["data.bin"]


def _fetch_in_child(url: str, target: Path, queue: multiprocessing.Queue) -> None:
    fetch(FILE, target, [url])
    queue.put(hashlib.sha256(target.read_bytes()).hexdigest())


def test_4_6_two_processes_share_one_transfer(site, target):
    site.files["/a"] = BODY
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    arguments = (f"{site.url}/a", target, queue)
    children = [context.Process(target=_fetch_in_child, args=arguments) for _ in range(2)]
    for child in children:
        child.start()
    assert {queue.get(timeout=30) for _ in children} == {FILE.sha256}
    for child in children:
        child.join(30)
        assert child.exitcode == 0
    assert len(site.requests) == 1 and left_in(target.parent) == ["data.bin"]


def test_4_6_a_waiting_process_is_told_who_holds_the_lock(target):
    release, held = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(target):
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    why = rf"is being written by process {os.getpid()} for more than 0 s"
    with pytest.raises(DownloadFailed, match=why), locked(target, seconds=0.05):
        pass
    release.set()
    thread.join()
    entered = False
    with locked(target, seconds=0.05):  # it is free again
        entered = True
    assert entered


def _hold_and_wait(target: Path, ready: multiprocessing.Event) -> None:
    with locked(target):
        (target.parent / PART).write_bytes(BODY[:100_000])
        ready.set()
        time.sleep(60)


@pytest.mark.skipif(os.name != "posix", reason="kills with a POSIX signal")
def test_4_3_a_killed_process_leaves_no_file_under_the_name_and_no_lock(site, target, get):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    child = context.Process(target=_hold_and_wait, args=(target, ready))
    child.start()
    assert ready.wait(30)
    os.kill(child.pid, signal.SIGKILL)
    child.join(10)
    assert not target.exists()
    get()
    assert target.read_bytes() == BODY and site.ranges_asked == ["bytes=100000-"]
    assert left_in(target.parent) == ["data.bin"]
