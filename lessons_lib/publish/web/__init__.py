"""The course in a browser without a kernel: a site to read, and slides to show.

`build_site` makes a static site from the committed notebooks and docstrings; `build_slides` makes a
deck of each lesson, as a page that opens anywhere and as a notebook to run in front of a class. The
site has a search of its own, and boxes that answer a reader's text where the method fits a page.
Nothing that they write asks another machine for anything. Used by ``lessons site`` and ``lessons
slides``.
"""

from .assets import site_missing
from .deck import MAX_SLIDES, Slide, deck
from .pages import page_problems
from .printing import find_chromium, print_pages
from .site import Site, build_site
from .slides import build_slides, live_notebook

__all__ = ["MAX_SLIDES", "Site", "Slide", "build_site", "build_slides", "deck", "find_chromium",
           "live_notebook", "page_problems", "print_pages", "site_missing"]
