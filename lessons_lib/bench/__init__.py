"""Benchmarks: our code beside the strongest peer, in turn, on the same data, at equal results.

`run` measures the cases of this room and gives rows; `write` puts them into ``data/benchmarks/``,
from where lessons and README quote. Kernels are also set against their floor, the time that the
measured ceilings of the machine allow. Used by ``lessons bench``.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULE_OF = {"Case": "measure", "Ceilings": "ceilings", "PeerMissing": "measure", "Row": "measure",
              "Verdict": "measure", "Work": "work", "measure_memory": "measure", "run": "suite",
              "groups": "suite", "read": "table", "write": "table", "write_by_kind": "table"}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Load the module that holds a public name on its first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.bench has no {name!r}; it has {', '.join(__all__)}")
