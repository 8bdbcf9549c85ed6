"""The concept map: every lesson below those it needs, its terms with links to the glossary."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from lessons_lib.lesson.course import LessonCard
from lessons_lib.publish.web.concepts import concept_page

CARDS = [LessonCard("late", 2, Path("02_late.md"), title="A < B", needs=("first", "middle"),
                    terms={"cone": ""}),
         LessonCard("first", 0, Path("00_first.md"), title="First",
                    terms={"out-of-vocabulary (OOV)": "", "train, dev and test": ""}),
         LessonCard("middle", 1, Path("01_middle.md"), title="Middle", needs=("first", "gone"))]


def drawing(cards):
    page = concept_page(cards)
    return page, ElementTree.fromstring(re.search("<svg.*</svg>", page, re.DOTALL)[0])


def test_a_lesson_stands_below_those_it_needs_and_leads_to_its_page_and_terms():
    page, svg = drawing(CARDS)
    tops = [float(box.get("y")) for box in svg.iter("rect")]
    assert tops == sorted(tops) and len(set(tops)) == 3
    assert [link.get("href") for link in svg.iter("a")] == [
        "notebooks/00_first.html", "notebooks/glossary.html#out-of-vocabulary-oov",
        "notebooks/glossary.html#train-dev-and-test", "notebooks/01_middle.html",
        "notebooks/02_late.html", "notebooks/glossary.html#cone"]
    # what another lesson needs already gets no line of its own
    assert len(list(svg.iter("path"))) == 2 and page.startswith("# Concept map")


def test_no_box_lies_over_another_and_all_lie_inside():
    cards = [LessonCard(f"l{i}", i, Path(f"{i:02d}_l{i}.md"), title=f"Lesson {i}",
                        needs=(f"l{i // 3}",) if i else (), terms={f"term {i}{j}": "" for j in
                                                                   range(i)})
             for i in range(9)]
    _, svg = drawing(cards)
    width, height = map(float, svg.get("viewBox").split()[2:])
    boxes = [[float(box.get(side)) for side in ("x", "y", "width", "height")]
             for box in svg.iter("rect")]
    for i, (x, y, w, h) in enumerate(boxes):
        assert x >= 0 and x + w <= width and y + h <= height
        assert not any(x < a + c and a < x + w and y < b + d and b < y + h
                       for a, b, c, d in boxes[:i])
