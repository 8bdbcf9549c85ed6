"""A look at finished pages: does every link lead somewhere, is every picture described, and does a
page load anything from another host?

Links that a reader may follow to another host are no fault; a script, style, font or picture from
there is, because the page must open offline.
"""

from __future__ import annotations

import re
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
LOADED_LINKS = {"stylesheet", "preload", "prefetch", "modulepreload", "icon", "manifest",
                "preconnect", "dns-prefetch", "apple-touch-icon"}
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
        kinds = set((given.get("rel") or "").lower().split())
        if tag == "link" and given.get("href") and LOADED_LINKS & kinds:
            self.loads.append(given["href"])
        for name in LOADING.get(tag, ()):
            value = given.get(name) or ""
            several = value.split(",") if name == "srcset" else [value]
            self.loads += [part.split()[0] if name == "srcset" else part
                           for part in several if part.strip()]
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


def page_problems(folder: Path) -> list[Problem]:
    """Broken links, loads from another host and pictures without alt text in a folder of pages."""
    folder = folder.resolve()
    # Sphinx copies the templates of a theme beside its scripts; they are no pages.
    pages = {path: read_page(path) for path in sorted(folder.rglob("*.html"))
             if "_static" not in path.relative_to(folder).parts}
    loads = [(path, address) for path, page in pages.items() for address in page.loads]
    loads += [(path, address) for path in sorted(folder.rglob("*.css"))
              for address in STYLE_LOADS.findall(path.read_text("utf-8", "replace"))]
    problems = [(path, "offline", f"loads {address[:80]} from another host")
                for path, address in loads if foreign(address)]
    for path, page in pages.items():
        problems += [(path, "alt text", f"picture {address[:80]} has no alt text")
                     for address in page.nameless]
        for address in dict.fromkeys(page.loads + page.links):
            if foreign(address) or OTHER_SCHEME.match(address) or address == "#":
                continue
            name, _, anchor = address.partition("#")
            name = unquote(name.partition("?")[0])
            target = (path.parent / name).resolve() if name else path
            if not target.exists():
                problems.append((path, "links", f"{address} leads nowhere"))
            elif anchor and target.suffix == ".html" and (
                    target not in pages or unquote(anchor) not in pages[target].ids):
                problems.append((path, "links", f"{address}: {target.name} has no such place"))
    return list(dict.fromkeys(Problem(path.relative_to(folder).as_posix(), rule, message)
                              for path, rule, message in problems))
