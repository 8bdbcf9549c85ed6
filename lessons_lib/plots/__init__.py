"""Pictures: one look, direct labels, titles that state the finding; plotly to explore.

Every figure takes plain arrays and the finding as ``title=``, and is returned; nothing is shown
and no global setting is changed. `save` writes SVG with alt text, the same bytes on every run.
Plot libraries load on first use. Seen in every lesson.
"""

from __future__ import annotations

import importlib

from .encoders import ENCODERS, EncoderLook, encoder_look, standard_encoder
from .save import (MAX_BYTES, MAX_MARKS, checked_alt, count_marks, png_bytes, quick_png, save,
                   svg_text)
from .style import GREY, LINE_COLOURS, PALETTE, plain, styled, use_style

_HOME = {
    "lines": ("cost_curves", "cut_curves", "film", "heaps", "layer_lines", "loss_bounds",
              "memory_growth", "power_law", "roofline", "score_curves", "setting_curve",
              "singular_spectrum", "training_curves", "tuning_curves", "zipf"),
    "bars": ("cosines_by_label", "density_panels", "error_parts", "knn_by_frequency",
             "leaderboard_bars", "leaderboard_climb", "probe_bars", "race_dots", "retrieval_bars",
             "topic_words"),
    "points": ("cone", "deformed_plane", "document_map", "norm_by_frequency", "offset_arrows",
               "plane_of_encoders", "plane_of_trainings", "pmi_scatter", "posterior_simplex",
               "pulls", "sentence_panels", "signed_area", "training_panels", "whitening_steps"),
    "grids": ("count_table", "overlap_rows", "parameter_map", "similarity_matrix", "tile_lanes"),
    "diagrams": ("code_tree", "equal_distances", "ngram_ladder"),
    "schematics": ("Part", "Schematic"),
    "explore": ("cone_interactive", "parameter_surface", "topic_bars", "training_explorer")}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["ENCODERS", "GREY", "LINE_COLOURS", "MAX_BYTES", "MAX_MARKS", "PALETTE", "EncoderLook",
           "checked_alt", "count_marks", "encoder_look", "plain", "png_bytes", "quick_png", "save",
           "standard_encoder", "styled", "svg_text", "use_style"]
__all__ += sorted(_MODULE_OF)


def __getattr__(name: str):
    """Load a family of figures on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.plots has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
