"""Notebooks with outputs that no kernel made, and the tiny course as if it had been built."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lessons_lib.lesson import Course
from lessons_lib.publish import notebook_of, read_bibliography

PLOTLY = "application/vnd.plotly.v1+json"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="3"/></svg>'
SLIDER = {"steps": [{"method": "animate", "args": [[name]], "label": f"step {name}"}
                    for name in "ab"], "currentvalue": {"prefix": "now: "}}
PLAY = {"type": "buttons", "buttons": [{"method": "animate", "args": [None], "label": "play"}]}
ALT = "Line chart of words against texts, log axes. The line is straight & rises."


def picture_output(alt: str = ALT, *, live: bool = False) -> Any:
    """An output as `lesson.show` makes it: SVG, PNG, perhaps plotly, each with its alt text."""
    data = {"image/svg+xml": SVG, "image/png": base64.b64encode(b"\x89PNG").decode(),
            "text/plain": alt}
    if live:
        data[PLOTLY] = {"data": [{"y": [1, 2], "name": "</script><b>"}],
                        "layout": {"title": {"text": "t"}, "sliders": [SLIDER],
                                   "updatemenus": [PLAY]},
                        "frames": [{"name": name, "data": [{"y": [2, 1]}]} for name in "ab"]}
    return new_output("display_data", data=data,
                      metadata={kind: {"alt": alt} for kind in data if kind != "text/plain"})


@pytest.fixture
def picture() -> Callable[..., Any]:
    """``picture(alt, live=)``: a picture output."""
    return picture_output


@pytest.fixture
def table() -> Any:
    """A table output."""
    return new_output("display_data",
                      data={"text/html": "<table><tr><td>7</td></tr></table>", "text/plain": "7"})


@pytest.fixture
def notebook() -> Callable[..., Any]:
    """``notebook("text", ("text", {metadata}), ("code", [outputs], {metadata}), …)``."""

    def make(*cells: Any) -> Any:
        made = []
        for cell in cells:
            if isinstance(cell, str):
                made.append(new_markdown_cell(cell))
            elif len(cell) == 2:
                made.append(new_markdown_cell(cell[0], metadata=cell[1]))
            else:
                made.append(new_code_cell(cell[0], outputs=cell[1], metadata=cell[2],
                                          execution_count=len(made)))
        return new_notebook(cells=made)

    return make


@pytest.fixture
def built(course: Course) -> Course:
    """The tiny course as if built; the first cell of each lesson drew an interactive figure."""
    cards, papers = course.cards(), read_bibliography(course.notebooks / "references.bib")
    for card in cards:
        made = notebook_of(card, cards, papers)
        code = [cell for cell in made.cells if cell.cell_type == "code"]
        for number, cell in enumerate(code, start=1):
            cell.execution_count = number
        code[0].outputs = [picture_output(live=True)]
        nbformat.write(made, card.notebook)
    figures = course.root / "figures"
    figures.mkdir()
    (figures / "line.svg").write_text(SVG, "utf-8")
    (figures / "line.json").write_text("{}", "utf-8")
    (figures / "README.md").write_text('# Figures\n\n[here](#line)\n\n<a id="line"></a>\n\n## [01 '
                                       '· Counting](../notebooks/01_counting.ipynb)\n\n'
                                       "![A line](line.svg)\n\n[all numbers](line.json)\n", "utf-8")
    return course


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for what is made, beside the course."""
    return tmp_path / "made"


@pytest.fixture
def asked() -> Callable[..., Any]:
    """``asked("1 + 1", script, …)``: what JavaScript says after it has read scripts."""
    if not (node := shutil.which("node")):
        pytest.skip("node is not installed; apt-get install nodejs, or see nodejs.org")

    def answer(question: str, *scripts: Path) -> Any:
        done = subprocess.run([node, Path(__file__).with_name("asked.js"), *scripts, question],
                              capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return answer
