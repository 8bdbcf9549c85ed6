"""Programs from npm: whole or not there, from a lock with checksums."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from lessons_lib import npm
from lessons_lib.core import BackendUnavailable


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An environment without any set."""
    monkeypatch.setattr(npm.sys, "prefix", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", npm.SETS)
def test_every_set_is_pinned_and_each_package_of_its_lock_has_a_checksum(name):
    wanted = json.loads((npm.LOCKS / name / "package.json").read_text("utf-8"))["dependencies"]
    packages = json.loads((npm.LOCKS / name / npm.LOCK).read_text("utf-8"))["packages"]
    assert packages.pop("")["dependencies"] == wanted and all(version[0].isdigit()
                                                              for version in wanted.values())
    assert packages and all(package["integrity"].startswith("sha512-")
                            for package in packages.values())


def test_a_set_that_is_not_there_is_told_with_its_command(empty, monkeypatch):
    monkeypatch.setattr(npm.shutil, "which", lambda name: "npm")
    assert npm.npm_missing("axe") == "the set 'axe' of npm is not installed: lessons npm axe"
    monkeypatch.setattr(npm.shutil, "which", lambda name: None)
    for call in (npm.installed, npm.install):
        with pytest.raises(BackendUnavailable, match=r"install Node\.js"):
            call("axe")
    with pytest.raises(ValueError, match="Did you mean 'axe'"):
        npm.npm_missing("axes")


def test_a_set_is_whole_or_absent(empty, monkeypatch):
    def runs(rc):
        def run(command, cwd, **_):
            assert command[1] == "ci" and "--ignore-scripts" in command
            (cwd / "node_modules").mkdir()
            return subprocess.CompletedProcess(command, rc, "", "no space")
        return run

    monkeypatch.setattr(npm.shutil, "which", lambda name: "npm")
    monkeypatch.setattr(npm.subprocess, "run", runs(1))
    with pytest.raises(RuntimeError, match="no space"):
        npm.install("axe")
    assert npm.npm_missing("axe") and not list(empty.rglob("node_modules"))
    monkeypatch.setattr(npm.subprocess, "run", runs(0))
    place = npm.install("axe")
    assert npm.npm_missing("axe") is None and npm.installed("axe") == place


def test_another_lock_makes_a_set_missing(empty, monkeypatch):
    place = empty / "share" / "embeddings-measured" / "npm" / "axe"
    shutil.copytree(npm.LOCKS / "axe", place)
    (place / "node_modules").mkdir()
    assert npm.npm_missing("axe") is None
    (place / npm.LOCK).write_text("{}")
    assert npm.npm_missing("axe")
