"""A tiny course of two lessons, all sound: tests plant one fault at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lessons_lib.lesson import Course
from lessons_lib.publish import check, prose
from lessons_lib.publish.glossary import GLOSSARY, glossary_page

BIB = """@article{harris1954distributional,
  author = {Harris, Zellig S.}, title = {Distributional {Structure}}, journal = {Word},
  volume = {10}, pages = {146--162}, year = {1954}, doi = {10.1080/00437956.1954.11659520}
}

@book{zipf1949human,
  author = {Zipf, George Kingsley},
  title = {Human Behavior},
  publisher = {Addison-Wesley},
  year = {1949}
}
"""
FRONT = """---
lesson:
  id: {id}
  title: {title}
  question: {question}
  you_will: [count words, draw a line]
  needs: [{needs}]
  minutes: {{read: 5, run: 1}}   # the author's own comment
  papers: [{papers}]
  uses: [core.checks]
  terms: {{{terms}}}
---

"""
FIRST = """+++ {"tags": ["map"]}

filled by the build

+++

## What is here

A first text about a **token**, see [the other lesson](01_counting.md#where-words-come-from).

```{code-cell} ipython3
n = 6 * 7
print(n)
```
"""
SECOND = """## Where words come from

Words keep company [harris1954distributional, Sec. 2]. The formula is $a < b$.

```{code-cell} ipython3
words = "a rose is a rose".split()
words
```

```{code-cell} ipython3
def count(words):
    return {w: words.count(w) for w in words}
count(words)["rose"]
```

## Exercises

Count again.

```{code-cell} ipython3
def stub(words):
    raise NotImplementedError
```

## Summary

Counting is a start.
"""


def _written(root: Path) -> Course:
    notebooks = root / "notebooks"
    notebooks.mkdir()
    (notebooks / "references.bib").write_text(BIB, "utf-8")
    first = FRONT.format(id="start_here", title="Start here", question="What is here?", needs="",
                         papers="", terms="token: one word of a text")
    second = FRONT.format(id="counting", title="Counting", question="How far | does counting get?",
                          needs="start_here", papers="harris1954distributional", terms="")
    (notebooks / "00_start_here.md").write_text(first + FIRST, "utf-8")
    (notebooks / "01_counting.md").write_text(second + SECOND, "utf-8")
    (root / "README.md").write_text("# Tiny\n\n<!-- lessons:begin -->\n<!-- lessons:end "
                                    "-->\n\nEnd.\n", encoding="utf-8")
    course = Course(root)
    (notebooks / GLOSSARY).write_text(glossary_page(course.cards()), "utf-8")
    return course


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny course is let off the limits of a lesson, which have tests of their own."""
    monkeypatch.setattr(check, "limit_problems", lambda *_: [])
    monkeypatch.setattr(prose, "LAST_HEADINGS", ("exercises", "summary"))


@pytest.fixture(scope="session")
def tiny_course_text() -> Callable[[Path], Course]:
    """Writes the tiny course into a folder."""
    return _written


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The texts of the tiny course, not built yet."""
    return _written(tmp_path)
