"""Exercises of lesson ``08_bert_sentence_vectors``: pieces of a word, attention, the loss of hidden
pieces, a mean with a mask, passes, what a vector does not see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from ._declare import by_name, function_task, which_of

__all__ = ["CHANGES", "EXERCISES", "UNCHANGED"]

_REASONS = {
    "the text in capital letters":
        "what does the tokenizer do with letters before it looks for pieces?",
    "three spaces between words instead of one": "which pieces does a space become?",
    "the text encoded beside a text twice as long":
        "padding fills the shorter row; which part of the encoder keeps it out of attention and "
        "mean?",
    "two words exchanged":
        "the same pieces, so the same words; is anything added to them that is not a piece?",
    "a full stop added at the end": "is a full stop a piece, and do the others look at it?",
    "dropout left on, as in training":
        "which units are left out, and who decides that anew each time?"}
CHANGES = tuple(_REASONS)
UNCHANGED = frozenset(CHANGES[:3])  # tests/exercises/test_bert_sentence_vectors.py measures it


def _solve_pieces_of(word: str, vocabulary: set[str]) -> list[str]:
    found, start = [], 0
    while start < len(word):
        fits = [end for end in range(start + 1, len(word) + 1)
                if "##" * (start > 0) + word[start:end] in vocabulary]
        if not fits:
            return ["[UNK]"]
        found.append("##" * (start > 0) + word[start : fits[-1]])
        start = fits[-1]
    return found


def _cut(choose: Callable = max, sign: str = "##",
         unknown: Callable = lambda result: ["[UNK]"]) -> Callable:
    """Cuts a word into pieces, wrongly in one respect."""
    def pieces_of(word, vocabulary):
        result, start = [], 0
        while start < len(word):
            before = sign if start else ""
            fits = [end for end in range(start + 1, len(word) + 1)
                    if before + word[start:end] in vocabulary]
            if not fits:
                return unknown(result)
            end = choose(fits)
            result.append(before + word[start:end])
            start = end
        return result

    return pieces_of


_PIECES = {"a", "##a", "un", "##un", "in", "##in", "##s", "sing", "##ing", "believe", "##believe",
           "##able", "##e", "b", "unable", "s", "ing"}
_PIECE_CASES = [("a", _PIECES), ("ab", _PIECES), ("sing", _PIECES), ("sings", _PIECES),
                ("unable", _PIECES), ("unbelieveable", _PIECES), ("bing", _PIECES),
                ("inins", _PIECES), ("aax", _PIECES)]


def _softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _solve_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray) -> np.ndarray:
    scores = np.where(mask == 1, Q @ K.T / np.sqrt(Q.shape[1]), -np.inf)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ V


_Q = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
_K = np.array([[2.0, 1.0], [0.0, -1.0], [1.0, 3.0]])
_V = np.array([[1.0, 2.0], [3.0, 5.0], [-2.0, 0.5]])
_FOUR = np.array([[1.0, 0.5, -1.0, 2.0], [0.0, 1.0, 1.0, 0.0]])
_ATTENTION_CASES = [(_Q[:2], _K[:2], _V[:2], np.array([1, 1])), (_Q, _K, _V, np.array([1, 1, 0])),
                    (_Q, _K, _V, np.array([1, 0, 1])), (_FOUR, _FOUR[::-1].copy(), _FOUR,
                                                        np.array([1, 1]))]


def _solve_masked_loss(scores: np.ndarray, labels: np.ndarray, positions: np.ndarray) -> float:
    s = scores[positions]
    log_p = s - np.log(np.exp(s).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(positions)), labels[positions]].mean()


_SCORES = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 3.0, 0.5], [1.0, 1.0, -2.0],
                    [0.5, 0.0, 2.5]])
_LOSS_CASES = [(_SCORES[:2], np.array([0, 1]), np.array([1])),
               (_SCORES[:3], np.array([0, 1, 2]), np.array([0, 2])),
               (_SCORES, np.array([1, 2, 1, 0, 0]), np.array([4, 1, 2]))]


def _solve_mean_pool(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
    total = (states * mask[:, :, None]).sum(axis=1)
    return total / np.maximum(mask.sum(axis=1, keepdims=True), 1)


def _nan_where_empty(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)


_STATES = np.array([[[1.0, 2.0], [3.0, -4.0], [9.0, 9.0]], [[2.0, 0.0], [4.0, 1.0], [6.0, 8.0]]])
_POOL_CASES = [(_STATES[:1, :2], np.array([[1, 1]])), (_STATES[:1], np.array([[1, 1, 0]])),
               (_STATES, np.array([[1, 0, 0], [1, 1, 1]])),
               (_STATES, np.array([[0, 0, 0], [1, 1, 0]]))]


def _solve_passes(n: int, arrivals: Sequence[int]) -> tuple[int, int]:
    pairs, singles = n * (n - 1) // 2, n
    for new in arrivals:
        pairs, singles, n = pairs + new * n + new * (new - 1) // 2, singles + new, n + new
    return pairs, singles


def _old_pairs_again(n: int, arrivals: Sequence[int]) -> tuple[int, int]:
    pairs, singles = n * (n - 1) // 2, n
    for new in arrivals:
        n += new
        pairs, singles = pairs + n * (n - 1) // 2, singles + n
    return pairs, singles


def _only_against_the_old(n: int, arrivals: Sequence[int]) -> tuple[int, int]:
    pairs, total = n * (n - 1) // 2, n
    for new in arrivals:
        pairs, total = pairs + new * total, total + new
    return pairs, total


_PASS_CASES = [(2, []), (5, []), (3, [1]), (10, [2, 3]), (10_000, [1, 100])]


def _fresh_words(rng: Generator) -> list[tuple]:
    vocabulary = {"a", "b", "c", "ab", "abc", "##a", "##b", "##c", "##bc", "##ca", "cab", "##cab"}
    words = ["".join("abc"[i] for i in rng.integers(3, size=n)) for n in (2, 4, 6, 9)]
    return [*((word, vocabulary) for word in words), (words[1] + "x" + words[0], vocabulary),
            ("abcab", vocabulary)]


EXERCISES = by_name(
    which_of("unchanged", "Which changes leave the mean-pooled vector of a text as it is?",
        _REASONS, UNCHANGED,
        wrong=(set(CHANGES[:2]), set(CHANGES[:4]), {CHANGES[0], CHANGES[1], CHANGES[4]},
               {*CHANGES[:3], CHANGES[5]}, {CHANGES[1]}),
        hints=("Follow a text through tokenizer, sum of three embeddings, attention, mean. Where "
               "could each change be noticed?",
               "BERT's tokenizer lower-cases; vectors of places are added to those of pieces; "
               "[CLS] and [SEP] stay where they are.")),
    function_task("pieces_of", "Cut a word into the longest pieces that are in the vocabulary",
        _solve_pieces_of, _PIECE_CASES, fresh=_fresh_words,
        wrong={
            "the shortest piece first": _cut(min),
            "no ## inside a word": _cut(sign=""),
            "keeps the pieces before [UNK]": _cut(unknown=lambda result: [*result, "[UNK]"]),
            "nothing for an unknown word": _cut(unknown=lambda result: []),
            "whole words only":
                lambda word, vocabulary: [word] if word in vocabulary else ["[UNK]"]},
        hints=("Begin at the first letter and try the longest end first. A piece that goes on a "
               "word is looked up with ## before it.",
               'When nothing fits at some place, the whole word is ["[UNK]"], whatever was found '
               "before.")),
    function_task("attention", "One head: what each position gathers from those that may be seen",
        _solve_attention, _ATTENTION_CASES,
        fresh=lambda rng: [(*(rng.normal(size=(n, d)) * 1.5 for _ in range(3)), mask) for n, d,
                           mask in ((3, 2, np.array([1, 1, 0])), (4, 3, np.array([1, 0, 1, 1])),
                                    (5, 3, np.array([0, 1, 1, 1, 0])))],
        wrong={"no square root":
                   lambda Q, K, V, mask: _softmax(np.where(mask == 1, Q @ K.T, -np.inf)) @ V,
               "shares sum to 1 down the columns": lambda Q, K, V, mask: _softmax(
                   np.where(mask == 1, Q @ K.T / np.sqrt(Q.shape[1]), -1e9), axis=0) @ V,
               "mask forgotten": lambda Q, K, V, mask: _softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V,
               "hidden scores are 0":
                   lambda Q, K, V, mask: _softmax(Q @ K.T / np.sqrt(Q.shape[1]) * mask) @ V,
               "mask after the softmax":
                   lambda Q, K, V, mask: (_softmax(Q @ K.T / np.sqrt(Q.shape[1])) * mask) @ V,
               "root of the length": lambda Q, K, V, mask: _softmax(
                   np.where(mask == 1, Q @ K.T / np.sqrt(len(K)), -np.inf)) @ V},
        hints=("Q @ K.T has a row for each position that looks and a column for each that is "
               "looked at.",
               "Where the mask is 0 the score is minus infinity before the softmax: np.where(mask "
               "== 1, scores, -np.inf).")),
    function_task("masked_loss", "The loss of masked language modelling",
        _solve_masked_loss, _LOSS_CASES,
        fresh=lambda rng: [(rng.normal(size=(n, 5)) * 2, rng.integers(5, size=n),
                            rng.permutation(n)[:m]) for n, m in ((4, 2), (6, 3), (9, 4))],
        wrong={"all places count": lambda s, y, at: _solve_masked_loss(s, y, np.arange(len(y))),
               "divided by the length of the row":
                   lambda s, y, at: _solve_masked_loss(s, y, at) * len(at) / len(y),
               "a sum": lambda s, y, at: _solve_masked_loss(s, y, at) * len(at),
               "no logarithm":
                   lambda s, y, at: 1 - _softmax(s[at])[np.arange(len(at)), y[at]].mean(),
               "logarithm to base 2": lambda s, y, at: _solve_masked_loss(s, y, at) / np.log(2),
               "the best guess instead of the label":
                   lambda s, y, at: -np.log(_softmax(s[at]).max(axis=1)).mean()},
        hints=("Only scores[positions] matter; the label of each is labels[positions].",
               "log softmax of a row s is s - log(sum(exp(s))); the loss is minus its mean at the "
               "labels.")),
    function_task("mean_pool", "The mean of the vectors of a text, padding left out",
        _solve_mean_pool, _POOL_CASES,
        fresh=lambda rng: [(rng.normal(size=(3, 4, d)), mask)
                           for d, mask in ((2, np.array([[1, 1, 1, 0], [1, 0, 0, 0],
                                                         [1, 1, 0, 0]])),
                                           (3, np.array([[0, 0, 0, 0], [1, 1, 1, 1],
                                                         [1, 1, 0, 0]])))],
        wrong={"ignores the mask": lambda states, mask: states.mean(axis=1),
               "divides by the padded length":
                   lambda states, mask: (states * mask[:, :, None]).mean(axis=1),
               "one length for all rows": lambda states, mask: (
                   (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1).max()),
               "a sum": lambda states, mask: (states * mask[:, :, None]).sum(axis=1),
               "NaN for a text without a token": _nan_where_empty,
               "the first token": lambda states, mask: states[:, 0] * mask[:, :1]},
        hints=("states * mask[:, :, None] sets padding to 0.",
               "Divide each row by its own number of tokens, at least 1.")),
    function_task("passes", "How often must the model run, for pairs and for single sentences?",
        _solve_passes, _PASS_CASES,
        fresh=lambda rng: [(int(rng.integers(3, 50)), rng.integers(2, 9, size=n).tolist())
                           for n in (1, 2, 4)],
        wrong={"both orders of a pair": lambda n, arrivals: ((m := n + sum(arrivals)) * (m - 1), m),
               "each sentence with itself":
                   lambda n, arrivals: ((m := n + sum(arrivals)) * (m + 1) // 2, m),
               "old pairs run again": _old_pairs_again,
               "new ones not among each other": _only_against_the_old,
               "as many single passes as pairs":
                   lambda n, arrivals: (_solve_passes(n, arrivals)[0],) * 2},
        hints=("n sentences make n (n - 1) / 2 pairs. How many pairs are new when m sentences "
               "arrive?",
               "m new ones meet n old ones, m * n pairs, and each other, m (m - 1) / 2. A vector, "
               "once made, is kept.")))
