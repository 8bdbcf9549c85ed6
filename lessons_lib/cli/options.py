"""Options that stand once: a command takes the settings of its method, and gets those that were
given.

Settings that a method declares (`core.parameters`) need no second list: name, kind, range, default
and meaning come from the class.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import nearest_name, shown

__all__ = ["Out", "Resume", "argument", "declared_settings", "option", "parameters_of", "setting",
           "unchanged", "unknown_source", "unset", "with_settings"]

def option(text: str, *names: str) -> Any:
    """An option of a command; ``names`` in place of the parameter's own."""
    return typer.Option(*names, help=text)


def unset(text: str, *names: str) -> Any:
    """An option whose default its text tells."""
    return typer.Option(*names, help=text, show_default=False)


def argument(text: str) -> Any:
    """An argument whose default its text tells."""
    return typer.Argument(help=text, show_default=False)


Out = Annotated[Path, option("folder of the model; made if need be")]
Resume = Annotated[bool, option("go on with the run in the folder", "--resume")]


def setting(name: str, kind: Any, meaning: str, *names: str) -> inspect.Parameter:
    """An option that is None unless it is given; ``names`` in place of ``--name``."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None,
                             annotation=Annotated[kind | None, unset(meaning, *names)])


def declared_settings(cls: Any, *, without: Iterable[str] = ()) -> list[inspect.Parameter]:
    """An option for each declared setting of a class that a command line can give."""
    return [setting(name, declared.annotation, f"{declared.doc} ({declared.described()})".lstrip())
            for name, declared in cls._PARAMETERS.items() if declared.annotation is not Any
            and name not in without]


def parameters_of(function: Callable, *, without: Iterable[str] = ()) -> list[inspect.Parameter]:
    """The arguments of a function that several commands share."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in inspect.signature(function, eval_str=True).parameters.values()
            if p.kind not in kinds and p.name not in without]


def with_settings(function: Callable, settings: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """The function as a command: options in place of its ``**settings``, which holds the given."""
    own, settings = parameters_of(function), list(settings)

    @functools.wraps(function)
    def command(**values: Any) -> None:
        left_out = [p.name for p in settings if values[p.name] is None]
        function(**{name: value for name, value in values.items() if name not in left_out})

    command.__signature__ = inspect.Signature([*own, *settings])
    return command


def unchanged(before: Any, given: Mapping[str, Any], out: Path, *, free: Iterable[str] = ()) -> Any:
    """A run's method with the ``free`` settings. Raises ValueError where others differ."""
    for name, value in given.items():
        if name in free:
            before.set_params(**{name: value})
        elif getattr(before, name) != value:
            raise ValueError(f"{name}={shown(value)} cannot change on the way: the run in {out} "
                             f"has {getattr(before, name)}. Leave it out, or begin anew with "
                             "another --out")
    return before


def unknown_source(source: str, names: Iterable[str]) -> FileNotFoundError:
    """The error about a source that is neither a file nor one of the datasets."""
    near = nearest_name(source, names)
    hint = f"; did you mean {near!r}?" if near else ""
    return FileNotFoundError(f"{shown(source)} is neither a file nor a dataset{hint}; `lessons "
                             "data list` names the datasets")
