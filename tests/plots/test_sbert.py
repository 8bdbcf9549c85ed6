"""Networks that share their weights, cosines by label, and ablations on two scales."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

TABLE = {"(u, v)": 66.0, "|u - v|": (69.8, 1.5), "all": (80.8, 0.4)}


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_a_siamese_network_has_an_encoder_for_each_text_and_a_cross_encoder_has_one():
    pair = ["premise", "hypothesis"]
    fig = plots.siamese_diagram({"bi": (pair, "cosine"), "cross": (pair, "score")}, title=FINDING, joined=["cross"])
    bi, cross = (words(ax) for ax in fig.axes)
    assert bi.count("encoder") == 2 and cross.count("encoder") == 1
    assert {"$u$", "$v$"} <= set(bi) and not {"$u$", "$v$"} & set(cross)


def test_a_triplet_has_three_vectors():
    ax = plots.siamese_diagram({"triplet": (["a", "p", "n"], "margin")}, title=FINDING).axes[0]
    assert words(ax).count("encoder") == 3 and {"$a$", "$p$", "$n$"} <= set(words(ax))


def test_medians_stand_where_they_are_and_panels_share_their_axis():
    groups = {"entailment": np.linspace(0.5, 0.9, 41), "contradiction": np.linspace(0.1, 0.5, 41)}
    fig = plots.cosines_by_label({"before": groups, "after": {k: v - 0.3 for k, v in groups.items()}}, title=FINDING)
    assert words(fig.axes[0]) == ["0.70", "0.30"] and words(fig.axes[1]) == ["0.40", "0.00"]
    assert fig.axes[0].get_xlim() == fig.axes[1].get_xlim()
    far, near = (line.get_xdata() for line in fig.axes[0].lines[:2])
    assert np.allclose(far, [0.52, 0.88]) and np.allclose(near, [0.6, 0.8])


def test_every_panel_of_an_ablation_has_its_own_scale_its_best_row_marked_and_its_spread():
    fig = plots.ablation_dots({"paper": TABLE, "here": {"(u, v)": 50.0, "all": 49.0}}, controls={"here": {"all": (40.0, 2.0)}}, title=FINDING)
    left, right = fig.axes
    best = plots.PALETTE["vermillion"]
    marked = [[line.get_xdata()[0] for line in ax.lines if line.get_color() == best and len(line.get_xdata()) == 1] for ax in fig.axes]
    assert marked == [[80.8], [50.0]] and left.get_xlim() != right.get_xlim()
    assert any(np.allclose(line.get_xdata(), [68.3, 71.3]) for line in left.lines)
    assert any(np.allclose(line.get_xdata(), [38, 42]) for line in right.lines)
    assert "hollow" in right.get_xlabel() and "hollow" not in left.get_xlabel()


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.siamese_diagram({}, title="x"), "panels holds 0 networks"),
    (lambda: plots.siamese_diagram({"a": (["1", "2", "3", "4"], "x")}, title="x"), "of 1 to 3"),
    (lambda: plots.cosines_by_label({"a": {"x": [0.1]}, "b": {"y": [0.1]}}, title="x"), "the same 1 to"),
    (lambda: plots.ablation_dots({}, title="x"), "panels holds 0 panels"),
    (lambda: plots.ablation_dots({"a": TABLE}, controls={"b": TABLE}, title="x"), "controls for these panels"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
