"""Rules for the code of a lesson: short cells, no installs, no shell, no global chance, nothing
that runs foreign code.

Torch may be seeded, because its dropout draws from nothing else. An assertion that fails on a
reader's machine says in words what was expected, with the numbers found. Used by ``lessons
build``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ..lesson.course import LessonCard
from .problem import Problem

__all__ = ["code_problems"]

MAX_CELLS, MAX_LINES = 45, 20
FORBIDDEN_CALLS = {"eval": "runs text as code", "exec": "runs text as code",
                   "compile": "runs text as code"}
FORBIDDEN_IMPORTS = {"pickle", "joblib", "dill", "marshal", "shelve", "subprocess", "random"}
GLOBAL_CHANCE = re.compile(r"(^|\.)(np|numpy)\.random\.(?!Generator\b|default_rng\b)\w+$"
                           r"|^torch\.seed$|^random\.\w+$")


def _dotted(node: ast.AST) -> str:
    """``np.random.seed`` for the expression of that name, "" for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _holds_a_value(message: ast.expr | None) -> bool:
    """Whether an assertion's message holds a value: f"{x}", "{}".format(x) or "%s" % x."""
    match message:
        case ast.JoinedStr(values=parts):
            return any(isinstance(part, ast.FormattedValue) for part in parts)
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="format"), args=values,
                      keywords=named):
            return bool(values or named)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _holds_a_value(left) or _holds_a_value(right)
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()):
            return True
    return False


def _tree_problems(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _dotted(node.func)
            if name in FORBIDDEN_CALLS:
                yield f"{name}() {FORBIDDEN_CALLS[name]}"
            elif GLOBAL_CHANCE.search(name):
                yield f"{name} uses global chance; draw from lesson.rng or lesson.generator"
            elif name.startswith("sys.path."):
                yield f"{name} changes where Python looks for modules; the library is installed"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = ([alias.name for alias in node.names] if isinstance(node, ast.Import)
                     else [node.module or ""])
            if bad := sorted({name.split(".")[0] for name in names} & FORBIDDEN_IMPORTS):
                yield f"imports {', '.join(bad)}, which lessons do not use"
        elif isinstance(node, ast.Assert) and not _holds_a_value(node.msg):
            lacks = "no message" if node.msg is None else "a message without a value"
            yield (f"`{ast.unparse(node)[:60]}` has {lacks}; say in words what was expected, with "
                   "the numbers found: assert a < b, f'… {a}, {b}'")


def _cell_problems(source: str) -> Iterator[tuple[str, str]]:
    """(rule, message) for one cell that parses."""
    if (n := sum(bool(line.strip()) for line in source.splitlines())) > MAX_LINES:
        yield "length", f"{n} lines of code; at most {MAX_LINES}"
    for message in _tree_problems(ast.parse(source)):
        yield "code", message


def code_problems(card: LessonCard, notebook: Any) -> list[Problem]:
    """Everything the rules find in the code cells of a lesson."""
    problems, n_cells = [], 0
    for i, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        n_cells += 1
        if re.search(r"^\s*[!%]", cell.source, re.MULTILINE):
            problems.append(Problem(card.id, "code", "a shell line or magic; lessons run as plain "
                                    "Python on every system", i))
            continue
        try:
            problems += [Problem(card.id, rule, message, i)
                         for rule, message in _cell_problems(cell.source)]
        except SyntaxError as error:
            problems.append(Problem(card.id, "code",
                                    f"line {error.lineno} is not Python: {error.msg}", i))
    if n_cells > MAX_CELLS:
        problems.append(Problem(card.id, "length", f"{n_cells} code cells; at most {MAX_CELLS}"))
    return problems
