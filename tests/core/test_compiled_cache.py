"""Compiled code is found again only where all that it depends on is the same."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

from lessons_lib.core import PROJECT, compiled_cache
from lessons_lib.core.compiled import compiled
from lessons_lib.core.compiled_cache import OverloadCache, sources

HEAD = {
    "numba": "import numba\n\n@numba.njit(cache=True)\n",
    "ours": "from lessons_lib.core.compiled import compiled\n\n@compiled\n",
}
LOOPS = [
    path
    for path in sorted((PROJECT / "lessons_lib").rglob("*.py"))
    if "import compiled\n" in path.read_text("utf-8")
]


def start(whose: str, folder: Path, layout: str) -> subprocess.Popen:
    env = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(map(str, sys.path)),
    }
    command = [sys.executable, Path(__file__).with_name("compiled_pair.py"), whose, folder, layout]
    return subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


@pytest.mark.slow
@pytest.mark.parametrize(("whose", "found"), [("ours", "2 2 2"), ("numba", "2 4 1")])
def test_two_signatures_compiled_at_the_same_moment_are_not_mixed_up(whose, found, tmp_path):
    """In Numba's own cache they are: code for arrays in C order is run on one in F order. When this
    fails, it no longer is."""
    (tmp_path / "corner.py").write_text(HEAD[whose] + "def corner(x):\n    return x[0, 1]\n")
    both = [start(whose, tmp_path, layout) for layout in "CF"]
    assert [process.communicate(timeout=300)[0].strip() for process in both] == ["2 0", "2 0"]
    third = start(whose, tmp_path, "both")
    out, errors = third.communicate(timeout=300)
    assert out.strip() == found, errors


# ---------------------------------------------------------------- files of others


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A function compiled and saved, its file, and how a new process would see it: (file, loaded
    from the cache?)."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    config.reload_config()
    module = tmp_path / "plus.py"
    module.write_text("STEP = 1\n\ndef plus(x):\n    return x + STEP\n")

    def again() -> tuple[Path, bool, int]:
        namespace = {
            "__name__": "math"
        }  # a module that can be imported, as the code's own would be
        exec(compile(module.read_text(), module, "exec"), namespace)
        function = compiled(namespace["plus"])
        value = function(1)
        return module, sum(function.stats.cache_hits.values()) == 1, value

    assert again()[1:] == (False, 2)
    assert again()[1:] == (True, 2)
    [file] = (tmp_path / "cache").rglob("*.code")
    yield file, again
    monkeypatch.undo()
    config.reload_config()


def test_a_file_cut_at_any_place_is_compiled_again(made):
    file, again = made
    whole = file.read_bytes()
    for size in (0, 1, 31, 32, 33, 200, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:size])
        assert again()[1:] == (False, 2)
        assert again()[1:] == (True, 2)  # the file was made whole again


def test_one_flipped_bit_is_noticed(made):
    file, again = made
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    for at in [0, len(whole) - 1, *rng.integers(len(whole), size=6).tolist()]:
        flipped = bytearray(whole)
        flipped[at] ^= 1 << int(rng.integers(8))
        file.write_bytes(flipped)
        assert again()[1:] == (False, 2)


@pytest.mark.parametrize("change", ["processor", "lanes", "version", "bounds", "environment"])
def test_code_of_another_machine_is_not_run(made, change, monkeypatch):
    _, again = made
    machine = compiled_cache._machine()
    if change == "processor":
        monkeypatch.setattr(compiled_cache, "_machine", lambda: ("another", *machine[1:]))
    elif change == "lanes":
        monkeypatch.setattr(compiled_cache, "_machine", lambda: (machine[0], "sse2", *machine[2:]))
    elif change == "version":
        monkeypatch.setattr(compiled_cache, "_machine", lambda: (*machine[:-1], "numpy 0"))
    elif change == "bounds":
        monkeypatch.setattr("numba.core.config.BOUNDSCHECK", 1)
    else:
        monkeypatch.setenv("NUMBA_LOOP_VECTORIZE", "0")
    assert again()[1:] == (False, 2)
    assert again()[1:] == (True, 2)


def test_a_file_under_the_name_of_another_is_not_run(made):
    file, again = made
    theirs = file.read_bytes()
    module = again()[0]
    module.write_text(module.read_text().replace("STEP = 1", "STEP = 5"))
    assert again()[1:] == (False, 6)
    [other] = set(file.parent.glob("*.code")) - {file}
    other.write_bytes(theirs)
    assert again()[1:] == (False, 6)


def test_a_callee_or_a_constant_in_another_file_that_changed_is_noticed(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("from .b import STEP\n")
    (package / "b.py").write_text("from .c import (\n    STEP)\n")
    (package / "c.py").write_text("STEP = 1\n")
    before = sources(package / "a.py")
    assert [path.name for path in sorted(before)] == ["a.py", "b.py", "c.py"]
    (package / "c.py").write_text("STEP = 10\n")
    after = sources(package / "a.py")
    assert {path.name for path in before if before[path] != after[path]} == {"c.py"}


@pytest.mark.parametrize("path", LOOPS, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_what_is_compiled_in_comes_from_files_that_are_looked_at(path):
    """No loop takes a constant or another loop from what a room hands on, nor from `core`, which
    are not looked at."""
    known = sources(path)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            origin = (
                path.parents[node.level - 1]
                .joinpath(*(node.module or "").split("."))
                .with_suffix(".py")
            )
            constants = [alias.name for alias in node.names if alias.name.isupper()]
            assert origin in known or not constants, (
                f"{path.name} takes {constants} from {node.module}"
            )


def test_a_constant_that_was_set_at_run_time_is_compiled_in_for_this_process_alone(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    config.reload_config()
    outer = {"__name__": "math", "STEP": 1}
    (tmp_path / "outer.py").write_text("def plus(x):\n    return x + STEP\n")
    exec(compile((tmp_path / "outer.py").read_text(), tmp_path / "outer.py", "exec"), outer)
    found = []
    for step in (1, 2, 1):
        caller: dict = {"__name__": "cmath", "plus": compiled(inner=True)(outer["plus"])}
        (tmp_path / "caller.py").write_text("def twice(x):\n    return 2 * plus(x)\n")
        exec(compile((tmp_path / "caller.py").read_text(), tmp_path / "caller.py", "exec"), caller)
        outer["STEP"] = step
        twice = compiled(caller["twice"])
        found.append((twice(1), sum(twice.stats.cache_hits.values())))
    monkeypatch.undo()
    config.reload_config()
    assert found == [(4, 0), (6, 0), (4, 1)]


def test_the_oldest_of_too_many_files_go(made, monkeypatch):
    file, again = made
    monkeypatch.setattr(compiled_cache, "MOST_FILES", 3)
    os.utime(file, (0, 0))
    for value in range(4):
        monkeypatch.setenv("NUMBA_OF_A_TEST", str(value))
        assert again()[1:] == (False, 2)
    assert len(list(file.parent.glob("*.code"))) == 3 and not file.exists()


def test_what_was_compiled_after_the_clock_went_back_is_not_the_first_to_go(made, monkeypatch):
    file, again = made
    monkeypatch.setattr(compiled_cache, "MOST_FILES", 2)
    for value in ("a", "b"):
        monkeypatch.setenv("NUMBA_OF_A_TEST", value)
        again()
        for other in file.parent.glob("*.code"):
            os.utime(other, (4e9, 4e9))              # of the year 2096
    monkeypatch.setenv("NUMBA_OF_A_TEST", "c")
    assert [again()[1] for _ in range(3)] == [False, True, True]
    assert len(list(file.parent.glob("*.code"))) == 2


def test_a_full_disk_leaves_the_code_in_memory(made, monkeypatch):
    _, again = made

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("NUMBA_OF_A_TEST", "full")
    monkeypatch.setattr(compiled_cache, "atomic_open", full)
    assert again()[1:] == (False, 2)
    assert again()[1:] == (False, 2)


def test_forgetting_removes_the_files_of_one_function(made):
    file, again = made
    namespace: dict = {"__name__": "math"}
    module = again()[0]
    exec(compile(module.read_text(), module, "exec"), namespace)
    OverloadCache(namespace["plus"]).flush()
    assert not file.exists() and again()[1:] == (False, 2)
