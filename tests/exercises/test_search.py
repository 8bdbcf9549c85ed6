"""The exercises of lesson 17: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.evaluation import retrieval_scores
from lessons_lib.exercises.search import CHANGES, EXERCISES, SAME
from lessons_lib.search import InvertedIndex, reciprocal_rank_fusion

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


def test_the_mean_reciprocal_rank_is_that_of_the_library():
    rng, mine = np.random.default_rng(0), EXERCISES["mean_reciprocal_rank"].solution
    rankings = [rng.permutation(20).tolist() for _ in range(8)]
    relevant = [rng.permutation(20)[:n].tolist() for n in (1, 1, 1, 2, 2, 3, 4, 12)]
    for k in (1, 3, 10):
        assert mine(rankings, relevant, k) == pytest.approx(
            retrieval_scores(rankings, relevant, k=k, bootstrap=0).mrr)


def test_the_mended_fusion_is_that_of_the_library_and_the_faulty_one_finds_what_chance_finds():
    rng, exercise = np.random.default_rng(0), EXERCISES["fused_scores"]
    n, repeats, mended, faulty = 50, 400, 0, 0
    for _ in range(repeats):
        right = rng.integers(n)
        both = rng.normal(size=(2, n))
        both[:, right] += 4                      # each search alone almost always has it first
        fused = exercise.solution(*both, 5)
        ranks = [np.argsort(-scores).tolist() for scores in both]
        ours = [fused[row] for row, _ in reciprocal_rank_fusion(ranks, k=n, constant=5)]
        assert ours == sorted(fused, reverse=True)
        mended += fused.argmax() == right
        faulty += exercise.wrong["the code as it was"](*both, 5).argmax() == right
    assert mended > 0.9 * repeats and faulty < 0.1 * repeats
