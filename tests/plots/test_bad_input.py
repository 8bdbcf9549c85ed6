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
    ("overlap_rows", {"texts": {"one": ["a"]}}, "texts holds 1", "2 to 4"),
    ("overlap_rows", {"texts": {"one": [], "two": []}}, "texts holds no words"),
    ("equal_distances", {"words": ["a", "b"]}, "words holds 2", "4 to 4"),
    ("score_curves", {"curves": SIX}, "curves holds 6", "1 to 5"),
    ("cost_curves", {"curves": {"x": ([1], [0])}}, "curves['x'][1][0]=0", "> 0"),
    ("cost_curves", {"curves": {}}, "curves holds 0"),
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
    ("loss_bounds", {"scales": [1, 1, 2]}, "scales", "rising"),
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
    ("error_parts", {"bars": {"a": {"level": -1.0}}}, "bars", ">= 0"),
    ("error_parts", {"bars": {"a": {"x": 1.0}, "b": {"y": 1.0}}}, "bars", "the same 1 to 3"),
    ("knn_by_frequency", {"ks": (3,)}, "distances", "expected 1 columns"),
    ("knn_by_frequency", {"edges": [[0, 100, 3]] * 4}, "edges", "expected 2 columns"),
    ("knn_by_frequency", {"edges": [[0, 100]]}, "edges: 1", "distances: 4"),
    ("density_panels", {"panels": {"x": (P[:, 0], [0, 1, 1], [1, 1, 1])}}, "x[1]", "rising"),
    ("density_panels", {"panels": {"x": (P[:, 0], [0, 1, 2], [1, 1])}}, "x[1]: 3", "x[2]: 2"),
    ("density_panels", {"panels": {"x": (P[:, 0], [0, 1, 2], [1, -1, 1])}}, "x[2]", ">= 0"),
    ("density_panels", {"panels": PANELS}, "panels holds 5 pictures", "1 to 3"),
    ("cosines_by_label", {"panels": {"a": {"x": [0.1]}, "b": {"y": [0.1]}}}, "panels", "the same"),
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
    ("leaderboard_climb", {"printed": {"four": 80.0}}, "printed['four']", "expected one of"),
    ("leaderboard_climb", {"apart": "x"}, "apart='x'", "expected one of"),
    ("document_map", {"points": np.zeros((3, 3))}, "points has shape (3, 3)", "2 columns"),
    ("document_map", {"labels": "ab"}, "labels: 2", "points: 60"),
    ("document_map", {"points": [[np.nan, 1]]}, "points[0] holds NaN", "finite"),
    ("document_map", {"labels": range(60)}, "labels has 60", "<= 20", "Draw some"),
    ("training_panels", {"labels": ["a"]}, "labels: 1", "frames[0]: 60"),
    ("training_panels", {"steps": ["a"]}, "frames: 2", "steps: 1"),
    ("training_panels", {"shapes": range(60)}, "shapes 60 different", "<= 5"),
    ("norm_by_frequency", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("norm_by_frequency", {"panels": {"a": ([0, 1], [1, 2])}}, "panels['a'][0][0]=0", "> 0"),
    ("norm_by_frequency", {"panels": {"a": ([1, 2], [1, 2, 3])}}, "panels['a'][1]: 3"),
    ("cone", {"panels": PANELS}, "panels holds 5 pictures", "1 to 3"),
    ("cone", {"marked": {"skip-gram": [True]}}, "marked['skip-gram']: 1", "60"),
    ("cone", {"share": 2}, "share=2"),
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
    ("offset_arrows", {"panels": {"x": (TWO, TWO, "abc", "ab")}}, "names: 3", "starts of x: 2"),
    ("offset_arrows", {"panels": {"x": (P[:11], P[:11], "a" * 11, "b" * 11)}}, "holds 11 pairs"),
    ("offset_arrows", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("posterior_simplex", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("count_table", {"rows": ["a"]}, "values has shape (2, 3)", "1 rows"),
    ("count_table", {"values": np.full((2, 3), -1)}, "values", "numbers >= 0"),
    ("similarity_matrix", {"labels": ["a", "b"]}, "values has shape (4, 4)", "2 labels"),
    ("similarity_matrix", {"values": np.eye(15), "labels": ["a"] * 15}, "values", "at most 14"),
    ("tile_lanes", {"panels": {}}, "panels holds 0", "1 to 2"),
    ("tile_lanes", {"panels": {"a": np.zeros((3, 4))}}, "panels['a']", "(8, 8)"),
    ("tile_lanes", {"panels": {k: np.zeros((8, 8)) for k in "abc"}}, "panels holds 3", "1 to 2"),
    ("code_tree", {"codes": {"a": "0", "b": "01"}, "marked": None}, "codes", "begins another"),
    ("code_tree", {"marked": "z"}, "marked='z'"),
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
