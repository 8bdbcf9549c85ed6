"""What can be shown here of systems that are not here: names that Windows and macOS can hold, texts
that are read and written without asking the system's locale, processes that begin with nothing.

What runs there without the calls of POSIX is in `test_kills`, by `worlds`.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from lessons_lib.core import PROJECT
from lessons_lib.datasets.registry import safe_path

from .saved_models import FOLDER, MODELS, arrays
from .test_damage import KINDS

LONGEST = 160                                    # characters below a folder: Windows has 260 in all


def offenders(names: Iterable[str]) -> list[str]:
    """Names that a system cannot hold, or holds as one with another."""
    found, seen = [], {}
    for name in names:
        try:
            safe_path(re.sub(r"(^|/)\.(?=\w)", r"\1", name))  # hidden files are held, too
        except ValueError:
            found.append(f"{name}: not a name on Windows")
        if len(name) > LONGEST:
            found.append(f"{name}: {len(name)} characters")
        # Windows and macOS ignore case, macOS the way in which accents are written
        twin = seen.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if twin != name:
            found.append(f"{name}: one file with {twin}")
    return found


@pytest.mark.parametrize("names", [
    ["a/con"], ["Aux.txt"], ["a:b"], ["ends."], ["ends /x"], ["a\\b"], ["what?"], ["x" * 161],
    ["A/b", "a/B"], ["caf\u00e9", "cafe\u0301"]])
def test_a_name_that_some_system_cannot_hold_is_found(names):
    assert len(offenders(names)) == 1 and not offenders(["a/b.txt", "a/c.txt", "中文.md"])


def test_every_file_of_the_project_has_a_name_that_all_systems_can_hold():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True)
    names = listed.stdout.decode().split("\0")[:-1]
    assert len(names) > 1000 and not offenders(names)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_has_names_that_all_systems_can_hold(tmp_path, kind):
    KINDS[kind](tmp_path / "m")
    names = [path.relative_to(tmp_path).as_posix() for path in (tmp_path / "m").rglob("*")]
    assert names and not offenders(names)


def test_no_file_is_opened_in_the_encoding_of_the_system():
    """UTF-8 here and on macOS, one of many on Windows."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--preview", "--select", "PLW1514",
         "--output-format", "concise", "lessons_lib"], cwd=PROJECT, capture_output=True, text=True,
        check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _outputs(models: dict[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)                     # sums in one order
    try:
        return {name: dict(arrays(MODELS[name].outputs(model))) for name, model in models.items()}
    finally:
        torch.set_num_threads(before)


def answer() -> None:
    """Of a process of its own: pickled models come in, what they give goes out."""
    models = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps(_outputs(models)))


@pytest.mark.slow
def test_every_model_goes_to_a_process_that_was_not_forked_and_gives_the_same_there():
    """As processes begin on Windows and macOS: what they work with is pickled."""
    models = {name: saved.load(FOLDER / name) for name, saved in MODELS.items()
              if not name.endswith("_cut")}
    done = subprocess.run(
        [sys.executable, "-c", "from tests.house.test_systems import answer; answer()"],
        cwd=PROJECT, input=pickle.dumps(models), capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()
    there, here = pickle.loads(done.stdout), _outputs(models)
    assert there.keys() == here.keys()
    for name, found in here.items():
        assert there[name].keys() == found.keys()
        for key, value in found.items():
            np.testing.assert_array_equal(there[name][key], value, err_msg=f"{name}, {key}")
