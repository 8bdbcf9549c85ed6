"""What users call stays as it is: names, parameters, their kinds and defaults, commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons_lib.core import PROJECT

from . import pinned


@pytest.mark.essential
def test_every_public_name_has_the_signature_that_is_written_down():
    found = pinned.differences(pinned.FILE.read_text("utf-8").splitlines(), pinned.public_lines())
    assert not found, (
        f"{len(found)} public names are not as in {pinned.FILE.name}:\n" + "\n".join(found)
        + "\nA name or a parameter that users have must stay, with its default. If all of this is "
        "meant: python tests/house/pinned.py --write, and look at the diff before it is committed")


def test_a_difference_is_told_in_words():
    written = ["a.f(x, *, k=1)", "a.g(x)", "lessons run: name=required"]
    present = ["a.f(x, *, k=2)", "a.h(x)", "lessons run: name=required"]
    said = pinned.differences(written, present)
    assert [line.split(":")[0] for line in said] == ["changed", "missing", "new"]
    assert "k=1" in said[0] and "k=2" in said[0]


def parted(a, /, b, c=1.5, *rest, e=(1, 2), d=None, **others):
    """Has each kind of parameter."""


def test_a_signature_shows_kinds_and_defaults_and_no_address():
    assert pinned._signature(parted) == "(a, /, b, c=1.5, *rest, d=None, e=(1, 2), **others)"
    values = (object(), len, Path, {"b": 1, "a": 2}, {"z", "y"}, PROJECT / "data", 0.1)
    assert [pinned._value(value) for value in values] == [
        "object", "len", "Path", "{'a': …, 'b': …}", "{'y', 'z'}", "PROJECT/data", "0.1"]
    long, other = pinned._value("x" * 99), pinned._value("x" * 98 + "y")
    assert len(long) <= pinned.LONGEST_DEFAULT and long != other
