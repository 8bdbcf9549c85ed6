"""The values behind an assertion that failed: which part is not true, and what its names hold.

``AssertionError`` alone says neither. `lessons run` therefore asks the kernel of a lesson that
stopped, before it ends it: `show_values` finds the ``assert`` in the last traceback and prints
``expression = value`` for the part that decided. Every lesson is asked when it fails.
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..core import shown

__all__ = ["failed_assertion", "false_values", "show_values"]

MAX_VALUES = 8
MAX_CHARACTERS = 80
Evaluate = Callable[[str], Any]
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp)
HAVE_VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.IfExp)


def failed_assertion(error: BaseException | None) -> tuple[ast.Assert, types.FrameType] | None:
    """The ``assert`` statement that raised an error, and the frame it ran in.

    None where no ``assert`` raised the error, or its source is not at hand.
    """
    place = getattr(error, "__traceback__", None)
    if not isinstance(error, AssertionError) or place is None:
        return None
    while place.tb_next is not None:
        place = place.tb_next
    try:
        tree = ast.parse("".join(linecache.getlines(place.tb_frame.f_code.co_filename)))
    except SyntaxError:
        return None
    around = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)
              and node.lineno <= place.tb_lineno <= node.end_lineno]
    return (around[-1], place.tb_frame) if around else None


def false_values(test: ast.expr, evaluate: Evaluate) -> Iterator[str]:
    """Why the condition of an assertion does not hold, outer values first.

    ``evaluate`` gives the value of an expression's text where the assertion stood. Yields the part
    that is not true, if not the whole, then at most 8 lines ``expression = value`` of 80 characters
    each side. What raises, and functions and modules, are left out; nothing is raised.
    """
    part = _deciding_part(test, evaluate)
    if part is not test:
        yield f"not true: {_cut(ast.unparse(part))}"
    element = _first_false_element(part, evaluate)
    lines = element if element is not None else _values(part, evaluate)
    for _, line in zip(range(MAX_VALUES), lines, strict=False):
        yield line


def show_values() -> None:
    """Print, in a kernel, why the last assertion failed; nothing after any other error."""
    from IPython import get_ipython

    failed = failed_assertion(getattr(sys, "last_value", None))
    if failed is None:
        return
    statement, frame = failed
    shell = get_ipython()
    # Into its own names, because a comprehension sees globals only; the kernel runs nothing more.
    shell.user_ns.update(frame.f_globals | frame.f_locals)
    for line in false_values(statement.test, shell.ev):
        print(line, flush=True)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def _deciding_part(test: ast.expr, evaluate: Evaluate) -> ast.expr:
    """Of ``a and b`` the first that is not true, of ``a if c else b`` the branch that was taken, of
    ``a < b < c`` the link that breaks; else the whole."""
    parts: list[ast.expr] = []
    try:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            parts = test.values
        elif isinstance(test, ast.IfExp):
            branch = test.body if evaluate(ast.unparse(test.test)) else test.orelse
            return _deciding_part(branch, evaluate)
        elif isinstance(test, ast.Compare) and len(test.ops) > 1:
            sides = [test.left, *test.comparators]
            parts = [ast.Compare(left, [op], [right])
                     for left, op, right in zip(sides, test.ops, sides[1:], strict=False)]
        for part in parts:
            if not evaluate(ast.unparse(part)):
                return _deciding_part(part, evaluate)
    except Exception:
        return test                              # what cannot be asked again is shown as a whole
    return test


def _first_false_element(part: ast.expr, evaluate: Evaluate) -> list[str] | None:
    """Of ``all(condition for x in many)`` the values of the first ``x`` that breaks it."""
    if not (isinstance(part, ast.Call) and ast.unparse(part.func) == "all" and part.args
            and isinstance(part.args[0], COMPREHENSIONS)):
        return None
    many = part.args[0]
    names = [node for one in many.generators for node in ast.walk(one.target)
             if isinstance(node, ast.Name)]
    asked = list({ast.unparse(n): n for n in (*names, *_parts_with_values(many.elt))}.values())
    last = many.generators[-1]
    broken = ast.comprehension(last.target, last.iter,
                               [*last.ifs, ast.UnaryOp(ast.Not(), many.elt)], last.is_async)
    search = ast.GeneratorExp(ast.Tuple(asked, ast.Load()), [*many.generators[:-1], broken])
    try:
        values = evaluate(f"next({ast.unparse(search)})")
    except Exception:
        return None
    return [_line(node, value) for node, value in zip(asked, values, strict=True) if _tells(value)]


def _values(part: ast.expr, evaluate: Evaluate) -> Iterator[str]:
    for node in {ast.unparse(node): node for node in _parts_with_values(part)}.values():
        try:
            value = evaluate(ast.unparse(node))
            line = _line(node, value) if _tells(value) else None
        except Exception:                # its name is bound elsewhere, or its repr is broken
            continue
        if line:
            yield line


def _parts_with_values(node: ast.expr) -> Iterator[ast.expr]:
    """Expressions inside an expression that can be asked for alone, outer ones first."""
    waiting = [node]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, HAVE_VALUES):
            yield node
        if isinstance(node, (*COMPREHENSIONS, ast.DictComp)):
            waiting.append(node.generators[0].iter)      # all else hangs on names of its own
        elif not isinstance(node, ast.Lambda):
            waiting.extend(child for child in ast.iter_child_nodes(node)
                           if isinstance(child, (ast.expr, ast.keyword)))


def _tells(value: Any) -> bool:
    return not (callable(value) or isinstance(value, types.ModuleType))


def _line(node: ast.expr, value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape == () and hasattr(value, "item"):
        value = value.item()                             # 0.61 instead of np.float64(0.61)
    text = " ".join(shown(value, 10 * MAX_CHARACTERS).split())
    if isinstance(shape, tuple) and shape:
        text = f"shape {tuple(shape)}, {text}"
    return f"{_cut(ast.unparse(node))} = {_cut(text)}"
