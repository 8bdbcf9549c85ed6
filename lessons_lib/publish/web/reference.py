"""The library's reference, a page for each room, made from its docstrings.

Signatures and docstrings are read from the source: a docstring is the text that stands in the code.
Only a class that declares its settings (`core.Estimator`) is imported, since its constructor and
its tables are made from the declarations, also from inherited ones. A name that a room exports
stands under the room (``lessons_lib.words.SkipGram``), any other under its module.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...core import PROJECT

__all__ = ["Item", "as_markdown", "items_of", "room_items", "room_page", "write_reference"]

LIBRARY = PROJECT / "lessons_lib"
CODE = re.compile(r"(``.+?``|`[^`\n]+`)", re.DOTALL)
MARKUP = re.compile(r"[\\*_$<{\[#|~]")
LISTS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Item:
    """One public thing: full name, kind as Sphinx names it, signature, docstring, members."""

    name: str
    kind: str
    signature: str
    text: str
    members: tuple[Item, ...] = ()


def as_markdown(docstring: str) -> str:
    """A docstring as Markdown: what is no code stands as it was written, examples become code
    blocks, and numpydoc sections that list things become tables.
    """
    lines, parts, start = inspect.cleandoc(docstring).split("\n"), [], 0
    heads = [i for i in range(len(lines) - 1) if lines[i] and set(lines[i + 1].strip()) == {"-"}]
    for at, end in zip(heads, [*heads, len(lines)][1:], strict=True):
        parts += _blocks("\n".join(lines[start:at]))
        body, start = "\n".join(lines[at + 2 : end]), end
        table = lines[at].strip() in LISTS
        parts += [f"**{lines[at].strip()}**", *([_table(body)] if table else _blocks(body))]
    return "\n\n".join([*parts, *_blocks("\n".join(lines[start:]))])


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, examples and indented code."""
    for block in filter(str.strip, re.split(r"\n\s*\n", text)):
        block = block.strip("\n")
        if block.lstrip().startswith(">>>"):
            yield f"```pycon\n{block}\n```"
        elif block.startswith("    "):
            yield f"```\n{inspect.cleandoc(block)}\n```"
        else:
            yield _escaped(block)


def _escaped(text: str) -> str:
    parts = CODE.split(text)
    parts[::2] = [MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def _table(body: str) -> str:
    """The rows of a numpydoc section: name, kind, meaning."""
    rows: list[list[str]] = []
    for line in filter(str.strip, body.split("\n")):
        if not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            rows.append([name, kind, ""])
        elif rows:
            rows[-1][2] = f"{rows[-1][2]} {line.strip()}".lstrip()
    # in a table a bar ends the cell, in code, too
    cells = [[_escaped(cell).replace("\\|", "|").replace("|", "\\|") for cell in row]
             for row in rows]
    return "\n".join(["| | | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in cells)])


def _decorators(node: ast.AST) -> set[str]:
    return {ast.unparse(d).split("(")[0].split(".")[-1] for d in node.decorator_list}


def _signature(node: ast.FunctionDef, *, bound: bool) -> str:
    arguments = copy.copy(node.args)
    if bound and not arguments.posonlyargs:
        arguments.args = arguments.args[1:]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(arguments)}){returns}"


def _members(node: ast.ClassDef, name: str) -> Iterator[Item]:
    for child in node.body:
        if isinstance(child, DEFINITIONS[:2]) and not child.name.startswith("_") and (
                text := ast.get_docstring(child)):
            marks = _decorators(child)
            if marks & {"setter", "deleter"}:
                continue
            is_property = bool(marks & {"property", "cached_property"})
            kind = ("property" if is_property else "staticmethod" if "staticmethod" in marks else
                    "classmethod" if "classmethod" in marks else "method")
            yield Item(f"{name}.{child.name}", kind,
                       "" if is_property else _signature(child, bound=kind != "staticmethod"), text)


def _class_signature(node: ast.ClassDef) -> str:
    start = next((child for child in node.body
                  if isinstance(child, ast.FunctionDef) and child.name == "__init__"), None)
    if start is not None:
        return _signature(start, bound=True).split(" -> ")[0]
    if "dataclass" not in _decorators(node):
        return ""
    fields = [ast.unparse(child) for child in node.body if isinstance(child, ast.AnnAssign)]
    return f"({', '.join(f for f in fields if f[0] != '_' and 'init=False' not in f)})"


def _declared(node: ast.ClassDef, module: str) -> tuple[str, str] | None:
    """Signature and docstring of a class with declared settings, None for any other."""
    makes_own = any(getattr(child, "name", "") == "__init__" for child in node.body)
    if makes_own or not node.bases or "dataclass" in _decorators(node):
        return None
    path = LIBRARY.joinpath(*module.split(".")[1:])
    if not (path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()):
        return None                              # a source that is no module of the library
    cls = None
    with suppress(ModuleNotFoundError):          # what needs an extra set declares no settings
        cls = getattr(importlib.import_module(module), node.name)
    if not getattr(cls, "_PARAMETERS", None):
        return None
    arguments = inspect.signature(cls).parameters.values()
    words = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in arguments]
    last = [i for i, p in enumerate(arguments) if p.kind is p.POSITIONAL_OR_KEYWORD]
    words.insert(last[-1] + 1 if last else 0, "*")
    return f"({', '.join(words)})", inspect.getdoc(cls) or ""


def _exported(tree: ast.Module) -> list[str] | None:
    """The names of ``__all__``, None where there is no plain list."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and "__all__" in map(ast.unparse, node.targets):
            with suppress(ValueError):
                return list(ast.literal_eval(node.value))
    return None


def _homes(tree: ast.Module, room: str) -> dict[str, str]:
    """Name -> module that defines it, for what a room's ``__init__`` imports or lists as lazy."""
    homes = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            homes |= {alias.asname or alias.name: f"{room}.{node.module}" for alias in node.names}
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    homes[key.value] = f"{room}.{value.value}"
                elif isinstance(key, ast.Constant) and isinstance(value, (ast.Tuple, ast.List)):
                    homes |= {name.value: f"{room}.{key.value}"
                              for name in value.elts if isinstance(name, ast.Constant)}
    return homes


def items_of(tree: ast.Module, module: str, homes: Mapping[str, str] | None = None) -> list[Item]:
    """The public functions and classes that a module defines, in the order of the file; ``homes``
    names the module of each name that its room offers under the room's own name.
    """
    public, homes = _exported(tree), homes or {}
    room, items = ".".join(module.split(".")[:2]), []
    for node in tree.body:
        if not isinstance(node, DEFINITIONS) or (node.name.startswith("_") if public is None
                                                 else node.name not in public):
            continue
        name = f"{room if homes.get(node.name) == module else module}.{node.name}"
        text = ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            signature, text = _declared(node, module) or (_class_signature(node), text)
            items.append(Item(name, "class", signature, text, tuple(_members(node, name))))
        else:
            items.append(Item(name, "function", _signature(node, bound=False), text))
    return items


def _directive(item: Item, *, depth: int) -> str:
    fence, name = ":" * (3 + depth), item.name.rsplit(".")[-1]
    inside = [as_markdown(item.text), *(_directive(m, depth=depth - 1) for m in item.members)]
    return (f"{fence}{{py:{item.kind}}} {name}{' '.join(item.signature.split())}\n\n" +
            "\n\n".join(filter(None, inside)) + f"\n{fence}")


def room_items(folder: Path) -> dict[str, list[Item]]:
    """Module -> what it offers, for every module of a room: first those with names that the room
    itself offers, each part in the order of names.
    """
    room = f"lessons_lib.{folder.name}"
    homes, modules = _homes(ast.parse((folder / "__init__.py").read_text("utf-8")), room), {}
    for path in sorted(folder.rglob("*.py")):
        module = ".".join((room, *path.relative_to(folder).with_suffix("").parts))
        module = module.removesuffix(".__init__")
        if items := items_of(ast.parse(path.read_text("utf-8")), module, homes):
            modules[module] = items
    return dict(sorted(modules.items(), key=lambda entry: all(
        item.name.rpartition(".")[0] != room for item in entry[1])))


def room_page(folder: Path) -> str:
    """The page about one room: its docstring, then each module with what it offers."""
    room = f"lessons_lib.{folder.name}"
    parts = [f"# {folder.name}", _module_text(folder / "__init__.py")]
    for module, items in room_items(folder).items():
        if module != room:
            path = folder.joinpath(*module.removeprefix(room + ".").split("."))
            file = path.with_suffix(".py")
            parts += [f"## {module.removeprefix(room + '.')}",
                      _module_text(file if file.is_file() else path / "__init__.py")]
        for item in items:             # said where it stands, links find the nearest of equal names
            parts += [f":::{{py:currentmodule}} {item.name.rpartition('.')[0]}\n:::",
                      _directive(item, depth=1)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _module_text(path: Path) -> str:
    return as_markdown(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")


def write_reference(folder: Path, rooms: Sequence[str]) -> list[str]:
    """Write a page for each room into a folder; returns the names of the pages, in that order."""
    folder.mkdir(parents=True, exist_ok=True)
    for room in rooms:
        (folder / f"{room}.md").write_text(room_page(LIBRARY / room), "utf-8")
    return list(rooms)
