"""The command line: thin, and kind to a caller's mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from lessons_lib.core import PROJECT


def test_list_shows_every_lesson_with_its_question_and_an_unknown_command_says_so(lessons):
    code, out, _ = lessons("list")
    assert code == 0 and "01_one_hot" in out and "How far does counting get?" in out
    code, _, err = lessons("frobnicate")
    assert code == 2 and "frobnicate" in err


def test_data_list_names_datasets_and_where_they_were_found(lessons):
    code, out, _ = lessons("data", "list")
    assert code == 0 and "wikipedia-sample" in out and "gensim" in out and "course-sts" in out


def test_F19_a_missing_dataset_is_one_line_without_a_traceback(lessons, monkeypatch):
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    code, _out, err = lessons("evaluate", "TF-IDF", "--on", "sts12")
    assert code == 2 and err.startswith("lessons: sts12") and "lessons data get sts12" in err


@pytest.mark.parametrize(
    "arguments", [("evaluate", "TFIDF"), ("evaluate", "TF-IDF", "--on", "course-st"),
                  ("run", "one_hat"), ("lab", "one_hat"),
                  ("evaluate", "TF-IDF", "--protocol", "al"), ("run", "one_hot", "--scale", "lap")])
def test_P27_an_unknown_name_gets_the_nearest(lessons, arguments):
    code, _, err = lessons(*arguments)
    assert code == 2 and "Did you mean" in err


def test_evaluate_prints_spearman_times_100_with_its_interval(lessons):
    code, out, _ = lessons("evaluate", "one-hot")
    assert code == 0 and "course-sts" in out and "Spearman" in out and " to " in out


def test_reproduce_without_a_name_lists_the_figures_and_a_wrong_name_gets_the_nearest(lessons):
    code, out, _ = lessons("reproduce")
    assert code == 0 and "blei2003_table1" in out and "Figure 9" in out
    code, _, err = lessons("reproduce", "blei2003_table1", "blei2003_table")
    assert code == 2 and "Did you mean" in err


@pytest.mark.slow
def test_reproduce_shows_the_printed_number_beside_the_measured_one_and_writes_both(
        lessons, tmp_path):
    code, out, _ = lessons("reproduce", "blei2003_table1", "--scale", "smoke",
                       "--out", str(tmp_path))
    assert code == 0 and "7052" in out and "holds: pLSI with 100 topics" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["blei2003_table1.json",
                                                          "blei2003_table1.svg"]


def test_your_leaderboard_is_empty_at_first_and_only_yours_can_be_reset(lessons):
    assert lessons("leaderboard")[0] == lessons("leaderboard", "--reset")[0] == 0
    code, _, err = lessons("leaderboard", "--reset", "--reference")
    assert code == 2 and "only your rows can be reset" in err


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """The programs that commands would become; the reader's copies go to a folder of the test."""
    made = []
    monkeypatch.setattr("lessons_lib.cli.web.hand_over", lambda command: made.append(command) or 0)
    monkeypatch.setattr("lessons_lib.lesson.copies.WORK", tmp_path / "work")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    return made


@pytest.mark.parametrize(("arguments", "notebook", "options"),
                         [((), "course.md", []),
                          (("--no-browser",), "course.md", ["--no-browser"]),
                          (("one_hot", "--port=9"), "01_one_hot.ipynb", ["--port=9"])])
def test_lab_opens_the_copy_of_a_lesson_and_passes_options_on(
        lessons, monkeypatch, calls, tmp_path, arguments, notebook, options):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    code, out, _ = lessons("lab", *arguments)
    command, copy = calls[0], tmp_path / "work" / notebook
    assert code == 0 and f"Your copies of the lessons: {copy.parent}" in out
    assert command[3] == str(copy) and copy.is_file()
    extensions = copy.parent / ".course" / "labextensions"
    assert command[5:] == ["--ServerApp.ip=127.0.0.1",
                           f"--LabApp.extra_labextensions_path={extensions}", *options]
    assert list(extensions.glob("*/package.json"))
    # kernels find the library
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(PROJECT), "elsewhere"]
    assert not any("token" in part or "allow-root" in part for part in command)
    code, out, _ = lessons("lab", *arguments)
    assert code == 0 and out == "" and calls[1] == command


def test_lab_goes_on_where_the_reader_left_off(lessons, calls, tmp_path):
    assert lessons("lab")[0] == 0
    (window,) = (tmp_path / "work" / ".course" / "workspaces").iterdir()
    kept = json.loads(window.read_text("utf-8"))
    assert kept["data"]["layout-restorer:data"]["left"]["current"] == "@jupyterlab/toc:plugin"
    kept["data"]["notebook:04_word2vec.ipynb"] = {}
    window.write_text(json.dumps(kept), "utf-8")
    assert lessons("lab")[0] == lessons("lab", "one_hot")[0] == 0
    assert calls[1][3] == f"--ServerApp.root_dir={tmp_path / 'work'}"
    assert calls[2][3].endswith("01_one_hot.ipynb"), "a lesson that is named is opened"
    window.write_text("{", "utf-8")
    assert lessons("lab")[0] == 0 and calls[3][3].endswith("course.md")


def test_lab_opens_the_first_lesson_where_the_reader_s_own_file_has_the_page_s_name(lessons, calls,
                                                                                    tmp_path):
    own = tmp_path / "work" / "course.md"
    own.parent.mkdir()
    own.write_text("my notes", "utf-8")
    assert lessons("lab")[0] == 0 and calls[0][3].endswith("00_start_here.ipynb")
    assert own.read_text("utf-8") == "my notes"


def test_lab_opens_the_notebook_that_a_run_kept(lessons, monkeypatch, tmp_path, calls):
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "failed" / "00_start_here.ipynb"
    kept.parent.mkdir()
    kept.write_text("{}")
    assert lessons("lab", "failed/00_start_here.ipynb")[0] == 0 and calls[0][3] == str(kept)
    code, _, err = lessons("lab", "failed/01_one_hot.ipynb")
    assert code == 2 and "unknown" in err


def test_the_doctor_speaks_in_plain_words(lessons):
    _, out, _ = lessons("doctor")
    for word in ("system", "memory", "kernels", "packages", "data here", "lessons"):
        assert word in out
    assert "pins of environment.yml are met" in " ".join(out.split())


@pytest.mark.skipif(sys.platform != "linux", reason="names that other systems refuse")
@pytest.mark.parametrize(("encoding", "shown"), [("ascii", "\\u4e2d"), ("utf-8", "中")])
def test_a_console_without_the_letters_of_a_text_gets_their_numbers(tmp_path, encoding, shown):
    (tmp_path / "中.ipynb").write_text("{")
    with open(os.fsencode(tmp_path) + b"/\xff.ipynb", "w") as file:
        file.write("{")
    done = subprocess.run([sys.executable, "-m", "lessons_lib", "progress", tmp_path],
                          env=os.environ | {"PYTHONIOENCODING": encoding}, capture_output=True)
    out = done.stdout.decode(encoding)
    assert done.returncode == 0 and shown in out and "\\udcff" in out, done.stderr


@pytest.mark.parametrize("command", ["list", "house"])
def test_who_reads_a_part_of_the_output_sees_no_error(command):
    command = [sys.executable, "-m", "lessons_lib", command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() in (1, 141)


def test_brackets_and_line_ends_in_a_title_are_no_markup(capsys):
    from lessons_lib.cli.show import show_table

    show_table("a [/b] [red]c\nd\x1b[0m", ["e" * 30], [["f\x1b[2J"]])
    out = capsys.readouterr().out
    assert "a [/b] [red]c\\nd\\x1b[0m" in out and "f\\x1b[2J" in out


@pytest.mark.parametrize("arguments", [("encode", "~nosuch/x", "t.txt", "--out", "o.npy"),
                                       ("evaluate", "~nosuch/x"), ("search", "~nosuch/x", "cat"),
                                       ("train", "word2vec", "~nosuch/x", "--out", "m")])
def test_the_home_of_nobody_is_one_line(lessons, monkeypatch, tmp_path, arguments):
    monkeypatch.chdir(tmp_path)
    code, _out, err = lessons(*arguments)
    assert code == 2 and "'~nosuch/x'" in err and len(err.splitlines()) == 1
