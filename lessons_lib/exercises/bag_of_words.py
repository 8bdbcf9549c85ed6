"""Exercises of lesson ``02_bag_of_words``: what doubling changes, BM25 of one word, n-grams inside
sentences, sentences that pairs confuse.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy.random import Generator

from ..core import shown
from ._declare import by_name, function_task, labelled
from .base import Exercise

__all__ = ["EXERCISES"]

_REASONS = {
    "inner product": "what happens to a sum of counts when each count doubles?",
    "cosine": "the row doubles, and so does its length",
    "TF-IDF": "idf counts documents, not words, and the row is scaled to length 1",
    "TF-IDF, log counts":
        "1 + log(2 tf) is not a multiple of 1 + log(tf), so words that occur once gain on the "
        "others",
    "BM25, b = 0": "tf / (tf + k1) changes when tf doubles",
    "BM25, b = 1": "every length doubles, so length / mean length stays; tf does not"}
SCORES = tuple(_REASONS)
UNCHANGED = frozenset({"cosine", "TF-IDF"})      # tests/exercises/test_bag_of_words.py measures it


def _judge_twice(answer: Any) -> str | None:
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return f'expected a set of names such as {{"cosine"}}, yours is {type(answer).__name__}'
    mine = {name if isinstance(name, str) else type(name).__name__ for name in answer}
    if unknown := sorted(mine - set(SCORES)):
        return f"{shown(unknown[0])} is none of the six names: {', '.join(SCORES)}"
    wrong = [name for name in SCORES if (name in mine) != (name in UNCHANGED)]
    if not wrong:
        return None
    verb = "should not be there" if wrong[0] in mine else "is missing"
    return f"{len(wrong)} of six are wrong; the first, {wrong[0]!r}, {verb}: {_REASONS[wrong[0]]}"


def _solve_bm25_weight(tf: float, df: int, N: int, length: float, mean_length: float, *,
                       k1: float = 1.5, b: float = 0.75) -> float:
    idf = math.log(1 + (N - df + 0.5) / (df + 0.5))
    return idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))


def _bm25(weight: Callable[..., float]) -> Callable:
    """Another weight of the same arguments."""
    def bm25_weight(tf, df, N, length, mean_length, *, k1=1.5, b=0.75):
        return weight(tf, df, N, length, mean_length, k1=k1, b=b)

    return bm25_weight


_BM25_CASES = [(0, 1, 10, 5, 5), (1, 1, 10, 5, 5), (3, 2, 10, 5, 10), (285, 20, 106, 8975, 4365.7),
               (23, 3, 106, 4229, 4365.7), (2, 100, 106, 300, 4000),
               *(dict(tf=2, df=5, N=10, length=8, mean_length=4, k1=k1, b=b) for k1,
                 b in [(1.2, 0.0), (2.0, 1.0)])]


def _solve_count_ngrams(sentences: Sequence[Sequence[str]], n: int) -> dict[str, int]:
    counts = Counter()
    for words in sentences:
        counts.update(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
    return dict(counts)


def _ngrams(starts: Callable[[int, int], Iterable[int]]) -> Callable:
    """The n-grams that begin at other places of a sentence: ``starts(its length, n)``."""
    return lambda sentences, n: dict(Counter(" ".join(words[i : i + n]) for words in sentences
                                             for i in starts(len(words), n)))


_NGRAM_CASES = [([], 2), ([["a"]], 2), ([["a", "b"]], 1), ([["a", "b", "a"]], 1),
                ([["a", "b"], ["c"]], 2), ([["a", "b", "c"]], 2), ([["a", "b", "a", "b"]], 2),
                ([["dog", "bites", "man"], ["man", "bites", "dog"]], 2),
                ([["a", "b", "c", "d"], ["b", "c", "d"]], 3)]


def _bigrams(words: Sequence[str]) -> Counter:
    return Counter(itertools.pairwise(words))


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _judge_same_pairs(answer: Any) -> str | None:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        return "expected two sentences, each a list of words"
    if any(isinstance(side, str) or not all(isinstance(word, str) for word in side)
           for side in answer):
        return 'write each sentence as a list of words: ["dog", "bites", "man"]'
    a, b = ([word.lower() for word in side] for side in answer)
    if a == b:
        return "the two sentences are the same"
    if Counter(a) != Counter(b):
        word = next(iter((Counter(a) - Counter(b)) or (Counter(b) - Counter(a))))
        return (f"the bags differ: {word!r} occurs {_times(a.count(word))} in the first and "
                f"{_times(b.count(word))} in the second")
    if _bigrams(a) != _bigrams(b):
        pair = next(iter((_bigrams(a) - _bigrams(b)) or (_bigrams(b) - _bigrams(a))))
        first, second = _times(_bigrams(a)[pair]), _times(_bigrams(b)[pair])
        return (f"the bags agree, but {' '.join(pair)!r} occurs {first} in the first and {second} "
                "in the second")
    return None


def _words(*sentences: str) -> tuple[list[str], ...]:
    return tuple(sentence.split() for sentence in sentences)


_EXCHANGED = _words("the dog saw the cat and the cat saw the bird",
                    "the cat saw the dog and the dog saw the bird")


def _fresh_sentences(rng: Generator) -> list[tuple]:

    def text() -> list[list[str]]:
        return [["abcd"[i] for i in rng.integers(4, size=n)] for n in rng.integers(1, 9, size=4)]

    return [(text(), int(n)) for n in (1, 2, 2, 3)] + [([["a", "b"] * 3, ["a", "b", "c", "d"]], 2),
                                                       ([], int(rng.integers(1, 4)))]


EXERCISES = by_name(
    Exercise("twice",
        question="Which scores stay the same when every article is copied behind itself?",
        judge=_judge_twice, solution=set(UNCHANGED),
        wrong=labelled({"cosine"}, {"cosine", "TF-IDF", "BM25, b = 1"},
                       {"cosine", "TF-IDF", "TF-IDF, log counts"}, set(SCORES), set(),
                       {"BM25, b = 0", "BM25, b = 1"}),
        hints=("Go through the six formulas and write 2 tf for tf. Does df change? Does N?",
               "A row in which every weight doubles is the old row again once divided by its "
               "length; idf does not change that, as df and N stay. But 1 + log(2 tf) is not a "
               "multiple of 1 + log(tf), and in BM25 the fraction with 2 tf is another number, "
               "with or without length.")),
    function_task("bm25_weight", "What one word adds to the BM25 score of a document",
        _solve_bm25_weight, _BM25_CASES,
        fresh=lambda rng: [dict(tf=int(rng.integers(1, 30)), df=int(rng.integers(1, 60)),
                                N=int(rng.integers(60, 200)), length=int(rng.integers(20, 400)),
                                mean_length=float(rng.integers(50, 300)) + 0.5,
                                k1=float(rng.uniform(0.8, 2.2)), b=float(rng.uniform(0.55, 0.95)))
                           for _ in range(5)],
        wrong={"no saturation":
                   _bm25(lambda tf, df, N, n, mean, k1, b: math.log(1 + (N - df + 0.5) / (df + 0.5))
                         * tf / (1 - b + b * n / mean)),
               "no 1 inside the logarithm":
                   _bm25(lambda tf, df, N, n, mean, k1, b: math.log((N - df + 0.5) / (df + 0.5))
                         * tf * (k1 + 1) / (tf + k1 * (1 - b + b * n / mean))),
               "length upside down":
                   _bm25(lambda *of, **k: _solve_bm25_weight(*of[:3], *of[:2:-1], **k)),
               "b and 1 - b exchanged":
                   _bm25(lambda *of, k1, b: _solve_bm25_weight(*of, k1=k1, b=1 - b)),
               "no factor k1 + 1":
                   _bm25(lambda *of, k1, b: _solve_bm25_weight(*of, k1=k1, b=b) / (k1 + 1))},
        hints=("First the idf, with math.log or np.log. Then the fraction, written as in the "
               "formula.",
               "In a document of mean length the bracket after k1 is 1. Check yours: 1 - b + b * "
               "1.")),
    function_task("count_ngrams", "The n-grams of a text, none across the end of a sentence",
        _solve_count_ngrams, _NGRAM_CASES, fresh=_fresh_sentences,
        wrong={"across the full stop":
                   lambda sentences, n: _solve_count_ngrams([list(itertools.chain(*sentences))], n),
               "the last n-gram is missing": _ngrams(lambda size, n: range(size - n)),
               "shorter ends are counted": _ngrams(lambda size, n: range(size)),
               "each counted once":
                   lambda sentences, n: dict.fromkeys(_solve_count_ngrams(sentences, n), 1),
               "side by side, not overlapping": _ngrams(lambda size, n: range(0, size - n + 1, n))},
        hints=("A sentence of L words has L - n + 1 n-grams, which start at the words 0, 1, …, L - "
               "n.",
               'collections.Counter counts; " ".join(words[i : i + n]) writes one n-gram.')),
    Exercise("same_pairs",
        question="Two different sentences with the same words and the same pairs of words",
        judge=_judge_same_pairs,
        solution=_words("the dog and the cat and the bird", "the cat and the dog and the bird"),
        wrong={"a swap that pairs can see": _words("dog bites man", "man bites dog"),
               "the same sentence": _words("a b", "a b"),
               "other words": _words("the dog barks", "the cat barks"),
               "one word more": _words("a b a b", "a b a b a"),
               "roles exchanged in two clauses": _EXCHANGED,
               "a word moved to the end": _words("a b c a", "b c a a")},
        hints=("Let one word occur three times. It cuts the sentence into pieces.",
               "“the … the … the”: pieces that begin and end with the same word can change places, "
               "and no pair notices.")))
