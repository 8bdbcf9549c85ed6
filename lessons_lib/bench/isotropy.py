"""Cases that make a space even: whitening beside its authors' program, on the same vectors, and one epoch of a flow.

Each part is a module with a function ``cases``, which yields its races one after the other.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from .measure import Case, Row, race

__all__ = ["PARTS", "cases", "rows"]

PARTS = ("isotropy_whitening", "isotropy_flow")


def cases() -> Iterator[Case]:
    """The races of all parts; their vectors are made when a case is asked for."""
    for part in PARTS:
        yield from importlib.import_module(f"{__package__}.{part}").cases()


def rows(*, repeats: int, tell: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """The group: the races whose name holds ``only``."""
    yield from race((case for case in cases() if only in case.name), repeats=repeats, tell=tell)
