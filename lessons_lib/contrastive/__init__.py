"""Learning the space: encoders that are trained so that close texts get close vectors.

`SBert`, `CoSent` and `SimCse` are trainers: ``fit`` on pairs, triplets or sentences, and afterwards
encoders like any other. `losses`, `augment` and `recipes` are modules of functions and settings.
Everything loads on first use. Taught in lessons ``10_sbert``, ``13_cosent`` and ``14_simcse``;
`AutoEncoding` and `Matryoshka` in ``16_outlook``.
"""

from __future__ import annotations

import importlib

_MODULES = ("augment", "losses", "recipes")
_MODULE_OF = {
    "AutoEncoding": "auto_encoding", "CoSent": "cosent", "History": "history",
    "Matryoshka": "matryoshka", "SBert": "sbert", "SimCse": "simcse", "Truncation": "matryoshka",
    "Distil": "distil", "bag_for": "distil", "trainable_bag": "bag"
}

__all__ = sorted((*_MODULES, *_MODULE_OF))


def __getattr__(name: str):
    """Load a trainer or a module on first use."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.contrastive has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
