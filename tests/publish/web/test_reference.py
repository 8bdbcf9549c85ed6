"""The reference: signatures and docstrings from the source, as Markdown that cannot be misread."""

from __future__ import annotations

import ast

import pytest

from lessons_lib import ROOMS
from lessons_lib.publish.web.reference import LIBRARY, as_markdown, items_of, room_items
from lessons_lib.publish.web.reference import room_page, write_reference

SOURCE = '''
"""A module."""
from dataclasses import dataclass

__all__ = ["Box", "pack"]


def pack(x: "Float[Tensor, 'n d']", /, *rest, size: int = 3, **more) -> str:
    """Pack it."""


@dataclass(frozen=True)
class Box:
    """A box."""

    width: int
    height: float = 2.0

    @property
    def area(self) -> float:
        """Its area."""

    @classmethod
    def unit(cls) -> "Box":
        """One by one."""

    def grow(self, by: float = 1.0) -> None:
        """Make it larger."""

    def _hidden(self): ...


def helper():
    """Not public."""
'''


def test_public_things_come_with_signature_and_members():
    pack, box = items_of(ast.parse(SOURCE), "lessons_lib.words.box",
                         homes={"Box": "lessons_lib.words.box", "pack": "lessons_lib.words.other"})
    assert (pack.name, pack.kind) == ("lessons_lib.words.box.pack",
                                      "function") and pack.signature.endswith(
        "*rest, size: int=3, **more) -> str")
    assert (box.name, box.signature) == ("lessons_lib.words.Box",
                                         "(width: int, height: float = 2.0)")
    assert [(m.name.rsplit(".")[-1], m.kind, m.signature) for m in box.members] == [
        ("area", "property", ""), ("unit", "classmethod", "() -> 'Box'"),
        ("grow", "method", "(by: float=1.0) -> None")]


def test_a_docstring_stands_as_it_was_written():
    text = as_markdown("""Sum of x_i * |y| [key, Eq. 3], `code_x` and ``*args``; cost $5 <b>.

    # no heading

        indented = code

    >>> 1 + 1
    2
    """)
    assert text == ("Sum of x\\_i \\* \\|y\\| \\[key, Eq. 3], `code_x` and ``*args``; cost \\$5 "
                    "\\<b>.\n\n\\# no heading\n\n```\nindented = code\n```\n\n```pycon\n>>> 1 + "
                    "1\n2\n```")


def test_numpydoc_sections_become_tables():
    text = as_markdown("""Add.

    Parameters
    ----------
    x : float | int, default 1
        What is
        added.

    Notes
    -----
    A sum.
    """)
    assert text == ("Add.\n\n**Parameters**\n\n| | | |\n|---|---|---|\n"
                    "| x | float \\| int, default 1 | What is added. |\n\n**Notes**\n\nA sum.")


@pytest.mark.slow
def test_every_room_has_a_page_and_every_name_stands_once(tmp_path):
    assert write_reference(tmp_path, ROOMS) == list(ROOMS)
    for room in ROOMS:
        text = (tmp_path / f"{room}.md").read_text("utf-8")
        assert text.startswith(f"# {room}\n")
        named = [name for items in room_items(LIBRARY / room).values() for item in items
                 for name in (item.name, *(m.name for m in item.members))]
        assert len(named) == len(set(named)) > 0


def test_modules_that_readers_import_from_stand_before_those_that_work_for_them():
    modules = list(room_items(LIBRARY / "isotropy"))
    assert modules.index("lessons_lib.isotropy.whitening") < modules.index(
        "lessons_lib.isotropy.principal")


def test_an_exported_name_stands_under_its_room_with_declared_settings_and_their_table():
    page = room_page(LIBRARY / "words")
    for text in ("{py:currentmodule} lessons_lib.words\n:::\n\n::::{py:class} Word2Vec(",
                 "{py:class} Word2Vec(dim=100, *, window=5", ":::{py:method} fit(",
                 "| dim | int >= 1, default 100 | Columns of a vector. |"):
        assert text in page
