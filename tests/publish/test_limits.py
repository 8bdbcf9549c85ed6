"""The limits of a lesson: a sound lesson passes, each planted excess is named."""

from __future__ import annotations

from types import SimpleNamespace

import jupytext
import pytest
from nbformat.v4 import new_output

from lessons_lib import exercises
from lessons_lib.exercises import Exercise, judge_value
from lessons_lib.publish import build, check, prose
from lessons_lib.publish.limits import limit_problems
from lessons_lib.publish.words import PRIVATE_WORDS, private_words

LAST_HEADINGS = prose.LAST_HEADINGS
QUESTION = """<details><summary>{}. Why?</summary>

Because of it ([section 1](#A-question)).

</details>
"""
TEXT = """## A question

Words keep company.

```{code-cell} ipython3
guess = lesson.predict("Up or down?", ["up", "down"]);
```

```{code-cell} ipython3
:tags: [hide-output]

print(1, 2)
guess.answer("up")
```

<details><summary>For the curious: more</summary>

FOLDED

</details>

```{code-cell} ipython3
:tags: [check]

assert 1 < 2, f"expected {1} to be below {2}"
```

## Told in one table

| a | b |
|---|---|

## Ten questions

""" + "".join(QUESTION.format(k) for k in range(1, 11)) + """
## Exercises

OFF THREAD
"""
KINDS = {kind: Exercise(f"one_{k}", judge_value(2), 2, {"one": 1, "three": 3}, ("Even.",),
                        kind=kind) for k, kind in enumerate(("fill in", "predict", "experiment",
                                                             "debug"))}


@pytest.fixture(autouse=True)
def four_kinds(monkeypatch):
    monkeypatch.setattr(exercises, "stems", lambda: ["second"])
    monkeypatch.setattr(exercises, "for_lesson", lambda _: KINDS)


def found(old="", new="", outputs=(), lesson="second"):
    """The findings by rule, after a change of the text or with outputs of the second cell."""
    assert old in TEXT
    notebook = jupytext.reads(TEXT.replace(old, new, 1) if old else TEXT, fmt="md:myst")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    code[1].outputs = list(outputs)
    problems = limit_problems(SimpleNamespace(id=lesson), notebook, notebook)
    return {problem.rule: str(problem) for problem in problems}


def cells(n, tag=""):
    tag = tag and f":tags: [{tag}]\n\n"
    return "".join(f"```{{code-cell}} ipython3\n{tag}x = {k}\n```\n\n" for k in range(n))


def printed(n):
    return new_output("stream", name="stdout", text=" ".join(["1,234.5"] * n))


def table(rows, columns):
    body = "".join(f"<tr>{'<td>a</td>' * columns}</tr>" for _ in range(rows))
    head = f"<tr>{'<th>a</th>' * columns}</tr>"
    return new_output("display_data", data={"text/html": f"<table>{head}{body}</table>",
                                            "text/plain": "a"})


def test_a_sound_lesson_is_within_all_limits():
    assert found() == {}


OVER = [
    ("Words keep company.", "word " * 2501, "words", "words on the main thread; at most 2,500"),
    ("## Told", cells(24) + "## Told", "code cells", "26 code cells on the main thread; at most"),
    ("## Told", "".join("```{code-cell} ipython3\nlesson.predict('?', ['a', 'b'])\n```\n\n"
                        "```{code-cell} ipython3\n:tags: [hide-output]\n\nx\n```\n\n"
                        for _ in range(5)) + "## Told", "predictions", "6 predictions"),
    (":tags: [hide-output]\n\n", "", "predictions", "no cell tagged hide-output follows"),
    ("print(1, 2)", "\n".join("x" * 16), "lines", "17 lines of code; at most 15"),
    ("assert 1 <", "x\n" * 20 + "assert 1 <", "lines", "21 lines of code; at most 20"),
    ("print(1, 2)", f"print('{'x' * 88}')", "width", "1 line wider than 88 columns"),
    ("print(1, 2)", "x = 1; y = 2", "steps", "code follows a semicolon"),
    ("print(1, 2)", "[[a for a in b] for b in c]", "steps", "a comprehension stands in another"),
    ("print(1, 2)", "assert 1", "check", "in a cell tagged check"),
    ("Words keep", "The surprise keeps", "private word",
     "“surprise”; the field says: negative log-likelihood"),
    ("FOLDED", "Noise words.", "private word", "negative sample"),
    ("print(1, 2)", "print('two noise words')", "private word", "negative sample"),
    (QUESTION.format(4), "", "questions", "9 questions in the section"),
    ("Because of it", "word " * 60, "questions", "has 61 words; at most 60"),
    ("([section 1](#A-question))", "", "questions", "links to no section"),
    ("</summary>\n\nBecause", "</summary>\nBecause", "questions", "no empty line after")]


@pytest.mark.parametrize(("old", "new", "rule", "message"), OVER)
def test_what_is_over_is_named(old, new, rule, message):
    problems = found(old, new)
    assert message in problems.pop(rule) and problems == {}


@pytest.mark.parametrize(("old", "new"), [
    ("FOLDED", "word " * 3000), ("OFF THREAD", "word " * 3000), ("OFF THREAD", cells(30)),
    ("## Told", cells(30, "curious") + "## Told"), ("## Told", cells(30, "check") + "## Told"),
    ("print(1, 2)", "lesson.show(1);  # a value is hidden"), ("print(1, 2)", "pieces = strangers"),
    ("Words keep", "`surprise` and a piece of text keep"), ("Words", "Crowd workers")])
def test_what_is_folded_off_the_thread_or_meant_otherwise_does_not_count(old, new):
    assert found(old, new) == {}


def test_printed_numbers_and_tables_are_counted():
    assert "81 numbers on the main thread" in found(outputs=[printed(81)])["numbers"]
    assert found(outputs=[printed(80), table(6, 5)]) == {}
    assert "7 rows and 2 columns" in found(outputs=[table(7, 2)])["tables"]
    assert "2 rows and 6 columns" in found(outputs=[table(2, 6)])["tables"]


def test_each_kind_of_exercise_is_asked_for(monkeypatch):
    monkeypatch.setattr(exercises, "for_lesson", lambda _: {"a": KINDS["predict"]})
    assert "none of the kinds fill in, experiment, debug" in found()["exercises"]


def test_no_term_of_the_field_is_itself_a_private_word():
    assert not [term for term in PRIVATE_WORDS.values() if list(private_words(term))]


def test_the_check_of_a_lesson_holds_its_limits_and_last_headings(course, monkeypatch):
    monkeypatch.setattr(check, "limit_problems", limit_problems)
    monkeypatch.setattr(prose, "LAST_HEADINGS", LAST_HEADINGS)
    result, *_ = build(["counting"], check=True, course=course)
    assert "questions" in {problem.rule for problem in result.problems}
    assert any("no heading 'Told in one table'" in str(problem) for problem in result.problems)
