"""The cone to turn around: every word is there with its name, and the origin among them."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

POINTS = np.random.default_rng(0).normal(size=(20, 3)) + 3
WORDS = [f"w<{k}>" for k in range(20)]


def figure(**options):
    return plots.cone_interactive(POINTS, title=FINDING, **({"hover": WORDS} | options))


def test_every_word_and_the_origin_are_drawn():
    words, origin = figure().data
    assert np.allclose(np.column_stack([words.x, words.y, words.z]), POINTS, atol=1e-3)
    assert (origin.x, origin.y, origin.z) == ((0,), (0,), (0,)) and figure().layout.scene.aspectmode == "data"


def test_points_of_any_size_keep_four_digits():
    words = plots.cone_interactive(POINTS * 1e-6, title=FINDING, hover=WORDS).data[0]
    assert np.allclose(np.column_stack([words.x, words.y, words.z]), POINTS * 1e-6, atol=1e-9)


def test_frequency_is_a_colour_and_stands_on_hover():
    words = figure(counts=np.arange(1, 21) * 100).data[0]
    assert words.marker.color[9] == 3.0 and words.text[9] == "w&lt;9&gt;: 1,000 times"


def test_data_text_is_escaped_and_the_same_points_give_the_same_bytes():
    assert "w<" not in figure().to_json() and figure().to_json() == figure().to_json()


@pytest.mark.parametrize(("options", "said"), [
    ({"hover": ["a"]}, "20 rows and hover 1 words"), ({"counts": [1]}, "counts has 1 values"), ({"counts": np.zeros(20)}, "expected one > 0 each")])
def test_V_what_does_not_fit_is_named(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)
    with pytest.raises(ValueError, match="at most 4,000"):
        plots.cone_interactive(np.zeros((4001, 3)), title="x", hover=["w"] * 4001)
