"""The index of the site's search: the words of each section of each page, as a script.

It is made from the finished pages, so that what is found is what stands there; ``search.js`` looks
through it. Displayed formulas are left out, and of code and its outputs all but what is Chinese; of
a name of the reference the index has how its description begins.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from unicodedata import normalize

__all__ = ["search_index", "sections_of"]

HEADINGS = ("h1", "h2", "h3", "h4")
SILENT = {"script", "style", "svg"}                             # elements without words to look for
SILENT_CLASSES = {"headerlink", "amsmath", "collapsed", "expanded"}
CODE_CLASSES = {"cell_input", "cell_output"}
CHINESE = re.compile("[\u4e00-\u9fff]")
BRACKETS = re.compile(r"\\[()]")                 # of a formula
BEGINNING = 120                                  # letters of what describes a name
NEVER_CLOSED = {"br", "img", "hr", "input", "wbr", "col", "source", "link", "meta"}
LIBRARY = "lessons_lib."                          # begins the anchor of each name of the reference
NOT_SEARCHED = ("genindex.html", "search.html", "py-modindex.html")


@dataclass
class _Reader(HTMLParser):
    """Goes through the article of a page; ``sections`` are [anchor, heading, words]."""

    sections: list[list[str]] = field(default_factory=list)
    around: list[list[str]] = field(default_factory=list)       # the sections that are open
    # the elements that are open: name, what it does, and how many sections are open around it
    open: list[tuple[str, str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in NEVER_CLOSED or not (self.open or tag == "article"):
            return
        given = {name: value or "" for name, value in attrs}
        kinds, outside = set(given.get("class", "").split()), len(self.around)
        name = tag == "dt" and "sig" in kinds and "id" in given
        if name or tag == "section":
            anchor = given.get("id", "")
            self.around.append([anchor, anchor.removeprefix(LIBRARY) if name else "", ""])
            self.sections.append(self.around[-1])
            outside += name                      # what a name says stands in the <dd> after it
        silent = (name or tag in SILENT or kinds & SILENT_CLASSES
                  or (tag == "div" and "math" in kinds))
        does = ("silent" if silent else "code" if kinds & CODE_CLASSES
                else "heading" if tag in HEADINGS else "")
        self.open.append((tag, does, outside))

    def handle_endtag(self, tag: str) -> None:
        if tag not in (name for name, *_ in self.open):
            return
        name = ""
        while name != tag:
            name, _, outside = self.open.pop()
            del self.around[outside:]

    def handle_data(self, data: str) -> None:
        doing = {does for _, does, _ in self.open}
        if self.around and "silent" not in doing and ("code" not in doing
                                                      or CHINESE.search(data)):
            self.around[-1][1 if "heading" in doing else 2] += data


def sections_of(page: str) -> list[list[str]]:
    """The sections of a page of the site, in HTML, as [anchor, heading, words], in order; a name of
    the reference is a section, too.
    """
    reader = _Reader()
    reader.feed(page)
    spaced = [[anchor, *(normalize("NFC", " ".join(BRACKETS.sub("", words).split()))
                         for words in texts)] for anchor, *texts in reader.sections]
    return [[anchor, heading, words if "." not in anchor else words[:BEGINNING]]
            for anchor, heading, words in spaced if heading]


def search_index(folder: Path) -> str:
    """The index of a folder of pages: a script that sets ``courseIndex`` to [page, its title, its
    sections] of each. The heading of a name is left out, for its anchor says it.
    """
    index = []
    for path in sorted(folder.rglob("*.html")):
        page = path.relative_to(folder).as_posix()
        if page.startswith("_") or page in NOT_SEARCHED:
            continue
        if sections := sections_of(path.read_text("utf-8")):
            sections[0][0] = ""                  # the page itself
            parts = [[anchor, "" if anchor == LIBRARY + heading else heading, words]
                     for anchor, heading, words in sections]
            index.append([page, sections[0][1], parts])
    return f"const courseIndex = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"
