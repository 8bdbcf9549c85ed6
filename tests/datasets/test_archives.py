"""Archives: what they hold is read in memory, and what breaks a rule is refused before a byte of it is read."""

from __future__ import annotations

import contextlib
import io
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from lessons_lib.core import DamagedFile
from lessons_lib.datasets.archives import iterate_members, read_members

MEMBERS = {"d/a.txt": b"first", "d/e/b.txt": b"second"}


def make(path: Path, members: dict[str, bytes], kind: str, **info: object) -> Path:
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                entry = zipfile.ZipInfo(name)
                entry.filename = (
                    name  # as it is: ZipInfo would turn what Windows separates by into /
                )
                entry.external_attr = int(info.get("mode", 0o100644)) << 16
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
        return path
    with tarfile.open(path, f"w:{kind}") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.type = len(data), info.get("type", tarfile.REGTYPE)
            entry.linkname = "/etc/passwd" if "type" in info else ""
            archive.addfile(entry, io.BytesIO(data))
    return path


@pytest.mark.parametrize("kind", ["zip", "", "gz", "bz2", "xz"])
def test_members_are_read_by_the_end_of_their_path(tmp_path, kind):
    path = make(tmp_path / "x", MEMBERS, kind)
    assert read_members(path, ["e/b.txt", "a.txt"]) == {"e/b.txt": b"second", "a.txt": b"first"}
    assert list(iterate_members(path)) == list(MEMBERS.items())
    assert [p.name for p in tmp_path.iterdir()] == ["x"]  # nothing is unpacked


@pytest.mark.parametrize("kind", ["zip", "gz"])
@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "C:/x", "a\\b", "c:x"])
def test_F18_a_path_that_leads_out_is_refused(tmp_path, kind, name):
    path = make(tmp_path / "x", {"a.txt": b"fine", name: b"bad"}, kind)
    with pytest.raises(
        DamagedFile, match=r"member .* is refused: its path leads out .* Nothing of it was read"
    ):
        list(iterate_members(path, lambda name: name == "a.txt"))


@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_F18_names_that_are_equal_but_for_case_are_refused(tmp_path, kind):
    with pytest.raises(DamagedFile, match="equals 'A.txt' but for case"):
        list(iterate_members(make(tmp_path / "x", {"A.txt": b"", "a.txt": b""}, kind)))


@pytest.mark.parametrize(
    "kind, info",
    [
        ("zip", {"mode": 0o120777}),
        ("gz", {"type": tarfile.SYMTYPE}),
        ("gz", {"type": tarfile.LNKTYPE}),
        ("gz", {"type": tarfile.CHRTYPE}),
        ("gz", {"type": tarfile.FIFOTYPE}),
    ],
)
def test_F18_links_and_devices_are_refused(tmp_path, kind, info):
    with pytest.raises(DamagedFile, match="it is a link or a device"):
        list(iterate_members(make(tmp_path / "x", {"a.txt": b""}, kind, **info)))


@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_F18_a_bomb_is_refused_by_what_it_promises(tmp_path, kind):
    path = make(tmp_path / "x", {"a.txt": bytes(30_000_000)}, kind)
    with pytest.raises(DamagedFile, match="30,000,000 bytes would come out of"):
        list(iterate_members(path))


@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_F01_a_cut_archive_is_damaged_wherever_it_is_cut(tmp_path, kind):
    whole = make(tmp_path / "x", {"d/a.txt": random.Random(5).randbytes(3000)}, kind).read_bytes()
    for at in range(0, len(whole) - 1, 97):
        (tmp_path / "cut").write_bytes(whole[:at])
        with pytest.raises(DamagedFile, match="cut, damaged or no archive|has 0 members"):
            read_members(tmp_path / "cut", ["a.txt"])


def test_F02_a_changed_byte_of_a_member_is_noticed(tmp_path):
    path = make(tmp_path / "x", {"a.txt": random.Random(5).randbytes(3000)}, "zip")
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedFile, match="cut, damaged or no archive"):
        read_members(path, ["a.txt"])


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("type_", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_F07_a_header_of_a_tar_file_is_not_read_whatever_its_length(tmp_path, mode, type_):
    path = tmp_path / "x"
    with tarfile.open(path, mode) as archive:
        info = tarfile.TarInfo("x")
        info.type, info.size = type_, 3_000_000
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    with pytest.raises(DamagedFile, match="a header of 3,000,320 bytes; at most 1,048,576 are read"):
        list(iterate_members(path))


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_F18_folders_and_equal_names_count_as_members_too(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("lessons_lib.datasets.archives.MAX_MEMBERS", 3)
    path = tmp_path / "x"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(4):
                archive.writestr(f"{number}/", b"")
    else:
        with tarfile.open(path, "w") as archive:
            for _ in range(4):
                archive.addfile(tarfile.TarInfo("same"))
    with pytest.raises(DamagedFile, match="more than 3 members"):
        list(iterate_members(path))


@pytest.mark.parametrize("kind", ["zip", "tar", "gz"])
def test_F02_whatever_byte_is_changed_nothing_but_a_damaged_file_comes_out(tmp_path, kind):
    path, chance = tmp_path / "x", random.Random(5)
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("é/a.txt", b"text" * 20)
    else:
        with tarfile.open(path, "w" if kind == "tar" else "w:gz") as archive:
            info = tarfile.TarInfo("é" * 120)
            info.size = 80
            archive.addfile(info, io.BytesIO(b"text" * 20))
    good = path.read_bytes()
    for _ in range(300):
        bad = bytearray(good)
        bad[chance.randrange(min(len(bad), 4096))] = chance.randrange(256)
        path.write_bytes(bad)
        with contextlib.suppress(DamagedFile):
            list(iterate_members(path))
