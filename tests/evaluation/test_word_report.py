"""A report on word vectors says what its parts say, and admits what could not be asked."""

from __future__ import annotations

import numpy as np

from lessons_lib.datasets import Analogies, WordPairs
from lessons_lib.evaluation import analogy_accuracy, word_report, word_similarity
from lessons_lib.vectors import WordVectors

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
