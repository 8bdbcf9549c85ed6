"""Figures about words made of parts: every part stands under its letters, every neighbour in its cell."""

from __future__ import annotations

import pytest

from lessons_lib import plots
from lessons_lib.words.subwords import ngrams

from .conftest import FINDING


def grid(rows=None, **options):
    return plots.neighbour_grid(rows or {"a": [("x", 0.9), ("y", 0.5)], "b": [("z", 0.4), ("x", 0.35)]}, title=FINDING, **options)


def test_every_part_lies_under_its_letters_and_none_on_another():
    ax = plots.ngram_ladder("where", ngrams("where"), title=FINDING).axes[0]
    bars = [(round(p.get_x()), round(p.get_x() + p.get_width()), round(p.get_y() + p.get_height() / 2)) for p in ax.patches]
    letters = {text.get_position() if not hasattr(text, "xy") else text.xy for text in ax.texts}
    assert len(bars) == 14 and len(letters) == 14 + len("<where>")
    for a, b, lane in bars:
        assert all(d <= a or c >= b for c, d, other in bars if other == lane and (c, d) != (a, b))


def test_a_part_that_comes_twice_is_drawn_twice():
    ax = plots.ngram_ladder("banana", ["ana"], title=FINDING).axes[0]
    assert sorted(round(p.get_x()) for p in ax.patches) == [2, 4]


def test_shared_parts_are_filled():
    ax = plots.ngram_ladder("here", ["<he", "her"], shared=["her"], title=FINDING).axes[0]
    assert len({p.get_facecolor() for p in ax.patches}) == 2


def test_every_neighbour_stands_in_its_cell_and_a_hit_is_framed():
    ax = grid(hits={"b": "x", "a": "nobody"}).axes[0]
    assert {text.get_text(): text.xy for text in ax.texts}["z"] == (0, 1) and [p.get_xy() for p in ax.patches] == [(0.53, 0.55)]


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.ngram_ladder("where", ["xyz"], title="x"), "hold \\['xyz'\\]"),
    (lambda: plots.ngram_ladder("where", [], title="x"), "expected >= 1 pieces"),
    (lambda: plots.ngram_ladder("w" * 20, ["ww"], title="x"), "of at most 16 letters"),
    (lambda: grid({"a": [("x", 1.0)], "b": [("x", 1.0), ("y", 1.0)]}), "equally many"),
    (lambda: grid({str(k): [("x", 1.0)] for k in range(11)}), "rows holds 11 words"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
