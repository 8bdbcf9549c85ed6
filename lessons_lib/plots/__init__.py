"""Pictures: one look, direct labels, titles that state the finding; plotly to explore.

Every figure takes plain arrays and the finding as ``title=``, and is returned; nothing is shown
and no global setting is changed. `save` writes SVG with alt text, the same bytes on every run.
Plot libraries load on first use. Seen in every lesson.
"""

from __future__ import annotations

import importlib

from .save import MAX_BYTES, MAX_MARKS, checked_alt, count_marks, png_bytes, save, svg_text
from .style import GREY, LINE_COLOURS, PALETTE, plain, styled, use_style

_HOME = {
    "lines": ("cost_curves", "cut_curves", "error_growth", "film", "frequency_weights", "heaps",
              "keep_curves", "layer_lines", "likelihood_and_score", "loss_bounds", "loss_curves",
              "matrix_memory", "memory_growth", "objective_curves", "power_law", "roofline",
              "score_curves", "singular_spectrum", "sparsity", "tuning_curves", "weight_curves",
              "zipf"),
    "bars": ("ablation_dots", "cosines_by_label", "density_panels", "error_parts",
             "knn_by_frequency", "leaderboard_bars", "leaderboard_climb", "mixture_bars",
             "ngram_growth", "paired_scores", "probe_bars", "race_dots", "ratio_bars",
             "retrieval_bars", "share_bars", "similarity_histogram", "topic_words"),
    "points": ("cone", "cone_panels", "deformed_plane", "density_maps", "document_map",
               "inference_paths", "norm_by_frequency", "offset_arrows", "plane_of_encoders",
               "plane_of_trainings", "pmi_scatter", "polar_words", "posterior_simplex", "pulls",
               "sense_shares", "signed_area", "topic_simplex", "training_panels", "walk_map",
               "whitening_steps"),
    "grids": ("attention_map", "covariance_maps", "layer_pooling_heatmap", "neighbour_grid",
              "parameter_map", "pooling_maps", "similarity_matrix", "spy_counts", "tile_lanes",
              "tile_map"),
    "diagrams": ("bottleneck_diagram", "code_tree", "ngram_ladder", "paragraph_diagram",
                 "siamese_diagram", "window_diagram"),
    "explore": ("cone_interactive", "document_map_interactive", "leaderboard_explorer",
                "parameter_surface", "topic_bars", "topic_explorer", "training_explorer")}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["GREY", "LINE_COLOURS", "MAX_BYTES", "MAX_MARKS", "PALETTE", "checked_alt",
           "count_marks", "plain", "png_bytes", "save", "styled", "svg_text", "use_style"]
__all__ += sorted(_MODULE_OF)


def __getattr__(name: str):
    """Load a family of figures on first use."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"lessons_lib.plots has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
