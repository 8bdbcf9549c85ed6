"""Exercises of lesson ``05_glove_and_fasttext``: what the loss of GloVe does not see, parts of
words, their hash, two senses, a rate that is too large, weights that are too large.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from ._declare import by_name, debug_task, experiment_task, function_task, which_of
from .base import Exercise

__all__ = ["EXERCISES"]


def _weights_above_1(X: np.ndarray, x_max: float) -> np.ndarray:
    return (np.asarray(X) / x_max)**0.75                                 # the fault


def _solve_weights_above_1(X: np.ndarray, x_max: float) -> np.ndarray:
    return np.minimum(1, (np.asarray(X) / x_max)**0.75)


def _solve_parts(word: str, min_n: int, max_n: int) -> list[str]:
    whole = f"<{word}>"
    return [whole[i : i + n] for i in range(len(whole))
            for n in range(min_n, max_n + 1) if i + n <= len(whole)]


def _cut_at_the_end(word: str, min_n: int, max_n: int) -> list[str]:
    whole = f"<{word}>"
    return [whole[i : i + n] for i in range(len(whole)) for n in range(min_n, max_n + 1)]


_PART_CASES = [("is", 3, 6), ("a", 3, 3), ("where", 3, 4), ("où", 3, 6), ("banana", 3, 3)]


def _solve_hash_of(text: str) -> int:
    value = 2166136261
    for byte in text.encode():
        signed = byte if byte < 128 else byte | 0xFFFFFF00
        value = (value ^ signed) * 16777619 % 2**32
    return value


def _hash_of(numbers: Callable, step: Callable[[int, int], int]) -> Callable:
    """FNV over other numbers than signed bytes, or with another step."""
    return lambda text: functools.reduce(step, numbers(text), 2166136261)


def _signed(text: str) -> list[int]:
    return [byte if byte < 128 else byte | 0xFFFFFF00 for byte in text.encode()]


_HASH_CASES = [("a",), ("<he",), ("foobar",), ("é",), ("<où",), ("你",)]

_REASONS = {
    "all words and all contexts turned by the same rotation": "a rotation Q gives wQ · w̃Q",
    "all words times 2, all contexts times 1/2": "where do the factors go in the product?",
    "1 added to all word biases, 1 taken from all context biases":
        "only the sum b + b̃ is in the loss",
    "words and contexts exchanged, with their biases":
        "the counts are symmetric: X of (i, j) is X of (j, i)",
    "1 added to every number of every word":
        "(w + 1) · w̃ is w · w̃ plus the sum of all numbers of w̃",
    "the word vectors replaced by w + w̃": "(w + w̃) · w̃ has a new term, the squared norm of w̃"}
CHANGES = tuple(_REASONS)
UNCHANGED = frozenset(CHANGES[:4])  # tests/exercises/test_glove_and_fasttext.py measures it


def _judge_between(points: Any) -> str | None:
    x = np.asarray(points, dtype=float)
    if x.shape != (3, 2):
        return ("expected shape (3, 2): two senses and a third word, two numbers each; yours has "
                f"shape {x.shape}")
    if not np.isfinite(x).all() or (np.linalg.norm(x, axis=1)
                                    < 1e-6).any() or np.linalg.norm(x[0] + x[1]) < 1e-6:
        return "one of your vectors, or the mean of the two senses, has the norm 0 or no numbers"
    word = (x[0] + x[1]) / 2
    cosine = [float(word @ row / np.linalg.norm(word) / np.linalg.norm(row)) for row in x]
    if not cosine[2] > max(cosine[:2]) + 1e-6:
        return (f"the third word should be nearest to the mean; its cosine is {cosine[2]:.3f}, "
                f"those of the senses are {cosine[0]:.3f} and {cosine[1]:.3f}")
    apart = [float(x[2] @ row / np.linalg.norm(x[2]) / np.linalg.norm(row)) for row in x[:2]]
    if max(apart) < 0.8:
        return None
    return (f"the third word should have a cosine below 0.8 with both senses; yours has "
            f"{apart[0]:.3f} and {apart[1]:.3f}")


def _fresh_words(rng: Generator) -> list[tuple]:
    words = ["".join("aeinrstl"[i] for i in rng.integers(8, size=n)) for n in (2, 5, 8)]
    return [*((word, low, low + int(rng.integers(1, 3)))
              for word, low in zip(words, (2, 3, 3), strict=True)), ("nanana", 3, 4)]


def _fresh_letters(rng: Generator) -> list[tuple]:
    plain = ["".join(chr(97 + i) for i in rng.integers(26, size=n)) for n in (5, 9)]
    return [*((word,) for word in plain),
            *((word[:2] + chr(int(code)),)
              for word, code in zip(plain, (rng.integers(0xE0, 0xFF), rng.integers(0x4E00, 0x9000)),
                                    strict=True))]


EXERCISES = by_name(
    which_of("same_products",
        "Which changes leave the loss of GloVe as it is, on symmetric counts?",
        _REASONS, UNCHANGED,
        wrong=(set(CHANGES[:2]), set(CHANGES[:3]), {*CHANGES[:4], CHANGES[5]},
               {CHANGES[0], CHANGES[3]}, set(CHANGES)),
        hints=("The loss sees w · w̃ + b + b̃ only. Write that sum for each change and look what "
               "is new.",
               "Four of the six leave it as it is.")),
    function_task("parts", "All n-grams of a word between its borders",
        _solve_parts, _PART_CASES, fresh=_fresh_words,
        wrong={
            "no borders":
                lambda word, min_n, max_n: [word[i : i + n] for i in range(len(word))
                                            for n in range(min_n, max_n + 1) if i + n <= len(word)],
            "parts that are cut at the end": _cut_at_the_end,
            "max_n left out": lambda word, min_n, max_n: _solve_parts(word, min_n, max_n - 1),
            "each part once":
                lambda word, min_n, max_n: list(dict.fromkeys(_solve_parts(word, min_n, max_n)))},
        hints=("Work on '<' + word + '>'. For each place, for each length.",
               "A part from i of length n exists if i + n <= len(whole).")),
    function_task("hash_of", "The hash of fastText, for letters of any language",
        _solve_hash_of, _HASH_CASES, fresh=_fresh_letters,
        wrong={"bytes without their sign":
                   _hash_of(str.encode, lambda h, x: (h ^ x) * 16777619 % 2**32),
               "characters instead of bytes":
                   _hash_of(lambda text: map(ord, text), lambda h, x: (h ^ x) * 16777619 % 2**32),
               "product before xor": _hash_of(_signed, lambda h, x: h * 16777619 % 2**32 ^ x),
               "never cut to 32 bits": _hash_of(str.encode, lambda h, x: (h ^ x) * 16777619)},
        hints=("text.encode() gives the bytes. In fastText each is a signed number of 8 bits.",
               "A byte of 128 or more becomes byte | 0xFFFFFF00 when its sign is carried to 32 "
               "bits; then xor, times the prime, mod 2**32.")),
    Exercise("between", question="Two senses and a word nearer to their mean than either",
        judge=_judge_between, solution=np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        wrong={"the third word is one sense": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
               "senses too near": np.array([[1.0, 0.5], [0.5, 1.0], [1.0, 1.0]]),
               "a third word on the other side": np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]),
               "no mean": np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 1.0]])},
        hints=("Draw two arrows at a right angle. Where does their mean point?",
               "Let the third word point where the mean points.")),
    experiment_task("rate_3", "What does GloVe learn with a rate that is ten times as large?",
        {"below 0.05": (0, 0.05), "between 0.05 and 0.2": (0.0501, 0.2),
         "above 0.2": (0.2001, 1e9)},
        measured=0.97,
        why="The first steps are far too large: the loss grows from 0.2 to more than 100. AdaGrad "
            "keeps the squares of these huge gradients for ever, so all later steps are too small",
        hints=("Plot the loss of the first ten steps. Does it fall?",
               "AdaGrad divides by the root of all squares so far. What do ten huge gradients do "
               "to the steps after them?")),
    debug_task("weights_above_1", "Which line gives some pairs a weight far above 1?",
        _weights_above_1, _solve_weights_above_1,
        [([0.1, 1.0, 10.0, 1000.0], 10.0), ([5.0, 20.0], 10.0), ([100.0, 400.0], 100.0)],
        fresh=lambda rng: [([*rng.uniform(0.1, 4, size=3), 900.0], float(rng.integers(5, 90)))
                           for _ in range(2)],
        symptom="The largest weight is that of a pair such as “of the”. What should it be?",
        wrong={"nothing above x_max": lambda X, x_max: np.where(
                   np.asarray(X) <= x_max, _weights_above_1(X, x_max), 0),
               "the count is cut at 1": lambda X, x_max: _weights_above_1(np.minimum(X, 1), x_max),
               "no power": lambda X, x_max: np.minimum(1, np.asarray(X) / x_max)},
        hints=("Below x_max it is a power of X / x_max. And from there on?",
               "np.minimum takes the smaller one of two numbers, place by place.")))
