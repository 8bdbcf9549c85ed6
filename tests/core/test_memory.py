"""Free memory as the machine, its control groups and the process tell it, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import psutil
import pytest

from lessons_lib.core import check_memory, free_memory, load_model, memory, save_model


def test_a_request_is_refused_with_what_it_needs_what_is_free_and_what_to_lower(monkeypatch):
    monkeypatch.setenv("LESSONS_FREE_MEMORY", "1000")
    check_memory("9 vectors", 1000, "Lower dim=9")
    with pytest.raises(MemoryError) as caught:
        check_memory("9 vectors", 1001, "Lower dim=9")
    assert str(caught.value) == ("9 vectors need about 1,001 bytes, 1,000 bytes are free. "
                                 "Lower dim=9")
    monkeypatch.setenv("LESSONS_FREE_MEMORY", "2 GB")
    with pytest.raises(ValueError, match="LESSONS_FREE_MEMORY='2 GB' is no number of bytes"):
        free_memory()


def test_what_is_small_is_not_looked_at_and_what_no_machine_has_is_refused(monkeypatch):
    monkeypatch.delenv("LESSONS_FREE_MEMORY", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "free_memory", None)
        check_memory("9 vectors", 1 << 20, "")
    assert 0 < free_memory() <= free_memory(swap=True) + (1 << 28)
    with pytest.raises(MemoryError, match=r"need about 1e\+18 TB, .* [GM]B are free"):
        check_memory("all vectors", 10**30, "")


@pytest.mark.parametrize(("n", "words"), [(0, "0 bytes"), (999_999, "999,999 bytes"),
                                          (1_500_000, "1.5 MB"), (480 * 10**9, "480.0 GB"),
                                          (10**15, "1,000.0 TB"), (4e27, "4e+15 TB")])
def test_bytes_in_words(n, words):
    assert memory.in_words(n) == words


@pytest.mark.parametrize("own, files, left", [
    ("0::/user/me", {"user/me/memory.max": "max", "user/memory.max": "5000",
                     "user/memory.current": "3000", "user/memory.stat": "anon 9\nfile 500"}, 2500),
    ("0::/", {"memory.max": "700", "memory.current": "600"}, 100),
    ("4:memory:/box", {"memory/box/memory.limit_in_bytes": "900",
                       "memory/box/memory.usage_in_bytes": "100",
                       "memory/box/memory.stat": "total_cache 50"}, 850),
    ("3:cpuset:/box", {"memory.max": "1", "memory.current": "1"}, None), ("nonsense", {}, None)])
def test_the_limits_of_control_groups_count(monkeypatch, tmp_path, own, files, left):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text(own + "\n")
    monkeypatch.delenv("LESSONS_FREE_MEMORY", raising=False)
    monkeypatch.setattr(memory, "GROUPS", tmp_path)
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    assert free_memory() == left if left else free_memory() > 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="Windows has no such limits, macOS keeps none")
@pytest.mark.parametrize("name, used", [("RLIMIT_AS", "vms"), ("RLIMIT_DATA", "data")])
def test_what_the_process_may_map_or_fill_counts(monkeypatch, name, used):
    import resource

    monkeypatch.delenv("LESSONS_FREE_MEMORY", raising=False)
    limit = getattr(resource, name)              # the second is that of a student in a hub
    before = resource.getrlimit(limit)
    taken = getattr(psutil.Process().memory_info(), used)
    resource.setrlimit(limit, (taken + (1 << 26), before[1]))
    try:
        assert free_memory() <= 1 << 26
        with pytest.raises(MemoryError, match="Lower dim=9"):
            check_memory("9 vectors", 1 << 27, "Lower dim=9")
    finally:
        resource.setrlimit(limit, before)


def test_a_model_that_does_not_fit_is_not_loaded(monkeypatch, tmp_path):
    save_model(tmp_path / "m", "Toy", settings={}, arrays={"a": np.zeros(500)})
    assert load_model(tmp_path / "m", "Toy")[1]["a"].shape == (500,)
    monkeypatch.setenv("LESSONS_FREE_MEMORY", "3000")
    with pytest.raises(MemoryError, match="the arrays of the Toy in .* need about 4,"):
        load_model(tmp_path / "m", "Toy")
