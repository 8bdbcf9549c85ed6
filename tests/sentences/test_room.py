"""The room opens fast and has its names."""

from __future__ import annotations

import subprocess
import sys

from lessons_lib import sentences


def test_the_room_loads_its_modules_on_first_use():
    code = ("import sys, lessons_lib.sentences; "
            "print(sorted(m for m in sys.modules if m.startswith('lessons_lib.sentences.') or m in "
            "('numba', 'scipy')))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True,
                          text=True).stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other():
    for name in sentences.__all__:
        assert getattr(sentences, name) is not None
    assert dir(sentences) == sorted(sentences.__all__)
