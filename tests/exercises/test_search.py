"""The exercises of lesson 17: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.evaluation import ndcg_at
from lessons_lib.exercises.search import CHANGES, EXERCISES, SAME
from lessons_lib.search import InvertedIndex

TEXTS = ["red red red ball", "red ball ball and a long tail of words", "blue ball", "red blue",
         "the blue sky over the red red house", "a house"]
QUESTIONS = ["red ball", "ball red", "blue house", "red house words", "red red blue"]
SETTINGS = {"token_pattern": r"(?u)\b\w+\b"}


def order(scores: np.ndarray) -> list:
    return np.argsort(-scores.round(9), axis=1, kind="stable").tolist()


def scores(texts: list[str], questions: list[str] = QUESTIONS) -> np.ndarray:
    return InvertedIndex(**SETTINGS).fit(texts).scores(questions)


def shuffled(texts: list[str]) -> list[str]:
    return [" ".join(text.split()[::-1]) for text in texts]


CHANGED = dict(zip(CHANGES, (
    2 * scores(TEXTS), scores(shuffled(TEXTS)), scores(TEXTS, shuffled(QUESTIONS)),
    scores(TEXTS, [question + " zebra" for question in QUESTIONS]),
    scores([f"{text} {text}" for text in TEXTS]),
    scores([*TEXTS, "red house " * 40])[:, : len(TEXTS)]), strict=True))


@pytest.mark.parametrize("name", CHANGES)
def test_the_named_changes_leave_the_order(name):
    assert name not in SAME or order(CHANGED[name]) == order(scores(TEXTS))


def test_saturation_makes_a_passage_written_twice_another_one():
    texts = ["red " * 4 + "x " * 4, "red red ball x", "blue x"]
    once, twice = (scores(t, ["red ball"])[0] for t in (texts, [f"{t} {t}" for t in texts]))
    assert not np.isclose(once[0] / once[1], twice[0] / twice[1])


def test_the_weights_of_the_words_add_up_to_the_score_of_the_index():
    weight, words = EXERCISES["bm25_weight"].solution, [text.split() for text in TEXTS]
    mean = np.mean(list(map(len, words)))
    mine = [sum(weight(text.count(word), sum(word in other for other in words), len(words),
                       len(text), mean) for word in ("red", "ball")) for text in words]
    assert mine == pytest.approx(scores(TEXTS, ["red ball"])[0].tolist())


def test_the_mended_measure_is_that_of_the_library():
    rng = np.random.default_rng(0)
    for n in (1, 3, 12):
        ranking, relevant = rng.permutation(20).tolist(), rng.permutation(20)[:n].tolist()
        assert EXERCISES["low_ceiling"].solution(ranking, relevant, 10) == pytest.approx(
            ndcg_at(ranking, relevant, k=10))
