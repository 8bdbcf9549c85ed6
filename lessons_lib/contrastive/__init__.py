"""Learning the space: encoders that are trained so that close texts get close vectors.

Modules load on first use. Taught in lessons ``10_sbert``, ``13_cosent`` and ``14_simcse``.
"""

from __future__ import annotations

import importlib

_MODULES = ("augment", "losses")
__all__ = sorted(_MODULES)


def __getattr__(name: str):
    """Load a module on first use."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"lessons_lib.contrastive has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
