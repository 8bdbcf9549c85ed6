"""The check: a sound lesson passes, each planted violation is named by its rule and cell."""

from __future__ import annotations

import shutil

import nbformat
import pytest
from nbformat.v4 import new_output

from lessons_lib.core import write_text
from lessons_lib.lesson import Course
from lessons_lib.publish import check_course, check_lesson, clean, notebook_of
from lessons_lib.publish import read_bibliography, refreshed_text, write_map

BAD_PATH = "/home/" + "somebody/data.tsv"


@pytest.fixture(scope="module")
def template(tiny_course_text, tmp_path_factory):
    """The tiny course with notebooks that look executed; made once, copied for every test."""
    course = tiny_course_text(tmp_path_factory.mktemp("template"))
    papers = read_bibliography(course.notebooks / "references.bib")
    # links point into texts that the first round writes
    for _ in range(2):
        for card in course.cards():
            notebook = notebook_of(card, course.cards(), papers)
            write_text(card.path, refreshed_text(card, notebook))
            store(card, executed(notebook))
    write_map(course.root / "README.md", course.cards())
    return course


@pytest.fixture
def sound(template, tmp_path):
    shutil.copytree(template.root, tmp_path / "course")
    return Course(tmp_path / "course")


def executed(notebook):
    for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), start=1):
        cell.execution_count = number
    return clean(notebook)


def store(card, notebook) -> None:
    write_text(card.notebook, nbformat.writes(notebook, version=4) + "\n")


def rules(course, lesson_id: str = "counting") -> dict[str, str]:
    papers = read_bibliography(course.notebooks / "references.bib")
    found: dict[str, str] = {}
    for problem in check_lesson(course.card(lesson_id), course.cards(), papers):
        found[problem.rule] = f"{found.get(problem.rule, '')}{problem}\n"
    return found


def rewrite(course, old: str, new: str, lesson_id: str = "counting") -> dict[str, str]:
    """Change the text, bring the pair up to date, and check."""
    card = course.card(lesson_id)
    text = card.path.read_text("utf-8")
    assert old in text
    write_text(card.path, text.replace(old, new, 1))
    card = course.card(lesson_id)
    notebook = notebook_of(card, course.cards(),
                           read_bibliography(course.notebooks / "references.bib"))
    write_text(card.path, refreshed_text(card, notebook))
    store(card, executed(notebook))
    return rules(course, lesson_id)


def changed(course, change) -> dict[str, str]:
    """Change the notebook, and check."""
    card = course.card("counting")
    notebook = nbformat.read(card.notebook, as_version=4)
    change(notebook)
    store(card, notebook)
    return rules(course)


def with_outputs(course, *outputs) -> dict[str, str]:
    return changed(course, lambda notebook: notebook.cells[2].update(outputs=list(outputs)))


def test_a_sound_course_has_no_problem(sound):
    assert rules(sound) == {} and rules(sound, "start_here") == {} and check_course(sound) == []


PROSE = [("Count again.", "You simply count again.", "plain words", "“simply”"),
         ("Count again.", "Just count.", "plain words", "“Just”"),
         ("Count again.", "Obviously.", "plain words", "“Obviously”"),
         ("Count again.", "word " * 5001, "length", "words of text; at most 5,000"),
         ("## Exercises", "# Exercises", "headings", "level 1"),
         ("## Exercises", "#### Exercises", "headings", "jumps from level 2 to 4"),
         ("## Summary", "## Exercises", "headings", "stands twice"),
         ("## Summary", "## The end", "headings", "no heading 'Summary'"),
         ("Count again.", "[here](nowhere.md)", "links", "leads nowhere"),
         ("Count again.", "[here](01_countin.md)", "links", "did you mean 01_counting"),
         ("Count again.", "[here](00_start_here.ipynb#no-such)", "links", "no such heading"),
         ("Count again.", "[x](http://a.org)", "links", "use https"),
         ("Count again.", "![A rose](https://a.org/x.png)", "links", "not a file of the course"),
         ("Count again.", "![](../README.md)", "alt text", "no alt text"),
         ("Count again.", '<img src="x.png">', "alt text", "no alt text"),
         ("Count again.", "As in [harris1954].", "nothing", ""),
         ("Count again.", "As in [harris1955structure].", "citations", "not in references.bib"),
         ("Count again.", "As in [zipf1949human].", "citations", "not listed under `papers`"),
         ("terms: {}", "terms: {bag: a set with counts}", "glossary", "never defined")]


@pytest.mark.parametrize(("old", "new", "rule", "message"), PROSE)
def test_a_violation_in_the_text_is_named(sound, old, new, rule, message):
    found = rewrite(sound, old, new)
    assert message in found.get(rule, ""), found
    assert rule == "nothing" or len(found) <= 2


@pytest.mark.parametrize("text", [
    "`just a word`", "$just$", "```text\njust data\n```", "an adjustment", "<!-- just a note -->",
    "[a](https://a.org/x_(y))", "[token](glossary.ipynb#token)", "[t](#exercises)",
    "[t](00_start_here.ipynb#What-is-here)", "[t](../README.md)",
    "[harris1954distributional, Eq. 4]", "[`x`](01_counting.ipynb)"])
def test_words_in_code_and_data_and_links_and_citations_that_hold_are_accepted(sound, text):
    assert rewrite(sound, "Count again.", text) == {}


CODE = [
    ("\n".join(f"x{i} = {i}" for i in range(19)), "length", "21 lines of code; at most 20"),
    ("!pip list", "code", "shell line or magic"), ("%timeit 1", "code", "shell line or magic"),
    ("import numpy as np\nnp.random.seed(1)", "code", "lesson.rng"),
    ("import torch\ntorch.seed()", "code", "global chance"),
    ("import pickle", "code", "imports pickle"), ("from random import choice", "code", "random"),
    ("eval('1')", "code", "eval() runs text as code"),
    ("import sys\nsys.path.append('x')", "code", "changes where Python looks"),
    ("x = = 1", "code", "is not Python"),
    (f"open('{BAD_PATH}')", "path", "absolute path /home/somebody")]


@pytest.mark.parametrize(("code", "rule", "message"), CODE)
def test_a_violation_in_the_code_is_named(sound, code, rule, message):
    assert message in rewrite(sound, "raise NotImplementedError",
                              "raise NotImplementedError\n" + code).get(rule, "")


EMPTY = "has a message without a value"


@pytest.mark.parametrize(("message", "fault"), [
    ("", "has no message"), (", 'words and no number'", EMPTY), (", f'words and no number'", EMPTY),
    (", text", EMPTY), (", 'a' + 'b'", EMPTY),
    (", '{}'.format()", EMPTY), (", f'expected 6, found {n}'", None),
    (", 'expected 6, found {}'.format(n)", None),
    (", 'expected 6, found %d' % n", None),
    (", ('expected 6, '\n              f'found {n}')", None),
    (", 'expected 6, ' + f'found {n}'", None)])
def test_an_assertion_without_a_message_that_holds_a_value_is_named(sound, message, fault):
    found = rewrite(sound, "raise NotImplementedError",
                    f"n = 6\n    for _ in range(2):\n        assert n == 6{message}")
    assert (f"{fault}; say in words" in found["code"]
            and "`assert n == 6" in found["code"]) if fault else found == {}


def test_too_many_code_cells_are_named_and_allowed_chance_is_not(sound):
    code = "import numpy as np\nrng = np.random.default_rng(0)\n" + "\n".join(
        ["import torch", "torch.manual_seed(0)"])
    assert rewrite(sound, "raise NotImplementedError", "raise NotImplementedError\n" + code) == {}
    cells = "".join(f"```{{code-cell}} ipython3\nx = {i}\n```\n\n" for i in range(43))
    problems = rewrite(sound, "## Exercises", cells + "## Exercises")
    assert "46 code cells; at most 45" in problems["length"]


SVG, PLOTLY = "image/svg+xml", "application/vnd.plotly.v1+json"


def said(text: str, name: str = "stdout"):
    return new_output("stream", name=name, text=text)


def shown(kind: str, data: object, alt: str = ""):
    return new_output("display_data", data={kind: data}, metadata={kind: {"alt": alt}})


OUTPUTS = [
    (new_output("error", ename="ValueError", evalue="no", traceback=[]), "error", "ValueError"),
    (said("warning", "stderr"), "stderr", "standard error"),
    (said(f"read {BAD_PATH}"), "path", "absolute path"),
    (said("C:\\Users\\me\\x"), "path", "absolute path"),
    (said("at 2026-11-02 10:15"), "timestamp", "2026-11-02 10:15"),
    (said("{'LSA': 0.61}"), "table", "lesson.table"),
    (said("Mon Nov  2 10:15:03 2026"), "timestamp", "10:15"),
    (shown("text/plain", "<f 0x7f12ab34cd56>"), "address", "memory address"),
    (said(" 50%|#### | 5/10"), "progress bar", "progress bar"),
    (shown(SVG, "<svg/>"), "alt text", "no alt text"),
    (shown("text/html", "<img src='x'>"), "alt text", "<img>"),
    (shown(SVG, "<svg>" + "x" * 100_001, "a"), "size", "100 kB; at most 100"),
    (shown(PLOTLY, {}, "a"), "static", "static="),
    (shown("application/vnd.jupyter.widget-view+json", {}), "widget", "lesson.explore"),
    (shown("text/html", "<script>1</script>"), "script", "script"),
    (shown("text/html", "<b onclick='x()'>"), "script", "script")]


@pytest.mark.parametrize(("output", "rule", "message"), OUTPUTS)
def test_a_violation_in_the_outputs_is_named(sound, output, rule, message):
    found = with_outputs(sound, output)
    assert set(found) == {rule} and message in found[rule] and "cell 3" in found[rule]


@pytest.mark.parametrize("output", [shown(SVG, "<svg/>", "A line that rises."), *map(said, (
    "and/or a/b/c", "https://a.org/b/c", "<td>a</td><b>/x</b>", "data/x/y.tsv", "1/2/3", "0xff",
    "12:30", "2026-11-02", "5%"))])
def test_harmless_outputs_and_described_pictures_are_accepted(sound, output):
    assert with_outputs(sound, output) == {}


@pytest.mark.parametrize(("change", "rule", "message"), [
    (lambda it: it.cells.pop(), "pair", "cells, its text"),
    (lambda it: it.cells[1].update(source="More."), "pair",
     "cell 2: the notebook differs from its text"),
    (lambda it: it.cells[2].metadata.update(slide="Another."), "pair",
     "cell 3: the notebook differs from its text"),
    (lambda it: it.cells[2].update(execution_count=None), "unexecuted", "was not executed"),
    (lambda it: it.cells[2].update(execution_count=5), "unexecuted", "count 5, expected 1"),
    (lambda it: it.metadata.lesson.update(question="Other?"), "pair", "front matter differs"),
    (lambda it: it.metadata.update(widgets={"state": 1}), "widget", "state of widgets"),
    (lambda it: it.cells[2].metadata.update(execution={"iopub.status.idle": "x"}), "timestamp",
     "time of its execution")])
def test_a_notebook_that_differs_from_its_text_or_was_not_run_is_named(
        sound, change, rule, message):
    assert message in changed(sound, change)[rule]


def test_a_missing_damaged_or_giant_notebook_is_named(sound):
    card = sound.card("counting")
    card.notebook.write_text("{", "utf-8")
    assert "no valid notebook" in rules(sound)["pair"]
    card.notebook.write_text(" " * 1_000_001, "utf-8")
    assert "1000 kB" in rules(sound)["size"]
    card.notebook.unlink()
    assert "does not exist; run `lessons build`" in rules(sound)["pair"]


def test_front_matter_and_generated_cells_are_part_of_the_check(sound):
    problems = rewrite(sound, "uses: [core.checks]", "uses: [core.nothing]")
    assert "`uses`: lessons_lib.core.nothing" in problems["front matter"]
    path = sound.notebooks / "01_counting.md"
    write_text(path, path.read_text("utf-8").replace("5 minutes to read", "9 minutes to read"))
    assert "generated cells of 01_counting.md are out of date" in rules(sound)["pair"]


def test_the_course_is_checked_for_its_map_glossary_and_numbers(sound):
    readme = sound.root / "README.md"
    write_text(readme, readme.read_text("utf-8").replace("What is here?", "What?"))
    assert [p.rule for p in check_course(sound)] == ["map"]
    readme.unlink()
    assert [p.rule for p in check_course(sound)] == ["map"]
    page = sound.notebooks / "glossary.ipynb"
    write_text(page, page.read_text("utf-8").replace("one word of a text", "a word"))
    assert [p.rule for p in check_course(sound)] == ["glossary", "map"]
    (sound.notebooks / "01_double.md").write_text(
        (sound.notebooks / "01_counting.md").read_text("utf-8"), encoding="utf-8")
    assert [p.rule for p in check_course(sound)].count("course") == 2
