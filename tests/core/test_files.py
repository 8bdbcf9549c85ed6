"""Files are whole or absent, whatever happens to the writer."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lessons_lib.core import (DamagedFile, atomic_folder, atomic_open, existing_path, load_model,
                              read_json, save_model, sha256, write_json, write_text)


def test_the_old_text_stays_when_the_writer_fails(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(RuntimeError), atomic_open(path) as file:
        file.write("half")
        raise RuntimeError
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_F16_a_full_disk_keeps_the_old_file_and_names_path_and_free_bytes(
        tmp_path, monkeypatch, step):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match=r"cannot write .*a\.txt.*bytes are free.*LESSONS_OUTPUT"):
        write_text(path, "new")
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_F16_a_disk_that_turns_read_only_is_named_and_not_the_temporary_file(
        tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)  # there it fails for what is not there, too
    with pytest.raises(OSError, match=r"cannot write .*a\.txt: Read-only .*Nobody may write there"):
        write_text(tmp_path / "a.txt", "new")


def test_an_error_of_the_caller_is_not_taken_for_a_full_disk(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), atomic_open(tmp_path / "a"):
        Path("elsewhere/that/is/not").read_text()


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("2")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with atomic_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("1")
    assert (tmp_path / "model" / "a").read_text() == "1" and [p.name for p in tmp_path.iterdir()
                                                              ] == ["model"]
    with pytest.raises(FileExistsError, match="exists already"), atomic_folder(tmp_path / "model"):
        pass


def test_what_a_killed_process_left_is_removed_by_the_next_writer(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f".tmp-{dead.pid}-abc-x").write_text("half")
    (tmp_path / f".tmp-{os.getpid()}-abc-y").write_text("still being written")
    write_text(tmp_path / "new", "whole")
    assert sorted(p.name for p in tmp_path.iterdir()) == [f".tmp-{os.getpid()}-abc-y", "new"]


def test_F15_a_missing_path_names_the_nearest(tmp_path):
    (tmp_path / "vectors.txt").write_text("")
    with pytest.raises(FileNotFoundError,
                       match=r"vectors\.tx does not exist; nearest name: .*vectors\.txt"):
        existing_path(tmp_path / "vectors.tx")
    with pytest.raises(FileNotFoundError, match="the folder that exists"):
        existing_path(tmp_path / "no" / "such" / "thing")


def test_F15_a_path_that_leads_in_a_circle_or_to_nobody_is_not_there(tmp_path, monkeypatch):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "loop", tmp_path / "loop" / "x"):
        with pytest.raises(FileNotFoundError, match="leads nowhere|does not exist"):
            existing_path(path)
    with pytest.raises(ValueError, match="home folder of a user that there is not"):
        existing_path("~no-such-user/x")

    def refused(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(FileNotFoundError, match="the folder that exists"):
        existing_path(tmp_path / "near")


def test_F16_a_folder_that_cannot_be_made_is_named_by_its_own_name(tmp_path):
    (tmp_path / "f").write_text("")
    path = tmp_path / "f" / "new"
    with pytest.raises(OSError, match=f"cannot write {path}:.*Nothing was changed"), \
            atomic_folder(path):
        pass


def test_json_that_is_broken_or_endless_is_a_damaged_file(tmp_path):
    for text in ('{"a": ', "[" * 100_000, "\xff"):
        (tmp_path / "x.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(DamagedFile, match=r"x\.json is not valid JSON"):
            read_json(tmp_path / "x.json")
    with pytest.raises(DamagedFile, match="no JSON file"):
        read_json(tmp_path)


def saved(path: Path, value: float = 1.0) -> Path:
    save_model(path, "Toy", settings={"dim": 2}, arrays={"weights": np.full((50, 2), value)},
               extra={"words": ["é", "a b"]})
    return path


def test_a_model_comes_back_as_it_was(tmp_path):
    settings, arrays, extra = load_model(saved(tmp_path / "m"), "Toy")
    assert settings == {"dim": 2} and extra == {"words": ["é", "a b"]} and np.array_equal(
        arrays["weights"], np.ones((50, 2)))


def test_F16_a_save_that_fails_half_way_leaves_the_old_model_and_nothing_else(tmp_path):
    from lessons_lib.core import load_files, save_files

    folder = tmp_path / "m"
    save_files(folder, "Pair", {"a.bin": lambda file: file.write(b"old")}, {})
    before = sorted(p.name for p in folder.iterdir())

    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="bytes are free"):
        save_files(folder, "Pair", {"a.bin": lambda file: file.write(b"new"), "b.bin": full}, {})
    assert sorted(p.name for p in folder.iterdir()) == before
    assert load_files(folder, "Pair")[1]["a.bin"].read_bytes() == b"old"


def test_F16_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "m").write_text("mine")
    with pytest.raises(FileExistsError, match="is a file; a saved Toy is a folder"):
        saved(tmp_path / "m")
    (tmp_path / "f").write_text("")
    with pytest.raises(OSError, match=r"cannot write .*bytes are free"):
        write_text(tmp_path / "f" / "x.txt", "text")


def test_F02_any_flipped_bit_is_noticed(tmp_path):
    folder = saved(tmp_path / "m")
    rng = np.random.default_rng(0)
    for name in [p.name for p in folder.iterdir()]:
        whole = (folder / name).read_bytes()
        for _ in range(60):
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
            (folder / name).write_bytes(damaged)
            with pytest.raises(DamagedFile):
                load_model(folder, "Toy")
        (folder / name).write_bytes(whole)
    load_model(folder, "Toy")


def test_F01_F03_a_cut_or_empty_or_missing_file_is_damaged(tmp_path):
    for pattern in ("model.json", "tensors-*.safetensors"):
        for size in (0, 10, 100):
            folder = saved(tmp_path / f"{pattern[0]}{size}")
            file = next(folder.glob(pattern))
            file.write_bytes(file.read_bytes()[:size])
            with pytest.raises(DamagedFile, match="not valid JSON|bytes found"):
                load_model(folder, "Toy")
        file.unlink()
        with pytest.raises(DamagedFile, match="is missing"):
            load_model(folder, "Toy")


def test_F04_another_kind_names_both(tmp_path):
    with pytest.raises(DamagedFile, match=r"holds a Toy, not a LDA; load it with Toy\.load"):
        load_model(saved(tmp_path / "m"), "LDA")


def test_F05_a_newer_format_says_upgrade(tmp_path, monkeypatch):
    monkeypatch.setattr("lessons_lib.core.store.FORMAT", 9)
    folder = saved(tmp_path / "m")
    monkeypatch.setattr("lessons_lib.core.store.FORMAT", 1)
    with pytest.raises(ValueError, match="format 9, this version reads up to 1; upgrade"):
        load_model(folder, "Toy")


@pytest.mark.parametrize("change", [
    {"format": "x"}, {"format": None}, {"kind": None}, {"files": []}, {"files": {"a.bin": 5}},
    *({"files": {"tensors.safetensors": {"file": file, "sha256": "", "bytes": 5}}}
      for file in ("../model.json", "/etc/hostname", "..", "a/b", "", 5)),
    {"files": {"tensors.safetensors": {"file": "a", "sha256": "", "bytes": "5"}}}])
def test_a_card_that_no_save_wrote_is_damaged_whatever_its_checksum(tmp_path, change):
    """No name in it leads out of the folder."""
    from lessons_lib.core import store

    folder = saved(tmp_path / "m")
    card = read_json(folder / "model.json") | change
    write_json(folder / "model.json", card | {"checksum": store._checksum(card)})
    with pytest.raises(DamagedFile, match=r"model\.json is no card that a save wrote"):
        load_model(folder, "Toy")


@pytest.mark.parametrize("when", ["after the card", "after the check"])
def test_a_model_that_another_process_replaces_meanwhile_is_read_as_the_newer(tmp_path,
                                                                             monkeypatch, when):
    from lessons_lib.core import store

    folder, check = saved(tmp_path / "m"), store._checked_file

    def late(*args):
        monkeypatch.setattr(store, "_checked_file", check)
        former = check(*args)
        saved(folder, 2.0)
        return former if when == "after the check" else check(*args)

    monkeypatch.setattr(store, "_checked_file", late)
    assert (load_model(folder, "Toy")[1]["weights"] == 2).all()
    next(folder.glob("tensors-*")).unlink()
    with pytest.raises(DamagedFile, match="is missing"):
        load_model(folder, "Toy")


def test_of_two_processes_that_save_at_once_neither_removes_what_the_card_names(tmp_path,
                                                                               monkeypatch):
    from lessons_lib.core import store

    code = ("import sys, numpy; from lessons_lib.core import save_model; save_model(sys.argv[1], "
            "'Toy', settings={}, arrays={'weights': numpy.full((50, 2), 7.)})")

    def other_too(path, value):
        write_json(path, value)
        subprocess.run([sys.executable, "-c", code, str(path.parent)], check=True)

    monkeypatch.setattr(store, "write_json", other_too)
    saved(tmp_path / "m")
    assert (load_model(tmp_path / "m", "Toy")[1]["weights"] == 7).all()


WRITER = """
import sys, numpy as np
from lessons_lib.core import save_model
print("ready", flush=True)
for i in range(10**6):
    save_model(sys.argv[1], "Toy", settings={}, arrays={"w": np.full(20_000, float(i))})
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")
def test_a_model_being_overwritten_survives_kill_9(tmp_path):
    """Writers killed at random moments: the model loads each time and holds one whole version."""
    target, rng = tmp_path / "m", np.random.default_rng(1)
    save_model(target, "Toy", settings={}, arrays={"w": np.zeros(20_000)})
    for _ in range(25):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE)
        writer.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.05)))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        weights = load_model(target, "Toy")[1]["w"]
        assert (weights == weights[0]).all()
    save_model(target, "Toy", settings={}, arrays={"w": np.zeros(20_000)})
    assert len(list(target.iterdir())) == 2                # what the killed writers left is gone


def test_text_is_utf8_with_unix_line_ends_on_every_system(tmp_path):
    write_json(tmp_path / "ü.json", {"b": "猫", "a": [1]})
    assert (tmp_path /
            "ü.json").read_bytes() == '{\n  "a": [\n    1\n  ],\n  "b": "猫"\n}\n'.encode()
    assert read_json(tmp_path / "ü.json") == json.loads((tmp_path / "ü.json").read_text("utf-8"))
    assert len(sha256(tmp_path / "ü.json")) == 64
