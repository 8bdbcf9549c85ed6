"""Paper: with a browser and without."""

from __future__ import annotations

import pytest

from lessons_lib.core import BackendUnavailable
from lessons_lib.publish.web import find_chromium, print_pages, printing

NEEDS_BROWSER = pytest.mark.skipif(find_chromium() is None, reason="no Chromium, Chrome or Edge is installed")


def test_without_a_browser_the_remedy_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(printing, "find_chromium", lambda: None)
    with pytest.raises(BackendUnavailable, match="no browser to print with: none of chromium, .* set LESSONS_BROWSER"):
        print_pages([tmp_path / "a.html"], tmp_path / "pdf")
    assert not (tmp_path / "pdf").exists()


def test_a_browser_can_be_named(monkeypatch):
    monkeypatch.setenv("LESSONS_BROWSER", "my-browser")
    assert find_chromium() == "my-browser"


@pytest.mark.slow
@NEEDS_BROWSER
def test_a_page_becomes_a_pdf(tmp_path):
    page = tmp_path / "a page.html"
    page.write_text("<h1>Paper</h1>", "utf-8")
    (pdf,) = print_pages([page], tmp_path / "pdf")
    assert pdf.name == "a page.pdf" and pdf.read_bytes().startswith(b"%PDF")
