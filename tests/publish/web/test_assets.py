"""The extra set and its absence, and folders that are not ours."""

from __future__ import annotations

import re

import pytest

from lessons_lib import bootstrap
from lessons_lib.core import BackendUnavailable
from lessons_lib.locking import EXTRAS, PYTHONS, extra_lock, install_line
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
    with pytest.raises(ValueError, match=r"holds other files; expected a new or empty folder, or one that `lessons site` made"):
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


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_of_the_extra_set_changes_nothing_of_the_course(python):
    number = tuple(map(int, python.split(".")))

    def locked(path) -> dict[str, str]:
        return dict(re.findall(r"^([\w.\-]+)==(\S+)", path.read_text("utf-8"), re.M))

    extra, plain = locked(extra_lock("site", number)), locked(bootstrap.lock_file(number))
    assert "site" in EXTRAS and plain.items() <= extra.items() and set(PACKAGES) <= set(extra)
