"""Diagrams: a box for everything that reads, an arrow for every reading, a branch for every bit."""

from __future__ import annotations

from lessons_lib.text.subwords import ngrams

from .conftest import draw, texts

CODES = {"codes": {"a": "0", "b": "10", "c": "11"}, "counts": {"a": 5, "b": 3, "c": 2}}


def test_every_neighbour_guesses_in_one_panel_and_their_mean_in_the_other():
    skip, cbow = draw("window_diagram", tokens=list("abcde"), half=1).axes
    assert texts(skip).count("vector") == 2 and "mean of the vectors" in texts(cbow)
    assert texts(skip).count("c") == texts(cbow).count("c") == 1
    assert [skip.get_title(), cbow.get_title()] == ["skip-gram: 2 guesses", "CBOW: 1 guess"]


def test_the_document_stands_among_the_inputs_of_both_models_and_alone_in_dbow():
    axes = draw("paragraph_diagram", tokens=["we", "drink", "milk"]).axes
    assert [ax.get_title().partition(":")[0] for ax in axes] == ["PV-DM", "PV-DBOW"]
    assert all({"page 7", "?", "drink"} <= set(texts(ax)) for ax in axes)
    arrows = [sum(not text.get_text() for text in ax.texts) for ax in axes]
    assert arrows == [4, 1]        # two words and the document to their mean, and on; it alone


def test_a_siamese_network_has_an_encoder_for_each_text_and_a_cross_encoder_has_one():
    pair = ["premise", "hypothesis"]
    bi, cross = (texts(ax) for ax in draw("siamese_diagram", joined=["cross"], panels={
        "bi": (pair, "cosine"), "cross": (pair, "score")}).axes)
    assert bi.count("encoder") == 2 and cross.count("encoder") == 1
    assert {"$u$", "$v$"} <= set(bi) and not {"$u$", "$v$"} & set(cross)
    triplet = texts(draw("siamese_diagram", panels={"triplet": (list("xyz"), "margin")}).axes[0])
    assert triplet.count("encoder") == 3 and {"$a$", "$p$", "$n$"} <= set(triplet)


def test_hidden_pieces_are_not_written_where_they_are_hidden():
    words = texts(draw("bottleneck_diagram", pieces=["a", "dog", "runs"],
                       decoder_hides=[True, True, False]).axes[0])
    assert [words.count(word) for word in ("?", "a", "dog", "runs")] == [3, 2, 1, 2]


def test_the_tree_has_a_branch_for_every_bit_and_one_inner_node_fewer_than_leaves():
    ax = draw("code_tree", **CODES, marked=None).axes[0]
    branches = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert len(branches) == 4 and len(ax.lines) - len(branches) == 2
    assert sorted(texts(ax)) == ["0", "0", "1", "1", "a\n5", "b\n3", "c\n2"]


def test_the_marked_path_has_as_many_branches_as_its_code_has_bits():
    wide = [line for line in draw("code_tree", **CODES).axes[0].lines
            if len(line.get_xdata()) == 2 and line.get_linewidth() > 2]
    assert len(wide) == 2


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
