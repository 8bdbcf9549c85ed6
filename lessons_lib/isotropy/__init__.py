"""Is the space used evenly? Measures of anisotropy, each against what chance gives, and what cosine
means in a basis that is not orthonormal.

Everything takes plain tables of vectors, rows in any floating type, and sums in float64; nothing
here knows a model. `anisotropy` gives all figures of one table at once, `contextuality` those of a
layer; `Whitening` makes a space even, `whiten_words` that of the words of a text. Modules load on
first use. Taught in lessons ``09_anisotropy`` and ``12_bert_whitening``.
"""

from __future__ import annotations

import importlib

_HOME = {
    "basis": ("cosine_in_basis", "cosine_under", "estimated_metric", "gram", "inner_product",
              "worst_cosine"),
    "cosines": ("RogueDimensions", "cosine_contributions", "cosine_regulariser", "mean_cosine",
                "random_cosines", "rogue_dimensions", "standardise"),
    "flow": ("Flow", "bert_flow"),
    "frequency": ("BERT_FLOW_EDGES", "BERT_FLOW_KS", "FrequencyBins", "NormByFrequency",
                  "binned_means", "knn_by_frequency", "norm_by_frequency"),
    "in_context": ("Adjusted", "Contextuality", "Groups", "against_chance", "contextuality",
                   "group_rows", "intra_sentence_similarity", "maximum_explainable_variance",
                   "self_similarity"),
    "projection": ("Cone", "cone", "cone_angle", "narrowest_sector"),
    "published": ("PUBLISHED_MODELS", "published_layers"),
    "report": ("Anisotropy", "anisotropy"),
    "spectrum": ("effective_rank", "isoscore", "participation_ratio", "partition_isotropy",
                 "singular_spectrum", "singular_values", "top_share"),
    "whitening": ("Whitening",),
    "words": ("whiten_words",)}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str):
    """Load a measure on first use."""
    if name == "flow":  # a room of its own within this one: layers, couplings, stacks
        return importlib.import_module(f"{__name__}.flow")
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.isotropy has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
