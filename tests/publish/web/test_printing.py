"""Paper: with a browser and without."""

from __future__ import annotations

import sys

import pytest

from lessons_lib.core import BackendUnavailable
from lessons_lib.publish.web import find_chromium, print_pages, printing, site

NEEDS_BROWSER = pytest.mark.skipif(find_chromium() is None,
                                   reason="no Chromium, Chrome or Edge is installed")


def test_without_a_browser_the_remedy_is_said_before_anything_is_made(monkeypatch, tmp_path):
    monkeypatch.setattr(printing, "find_chromium", lambda: None)
    monkeypatch.setattr(site, "check_installed", lambda: None)
    for call in (lambda: print_pages([tmp_path / "a.html"], tmp_path / "pdf"),
                 lambda: site.build_site(tmp_path / "site", pdf=True)):
        with pytest.raises(BackendUnavailable, match="none of chromium, .* set LESSONS_BROWSER"):
            call()
    assert not list(tmp_path.iterdir())


def test_a_browser_can_be_named_and_a_name_that_is_no_program_is_said_to_be_none(monkeypatch,
                                                                                 tmp_path):
    monkeypatch.setenv("LESSONS_BROWSER", sys.executable)
    assert find_chromium() == sys.executable
    monkeypatch.setenv("LESSONS_BROWSER", "my-browser")
    with pytest.raises(BackendUnavailable, match="LESSONS_BROWSER='my-browser' is no program"):
        print_pages([tmp_path / "a.html"], tmp_path / "pdf")


def test_a_browser_is_found_where_its_system_keeps_it(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(printing.shutil, "which",
                        lambda name: name if name.startswith("/Applications/Microsoft") else None)
    assert find_chromium().endswith("MacOS/Microsoft Edge")


def test_a_browser_that_prints_nothing_is_quoted_and_a_former_page_does_not_stand_for_it(
        monkeypatch, tmp_path):
    # there is one, as far as this test goes
    monkeypatch.setenv("LESSONS_BROWSER", sys.executable)
    monkeypatch.setattr(printing, "chromium_command",
                        lambda *_: [sys.executable, "-c", "import sys; sys.exit('no paper')"])
    (tmp_path / "a.pdf").write_bytes(b"%PDF of last week")
    with pytest.raises(RuntimeError, match=r"printed no a\.pdf: no paper"):
        print_pages([tmp_path / "a.html"], tmp_path)


@pytest.mark.slow
@NEEDS_BROWSER
def test_a_page_becomes_a_pdf(tmp_path):
    page = tmp_path / "a page.html"
    page.write_text("<h1>Paper</h1>", "utf-8")
    (pdf,) = print_pages([page], tmp_path / "pdf")
    assert pdf.name == "a page.pdf" and pdf.read_bytes().startswith(b"%PDF")
