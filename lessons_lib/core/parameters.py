"""Parameters of a method, declared once: name, kind, range, default, and one line of meaning.

From the declarations in its body a class gets its constructor, the checks of its settings, the
table in its docstring, and the options of its command. Used by every `Estimator`.
"""

from __future__ import annotations

import inspect
import math
import numbers
import textwrap
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

import numpy as np

from .checks import (MOST_THREADS, check_choice, check_float, check_int, check_most, check_rate,
                     check_rounds, shown, unknown_keyword)

__all__ = ["Choice", "Count", "Flag", "Float", "Floats", "Given", "Int", "Packed", "Parameter",
           "Rate", "Seed", "Threads", "make_init", "numpydoc_table", "with_sections"]

REQUIRED = inspect.Parameter.empty


class Parameter:
    """One argument of a constructor; subclasses know a kind of value.

    Parameters: default, none where it is left out; doc, a line of meaning; optional, whether None
    is allowed, by default where it is the default; positional, its place among those that may be
    given without a name, 0: none; remedy, what to do about a value that is out of range.
    """

    annotation: Any = Any

    def __init__(self, default: Any = REQUIRED, doc: str = "", *, optional: bool | None = None,
                 positional: int = 0, remedy: str = "") -> None:
        self.default, self.doc, self.positional = default, doc, positional
        self.remedy = remedy
        self.optional = default is None if optional is None else optional
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(f"this {owner.__name__} has no {self.name!r}: __init__ did not run")

    def check(self, name: str, value: Any) -> Any:
        """The value as a plain one. Raises TypeError or ValueError that names what is allowed."""
        if value is None and self.optional:
            return None
        try:
            return self.checked(name, value)
        except ValueError as error:
            if not self.remedy:
                raise
            raise ValueError(f"{error}. {self.remedy}") from None

    def checked(self, name: str, value: Any) -> Any:
        """The same for a value that stands for itself, so not None where None is allowed."""
        return value

    def allowed(self) -> str:
        """The kind of value in words, for the table."""
        return "object"

    def described(self) -> str:
        """Kind and default in words: ``int >= 1 or None, default None``."""
        words = self.allowed() + " or None" * self.optional
        return words if self.default is REQUIRED else f"{words}, default {self.default!r}"

    def as_argument(self) -> inspect.Parameter:
        """The argument of the constructor."""
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        annotation = self.annotation
        if self.optional and annotation is not Any:
            annotation = annotation | None
        return inspect.Parameter(self.name, kinds[self.positional > 0], default=self.default,
                                 annotation=annotation)


class Int(Parameter):
    """A whole number of at least ``low``, and at most ``high``; None: at most `checks.MOST`, beyond
    which nobody means it. What data and memory cannot hold below that is told where they are known.
    """

    annotation = int

    def __init__(self, default: Any = REQUIRED, doc: str = "", *, low: int = 1,
                 high: int | None = None, **options: Any) -> None:
        super().__init__(default, doc, **options)
        self.low, self.high = low, high

    def checked(self, name: str, value: Any) -> int:
        """The value as an int."""
        number = check_int(name, value, low=self.low, high=self.high)
        return number if self.high is not None else check_most(name, number)

    def allowed(self) -> str:
        """``int >= low`` or ``int in [low, high]``."""
        return f"int >= {self.low}" if self.high is None else f"int in [{self.low}, {self.high}]"


class Count(Int):
    """How often something is done: epochs, steps, sweeps, iterations. Any number up to `MOST` is
    begun, the bar says how long it will take, and Ctrl-C keeps what was learned."""

    def checked(self, name: str, value: Any) -> int:
        """The value as an int."""
        return check_rounds(name, value, low=self.low)


class Threads(Int):
    """A number of threads, or None: all cores."""

    def __init__(self, default: Any = 1, doc: str = "") -> None:
        super().__init__(default, doc, high=MOST_THREADS)


class Seed(Int):
    """A seed: every draw comes from it, so a run can be repeated. It may have any size."""

    def __init__(self, default: int = 0, doc: str = "equal seeds give equal results") -> None:
        super().__init__(default, doc, low=0)

    def checked(self, name: str, value: Any) -> int:
        """The value as an int."""
        return check_int(name, value, low=0)


class Float(Parameter):
    """A finite number in [low, high]; with ``above`` it is larger than that."""

    annotation = float

    def __init__(self, default: Any = REQUIRED, doc: str = "", *, low: float = -math.inf,
                 high: float = math.inf, above: float | None = None, **options: Any) -> None:
        super().__init__(default, doc, **options)
        self.low, self.high = low if above is None else above, high
        self.open_low = above is not None

    def checked(self, name: str, value: Any) -> float:
        """The value as a float."""
        return check_float(name, value, low=self.low, high=self.high, open_low=self.open_low)

    def allowed(self) -> str:
        """Such as ``float >= 0`` or ``float > 0 and <= 1``."""
        low = "" if self.low == -math.inf else f" {'>' if self.open_low else '>='} {self.low:g}"
        high = "" if self.high == math.inf else f"{' and' if low else ''} <= {self.high:g}"
        return f"float{low}{high}"


class Rate(Float):
    """A learning rate > 0 that float32 arithmetic can use."""

    def __init__(self, default: Any = REQUIRED, doc: str = "", **options: Any) -> None:
        super().__init__(default, doc, above=0, **options)

    def checked(self, name: str, value: Any) -> float:
        """The value as a float."""
        return check_rate(name, value)


class Choice(Parameter):
    """One of some names."""

    annotation = str

    def __init__(self, *names: str, default: Any = REQUIRED, doc: str = "", **options: Any) -> None:
        super().__init__(names[0] if default is REQUIRED else default, doc, **options)
        self.names = names

    def checked(self, name: str, value: Any) -> str:
        """The name."""
        return check_choice(name, value, self.names)

    def allowed(self) -> str:
        """The names."""
        return "{" + ", ".join(map(repr, self.names)) + "}"


class Flag(Parameter):
    """True or False."""

    annotation = bool

    def checked(self, name: str, value: Any) -> bool:
        """The value as a bool."""
        if not isinstance(value, (bool, np.bool_)):
            kind = type(value).__name__
            raise TypeError(f"{name}={shown(value)} is {kind}; expected True or False")
        return bool(value)

    def allowed(self) -> str:
        """``bool``."""
        return "bool"


class Given(Parameter):
    """Something else, named by ``kind``; ``check`` raises for it, or returns what to use."""

    def __init__(self, default: Any = REQUIRED, doc: str = "", *, kind: str = "object",
                 check: Callable[[str, Any], Any] | None = None, **options: Any) -> None:
        super().__init__(default, doc, **options)
        self.kind, self._check = kind, check

    def checked(self, name: str, value: Any) -> Any:
        """What ``check`` makes of it."""
        return value if self._check is None else self._check(name, value)

    def allowed(self) -> str:
        """The kind."""
        return self.kind


class Packed(Given):
    """Something else that JSON cannot hold; a saved model has it among its arrays and notes."""

    def pack(self, value: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """What is written for a checked value: arrays, and things that JSON holds."""
        raise NotImplementedError

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> Any:
        """The value from what `pack` gave; it may note ``sizes`` of axes that learned arrays have.

        Raises KeyError, TypeError or ValueError for what cannot be used.
        """
        raise NotImplementedError


class Floats(Packed):
    """One number or more, in their order; ``infinite`` allows inf and -inf, which JSON lacks."""

    def __init__(self, default: Any = REQUIRED, doc: str = "", *, infinite: bool = False,
                 **options: Any) -> None:
        what = "float, inf or -inf" if infinite else "float"
        super().__init__(default, doc, kind=f"sequence of {what}", **options)
        self.infinite = infinite

    def checked(self, name: str, value: Any) -> tuple[float, ...]:
        """The numbers as floats."""
        if isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable):
            kind = type(value).__name__
            raise TypeError(f"{name}={shown(value)} is {kind}; expected a {self.kind}")
        items = list(value)
        if not items:
            raise ValueError(f"{name}={shown(value)} is empty; expected a {self.kind}")
        return tuple(float(x) if self.infinite and isinstance(x, numbers.Real) and math.isinf(x)
                     else check_float(f"{name}[{i}]", x) for i, x in enumerate(items))

    def pack(self, value: tuple[float, ...] | None) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The numbers as texts, which give the same bits again."""
        return {}, {self.name: None if value is None else [repr(x) for x in value]}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> tuple[float, ...] | None:
        """The numbers."""
        texts = extra[self.name]
        return None if texts is None else tuple(map(float, texts))


# --------------------------------------------------------------------- constructor and docstring


def make_init(owner: str, parameters: Mapping[str, Parameter]) -> Callable[..., None]:
    """A constructor that stores its arguments unchanged; wrong ones get the nearest name."""
    ordered = sorted(parameters.values(), key=lambda p: p.positional or len(parameters) + 1)
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([me, *(p.as_argument() for p in ordered)])

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        for given in kwargs:
            if given not in parameters:
                raise unknown_keyword(owner, given, parameters)
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            names = ", ".join(parameters) or "none"
            raise TypeError(f"{owner}: {error}. Arguments: {names}") from None
        bound.apply_defaults()
        for name in parameters:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature
    return __init__


def numpydoc_table(rows: Iterable[tuple[str, str, str]]) -> str:
    """Rows of name, kind and meaning as the body of a numpydoc section."""
    lines = []
    for name, kind, meaning in rows:
        lines.append(f"{name} : {kind}" if kind else name)
        if meaning:
            sentence = meaning[0].upper() + meaning[1:] + "." * (meaning[-1] not in ".?!")
            lines += textwrap.wrap(sentence, 94, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def with_sections(doc: str, sections: Mapping[str, str]) -> str:
    """A docstring with further numpydoc sections, set before the first one that it has."""
    lines = inspect.cleandoc(doc).split("\n")
    heads = [i for i in range(len(lines) - 1) if lines[i] and set(lines[i + 1].strip()) == {"-"}]
    at = heads[0] if heads else len(lines)
    made = [f"{title}\n{'-' * len(title)}\n{body}\n" for title, body in sections.items() if body]
    before, after = "\n".join(lines[:at]).rstrip(), "\n".join(lines[at:])
    return "\n\n".join([before, "\n".join(made) + ("\n" + after if after else "")]).rstrip() + "\n"
