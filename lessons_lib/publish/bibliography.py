"""The papers the course cites, read from ``notebooks/references.bib``: one entry per key, each
field checked to be there.

The reader knows the part of BibTeX that the file uses: braced fields in UTF-8, no macros. Used for
the opening and the last cell of every lesson, and by the check that every citation exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core import DamagedFile

__all__ = ["Entry", "read_bibliography"]

START = re.compile(r"@(\w+)\s*\{\s*([^,\s{}]+)\s*,")
FIELD = re.compile(r"\s*(\w+)\s*=\s*\{")
COMMA = re.compile(r"\s*,?")
# where a paper came out: the first that an entry has
VENUES = ("journal", "booktitle", "publisher", "howpublished", "institution")


@dataclass(frozen=True)
class Entry:
    """One paper.

    Parameters
    ----------
    key, kind : str
        Such as ``harris1954distributional`` and ``article``.
    fields : dict of str to str
        As in the file, without braces.
    """

    key: str
    kind: str
    fields: dict[str, str]

    def _surnames(self) -> list[str]:
        return [name.split(",")[0].strip() if "," in name
                else name.split()[-1].replace("others", "et al.")
                for name in self.fields["author"].split(" and ")]

    @property
    def short(self) -> str:
        """``Harris 1954``, ``Church and Hanks 1990``, ``Salton et al. 1975``."""
        names = self._surnames()
        who = " and ".join(names) if len(names) <= 2 else f"{names[0]} et al."
        return f"{who} {self.fields['year']}"

    @property
    def markdown(self) -> str:
        """The full entry for a list of papers, with a link where there is a DOI or an address."""
        f = self.fields
        where = next((f[name] for name in VENUES if f.get(name)), "")
        if f.get("volume"):
            where += f" {f['volume']}" + (f"({f['number']})" if f.get("number") else "")
        where = where.replace("*", "\\*")           # "*SEM" is a conference, not emphasis
        pages = f", {f['pages'].replace('--', '–')}" if f.get("pages") else ""
        link = f"https://doi.org/{f['doi']}" if f.get("doi") else f.get("url", "")
        link = link.replace("<", "%3C").replace(">", "%3E").replace("(", "%28").replace(")", "%29")
        title = f"[*{f['title']}*]({link})" if link else f"*{f['title']}*"
        where = f" {where}{pages}." if where else ""
        return f"{', '.join(self._surnames())} ({f['year']}). {title}.{where}"


def _braced(text: str, start: int) -> int:
    """Position after the brace that closes the one before ``start``."""
    depth = 1
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i + 1
    raise ValueError("a brace is never closed")


def _fields(body: str) -> Iterator[tuple[str, str]]:
    position = 0
    while head := FIELD.match(body, position):
        end = _braced(body, head.end())
        yield head[1].lower(), " ".join(re.sub("[{}]", "", body[head.end():end - 1]).split())
        position = COMMA.match(body, end).end()
    if body[position:].strip(" \n\t}"):
        raise ValueError(f"expected a field in braces, found {body[position:].strip()[:30]!r}")


def read_bibliography(path: Path) -> dict[str, Entry]:
    """Read a ``.bib`` file into entries by key; an absent file is an empty bibliography.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to Entry

    Raises
    ------
    DamagedFile
        An entry is cut, lacks author, title or year, or stands twice (file, line, key).
    """
    if not path.exists():
        return {}
    text, entries = path.read_text("utf-8"), {}
    for head in START.finditer(text):
        kind, key, line = head[1].lower(), head[2], text.count("\n", 0, head.start()) + 1
        try:
            fields = dict(_fields(text[head.end() : _braced(text, head.end()) - 1]))
        except ValueError as error:
            raise DamagedFile(f"{path.name}, line {line}: entry {key!r}: {error}") from None
        missing = [name for name in ("author", "title", "year") if not fields.get(name)]
        if missing or key in entries:
            raise DamagedFile(f"{path.name}, line {line}: entry {key!r} " +
                              (f"lacks {', '.join(missing)}" if missing else "stands twice"))
        entries[key] = Entry(key, kind, fields)
    return entries
