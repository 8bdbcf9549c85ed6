"""Vectors in a file: a run that was stopped goes on, and other texts are noticed."""

from __future__ import annotations

import errno
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lessons_lib.contextual import encode_to, load_encoder, vectors_file
from lessons_lib.core import DamagedFile, DataWarning
from lessons_lib.text.shards import dask_client
from lessons_lib.text.shared_work import AHEAD
from tests.text.inline_client import InlineClient

TEXTS = [f"text number {i}" for i in range(25)]


class Lengths:
    """An encoder that counts what it is asked for, and stops when told to."""

    name, dim = "lengths", 3

    def __init__(self, factor=1.0, stop_at=None):
        self.factor, self.stop_at, self.seen = factor, stop_at, []

    def __repr__(self):
        return "Lengths()"

    def encode(self, texts, *, batch_size=256, progress=False):
        if self.stop_at in texts:
            raise KeyboardInterrupt
        self.seen += texts
        return (np.array([[len(text), hash(text) % 1000, i] for i, text in enumerate(texts)],
                         np.float32).reshape(-1, 3) * self.factor)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(vectors_file, "TEXTS_AT_ONCE", 10)


@pytest.mark.parametrize("n", [0, 1, 10, 25])
def test_the_file_holds_what_encode_gives(tmp_path, n):
    found = encode_to(Lengths(), tmp_path / "v.npy", iter(TEXTS[:n]))
    expected = np.concatenate([np.zeros((0, 3), np.float32),
                               *(Lengths().encode(TEXTS[:n][i:i + 10]) for i in range(0, n, 10))])
    assert np.array_equal(found, expected) and np.array_equal(np.load(tmp_path / "v.npy"), expected)
    assert sorted(path.name for path in tmp_path.iterdir()
                  if not path.name.startswith(".lock-")) == ["v.npy", "v.npy.json"]


def test_what_was_stopped_goes_on(tmp_path):
    first = Lengths(stop_at=TEXTS[17])
    with pytest.raises(KeyboardInterrupt):
        encode_to(first, tmp_path / "v.npy", TEXTS)
    assert not (tmp_path / "v.npy").exists()
    (tmp_path / "v.npy.part").open("ab").write(b"half a row")
    second, again = Lengths(), Lengths()
    found = encode_to(second, tmp_path / "v.npy", TEXTS)
    assert second.seen[1:] == TEXTS[10:]
    assert np.array_equal(found, encode_to(Lengths(), tmp_path / "w.npy", TEXTS))
    assert np.array_equal(encode_to(again, tmp_path / "v.npy", TEXTS), found)
    assert len(again.seen) == 1                   # the probe: a finished file is returned as it is


@pytest.mark.parametrize("texts", [TEXTS[:20], [*TEXTS, "more"], ["other", *TEXTS[1:]], TEXTS[:24]])
@pytest.mark.parametrize("stopped", [False, True])
def test_other_texts_are_noticed(tmp_path, texts, stopped):
    if stopped:
        with pytest.raises(KeyboardInterrupt):
            encode_to(Lengths(stop_at=TEXTS[20]), tmp_path / "v.npy", TEXTS)
        texts = ["other", *texts[1:]] if texts[:20] == TEXTS[:20] else texts
    else:
        encode_to(Lengths(), tmp_path / "v.npy", TEXTS)
    with pytest.raises(ValueError, match=r"other texts|there are more|more than these"):
        encode_to(Lengths(), tmp_path / "v.npy", texts)


def test_files_that_cannot_be_gone_on_with(tmp_path):
    def refused(error, words, name, texts=TEXTS, encoder=None):
        with pytest.raises(error, match=words):
            encode_to(encoder or Lengths(), tmp_path / name, texts)

    refused(ValueError, r"expected a file that ends in '.npy'", "v.txt")
    refused(TypeError, r"texts\[15\] is nan", "u.npy", [*TEXTS[:15], float("nan")])          # T05
    refused(TypeError, "encoder=5 is int", "u.npy", encoder=5)
    (tmp_path / "v.npy").write_bytes(b"something else")
    refused(FileExistsError, "whose vectors", "v.npy")
    with pytest.raises(KeyboardInterrupt):
        encode_to(Lengths(stop_at=TEXTS[20]), tmp_path / "w.npy", TEXTS)
    refused(ValueError, "another encoder", "w.npy", encoder=Lengths(factor=2.0))
    (tmp_path / "w.npy.part").write_bytes(b"cut")
    refused(DamagedFile, "was cut: 3 bytes", "w.npy")
    (tmp_path / "w.npy.json").write_text(json.dumps({"format": 1, "parts": 5}))
    refused(DamagedFile, "no card", "w.npy")
    encode_to(Lengths(), tmp_path / "x.npy", TEXTS)
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-5])                # F01
    refused(DamagedFile, "was cut or changed: 423 bytes found, 428 expected", "x.npy")


def test_one_warning_for_all_parts(tmp_path, bert_folder):
    encoder = load_encoder(bert_folder, max_length=5)
    with pytest.warns(DataWarning, match=r"texts counted from texts\[10\] on; 1 more") as heard:
        encoder.encode_to(tmp_path / "v.npy", ["sea"] * 12 + ["sea " * 9] * 10)
    assert len(heard) == 1 and np.load(tmp_path / "v.npy").shape == (22, 24)


def test_F16_a_disk_that_is_full_is_named_and_the_run_goes_on(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(vectors_file.os, "fsync", full)
        with pytest.raises(OSError, match=r"cannot write .*v\.npy: No space left on device; "
                                          r"[\d,]+ bytes are free") as caught:
            encode_to(Lengths(), tmp_path / "v.npy", TEXTS)
    assert caught.value.errno == errno.ENOSPC
    assert np.array_equal(encode_to(Lengths(), tmp_path / "v.npy", TEXTS),
                          encode_to(Lengths(), tmp_path / "w.npy", TEXTS))


def test_a_second_process_does_not_write_between(tmp_path, monkeypatch):
    from lessons_lib.core import DownloadFailed, locks

    monkeypatch.setattr(vectors_file, "locked", lambda target: locks.locked(target, seconds=0.1))

    class Nested(Lengths):
        def encode(self, texts, **options):
            if len(texts) > 1:  # in the midst of one run another begins
                encode_to(Lengths(), tmp_path / "v.npy", TEXTS)
            return super().encode(texts, **options)

    with pytest.raises(DownloadFailed, match=r"v\.npy is being written by process \d+"):
        encode_to(Nested(), tmp_path / "v.npy", TEXTS)


# ---------------------------------------------------------------- by the workers of a Dask client


@dataclass(frozen=True)
class Letters:
    """An encoder whose process is killed when it meets a text for the first time."""

    marker: str = ""
    text: str = ""
    name, dim = "letters", 2

    def __repr__(self):
        return "Letters()"

    def encode(self, texts, *, batch_size=256, progress=False):
        if self.text in texts and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([[len(text), sum(map(ord, text))] for text in texts], np.float32)


@pytest.mark.parametrize("n", [0, 10, 25, 10 * AHEAD + 35])
def test_workers_write_the_bytes_of_one_process_and_are_not_asked_twice(tmp_path, n):
    texts = [f"text number {i}" for i in range(n)]
    right = encode_to(Letters(), tmp_path / "one.npy", texts)
    client = InlineClient()
    found = encode_to(Letters(), tmp_path / "two.npy", iter(texts), client=client)
    assert found.tobytes() == right.tobytes() and client.tasks == 1 + -(-n // 10)
    assert (tmp_path / "one.npy.json").read_bytes() == (tmp_path / "two.npy.json").read_bytes()
    again = InlineClient()
    encode_to(Letters(), tmp_path / "two.npy", texts, client=again)
    assert again.tasks <= 1                       # the encoder, and no text: all is there


def test_workers_go_on_where_one_process_was_stopped(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        encode_to(Lengths(stop_at=TEXTS[17]), tmp_path / "v.npy", TEXTS)
    client = InlineClient()
    found = encode_to(Lengths(), tmp_path / "v.npy", TEXTS, client=client)
    assert client.tasks == 3                      # the encoder, and two of three parts
    assert np.array_equal(found, encode_to(Lengths(), tmp_path / "w.npy", TEXTS))


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_time_only(tmp_path):
    pytest.importorskip("distributed", reason="of the extra set dask")
    kills = Letters(str(tmp_path / "killed"), TEXTS[12])
    with dask_client(workers=2) as client:
        found = encode_to(kills, tmp_path / "v.npy", TEXTS, client=client)
    assert (tmp_path / "killed").exists()
    assert found.tobytes() == encode_to(Letters(), tmp_path / "w.npy", TEXTS).tobytes()
