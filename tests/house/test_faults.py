"""A full disk, a limit of file sizes, a folder that turns read-only, a time that goes back: what
was saved before is still there, whole, and when the fault is gone the same call works.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lessons_lib as ll

from .saved_models import DOCUMENTS, Lengths
from .test_damage import KINDS

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
SAVED = ("one_hot", "sif", "compact vectors")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts and limits of Linux")


@pytest.fixture(scope="module")
def disk(tmp_path_factory) -> Iterator[Path]:
    """A small file system of its own."""
    place = tmp_path_factory.mktemp("disk")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place],
                          capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"a small disk needs root: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.fixture
def place(disk) -> Path:
    """An empty folder on the small disk."""
    for entry in disk.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    (folder := disk / "here").mkdir()
    return folder / "m"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".lock-")}


def _fill(disk: Path, pages: int) -> Path:
    """A file that leaves so many pages of the disk."""
    ballast = disk / "ballast"
    left = shutil.disk_usage(disk).free - pages * PAGE
    with open(ballast, "wb") as file:
        file.write(bytes(left))
    assert shutil.disk_usage(disk).free == pages * PAGE
    return ballast


def _refused(kind: str, place: Path, errors: set[int]) -> None:
    """A save over what is there fails as it should, says where, and leaves the old one whole."""
    before = _files(place.parent)
    with pytest.raises(OSError) as caught:
        KINDS[kind](place)
    assert caught.value.errno in errors and str(place)[:60] in str(caught.value), caught.value
    after = _files(place.parent)
    assert {name: after.get(name) for name in before} == before
    assert not [name for name in after.keys() - before.keys()
                if ".tmp-" in name or "-draft-" in name]


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAVED)
def test_F16_on_a_full_disk_the_old_version_stays_and_the_next_save_works(disk, place, kind):
    load = KINDS[kind](place)
    needed = sum(-(-len(content) // PAGE) for content in _files(place).values())
    for pages in (0, 1, needed - 1) if needed > 4 else (0,):     # some pages are kept in reserve
        ballast = _fill(disk, pages)
        _refused(kind, place, {errno.ENOSPC})
        load()
        ballast.unlink()
    KINDS[kind](place)()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one_hot", "glove_cut"])
def test_F16_at_a_limit_of_file_sizes_the_old_version_stays(tmp_path, kind):
    import resource

    load = KINDS[kind](tmp_path / "m")
    longest = max(map(len, _files(tmp_path / "m").values()))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (longest // 2, before[1]))
    try:
        _refused(kind, tmp_path / "m", {errno.EFBIG})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    load()
    KINDS[kind](tmp_path / "m")()


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAVED)
def test_F16_in_a_folder_that_turns_read_only_the_old_version_stays(disk, place, kind):
    load = KINDS[kind](place)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    try:
        _refused(kind, place, {errno.EROFS})
        load()
    finally:
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    KINDS[kind](place)()


def test_a_file_whose_time_goes_back_is_read_again(tmp_path):
    (folder := tmp_path / "texts").mkdir()
    (folder / "a.txt").write_text(DOCUMENTS[0], "utf-8")
    os.utime(folder / "a.txt", (4e9, 4e9))       # in the year 2096
    index = ll.search.FolderIndex(Lengths())
    index.update(folder)
    (folder / "a.txt").write_text(DOCUMENTS[0][::-1], "utf-8")
    os.utime(folder / "a.txt", (1e9, 1e9))
    assert index.update(folder).changed == ["a.txt"]
