"""The list of figures and tables: every entry names a paper and a lesson that exist, and has an alt text that can be saved."""

from __future__ import annotations

import re

import pytest

from lessons_lib.core import PROJECT
from lessons_lib.plots.save import checked_alt
from lessons_lib.reproduce import entries, registry


def test_every_entry_names_a_paper_of_the_bibliography_and_a_lesson_of_the_course():
    keys = set(re.findall(r"@\w+\{([^,]+),", (PROJECT / "notebooks" / "references.bib").read_text("utf-8")))
    lessons = {path.stem[3:] for path in (PROJECT / "notebooks").glob("*.md")}
    for name, entry in entries().items():
        assert entry.id == name and re.fullmatch(r"[a-z0-9_]+", name)
        assert entry.paper in keys and entry.lesson in lessons
        checked_alt(entry.alt)


def test_two_entries_with_one_id_are_refused(monkeypatch):
    monkeypatch.setattr(registry, "_MODULES", registry._MODULES * 2)
    with pytest.raises(ValueError, match="id='blei2003_table1' belongs to two entries"):
        entries()
