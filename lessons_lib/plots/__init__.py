"""Pictures: one look, direct labels, titles that state the finding; matplotlib for print, plotly for exploring.

Every function takes plain arrays and the finding as ``title=``, and returns a figure; nothing is shown and no global setting is changed.
`save` writes SVG with alt text, the same bytes on every run. Plot libraries load on first use. Seen in every lesson.
"""

from __future__ import annotations

import importlib

from .save import MAX_BYTES, MAX_MARKS, checked_alt, count_marks, png_bytes, save, svg_text
from .style import GREY, LINE_COLOURS, PALETTE, plain, styled, use_style

_HOME = {"anisotropy": ("cone", "knn_by_frequency", "norm_by_frequency", "singular_spectrum"),
         "bert": ("attention_map", "loss_curves", "pooling_maps"),
         "cosent": ("error_parts", "loss_bounds", "objective_curves", "pulls"),
         "counts": ("heaps", "matrix_memory", "ngram_growth", "power_law", "sparsity", "spy_counts", "zipf"),
         "doc2vec": ("inference_paths", "paragraph_diagram", "probe_bars"),
         "documents": ("document_map", "retrieval_bars", "score_curves", "similarity_matrix"),
         "explore": ("document_map_interactive",),
         "explore_cone": ("cone_interactive",),
         "explore_topics": ("topic_bars", "topic_explorer"),
         "explore_training": ("training_explorer", "training_panels"),
         "fasttext": ("neighbour_grid", "ngram_ladder"),
         "flow": ("deformed_plane", "density_maps", "density_panels", "likelihood_and_score", "signed_area"),
         "glove": ("paired_scores", "ratio_bars", "sense_shares", "weight_curves"),
         "kernels": ("error_growth", "memory_growth", "roofline", "tile_lanes", "tile_map"),
         "layers": ("film", "layer_lines", "layer_pooling_heatmap", "similarity_histogram"),
         "leaderboard": ("leaderboard_bars", "leaderboard_explorer"),
         "outlook": ("bottleneck_diagram", "cut_curves", "leaderboard_climb", "race_dots"),
         "sbert": ("ablation_dots", "cosines_by_label", "siamese_diagram"),
         "sif": ("cone_panels", "frequency_weights", "share_bars", "tuning_curves", "walk_map"),
         "simcse": ("plane_of_encoders", "plane_of_trainings"),
         "topics": ("mixture_bars", "posterior_simplex", "topic_simplex", "topic_words"),
         "word2vec": ("code_tree", "cost_curves", "keep_curves", "offset_arrows", "pmi_scatter", "polar_words", "window_diagram"),
         "whitening": ("covariance_maps", "parameter_map", "parameter_surface", "whitening_steps")}

__all__ = ["GREY", "LINE_COLOURS", "MAX_BYTES", "MAX_MARKS", "PALETTE", "ablation_dots", "attention_map", "bottleneck_diagram", "checked_alt",
           "code_tree", "cone", "cone_interactive", "cone_panels", "cosines_by_label", "cost_curves", "count_marks", "covariance_maps", "cut_curves",
           "deformed_plane", "density_maps", "density_panels", "document_map", "document_map_interactive", "error_growth", "error_parts", "film",
           "frequency_weights", "heaps", "inference_paths", "keep_curves", "knn_by_frequency", "layer_lines", "layer_pooling_heatmap",
           "leaderboard_bars", "leaderboard_climb", "leaderboard_explorer", "likelihood_and_score", "loss_bounds", "loss_curves", "matrix_memory",
           "memory_growth", "mixture_bars", "neighbour_grid", "ngram_growth", "ngram_ladder", "norm_by_frequency", "objective_curves",
           "offset_arrows", "paired_scores", "paragraph_diagram", "parameter_map", "parameter_surface", "plain", "plane_of_encoders",
           "plane_of_trainings", "pmi_scatter", "png_bytes", "polar_words", "pooling_maps", "posterior_simplex", "power_law", "probe_bars", "pulls",
           "race_dots", "ratio_bars", "retrieval_bars", "roofline", "save", "score_curves", "sense_shares", "share_bars", "siamese_diagram",
           "signed_area", "similarity_histogram", "similarity_matrix", "singular_spectrum", "sparsity", "spy_counts", "styled", "svg_text",
           "tile_lanes", "tile_map", "topic_bars", "topic_explorer", "topic_simplex", "topic_words", "training_explorer", "training_panels",
           "tuning_curves", "use_style", "walk_map", "weight_curves", "whitening_steps", "window_diagram", "zipf"]


def __getattr__(name: str):
    """Load a plot family on first use."""
    for module, names in _HOME.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"lessons_lib.plots has no {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
