"""The topic explorer: every ranking of every topic is in the figure, and it begins where the static twin stands."""

from __future__ import annotations

import html

import numpy as np
import pytest

from lessons_lib import plots
from lessons_lib.plots.explore_topics import WEIGHTS
from lessons_lib.topics import PLSA
from lessons_lib.text import Corpus


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    tokens = ["<b>", "ball", "vote", "song", "goal", "law", "rhyme", "the"]
    documents = [[tokens[i] for i in rng.choice(8, 30, p=p)] for p in rng.dirichlet(np.full(8, 0.3), size=40)]
    return PLSA(3, n_iter=20, smoothing=0.1).fit(Corpus.from_tokens(documents))


def test_the_figure_begins_with_the_bars_of_its_static_twin(model):
    fig = plots.topic_explorer(model, title="x", topic=1, relevance=0.6, n_words=5)
    words, inside, overall = plots.topic_bars(model, 1, relevance=0.6, n_words=5)
    shown = [trace for trace in fig.data if trace.visible]
    assert [list(trace.y) for trace in shown] == [[html.escape(w) for w in words]] * 2
    assert list(shown[0].x) == np.rint(overall).tolist() and list(shown[1].x) == np.rint(inside).tolist()
    assert fig.layout.sliders[0].active == WEIGHTS.index(0.6) and fig.layout.updatemenus[0].active == 1


def test_every_step_of_the_slider_holds_every_topic(model):
    fig = plots.topic_explorer(model, title="x", n_words=5)
    for step, weight in zip(fig.layout.sliders[0].steps, WEIGHTS, strict=True):
        rankings = [[html.escape(w) for w in words] for words in model.top_words(5, relevance=weight)]
        assert step.args[0]["y"][::2] == step.args[0]["y"][1::2] == rankings
        assert [len(x) for x in step.args[0]["x"]] == [5] * 6


def test_every_entry_of_the_menu_shows_the_two_bars_of_one_topic(model):
    for k, button in enumerate(plots.topic_explorer(model, title="x").layout.updatemenus[0].buttons):
        assert np.flatnonzero(button.args[0]["visible"]).tolist() == [2 * k, 2 * k + 1]


def test_a_topic_never_explains_more_of_a_word_than_there_is(model):
    for k in range(3):
        _, inside, overall = plots.topic_bars(model, k, relevance=0.0)
        assert (inside <= overall).all() and (inside >= 0).all()


def test_data_text_is_escaped(model):
    assert "<b>" not in plots.topic_explorer(model, title="x").to_json()


def test_the_same_model_gives_the_same_bytes(model):
    assert plots.topic_explorer(model, title="x").to_json() == plots.topic_explorer(model, title="x").to_json()


@pytest.mark.parametrize(("options", "said"), [({"topic": 3}, "topic"), ({"relevance": 0.5}, "no step of the slider"),
                                               ({"names": ["a"]}, "1 values for 3 topics")])
def test_V_what_does_not_fit_is_named(model, options, said):
    with pytest.raises(ValueError, match=said):
        plots.topic_explorer(model, title="x", **options)
