"""Exercises of lesson ``08_bert_sentence_vectors``: tokens of a word, a maximum with a mask, what a
vector does not see, passes, a BERT without positions, a loss that counts what was never hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from ._declare import by_name, debug_task, experiment_task, function_task, which_of

__all__ = ["CHANGES", "EXERCISES", "UNCHANGED"]

_REASONS = {
    "the text in capital letters":
        "what does the tokenizer do with letters before it looks for tokens?",
    "three spaces between words instead of one": "which tokens does a space become?",
    "the text encoded beside a text twice as long":
        "what keeps the tokens of one text out of the vector of the other?",
    "two words exchanged":
        "the same tokens; is anything added to them that depends on the place?",
    "a full stop added at the end": "is a full stop a token, and do the others read it?",
    "dropout left on, as in training":
        "which units are left out, and who decides that anew each time?"}
CHANGES = tuple(_REASONS)
UNCHANGED = frozenset(CHANGES[:3])  # tests/exercises/test_bert_sentence_vectors.py measures it


def _solve_tokens_of(word: str, vocabulary: set[str]) -> list[str]:
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
    """Cuts a word into tokens, wrongly in one respect."""
    def tokens_of(word, vocabulary):
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

    return tokens_of


_TOKENS = {"a", "##a", "un", "##un", "in", "##in", "##s", "sing", "##ing", "believe", "##believe",
           "##able", "##e", "b", "unable", "s", "ing"}
_TOKEN_CASES = [("a", _TOKENS), ("ab", _TOKENS), ("sing", _TOKENS), ("sings", _TOKENS),
                ("unable", _TOKENS), ("unbelieveable", _TOKENS), ("bing", _TOKENS),
                ("inins", _TOKENS), ("aax", _TOKENS)]


def _solve_max_pool(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.where(mask[:, :, None] == 1, states, -np.inf).max(axis=1)


_STATES = np.array([[[-1.0, 2.0], [-3.0, -4.0], [9.0, 9.0]],
                    [[2.0, 0.0], [4.0, -1.0], [3.0, -8.0]]])
_POOL_CASES = [(_STATES[:1, :2], np.array([[1, 1]])), (_STATES[:1], np.array([[1, 1, 0]])),
               (_STATES, np.array([[1, 0, 0], [1, 1, 1]])),
               (_STATES, np.array([[0, 1, 0], [1, 1, 0]]))]


def _too_easy(scores: np.ndarray, ids: np.ndarray, chosen: np.ndarray) -> float:
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    losses = -log_p[np.arange(len(ids)), ids]
    return float(losses.mean())


def _solve_too_easy(scores: np.ndarray, ids: np.ndarray, chosen: np.ndarray) -> float:
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    losses = -log_p[np.arange(len(ids)), ids]
    return float(losses[chosen].mean())


_SCORES = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 3.0, 0.5], [1.0, 1.0, -2.0],
                    [0.5, 0.0, 2.5]])
_LOSS_CASES = [(_SCORES[:2], np.array([0, 1]), np.array([False, True])),
               (_SCORES[:3], np.array([0, 1, 2]), np.array([True, False, True])),
               (_SCORES, np.array([1, 2, 1, 0, 0]), np.array([False, True, True, False, True]))]


def _fresh_losses(rng: Generator) -> list[tuple]:
    return [(rng.normal(size=(n, 5)) * 2, rng.integers(5, size=n), rng.permutation(n) < m)
            for n, m in ((4, 2), (6, 3), (9, 4))]


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
               "BERT's tokenizer lower-cases; vectors of positions are added to those of tokens; "
               "[CLS] and [SEP] stay where they are.")),
    function_task("tokens_of", "Cut a word into the longest tokens that are in the vocabulary",
        _solve_tokens_of, _TOKEN_CASES, fresh=_fresh_words,
        wrong={
            "the shortest token first": _cut(min),
            "no ## inside a word": _cut(sign=""),
            "keeps the tokens before [UNK]": _cut(unknown=lambda result: [*result, "[UNK]"]),
            "nothing for an unknown word": _cut(unknown=lambda result: []),
            "whole words only":
                lambda word, vocabulary: [word] if word in vocabulary else ["[UNK]"]},
        hints=("Begin at the first letter and try the longest end first. A token that continues a "
               "word is looked up with ## before it.",
               'When nothing fits at some place, the whole word is ["[UNK]"], whatever was found '
               "before.")),
    function_task("max_pool", "The maximum over the tokens of a text, padding left out",
        _solve_max_pool, _POOL_CASES,
        fresh=lambda rng: [(rng.normal(size=(3, 4, d)) - 1, mask)
                           for d, mask in ((2, np.array([[1, 1, 1, 0], [1, 0, 0, 0],
                                                         [1, 1, 0, 0]])),
                                           (3, np.array([[0, 1, 0, 0], [1, 1, 1, 1],
                                                         [1, 1, 0, 0]])))],
        wrong={"ignores the mask": lambda states, mask: states.max(axis=1),
               "padding is 0": lambda states, mask: (states * mask[:, :, None]).max(axis=1),
               "the largest absolute value":
                   lambda states, mask: np.abs(states * mask[:, :, None]).max(axis=1),
               "one maximum for a token":
                   lambda states, mask: np.where(mask == 1, states.max(axis=2), -np.inf),
               "a mean": lambda states, mask: (states * mask[:, :, None]).sum(axis=1)
                   / mask.sum(axis=1, keepdims=True)},
        hints=("Padding set to 0 wins wherever all real numbers are negative. Which number never "
               "wins?",
               "np.where(mask[:, :, None] == 1, states, -np.inf), then the maximum over axis 1.")),
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
               "once made, is kept.")),
    experiment_task("no_positions", "What does a BERT without positions still find?",
        {"stay (32 or more)": (32, 100), "fall (20 to 32)": (20, 32),
         "fall to the most frequent token (below 20)": (0, 20)}, 27.0,
        why="Without positions every token reads the same bag of tokens. The bag still tells "
            "something: where a guitar is, somebody plays. But [MASK] no longer knows whether it "
            "stands before or after the verb, or at the end.",
        hints=("What is still in the input of a layer, when positions are 0? Is it worth "
               "nothing?",
               "accuracy(model) after the training is the number; the first picture of section 4 "
               "draws it, too.")),
    debug_task("too_easy", "The loss falls below 1, and the model is no better",
        _too_easy, _solve_too_easy, _LOSS_CASES,
        symptom="The loss of section 4 ends between 2 and 3, this one near 0.4. Which places "
                "does each average over?",
        wrong={"the places that were not hidden":
                   lambda s, ids, chosen: _solve_too_easy(s, ids, ~chosen),
               "a sum over the hidden places":
                   lambda s, ids, chosen: _solve_too_easy(s, ids, chosen) * chosen.sum(),
               "divided by all places":
                   lambda s, ids, chosen: _solve_too_easy(s, ids, chosen) * chosen.mean(),
               "the best guess instead of the true token":
                   lambda s, ids, chosen: _solve_too_easy(s, s.argmax(axis=1), chosen)},
        hints=("Four of five tokens are not hidden. The model can copy them.",
               "Only the losses at chosen places count: losses[chosen]."),
        fresh=_fresh_losses))
