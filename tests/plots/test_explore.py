"""Figures to explore: small, complete without a kernel, true to their static twins, escaped."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lessons_lib import plots
from lessons_lib.text import Corpus
from lessons_lib.topics import PLSA

from .conftest import FINDING

SPACE = np.random.default_rng(0).normal(size=(20, 3)) + 3
FRAMES = np.random.default_rng(0).normal(size=(3, 12, 2)) * np.array([1, 2, 3])[:, None, None]
LABELS, STEPS = ["noun", "verb", "<b>"] * 4, ["0 tokens", "half", "all"]
SCORES = np.array([[50.0, 52.0, 51.0], [50.0, 60.5, 58.0]])


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    tokens = ["<b>", "ball", "vote", "song", "goal", "law", "rhyme", "the"]
    documents = [[tokens[i] for i in rng.choice(8, 30, p=p)]
                 for p in rng.dirichlet(np.full(8, 0.3), size=40)]
    return PLSA(3, n_iter=20, smoothing=0.1).fit(Corpus.from_tokens(documents))


def cone(points=SPACE, **options):
    return plots.cone_interactive(points, **(
        {"hover": [f"<b>{k}>" for k in range(len(points))], "title": FINDING} | options))


def training(**options):
    return plots.training_explorer(FRAMES, **({"labels": LABELS, "steps": STEPS, "title": FINDING,
                                               "hover": [f"<b>{k}>" for k in range(12)]} | options))


def surface(**options):
    return plots.parameter_surface(SCORES, **({"betas": [0, 1], "gammas": [0, 0.5, 1],
                                               "title": FINDING} | options))


@pytest.mark.parametrize("draw", [cone, training, surface])
def test_figures_are_escaped_the_same_bytes_each_time_and_store_no_template(draw):
    stored, again = (draw().to_json() for _ in range(2))
    assert stored == again
    own = stored.replace("<extra>", "").replace("<b>%{", "").replace("<b>&lt;", "")
    assert "<b>" not in own and "<b" not in own
    assert not json.loads(stored)["layout"].get("template", {}).get("layout")


@pytest.mark.parametrize("scale", [1, 1e-6])
def test_every_word_of_the_cone_and_the_origin_are_drawn_with_four_digits(scale):
    words, origin = cone(SPACE * scale).data
    assert np.allclose(np.column_stack([words.x, words.y, words.z]), SPACE * scale,
                       atol=1e-3 * scale)
    assert (origin.x, origin.y, origin.z) == ((0,), (0,), (0,))
    assert cone().layout.scene.aspectmode == "data"


def test_frequency_is_a_colour_and_stands_on_hover():
    words = cone(counts=np.arange(1, 21) * 100).data[0]
    assert words.marker.color[9] == 3.0 and words.text[9] == "&lt;b&gt;9&gt;: 1,000 times"


def test_the_best_choice_is_marked_on_the_surface():
    drawn, best = surface().data
    assert (best.x[0], best.y[0], best.z[0]) == (0.5, 1.0, 60.5)
    assert np.allclose(np.array(drawn.z), SCORES)


def test_every_moment_holds_every_point_of_every_group_and_none_leaves_the_axes():
    fig = training()
    for k, moment in enumerate(fig.frames):
        for first, trace in enumerate(moment.data):
            shown = np.column_stack([trace.x, trace.y])
            assert np.allclose(shown, FRAMES[k][first::3], atol=6e-4)
    assert [step.label for step in fig.layout.sliders[0].steps] == STEPS
    for k, axis in enumerate((fig.layout.xaxis, fig.layout.yaxis)):
        assert axis.range[0] < FRAMES[..., k].min() and FRAMES[..., k].max() < axis.range[1]


def test_the_training_begins_where_it_was_asked_to():
    fig = training(start=-1)
    assert fig.layout.sliders[0].active == 2
    assert np.allclose(fig.data[0].x, FRAMES[2][::3, 0], atol=6e-4)


def test_colour_says_the_label_and_marker_says_the_shape():
    traces = training(shapes=["round", "square"] * 6).data
    assert len(traces) == 6 and len({trace.marker.color for trace in traces}) == 3
    assert len({trace.marker.symbol for trace in traces}) == 2


def test_a_topic_never_explains_more_of_a_word_than_there_is(model):
    for k in range(3):
        _, inside, overall = plots.topic_bars(model, k, relevance=0.0)
        assert (inside <= overall).all() and (inside >= 0).all()


@pytest.mark.parametrize(("draw", "options", "error", "words"), [
    (cone, {"hover": ["a"]}, ValueError, ("points: 20", "hover: 1")),
    (cone, {"counts": [1]}, ValueError, ("points: 20", "counts: 1")),
    (cone, {"counts": np.zeros(20)}, ValueError, ("counts[0]=0", "> 0")),
    (cone, {"points": np.zeros((4001, 3))}, ValueError, ("points holds 4001", "1 to 4000")),
    (training, {"hover": ["a"]}, ValueError, ("hover: 1",)),
    (training, {"start": 3}, ValueError, ("start=3", "[-3, 2]")),
    (training, {"shapes": ["a"]}, ValueError, ("labels: 12", "shapes: 1")),
    (surface, {"betas": [0]}, ValueError, ("scores", "1 betas")),
])
def test_what_does_not_fit_is_named(draw, options, error, words):
    with pytest.raises(error) as caught:
        draw(**options)
    assert all(word in str(caught.value) for word in words), caught.value
