"""The room opens fast, and a misspelt name gets the list of what is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lessons_lib import topics


def test_the_room_loads_its_modules_on_first_use():
    code = ("import sys, lessons_lib.topics; print(sorted(m for m in sys.modules if "
            "m.startswith('lessons_lib.topics.') or m in ('numba', 'scipy')))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True,
                          text=True).stdout.strip() == "[]"


def test_every_public_name_is_there_and_no_other():
    for name in topics.__all__:
        assert getattr(topics, name) is not None
    assert dir(topics) == sorted(topics.__all__)
    with pytest.raises(AttributeError, match="has no 'LDA'; it has"):
        topics.LDA
