"""All benchmarks by group, in the order of the course. Used by ``lessons bench``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence

from ..core import check_choice
from .measure import Row, measure

__all__ = ["groups", "run"]

_GROUPS = ("counts",)


def groups() -> tuple[str, ...]:
    """Names of the groups of cases."""
    return _GROUPS


def run(names: Sequence[str] | None = None, *, repeats: int = 3, tell: Callable[[str], None] = lambda text: None) -> Iterator[Row]:
    """Measure groups of cases.

    Parameters: names of groups (default: all); repeats, runs of each side; tell, gets the name of each case before it starts.
    Yields a `Row` per case. Raises ValueError for an unknown group, or when a case's results are not equal to the peer's.
    """
    for name in names or _GROUPS:
        check_choice("group", name, _GROUPS)
    for name in names or _GROUPS:
        module = importlib.import_module(f"{__package__}.{name}")
        for case in module.cases():
            tell(f"{case.group}: {case.name}")
            yield measure(case, repeats=repeats)
        tell(f"{name}: memory")
        yield from module.memory_rows()
