"""Words and vectors on Cranfield."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.contextual import (
    BertSize, LessonBertForPretraining, WordPiece, load_encoder, save_bert)
from lessons_lib.reproduce import entries, recorded
from lessons_lib.reproduce.cranfield import both_rankings, with_intervals
from lessons_lib.reproduce.entry import CONTROLS
from lessons_lib.reproduce.pictures import HIGH, LOW

NEW = ("cleverdon1967_cranfield",)
WORDS = ("the", "sea", "ship", "sinks", "dog", "barks", "at", "night", "a", "big", ".")
TEXTS = [f"The {a} sinks at the big sea. A big {b} barks at the sea. The {b} sinks a big {a} then."
         for a in ("ship", "sea", "dog") for b in ("dog", "ship", "night")]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    size = BertSize(len(tokens), dim=8, layers=2, heads=2, positions=64)
    save_bert(folder, LessonBertForPretraining(size, seed=0), WordPiece(tokens),
              card={"name": "tiny"})
    return load_encoder(folder, device="cpu")


def test_rankings_by_words_by_vectors_and_by_both_have_scores_between_their_ends(encoder):
    words, near, joined = both_rankings(TEXTS, ["big ship", "the dog"], encoder, deep=5)
    assert all(len(found) == 5 == len(set(found)) for found in (*near, *joined))
    assert set(words[0]) <= set(range(9)) and joined != near
    rows = with_intervals("x", [[0, 1], [1, 2]], [{0: 4.0}, {2: 1.0}], 0, ", control")
    assert set(rows) == {"x, control", "x, low, control", "x, high, control"}
    mean = 100 * (1 + 1 / np.log2(3)) / 2
    assert rows["x, control"] == pytest.approx({0: mean, 1: 100, 2: 75})
    for x, y in rows["x, control"].items():
        assert rows["x, low, control"][x] <= y <= rows["x, high, control"][x]


@pytest.mark.parametrize("name", NEW)
def test_a_record_has_intervals_and_hollow_controls_and_no_claim_holds_of_equal_rows(name):
    entry, measured = entries()[name], recorded(name).measured
    own = [row for row in measured if row + LOW in measured]
    for row in own:
        for x, y in measured[row].items():
            assert measured[row + LOW][x] <= y <= measured[row + HIGH][x], (row, x)
    assert any(row.endswith(CONTROLS) for row in measured)
    flat = {row: dict.fromkeys(points, 0.0) for row, points in measured.items()}
    assert [claim.text for claim in entry.claims if claim.holds(flat)] == []
    fig = entry.draw(entry, measured)
    fig.draw_without_rendering()
    hollow = [line for ax in fig.axes for line in ax.lines if line.get_color() == "white"]
    assert hollow and len(fig.axes) == 3


def test_single_words_are_ahead_of_one_vector_of_lesson_bag_on_cranfield():
    found = recorded(NEW[0]).measured
    assert found["lesson-bag" + HIGH][0] < found["BM25"][0] > found["uSIF of word2vec" + HIGH][0]
    assert all(row[0] < 3 for name, row in found.items() if name.endswith(CONTROLS))
