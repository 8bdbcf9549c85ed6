"""The room opens fast and has its names."""

from __future__ import annotations

import subprocess
import sys

from lessons_lib import vectors, words


def test_the_room_loads_its_modules_on_first_use():
    heavy = "('numba', 'torch', 'gensim')"
    code = ("import sys, lessons_lib.words; print(sorted(m for m in sys.modules if "
            f"m.startswith('lessons_lib.words.') or m in {heavy}))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True,
                          text=True).stdout.strip() == "[]"


def test_the_names_of_the_room_of_vectors_are_here_too():
    assert words.WordVectors is vectors.WordVectors and set(vectors.__all__) < set(words.__all__)


def test_every_public_name_is_there_and_no_other():
    for name in words.__all__:
        assert getattr(words, name) is not None
    assert dir(words) == sorted(words.__all__)
