"""What holds for the whole tree: rooms import downwards, nothing can run code from a file, names and sizes stay readable."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from lessons_lib import ROOMS
from lessons_lib.core import PROJECT

LIBRARY = sorted((PROJECT / "lessons_lib").rglob("*.py"))
TREES = {path.relative_to(PROJECT).as_posix(): ast.parse(path.read_text("utf-8")) for path in LIBRARY}
BANNED_IMPORTS = {"pickle", "joblib", "dill", "marshal", "shelve", "cloudpickle"}
BANNED_CALLS = re.compile(r"^(eval|exec|torch\.load|yaml\.load|np\.random\.(?!Generator|PCG64|SeedSequence|default_rng)\w+|torch\.manual_seed)$")


def test_rooms_import_only_downwards():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_code_is_lint_clean():
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "lessons_lib", "tests"], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_every_room_is_a_package_with_a_docstring():
    for room in ROOMS:
        assert ast.get_docstring(TREES[f"lessons_lib/{room}/__init__.py"])


@pytest.mark.parametrize("name", TREES)
def test_no_code_can_be_run_from_a_file(name):
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            assert not BANNED_IMPORTS & {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.module.split(".")[0] not in BANNED_IMPORTS
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert not BANNED_CALLS.match(called), f"{name}:{node.lineno} calls {called}"
            assert not any(k.arg == "allow_pickle" and getattr(k.value, "value", False) for k in node.keywords)
            assert not any(k.arg == "shell" and getattr(k.value, "value", False) for k in node.keywords)


def test_security_the_walker_finds_what_it_looks_for():
    assert BANNED_CALLS.match("np.random.seed") and BANNED_CALLS.match("torch.load") and not BANNED_CALLS.match("np.random.Generator")


@pytest.mark.parametrize("name", TREES)
def test_everything_public_is_documented(name):
    tree = TREES[name]
    assert ast.get_docstring(tree), f"{name} has no module docstring"
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{name}: {node.name} has no docstring"
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    inherited = any(ast.unparse(base) in ("Protocol", "NamedTuple") for base in node.bases)
                    assert inherited or ast.get_docstring(method), f"{name}: {node.name}.{method.name} has no docstring"


@pytest.mark.parametrize("name", TREES)
def test_the_library_never_prints(name):
    if name.split("/")[1] in ("cli", "bootstrap.py", "__main__.py", "lesson", "publish"):
        pytest.skip("this part talks to a person")
    prints = [n.lineno for n in ast.walk(TREES[name]) if isinstance(n, ast.Call) and ast.unparse(n.func) == "print"]
    assert prints == []


def test_there_is_no_room_called_utils():
    assert not [path for path in LIBRARY if path.stem in ("utils", "helpers", "misc", "common")]


def test_no_file_names_a_path_of_somebody_s_machine():
    tracked = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True).stdout.splitlines()
    personal = re.compile(r"(/home/\w+/|/Users/\w+/|/root/|/work/|[A-Z]:\\Users\\)")
    found = []
    for name in tracked:
        path = PROJECT / name
        if path.suffix in (".py", ".md", ".toml", ".yml", ".ipynb", ".svg", ".json") and path.name != "test_architecture.py" and path.exists():
            found += [name] if personal.search(path.read_text("utf-8", "replace")) else []
    assert found == []
