"""Building: text in, cleaned notebook out, whole or not at all."""

from __future__ import annotations

import json

import nbformat
import pytest

from lessons_lib.publish import build
from lessons_lib.publish.build import _keep_board

pytestmark = pytest.mark.slow


def edit(path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def read(card):
    return nbformat.read(card.notebook, as_version=4)


def test_a_build_writes_what_a_check_accepts_and_a_second_one_changes_no_byte(course):
    results = build(course=course, scale="smoke")
    files = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    assert [r.lesson for r in results] == ["start_here", "counting", "course"]
    assert all(r.ok for r in results), [str(p) for r in results for p in r.problems]
    notebook = read(course.card("counting"))
    assert [c.execution_count for c in notebook.cells if c.cell_type == "code"] == [1, 2, 3]
    assert notebook.cells[2].outputs[0].data["text/plain"] == "['a', 'rose', 'is', 'a', 'rose']"
    assert notebook.metadata.lesson.id == "counting"
    assert "notebooks/01_counting.ipynb" in (course.root / "README.md").read_text("utf-8")
    assert not any(r.problems for r in build(course=course, check=True))
    build(course=course, scale="smoke")
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == files


def test_a_lesson_that_fails_keeps_its_former_notebook(course):
    build(course=course, scale="smoke")
    card = course.card("counting")
    before = card.notebook.read_bytes()
    edit(card.path, "words = ", "1 / 0\nwords = ")
    failed, _ = build(["counting"], course=course, scale="smoke")
    assert not failed.ok and failed.run.error.startswith(
        "ZeroDivisionError") and failed.run.failed_cell == 1
    assert card.notebook.read_bytes() == before
    assert any("differs from its text" in p.message for p in failed.problems)


def test_wrong_front_matter_is_reported_and_the_lesson_is_not_run(course):
    edit(course.notebooks / "01_counting.md", "uses: [core.checks]", "uses: [core.nothing]")
    result = build(["counting"], course=course, scale="smoke")[0]
    assert result.run is None and any("core.nothing" in p.message for p in result.problems)
    assert not course.card("counting").notebook.exists()


def test_a_new_lesson_refreshes_its_neighbours_without_running_them(course):
    build(course=course, scale="smoke")
    text = (course.notebooks / "01_counting.md").read_text("utf-8")
    text = text.replace("id: counting", "id: more").replace("title: Counting", "title: More")
    (course.notebooks / "02_more.md").write_text(text, "utf-8")
    results = build(["more"], course=course, scale="smoke")
    assert all(r.ok for r in results), [str(p) for r in results for p in r.problems]
    assert "Next: [02 · More](02_more.ipynb)" in read(course.card("counting")).cells[-1].source
    assert read(course.card("counting")).cells[2].outputs and "02 · More" in read(
        course.card("start_here")).cells[1].source
    assert not any(r.problems for r in build(course=course, check=True))


def test_figures_leaderboard_and_explorers_of_a_build_land_in_the_course(course):
    code = '''
from lessons_lib.lesson import start
from matplotlib.figure import Figure
lesson = start("counting", notebooks=".")
def draw(k=2):
    fig = Figure(figsize=(3, 2))
    fig.add_subplot().plot(range(k))
    return fig
lesson.explore(draw, id="growth", alt="Line plot of k points that rises to the right.", k=(1, 5))
lesson.leaderboard.add("rows", "counting", {"mine": Result()})
'''.strip()
    result = '''
class Result:
    spearman, pearson, interval, alignment, uniformity = 0.5, 0.4, (0.3, 0.6), None, -1.0
    protocol, split, n_pairs, seconds, dim = "all", "test", 4, {seconds}, 7
'''.strip()
    cells = "".join(f"```{{code-cell}} ipython3\n{source}\n```\n\n"
                    for source in (result.format(seconds=1.0), code))
    edit(course.notebooks / "01_counting.md", "## Exercises", cells + "## Exercises")
    outcome = build(["counting"], course=course, scale="smoke")[0]
    assert outcome.run.ok, outcome.run.error
    assert {p.name for p in (course.root / "figures").iterdir()} == {"growth.svg"}
    (row,) = json.loads((course.root / "data" / "leaderboard.json").read_text("utf-8"))["rows"]
    assert row["encoder"] == "rows" and row["scale"] == "smoke"
    stored = course.card("counting").notebook.read_text("utf-8")
    assert "widget-view" not in stored and "Run this cell to move" in stored and str(
        course.root) not in stored
    board = (course.root / "data" / "leaderboard.json").read_bytes()
    edit(course.notebooks / "01_counting.md", '"test", 4, 1.0, 7', '"test", 4, 2.0, 7')
    build(["counting"], course=course, scale="smoke")
    # other seconds alone are no news
    assert (course.root / "data" / "leaderboard.json").read_bytes() == board


def write_board(path, *rows: tuple[str, str, float]) -> None:
    path.write_text(json.dumps({"format": 1, "rows": [
        {"encoder": encoder, "lesson": lesson, "scores": {"s": {"spearman": score}}, "seconds": 1.0}
        for encoder, lesson, score in rows]}))


def read_board(path) -> list[tuple[str, float]]:
    return [(row["encoder"], row["scores"]["s"]["spearman"])
            for row in json.loads(path.read_text("utf-8"))["rows"]]


def test_the_committed_board_is_in_the_order_of_the_lessons(tmp_path):
    drawn, target = tmp_path / "drawn.json", tmp_path / "board.json"
    write_board(drawn, ("a", "two", 0), ("b", "other", 0), ("c", "one", 0), ("d", "two", 0))
    _keep_board(drawn, target, ["one", "two"])
    assert [encoder for encoder, _ in read_board(target)] == ["c", "a", "d", "b"]


def test_rows_that_another_build_wrote_meanwhile_stay(tmp_path):
    drawn, target = tmp_path / "drawn.json", tmp_path / "board.json"
    write_board(target, ("a", "one", 0.1), ("new", "two", 0.9))
    write_board(drawn, ("a", "one", 0.5), ("b", "one", 0.6), ("old", "two", 0.2))
    _keep_board(drawn, target, ["one", "two"], lesson="one")
    assert read_board(target) == [("a", 0.5), ("b", 0.6), ("new", 0.9)]
