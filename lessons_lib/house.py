"""The library as its imports draw it: which files a capability needs, and which room uses which.

What one has to read to change a module is its import closure: the files of the library that it
imports, at the top or within a function, and those that they import. A name that a package only
passes on leads to the file that defines it. The source is read and nothing is imported, so a module
whose name is put together at run time (the implementations of a kernel) is not seen.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

__all__ = ["Closure", "closure", "drawing", "rooms", "write_drawing"]

PACKAGE = Path(__file__).parent
BEGINS, ENDS = "<!-- lessons house -->", "<!-- end -->"


@dataclass(frozen=True)
class Closure:
    """The files that a module needs, itself included, and their lines."""

    files: tuple[Path, ...]

    @property
    def lines(self) -> int:
        """Number of lines of all files together."""
        return sum(len(file.read_text("utf-8").splitlines()) for file in self.files)


def closure(module: str, *, package: Path = PACKAGE) -> Closure:
    """Find the files of a package that a module imports, lazily or not, and those that they import.

    Parameters
    ----------
    module : str
        Dotted name within the package, such as "words.word2vec".
    package : Path, default the library
        Folder of the package.

    Returns
    -------
    Closure
        Files in sorted order, and their lines.

    Raises
    ------
    ValueError
        No module of that name in the package.
    """
    start = _file_of(package, tuple(module.split(".")))
    if start is None:
        raise ValueError(f"module={module!r} is no module of {package.name}; expected a dotted "
                         "name within it, such as 'words.word2vec'")
    result: set[Path] = set()
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file not in result:
            result.add(file)
            waiting += imported(file, package)
    return Closure(tuple(sorted(result)))


def rooms(package: Path = PACKAGE) -> dict[str, Counter[str]]:
    """Count how many files of each room import a file of each other room.

    Parameters
    ----------
    package : Path, default the library
        Folder of the package; its rooms are the packages directly within it.

    Returns
    -------
    dict[str, Counter[str]]
        Room -> room that it imports -> number of files that do.
    """
    drawing: dict[str, Counter[str]] = {}
    for init in sorted(package.glob("*/__init__.py")):
        room = init.parent.name
        drawing[room] = Counter(other for file in sorted(init.parent.rglob("*.py")) for other in {
                                    _room(result, package) for result in imported(file, package)}
                                if other not in (room, ""))
    return drawing


def drawing(package: Path = PACKAGE) -> str:
    """Draw the rooms of a package floor by floor, each above all rooms that it imports.

    Beside a room stand its files, its lines, and what it rests on: the rooms that it imports, but
    for those that one of these rests on, too.

    Parameters
    ----------
    package : Path, default the library

    Returns
    -------
    str
        A line for each room, the topmost floor first.
    """
    imports = {room: set(others) for room, others in rooms(package).items()}
    below: dict[str, set[str]] = {}
    for room in TopologicalSorter(imports).static_order():
        below[room] = imports[room].union(*(below[other] for other in imports[room]))
    floors: dict[str, int] = {}
    for room in sorted(below, key=lambda name: len(below[name])):
        floors[room] = 1 + max((floors[other] for other in imports[room]), default=0)
    lines, wide = [], max(map(len, floors))
    for floor in range(max(floors.values()), 0, -1):
        for n, room in enumerate(sorted(name for name in floors if floors[name] == floor)):
            files = list((package / room).rglob("*.py"))
            size = sum(len(file.read_text("utf-8").splitlines()) for file in files)
            first = {other for other in imports[room]
                     if not any(other in below[between] for between in imports[room])}
            mark = f"{floor:2}" if n == 0 else "  "
            lines.append(f"{mark} │ {room:{wide}} {len(files):4} files {size:6,} lines"
                         + (f"  on {', '.join(sorted(first))}" if first else ""))
    return "\n".join(lines)


def write_drawing(page: Path) -> Path:
    """Put the drawing into a page, where its former version stands between two marks.

    Parameters
    ----------
    page : Path

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ValueError
        The marks are missing.
    """
    before, first, rest = page.read_text("utf-8").partition(BEGINS)
    _, last, after = rest.partition(ENDS)
    if not (first and last):
        raise ValueError(f"{page} lacks the lines {BEGINS!r} and {ENDS!r} around its drawing")
    page.write_text(f"{before}{BEGINS}\n```text\n{drawing()}\n```\n{ENDS}{after}", "utf-8",
                    newline="\n")
    return page


def _room(file: Path, package: Path) -> str:
    """The room of a file; "" for one that lies in none."""
    parts = file.relative_to(package).parts
    return parts[0] if len(parts) > 1 else ""


def imported(file: Path, package: Path = PACKAGE) -> frozenset[Path]:
    """The files that define what one file imports."""
    result: set[Path] = set()
    for base, name in _names(file, package):
        source = _file_of(package, base)
        if source is not None and source != file:
            result |= _definers(source, name, package)
        elif (inner := _file_of(package, (*base, name))) is not None:
            result.add(inner)
    return frozenset(result - {file})


def _names(file: Path, package: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each name that a file imports from the package, with the module that it is asked of."""
    here = file.parent.relative_to(package).parts
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ImportFrom):
            asked = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                base = (*here[: len(here) - node.level + 1], *asked)
            elif asked[0] == package.name:
                base = asked[1:]
            else:
                continue
            yield from ((base, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first, *rest = alias.name.split(".")
                if first == package.name and rest:
                    yield tuple(rest[:-1]), rest[-1]


def _definers(source: Path, name: str, package: Path,
              passed: frozenset[Path] = frozenset()) -> set[Path]:
    """The file that defines a name, asked of a module; a package may pass it on from another."""
    if source.name != "__init__.py" or source in passed:
        return {source}
    passed |= {source}
    here = source.parent.relative_to(package).parts
    for node in ast.walk(_tree(source)):
        if not (isinstance(node, ast.ImportFrom) and node.level):
            continue
        asked = tuple(node.module.split(".")) if node.module else ()
        base = (*here[: len(here) - node.level + 1], *asked)
        for alias in node.names:
            if (alias.asname or alias.name) != name:
                continue
            if not asked and (inner := _file_of(package, (*base, alias.name))):
                return {inner}
            other = _file_of(package, base)
            if other is not None and other != source:
                return _definers(other, alias.name, package, passed)
    if home := _lazy_names(source).get(name):
        other = _file_of(package, (*here, *home.split(".")))
        if other is not None:
            return _definers(other, name, package, passed)
    return {_file_of(package, (*here, name)) or source}


@cache
def _lazy_names(source: Path) -> dict[str, str]:
    """Name -> module in the tables of a package's ``__getattr__``, which are written either way."""
    result: dict[str, str] = {}
    for node in ast.walk(_tree(source)):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)):
            continue
        try:
            table = ast.literal_eval(node.value)
        except ValueError:                        # a table of something else
            continue
        for key, value in table.items():
            if isinstance(key, str) and isinstance(value, str):
                result[key] = value
            elif isinstance(value, (list, tuple)):
                result |= {name: key for name in value if isinstance(name, str)}
    return result


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def _file_of(package: Path, parts: tuple[str, ...]) -> Path | None:
    """The file of a module or a package; None where there is none."""
    place = package.joinpath(*parts)
    if (place / "__init__.py").is_file():
        return place / "__init__.py"
    file = place.with_suffix(".py") if parts else place
    return file if file.is_file() else None
