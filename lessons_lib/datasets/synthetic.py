"""A synthetic language whose topics, synonyms, senses and frequencies are known, so that what a method finds can be checked.

A document mixes topics; a sentence has one topic and scene, takes a grammatical frame and fills its slots with words. All shares fit
together: the words follow Zipf's law, a word's probability in a document is the mixture that latent Dirichlet allocation assumes, synonyms
have one distribution of contexts, and a polysemous word says at each occurrence which sense it has. Ground truth from lesson ``03_topic_models`` on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from ..core import check_float, check_int, check_seed, children, shown
from ..core.checks import unknown_keyword
from .records import SentencePairs, Triplets
from .synthetic_pairs import make_pairs, make_triplets
from .synthetic_words import CLASSES, FRAMES, LETTERS, SentenceTable, draw, make_lexicon, row_keys

__all__ = ["LanguageSettings", "SyntheticLanguage", "synthetic_language"]

TOKEN_BYTES, PAIR_BYTES = 40, 200                 # what a token of a document and a pair of sentences take at least while they are made


@dataclass(frozen=True)
class LanguageSettings:
    """How large the language is, and how regular.

    Parameters: n_topics (K), >= 2; n_documents (D); n_words, different word forms (V); sentences_per_document, (fewest, most), each number
    equally likely; topic_concentration, Dirichlet parameter per topic, 0.01 to 100, small = few topics per document; zipf_exponent, s in
    P(rank r) ~ r^-s, 0 to 1.2; n_scenes, what can go on within a topic, 1 = words of one topic and class differ in frequency only;
    n_synonym_sets, sets of 2, 2, 3, 2, 2, 3, … words, >= 1; n_polysemous, words with two senses; coherence, probability that a token has the
    topic and scene of its sentence, otherwise it draws a topic of its own from the document, 0 = every token does, as latent Dirichlet
    allocation assumes; n_pairs, n_triplets, graded sentence pairs and triplets.
    """

    n_topics: int = 8
    n_documents: int = 2000
    n_words: int = 1000
    sentences_per_document: tuple[int, int] = (6, 12)
    topic_concentration: float = 0.1
    zipf_exponent: float = 1.0
    n_scenes: int = 8
    n_synonym_sets: int = 40
    n_polysemous: int = 16
    coherence: float = 0.9
    n_pairs: int = 600
    n_triplets: int = 300

    def __post_init__(self) -> None:
        for name, low in {"n_topics": 2, "n_documents": 1, "n_words": 1, "n_scenes": 1, "n_synonym_sets": 1, "n_polysemous": 0, "n_pairs": 0,
                          "n_triplets": 0}.items():
            check_int(name, getattr(self, name), low=low)
        check_float("topic_concentration", self.topic_concentration, low=0.01, high=100.0)
        check_float("zipf_exponent", self.zipf_exponent, low=0.0, high=1.2)
        check_float("coherence", self.coherence, low=0.0, high=1.0)
        bounds = self.sentences_per_document
        if not (isinstance(bounds, (tuple, list)) and len(bounds) == 2):
            raise TypeError(f"sentences_per_document={shown(bounds)} is no pair; expected (fewest, most)")
        if check_int("sentences_per_document[0]", bounds[0]) > check_int("sentences_per_document[1]", bounds[1]):
            raise ValueError(f"sentences_per_document={shown(bounds)} begins above its end; expected fewest <= most")


@dataclass(frozen=True, eq=False)
class SyntheticLanguage:
    """Documents of a known language, and everything that is true of them. D documents, N tokens, V words, K topics.

    Truth about words: ``words`` by id, which is the rank in Zipf's law; ``word_class``, the name of each word's class; ``word_probability``
    (V,), its share of all tokens where all topics are equally frequent; ``topic_word`` (K, V) and ``doc_topic`` (D, K), rows sum to 1;
    ``synonyms``, sets of words with one distribution of contexts; ``concept`` (V,), a number that only synonyms share; ``polysemous``,
    word -> its two topics. The documents: ``token_ids`` (N,) int32, ``offsets`` (D + 1,) and ``sentence_offsets`` int64 into it,
    ``token_topic`` (N,) int32, the topic each token was drawn from. ``pairs`` and ``triplets``: see `synthetic_language`. Arrays are
    read-only; ``len`` is D.
    """

    words: list[str] = field(repr=False)
    word_class: list[str] = field(repr=False)
    word_probability: np.ndarray = field(repr=False)
    topic_word: np.ndarray = field(repr=False)
    doc_topic: np.ndarray = field(repr=False)
    synonyms: list[tuple[str, ...]] = field(repr=False)
    concept: np.ndarray = field(repr=False)
    polysemous: dict[str, tuple[int, int]] = field(repr=False)
    token_ids: np.ndarray = field(repr=False)
    offsets: np.ndarray = field(repr=False)
    sentence_offsets: np.ndarray = field(repr=False)
    token_topic: np.ndarray = field(repr=False)
    pairs: SentencePairs = field(repr=False)
    triplets: Triplets = field(repr=False)
    seed: int = 0
    settings: LanguageSettings = LanguageSettings()

    def __post_init__(self) -> None:
        for item in fields(self):
            if isinstance(value := getattr(self, item.name), np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def documents(self) -> list[list[str]]:
        """The documents as lists of tokens."""
        return list(self._cut(self.offsets))

    @cached_property
    def sentences(self) -> list[str]:
        """All sentences in order, as text: words parted by spaces, a full stop at the end."""
        return [" ".join(tokens) + "." for tokens in self._cut(self.sentence_offsets)]

    @cached_property
    def texts(self) -> list[str]:
        """The documents as text: their sentences parted by spaces."""
        edges = np.searchsorted(self.sentence_offsets, self.offsets).tolist()
        return [" ".join(self.sentences[a:b]) for a, b in itertools.pairwise(edges)]

    @cached_property
    def token_sense(self) -> np.ndarray:
        """The sense of every token, (N,) int8: 0 or 1 (first or second topic of a polysemous word), -1 for words with one sense."""
        senses = np.full((len(self.words), len(self.topic_word)), -1, dtype=np.int8)
        number = {word: i for i, word in enumerate(self.words)}
        for word, topics in self.polysemous.items():
            senses[number[word], list(topics)] = [0, 1]
        return senses[self.token_ids, self.token_topic]

    def _cut(self, offsets: np.ndarray) -> Iterator[list[str]]:
        tokens, edges = np.array(self.words, dtype=object)[self.token_ids].tolist(), offsets.tolist()
        return (tokens[a:b] for a, b in itertools.pairwise(edges))


def synthetic_language(seed: int = 0, **settings: Any) -> SyntheticLanguage:
    """Make a language and documents in it; a pure function of seed and settings.

    Parameters: seed, int >= 0; settings, any field of `LanguageSettings`: n_topics=8, n_documents=2000, n_words=1000,
    sentences_per_document=(6, 12), topic_concentration=0.1, zipf_exponent=1.0, n_scenes=8, n_synonym_sets=40, n_polysemous=16, coherence=0.9,
    n_pairs=600, n_triplets=300. Returns a `SyntheticLanguage`. Raises TypeError or ValueError for a setting, ValueError when sizes do not fit
    together or into memory.
    Notes: P(word | document) = sum_k doc_topic[d, k] topic_word[k, word]. The second sentence of a pair is an edit of the first, and the score,
    0 to 5, follows from the edit (``pairs.columns["kind"]``): *synonyms* 5, every word that has a synonym became one; *function words* 4.5, one
    determiner dropped and one exchanged; *replaced* 1 + 3 f, a share 1 - f of the content words became others of the same topic;
    *role swap* 3, the first and the last noun changed places, which no bag of words can see; *other topic* 0, all content words
    became words of another topic. In ``triplets`` the entailment has synonyms and no adjectives, the contradiction has swapped roles or
    another verb. Only uniform numbers are drawn (PCG64, a stream each for words, documents, pairs, triplets) and turned into choices by
    inverse distribution functions, so that the stream does not depend on the methods of a NumPy version.
    """
    check_seed(seed)
    for name in settings:
        if name not in (allowed := [f.name for f in fields(LanguageSettings)]):
            raise unknown_keyword("synthetic_language", name, allowed)
    chosen = LanguageSettings(**settings)
    _check_memory(chosen)
    words_rng, documents_rng, pairs_rng, triplets_rng = children(seed, 4)
    lexicon = make_lexicon(chosen.n_words, chosen.n_topics, zipf_exponent=chosen.zipf_exponent, n_synonym_sets=chosen.n_synonym_sets,
                           n_polysemous=chosen.n_polysemous, rng=words_rng)
    table = SentenceTable(lexicon, chosen.n_scenes, words_rng)
    topic_word = lexicon.topic_word()
    return SyntheticLanguage(
        words=lexicon.words, word_class=[CLASSES[c] for c in lexicon.word_class.tolist()], word_probability=topic_word.mean(axis=0),
        topic_word=topic_word, synonyms=[tuple(lexicon.words[i] for i in members) for members in lexicon.synonyms], concept=lexicon.concept,
        polysemous={lexicon.words[i]: topics for i, topics in lexicon.senses.items()},
        pairs=make_pairs(lexicon, table, chosen.n_pairs, pairs_rng), triplets=make_triplets(lexicon, table, chosen.n_triplets, triplets_rng),
        seed=seed, settings=chosen, **_documents(chosen, table, documents_rng))


def _check_memory(settings: LanguageSettings) -> None:
    """Refuse what cannot fit, before anything is made, and name the size that is furthest above its default. Bytes are estimated from below."""
    import psutil

    s, usual = settings, LanguageSettings()
    tokens = s.n_documents * sum(s.sentences_per_document) // 2 * min(map(len, FRAMES))
    needed = (tokens * TOKEN_BYTES + s.n_documents * s.n_topics * 16 + s.n_words * (s.n_scenes * 8 + 100) + s.n_topics * s.n_words * 8
              + (s.n_pairs + s.n_triplets) * PAIR_BYTES)
    free = psutil.virtual_memory().available
    if needed > free:
        size = {name: value / getattr(usual, name) for name, value in vars(s).items() if name.startswith("n_")}
        size["sentences_per_document"] = s.sentences_per_document[1] / usual.sentences_per_document[1]
        name = max(size, key=size.__getitem__)
        raise ValueError(f"{name}={shown(getattr(s, name))} needs about {needed:,} bytes with the other sizes, {free:,} are free; lower it")


def _documents(settings: LanguageSettings, table: SentenceTable, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw all documents at once: topics of documents, frame, topic and scene of sentences, then one word per slot."""
    doc_topic = _dirichlet(settings.topic_concentration, (settings.n_documents, settings.n_topics), rng)
    fewest, most = settings.sentences_per_document
    n_sentences = fewest + (rng.random(settings.n_documents) * (most - fewest + 1)).astype(np.int64)
    document = np.repeat(np.arange(settings.n_documents), n_sentences)           # of each sentence
    keys, ends = row_keys(list(doc_topic))

    def topics_of(documents: np.ndarray) -> np.ndarray:
        return draw(keys, ends, documents, rng.random(len(documents))) - documents * settings.n_topics

    topic, scene = topics_of(document), (rng.random(len(document)) * settings.n_scenes).astype(np.int64)
    frame = draw(*row_keys([np.array(list(FRAMES.values()))]), np.zeros(len(document), dtype=np.int64), rng.random(len(document)))
    lengths = np.array([len(f) for f in FRAMES])[frame]
    sentence = np.repeat(np.arange(len(document)), lengths)                      # of each token
    coherent = rng.random(len(sentence)) < settings.coherence
    token_topic = np.where(coherent, topic[sentence], topics_of(document[sentence]))
    token_scene = np.where(coherent, scene[sentence], settings.n_scenes)
    sentence_offsets = np.concatenate([[0], np.cumsum(lengths)])
    classes = _slot_classes(frame, sentence_offsets, sentence)
    return {"doc_topic": doc_topic, "token_ids": table.words(classes, token_topic, token_scene, rng.random(len(sentence))).astype(np.int32),
            "offsets": sentence_offsets[np.concatenate([[0], np.cumsum(n_sentences)])], "sentence_offsets": sentence_offsets,
            "token_topic": token_topic.astype(np.int32)}


def _slot_classes(frame: np.ndarray, sentence_offsets: np.ndarray, sentence: np.ndarray) -> np.ndarray:
    """Word class of every token: the letters of the sentences' frames, end to end."""
    letters = np.array([LETTERS.index(letter) for f in FRAMES for letter in f])
    begins = np.cumsum([0, *(len(f) for f in FRAMES)])
    return letters[begins[frame][sentence] + np.arange(len(sentence)) - sentence_offsets[sentence]]


def _dirichlet(concentration: float, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Rows of a symmetric Dirichlet distribution: gamma variables by the inverse distribution function, divided by their sum."""
    from scipy.special import gammaincinv

    gamma = gammaincinv(concentration, 1.0 - rng.random(shape))                  # 1 - u lies in (0, 1]
    gamma = np.where(np.isfinite(gamma), gamma, 40.0 + concentration)
    return gamma / gamma.sum(axis=1, keepdims=True)
