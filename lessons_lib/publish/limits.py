"""The limits of a lesson: one thread, short cells, few numbers, standard words.

The main thread is what every reader reads: no folded text, no cell tagged ``check`` or ``curious``,
not the section *Exercises*. Used by ``lessons build --check``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .. import exercises
from ..exercises.base import KINDS
from ..lesson.course import LessonCard
from ..lesson.tables import MAX_COLUMNS, MAX_ROWS
from .folds import DETAILS, hides_source, is_optional, tags_of, without_details
from .pair import generated_tag
from .problem import Problem
from .prose import n_words, plain_words
from .words import private_words

__all__ = ["limit_problems"]

MAX_WORDS, MAX_CELLS, MAX_PREDICTIONS, MAX_NUMBERS = 2500, 25, 5, 80
MAX_LINES, MAX_HIDDEN_LINES, MAX_WIDTH = 15, 20, 88
N_QUESTIONS, MAX_ANSWER_WORDS = 10, 60
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
OFF_THREAD, QUESTIONS = "exercises", "ten questions"
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# Each rule yields (rule, message, place of the cell or None).
Findings = Iterator[tuple[str, str, int | None]]


def _sections(notebook: Any) -> Iterator[tuple[int, Any, str, str]]:
    """Place (from 1), cell, section and source of every part that a person wrote."""
    section = ""
    for i, cell in enumerate(notebook.cells, start=1):
        if generated_tag(cell):
            continue
        if cell.cell_type == "code":
            yield i, cell, section, cell.source
            continue
        for part in SECTION.split(cell.source):
            if part.startswith("## "):
                section = part.partition("\n")[0][3:].strip().lower()
            yield i, cell, section, part


def _main_thread(notebook: Any, kind: str) -> list[tuple[int, Any, str]]:
    """Place, cell and unfolded source of what every reader reads; kind "markdown" or "code"."""
    return [(i, cell, without_details(source) if kind == "markdown" else source)
            for i, cell, section, source in _sections(notebook)
            if cell.cell_type == kind and section != OFF_THREAD and not is_optional(cell)]


def _over(what: str, n: int, most: int, remedy: str) -> Findings:
    if n > most:
        yield what, f"{n:,} {what} on the main thread; at most {most:,}. {remedy}", None


def _length_findings(notebook: Any) -> Findings:
    texts, code = (_main_thread(notebook, kind) for kind in ("markdown", "code"))
    yield from _over("words", sum(n_words(text) for _, _, text in texts), MAX_WORDS,
                     "Fold what does not serve the question, or leave it out")
    yield from _over("code cells", len(code), MAX_CELLS, "Leave out or fold (tag curious)")
    predictions = [i for i, _, source in code if "lesson.predict(" in source]
    yield from _over("predictions", len(predictions), MAX_PREDICTIONS,
                     "Keep those that most get wrong")
    after = {i: cell for (i, _, _), (_, cell, _) in pairwise(code)}
    for i in predictions:
        if i not in after or "hide-output" not in tags_of(after[i]):
            yield "predictions", ("no cell tagged hide-output follows, which says how the guess "
                                  "went"), i


def _nested(tree: ast.AST) -> bool:
    """Whether a comprehension stands in another."""
    return any(isinstance(inner, COMPREHENSIONS) for node in ast.walk(tree)
               if isinstance(node, COMPREHENSIONS) for inner in ast.walk(node) if inner is not node)


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(source).readline)


def _written_in(source: str) -> str:
    """The comments and texts of a code cell; a name of the library is no word of the lesson."""
    try:
        return "\n".join(token.string for token in _tokens(source)
                         if token.type == tokenize.COMMENT or " " in token.string)
    except (tokenize.TokenError, SyntaxError):
        return ""                                # the rules for code say so


def _two_steps_on_a_line(source: str) -> bool:
    """Whether code follows a semicolon; one at the end of a line hides a value, and is well."""
    return any(token.string == ";" and token.type == tokenize.OP
               and after.type not in (tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT)
               for token, after in pairwise(_tokens(source)))


def _code_findings(notebook: Any) -> Findings:
    for i, cell, _, source in _sections(notebook):
        if cell.cell_type != "code":
            continue
        lines = [line for line in source.splitlines() if line.strip()]
        most = MAX_HIDDEN_LINES if hides_source(cell) else MAX_LINES
        if len(lines) > most:
            yield "lines", f"{len(lines)} lines of code; at most {most}. Make two cells", i
        if wide := [line for line in lines if len(line) > MAX_WIDTH]:
            yield "width", (f"{len(wide)} line{'s' if len(wide) > 1 else ''} wider than "
                            f"{MAX_WIDTH} columns, such as: {wide[0].strip()[:40]}…"), i
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue                             # the rules for code say so
        if _two_steps_on_a_line(source):
            yield "steps", "code follows a semicolon; a line is one step", i
        if _nested(tree):
            yield "steps", "a comprehension stands in another; write a loop", i
        asserts = any(isinstance(node, ast.Assert) for node in ast.walk(tree))
        if asserts and "check" not in tags_of(cell):
            yield "check", "asserts a result; do so in a cell tagged check at the section's end", i


def _word_findings(notebook: Any) -> Findings:
    for i, cell, _, source in _sections(notebook):
        text = plain_words(source) if cell.cell_type == "markdown" else _written_in(source)
        for word, term in private_words(text):
            yield "private word", f"“{word}”; the field says: {term}", i


def _question_findings(notebook: Any) -> Findings:
    text = "".join(source for _, cell, section, source in _sections(notebook)
                   if cell.cell_type == "markdown" and section == QUESTIONS)
    asked = DETAILS.findall(text)
    if len(asked) != N_QUESTIONS:
        yield "questions", (f"{len(asked)} questions in the section “Ten questions”; expected "
                            f"{N_QUESTIONS}, each as <details><summary>…</summary>"), None
    for question, answer in asked:
        if (n := n_words(answer)) > MAX_ANSWER_WORDS:
            yield "questions", (f"the answer to “{question[:40]}” has {n} words; at most "
                                f"{MAX_ANSWER_WORDS}"), None
        if "](" not in answer:
            yield "questions", (f"the answer to “{question[:40]}” links to no section that shows "
                                "it: [section 3](#3.-InfoNCE)"), None
        if not answer.startswith("\n\n"):
            yield "questions", (f"no empty line after the question “{question[:40]}”; its answer "
                                "would not be read as Markdown"), None


def _exercise_findings(card: LessonCard) -> Findings:
    if card.id in exercises.stems():
        there = {exercise.kind for exercise in exercises.for_lesson(card.id).values()}
        if missing := [kind for kind in KINDS if kind not in there]:
            yield "exercises", f"none of the kind{'s' * (len(missing) > 1)} " \
                               f"{', '.join(missing)}", None


def _printed(cell: Any) -> Iterator[str]:
    """What a cell prints, without its pictures and formatted texts."""
    for output in cell.outputs:
        data = output.get("data", {})
        if output.output_type == "stream":
            yield output.text
        elif not any(kind.startswith("image/") or kind == "text/markdown" for kind in data):
            yield "".join(data.get("text/plain", ""))


def _output_findings(stored: Any) -> Findings:
    n_numbers = 0
    for i, cell, source in _main_thread(stored, "code"):
        if "ll.start(" in source:
            continue                             # versions
        n_numbers += sum(len(NUMBER.findall(text)) for text in _printed(cell))
        for output in cell.outputs:
            markup = "".join(output.get("data", {}).get("text/html", ""))
            rows = [row for row in markup.split("<tr")[1:] if "<td" in row]
            columns = max((row.count("<td") + row.count("<th") for row in rows), default=0)
            if len(rows) > MAX_ROWS or columns > MAX_COLUMNS:
                yield "tables", (f"a table of {len(rows)} rows and {columns} columns; at most "
                                 f"{MAX_ROWS} and {MAX_COLUMNS}"), i
    yield from _over("numbers", n_numbers, MAX_NUMBERS,
                     "Print what the next paragraph talks about")


def limit_problems(card: LessonCard, notebook: Any, stored: Any = None) -> list[Problem]:
    """Where a lesson is over its limits.

    ``notebook`` is the text's, ``stored`` the executed one, None where there is none.
    """
    findings = (*_length_findings(notebook), *_code_findings(notebook), *_word_findings(notebook),
                *_question_findings(notebook), *_exercise_findings(card),
                *(() if stored is None else _output_findings(stored)))
    return [Problem(card.id, *finding) for finding in findings]
