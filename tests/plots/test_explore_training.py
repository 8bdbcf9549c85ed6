"""The map of a training: every moment is in the figure, the axes never move, and the static twin shows the same points."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

FRAMES = np.random.default_rng(0).normal(size=(3, 12, 2)) * np.array([1, 2, 3])[:, None, None]
LABELS, STEPS, WORDS = ["noun", "verb", "<b>"] * 4, ["0 tokens", "half", "all"], [f"w<{k}>" for k in range(12)]


def explorer(**options):
    return plots.training_explorer(FRAMES, LABELS, steps=STEPS, title=FINDING, hover=WORDS, **options)


def test_every_moment_holds_every_point_of_every_group():
    fig = explorer()
    for k, moment in enumerate(fig.frames):
        for group, trace in zip(("noun", "verb", "<b>"), moment.data, strict=True):
            rows = [i for i, label in enumerate(LABELS) if label == group]
            assert np.allclose(np.column_stack([trace.x, trace.y]), FRAMES[k][rows], atol=6e-4)
    assert [step.label for step in fig.layout.sliders[0].steps] == STEPS


def test_the_figure_begins_where_it_was_asked_to():
    fig = explorer(start=-1)
    assert fig.layout.sliders[0].active == 2 and np.allclose(fig.data[0].x, FRAMES[2][::3, 0], atol=6e-4)


def test_no_point_ever_leaves_the_axes():
    layout = explorer().layout
    for k, axis in enumerate((layout.xaxis, layout.yaxis)):
        assert axis.range[0] < FRAMES[..., k].min() and FRAMES[..., k].max() < axis.range[1]


def test_data_text_is_escaped_and_the_same_frames_give_the_same_bytes():
    assert "<b>" not in explorer().to_json().replace("<extra>", "") and explorer().to_json() == explorer().to_json()


def test_the_static_twin_shows_two_moments_on_the_same_axes():
    fig = plots.training_panels(FRAMES, LABELS, steps=STEPS, title=FINDING)
    left, right = fig.axes
    assert [ax.get_title() for ax in fig.axes] == ["0 tokens", "all"] and left.get_xlim() == right.get_xlim()
    drawn = np.vstack([np.column_stack(line.get_data()) for line in right.lines if len(line.get_xdata())])
    assert np.allclose(np.sort(drawn, axis=0), np.sort(FRAMES[2], axis=0), atol=1e-5)


def test_colour_says_the_label_and_marker_says_the_shape():
    shapes = ["round", "square"] * 6
    traces = explorer(shapes=shapes).data
    assert len(traces) == 6 and len({t.marker.color for t in traces}) == 3 and len({t.marker.symbol for t in traces}) == 2
    fig = plots.training_panels(FRAMES, LABELS, steps=STEPS, title=FINDING, shapes=shapes)
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["noun", "verb", "<b>", "round", "square"]


@pytest.mark.parametrize(("call", "said"), [
    (lambda: explorer(shapes=["a"]), "shapes has 1 values for 12 labels"),
    (lambda: explorer(shapes=list(range(12))), "expected <= 5 of each"),
    (lambda: plots.training_panels(FRAMES, LABELS[:3], steps=STEPS, title="x"), "3 labels"),
    (lambda: plots.training_panels(FRAMES, LABELS, steps=STEPS[:1], title="x"), "1 steps"),
    (lambda: plots.training_explorer(FRAMES, LABELS, steps=STEPS, title="x", hover=["a"]), "hover has 1 names"),
    (lambda: explorer(start=3), "start=3"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
