"""Benchmarks: our code beside the strongest peer, in turn, in one process, on the same data, and only where the results are equal.

`run` measures the cases of this package and returns rows; `write` puts them into ``data/benchmarks/``, from where lessons and README quote.
Kernels are set against their floor as well: the time that the machine's measured ceilings allow. Used by ``lessons bench``.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULE_OF = {"Case": "measure", "Ceilings": "ceilings", "PeerMissing": "measure", "Row": "measure", "Verdict": "measure", "Work": "work",
              "measure_memory": "memory", "run": "suite", "groups": "suite", "read": "table", "write": "table", "write_by_kind": "table"}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Load the module that holds a public name on its first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.bench has no {name!r}; it has {', '.join(__all__)}")
