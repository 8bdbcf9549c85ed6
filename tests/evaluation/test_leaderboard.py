"""The leaderboard: rows survive other processes, damage and re-runs."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lessons_lib.core import DamagedFile, DataWarning, cache_folder
from lessons_lib.evaluation import Leaderboard

from .conftest import make_result


@pytest.fixture
def board(tmp_path: Path) -> Leaderboard:
    return Leaderboard(tmp_path / "leaderboard.json")


def test_a_new_leaderboard_is_empty_and_asking_creates_nothing(board):
    assert board.rows() == [] and board.datasets() == []
    assert "encoder" in board.to_text() and "<table>" in board.to_html()
    assert not board.path.exists()


def test_a_row_comes_back_as_it_was_added(board):
    results = {"stsb": make_result(),
               "sick": make_result("sick", 0.4, interval=None, alignment=None)}
    added = board.add("mean", "06_sif", results, seed=3, scale="smoke")
    (row,) = Leaderboard(board.path).rows()
    assert row == added
    assert row.spearman("stsb") == 0.5 and row.spearman("sts12") is None
    assert row.scores["stsb"]["interval"] == [0.45, 0.55] and row.scores["sick"]["interval"] is None
    assert (row.dim, row.seconds, row.seed, row.scale) == (300, 0.5, 3, "smoke")
    assert row.versions["numpy"] and row.versions["lessons_lib"]


def test_a_second_run_replaces_its_row_in_place_and_another_lesson_adds_one(board):
    board.add("mean", "06_sif", {"stsb": make_result()})
    board.add("bow", "02_bag_of_words", {"stsb": make_result(value=0.4)})
    board.add("mean", "06_sif", {"stsb": make_result(value=0.6)})
    board.add("mean", "07_doc2vec", {"stsb": make_result(value=0.1)})
    assert [(r.encoder, r.lesson, r.spearman("stsb")) for r in board.rows()] == [
        ("mean", "06_sif", 0.6), ("bow", "02_bag_of_words", 0.4), ("mean", "07_doc2vec", 0.1)]


def test_reset_removes_every_row(board):
    board.add("mean", "06_sif", {"stsb": make_result()})
    board.reset()
    assert board.rows() == []
    board.reset()


def test_the_default_file_lies_in_the_users_cache_and_the_scale_comes_from_the_environment(
        monkeypatch):
    monkeypatch.setenv("LESSONS_SCALE", "smoke")
    board = Leaderboard()
    assert board.path == cache_folder() / "leaderboard.json"
    assert board.add("mean", "06_sif", {"stsb": make_result()}).scale == "smoke"


def test_reference_reads_the_committed_rows():
    reference = Leaderboard.reference()
    assert reference.path.parts[-2:] == ("data", "leaderboard.json")
    assert isinstance(reference.rows(), list)


ADD = """
import sys
from lessons_lib.evaluation import Leaderboard, STSResult
for k in range(6):
    r = STSResult("stsb", "test", "all", 0.5, 0.5, None, None, -2.0, 0.1, 10, 1, 4, "e")
    Leaderboard(sys.argv[1]).add(f"{sys.argv[2]}-{k}", "lesson", {"stsb": r})
"""


def test_two_processes_that_add_rows_at_once_lose_none(board):
    processes = [subprocess.Popen([sys.executable, "-c", ADD, str(board.path), name])
                 for name in ("a", "b")]
    assert [p.wait(60) for p in processes] == [0, 0]
    assert {r.encoder for r in board.rows()} == {f"{name}-{k}" for name in "ab" for k in range(6)}


def test_threads_that_add_rows_at_once_lose_none(board):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: board.add(f"e{k}", "lesson", {"stsb": make_result()}), range(12)))
    assert len(board.rows()) == 12


ROW = {"encoder": "e", "lesson": "l", "scores": {"s": {"spearman": 0.5}}, "dim": 1, "seconds": 1.0,
       "seed": 0, "scale": "laptop", "versions": {}}


@pytest.mark.parametrize("content", [
    "", "{", "[]", "null", '{"rows": 5}', '{"rows": [5]}', '{"rows": [' * 5000, "\x00\x01",
    *(json.dumps({"rows": [row]}) for row in (
        {"encoder": "e"}, ROW | {"extra": 1}, ROW | {"scores": {"s": 5}}, ROW | {"dim": "x"},
        ROW | {"scores": {"s": {"spearman": float("nan")}}}, ROW | {"seconds": float("inf")},
        ROW | {"scores": {"s": {"spearman": 0.5, "interval": [float("nan"), 1.0]}}}))])
def test_F01_a_damaged_file_is_set_aside_with_one_warning_and_never_lost(board, content):
    board.path.write_text(content, encoding="utf-8")
    with pytest.warns(DataWarning, match=r"could not be read.*damaged-1.json") as caught:
        assert board.rows() == []
    assert len(caught) == 1
    aside = board.path.with_suffix(".damaged-1.json")
    assert aside.read_text(encoding="utf-8") == content
    board.add("mean", "06_sif", {"stsb": make_result()})
    board.path.write_text("{", encoding="utf-8")
    with pytest.warns(DataWarning, match=r"damaged-2.json"):
        board.add("mean", "06_sif", {"stsb": make_result()})
    assert aside.read_text(encoding="utf-8") == content and len(board.rows()) == 1


def test_F05_a_newer_format_is_left_alone_and_says_upgrade(board):
    board.path.write_text('{"format": 99, "rows": []}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"format 99.*up to 1; upgrade"):
        board.rows()
    with pytest.raises(ValueError, match="upgrade"):
        board.add("mean", "06_sif", {"stsb": make_result()})
    assert json.loads(board.path.read_text())["format"] == 99


def test_fault_6_a_held_lock_is_named_after_the_waiting_time(board, monkeypatch):
    from filelock import FileLock

    from lessons_lib.evaluation import leaderboard

    monkeypatch.setattr(leaderboard, "LOCK_SECONDS", 0.05)
    with FileLock(f"{board.path}.lock"), pytest.raises(TimeoutError,
                                                       match=r"leaderboard.json.lock for 0.05 s"):
        board.add("mean", "06_sif", {"stsb": make_result()})


def test_tables_show_a_dash_for_what_was_not_measured_and_stress_the_best(board):
    board.add("mean", "06_sif", {"stsb": make_result(value=0.612)})
    board.add("bow", "02", {"stsb": make_result(value=0.4), "sick": make_result("sick", 0.55)})
    lines = board.to_text().splitlines()
    assert lines[0].split() == ["lesson", "encoder", "stsb", "sick", "dim", "seconds"]
    assert lines[1].split()[2:4] == ["61.2", "–"] and lines[2].split()[2:4] == ["40.0", "55.0"]
    assert lines[:2] == ["lesson  encoder  stsb  sick  dim  seconds",
                         "06_sif  mean     61.2     –  300      0.2"]
    page = board.to_html()
    assert page.count("<b>") == 2 and "<b>61.2</b>" in page and "<b>55.0</b>" in page


def test_words_of_the_table_are_aligned_left_and_figures_right(board):
    board.add("mean", "06_sif", {"my own set": make_result()})
    assert board.to_text().splitlines() == ["lesson  encoder  my own set  dim  seconds",
                                            "06_sif  mean           50.0  300      0.2"]


def test_figures_of_a_set_are_not_hidden_by_the_same_encoder_on_another(board):
    board.add("mean", "word2vec", {"stsb": make_result(value=0.612)})
    board.add("mean", "search", {"sick": make_result("sick", 0.55)})
    assert board.figures("stsb") == {"mean": 0.612} and board.figures("sick") == {"mean": 0.55}
    assert board.figures("nothing") == {}


def test_the_text_can_follow_the_order_of_the_lessons(board):
    for lesson in ("c", "mine", "a", "b"):
        board.add(f"of {lesson}", lesson, {"stsb": make_result()})
    named = [line.split()[0] for line in board.to_text(lessons=["a", "b", "c"]).splitlines()[1:]]
    assert named == ["a", "b", "c", "mine"]


def test_names_are_escaped_in_html(board):
    board.add("<script>alert(1)</script>", "a&b", {"<i>": make_result("<i>")})
    page = board.to_html()
    assert "<script" not in page and "<i>" not in page
    assert "&lt;script&gt;" in page and "a&amp;b" in page


def test_a_folder_is_named_and_never_moved_or_removed(tmp_path):
    (tmp_path / "folder").mkdir()
    board = Leaderboard(tmp_path / "folder")
    for call in (board.rows, board.reset, lambda: board.add("e", "l", {"s": make_result()})):
        with pytest.raises(ValueError, match=r"path=.*folder' is no file"):
            call()
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_reference_is_read_only_while_the_same_path_is_not(monkeypatch, tmp_path):
    from lessons_lib.evaluation import leaderboard

    monkeypatch.setattr(leaderboard, "PROJECT", tmp_path)
    board = Leaderboard.reference()
    for call in (board.reset, lambda: board.add("e", "l", {"s": make_result()})):
        with pytest.raises(ValueError, match="written by `lessons build`"):
            call()
    Leaderboard(board.path).add("e", "l", {"s": make_result()})
    assert [r.encoder for r in board.rows()] == ["e"]
    board.path.write_text("{", encoding="utf-8")
    with pytest.raises(DamagedFile):
        board.rows()
    assert board.path.read_text(encoding="utf-8") == "{"
