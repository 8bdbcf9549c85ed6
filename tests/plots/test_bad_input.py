"""What no figure can be drawn from is refused by name, with what would do."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import ARGUMENTS, FINDING, P, draw, make_rows

ROWS, TWO = make_rows(), np.zeros((2, 2))
THIRDS, CUT = np.full((21, 3), 1 / 3), ([8, 256], [40, 54])
FIVE = {str(k): ([0, 1], [0, 1]) for k in range(5)}
SIX, PANELS = FIVE | {"5": ([1], [1])}, {str(k): P for k in range(5)}

# case of ARGUMENTS, what is changed in it, words that the message must hold; ValueError
REFUSED = [
    ("zipf", {"counts": [3, 0, 1]}, "counts[1]=0", "> 0"),
    ("zipf", {"counts": []}, "counts has 0", ">= 1"),
    ("zipf", {"counts": [5], "words": None}, "fit=(10, 1000)", ">= 2"),
    ("zipf", {"fit": (50, 10)}, "fit=(50, 10)", ">= 2"),
    ("zipf", {"words": ["a"]}, "words: 1", "counts: 3000"),
    ("heaps", {"curves": {"a": ([1, 2], [1])}}, "curves['a'][0]: 2", "curves['a'][1]: 1"),
    ("heaps", {"curves": {}}, "curves holds 0", "1 to"),
    ("heaps", {"curves": [1, 2]}, "curves=[1, 2]", "dict"),
    ("matrix_memory", {"csr_bytes": [1, 2, np.nan]}, "csr_bytes[2] holds NaN", "finite"),
    ("matrix_memory", {"memory": np.nan}, "memory=nan"),
    ("sparsity", {"sizes": [1]}, "sizes: 1", "nonzero_share: 3"),
    ("sparsity", {"nonzero_share": [0.5, 1.5, 0.1]}, "nonzero_share[1]=1.5", "[0, 1]"),
    ("sparsity", {"nonzero_share": [0.5, 0, 0.1]}, "nonzero_share[1]=0", "> 0"),
    ("ngram_growth", {"once": [0.5]}, "n: 3", "once: 1"),
    ("ngram_growth", {"once": [2.0] * 3}, "once[0]=2", "[0, 1]"),
    ("spy_counts", {"matrix": np.zeros((0, 3))}, "matrix has shape (0, 3)"),
    ("spy_counts", {"matrix": [1, 0, 2]}, "matrix has shape (3,)"),
    ("spy_counts", {"matrix": [[1, np.nan]]}, "matrix.data[1] holds NaN"),
    ("score_curves", {"curves": SIX}, "curves holds 6", "1 to 5"),
    ("cost_curves", {"curves": {"x": ([1], [0])}}, "curves['x'][1][0]=0", "> 0"),
    ("cost_curves", {"curves": {}}, "curves holds 0"),
    ("keep_curves", {"frequencies": [0.1, 0.2]}, "frequencies: 2", "curves['code']: 30"),
    ("keep_curves", {"curves": {"x": [2] * 30}}, "curves['x'][0]=2", "[0, 1]"),
    ("weight_curves", {"curves": {"f": [0.1, 0.2, 0.3, 1.1]}}, "curves['f'][3]=1.1", "[0, 1]"),
    ("weight_curves", {"cells": [0.1]}, "counts: 4", "cells: 1"),
    ("frequency_weights", {"curves": {}}, "curves holds 0", "1 to 9"),
    ("frequency_weights", {"curves": {"$a$": ([0, 1], [1, 1])}}, "curves['$a$'][0][0]=0"),
    ("frequency_weights", {"highlight": "b"}, "highlight='b'", "$a$"),
    ("tuning_curves", {"sizes": [0, 1, 2]}, "sizes[0]=0", "> 0"),
    ("tuning_curves", {"scores": {"a": [1]}}, "sizes: 3", "scores['a']: 1"),
    ("tuning_curves", {"tolerance": -1}, "tolerance=-1"),
    ("cut_curves", {"like": {"untrained": "other"}}, "like=", "a colour of its own"),
    ("cut_curves", {"curves": {"a": CUT, "b": ([8], [1])}, "like": None}, "the same sizes"),
    ("cut_curves", {"names": "above"}, "names='above'", "start"),
    ("layer_lines", {"published": FIVE}, "published holds 5", "0 to 4"),
    ("layer_lines", {"published": {"x": ([0, 0], [0, 1])}}, "published['x'][0]", "rising"),
    ("layer_lines", {"published": {"x": ([-1, 0], [0, 1])}}, "published['x']", ">= 0"),
    ("layer_lines", {"curves": {}, "published": None}, "curves and published", ">= 1"),
    ("film", {"steps": [0, 1]}, "steps has 2 rows", ">= 3"),
    ("film", {"curves": {"a": [0, 1]}}, "curves['a'][0]: 4", "curves['a'][1]: 2"),
    ("film", {"curves": {}}, "curves holds 0", ">= 1"),
    ("singular_spectrum", {"curves": {"a": [1.0, 2.0]}}, "curves['a']", "never rise"),
    ("singular_spectrum", {"curves": {}}, "curves holds 0"),
    ("loss_curves", {"levels": {"here": {}}}, "levels", "the runs of curves"),
    ("loss_curves", {"curves": {"here": ([0, 1], [2, 1])}}, "curves['here'][0][0]=0", "> 0"),
    ("loss_bounds", {"scales": [1, 1, 2]}, "scales", "rising"),
    ("objective_curves", {"curves": {"a": [1, 2]}}, "curves['a']", "expected 3 columns"),
    ("likelihood_and_score", {"bits": {"a": [3, 2]}}, "steps: 3", "bits['a']: 2"),
    ("memory_growth", {"curves": {}}, "curves holds 0"),
    ("memory_growth", {"curves": {"a": ([0, 1], [1, 2])}}, "curves['a'][0][0]=0", "> 0"),
    ("memory_growth", {"curves": {"a": ([], [])}}, "curves['a'][0]", ">= 1"),
    ("roofline", {"dots": {"loss": (0.0, 1e9)}}, "dots['loss'][0]=0", "> 0"),
    ("roofline", {"dots": {"loss": (1.0, -1e9)}}, "dots['loss'][1]=-1e+09", "> 0"),
    ("roofline", {"dots": {"loss": (np.nan, 1e9)}}, "dots['loss'][0] holds NaN"),
    ("roofline", {"flops": 0.0}, "flops=0"),
    ("roofline", {"bandwidth": -1.0}, "bandwidth=-1"),
    ("roofline", {"flops": np.inf}, "flops=inf"),
    ("retrieval_bars", {"labels": ["a"]}, "labels: 1", "scores: 2"),
    ("retrieval_bars", {"labels": ["a"] * 21, "scores": [1] * 21, "relevant": None},
     "labels holds 21", "1 to 20"),
    ("probe_bars", {"scores": {}}, "scores holds 0", "1 to 12"),
    ("probe_bars", {"marked": ["b"]}, "marked=['b']", "names of scores"),
    ("topic_words", {"words": ["a"]}, "words: 1", "inside: 2"),
    ("ratio_bars", {"ratios": [1.0, 0.0, 2.0]}, "ratios[1]=0", "> 0"),
    ("ratio_bars", {"ratios": [1.0, 2.0]}, "words: 3", "ratios: 2"),
    ("paired_scores", {"rows": {str(k): (1, 2) for k in range(11)}}, "rows holds 11", "1 to 10"),
    ("error_parts", {"bars": {"a": {"level": -1.0}}}, "bars", ">= 0"),
    ("error_parts", {"bars": {"a": {"x": 1.0}, "b": {"y": 1.0}}}, "bars", "the same 1 to 3"),
    ("mixture_bars", {"labels": ["a", "b"]}, "labels: 2", "mixtures: 6"),
    ("mixture_bars", {"names": ["a", "b"]}, "names: 2", "topics: 3"),
    ("mixture_bars", {"mixtures": THIRDS, "labels": ["a"] * 21}, "labels holds 21", "1 to 20"),
    ("share_bars", {"shares": {}}, "shares holds 0", "1 to 3"),
    ("share_bars", {"bands": ["a"]}, "bands: 1", "shares['one']: 2"),
    ("knn_by_frequency", {"ks": (3,)}, "distances", "expected 1 columns"),
    ("knn_by_frequency", {"edges": [[0, 100, 3]] * 4}, "edges", "expected 2 columns"),
    ("knn_by_frequency", {"edges": [[0, 100]]}, "edges: 1", "distances: 4"),
    ("similarity_histogram", {"cosines": {}}, "cosines holds 0", "1 to 8"),
    ("similarity_histogram", {"cosines": {"a": [0, 1.5]}}, "cosines['a']", "[-1, 1]"),
    ("density_panels", {"panels": {"x": (P[:, 0], [0, 1, 1], [1, 1, 1])}}, "x[1]", "rising"),
    ("density_panels", {"panels": {"x": (P[:, 0], [0, 1, 2], [1, 1])}}, "x[1]: 3", "x[2]: 2"),
    ("density_panels", {"panels": {"x": (P[:, 0], [0, 1, 2], [1, -1, 1])}}, "x[2]", ">= 0"),
    ("density_panels", {"panels": PANELS}, "panels holds 5 pictures", "1 to 3"),
    ("cosines_by_label", {"panels": {"a": {"x": [0.1]}, "b": {"y": [0.1]}}}, "panels", "the same"),
    ("ablation_dots", {"panels": {}, "controls": None}, "panels holds 0", "1 to 2"),
    ("ablation_dots", {"controls": {"b": {}}}, "controls=['b']", "these panels"),
    ("race_dots", {"panels": {}, "controls": {}}, "panels holds 0", "1 to 2"),
    ("race_dots", {"panels": {"a": {"x": (1, 0)}, "b": {"y": (1, 0)}}, "controls": {}},
     "panels", "the same rows"),
    ("race_dots", {"controls": {"b": {}}}, "controls=['b']", "these panels"),
    ("leaderboard_bars", {"rows": []}, "rows holds 0 rows", "Leaderboard().add"),
    ("leaderboard_bars", {"dataset": "stsbb"}, "dataset='stsbb'", "Did you mean 'stsb'"),
    ("leaderboard_climb", {"families": {}}, "families holds 0", "1 to 5"),
    ("leaderboard_climb", {"families": {"a": {"x": ROWS[0]}, "b": {"x": ROWS[1]}}},
     "families", "twice"),
    ("leaderboard_climb", {"families": {"later": {"LSA": ROWS[3]}}}, "'LSA' was not measured",
     "dataset='stsb'", "course-sts"),
    ("leaderboard_climb", {"controls": {"four": ROWS[0]}}, "controls['four']", "expected one of"),
    ("leaderboard_climb", {"apart": "x"}, "apart='x'", "expected one of"),
    ("document_map", {"points": np.zeros((3, 3))}, "points has shape (3, 3)", "2 columns"),
    ("document_map", {"labels": "ab"}, "labels: 2", "points: 60"),
    ("document_map", {"points": [[np.nan, 1]]}, "points[0] holds NaN", "finite"),
    ("document_map", {"labels": range(60)}, "labels has 60", "<= 20", "Draw some"),
    ("inference_paths", {"labels": ["a"]}, "labels: 1", "points: 60"),
    ("inference_paths", {"paths": {}}, "paths holds 0", "1 to 5"),
    ("walk_map", {"names": ["a", "b"]}, "names: 2", "places: 3"),
    ("walk_map", {"said": [0, 3]}, "said holds 0 to 3", "rows of the 3 words"),
    ("training_panels", {"labels": ["a"]}, "labels: 1", "frames[0]: 60"),
    ("training_panels", {"steps": ["a"]}, "frames: 2", "steps: 1"),
    ("training_panels", {"shapes": range(60)}, "shapes 60 different", "<= 5"),
    ("norm_by_frequency", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("norm_by_frequency", {"panels": {"a": ([0, 1], [1, 2])}}, "panels['a'][0][0]=0", "> 0"),
    ("norm_by_frequency", {"panels": {"a": ([1, 2], [1, 2, 3])}}, "panels['a'][1]: 3"),
    ("cone", {"panels": PANELS}, "panels holds 5 pictures", "1 to 3"),
    ("cone", {"marked": {"skip-gram": [True]}}, "marked['skip-gram']: 1", "60"),
    ("cone", {"share": 2}, "share=2"),
    ("cone_panels", {"labels": ["a"]}, "labels: 1", "panels['before']: 60"),
    ("cone_panels", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("whitening_steps", {"panels": {"a": P}}, "panels holds 1", "2 to 4"),
    ("whitening_steps", {"panels": {"a": P, "b": P[:5]}}, "a: 60", "b: 5"),
    ("whitening_steps", {"marked": [900]}, "marked[0]=900", "[0, 59]"),
    ("deformed_plane", {"move": lambda p: p[1:]}, "move(points): 159", "given: 160"),
    ("pulls", {"panels": {"a": [1.0]}}, "grades: 4", "panels['a']: 1"),
    ("pulls", {"target": "b"}, "target='b'", "none of the panels a"),
    ("plane_of_encoders", {"points": {"a": (0, 0, 0)}, "marked": ()}, "points holds 1", "2 to 36"),
    ("plane_of_encoders", {"marked": ["b"]}, "marked=['b']", "names out of"),
    ("plane_of_encoders", {"score_limits": (70, 40)}, "score_limits=(70, 40)", "lower one first"),
    ("plane_of_trainings", {"paths": {}}, "paths holds 0", "1 to 5"),
    ("plane_of_trainings", {"paths": {"a": ([1, 2], [1, 2, 3])}}, "paths['a'][1]: 3"),
    ("pmi_scatter", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("pmi_scatter", {"panels": {"a": (np.ones(2), np.ones(3))}}, "panels['a'][1]: 3"),
    ("sense_shares", {"panels": {}}, "panels holds 0"),
    ("sense_shares", {"panels": {"a": (np.ones(2), np.ones(3))}}, "panels['a'][1]: 3"),
    ("polar_words", {"cosines": [0.5]}, "cosines have (3, 3, 1)", "expected 3, 3, 2"),
    ("polar_words", {"cosines": [0.5, 1.5]}, "cosines=", "[-1, 1]"),
    ("offset_arrows", {"panels": {"x": (TWO, TWO, "abc", "ab")}}, "names: 3", "starts of x: 2"),
    ("offset_arrows", {"panels": {"x": (P[:11], P[:11], "a" * 11, "b" * 11)}}, "holds 11 pairs"),
    ("offset_arrows", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("topic_simplex", {"documents": [[0.5, 0.5, 0.5]]}, "documents", "sum to 1"),
    ("topic_simplex", {"documents": [[1.5, -0.5, 0.0]]}, "documents", ">= 0"),
    ("topic_simplex", {"seen": THIRDS}, "seen: 21", "documents: 20"),
    ("topic_simplex", {"corners": ["a", "b"]}, "corners has 2", "expected 3"),
    ("topic_simplex", {"names": ["x"]}, "names: 1", "topics: 3"),
    ("posterior_simplex", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("similarity_matrix", {"labels": ["a", "b"]}, "values has shape (4, 4)", "2 labels"),
    ("similarity_matrix", {"values": np.eye(15), "labels": ["a"] * 15}, "values", "at most 14"),
    ("layer_pooling_heatmap", {"layers": [0]}, "shape (5, 3) for 1 labels", "agree"),
    ("attention_map", {"weights": [[0.7, 0.8], [0.9, 0.1]]}, "a row that sums to 1.5", "shares"),
    ("pooling_maps", {"panels": {"one": np.ones((5, 3))}}, "panels holds 1", "2 to 3"),
    ("pooling_maps", {"panels": {"a": np.ones((5, 3)), "b": TWO}}, "panels", "that shape"),
    ("pooling_maps", {"panels": {"a": np.ones((5, 3)), "b": np.full((5, 3), np.nan)}},
     "panels", "without a score", "NaN"),
    ("pooling_maps", {"panels": {"a": np.ones((5, 3)), "b": np.full((5, 3), np.inf)}},
     "panels", "infinite"),
    ("neighbour_grid", {"rows": {"a": [("x", 1.0)], "b": []}}, "rows", "equally many"),
    ("neighbour_grid", {"rows": {str(k): [("x", 1.0)] for k in range(11)}}, "rows holds 11"),
    ("covariance_maps", {"panels": {"a": np.ones((2, 3))}}, "panels['a']", "square"),
    ("tile_map", {"n": 1000}, "n=1000", "Take larger blocks"),
    ("tile_lanes", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("tile_lanes", {"panels": {"a": np.zeros((3, 4))}}, "panels['a']", "(8, 8)"),
    ("tile_lanes", {"panels": {k: np.zeros((8, 8)) for k in "abc"}}, "panels holds 3", "1 to 2"),
    ("window_diagram", {"tokens": ["a"], "centre": 0}, "tokens holds 1 words", "2 to 7"),
    ("window_diagram", {"tokens": ["a"] * 8}, "tokens holds 8 words", "2 to 7"),
    ("window_diagram", {"half": 0}, "half=0"),
    ("paragraph_diagram", {"tokens": ["a"] * 7}, "tokens holds 7 words", "2 to 6"),
    ("paragraph_diagram", {"centre": 3}, "centre=3", "[0, 2]"),
    ("code_tree", {"codes": {"a": "0", "b": "01"}, "marked": None}, "codes", "begins another"),
    ("code_tree", {"marked": "z"}, "marked='z'"),
    ("siamese_diagram", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("siamese_diagram", {"panels": {"a": (list("1234"), "x")}}, "panels['a'] holds 4", "1 to 3"),
    ("bottleneck_diagram", {"pieces": ["a"]}, "pieces holds 1", "2 to 9"),
    ("bottleneck_diagram", {"encoder_hides": [True]}, "pieces: 3", "encoder_hides: 1"),
    ("bottleneck_diagram", {"decoder_hides": [False] * 3}, "decoder_hides", "at least one"),
    ("ngram_ladder", {"parts": ["xyz"]}, "parts=['xyz']", "<where>"),
    ("ngram_ladder", {"parts": []}, "parts=[]", ">= 1"),
    ("ngram_ladder", {"word": "w" * 20, "parts": ["ww"]}, "parts", "at most 16 letters"),
]


@pytest.mark.parametrize(("case", "changed", "words"), [
    pytest.param(case, changed, words, id=f"{case}-{','.join(changed)}")
    for case, changed, *words in REFUSED])
def test_what_cannot_be_drawn_is_refused_by_name(case, changed, words):
    with pytest.raises(ValueError) as caught:
        draw(case, **changed)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("case", ARGUMENTS)
def test_every_figure_wants_a_title_in_words(case):
    with pytest.raises(TypeError, match="title=5 is int; .*the finding"):
        draw(case, title=5)


def test_what_has_no_figure_is_refused_too():
    with pytest.raises(TypeError, match="fit=5 is no pair"):
        draw("zipf", fit=5)
    with pytest.raises(ValueError, match="x holds 1 distinct value"):
        plots.power_law([2, 2], [1, 3])
    with pytest.raises(ValueError, match="corners has 2 rows; expected >= 3"):
        plots.signed_area(TWO)
    with pytest.raises(TypeError, match="title"):
        plots.zipf([3, 2, 1], title=FINDING.split(), fit=(1, 3))
