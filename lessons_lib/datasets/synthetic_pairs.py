"""Sentence pairs and triplets of the synthetic language, made by edits whose effect on the meaning is known.

A score is the result of a rule, not an opinion: synonyms keep the meaning, function words touch it lightly, each replaced content word takes
its part away, and who does what to whom counts although the words are the same. Part of `synthetic`; used as ground truth for sentence
similarity from lesson ``06_sif_and_usif`` on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .records import SentencePairs, Triplets
from .synthetic_words import CLASSES, FRAMES, LETTERS, N_FUNCTION, Lexicon, SentenceTable

__all__ = ["PAIR_KINDS", "make_pairs", "make_triplets"]

NOUN, VERB, ADJECTIVE = (CLASSES.index(name) for name in ("noun", "verb", "adjective"))
PAIR_KINDS = ("synonyms", "function words", "replaced", "replaced", "role swap", "other topic")      # in turn


@dataclass
class _Sentence:
    ids: list[int]
    classes: list[int]
    topic: int

    def content(self) -> list[int]:
        return [slot for slot, c in enumerate(self.classes) if c >= N_FUNCTION]


class _Editor:
    """Draws sentences and edits them; every draw comes from ``rng``."""

    def __init__(self, lexicon: Lexicon, table: SentenceTable, rng: np.random.Generator):
        self.lexicon, self.table, self.rng = lexicon, table, rng
        self.set_of = {word: members for members in lexicon.synonyms for word in members}

    def pick(self, n: int) -> int:
        return int(self.rng.random() * n)

    def sentences(self) -> Iterator[_Sentence]:
        """Sentences of one topic and scene, without a repeated meaning, that hold a word with a synonym."""
        frames = list(FRAMES)
        while True:
            frame, topic = frames[self.pick(len(frames))], self.pick(self.table.n_topics)
            classes = [LETTERS.index(letter) for letter in frame]
            ids = self._words(classes, topic, self.pick(self.table.n_scenes))
            sentence = _Sentence(ids, classes, topic)
            content = [ids[slot] for slot in sentence.content()]
            if len({int(self.lexicon.concept[i]) for i in content}) == len(content) and any(i in self.set_of for i in content):
                yield sentence

    def _words(self, classes: list[int], topic: int, scene: int) -> list[int]:
        def repeated(value: int) -> np.ndarray:
            return np.full(len(classes), value)

        return self.table.words(np.array(classes), repeated(topic), repeated(scene), self.rng.random(len(classes))).tolist()

    def _slots(self, slots: list[int], n: int) -> list[int]:
        return [slots[i] for i in np.argsort(self.rng.random(len(slots)), kind="stable")[:n]]

    def synonyms(self, s: _Sentence) -> list[int]:
        """Every word that has a synonym becomes one of its synonyms."""
        others = {i: [word for word in self.set_of[i] if word != i] for i in s.ids if i in self.set_of}
        return [others[i][self.pick(len(others[i]))] if i in others else i for i in s.ids]

    def function_words(self, s: _Sentence) -> list[int]:
        """One determiner is dropped and another word of the kind exchanged, where the language has two."""
        first, second = self._slots([slot for slot, c in enumerate(s.classes) if c == 0], 2)
        others = [i for i in self.lexicon.cells[0][0][0].tolist() if i != s.ids[second]]
        ids = list(s.ids)
        if others:
            ids[second] = others[self.pick(len(others))]
        return ids[:first] + ids[first + 1 :]

    def replaced(self, s: _Sentence, slots: list[int], topic: int) -> list[int]:
        """The content words at ``slots`` become others of their class, from ``topic``, none with a meaning that is already there."""
        ids = list(s.ids)
        taken = {int(self.lexicon.concept[i]) for i in ids}
        for slot in slots:
            members = self.lexicon.cells[s.classes[slot]][topic][0]
            free = [i for i in members.tolist() if int(self.lexicon.concept[i]) not in taken]
            ids[slot] = free[self.pick(len(free))]
            taken.add(int(self.lexicon.concept[ids[slot]]))
        return ids

    def role_swap(self, s: _Sentence) -> list[int]:
        """The first and the last noun change places."""
        nouns = [slot for slot, c in enumerate(s.classes) if c == NOUN]
        ids = list(s.ids)
        ids[nouns[0]], ids[nouns[-1]] = ids[nouns[-1]], ids[nouns[0]]
        return ids

    def graded(self, kind: str, s: _Sentence) -> tuple[list[int], float]:
        """The second sentence of a pair and the score, 0 to 5."""
        content = s.content()
        if kind == "synonyms":
            return self.synonyms(s), 5.0
        if kind == "function words":
            return self.function_words(s), 4.5
        if kind == "role swap":
            return self.role_swap(s), 3.0
        if kind == "other topic":
            other = (s.topic + 1 + self.pick(self.table.n_topics - 1)) % self.table.n_topics
            return self.replaced(s, content, other), 0.0
        n = 1 + self.pick(len(content))
        return self.replaced(s, self._slots(content, n), s.topic), 1 + 3 * (len(content) - n) / len(content)

    def text(self, ids: list[int]) -> str:
        return " ".join(self.lexicon.words[i] for i in ids) + "."


def make_pairs(lexicon: Lexicon, table: SentenceTable, n_pairs: int, rng: np.random.Generator) -> SentencePairs:
    """Graded pairs, all kinds equally often (``replaced`` twice), in an order without meaning; ``columns["kind"]`` names each pair's edit."""
    editor = _Editor(lexicon, table, rng)
    order = np.argsort(rng.random(n_pairs), kind="stable")
    kinds = [PAIR_KINDS[i % len(PAIR_KINDS)] for i in order]
    first, second, scores = [], [], []
    for kind, sentence in zip(kinds, editor.sentences(), strict=False):          # the sentences have no end
        edited, score = editor.graded(kind, sentence)
        first.append(editor.text(sentence.ids))
        second.append(editor.text(edited))
        scores.append(score)
    return SentencePairs(first, second, np.array(scores), name="synthetic", columns={"kind": kinds})


def make_triplets(lexicon: Lexicon, table: SentenceTable, n_triplets: int, rng: np.random.Generator) -> Triplets:
    """Premises with a paraphrase that follows (synonyms, adjectives left out) and a sentence that does not (roles swapped, or another verb)."""
    editor = _Editor(lexicon, table, rng)
    kinds = ["role swap" if i % 2 else "other verb" for i in range(n_triplets)]
    rows = []
    for kind, s in zip(kinds, editor.sentences(), strict=False):
        entailed = [i for i, c in zip(editor.synonyms(s), s.classes, strict=True) if c != ADJECTIVE]
        against = editor.role_swap(s) if kind == "role swap" else editor.replaced(s, [s.classes.index(VERB)], s.topic)
        rows.append([editor.text(ids) for ids in (s.ids, entailed, against)])
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    return Triplets(*columns, name="synthetic", columns={"kind": kinds})
