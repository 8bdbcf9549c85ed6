"""Normalising flows: an invertible map learned by maximum likelihood, under which data look like a
standard Gaussian.

Layers are objects that know their inverse and how much they stretch volume (`Bijection`);
`Composition` adds their log-determinants. `nice`, `realnvp` and `glow` stack them, `Flow` fits a
stack to vectors, and `bert_flow` has the settings of BERT-flow's paper and of its program. Modules
load on first use. Taught in lesson ``11_bert_flow``. [dinh2015nice; dinh2017density;
kingma2018glow; li2020sentence]
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {"bijection": ("Bijection", "Composition", "Split"),
         "layers": ("ActNorm", "InvertibleLinear", "Permutation"),
         "coupling": ("AdditiveCoupling", "AffineCoupling", "CouplingNet"),
         "architecture": ("Architecture", "glow", "nice", "realnvp"),
         "variants": ("BERT_FLOW_VARIANTS", "bert_flow"),
         "estimator": ("Flow",)}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Load the module that holds a public name on its first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.isotropy.flow has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
