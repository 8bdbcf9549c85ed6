"""Public docstrings have the sections that Shift-Tab and the reference show as tables."""

from __future__ import annotations

import pytest

from .docstrings import FILE, unsectioned, wrong


@pytest.mark.essential
def test_public_names_are_documented_by_sections_that_name_every_parameter():
    found, known = unsectioned(), set(FILE.read_text("utf-8").split())
    new = [f"{name}: {'; '.join(problems)}" for name, problems in found.items()
           if name not in known]
    assert not new, (
        "These public docstrings lack numpydoc sections:\n" + "\n".join(new) + "\nWrite "
        "`Parameters`, a line of dashes, and `name : type` for each parameter; `Returns` where "
        "something is returned. lessons_lib/words/fasttext.py has examples. A new name does not go "
        "into the list")
    done = sorted(known - set(found))
    assert not done, f"{done} are written by now: python tests/house/docstrings.py --write"


def right(x, *more, how="a"):
    """Do it.

    Parameters
    ----------
    x, *more : int
    how : str, default "a"
        In which way.
    """


def lacking(x, y) -> int:
    """Do it with x and y.

    Parameters
    ----------
    x : int
        And y : no.

    Notes
    -----
    y : not here.
    """


def test_the_reader_of_sections_sees_what_is_there_and_what_is_not():
    assert wrong(right) == [] and wrong(lacking) == ["Parameters lack y", "no Returns"]
