"""The tested solutions as cells that stand alone, for the teacher's copy of an assignment."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
import textwrap
import types
from typing import Any

from ..exercises import Exercise, solution_text
from .tasks import Task

__all__ = ["solved_cell"]


def _without_annotations(source: str) -> str:
    """The source of a function without annotations, as stubs are written."""
    whole, spans = source.encode(), []
    starts = [0, *itertools.accumulate(len(line) + 1 for line in whole.split(b"\n"))]

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg) and node.annotation is not None:
            spans.append((at(node.lineno, node.col_offset) + len(node.arg.encode()),
                          at(node.annotation.end_lineno, node.annotation.end_col_offset)))
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            start = at(node.returns.lineno, node.returns.col_offset)
            spans.append((whole.rindex(b" ->", 0, start),
                          at(node.returns.end_lineno, node.returns.end_col_offset)))
    for start, end in sorted(spans, reverse=True):
        whole = whole[:start] + whole[end:]
    return whole.decode()


def _global_names(code: types.CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return set(code.co_names).union(*map(_global_names, inner))


def _needed(function: Any) -> tuple[list[str], list[str]]:
    """Import lines, and the sources of helpers, that a function needs to stand alone."""
    imports, helpers = [], []
    for name in sorted(_global_names(function.__code__) & set(function.__globals__)):
        value = function.__globals__[name]
        if isinstance(value, types.ModuleType):
            whole = value.__name__
            imports.append(f"import {whole}" if whole == name else f"import {whole} as {name}")
        elif inspect.isfunction(value) and value.__module__ == function.__module__:
            more = _needed(value)
            imports += more[0]
            source = textwrap.dedent(inspect.getsource(value)).rstrip()
            helpers += [*more[1], _without_annotations(source)]
        elif getattr(sys.modules.get(getattr(value, "__module__", "") or ""), name, None) is value:
            imports.append(f"from {value.__module__} import {name}")
    return list(dict.fromkeys(imports)), list(dict.fromkeys(helpers))


def solved_cell(task: Task, exercise: Exercise) -> str:
    """The answer of an exercise as code, bound to the name that the task asks for."""
    text = solution_text(exercise)
    if not callable(exercise.solution):
        return f"{task.variable} = {text.replace('array(', 'np.array(')}"
    if "@triton.jit" in task.stub:
        return f"@triton.jit\n{text}"
    imports, helpers = _needed(inspect.unwrap(exercise.solution))
    alias = [] if exercise.name == task.variable else [f"{task.variable} = {exercise.name}"]
    return "\n".join([*imports, *helpers, _without_annotations(text), *alias])
