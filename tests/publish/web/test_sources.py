"""What Sphinx gets to read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessons_lib.core import DataMissing
from lessons_lib.evaluation import LeaderboardRow
from lessons_lib.publish.web import sources
from lessons_lib.publish.web.sources import SENTENCE_PAGE, write_sources

ROW = LeaderboardRow("rose | counts", "counting",
                     {"stsb": {"spearman": 0.5123, "interval": [0.4, 0.6]},
                      "course-sts": {"spearman": 0.25}}, 9, 1.0, 0, "laptop", {})


@pytest.fixture
def tree(built, folder, monkeypatch) -> Path:
    """The sources of the tiny course, without the scripts, which need the extra set."""
    monkeypatch.setattr(sources, "copy_scripts", lambda target, *names: target.mkdir(parents=True))
    write_sources(folder, built, rows=[ROW], rooms=["core"])
    return folder


def test_what_sphinx_reads_is_whole_and_needs_no_kernel(tree):
    stored = json.loads((tree / "notebooks" / "01_counting.ipynb").read_text("utf-8"))
    assert {kind for cell in stored["cells"] for output in cell.get("outputs", [])
            for kind in output.get("data", {})} == {"text/html"}
    assert len(list((tree / "_static" / "pictures").glob("*.svg"))) == 1
    text = (tree / "notebooks" / "00_start_here.ipynb").read_text("utf-8")
    assert "](01_counting.ipynb#where-words-come-from)" in text and ".md#" not in text
    text = (tree / "index.md").read_text("utf-8")
    assert text.startswith("# Tiny") and "(notebooks/01_counting.ipynb)" in text
    for page in ("notebooks/00_start_here", "notebooks/glossary", "concepts", "too-small",
                 "leaderboard", "figures/README", "reference/core"):
        assert f"\n{page}\n" in text
    assert (tree / "leaderboard.md").read_text("utf-8").endswith(
        "| lesson | encoder | dim | stsb | course-sts |\n|---|---|--:|--:|--:|\n"
        "| [01 · Counting](notebooks/01_counting.ipynb) | rose / counts | 9 | "
        "51.2 (40\u00a0to\u00a060) | 25.0 |\n")
    assert "(line)=" in (tree / "figures" / "README.md").read_text("utf-8")
    assert (tree / "figures" / "line.json").is_file()


def test_the_first_page_leads_to_the_page_of_a_sentence_where_the_course_has_a_model(
        built, tree, monkeypatch, tmp_path):
    assert SENTENCE_PAGE not in (tree / "index.md").read_text("utf-8")
    (built.root / "data" / "models" / "lesson-bert").mkdir(parents=True)
    write_sources(tmp_path / "more", built, rows=[ROW], rooms=["core"])
    text = (tmp_path / "more" / "index.md").read_text("utf-8")
    assert (text.index("# Tiny") < text.index(SENTENCE_PAGE) < text.index(
        'class="button" href="notebooks/00_start_here.html"') < text.index("## The lessons"))


def test_a_lesson_that_was_never_built_is_named(course, folder, monkeypatch):
    monkeypatch.setattr(sources, "copy_scripts", lambda target, *names: target.mkdir(parents=True))
    with pytest.raises(DataMissing,
                       match="00_start_here.ipynb does not exist: run lessons build start_here"):
        write_sources(folder, course, rows=[])
