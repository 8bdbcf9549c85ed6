"""One example of every figure, so that rules for all figures are tested on all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lessons_lib import plots
from lessons_lib.evaluation import LeaderboardRow

FINDING = ("The title states what was found, in words that a reader can check against the picture "
           "below it")


def make_rows() -> list[LeaderboardRow]:
    def row(name, lesson, scores):
        return LeaderboardRow(name, lesson, scores, 500, 0.3, 0, "laptop", {})

    scores = {"bag of words": 0.47, "TF-IDF": 0.55, "LSA 200": 0.58}
    rows = [row(name, "02", {"stsb": {"spearman": s, "interval": [s - 0.04, s + 0.03]}})
            for name, s in scores.items()]
    return [*rows, row("one-hot", "01", {"course-sts": {"spearman": 0.3, "interval": None}})]


P = np.random.default_rng(0).normal(size=(60, 2))
GROUPS = [f"topic {k % 4}" for k in range(60)]
COUNTS = np.sort((5000 / np.arange(1, 3001) ** 1.1).astype(int) + 1)[::-1]
MIX = np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], size=300)
SPAN = np.linspace(-3, 3, 9)

# name of the function -> keyword arguments; a word after a space is one more case of it
ARGUMENTS: dict[str, dict] = {
    "zipf": {"counts": COUNTS, "words": [f"w{k}" for k in range(3000)]},
    "heaps": {"curves": {"news": ([10, 100, 1000], [8, 60, 300]),
                         "$wiki$": ([10, 100, 900], [9, 70, 380])}},
    "heaps log": {"curves": {"news": ([10, 100, 1000], [8, 60, 300])}, "log": True},
    "matrix_memory": {"sizes": [100, 1e4, 1e6], "dense_bytes": [2e7, 2e9, 2e11],
                      "csr_bytes": [3e4, 3e6, 3e8]},
    "sparsity": {"sizes": [100, 1000, 10_000], "nonzero_share": [0.5, 0.06, 0.007]},
    "spy_counts": {"matrix": np.random.default_rng(0).random((300, 900)) < 0.05},
    "ngram_growth": {"n": [1, 2, 3], "distinct": [13_900, 97_800, 161_000],
                     "once": [0.4, 0.7, 0.9]},
    "retrieval_bars": {"labels": ["first $hit$", "second"], "scores": [0.6, 0.2],
                       "relevant": [True, False]},
    "score_curves": {"curves": {"long texts": ([2, 10, 100], [20, 45, 63]),
                                "$short$": ([2, 10, 100, 300], [20, 40, 45, 52])},
                     "xlabel": "dimension", "ylabel": "score",
                     "levels": {"TF-IDF": 68, "counts": 64}},
    "document_map": {"points": P, "labels": GROUPS, "names": {3: "this one"}},
    "inference_paths": {"points": P, "labels": GROUPS, "paths": {"$new$": P[:3]}},
    "similarity_matrix": {"values": np.eye(4), "labels": ["king", "queen", "apple", "pear"]},
    "similarity_matrix long": {"values": np.eye(4),
                               "labels": ["a fairly long sentence about cats"] * 4},
    "roofline": {"flops": 1e11, "bandwidth": 2e10, "dots": {
        "$three$ lines": (24, 2e10), "steps": (0.1, 1e9), "product": (100, 9e10)}},
    "roofline bounds": {"flops": 1e15, "bandwidth": 5e12, "dots": {},
                        "bounds": {"product": 48, "kernel": 16_000}},
    "memory_growth": {"curves": {"table": ([1e3, 1e5], [1e7, 1e11]),
                                 "blocks": ([1e3, 1e5], [1e7, 1e8])}, "mark": 3e4,
                      "measured": {"table": ([1e3], [1e7])}, "limits": {"a laptop": 8e9}},
    "tile_map": {"n": 70, "block": 16, "programs": [14]},
    "tile_lanes": {"panels": {"before": np.ones((8, 8)),
                              "after": np.tril(np.full((8, 8), -np.inf))},
                   "rows": range(8), "cols": range(8), "n": 6},
    "error_growth": {"x": [0, 1, 30], "xlabel": "offset",
                     "curves": {"raw": [1e-6, 1e-3, 10], "shifted": [1e-6] * 3}},
    "topic_simplex": {"topics": np.eye(3) * 0.7 + 0.1, "documents": MIX[:20], "seen": MIX[:20],
                      "corners": ["a", "$b$", "c"], "names": ["x", "$y$", "z"]},
    "posterior_simplex": {"panels": {"$three$ words": (MIX, np.array([0.7, 0.3, 0.0])),
                                     "thirty": (MIX, np.eye(3)[2])}, "corners": ["x", "y", "$z$"]},
    "mixture_bars": {"mixtures": MIX[:6], "labels": [f"document ${k}$" for k in range(6)],
                     "names": ["war, army", "$film$", "ions"]},
    "topic_words": {"words": ["war", "$army$"], "inside": [30, 4.5], "overall": [40, 5]},
    "window_diagram": {"tokens": ["we", "drink", "$hot$", "milk", "now"], "centre": 2, "half": 2},
    "paragraph_diagram": {"tokens": ["we", "drink", "$milk$"], "centre": 1, "half": 1,
                          "document": "page 7"},
    "code_tree": {"codes": {"a": "0", "$b$": "10", "c": "110", "d": "111"}, "marked": "c",
                  "counts": {"a": 8, "$b$": 4, "c": 2, "d": 1}},
    "cost_curves": {"curves": {"softmax": ([1e3, 1e5], [1e-4, 1e-2]),
                               "$tree$": ([1e3, 1e5], [1e-6, 2e-6])},
                    "xlabel": "words", "ylabel": "seconds"},
    "keep_curves": {"frequencies": np.geomspace(1e-6, 0.1, 30), "words": {"the": 0.06, "$x$": 1e-4},
                    "curves": {"code": np.linspace(1, 0, 30), "$paper$": np.linspace(0.9, 0, 30)}},
    "pmi_scatter": {"panels": {"few": (np.arange(9.0), np.arange(9.0) ** 1.1),
                               "$many$": tuple(np.ones((2, 3000)).cumsum(axis=1))},
                    "xlabel": "PMI", "ylabel": "product"},
    "polar_words": {"words": ["king", "$prince$", "throne"], "lengths": [2.0, 3.0, 1.0],
                    "cosines": [0.9, 0.7]},
    "offset_arrows": {"panels": {"$capital$": (P[:4], P[:4] + 1, "abcd", "efgh"),
                                 "comparative": (P[:4], -P[:4], "abcd", "efgh")}},
    "ratio_bars": {"words": ["law", "$army$", "the"], "ratios": [8.0, 0.1, 1.1], "first": "court",
                   "second": "army"},
    "weight_curves": {"counts": [0.1, 1, 10, 100], "cells": [0.1, 0.8, 0.99, 1],
                      "curves": {"x_max = 100": [0.01, 0.03, 0.2, 1], "$x$": [0.1, 0.2, 1, 1]}},
    "paired_scores": {"rows": {"skip-gram": (5, 4), "$fastText$": (5, 50)}, "xlabel": "%",
                      "names": ("semantic", "syntactic")},
    "sense_shares": {"panels": {"skip-gram": (np.linspace(0.1, 0.9, 9),
                                              np.linspace(0.3, 0.7, 9) ** 1.1)}},
    "ngram_ladder": {"word": "where", "parts": ["<wh", "whe", "her", "ere", "re>", "where"],
                     "shared": ["her"]},
    "neighbour_grid": {"rows": {"goverment": [("government", 0.9), ("$x$", 0.5)],
                                "wars": [("mrs", 0.6), ("war", 0.4)]},
                       "hits": {"goverment": "government"}},
    "training_panels": {"frames": [P, P * 2], "labels": GROUPS, "steps": ["before", "$after$"],
                        "shapes": ["$x$", "y"] * 30},
    "norm_by_frequency": {"panels": {"$static$": (COUNTS[:400], np.linspace(1, 2, 400)),
                                     "contextual": (COUNTS, np.linspace(3, 4, 3000))}},
    "cone": {"panels": {"$trained$": P + 3, "skip-gram": P},
             "marked": {"skip-gram": [True, False] * 30}},
    "cone_panels": {"panels": {"before": P, "$after$": -P}, "labels": GROUPS,
                    "axis_names": [("u", "v"), ("v", "w")]},
    "knn_by_frequency": {"edges": [[0, 100], [100, 500], [500, 5000], [5000, 8192]],
                         "distances": np.arange(12.0).reshape(4, 3), "dots": np.ones((4, 3)),
                         "ks": (3, 5, 7)},
    "singular_spectrum": {"curves": {"$trained$": 1 / np.arange(1.0, 257),
                                     "random": np.linspace(1, 0.5, 100)}},
    "layer_lines": {"curves": {"$LessonBERT$": (range(5), [0.1, 0.2, 0.3, 0.3, 0.5])},
                    "ylabel": "mean cosine",
                    "published": {"BERT": (range(13), np.linspace(0.1, 0.5, 13)),
                                  "ELMo": (range(3), [0, 0.1, 0.5])}},
    "film": {"steps": [0, 1e5, 1e6, 3e7], "ylabel": "value",
             "curves": {"mean cosine": [0, 0.1, 0.4, 0.6], "$r$ of norm": [0, -0.4, -0.7, -0.8]}},
    "similarity_histogram": {"cosines": {"raw $BERT$": np.linspace(0.8, 1, 500),
                                         "mean of GloVe": np.linspace(-0.3, 0.9, 500)}},
    "layer_pooling_heatmap": {"scores": np.arange(15.0).reshape(5, 3), "layers": range(5),
                              "poolings": ["[CLS]", "mean", "max"]},
    "pooling_maps": {"panels": {"trained": np.arange(15.0).reshape(5, 3),
                                "$random$": np.ones((5, 3))},
                     "layers": range(5), "poolings": ["[CLS]", "mean, $all$", "max"]},
    "loss_curves": {"curves": {"here": ([1e3, 1e4, 1e5], [6.2, 5.0, 4.9]),
                               "$LessonBERT$": ([1e5, 1e6, 1e8], [9, 7, 3])},
                    "levels": {"here": {"chance": 6.2, "counts": 5.1},
                               "$LessonBERT$": {"chance": 9, "$counts$": 7}}},
    "attention_map": {"weights": np.eye(3), "pieces": ["[CLS]", "$ships$", "sail"]},
    "whitening_steps": {"panels": {"$before$": P * [3, 1] + 2, "turned": P * [3, 1], "round": P},
                        "marked": [0, 1]},
    "covariance_maps": {"panels": {"$before$": np.cov(P.T), "after": np.eye(2)}},
    "parameter_map": {"scores": np.arange(6.0).reshape(2, 3), "betas": [0, 1],
                      "gammas": [0, 0.5, 1]},
    "density_panels": {"panels": {"$z$": (P[:, 0], SPAN, np.full(9, 0.2))}},
    "deformed_plane": {"move": lambda p: p @ np.array([[1.0, 0.0], [1.0, 2.0]]),
                       "headings": ("$z$", "x")},
    "density_maps": {"panels": {"$data$": (P, SPAN, np.arange(81.0).reshape(9, 9))}},
    "likelihood_and_score": {"steps": [0, 1, 2], "scores": {"stsb": [60, 61, 60]},
                             "bits": {"$learned$": [2.0, 1.9, 1.8],
                                      "held out": [np.nan, 1.95, 1.9]}},
    "leaderboard_climb": {"families": {"$counts$": {r.encoder: r for r in make_rows()[:2]},
                                       "later": {"LSA": make_rows()[2]}},
                          "dataset": "stsb", "controls": {"LSA": make_rows()[0]}, "apart": "later"},
    "bottleneck_diagram": {"pieces": ["a", "$dog$", "runs"], "encoder_hides": [False, True, False],
                           "decoder_hides": [True, False, True]},
    "race_dots": {"panels": {"$captions$": {"as it is": (50.7, 0.0), "$one$": (53.8, 0.8)}},
                  "controls": {"$captions$": {"as it is": (52.0, 0.0)}}, "xlabel": "score"},
    "cut_curves": {"curves": {"$nested$": ([8, 64, 256], [40, 52, 54]),
                              "as it is": ([8, 64, 256], [26, 43, 46]),
                              "untrained": ([8, 64, 256], [38, 52, 52])},
                   "like": {"untrained": "as it is"}, "ylabel": "kept"},
    "siamese_diagram": {"panels": {"it learns": (["$premise$", "hypothesis"], "softmax (u, v)"),
                                   "both": (["a", "b"], "score")}, "joined": ["both"]},
    "cosines_by_label": {"panels": {"before": {"$a$": [0.1, 0.9], "b": [0.3, 0.8]},
                                    "after": {"$a$": [0.5], "b": [-0.3, 0.2]}}},
    "ablation_dots": {"panels": {"paper": {"$(u, v)$": 66.0, "all": (80.8, 0.4)},
                                 "here": {"all": 60.0}}, "controls": {"here": {"all": 55.0}}},
    "plane_of_encoders": {"points": {"$counts$": (-3.9, 0.6, 58), "BERT": (-1.7, 0.2, 46),
                                     "SimCSE": (-2.9, 0.3, 66)}, "marked": ["SimCSE"]},
    "plane_of_trainings": {"paths": {"$dropout$": ([-1.7, -2.2, -2.6], [0.2, 0.25, 0.3]),
                                     "none": ([-1.7, -2], [0.2, 0.3])},
                           "points": {"start weights": (-0.2, 0.05)}},
    "leaderboard_bars": {"rows": make_rows(), "dataset": "stsb", "highlight": "TF-IDF"},
    "probe_bars": {"scores": {"low": [1.0, 2.0], "$high$": [4.0, 6.0]}, "xlabel": "accuracy, %",
                   "marked": ["low"], "chance": 0.5},
    "share_bars": {"shares": {"one": [0.2, 0.8], "$other$": [0.55, 0.45]}, "xlabel": "band",
                   "bands": ["few", "many"]},
    "walk_map": {"path": P[:2], "places": P[:3], "names": ["sea", "$salt$", "the"], "said": [0, 2],
                 "by_frequency": [False, True]},
    "frequency_weights": {"curves": {"0.1": ([1e-4, 1e-2], [1, 0.9]),
                                     "$a$": ([1e-4, 1e-2], [0.9, 0.1])},
                          "words": {"the": (1e-2, 0.1)}, "highlight": "$a$"},
    "tuning_curves": {"sizes": [1, 10, 100], "scores": {"$x$": [1.0, 3.0, 2.8]}, "tolerance": 0.5,
                      "marks": {"theory": 10}, "xlabel": "a", "ylabel": "y"},
    "pulls": {"grades": [0, 1, 2, 3], "cosines": [0.6, 0.5, 0.7, 0.9], "target": "$b$",
              "panels": {"a": [1.0, -0.5, 0.0, 0.0], "$b$": [0, 0, 0, 1]}},
    "error_parts": {"bars": {"$a$": {"level": 0.1, "order": 0.3},
                             "b": {"level": 0.29, "order": 0.01}}},
    "loss_bounds": {"scales": [1, 10, 100], "worst": 0.2, "n_terms": 6,
                    "curves": {"$shuffled$": [0.9, 0.3, 0.21], "in order": [0.5, 0.01, 0.0]}},
    "objective_curves": {"steps": [0, 5, 10], "ylabel": "score", "dashed": ["CoSENT, untrained"],
                         "curves": {"CoSENT": [[1.0, 2, 3], [3, 4, 5]],
                                    "CoSENT, untrained": [1, 2, 2]}},
}


def draw(case: str, **changed):
    """The figure of a case, with some arguments changed."""
    return getattr(plots, case.split()[0])(**{"title": FINDING, **ARGUMENTS[case], **changed})


FIGURES: dict[str, Callable] = {case: lambda case=case: draw(case) for case in ARGUMENTS}


def texts(ax) -> list[str]:
    """What is written in an axes, arrows left out."""
    return [text.get_text() for text in ax.texts if text.get_text()]


def tick_names(axis) -> list[str]:
    """What is written at the ticks of an axis."""
    return [tick.get_text() for tick in axis.get_ticklabels()]


@pytest.fixture(params=FIGURES)
def any_figure(request):
    """Each figure of the room in turn."""
    return FIGURES[request.param]()


@pytest.fixture
def rows() -> list[LeaderboardRow]:
    return make_rows()
