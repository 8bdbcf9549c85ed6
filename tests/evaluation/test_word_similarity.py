"""Word similarity: exact on planted vectors, honest about coverage."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.evaluation import spearman, word_similarity


def planted(n: int = 30, noise: float = 0.0) -> tuple[dict[str, np.ndarray], SimpleNamespace]:
    """Words on a circle: the grade of a pair is its cosine plus noise."""
    rng = np.random.default_rng(2)
    angles = rng.uniform(0, np.pi, size=(n, 2))
    vectors = {f"{side}{k}": np.array([np.cos(a), np.sin(a)]) for k, pair in enumerate(angles)
               for side, a in zip("xy", pair, strict=True)}
    grades = np.cos(angles[:, 0] - angles[:, 1]) + noise * rng.normal(size=n)
    return vectors, SimpleNamespace(word1=[f"x{k}" for k in range(n)],
                                    word2=[f"y{k}" for k in range(n)], score=grades, name="planted")


def test_vectors_made_from_the_grades_score_1():
    result = word_similarity(*planted())
    assert result.spearman == pytest.approx(1.0, abs=1e-12) and result.interval == pytest.approx(
        (1.0, 1.0))
    assert (result.name, result.n_pairs, result.coverage, result.missing) == ("planted", 30, 1.0,
                                                                              ())


def test_the_score_is_the_spearman_of_the_cosines_and_lies_in_its_interval():
    vectors, pairs = planted(noise=0.4)
    result = word_similarity(vectors, pairs)
    cosines = [vectors[a] @ vectors[b] for a, b in zip(pairs.word1, pairs.word2, strict=True)]
    assert result.spearman == pytest.approx(spearman(cosines, pairs.score), abs=1e-12)
    assert result.interval[0] < result.spearman < result.interval[1] < 1


def test_missing_pairs_are_left_out_and_reported():
    vectors, pairs = planted()
    for word in ("x3", "y3", "y9"):
        del vectors[word]
    result = word_similarity(vectors, pairs)
    assert result.n_pairs == 28 and result.coverage == pytest.approx(28 / 30)
    assert sorted(result.missing) == ["x3", "y3", "y9"]
    assert "28 pairs = 93% covered" in repr(result)


def test_words_are_found_in_lower_case():
    vectors, pairs = planted()
    pairs.word1 = [w.upper() for w in pairs.word1]
    assert word_similarity(vectors, pairs).coverage == 1.0


def test_wordsim353_loads_by_name_without_a_download():
    from lessons_lib import datasets

    pairs = datasets.load("wordsim353")
    words = sorted({w.lower() for w in [*pairs.word1, *pairs.word2]})
    result = word_similarity((words, np.random.default_rng(0).normal(size=(len(words), 50))),
                             "wordsim353")
    assert result.coverage == 1.0 and result.n_pairs == len(pairs) and abs(result.spearman) < 0.25
