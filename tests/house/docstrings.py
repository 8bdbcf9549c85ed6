"""Public docstrings against their signatures: numpydoc sections that name every parameter.

``unsectioned.txt`` lists the public names that are not written so yet; it may only become shorter.
``python tests/house/docstrings.py`` shows what is wrong with others, ``--all`` with those in it,
too; ``--write`` writes it.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

if __name__ == "__main__":                        # as a script: the library is not on the path
    sys.path.insert(0, str(Path(__file__).parents[2]))

import lessons_lib

FILE = Path(__file__).with_name("unsectioned.txt")
NOTHING = ("None", "Self", "NoReturn", "")


def public_objects(module: ModuleType, name: str) -> Iterator[tuple[str, Any]]:
    """Names and objects of a room, of its public packages, and of the classes in them."""
    for public in module.__all__:
        thing, full = getattr(module, public), f"{name}.{public}"
        if isinstance(thing, ModuleType):
            if hasattr(thing, "__all__"):
                yield from public_objects(thing, full)
        elif inspect.isclass(thing):
            yield full, thing
            yield from _methods(thing, full)
        elif inspect.isroutine(thing):
            yield full, thing


def _methods(cls: type, name: str) -> Iterator[tuple[str, Any]]:
    for base in cls.__mro__:              # what core's estimators give is documented there, once
        ours = base.__module__.split(".")[0] == "lessons_lib"
        if not ours or (base is not cls and base.__module__ == "lessons_lib.core.estimator"):
            continue
        for method, thing in vars(base).items():
            if not method.startswith("_") and inspect.isroutine(thing) and \
                    not isinstance(thing, (property, cached_property)):
                yield f"{name}.{method}", getattr(cls, method)


def wrong(thing: Any) -> list[str]:
    """What a docstring lacks: sections, or parameters in them."""
    doc = inspect.getdoc(thing) or ""
    lacking = [name for name in _parameters(thing) if not _listed(doc, name)]
    result = [f"Parameters lack {', '.join(lacking)}"] if lacking else []
    if not inspect.isclass(thing):
        returned = getattr(thing, "__annotations__", {}).get("return", "")
        returned = returned if isinstance(returned, str) else getattr(returned, "__name__", "")
        if returned not in NOTHING and not _section(doc, "Returns") and not _section(doc, "Yields"):
            result.append("no Returns")
    return result


def _parameters(thing: Any) -> list[str]:
    if inspect.isclass(thing):
        plain = getattr(thing, "_is_protocol", False)
        plain = plain or issubclass(thing, (BaseException, enum.Enum))
        if plain or (not dataclasses.is_dataclass(thing) and "__init__" not in vars(thing)
                     and not hasattr(thing, "_fields")):
            return []
    try:
        names = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return []
    skip = not inspect.isclass(thing) and not inspect.ismethod(thing) and "." in thing.__qualname__
    return [p.name for p in names[int(skip):] if not p.name.startswith("_")]


def _section(doc: str, title: str) -> str:
    """The body of a section, "" where there is none."""
    start = re.search(rf"^{title}\n-+\n", doc, re.MULTILINE)
    if not start:
        return ""
    end = re.search(r"^\w[\w ]*\n-{3,}$", doc[start.end():], re.MULTILINE)
    return doc[start.end():][: end.start() if end else None]


def _listed(doc: str, name: str) -> bool:
    listed = _section(doc, "Parameters") + _section(doc, "Attributes")
    heads = re.findall(r"^(\S.*?)(?: : .*)?$", listed, re.MULTILINE)
    return any(name in re.split(r",\s*", head.replace("*", "")) for head in heads)


def unsectioned() -> dict[str, list[str]]:
    """What is wrong, by public name."""
    found = {}
    for room in [*lessons_lib.ROOMS, "publish"]:
        module = importlib.import_module(f"lessons_lib.{room}")
        for name, thing in public_objects(module, room):
            if problems := wrong(thing):
                found[name] = problems
    return dict(sorted(found.items()))


if __name__ == "__main__":
    offences = unsectioned()
    if "--write" in sys.argv:
        FILE.write_text("".join(f"{name}\n" for name in offences), "utf-8", newline="\n")
    known = set() if "--all" in sys.argv else set(FILE.read_text("utf-8").split())
    for offender, problems in offences.items():
        if offender not in known:
            print(f"{offender}: {'; '.join(problems)}")
