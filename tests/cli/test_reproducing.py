"""``lessons reproduce``: one entry or all, resumable, each failure told in the table."""

from __future__ import annotations

import dataclasses
import json
import os

import pytest

from lessons_lib import cli
from lessons_lib.core import DataMissing
from lessons_lib.plots import score_curves
from lessons_lib.reproduce import Claim, Entry
from lessons_lib.reproduce.trained import kept_folder

SETTINGS = {"n": 2, "rate": 0.5, "encoder": "lesson-bert", "sets": ["stsb", "sick"], "first": None,
            "training": {"steps": 4, "views": "dropout"}}
COUNTED: list[tuple[str, dict, int]] = []


def squares(settings, seed):
    COUNTED.append(("squares", settings, seed))
    return {"LessonBERT": {x: float(x * x) for x in range(1, settings["n"] + 1)}}


def draw(entry, measured):
    points = measured["LessonBERT"]
    return score_curves({"LessonBERT": (list(points), list(points.values()))}, title="Squares",
                        xlabel="x", ylabel="y")


def missing(settings, seed):
    raise DataMissing("stsb is not on this machine: get it\nsecond line")


GROW = Claim("squares of LessonBERT grow", lambda m: m["LessonBERT"][2] > m["LessonBERT"][1])
SHRINK = Claim("squares shrink", lambda m: m["LessonBERT"][2] < 1)
SQUARES = Entry(id="squares", paper="gao2021simcse", item="Table 1", lesson="one_hot", setup="none",
                measure=squares, draw=draw, alt="Line chart of squares of LessonBERT against "
                "numbers, rising.", printed={"LessonBERT": {1: 1.0, 2: 4.0}}, claims=(GROW,),
                scales={scale: dict(SETTINGS) for scale in ("smoke", "laptop", "paper")})
KNOWN = {"squares": SQUARES, "absent": dataclasses.replace(SQUARES, id="absent", measure=missing),
         "wrong": dataclasses.replace(SQUARES, id="wrong", claims=(GROW, SHRINK)),
         "told": dataclasses.replace(SQUARES, id="told", claims=(GROW, SHRINK),
                                     why="numbers above 1 grow when squared")}


def interrupted(settings, seed):
    raise KeyboardInterrupt


@pytest.fixture
def lessons(monkeypatch, capsys, tmp_path):
    """The command with toy entries and --out: its status, what it said, what it said aside."""
    COUNTED.clear()

    def call(*arguments, known=KNOWN, out=tmp_path / "out"):
        monkeypatch.setattr("lessons_lib.reproduce.entries", lambda: known)
        monkeypatch.setattr("sys.argv", ["lessons", "reproduce", *map(str, arguments),
                                         *(["--out", str(out)] if out else [])])
        code = cli.main()
        said = capsys.readouterr()
        return code, " ".join(said.out.split()), said.err

    return call


def test_all_goes_on_after_one_that_cannot_be_measured_and_tells_every_verdict(lessons, tmp_path):
    code, out, err = lessons("--all", "--scale", "smoke")
    assert code == 1
    assert "DataMissing: stsb is not on this machine" in out and "second line" not in out
    assert "numbers above 1 grow when squared" in out
    assert "no reason known: squares shrink" in " ".join(out.replace("│", " ").split())
    assert ("3 measured, 0 recorded before, 1 failed; failed, or a claim fails without a reason: "
            "absent, wrong") in out
    assert "[1/4] squares: Table 1 of gao2021simcse" in err and "FAILED absent" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        f"{name}.{end}" for name in ("squares", "told", "wrong") for end in ("json", "svg")]


def test_what_is_recorded_is_not_measured_again_unless_that_is_asked_for(lessons):
    known = {name: KNOWN[name] for name in ("squares", "told")}
    assert lessons("--all", known=known)[0] == 0 and len(COUNTED) == 2
    code, out, _ = lessons("--all", known=known)
    assert code == 0 and len(COUNTED) == 2 and "0 measured, 2 recorded before" in out
    assert "holds (1), recorded" in out.replace("│", "")
    for change in (("--seed", 3), ("--scale", "smoke"), ("--set", "n=3"), ("--again",)):
        before = len(COUNTED)
        assert lessons("--all", *change, known=known)[0] == 0 and len(COUNTED) == before + 2, change
    # named: measured
    assert lessons("squares", known=known)[0] == 0 and len(COUNTED) == before + 3


def test_again_forgets_finished_trainings_those_that_entries_share_too(lessons):
    kept = [kept_folder(name) for name in ("squares", "test_reproducing", "others")]
    for folder in kept:
        folder.mkdir(parents=True)
    lessons("squares")
    assert all(folder.exists() for folder in kept)
    lessons("squares", "--again")
    assert [folder.exists() for folder in kept] == [False, False, True]


def test_claims_that_changed_and_pictures_that_are_gone(lessons, tmp_path):
    lessons("--all", known={"squares": SQUARES})
    (tmp_path / "out" / "squares.svg").unlink()
    lessons("--all", known={"squares": SQUARES})
    # drawn from the record
    assert (tmp_path / "out" / "squares.svg").is_file() and len(COUNTED) == 1
    lessons("--all",
            known={"squares": dataclasses.replace(SQUARES, claims=(GROW, SHRINK), why="x")})
    assert len(COUNTED) == 2
    (tmp_path / "out" / "squares.json").write_text("{")
    assert lessons("--all", known={"squares": SQUARES})[0] == 0 and len(COUNTED) == 3


def test_P12_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(lessons):
    known = {"squares": SQUARES,
             "slow": dataclasses.replace(SQUARES, id="slow", measure=interrupted)}
    code, out, err = lessons("--all", known=known)
    assert code == 130 and "1 measured" in out and "stopped after 1 of 2 entries" in err
    code, out, _ = lessons("--all", known=known | {"slow": dataclasses.replace(SQUARES, id="slow")})
    assert code == 0 and "1 measured, 1 recorded before" in out


def test_settings_are_read_by_their_kind_and_the_model_is_named(lessons, tmp_path):
    model = tmp_path / "my-bert"
    code, out, _ = lessons("squares", "--set", "n=3", "--set", f"encoder={model}", "--set",
                           "sets=sick", "--set", "rate=2", "--set", "first=5", "--set",
                           "training.steps=9")
    assert code == 0, out
    assert COUNTED[0][1] == {"n": 3, "rate": 2.0, "encoder": str(model), "sets": ["sick"],
                             "first": 5, "training": {"steps": 9, "views": "dropout"}}
    assert SETTINGS["training"]["steps"] == 4
    assert "holds: squares of my-bert grow" in out and "LessonBERT" not in out
    record, picture = ((tmp_path / "out" / f"squares.{end}").read_text("utf-8")
                       for end in ("json", "svg"))
    assert json.loads(record)["settings"]["encoder"] == str(
        model) and "Line chart of squares of my-bert" in picture


@pytest.mark.parametrize(("arguments", "message"), [
    (("squars",), "id='squars' is unknown. Did you mean 'squares'"),
    (("squares", "--all"), "squares with --all"),
    (("squares", "--scale", "papers"), "Did you mean 'paper'"),
    (("squares", "--seed", "-1"), "seed=-1"),
    (("squares", "--set", "encodr=x"), "Did you mean 'encoder'"),
    (("squares", "--set", "encoder"), "is no key=value"),
    (("squares", "--set", "encoder="), "expected a word"),
    (("squares", "--set", "n=many"), "squares: n='many'; expected a whole number"),
    (("squares", "--set", "training.step=3"), "Did you mean 'training.steps'"),
    (("squares", "--set", "n=1.5"), "expected a whole number"),
    (("squares", "--set", "rate=nan"), "expected a finite number"),
    (("squares", "--set", "sets=,"), "expected a list"),
    (("squares", "--set", "n=1", "--set", "n=2"), "given twice"),
])
def test_P27_what_cannot_be_meant_is_said_before_anything_is_measured(lessons, arguments, message):
    code, out, err = lessons(*arguments)
    assert code == 2 and message in err and "Traceback" not in out + err and not COUNTED


def test_P21_a_folder_that_cannot_be_written_is_said_before_anything_is_measured(lessons, tmp_path):
    (tmp_path / "file").write_text("x")
    code, _, err = lessons("squares", out=tmp_path / "file" / "figures")
    assert code == 2 and "cannot write into" in err and not COUNTED
    if os.name == "posix" and os.geteuid():
        (tmp_path / "closed").mkdir(mode=0o500)
        code, _, err = lessons("squares", out=tmp_path / "closed")
        assert code == 2 and "nothing was measured" in err and not COUNTED


def test_other_scales_and_settings_leave_the_course_s_figures_alone(lessons, monkeypatch, tmp_path):
    monkeypatch.setattr("lessons_lib.reproduce.entry.PROJECT", tmp_path / "project")
    monkeypatch.setenv("LESSONS_OUTPUT", str(tmp_path / "output"))
    for arguments in (("--scale", "smoke"), ("--set", "n=3"), ()):
        assert lessons("squares", *arguments, out=None)[0] == 0
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json"))
    assert written == ["output/reproduced/laptop/squares.json",
                       "output/reproduced/smoke/squares.json", "project/figures/squares.json"]


def test_the_list_tells_scale_and_verdict_of_records(lessons):
    lessons("squares", "told")
    known = KNOWN | {"told": dataclasses.replace(KNOWN["told"], claims=(GROW,))}
    for arguments in ((), ("--list",)):
        code, out, _ = lessons(*arguments, known=known)
        assert code == 0 and "holds (1)" in out and "of another version" in out and "no" in out
