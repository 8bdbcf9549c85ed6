"""Compiled loops work where their cache cannot be written."""

import os
import subprocess
import sys

import pytest

from lessons_lib.core.compiled import compiled

CODE = """
import logging
from numba.core import caching
for locator in vars(caching).values():
    if isinstance(locator, type) and hasattr(locator, "from_function"):
        # as in folders that may not be written
        locator.from_function = classmethod(lambda cls, *args: None)
notices = []
class Kept(logging.Handler):
    def emit(self, record):
        notices.append(record)
logging.getLogger("lessons_lib").addHandler(Kept())
from lessons_lib.counts import TfIdf
print(TfIdf().fit_transform(["the cat", "the dog"]).shape, len(notices))
"""


@compiled(inline=True)
def _twice(x: float) -> float:
    return 2.0 * x


@compiled(inner=True)
def _squares(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += _twice(i * i)
    return total


@compiled
def _outer(n: int) -> float:
    return _squares(n) + 1.0


@pytest.mark.slow
def test_F17_without_a_cache_folder_loops_are_compiled_in_memory_with_one_notice():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout.strip() == "(2, 3) 1", done.stderr


def test_a_compiled_loop_computes_what_its_source_says():
    import numpy as np

    from lessons_lib.counts.rows import place_rows

    settings = np.array([2, 0, 1], np.int32), np.array([5, 6, 7], np.int64), np.array(
        [3], np.int64), 0, np.array([1, -1, 0], np.int32), False
    compiled, plain = [
        tuple(np.copy(part) if isinstance(part, np.ndarray) else part
              for part in settings)
        for _ in range(2)
    ]
    assert place_rows(*compiled) == place_rows.py_func(*plain) == 2
    assert np.array_equal(compiled[0], plain[0]) and np.array_equal(compiled[1], plain[1])


def test_loops_that_only_loops_call_are_compiled_into_them():
    assert _outer(4) == 2.0 * (0 + 1 + 4 + 9) + 1.0
