"""A look at finished pages: does every link lead somewhere, is every picture described, and does a
page load anything from another host?

Links that a reader may follow to another host are no fault; a script, style, font or picture from
there is, because the page must open offline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from ..problem import Problem

__all__ = ["foreign", "page_problems", "read_page"]

FOREIGN = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
OTHER_SCHEME = re.compile(r"(data|mailto|javascript|blob|about):", re.IGNORECASE)
STYLE_LOADS = re.compile(r"(?:url\(|@import\s+)\s*[\"']?([^\"')\s;]+)")
# <link> that a browser loads; others (canonical, next, author, …) only name a place.
LOADED_LINKS = ({"stylesheet", "preload", "prefetch", "modulepreload", "icon", "manifest",
                 "preconnect", "dns-prefetch", "apple-touch-icon"})
LOADING = {"script": ("src",), "img": ("src", "srcset"), "source": ("src", "srcset"),
           "iframe": ("src",), "video": ("src", "poster"), "audio": ("src",), "track": ("src",),
           "object": ("data",), "embed": ("src",), "use": ("href", "xlink:href"),
           "image": ("href", "xlink:href")}


@dataclass
class _Page(HTMLParser):
    """The ids of a page, what it loads, where its links lead, and pictures without words."""

    ids: set[str] = field(default_factory=set)
    loads: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    nameless: list[str] = field(default_factory=list)
    styles: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {value for key, value in given.items() if value
                     and (key == "id" or (key == "name" and tag == "a"))}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "link" and given.get("href") and LOADED_LINKS & set(
            (given.get("rel") or "").lower().split()):
            self.loads.append(given["href"])
        for name in LOADING.get(tag, ()):
            value = given.get(name) or ""
            self.loads += [part.split()[0] for part in value.split(",")
                           if part.strip()] if name == "srcset" else [value] if value else []
        if tag == "img" and "alt" not in given:
            self.nameless.append(given.get("src") or "?")
        self.loads += STYLE_LOADS.findall(given.get("style") or "")
        self.styles += tag == "style"

    def handle_data(self, data: str) -> None:
        if self.styles:
            self.loads += STYLE_LOADS.findall(data)

    def handle_endtag(self, tag: str) -> None:
        self.styles -= tag == "style"


def read_page(path: Path) -> _Page:
    """The ids, loads and links of one HTML file."""
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def foreign(address: str) -> bool:
    """Whether an address lies on another host."""
    return bool(FOREIGN.match(address))


def _local_problem(address: str, path: Path, ids: dict[Path, set[str]]) -> str | None:
    """What is wrong with an address inside the folder, None where it leads to a file and a place in
    it.
    """
    name, _, anchor = address.partition("#")
    target = (path.parent / unquote(name.partition("?")[0])).resolve() if name else path
    if not target.exists():
        return f"{address} leads nowhere"
    if anchor and target.suffix == ".html" and unquote(anchor) not in ids.get(target, set()):
        return f"{address}: {target.name} has no such place"
    return None


def _style_problems(path: Path, name: str) -> Iterator[Problem]:
    for address in STYLE_LOADS.findall(path.read_text("utf-8", "replace")):
        if foreign(address):
            yield Problem(name, "offline", f"loads {address[:80]} from another host")


def page_problems(folder: Path) -> list[Problem]:
    """Everything that is wrong with the pages and styles in a folder: broken links, loads from
    another host, pictures without an alt text.
    """
    folder = folder.resolve()
    # Sphinx copies the templates of a theme beside its scripts; they are no pages.
    pages = ({path: read_page(path) for path in sorted(folder.rglob("*.html"))
              if "_static" not in path.relative_to(folder).parts})
    ids, found = {path: page.ids for path, page in pages.items()}, []
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        found += [Problem(name, "offline", f"loads {address[:80]} from another host")
                  for address in page.loads if foreign(address)]
        found += [Problem(name, "alt text", f"picture {address[:80]} has no alt text")
                  for address in page.nameless]
        for address in dict.fromkeys(page.loads + page.links):
            if not foreign(address) and not OTHER_SCHEME.match(address) and address != "#" and (
                    wrong := _local_problem(address, path, ids)):
                found.append(Problem(name, "links", wrong))
    for path in sorted(folder.rglob("*.css")):
        found += _style_problems(path, path.relative_to(folder).as_posix())
    return list(dict.fromkeys(found))
