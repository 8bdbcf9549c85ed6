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


def test_weights_and_removal_of_the_exercises_are_those_of_the_library():
    texts, matrix = texts_and_vectors()
    counts = np.array([sum(t.split().count(w) for t in texts) for w in WORDS])
    library = SIF(WordVectors(WORDS, matrix), a=0.02, components="batch").fit(texts)
    weights = EXERCISES["sif_weights"].solution(counts, 0.02)
    assert np.allclose(library.weights_, weights)
    X = np.stack([np.mean([weights[WORDS.index(w)] * matrix[WORDS.index(w)] for w in t.split()],
                          axis=0) for t in texts])
    assert np.allclose(library.encode(texts), EXERCISES["remove_common"].solution(X), atol=1e-5)


def test_a_and_piecewise_removal_of_the_exercises_are_those_of_the_library():
    texts, matrix = texts_and_vectors()
    counts = np.array([sum(t.split().count(w) for t in texts) for w in WORDS])
    p = counts / counts.sum()
    assert np.isclose(EXERCISES["usif_a"].solution(p, 1.2), usif_a(p, 1.2))
    options = {"counts": dict(zip(WORDS, counts.tolist(), strict=True)), "sentence_length": 1.2,
               "components": "batch"}
    raw, removed = (USIF(WordVectors(WORDS, matrix), m, **options).fit().encode(texts)
                    for m in (0, 3))
    assert np.allclose(EXERCISES["piecewise"].solution(raw.astype(np.float64), 3), removed,
                       atol=1e-5)
