"""Encoders on questions: passages of highest cosine are scored, and the board keeps the score."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.counts import OneHot
from lessons_lib.datasets import Documents, RetrievalSet
from lessons_lib.evaluation import Leaderboard, evaluate_retrieval, question_set, titled

TEXTS = ["a red fox", "a blue whale", "the green frog", "an old oak"]
ASKED = RetrievalSet(["Which fox is red?", "Where is a whale?"], [{0: 1.0}, {2: 1.0}],
                     Documents(TEXTS, titles=["Fox", "Whale", "", "Oak"]), "toy", "test")


class Words:
    """A number for each of six words."""

    name, dim = "six words", 6

    def encode(self, texts, *, batch_size=256, progress=False):
        words = ("fox", "whale", "frog", "oak", "red", "blue")
        return np.array([[text.lower().count(word) for word in words] for text in texts], float)


def test_the_nearest_passages_are_scored_with_dimension_time_and_split():
    result = evaluate_retrieval(Words(), ASKED, k=2, bootstrap=0)
    # the first answer is the fox, the second is not among the two nearest of the whale
    assert (result.ndcg, result.recall, result.mrr) == (0.5, 0.5, 0.5)
    assert (result.dim, result.split, result.k, result.n_questions) == (6, "test", 2, 2)
    assert result.seconds > 0


def test_titles_stand_before_the_texts_that_have_one():
    assert titled(ASKED)[1:3] == ["Whale. a blue whale", "the green frog"]
    whole = ["Fox a red fox", "Whale a blue whale", "the green frog", "Oak an old oak"]
    joined = Documents(whole, titles=ASKED.documents.titles)  # as BEIR's are
    assert titled(RetrievalSet(ASKED.question, ASKED.relevant, joined)) == whole


@pytest.mark.essential
def test_the_course_s_questions_are_about_its_articles_and_counting_words_finds_many():
    asked = question_set(split="dev")
    assert asked.split == "dev" and len(asked.documents) > 500
    few = RetrievalSet(asked.question[:40], asked.relevant[:40], asked.documents, "few", "dev")
    result = evaluate_retrieval(OneHot().fit(titled(few)), few, bootstrap=0)
    assert 0.1 < result.ndcg < 0.9


def test_the_board_keeps_pairs_and_questions_side_by_side(tmp_path):
    board = Leaderboard(tmp_path / "board.json")
    row = board.add("six words", "search", {"toy": evaluate_retrieval(Words(), ASKED, k=2)})
    assert row.score("toy") == 0.5 and row.spearman("toy") is None and row.score("stsb") is None
    assert board.rows() == [row] and "toy nDCG@2" in board.to_text() and "50.0" in board.to_html()


@pytest.mark.parametrize(("arguments", "kind", "words"), [
    ((object(),), TypeError, ["encoder="]),
    ((Words(), TEXTS), TypeError, ["questions=", "question_set"]),
    ((Words(), None, 3), TypeError, ["positional"])])
def test_what_is_no_encoder_and_what_are_no_questions_is_said(arguments, kind, words):
    with pytest.raises(kind) as error:
        evaluate_retrieval(*arguments)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize(("name", "split", "words"), [
    ("course-sts", "test", ["course-sts", "course-questions"]),
    ("course-questions", "tset", ["tset", "dev"])])
def test_other_sets_and_splits_are_refused_by_name(name, split, words):
    with pytest.raises(ValueError) as error:
        question_set(name, split)
    assert all(word in str(error.value) for word in words)
