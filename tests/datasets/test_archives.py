"""Archives: what they hold is read in memory, and what breaks a rule is refused before a byte of
it is read."""

from __future__ import annotations

import contextlib
import random
import tarfile

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.datasets.archives import iterate_members, read_members

from .conftest import packed

MEMBERS = {"d/a.txt": b"first", "d/e/b.txt": b"second"}
OUTSIDE = ["../x", "a/../../x", "/etc/x", "C:/x", "a\\b", "c:x"]
LINKS = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]


@pytest.fixture
def archive(tmp_path):
    """Writes an archive, as `packed` makes it."""
    def write(*members, **how):
        (tmp_path / "x").write_bytes(packed(*members, **how))
        return tmp_path / "x"
    return write


@pytest.mark.parametrize("kind", ["zip", "", "gz", "bz2", "xz"])
def test_members_are_read_by_the_end_of_their_path(archive, tmp_path, kind):
    path = archive(MEMBERS, kind)
    assert read_members(path, ["e/b.txt", "a.txt"]) == {"e/b.txt": b"second", "a.txt": b"first"}
    assert list(iterate_members(path)) == list(MEMBERS.items())
    assert [p.name for p in tmp_path.iterdir()] == ["x"]  # nothing is unpacked


@pytest.mark.parametrize("kind, members, info, why", [
    *((kind, {"a.txt": b"fine", name: b"bad"}, {}, "its path leads out")
      for kind in ("zip", "gz") for name in OUTSIDE),
    *((kind, {"A.txt": b"", "a.txt": b""}, {}, "equals 'A.txt' but for case")
      for kind in ("zip", "gz")),
    ("zip", {"a.txt": b""}, {"mode": 0o120777}, "a link or a device"),
    *(("gz", {"a.txt": b""}, {"type": kind}, "a link or a device") for kind in LINKS),
    *((kind, {"a.txt": bytes(30_000_000)}, {}, "30,000,000 bytes would come out of")
      for kind in ("zip", "gz")),
])
def test_F18_a_member_that_breaks_a_rule_is_refused(archive, kind, members, info, why):
    seen = []
    with pytest.raises(DamagedFile, match=rf"member .* is refused: .*{why}.* Nothing of it was"):
        seen.extend(iterate_members(archive(members, kind, **info), lambda name: name == "a.txt"))
    assert seen == []  # not even the one that came before it


@pytest.mark.parametrize("members, kind, info", [
    ({f"{i}/": b"" for i in range(4)}, "zip", {}),
    ({f"{i}": b"" for i in range(4)}, "", {"type": tarfile.DIRTYPE}),
    ([("same", b"")] * 4, "", {})])
def test_F18_folders_and_equal_names_count_too(archive, monkeypatch, members, kind, info):
    monkeypatch.setattr("lessons_lib.datasets.archives.MAX_MEMBERS", 3)
    with pytest.raises(DamagedFile, match="more than 3 members"):
        list(iterate_members(archive(members, kind, **info)))


@pytest.mark.parametrize("kind", ["", "gz"])
@pytest.mark.parametrize("type_", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_F07_a_header_of_a_tar_file_is_not_read_whatever_its_length(archive, kind, type_):
    path = archive({"x": bytes(3_000_000)}, kind, type=type_)
    with pytest.raises(DamagedFile, match="a header of 3,000,320 bytes; at most 1,048,576 are"):
        list(iterate_members(path))


@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_F01_F02_an_archive_is_damaged_wherever_it_is_cut_or_changed(archive, kind):
    path = archive({"d/a.txt": random.Random(5).randbytes(3000)}, kind)
    whole = path.read_bytes()
    damaged = [whole[:at] for at in range(0, len(whole) - 1, 97)]
    if kind == "zip":  # which has a checksum for each member
        damaged.append(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(DamagedFile, match="cut, damaged or no archive|has 0 members"):
            read_members(path, ["a.txt"])


@pytest.mark.parametrize("kind, name", [("zip", "é/a.txt"), ("", "é" * 120), ("gz", "é" * 120)])
def test_F02_whatever_byte_is_changed_only_a_damaged_file_comes_out(archive, kind, name):
    path, random_ = archive({name: b"text" * 20}, kind), random.Random(5)
    good = path.read_bytes()
    for _ in range(300):
        bad = bytearray(good)
        bad[random_.randrange(min(len(bad), 4096))] = random_.randrange(256)
        path.write_bytes(bad)
        with contextlib.suppress(DamagedFile):
            list(iterate_members(path))
