"""Library code shown where a lesson speaks of it, read from the running library, never copied.

Used by ``lesson.source``.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from ..core import shown

__all__ = ["source_markdown"]

PACKAGE = Path(__file__).resolve().parent.parent


def _unwrapped(thing: Any) -> Any:
    """The Python function inside a decorated, compiled or bound one."""
    if isinstance(thing, property):
        thing = thing.fget
    # numba keeps the original in py_func
    thing = getattr(thing, "py_func", getattr(thing, "__func__", thing))
    return inspect.unwrap(thing) if callable(thing) else thing


def _without_docstrings(source: str) -> str:
    """The code with every docstring cut out; a body that was only a docstring keeps it."""
    lines = source.splitlines()
    drop: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
                             ast.Module)) and ast.get_docstring(node) and len(node.body) > 1:
            drop.update(range(node.body[0].lineno - 1, node.body[0].end_lineno))
    kept = "\n".join(line for i, line in enumerate(lines) if i not in drop)
    return re.sub(r"\n{3,}", "\n\n\n", kept).strip("\n")


def _place(thing: Any) -> str:
    file = Path(inspect.getsourcefile(thing)).resolve()
    if file.is_relative_to(PACKAGE):
        return file.relative_to(PACKAGE.parent).as_posix()
    return f"{inspect.getmodule(thing).__name__} (not of this course)"


def source_markdown(thing: Any, *, docstring: bool = True) -> str:
    """Markdown with place, relative to the project, and code of a function, class or module.

    Raises TypeError for what has no Python source (a value, a compiled function).
    """
    inner = _unwrapped(thing)
    try:
        source, place = textwrap.dedent(inspect.getsource(inner)).rstrip(), _place(inner)
    except (TypeError, OSError):
        raise TypeError(f"obj={shown(thing)} is {type(thing).__name__} and has no Python source; "
                        "expected a function, class or module") from None
    source = source if docstring else _without_docstrings(source)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source)), default=0))
    return f"`{place}`\n\n{fence}python\n{source}\n{fence}"
