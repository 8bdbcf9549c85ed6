"""Exercises of lesson ``02_bag_of_words``: what doubling changes, n-grams inside sentences, rare
words, an idf with a fault.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from ._declare import (by_name, debug_task, experiment_task, function_task, value_task,
                       which_of)
from .base import Exercise

__all__ = ["EXERCISES"]

REASONS = {
    "inner product": "what happens to a sum of counts when each count doubles?",
    "cosine": "the row doubles, and so does its norm",
    "TF-IDF": "idf counts documents, not words, and the cosine divides by the norm",
    "TF-IDF, log counts":
        "1 + log(2 tf) is not a multiple of 1 + log(tf), so words that occur once gain on the "
        "others"}
UNCHANGED = frozenset({"cosine", "TF-IDF"})      # tests/exercises/test_bag_of_words.py measures it


def _broken_idf(X: Any) -> np.ndarray:
    X = np.asarray(X)
    return np.log((1 + len(X)) / (1 + X.sum(axis=0))) + 1


def _solve_negative_idf(X: Any) -> np.ndarray:
    documents_with = (np.asarray(X) > 0).sum(axis=0)
    return 1 + np.log((1 + len(X)) / (1 + documents_with))


_IDF_CASES = [([[1, 0], [1, 1]],), ([[2, 0], [3, 1]],), ([[9, 0, 1], [8, 0, 0], [7, 5, 0]],)]


def _fresh_counts(rng: Generator) -> list[tuple]:
    return [(rng.poisson(0.8, size=(5, 4)).tolist(),), ([[3, 0], [0, 2]],),
            ([[int(rng.integers(2, 9)), 1]],)]


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
    value_task("two_documents", "The norm of a document whose words all documents hold", 0.0,
               wrong=(1.0, 2.0, 4.0, 0.8660254),
               remark="What is log(N / df) of a word that both documents hold?",
               hints=("All four words of the first document also stand in the second. What is df?",
                      "N = 2 and df = 2, so every weight of the first document is log 1.")),
    which_of("twice", "Which scores stay the same when every article is copied behind itself?",
             REASONS, UNCHANGED,
             wrong=({"cosine"}, {"cosine", "TF-IDF", "TF-IDF, log counts"}, set(REASONS), set()),
             hints=("Go through the formulas and write 2 tf for tf. Does df change? Does N?",
                    "A row in which every weight doubles has the same direction; idf does not "
                    "change, as df and N stay. But 1 + log(2 tf) is not a multiple of "
                    "1 + log(tf).")),
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
               "and no pair notices.")),
    experiment_task(
        "rare_words", "What does min_df=2 do to the share of right answers?",
        {"it rises": (79.0, 100.0), "it stays": (75.0, 79.0), "it falls": (55.0, 75.0)}, 68.8,
        why="A word that only one document holds is the best clue there is: it names the document. "
            "Dropping such words saves columns, not mistakes",
        hints=("Which words of a sentence tell you which article it comes from?",
               'right_first(ll.counts.TfIdf(token_pattern=PATTERN, sublinear_tf=True, '
               'min_df=2))')),
    debug_task(
        "negative_idf", "Which line gives the word “the” a weight below zero?", _broken_idf,
        _solve_negative_idf, _IDF_CASES, fresh=_fresh_counts,
        symptom="The weight of a frequent word is below zero. How large can df be at most?",
        wrong={"no smoothing": lambda X: np.log(len(X) / (np.asarray(X) > 0).sum(axis=0)) + 1,
               "cut at zero": lambda X: np.maximum(_broken_idf(X), 0),
               "share of words": lambda X: np.log((1 + np.sum(X)) / (1 + np.sum(X, axis=0))) + 1},
        hints=("df(t) is the number of documents that hold t. What does X.sum(axis=0) count?",
               "X > 0 says whether a document holds the word.")))
