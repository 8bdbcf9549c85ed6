"""All benchmarks by group, in the order of the course. Used by ``lessons bench``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

from ..core import check_choice
from .measure import Row

__all__ = ["groups", "run"]

# Group -> its module, which yields rows. A group that ends in "-gpu" needs CUDA and goes into the table of GPUs.
_MODULES = {"counts": "counts", "topics": "topics", "words": "words", "sentences": "sentences", "contextual": "contextual",
            "isotropy": "isotropy", "contrastive": "contrastive", "kernels": "kernels", "kernels-gpu": "gpu", "blocks-gpu": "blocks"}
_DEFAULT = ("counts", "topics", "words", "sentences", "contextual", "isotropy", "contrastive", "kernels")


def groups() -> tuple[str, ...]:
    """Names of the groups of cases."""
    return tuple(_MODULES)


def _wanted(names: Sequence[str] | None) -> list[str]:
    """The groups to run: those named, and the kernels on the GPU after those on the processor."""
    wanted: list[str] = []
    for name in names or _DEFAULT:
        check_choice("group", name, _MODULES)
        wanted += [name, "kernels-gpu"] if name == "kernels" else [name]
    return list(dict.fromkeys(wanted))


def _module(group: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.{_MODULES[group]}")


def run(names: Sequence[str] | None = None, *, repeats: int = 3, tell: Callable[[str], None] = lambda text: None,
        only: str = "") -> Iterator[Row]:
    """Measure groups of cases.

    Parameters: names of groups (default: counts, topics, words, sentences, contextual, isotropy, contrastive and kernels; "kernels" takes
    "kernels-gpu" along where CUDA is, "blocks-gpu" runs when it is named); repeats, runs of each side on the processor (on a GPU Triton's timer
    decides); tell, gets the name of each case before it starts; only, a part of the names of the cases to run. Yields a `Row` per case, without a
    figure where the results are not equal to the peer's. Raises ValueError for an unknown group.
    """
    for name in _wanted(names):
        module = _module(name)
        yield from module.rows(tell=tell, only=only) if name.endswith("-gpu") else module.rows(repeats=repeats, tell=tell, only=only)
