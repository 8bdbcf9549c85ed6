"""The extra set and its absence, and folders that are not ours."""

from __future__ import annotations

import pytest

from lessons_lib.core import BackendUnavailable
from lessons_lib.locking import install_line, pins_of
from lessons_lib.publish.web import assets, build_site, build_slides, site_missing
from lessons_lib.publish.web.assets import PACKAGES, check_out, keep


@pytest.fixture
def absent(monkeypatch):
    def version(name):
        if name in ("myst-nb", "sphinx-revealjs"):
            raise assets.metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(assets.metadata, "version", version)


def test_without_the_extra_set_the_command_that_gets_it_is_named(absent, folder):
    assert site_missing() == f"myst-nb, sphinx-revealjs are not installed: {install_line('site')}"
    for make in (lambda: build_site(folder), lambda: build_slides(["one_hot"], folder)):
        with pytest.raises(BackendUnavailable, match="are not installed"):
            make()
    assert not folder.exists()


def test_somebody_s_files_are_left_alone(folder):
    folder.mkdir()
    check_out(folder, "site")
    (folder / "thesis.txt").write_text("x", "utf-8")
    with pytest.raises(ValueError, match="holds other files; .* one that `lessons site` made"):
        check_out(folder, "site")
    with pytest.raises(ValueError, match="is a file; expected a folder"):
        check_out(folder / "thesis.txt", "site")
    assert (folder / "thesis.txt").read_text("utf-8") == "x"


def test_what_was_made_before_is_replaced(folder, tmp_path):
    for text in ("old", "new"):
        made = tmp_path / "fresh"
        made.mkdir()
        (made / f"{text}.html").write_text(text, "utf-8")
        keep(made, folder, "site")
    assert [path.name for path in folder.glob("*.html")] == ["new.html"]
    with pytest.raises(ValueError, match="one that `lessons slides` made"):
        check_out(folder, "slides")


def test_what_is_looked_for_is_what_the_extra_set_installs():
    assert {pin.split("==")[0]
            for pin in set(pins_of("site")) - set(pins_of(None))} == set(PACKAGES)
