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
    "overlap_rows": {"texts": {"first": ["a", "$dog$", "runs"], "second": ["the", "$dog$"]}},
    "equal_distances": {"words": ["doctor", "$nurse$", "painted", "child"]},
    "retrieval_bars": {"labels": ["first $hit$", "second"], "scores": [0.6, 0.2],
                       "relevant": [True, False]},
    "score_curves": {"curves": {"long texts": ([2, 10, 100], [20, 45, 63]),
                                "$short$": ([2, 10, 100, 300], [20, 40, 45, 52])},
                     "xlabel": "dimension", "ylabel": "score",
                     "levels": {"TF-IDF": 68, "counts": 64}},
    "training_curves": {"steps": range(1, 40), "losses": [np.nan, *np.geomspace(6, 0.5, 38)],
                        "scores": [60 + k / 10 if k % 5 == 0 else None for k in range(39)],
                        "score": "STS-B dev, Spearman × 100", "reach": 70},
    "training_curves few": {"steps": [1, 2, 5], "losses": [3, 2, 1.5]},
    "setting_curve": {"settings": [0.01, 0.05, 0.1, 1], "xlabel": "temperature", "log": True,
                      "scores": np.random.default_rng(0).normal(60, 1, size=(4, 3)),
                      "ylabel": "score", "paper": {0.05: 61.0, 0.001: 60.2, 0.5: 58.0}},
    "setting_curve plain": {"settings": [0, 0.1, 0.3], "scores": [[1, 2], [2, 3], [2, 2]],
                            "xlabel": "dropout", "ylabel": "score"},
    "document_map": {"points": P, "labels": GROUPS, "names": {3: "this one"}},
    "count_table": {"values": np.array([[4, 0, 1], [200, 3, 0]]), "rows": ["question", "article"],
                    "columns": ["the", "moon", "law"]},
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
    "tile_lanes": {"panels": {"before": np.ones((8, 8)),
                              "after": np.tril(np.full((8, 8), -np.inf))},
                   "rows": range(8), "cols": range(8), "n": 6},
    "posterior_simplex": {"panels": {"$three$ words": (MIX, np.array([0.7, 0.3, 0.0])),
                                     "thirty": (MIX, np.eye(3)[2])}, "corners": ["x", "y", "$z$"]},
    "topic_words": {"words": ["war", "$army$"], "inside": [30, 4.5], "overall": [40, 5]},
    "code_tree": {"codes": {"a": "0", "$b$": "10", "c": "110", "d": "111"}, "marked": "c",
                  "counts": {"a": 8, "$b$": 4, "c": 2, "d": 1}},
    "cost_curves": {"curves": {"softmax": ([1e3, 1e5], [1e-4, 1e-2]),
                               "$tree$": ([1e3, 1e5], [1e-6, 2e-6])},
                    "xlabel": "words", "ylabel": "seconds"},
    "pmi_scatter": {"panels": {"few": (np.arange(9.0), np.arange(9.0) ** 1.1),
                               "$many$": tuple(np.ones((2, 3000)).cumsum(axis=1))},
                    "xlabel": "PMI", "ylabel": "product"},
    "offset_arrows": {"panels": {"$capital$": (P[:4], P[:4] + 1, "abcd", "efgh"),
                                 "comparative": (P[:4], -P[:4], "abcd", "efgh")}},
    "ngram_ladder": {"word": "where", "parts": ["<wh", "whe", "her", "ere", "re>", "where"],
                     "shared": ["her"]},
    "training_panels": {"frames": [P, P * 2], "labels": GROUPS, "steps": ["before", "$after$"],
                        "shapes": ["$x$", "y"] * 30},
    "norm_by_frequency": {"panels": {"$static$": (COUNTS[:400], np.linspace(1, 2, 400)),
                                     "contextual": (COUNTS, np.linspace(3, 4, 3000))}},
    "cone": {"panels": {"$trained$": P + 3, "skip-gram": P},
             "marked": {"skip-gram": [True, False] * 30}},
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
    "whitening_steps": {"panels": {"$before$": P * [3, 1] + 2, "turned": P * [3, 1], "round": P},
                        "marked": [0, 1]},
    "parameter_map": {"scores": np.arange(6.0).reshape(2, 3), "betas": [0, 1],
                      "gammas": [0, 0.5, 1]},
    "density_panels": {"panels": {"$z$": (P[:, 0], SPAN, np.full(9, 0.2))}},
    "deformed_plane": {"move": lambda p: p @ np.array([[1.0, 0.0], [1.0, 2.0]]),
                       "headings": ("$z$", "x")},
    "leaderboard_climb": {"families": {"$counts$": {r.encoder: r for r in make_rows()[:2]},
                                       "later": {"LSA": make_rows()[2]}},
                          "dataset": "stsb", "controls": {"LSA": make_rows()[0]}, "apart": "later"},
    "race_dots": {"panels": {"$captions$": {"as it is": (50.7, 0.0), "$one$": (53.8, 0.8)}},
                  "controls": {"$captions$": {"as it is": (52.0, 0.0)}}, "xlabel": "score"},
    "cut_curves": {"curves": {"$nested$": ([8, 64, 256], [40, 52, 54]),
                              "as it is": ([8, 64, 256], [26, 43, 46]),
                              "untrained": ([8, 64, 256], [38, 52, 52])},
                   "like": {"untrained": "as it is"}, "ylabel": "kept"},
    "cosines_by_label": {"panels": {"before": {"$a$": [0.1, 0.9], "b": [0.3, 0.8]},
                                    "after": {"$a$": [0.5], "b": [-0.3, 0.2]}}},
    "plane_of_encoders": {"points": {"$counts$": (-3.9, 0.6, 58), "BERT": (-1.7, 0.2, 46),
                                     "SimCSE": (-2.9, 0.3, 66)}, "marked": ["SimCSE"]},
    "plane_of_trainings": {"paths": {"$dropout$": ([-1.7, -2.2, -2.6], [0.2, 0.25, 0.3]),
                                     "none": ([-1.7, -2], [0.2, 0.3])},
                           "points": {"start weights": (-0.2, 0.05)}},
    "leaderboard_bars": {"rows": make_rows(), "dataset": "stsb", "highlight": "TF-IDF"},
    "probe_bars": {"scores": {"low": [1.0, 2.0], "$high$": [4.0, 6.0]}, "xlabel": "accuracy, %",
                   "marked": ["low"], "chance": 0.5},
    "tuning_curves": {"sizes": [1, 10, 100], "scores": {"$x$": [1.0, 3.0, 2.8]}, "tolerance": 0.5,
                      "marks": {"theory": 10}, "xlabel": "a", "ylabel": "y"},
    "pulls": {"grades": [0, 1, 2, 3], "cosines": [0.6, 0.5, 0.7, 0.9], "target": "$b$",
              "panels": {"a": [1.0, -0.5, 0.0, 0.0], "$b$": [0, 0, 0, 1]}},
    "error_parts": {"bars": {"$a$": {"level": 0.1, "order": 0.3},
                             "b": {"level": 0.29, "order": 0.01}}},
    "loss_bounds": {"scales": [1, 10, 100], "worst": 0.2, "n_terms": 6,
                    "curves": {"$shuffled$": [0.9, 0.3, 0.21], "in order": [0.5, 0.01, 0.0]}},
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
