"""The public names of the library with their signatures; ``--write`` writes the list.

A name is public when the ``__all__`` of a room, of a package within it or of a module that such a
list names holds it; the commands of ``lessons`` and their options are public too. The lines are the
same on every machine: no annotations, no addresses, paths relative to the project.
"""

from __future__ import annotations

import enum
import hashlib
import importlib
import inspect
import pkgutil
import re
import sys
import typing
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

if __name__ == "__main__":                        # as a script: the library is not on the path
    sys.path.insert(0, str(Path(__file__).parents[2]))

import lessons_lib
from lessons_lib.core import PROJECT

FILE = Path(__file__).with_name("public_names.txt")
LONGEST_DEFAULT = 60
INTERNAL = {"OPERATION"}                          # of a kernel's package: how it is dispatched


def public_lines() -> list[str]:
    """Every public name with its signature, sorted."""
    rooms = [*lessons_lib.ROOMS, "publish"]
    lines = {line for room in rooms for line in _module_lines(room)}
    return sorted(lines | set(_command_lines()))


def _module_lines(name: str) -> Iterator[str]:
    """The public names of a room, and of the packages and modules that are public within it."""
    module = importlib.import_module(f"lessons_lib.{name}")
    for public in module.__all__:
        if isinstance(found := getattr(module, public), ModuleType):
            yield f"{name}.{public}: module"
            yield from _module_lines(f"{name}.{public}")
        else:
            yield from _lines(f"{name}.{public}", found)
    for inner in pkgutil.iter_modules(module.__path__) if hasattr(module, "__path__") else ():
        if inner.ispkg:                           # an operation's names that the room does not have
            package = importlib.import_module(f"lessons_lib.{name}.{inner.name}")
            for public in getattr(package, "__all__", ()):
                known = isinstance(vars(module).get(inner.name), ModuleType) and \
                    inner.name in module.__all__
                if public not in INTERNAL and public not in module.__all__ and not known:
                    yield from _lines(f"{name}.{inner.name}.{public}", getattr(package, public))


def _lines(name: str, found: Any) -> Iterator[str]:
    if inspect.isclass(found):
        yield f"{name}{_class_signature(found)}"
        yield from _method_lines(name, found)
    elif inspect.isroutine(found) or hasattr(found, "__wrapped__"):
        yield f"{name}{_signature(found)}"
    else:
        yield f"{name}: {_value(found)}"


def _class_signature(cls: type) -> str:
    if issubclass(cls, BaseException):
        return f": error, as {' and '.join(base.__name__ for base in cls.__bases__)}"
    if issubclass(cls, enum.Enum):
        return f": one of {', '.join(member.name for member in cls)}"
    made_here = any("__init__" in vars(c) or "__new__" in vars(c) for c in _ours(cls))
    if getattr(cls, "_is_protocol", False) or not made_here:
        return ": class"
    return _signature(cls)


def _ours(cls: type) -> list[type]:
    """The classes of the library that a class is made of, nearest first."""
    return [c for c in cls.__mro__ if c.__module__.split(".")[0] == "lessons_lib"]


def _method_lines(name: str, cls: type) -> Iterator[str]:
    ours = _ours(cls)
    for method in sorted({m for c in ours for m in vars(c) if not m.startswith("_")}):
        found = next(vars(c)[method] for c in ours if method in vars(c))
        if isinstance(found, classmethod):
            yield f"{name}.{method}{_signature(found.__func__, skip=1)} [classmethod]"
        elif isinstance(found, staticmethod):
            yield f"{name}.{method}{_signature(found.__func__)} [staticmethod]"
        elif isinstance(found, (property, cached_property)):
            yield f"{name}.{method} [property]"
        elif inspect.isfunction(found):
            yield f"{name}.{method}{_signature(found, skip=1)}"


def _signature(function: Any, *, skip: int = 0) -> str:
    """Names, kinds and defaults of the parameters; of a method, without self.

    Those that are given by name only are sorted: no call depends on their order.
    """
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    parameters.sort(key=lambda p: (p.kind, p.name if p.kind is p.KEYWORD_ONLY else ""))
    empty = inspect.Parameter.empty
    plain = [p.replace(annotation=empty, default=empty if p.default is empty else _Shown(p.default))
             for p in parameters]
    return re.sub(r"\s+", " ", str(inspect.Signature(plain)))


class _Shown:
    """A default whose representation is the same on every machine."""

    def __init__(self, value: Any) -> None:
        self.text = _value(value)

    def __repr__(self) -> str:
        return self.text


def _value(value: Any) -> str:
    """A constant or a default in short."""
    text = _stable(value)
    if len(text) <= LONGEST_DEFAULT:
        return text
    rest = hashlib.sha256(text.encode()).hexdigest()[:6]         # a change behind the cut shows too
    return f"{text[: LONGEST_DEFAULT - 8]}…{rest}"


def _stable(value: Any) -> str:
    if isinstance(value, Path):
        inside = value.is_relative_to(PROJECT)
        return f"PROJECT/{value.relative_to(PROJECT).as_posix()}" if inside else "a path"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_stable(key)}: …' for key in sorted(value, key=str))}}}"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(_stable(member) for member in value))}}}"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"({', '.join(_stable(member) for member in value)})"
    if inspect.isroutine(value) or inspect.isclass(value):
        return value.__name__
    if typing.get_origin(value) is not None:
        return "alias of a type"
    text = repr(value)
    return type(value).__name__ if " at 0x" in text or text.startswith("<") else text


def _command_lines() -> Iterator[str]:
    """The commands of ``lessons``, with their arguments and options."""
    import typer

    from lessons_lib.cli import app

    waiting = [("lessons", typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop()
        if hasattr(command, "list_commands"):
            waiting += [(f"{name} {key}", command.get_command(None, key))
                        for key in command.list_commands(None)]
            continue
        shown = []
        for parameter in command.params:
            flags = "/".join([*parameter.opts, *parameter.secondary_opts])
            default = "required" if parameter.required else _value(parameter.default)
            shown.append(f"{flags}={default}")
        yield f"{name}: {', '.join(shown)}"


def differences(written: list[str], present: list[str]) -> list[str]:
    """In words: what is missing, what changed and what came, from the list as it was written."""
    before, after = ({_name(line): line for line in lines} for lines in (written, present))
    said = []
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            said.append(f"missing: {before[name]}")
        elif name not in before:
            said.append(f"new: {after[name]}")
        elif before[name] != after[name]:
            said.append(f"changed: {before[name]}\n  is now  {after[name]}")
    return said


def _name(line: str) -> str:
    """What stands before the signature: a dotted name, or a command of several words."""
    return re.match(r"lessons [^:]*:|[\w.]+", line)[0]


def main() -> None:
    """Write the list, or say what the argument is."""
    if sys.argv[1:] != ["--write"]:
        raise SystemExit("python tests/house/pinned.py --write: writes public_names.txt anew")
    FILE.write_text("".join(f"{line}\n" for line in public_lines()), "utf-8")


if __name__ == "__main__":
    main()
