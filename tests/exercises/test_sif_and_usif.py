"""The exercises of lesson 06: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.evaluation import unit_rows
from lessons_lib.exercises.sif_and_usif import CHANGES, EXERCISES, UNCHANGED
from lessons_lib.sentences import SIF, USIF, usif_a
from lessons_lib.vectors import WordVectors

WORDS = [f"w{k}" for k in range(12)]


def texts_and_vectors() -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(0)
    texts = ([" ".join(rng.choice(WORDS, size=rng.integers(3, 7), p=np.arange(12, 0, -1) / 78))
              for _ in range(30)])
    return texts, rng.normal(size=(12, 5)) + 1


def cosines(texts: list[str], matrix: np.ndarray) -> np.ndarray:
    X = unit_rows(
        SIF(WordVectors(WORDS, matrix), a=0.05).fit(texts).encode(texts).astype(np.float64))
    return X @ X.T


def changed(name: str, texts: list[str], matrix: np.ndarray) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    other = {CHANGES[0]: 3 * matrix, CHANGES[1]: matrix @ turn, CHANGES[4]: unit_rows(matrix),
             CHANGES[5]: matrix + rng.normal(size=5)}
    said = {CHANGES[2]: [" ".join(rng.permutation(t.split())) for t in texts],
            CHANGES[3]: [f"{t} {t}" for t in texts]}
    return said.get(name, texts), other.get(name, matrix)


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_leave_all_cosines_as_they_are(name):
    texts, matrix = texts_and_vectors()
    same = np.allclose(cosines(*changed(name, texts, matrix)), cosines(texts, matrix), atol=1e-4)
    assert same == (name in UNCHANGED)


def test_the_matrix_removes_what_the_library_removes():
    texts, matrix = texts_and_vectors()
    counts = {w: sum(t.split().count(w) for t in texts) for w in WORDS}
    options = {"counts": counts, "sentence_length": 1.2, "components": "batch"}
    raw, removed = (USIF(WordVectors(WORDS, matrix), m, **options).fit().encode(texts)
                    for m in (0, 3))
    _, sigma, directions = np.linalg.svd(raw.astype(np.float64), full_matrices=False)
    shares = sigma[:3] ** 2 / (sigma[:3] ** 2).sum()
    M = EXERCISES["removal_matrix"].solution(directions[:3], shares)
    assert np.allclose(raw @ M, removed, atol=1e-5)


def test_the_mended_removal_is_that_of_the_library():
    texts, matrix = texts_and_vectors()
    raw, removed = (SIF(WordVectors(WORDS, matrix), a=0.02, n_components=n,
                        components="batch").fit(texts).encode(texts) for n in (0, 1))
    assert np.allclose(EXERCISES["still_a_cone"].solution(raw), removed, atol=1e-5)


def test_alpha_and_the_toy_a_are_those_of_the_formulas():
    alpha = EXERCISES["frequency_share"].solution(1e-3, 5e4)
    assert np.isclose((1 - alpha) / (alpha * 5e4), 1e-3)
    assert np.isclose(EXERCISES["toy_a"].solution,
                      usif_a(np.array([0.5, 0.3, 0.1, 0.05, 0.05]), 2))
