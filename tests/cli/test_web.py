"""``lessons site`` and ``lessons slides`` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons_lib.core import ProgramFailed
from lessons_lib.publish import web
from lessons_lib.publish.web import Site


@pytest.mark.parametrize("problems, status",
                         [((), 0), (("index.html: x leads nowhere [links]",), 1)])
def test_the_site_is_summed_up_and_its_problems_are_said(lessons, monkeypatch, tmp_path, problems,
                                                         status):
    printed = (tmp_path / "pdf" / "a.pdf",)
    monkeypatch.setattr(web, "build_site", lambda out, pdf: Site(out, 43, 28.9, 50.2, problems,
                                                                 printed if pdf else ()))
    code, out, _ = lessons("site", "--out", str(tmp_path), "--pdf")
    assert code == status and f"43 pages, 29 MB, 50 s: open {Path(tmp_path, 'index.html')}" in out
    assert "1 PDF files" in out
    assert all(problem in out for problem in problems)


def test_slides_go_to_the_output_folder_and_open_live(lessons, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setenv("LESSONS_OUTPUT", str(tmp_path))
    monkeypatch.setattr(web, "build_slides", lambda ids, out: {"one_hot": 10})
    monkeypatch.setattr("lessons_lib.cli.web.hand_over",
                        lambda command: opened.append(command) or 0)
    code, out, _ = lessons("slides", "one_hot", "--live")
    assert code == 0 and "one_hot: 10 slides" in out and str(
        tmp_path / "slides" / "live" / "01_one_hot.ipynb") in opened[0]
    # the deck mode that jupyterlab-slideshow keeps stays with the decks
    kept = [part for part in opened[0] if part.startswith("--LabApp.user_settings_dir=")]
    assert len(kept) == 1 and str(tmp_path / "slides") in kept[0]


@pytest.mark.parametrize("command", ["site", "slides"])
def test_somebody_s_folder_is_refused_in_one_line(lessons, monkeypatch, tmp_path, command):
    for module in ("site", "slides"):
        monkeypatch.setattr(f"lessons_lib.publish.web.{module}.check_installed", lambda: None)
    (tmp_path / "thesis.txt").write_text("x", "utf-8")
    code, _out, err = lessons(command, "--out", str(tmp_path))
    assert code == 2 and "holds other files" in err and len(list(tmp_path.iterdir())) == 1


def test_a_program_that_fails_is_quoted_without_a_traceback(lessons, monkeypatch, tmp_path):
    def failing(out: Path, pdf: bool) -> Site:
        raise ProgramFailed("Sphinx failed: no space left")

    monkeypatch.setattr(web, "build_site", failing)
    assert lessons("site", "--out",
               str(tmp_path)) == (2, "", "lessons: Sphinx failed: no space left\n")
