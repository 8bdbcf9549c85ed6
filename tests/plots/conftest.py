"""One example of every figure, so that rules for all figures are tested on all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lessons_lib import plots
from lessons_lib.evaluation import LeaderboardRow

FINDING = "The title states what was found, in words that a reader can check against the picture below it"


def make_rows() -> list[LeaderboardRow]:
    scores = {"bag of words": 0.47, "TF-IDF": 0.55, "LSA 200": 0.58}
    rows = [LeaderboardRow(name, "02_bag_of_words", {"stsb": {"spearman": s, "interval": [s - 0.04, s + 0.03]}}, 500, 0.3, 0, "laptop", {})
            for name, s in scores.items()]
    return [*rows, LeaderboardRow("one-hot", "01_one_hot", {"course-sts": {"spearman": 0.3, "interval": None}}, 9, 0.1, 0, "laptop", {})]


def _counts() -> np.ndarray:
    return np.sort((5000 / np.arange(1, 3001) ** 1.1).astype(int) + 1)[::-1]


def _points(n: int = 60) -> tuple[np.ndarray, list[str]]:
    return np.random.default_rng(0).normal(size=(n, 2)), [f"topic {k % 4}" for k in range(n)]


def _mixtures(n: int) -> np.ndarray:
    return np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], size=n)


FIGURES: dict[str, Callable] = {
    "zipf": lambda: plots.zipf(_counts(), title=FINDING, words=[f"w{k}" for k in range(3000)]),
    "heaps": lambda: plots.heaps({"news": ([10, 100, 1000], [8, 60, 300]), "$wiki$": ([10, 100, 900], [9, 70, 380])}, title=FINDING),
    "heaps_log": lambda: plots.heaps({"news": ([10, 100, 1000], [8, 60, 300])}, title=FINDING, log=True),
    "matrix_memory": lambda: plots.matrix_memory([100, 1e4, 1e6], [2e7, 2e9, 2e11], [3e4, 3e6, 3e8], title=FINDING),
    "sparsity": lambda: plots.sparsity([100, 1000, 10_000], [0.5, 0.06, 0.007], title=FINDING),
    "spy_counts": lambda: plots.spy_counts(np.random.default_rng(0).random((300, 900)) < 0.05, title=FINDING),
    "ngram_growth": lambda: plots.ngram_growth([1, 2, 3], [13_900, 97_800, 161_000], [0.4, 0.7, 0.9], title=FINDING),
    "retrieval_bars": lambda: plots.retrieval_bars(["first $hit$", "second"], [0.6, 0.2], relevant=[True, False], title=FINDING),
    "score_curves": lambda: plots.score_curves({"long texts": ([2, 10, 100], [20, 45, 63]), "$short$": ([2, 10, 100, 300], [20, 40, 45, 52])},
                                               title=FINDING, xlabel="dimension", ylabel="score", levels={"TF-IDF": 68, "counts": 64}),
    "document_map": lambda: plots.document_map(*_points(), title=FINDING, names={3: "this one"}),
    "similarity_matrix": lambda: plots.similarity_matrix(np.eye(4), ["king", "queen", "apple", "pear"], title=FINDING),
    "similarity_matrix_long": lambda: plots.similarity_matrix(np.eye(4), ["a fairly long sentence about cats"] * 4, title=FINDING),
    "roofline": lambda: plots.roofline(1e11, 2e10, {"$three$ lines": (24, 2e10), "steps": (0.1, 1e9), "product": (100, 9e10)}, title=FINDING),
    "roofline_bounds": lambda: plots.roofline(1e15, 5e12, {}, title=FINDING, bounds={"product": 48, "kernel": 16_000}),
    "memory_growth": lambda: plots.memory_growth({"table": ([1e3, 1e5], [1e7, 1e11]), "blocks": ([1e3, 1e5], [1e7, 1e8])}, title=FINDING, mark=3e4,
                                                 measured={"table": ([1e3], [1e7])}, limits={"a laptop": 8e9}),
    "tile_map": lambda: plots.tile_map(70, 16, title=FINDING, programs=[14]),
    "tile_lanes": lambda: plots.tile_lanes({"before": np.ones((8, 8)), "after": np.tril(np.full((8, 8), -np.inf))}, range(8), range(8),
                                           title=FINDING, n=6),
    "error_growth": lambda: plots.error_growth([0, 1, 30], {"raw": [1e-6, 1e-3, 10], "shifted": [1e-6] * 3}, xlabel="offset", title=FINDING),
    "topic_simplex": lambda: plots.topic_simplex(np.eye(3) * 0.7 + 0.1, _mixtures(20), corners=["a", "$b$", "c"], names=["x", "$y$", "z"],
                                                 seen=_mixtures(20), title=FINDING),
    "posterior_simplex": lambda: plots.posterior_simplex({"$three$ words": (_mixtures(300), np.array([0.7, 0.3, 0.0])),
                                                          "thirty": (_mixtures(300), np.array([0.0, 0.0, 1.0]))}, corners=["x", "y", "$z$"],
                                                         title=FINDING),
    "mixture_bars": lambda: plots.mixture_bars(_mixtures(6), [f"document ${k}$" for k in range(6)], names=["war, army", "$film$", "ions"],
                                               title=FINDING),
    "topic_words": lambda: plots.topic_words(["war", "$army$"], [30, 4.5], [40, 5], title=FINDING),
    "window_diagram": lambda: plots.window_diagram(["we", "drink", "$hot$", "milk", "now"], 2, half=2, title=FINDING),
    "code_tree": lambda: plots.code_tree({"a": "0", "$b$": "10", "c": "110", "d": "111"}, {"a": 8, "$b$": 4, "c": 2, "d": 1}, title=FINDING,
                                         marked="c"),
    "cost_curves": lambda: plots.cost_curves({"softmax": ([1e3, 1e5], [1e-4, 1e-2]), "$tree$": ([1e3, 1e5], [1e-6, 2e-6])}, title=FINDING,
                                             xlabel="words", ylabel="seconds"),
    "keep_curves": lambda: plots.keep_curves(np.geomspace(1e-6, 0.1, 30), {"code": np.linspace(1, 0, 30), "$paper$": np.linspace(0.9, 0, 30)},
                                             title=FINDING, words={"the": 0.06, "$x$": 1e-4}),
    "pmi_scatter": lambda: plots.pmi_scatter({"few": (np.arange(9.0), np.arange(9.0) ** 1.1), "$many$": tuple(np.ones((2, 3000)).cumsum(axis=1))},
                                             title=FINDING, xlabel="PMI", ylabel="product"),
    "polar_words": lambda: plots.polar_words(["king", "$prince$", "throne"], [2.0, 3.0, 1.0], [0.9, 0.7], title=FINDING),
    "offset_arrows": lambda: plots.offset_arrows({"$capital$": (_points(4)[0], _points(4)[0] + 1, list("abcd"), list("efgh")),
                                                  "comparative": (_points(4)[0], -_points(4)[0], list("abcd"), list("efgh"))}, title=FINDING),
    "ratio_bars": lambda: plots.ratio_bars(["law", "$army$", "the"], [8.0, 0.1, 1.1], first="court", second="army", title=FINDING),
    "weight_curves": lambda: plots.weight_curves([0.1, 1, 10, 100], {"x_max = 100": [0.01, 0.03, 0.2, 1], "$x$": [0.1, 0.2, 1, 1]},
                                                 cells=[0.1, 0.8, 0.99, 1], title=FINDING),
    "paired_scores": lambda: plots.paired_scores({"skip-gram": (5, 4), "$fastText$": (5, 50)}, names=("semantic", "syntactic"), title=FINDING,
                                                 xlabel="%"),
    "sense_shares": lambda: plots.sense_shares({"skip-gram": (np.linspace(0.1, 0.9, 9), np.linspace(0.3, 0.7, 9) ** 1.1)}, title=FINDING),
    "ngram_ladder": lambda: plots.ngram_ladder("where", ["<wh", "whe", "her", "ere", "re>", "where"], shared=["her"], title=FINDING),
    "neighbour_grid": lambda: plots.neighbour_grid({"goverment": [("government", 0.9), ("$x$", 0.5)], "wars": [("mrs", 0.6), ("war", 0.4)]},
                                                   hits={"goverment": "government"}, title=FINDING),
    "training_panels": lambda: plots.training_panels([_points()[0], _points()[0] * 2], _points()[1], steps=["before", "$after$"], title=FINDING,
                                                     shapes=["$x$", "y"] * 30),
    "norm_by_frequency": lambda: plots.norm_by_frequency({"$static$": (_counts()[:400], np.linspace(1, 2, 400)),
                                                          "contextual": (_counts(), np.linspace(3, 4, 3000))}, title=FINDING),
    "cone": lambda: plots.cone({"$trained$": _points()[0] + 3, "skip-gram": _points()[0]}, title=FINDING, marked={"skip-gram": [True, False] * 30}),
    "knn_by_frequency": lambda: plots.knn_by_frequency([[0, 100], [100, 500], [500, 5000], [5000, 8192]], np.arange(12.0).reshape(4, 3),
                                                       np.ones((4, 3)), ks=(3, 5, 7), title=FINDING),
    "singular_spectrum": lambda: plots.singular_spectrum({"$trained$": 1 / np.arange(1.0, 257), "random": np.linspace(1, 0.5, 100)}, title=FINDING),
    "layer_lines": lambda: plots.layer_lines({"$LessonBERT$": (range(5), [0.1, 0.2, 0.3, 0.3, 0.5])}, title=FINDING, ylabel="mean cosine",
                                             published={"BERT": (range(13), np.linspace(0.1, 0.5, 13)), "ELMo": (range(3), [0, 0.1, 0.5])}),
    "film": lambda: plots.film([0, 1e5, 1e6, 3e7], {"mean cosine": [0, 0.1, 0.4, 0.6], "$r$ of length": [0, -0.4, -0.7, -0.8]}, title=FINDING,
                               ylabel="value"),
    "similarity_histogram": lambda: plots.similarity_histogram({"raw $BERT$": np.linspace(0.8, 1, 500), "mean of GloVe": np.linspace(-0.3, 0.9, 500)},
                                                               title=FINDING),
    "layer_pooling_heatmap": lambda: plots.layer_pooling_heatmap(np.arange(15.0).reshape(5, 3), range(5), ["[CLS]", "mean", "max"], title=FINDING),
    "pooling_maps": lambda: plots.pooling_maps({"trained": np.arange(15.0).reshape(5, 3), "$random$": np.ones((5, 3))}, range(5),
                                               ["[CLS]", "mean, $all$", "max"], title=FINDING),
    "loss_curves": lambda: plots.loss_curves({"here": ([1e3, 1e4, 1e5], [6.2, 5.0, 4.9]), "$LessonBERT$": ([1e5, 1e6, 1e8], [9, 7, 3])},
                                             {"here": {"chance": 6.2, "counts": 5.1}, "$LessonBERT$": {"chance": 9, "$counts$": 7}}, title=FINDING),
    "attention_map": lambda: plots.attention_map(np.eye(3), ["[CLS]", "$ships$", "sail"], title=FINDING),
    "whitening_steps": lambda: plots.whitening_steps({"$before$": _points()[0] * [3, 1] + 2, "turned": _points()[0] * [3, 1], "round": _points()[0]},
                                                     title=FINDING, marked=[0, 1]),
    "covariance_maps": lambda: plots.covariance_maps({"$before$": np.cov(_points()[0].T), "after": np.eye(2)}, title=FINDING),
    "parameter_map": lambda: plots.parameter_map(np.arange(6.0).reshape(2, 3), [0, 1], [0, 0.5, 1], title=FINDING),
    "density_panels": lambda: plots.density_panels({"$z$": (_points()[0][:, 0], np.linspace(-3, 3, 50), np.full(50, 0.2))}, title=FINDING),
    "deformed_plane": lambda: plots.deformed_plane(lambda p: p @ np.array([[1.0, 0.0], [1.0, 2.0]]), title=FINDING, headings=("$z$", "x")),
    "density_maps": lambda: plots.density_maps({"$data$": (_points()[0], np.linspace(-3, 3, 9), np.arange(81.0).reshape(9, 9))}, title=FINDING),
    "likelihood_and_score": lambda: plots.likelihood_and_score([0, 1, 2], {"$learned$": [2.0, 1.9, 1.8], "held out": [np.nan, 1.95, 1.9]},
                                                               {"stsb": [60, 61, 60]}, title=FINDING),
    "leaderboard_climb": lambda: plots.leaderboard_climb({"$counts$": {r.encoder: r for r in make_rows()[:2]}, "later": {"LSA": make_rows()[2]}},
                                                         dataset="stsb", title=FINDING, controls={"LSA": make_rows()[0]}, apart="later"),
    "bottleneck_diagram": lambda: plots.bottleneck_diagram(["a", "$dog$", "runs"], encoder_hides=[False, True, False],
                                                           decoder_hides=[True, False, True], title=FINDING),
    "race_dots": lambda: plots.race_dots({"$captions$": {"as it is": (50.7, 0.0), "$one$": (53.8, 0.8)}}, title=FINDING, xlabel="score",
                                         controls={"$captions$": {"as it is": (52.0, 0.0)}}),
    "cut_curves": lambda: plots.cut_curves({"$nested$": ([8, 64, 256], [40, 52, 54]), "as it is": ([8, 64, 256], [26, 43, 46]),
                                            "untrained": ([8, 64, 256], [38, 52, 52])}, like={"untrained": "as it is"}, title=FINDING, ylabel="kept"),
    "siamese_diagram": lambda: plots.siamese_diagram({"it learns": (["$premise$", "hypothesis"], "softmax (u, v, |u - v|)"),
                                                      "both": (["a", "b"], "score")}, joined=["both"], title=FINDING),
    "cosines_by_label": lambda: plots.cosines_by_label({"before": {"$a$": [0.1, 0.9], "b": [0.3, 0.8]}, "after": {"$a$": [0.5], "b": [-0.3, 0.2]}},
                                                       title=FINDING),
    "ablation_dots": lambda: plots.ablation_dots({"paper": {"$(u, v)$": 66.0, "all": (80.8, 0.4)}, "here": {"all": 60.0}}, title=FINDING,
                                                 controls={"here": {"all": 55.0}}),
    "plane_of_encoders": lambda: plots.plane_of_encoders({"$counts$": (-3.9, 0.6, 58), "BERT": (-1.7, 0.2, 46), "SimCSE": (-2.9, 0.3, 66)},
                                                         title=FINDING, marked=["SimCSE"]),
    "plane_of_trainings": lambda: plots.plane_of_trainings({"$dropout$": ([-1.7, -2.2, -2.6], [0.2, 0.25, 0.3]), "none": ([-1.7, -2], [0.2, 0.3])},
                                                           title=FINDING, points={"start weights": (-0.2, 0.05)}),
    "leaderboard_bars": lambda: plots.leaderboard_bars(make_rows(), dataset="stsb", title=FINDING, highlight="TF-IDF"),
}


@pytest.fixture(params=FIGURES)
def any_figure(request):
    """Each figure of the room in turn."""
    return FIGURES[request.param]()


@pytest.fixture
def rows() -> list[LeaderboardRow]:
    return make_rows()
