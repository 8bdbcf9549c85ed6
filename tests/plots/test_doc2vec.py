"""Figures about document vectors: a document beside the words around, paths of inference, bars with their runs."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

MAP, WAY = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]]), np.array([[0.0, 0.0], [0.5, 0.5], [2.0, 1.0]])


def test_the_document_stands_among_the_inputs_of_both_models_and_alone_in_dbow():
    fig = plots.paragraph_diagram(["we", "drink", "milk"], 1, half=1, document="page 7", title=FINDING)
    dm, dbow = fig.axes
    assert [ax.get_title().partition(":")[0] for ax in fig.axes] == ["PV-DM", "PV-DBOW"]
    words = [[t.get_text() for t in ax.texts if t.get_text()] for ax in fig.axes]
    assert all("page 7" in w and "?" in w and "drink" in w for w in words)
    arrows = [sum(t.get_text() == "" for t in ax.texts) for ax in (dm, dbow)]
    assert arrows == [4, 1]                       # two words and the document to their combination, which guesses; the document alone


def test_a_path_begins_with_a_ring_and_ends_with_a_diamond_and_its_name():
    ax = plots.inference_paths(MAP, ["a", "b", "a"], {"new": WAY}, title=FINDING).axes[0]
    ring, end = (next(line for line in ax.lines if line.get_marker() == mark and line.get_zorder() >= 4) for mark in ("o", "D"))
    assert np.allclose(ring.get_xydata(), WAY[:1]) and np.allclose(end.get_xydata(), WAY[-1:])
    assert [t.get_text() for t in ax.texts] == ["new"]
    assert any(np.array_equal(line.get_xydata(), WAY) for line in ax.lines)


def test_bars_are_means_in_falling_order_with_a_dot_for_each_run_and_the_marked_in_colour():
    ax = plots.probe_bars({"low": [1.0], "high": [4.0, 6.0]}, title=FINDING, xlabel="accuracy, %", marked=["low"], chance=0.5).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [5.0, 1.0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["high", "low"]
    assert np.allclose(ax.lines[0].get_xdata(), [4, 6])
    assert [t.get_text() for t in ax.texts] == ["5.0", "1.0", "guessing"]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.paragraph_diagram(["a"] * 7, 1, half=1, document="d", title="x"), "tokens has 7 words"),
    (lambda: plots.paragraph_diagram(["a"], 0, half=1, document="d", title="x"), "0 neighbours"),
    (lambda: plots.inference_paths(MAP, ["a"], {"new": WAY}, title="x"), "labels has 1 values for 3 points"),
    (lambda: plots.inference_paths(MAP, ["a"] * 3, {}, title="x"), "paths holds 0"),
    (lambda: plots.probe_bars({}, title="x", xlabel="y"), "scores holds 0 names"),
    (lambda: plots.probe_bars({"a": [1.0]}, title="x", xlabel="y", marked=["b"]), "not 'b'"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
