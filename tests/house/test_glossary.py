"""The field's words: no private one comes to stand in more places than when it was counted."""

from __future__ import annotations

import ast

from . import glossary


def test_no_private_word_spreads():
    rows = glossary.entries()
    now = glossary.counts(glossary.library(), rows)
    grown = [f"{row['where']}, {row['pattern']}: {count}, was {row['count']}; write {row['write']}"
             for row, count in zip(rows, now, strict=True) if count > int(row["count"])]
    assert not grown, (
        "Private words where the field has its own:\n" + "\n".join(grown)
        + "\nUse the field's word. Where a count fell, write it down: "
        "python tests/house/glossary.py --write")


def test_names_are_counted_where_they_are_made_and_prose_where_it_is_read():
    source = '''
def f(how, *, room: int = 0):
    """Draw a noise word, and noise words."""
    found, self._room = how, room
    rooms(found, how=how)
    return f"{found} has a piece of a word"
class Room: ...
'''
    rows = [{"where": where, "pattern": pattern, "not_in": not_in} for where, pattern, not_in in (
        ("identifiers", "rooms?|Room", ""), ("identifiers", "how", ""),
        ("identifiers", "found", ""), ("prose", "noise words?", ""), ("prose", "pieces?", ""),
        ("identifiers", "how", "web/"))]
    trees = [("web/a.py", ast.parse(source))]
    assert glossary.counts(trees, rows) == [3, 1, 1, 2, 1, 0]
