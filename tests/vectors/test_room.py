"""The room opens fast and has its names."""

from __future__ import annotations

import subprocess
import sys

from lessons_lib import vectors


def test_the_room_loads_its_modules_on_first_use():
    heavy = "('numba', 'torch', 'gensim', 'numpy')"
    code = ("import sys, lessons_lib.vectors; print(sorted(m for m in sys.modules if "
            f"m.startswith('lessons_lib.vectors.') or m in {heavy}))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True,
                          text=True).stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other():
    for name in vectors.__all__:
        assert getattr(vectors, name) is not None
    assert dir(vectors) == sorted(vectors.__all__)
