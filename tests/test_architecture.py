"""What holds for the whole tree: rooms import downwards, all that is public is documented, nothing
can run code from a file, names are the field's. Each test lists all that offends."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lessons_lib import ROOMS
from lessons_lib.core import PROJECT

LIBRARY = sorted((PROJECT / "lessons_lib").rglob("*.py"))
BANNED_IMPORTS = {"pickle", "joblib", "dill", "marshal", "shelve", "cloudpickle"}
BANNED_CALLS = re.compile(r"eval|exec|torch\.load|yaml\.load|torch\.manual_seed"
                          r"|np\.random\.(?!Generator|PCG64|SeedSequence|default_rng)\w+")
TALKS_TO_A_PERSON = ("cli", "bootstrap.py", "__main__.py", "lesson", "publish")
NO_TOPIC = {"utils", "helpers", "misc", "common"}
PERSONAL = re.compile(r"(/home/\w+/|/Users/\w+/|/root/|/work/|[A-Z]:\\Users\\)")
TEXTS = {".py", ".md", ".toml", ".yml", ".ipynb", ".svg", ".json", ".tsv", ".txt"}


def trees() -> Iterator[tuple[str, ast.Module]]:
    """The name of each file of the library, and its syntax tree."""
    for path in LIBRARY:
        yield path.relative_to(PROJECT).as_posix(), ast.parse(path.read_text("utf-8"))


def run(*command: str) -> str:
    """What a module's command says where it fails; "" where all is well."""
    done = subprocess.run([sys.executable, *command], cwd=PROJECT, capture_output=True, text=True)
    return done.stdout[-3000:] + done.stderr[-1000:] if done.returncode else ""


def test_rooms_import_only_downwards():
    assert not run("-c", "from importlinter.cli import lint_imports_command as run; run()")


def test_the_code_is_lint_clean():
    assert not run("-m", "ruff", "check", "lessons_lib", "tests")


def undocumented(name: str, tree: ast.Module) -> Iterator[str]:
    """The public things of a file that have no docstring; the file itself is one of them."""
    if not ast.get_docstring(tree):
        yield name
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                yield f"{name}:{node.lineno} {node.name}"
            if isinstance(node, ast.ClassDef):
                yield from undocumented_methods(name, node)


def undocumented_methods(name: str, cls: ast.ClassDef) -> Iterator[str]:
    """Those of a class; what a protocol asks for is said once, for the whole."""
    if any(ast.unparse(base) in ("Protocol", "NamedTuple") for base in cls.bases):
        return
    for method in cls.body:
        public = isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
        if not public or any(ast.unparse(d).endswith(".setter") for d in method.decorator_list):
            continue                              # a property's getter says what it is
        if not ast.get_docstring(method):
            yield f"{name}:{method.lineno} {cls.name}.{method.name}"


def test_everything_public_is_documented():
    offenders = [one for name, tree in trees() for one in undocumented(name, tree)]
    assert not offenders, "Write a docstring for each:\n" + "\n".join(offenders)
    assert all((PROJECT / "lessons_lib" / room / "__init__.py").is_file() for room in ROOMS)


def banned(name: str, tree: ast.Module) -> Iterator[str]:
    """Imports and calls that could run code from a file, draw from global chance, or print."""
    talks = name.split("/")[1] in TALKS_TO_A_PERSON
    for node in ast.walk(tree):
        for what in banned_here(node):
            if what != "print" or not talks:
                yield f"{name}:{node.lineno} {what}"


def banned_here(node: ast.AST) -> Iterator[str]:
    """What is wrong with one node."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    else:
        modules = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
    yield from (f"import {m}" for m in modules if m.split(".")[0] in BANNED_IMPORTS)
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called == "print" or BANNED_CALLS.fullmatch(called):
            yield called
        for keyword in node.keywords:
            if keyword.arg in ("allow_pickle", "shell") and getattr(keyword.value, "value", False):
                yield f"{called}({keyword.arg}=True)"


def test_no_code_can_be_run_from_a_file_and_the_library_does_not_print():
    offenders = [one for name, tree in trees() for one in banned(name, tree)]
    assert not offenders, "Not in the library:\n" + "\n".join(offenders)


@pytest.mark.parametrize("line", [
    "import pickle", "from joblib import load", "import dill.source", "eval(text)",
    "torch.load(path)", "np.random.seed(0)", "torch.manual_seed(0)", "print(1)",
    "np.load(path, allow_pickle=True)", "subprocess.run(text, shell=True)"])
def test_security_what_is_banned_is_found(line):
    plain = "import json\nnp.random.Generator(x)\nnp.load(p, allow_pickle=False)\nmodel.eval()\n"
    assert len(list(banned("lessons_lib/core/x.py", ast.parse(f"{plain}\n{line}")))) == 1
    assert not list(banned("lessons_lib/core/x.py", ast.parse(plain)))


def test_files_are_named_after_a_topic_and_name_nobody_s_machine():
    offenders = [f"{path}: no topic" for path in LIBRARY if path.stem in NO_TOPIC]
    command = ["git", "ls-files"]
    tracked = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True).stdout
    for name in tracked.splitlines():
        path = PROJECT / name
        if path.suffix in TEXTS and path.name != "test_architecture.py" and path.exists():
            found = PERSONAL.search(path.read_text("utf-8", "replace"))
            offenders += [f"{name}: {found[0]}"] if found else []
    assert not offenders, "Rename, or take the path out:\n" + "\n".join(offenders)
