"""The private words of the library, what the field calls it, and how often they still occur.

``glossary.tsv`` holds one word a row: where it counts, a pattern, the field's term, files in which
the word means something else ("" for none), the count as it was written. ``identifiers`` are names
where they are made (assignments, parameters, functions, classes), matched whole without leading
underscores; ``prose`` is docstrings and all other texts of the code that hold a space.

``python tests/house/glossary.py`` shows the counts, ``--write`` writes them.
"""

from __future__ import annotations

import ast
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

FILE = Path(__file__).with_name("glossary.tsv")
LIBRARY = Path(__file__).parents[2] / "lessons_lib"


def entries() -> list[dict[str, str]]:
    """The rows of the glossary."""
    with open(FILE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that a file makes, once for each place."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def prose(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Docstrings, messages, labels."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def counts(trees: Iterable[tuple[str, ast.Module]], rows: list[dict[str, str]]) -> list[int]:
    """How often each word of the glossary occurs in files, given with their names."""
    names, texts = {}, {}
    for file, tree in trees:
        nodes = list(ast.walk(tree))
        names[file] = Counter(name.lstrip("_") for name in identifiers(nodes))
        texts[file] = "\n\n".join(prose(nodes))
    found = []
    for row in rows:
        other = row["not_in"] and re.compile(row["not_in"])
        files = [file for file in names if not (other and other.search(file))]
        if row["where"] == "identifiers":
            pattern = re.compile(row["pattern"])
            found.append(sum(n for file in files for name, n in names[file].items()
                             if pattern.fullmatch(name)))
        else:
            pattern = re.compile(rf"\b(?:{row['pattern']})\b")
            found.append(sum(len(pattern.findall(texts[file])) for file in files))
    return found


def library() -> Iterator[tuple[str, ast.Module]]:
    """Each file of the library with its syntax tree; all trees at once would be a million objects,
    which Python's garbage collection goes through again and again."""
    for path in sorted(LIBRARY.rglob("*.py")):
        yield path.relative_to(LIBRARY).as_posix(), ast.parse(path.read_text("utf-8"))


def main() -> None:
    """Show the counts beside those that are written, or write them."""
    rows = entries()
    for row, now in zip(rows, counts(library(), rows), strict=True):
        print(f"{row['where']:12} {row['write']:38} {row['count']:>4} -> {now:4}  {row['pattern']}")
        row["count"] = str(now)
    if sys.argv[1:] == ["--write"]:
        lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
        FILE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
