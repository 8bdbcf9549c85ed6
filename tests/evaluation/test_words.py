"""Word vectors in every shape: similarity, analogies and the report on both."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lessons_lib.datasets import Analogies, WordPairs
from lessons_lib.evaluation import (AnalogyResult, WordReport, WordSimilarityResult, analogies,
                                    analogy_accuracy, spearman, unit_rows, word_report,
                                    word_similarity)
from lessons_lib.evaluation.analogies import answers
from lessons_lib.evaluation.word_table import WordTable
from lessons_lib.vectors import WordVectors

THREE, MATRIX = ["the", "Cat", "dog"], np.array([[1.0, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize("vectors", [dict(zip(THREE, MATRIX, strict=True)), (THREE, MATRIX),
                                     SimpleNamespace(tokens=THREE, matrix=MATRIX),
                                     SimpleNamespace(words=np.array(THREE), matrix=MATRIX),
                                     SimpleNamespace(index_to_key=THREE, vectors=MATRIX)])
def test_every_layout_gives_the_same_table(vectors):
    table = WordTable(vectors)
    assert table.words == THREE and (table.matrix == MATRIX).all()
    assert [table.row(w) for w in ("dog", "DOG", "Cat", "cat", "mouse")] == [2, 2, 1, None, None]


def test_F09_a_repeated_word_keeps_its_first_row():
    assert WordTable((["a", "b", "a"], np.eye(3))).row("a") == 0


def circle(n: int = 30, noise: float = 0.0) -> tuple[dict[str, np.ndarray], SimpleNamespace]:
    """Words on a circle: the grade of a pair is its cosine plus noise."""
    rng = np.random.default_rng(2)
    angles = rng.uniform(0, np.pi, size=(n, 2))
    vectors = {f"{side}{k}": np.array([np.cos(a), np.sin(a)]) for k, pair in enumerate(angles)
               for side, a in zip("xy", pair, strict=True)}
    grades = np.cos(angles[:, 0] - angles[:, 1]) + noise * rng.normal(size=n)
    return vectors, SimpleNamespace(word1=[f"x{k}" for k in range(n)],
                                    word2=[f"y{k}" for k in range(n)], score=grades, name="planted")


def test_vectors_made_from_the_grades_score_1():
    result = word_similarity(*circle())
    assert result.spearman == pytest.approx(1.0, abs=1e-12) and result.interval == pytest.approx(
        (1.0, 1.0))
    assert (result.name, result.n_pairs, result.coverage, result.missing) == ("planted", 30, 1.0,
                                                                              ())


def test_the_score_is_the_spearman_of_the_cosines_and_lies_in_its_interval():
    vectors, pairs = circle(noise=0.4)
    result = word_similarity(vectors, pairs)
    cosines = [vectors[a] @ vectors[b] for a, b in zip(pairs.word1, pairs.word2, strict=True)]
    assert result.spearman == pytest.approx(spearman(cosines, pairs.score), abs=1e-12)
    assert result.interval[0] < result.spearman < result.interval[1] < 1


def test_missing_pairs_are_left_out_and_reported():
    vectors, pairs = circle()
    for word in ("x3", "y3", "y9"):
        del vectors[word]
    result = word_similarity(vectors, pairs)
    assert result.n_pairs == 28 and result.coverage == pytest.approx(28 / 30)
    assert sorted(result.missing) == ["x3", "y3", "y9"]
    assert "28 pairs = 93% covered" in repr(result)


def test_words_are_found_in_lower_case():
    vectors, pairs = circle()
    pairs.word1 = [w.upper() for w in pairs.word1]
    assert word_similarity(vectors, pairs).coverage == 1.0


def test_wordsim353_loads_by_name_without_a_download():
    from lessons_lib import datasets

    pairs = datasets.load("wordsim353")
    words = sorted({w.lower() for w in [*pairs.word1, *pairs.word2]})
    result = word_similarity((words, np.random.default_rng(0).normal(size=(len(words), 50))),
                             "wordsim353")
    assert result.coverage == 1.0 and result.n_pairs == len(pairs) and abs(result.spearman) < 0.25


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


def test_3cosmul_is_the_highest_product_of_cosines_moved_into_0_to_1():
    unit = unit_rows(np.random.default_rng(3).normal(size=(30, 3)))
    asked = np.array([[a, b, c] for a in range(6) for b in range(6, 12) for c in range(12, 30)])

    def by_hand(a, b, c):
        near = [(1 + unit @ unit[word]) / 2 for word in (a, b, c)]
        score = near[1] * near[2] / (near[0] + 0.001)
        score[[a, b, c]] = -1
        return score.argmax()

    assert answers(unit, asked, method="3cosmul").tolist() == [by_hand(*row) for row in asked]


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


def test_each_section_counts_its_own_questions():
    vectors, _ = planted()
    good, wrong = ("c0s0", "c0s1", "c1s0", "c1s1"), ("c0s0", "c0s1", "c1s0", "c5s2")
    asked = SimpleNamespace(questions=np.array([good, wrong, wrong, good, (*good[:3], "?")]),
                            section=["a", "b", "b", "b", "c"])
    result = analogy_accuracy(vectors, asked)
    assert result.by_section == {"a": (1.0, 1, 1), "b": (1 / 3, 3, 3), "c": (None, 0, 1)}
    assert (result.accuracy, result.n_covered, result.missing) == (0.5, 4, ("?",))
    lines = repr(result).splitlines()
    assert lines[0] == "AnalogyResult(3cosadd: 50.0% of 4 covered questions, 80% covered)"
    assert [line.split() for line in lines[1:]] == [
        ["a", "100.0%", "1", "of", "1"], ["b", "33.3%", "3", "of", "3"], ["c", "–", "0", "of", "1"]]


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


WORDS = ["man", "woman", "king", "queen", "<b>"]
VECTORS = WordVectors(WORDS, [[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1.1], [0, 0, 1.0]],
                      name="toy <i>")
PAIRS = WordPairs(["man", "man", "king", "man"], ["woman", "queen", "queen", "walrus"],
                  np.array([8.0, 2.0, 9.0, 1.0]), name="pairs")
OTHERS = WordPairs(["man", "emu"], ["king", "ant"], np.array([1.0, 2.0]), name="others")
QUESTIONS = Analogies([["man", "woman", "king", "queen"], ["man", "woman", "boy", "girl"]],
                      ["family", "family"], name="questions")


def report(**options):
    return word_report(VECTORS, **({"sets": [PAIRS, OTHERS], "questions": QUESTIONS} | options))


def test_the_numbers_are_those_of_the_parts():
    found = report(bootstrap=50, seed=3)
    assert found.similarity["pairs"] == word_similarity(VECTORS, PAIRS, bootstrap=50, seed=3)
    for method in ("3cosadd", "3cosmul"):
        assert found.analogies[method] == analogy_accuracy(VECTORS, QUESTIONS, method=method)
    assert (found.name, found.n_words, found.dim) == ("toy <i>", 5, 3)


def test_what_could_not_be_asked_is_said_and_left_out_of_the_summary():
    found = report(bootstrap=0)
    assert found.similarity["others"] is None and found.rows()[1] == ("others, Spearman x "
                                                                      "100", "–", "–", "0 %", "0")
    assert set(found.summary()) == {"pairs", "analogies 3cosadd", "analogies 3cosmul"}
    assert found.summary()["pairs"]["coverage"] == 0.75 and found.summary(
    )["analogies 3cosadd"] == {"accuracy": 1.0, "coverage": 0.5}
    assert word_report((["x"], [[1.0]]), sets=[OTHERS],
                       methods=[]).rows() == [("others, Spearman x 100", "–", "–", "0 %", "0")]


def test_a_report_shows_percent_and_keeps_four_digits_of_each_figure():
    alike = WordSimilarityResult("pairs", 1 / 3, 0.2, (0.125, 0.5), 2 / 3, 1200, ())
    solved = AnalogyResult("3cosmul", 2 / 3, 3000, 9000, {}, ())
    made = WordReport("mine", 2000, 50, {"pairs": alike}, {"3cosmul": solved})
    assert made.rows() == [("pairs, Spearman x 100", "33.3", "12.5 … 50.0", "67%", "1,200"),
                           ("analogies, 3cosmul, % right", "66.7", "–", "33%", "3,000")]
    assert made.summary() == {"pairs": {"spearman": 0.3333, "coverage": 0.6667},
                              "analogies 3cosmul": {"accuracy": 0.6667, "coverage": 0.3333}}
    assert repr(alike) == ("WordSimilarityResult(pairs: Spearman 33.3 [12.5, 50.0], Pearson 20.0 "
                           "(x 100), 1,200 pairs = 67% covered)")


def test_a_report_prints_as_a_table_and_is_safe_in_a_notebook():
    found = report(bootstrap=20)
    assert repr(found).splitlines()[0] == "toy <i>: 5 words x 3" and "100.0" in repr(
        found) and " … " in repr(found)
    assert "<i>" not in found._repr_html_() and "toy &lt;i&gt;" in found._repr_html_()


def test_the_default_sets_are_on_every_machine(monkeypatch):
    monkeypatch.delenv("LESSONS_DATA", raising=False)
    found = word_report({"king": [1.0, 0.1], "queen": [1.0, 0.2], "tiger": [0.1, 1.0],
                         "cat": [0.2, 1.0]}, bootstrap=0, methods=())
    assert found.similarity["wordsim353"].n_pairs >= 2 and "simlex999" in found.similarity
