"""All benchmarks by group, in the order of the course, and one runner for the processor's.

A group is a module with ``cases()``, which yields its races and makes inputs when a case is asked
for, and where it has them ``MEMORY``, arguments of `measure_memory`. A group that ends in "-gpu"
needs CUDA, has ``rows()`` of its own (`gpu`, `blocks`) and goes into the table of GPUs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

from ..core import check_choice
from .measure import Row, measure_memory, race

_MODULES = {name: name for name in ("counts", "topics", "words", "sentences", "contextual",
                                    "isotropy", "contrastive", "search", "kernels")}
_MODULES_GPU = {"kernels-gpu": "gpu", "blocks-gpu": "blocks"}


def groups() -> tuple[str, ...]:
    """Names of the groups of cases.

    Returns
    -------
    tuple of str
    """
    return (*_MODULES, *_MODULES_GPU)


def _module(group: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.{(_MODULES | _MODULES_GPU)[group]}")


def on_processor(module: ModuleType, *, repeats: int, tell: Callable[[str], None],
                 only: str = "") -> Iterator[Row]:
    """The rows of one group: its races, then its memory, of which the name holds ``only``."""
    if hasattr(module, "races"):                # more than a race
        yield from module.races(repeats=repeats, tell=tell, only=only)
    else:
        yield from race((case for case in module.cases() if only in case.name), repeats=repeats,
                        tell=tell)
    for memory in getattr(module, "MEMORY", ()):
        if only in memory["name"]:
            tell(f"{memory['group']}: {memory['name']}, in a process of its own")
            yield measure_memory(**memory)


def run(names: Sequence[str] | None = None, *, repeats: int = 3,
        tell: Callable[[str], None] = lambda text: None, only: str = "") -> Iterator[Row]:
    """Measure groups of cases.

    Parameters
    ----------
    names : sequence of str or None
        Groups; None: all of the processor. "kernels" takes "kernels-gpu" along, which makes rows
        where CUDA is; "blocks-gpu" runs when it is named.
    repeats : int, default 3
        Runs of each side on the processor; on a GPU Triton's timer decides.
    tell : callable, default: nothing
        Gets the name of each case before it starts.
    only : str, default ""
        A part of the names of the cases to run.

    Yields
    ------
    Row
        One for a case, without a figure where the results are not equal to the peer's.

    Raises
    ------
    ValueError : an unknown group
    """
    wanted: list[str] = []
    for name in names or _MODULES:
        check_choice("group", name, groups())
        wanted += [name, "kernels-gpu"] if name == "kernels" else [name]
    for group in dict.fromkeys(wanted):
        if group in _MODULES_GPU:
            yield from _module(group).rows(tell=tell, only=only)
        else:
            yield from on_processor(_module(group), repeats=repeats, tell=tell, only=only)
