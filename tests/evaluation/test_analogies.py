"""Analogies: planted ones are all solved, inputs are never answers, blocks and ties change nothing.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lessons_lib.evaluation import analogies, analogy_accuracy, unit_rows
from lessons_lib.evaluation.analogies import answers


def planted() -> tuple[tuple[list[str], np.ndarray], SimpleNamespace]:
    """v(country r, relation s) = e_r + e_s with orthonormal factors: b - a + c is the answer
    exactly (identity 22).
    """
    concepts, relations = np.eye(9)[:6], np.eye(9)[6:]
    words = [f"c{r}s{s}" for r in range(6) for s in range(3)]
    matrix = np.array([concepts[r] + relations[s] for r in range(6) for s in range(3)])
    questions = [(f"c{a}s0", f"c{a}s{s}", f"c{c}s0", f"c{c}s{s}") for s in (1, 2) for a in range(6)
                 for c in range(6) if a != c]
    return (words, matrix), SimpleNamespace(questions=np.array(questions),
                                            section=[q[1][-2:] for q in questions], name="planted")


@pytest.mark.parametrize("method", analogies.METHODS)
def test_planted_analogies_are_all_solved(method):
    vectors, questions = planted()
    result = analogy_accuracy(vectors, questions, method=method)
    assert result.accuracy == 1.0 and result.coverage == 1.0 and result.n_questions == 60
    assert result.by_section == {"s1": (1.0, 30, 30), "s2": (1.0, 30, 30)}
    assert "100.0% of 60 covered" in repr(result) and "s2" in repr(result)


@pytest.mark.parametrize("method", analogies.METHODS)
def test_the_three_words_asked_about_are_never_the_answer(method):
    unit = unit_rows(np.random.default_rng(0).normal(size=(12, 5)))
    asked = np.array([[a, b, c] for a in range(12) for b in range(12) for c in range(12)])
    found = answers(unit, asked, method=method)
    assert not (found[:, None] == asked).any()


def test_3cosadd_is_the_highest_cosine_with_b_minus_a_plus_c():
    x = np.random.default_rng(1).normal(size=(30, 6))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosines = unit @ (unit[2] - unit[1] + unit[3])
    cosines[[1, 2, 3]] = -np.inf
    assert answers(unit, np.array([[1, 2, 3]]))[0] == cosines.argmax()


def test_the_two_methods_can_disagree():
    unit = unit_rows(np.random.default_rng(3).normal(size=(200, 8)))
    asked = np.random.default_rng(4).integers(0, 200, size=(100, 3))
    assert (answers(unit, asked, method="3cosadd") != answers(unit, asked, method="3cosmul")).any()


def test_blocks_do_not_change_answers_and_the_lower_row_wins_a_tie(monkeypatch):
    unit = unit_rows(np.random.default_rng(5).normal(size=(40, 6)))
    asked = np.random.default_rng(6).integers(0, 40, size=(50, 3))
    whole = answers(unit, asked)
    monkeypatch.setattr(analogies, "BLOCK", 40 * 7)
    assert_array_equal(answers(unit, asked), whole)
    twins = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1]])
    assert answers(twins, np.array([[0, 1, 2]]))[0] == 3


def test_coverage_counts_only_complete_questions_and_lower_case_is_found():
    (words, matrix), questions = planted()
    questions.questions = np.char.upper(questions.questions)
    kept = [k for k, w in enumerate(words) if not w.startswith("c5")]
    result = analogy_accuracy(([words[k] for k in kept], matrix[kept]), questions)
    assert result.n_covered == 40 and result.coverage == pytest.approx(
        2 / 3) and result.accuracy == 1.0
    assert {w[:2] for w in result.missing} == {"C5"}
    assert result.by_section["s1"] == (1.0, 20, 30)


def test_first_limits_the_table_to_its_most_frequent_words():
    vectors, questions = planted()
    assert analogy_accuracy(vectors, questions, first=9).n_covered == 12
    assert analogy_accuracy(vectors, questions, first=1000).n_covered == 60


def test_V02_a_zero_row_is_never_preferred():
    (words, matrix), questions = planted()
    vectors = (["zero", *words], np.vstack([np.zeros(9), matrix]))
    assert analogy_accuracy(vectors, questions).accuracy == 1.0


def test_the_shipped_questions_load_by_name():
    from lessons_lib import datasets

    questions = datasets.load("analogies")
    words = list(dict.fromkeys(np.asarray(questions.questions).ravel().tolist()))[:400]
    result = analogy_accuracy((words, np.random.default_rng(0).normal(size=(len(words), 20))))
    assert result.n_questions == len(
        questions) > 10_000 and result.accuracy < 0.1 and 0 < result.coverage < 1


@pytest.mark.parametrize("method", analogies.METHODS)
def test_a_question_that_leaves_no_word_to_answer_is_never_right(method):
    vectors = (["a", "b", "c"], np.eye(3))
    questions = SimpleNamespace(questions=np.array([["a", "b", "c", "a"]]), section=["s"])
    assert analogy_accuracy(vectors, questions, method=method).accuracy == 0.0
    assert answers(np.eye(3), np.array([[0, 1, 2]]), method=method).tolist() == [-1]
