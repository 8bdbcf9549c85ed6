"""Exercises of lesson ``05_glove_and_fasttext``: what the loss of GloVe does not see, parts of
words, their hash, two senses, a rate that is too large, an AdaGrad that forgets.
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


def _never_settles(gradients: list[float], rate: float) -> list[float]:
    G, steps_taken = 1.0, []
    for g in gradients:
        G = g**2                                                         # the fault
        steps_taken.append(-rate * g / np.sqrt(G))
    return steps_taken


def _adagrad(gradients: list[float], rate: float, start: float = 1.0,
             power: float = 0.5) -> list[float]:
    squares = start + np.cumsum(np.square(gradients))
    return (-rate * np.asarray(gradients) / squares**power).tolist()


def _solve_never_settles(gradients: list[float], rate: float) -> list[float]:
    return _adagrad(gradients, rate)


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
    debug_task("never_settles", "Which line lets AdaGrad forget its squares?",
        _never_settles, _solve_never_settles,
        [([3.0, 4.0], 0.3), ([0.5, -0.5, 0.1, -0.1], 0.3), ([10.0, 0.01, -2.0], 1.0)],
        fresh=lambda rng: [(rng.normal(size=n).round(2).tolist(), float(rng.uniform(0.05, 1)))
                           for n in (3, 6)],
        symptom="A step is as large after a small gradient as after a large one. What should G "
                "hold after three gradients?",
        wrong={"the sum starts at 0": lambda gradients, rate: _adagrad(gradients, rate, start=0),
               "no root": lambda gradients, rate: _adagrad(gradients, rate, power=1),
               "up instead of down": lambda gradients, rate: _adagrad(gradients, -rate),
               "no memory but the 1": lambda gradients, rate: [
                   _adagrad([g], rate)[0] for g in gradients]},
        hints=("The text of section 4 has two formulas: one for G, one for the step. Compare both.",
               "G adds up all squares so far, so the steps become smaller.")))
