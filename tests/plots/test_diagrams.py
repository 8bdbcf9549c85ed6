"""Diagrams: a box for everything that reads, an arrow for every reading, a branch for every bit."""

from __future__ import annotations

from lessons_lib.text.subwords import ngrams

from .conftest import draw, texts

CODES = {"codes": {"a": "0", "b": "10", "c": "11"}, "counts": {"a": 5, "b": 3, "c": 2}}


def test_the_tree_has_a_branch_for_every_bit_and_one_inner_node_fewer_than_leaves():
    ax = draw("code_tree", **CODES, marked=None).axes[0]
    branches = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert len(branches) == 4 and len(ax.lines) - len(branches) == 2
    assert sorted(texts(ax)) == ["0", "0", "1", "1", "a\n5", "b\n3", "c\n2"]


def test_the_marked_path_has_as_many_branches_as_its_code_has_bits():
    wide = [line for line in draw("code_tree", **CODES).axes[0].lines
            if len(line.get_xdata()) == 2 and line.get_linewidth() > 2]
    assert len(wide) == 2


def test_three_words_have_three_edges_and_four_have_six():
    axes = draw("equal_distances").axes
    assert [texts(ax).count("√2") for ax in axes] == [3, 6]
    assert all("doctor" in texts(ax) for ax in axes) and "child" not in texts(axes[0])


def test_every_part_lies_under_its_letters_and_none_on_another():
    ax = draw("ngram_ladder", parts=ngrams("where")).axes[0]
    bars = [(round(bar.get_x()), round(bar.get_x() + bar.get_width()),
             round(bar.get_y() + bar.get_height() / 2)) for bar in ax.patches]
    assert len(bars) == 14 and len({text.xy for text in ax.texts}) == 14 + len("<where>")
    for a, b, lane in bars:
        assert all(d <= a or c >= b for c, d, other in bars if other == lane and (c, d) != (a, b))


def test_a_part_that_comes_twice_is_drawn_twice_and_shared_parts_are_filled():
    twice = draw("ngram_ladder", word="banana", parts=["ana"]).axes[0]
    assert sorted(round(bar.get_x()) for bar in twice.patches) == [2, 4]
    shared = draw("ngram_ladder", word="here", parts=["<he", "her"], shared=["her"]).axes[0]
    assert len({bar.get_facecolor() for bar in shared.patches}) == 2
