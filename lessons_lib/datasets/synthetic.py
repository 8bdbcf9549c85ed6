"""A synthetic language whose topics, synonyms, senses and frequencies are known, so that what a
method finds can be checked. Ground truth from lesson ``03_topic_models`` on.

A document mixes topics; a sentence has one topic and scene, takes a grammatical frame and fills
its slots with words. All shares fit together: the words follow Zipf's law, a word's probability in
a document is the mixture that latent Dirichlet allocation assumes, synonyms have one distribution
of contexts, and a polysemous word says at each occurrence which sense it has.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from ..core import (check_float, check_int, check_memory, check_seed, children, shown,
                    unknown_keyword)
from ..text.stop_words import ENGLISH
from .records import SentencePairs, Triplets

__all__ = ["LanguageSettings", "SyntheticLanguage", "synthetic_language"]

TOKEN_BYTES, PAIR_BYTES = 40, 200  # of a token, and of a pair of sentences, while they are made
CLASSES = ("determiner", "preposition", "noun", "verb", "adjective")  # two of function words first
LETTERS = "DPNVA"
N_FUNCTION, NOUN, VERB, ADJECTIVE = 2, 2, 3, 4
FRAMES = {  # subject, verb, object or place; and how often each is used
    "DNVDN": 0.20, "DANVDN": 0.12, "DNVDAN": 0.12, "DANVDAN": 0.06, "DNVDNPDN": 0.14,
    "DANVDNPDN": 0.08, "DNVPDN": 0.12, "DNVPDAN": 0.08, "DNVDNPDAN": 0.08
}
FRAME_CLASSES = [np.array([LETTERS.index(letter) for letter in frame]) for frame in FRAMES]
ENDINGS = {NOUN: "o", VERB: "et", ADJECTIVE: "i"}
CONSONANTS, VOWELS = "bdklmnprstvz", "aeiou"
READS_BADLY = ("dik", "kok", "kum", "kun", "pus", "put", "tit")
N_SHORT = 250  # the most frequent content words are the shortest
OWN_MEANINGS = 6  # words of a cell that stay without synonyms: enough to edit any sentence
SET_SIZES = (2, 2, 3)  # sizes of the synonym sets, in turn
PAIR_KINDS = (
    "synonyms", "function words", "replaced", "replaced", "role swap", "other topic")  # in turn


@dataclass(frozen=True)
class LanguageSettings:
    """How large the language is, and how regular.

    Parameters
    ----------
    n_topics, n_documents, n_words : int
        Topics K >= 2, documents D, different word forms V.
    sentences_per_document : (int, int)
        Fewest and most; each number is equally likely.
    topic_concentration : float, 0.01 to 100
        Dirichlet parameter per topic; small: few topics per document.
    zipf_exponent : float, 0 to 1.2
        s in P(rank r) ~ r^-s.
    n_scenes : int >= 1
        What can go on within a topic. 1: words of one topic and class differ in frequency only.
    n_synonym_sets : int >= 1
        Sets of 2, 2, 3, 2, 2, 3, … words.
    n_polysemous : int >= 0
        Words with two senses.
    coherence : float, 0 to 1
        Probability that a token has the topic and scene of its sentence; otherwise it draws a
        topic of its own from the document. 0: every token does, as latent Dirichlet allocation
        assumes.
    n_pairs, n_triplets : int >= 0
        Graded sentence pairs, and triplets.
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
        lowest = {"n_topics": 2, "n_polysemous": 0, "n_pairs": 0, "n_triplets": 0}
        for name, value in vars(self).items():
            if name.startswith("n_"):
                check_int(name, value, low=lowest.get(name, 1))
        check_float("topic_concentration", self.topic_concentration, low=0.01, high=100.0)
        check_float("zipf_exponent", self.zipf_exponent, low=0.0, high=1.2)
        check_float("coherence", self.coherence, low=0.0, high=1.0)
        bounds = self.sentences_per_document
        got = f"sentences_per_document={shown(bounds)}"
        if not (isinstance(bounds, (tuple, list)) and len(bounds) == 2):
            raise TypeError(f"{got} is no pair; expected (fewest, most)")
        low, high = (check_int(f"sentences_per_document[{i}]", n) for i, n in enumerate(bounds))
        if low > high:
            raise ValueError(f"{got} begins above its end; expected fewest <= most")


@dataclass(frozen=True, eq=False)
class SyntheticLanguage:
    """Documents of a known language, and everything that is true of them.

    D documents, N tokens, V words, K topics; ``len`` is D, and all arrays are read-only.

    Parameters
    ----------
    words, word_class : list of str
        By id, which is the rank in Zipf's law; and the name of each word's class.
    word_probability : (V,) float64, share of all tokens where all topics are equally frequent
    topic_word, doc_topic : (K, V) and (D, K) float64, rows sum to 1
    synonyms : list of tuple of str, sets of words with one distribution of contexts
    concept : (V,) int64, a number that only synonyms share
    polysemous : dict of (int, int), the two topics of each word with two senses
    token_ids, token_topic : (N,) int32, every token, and the topic it was drawn from
    offsets, sentence_offsets : (D + 1,) int64 and one more than sentences
        Where documents and sentences begin among the tokens.
    pairs : SentencePairs
    triplets : Triplets
    seed : int
    settings : LanguageSettings
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
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
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
        """The sense of every token, (N,) int8: 0 or 1 (first or second topic of a polysemous
        word), -1 for words with one sense."""
        senses = np.full((len(self.words), len(self.topic_word)), -1, dtype=np.int8)
        for i, word in enumerate(self.words):
            if word in self.polysemous:
                senses[i, list(self.polysemous[word])] = [0, 1]
        return senses[self.token_ids, self.token_topic]

    def _cut(self, offsets: np.ndarray) -> Iterator[list[str]]:
        tokens = np.array(self.words, dtype=object)[self.token_ids].tolist()
        return (tokens[a:b] for a, b in itertools.pairwise(offsets.tolist()))


def synthetic_language(seed: int = 0, **settings: Any) -> SyntheticLanguage:
    """Make a language and documents in it; a pure function of seed and settings.

    Parameters
    ----------
    seed : int >= 0
    **settings
        Any field of `LanguageSettings`: n_topics=8, n_documents=2000, n_words=1000,
        sentences_per_document=(6, 12), topic_concentration=0.1, zipf_exponent=1.0, n_scenes=8,
        n_synonym_sets=40, n_polysemous=16, coherence=0.9, n_pairs=600, n_triplets=300.

    Returns
    -------
    SyntheticLanguage

    Raises
    ------
    TypeError, ValueError : a setting; sizes that do not fit together or into memory

    Notes
    -----
    P(word | document) = sum_k doc_topic[d, k] topic_word[k, word].

    The second sentence of a pair is an edit of the first, and the score, 0 to 5, follows from the
    edit (``pairs.columns["kind"]``): *synonyms* 5, every word that has a synonym became one;
    *function words* 4.5, one determiner dropped and one exchanged; *replaced* 1 + 3 f, a share
    1 - f of the content words became others of the same topic; *role swap* 3, the first and the
    last noun changed places, which no bag of words can see; *other topic* 0, all content words
    became words of another topic. In ``triplets`` the entailment has synonyms and no adjectives,
    the contradiction has swapped roles or another verb.

    Only uniform numbers are drawn (PCG64, a stream each for words, documents, pairs, triplets) and
    turned into choices by inverse distribution functions, so that the stream does not depend on
    the methods of a NumPy version.
    """
    check_seed(seed)
    allowed = [item.name for item in fields(LanguageSettings)]
    for name in settings:
        if name not in allowed:
            raise unknown_keyword("synthetic_language", name, allowed)
    chosen = LanguageSettings(**settings)
    _check_fits(chosen)
    words_rng, documents_rng, pairs_rng, triplets_rng = children(seed, 4)
    lexicon = _lexicon(chosen, words_rng)
    table = _SentenceTable(lexicon, chosen.n_scenes, words_rng)
    topic_word, words = _topic_word(lexicon), lexicon.words
    return SyntheticLanguage(
        words=words, word_class=[CLASSES[c] for c in lexicon.word_class.tolist()],
        word_probability=topic_word.mean(axis=0), topic_word=topic_word, concept=lexicon.concept,
        synonyms=[tuple(words[i] for i in members) for members in lexicon.synonyms],
        polysemous={words[i]: topics for i, topics in lexicon.senses.items()},
        pairs=_pairs(lexicon, table, chosen.n_pairs, pairs_rng), seed=seed, settings=chosen,
        triplets=_triplets(lexicon, table, chosen.n_triplets, triplets_rng),
        **_documents(chosen, table, documents_rng))


def _check_fits(s: LanguageSettings) -> None:
    """Refuse what cannot fit, before anything is made, and name the size that is furthest above
    its default. Bytes are estimated from below."""
    usual = LanguageSettings()
    tokens = s.n_documents * sum(s.sentences_per_document) // 2 * min(map(len, FRAMES))
    documents = tokens * TOKEN_BYTES + s.n_documents * s.n_topics * 16
    words = s.n_words * (s.n_scenes * 8 + 100) + s.n_topics * s.n_words * 8
    needed = documents + words + (s.n_pairs + s.n_triplets) * PAIR_BYTES
    size = {n: v / getattr(usual, n) for n, v in vars(s).items() if n.startswith("n_")}
    size["sentences_per_document"] = s.sentences_per_document[1]
    size["sentences_per_document"] /= usual.sentences_per_document[1]
    name = max(size, key=size.__getitem__)
    check_memory(f"{name}={shown(getattr(s, name))} and the other sizes", needed, f"Lower {name}")


# --------------------------------------------------------------------------- choices and draws


def _shuffled(items: list, rng: np.random.Generator) -> list:
    return [items[i] for i in np.argsort(rng.random(len(items)), kind="stable")]


def _row_keys(rows: list[np.ndarray]) -> np.ndarray:
    """Cumulative sums of probability rows, row number added, end to end: one sorted array for
    `_draw`."""
    keys = []
    for number, probability in enumerate(rows):
        cumulative = np.cumsum(probability)
        # the last entry that can be drawn, and those after it
        cumulative[cumulative >= cumulative[-1]] = 1.0
        keys.append(number + cumulative)
    return np.concatenate(keys)


def _draw(keys: np.ndarray, row: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Place in the end-to-end array of one draw per element: from the row ``row[i]`` with the
    uniform number ``uniform[i]`` in [0, 1)."""
    below = np.nextafter(row + 1.0, 0)           # row + uniform may be rounded up to the next row
    return np.searchsorted(keys, np.minimum(row + uniform, below), side="right")


# ------------------------------------------------------------------------------------------ words


@dataclass(frozen=True, eq=False)
class _Lexicon:
    """The words by falling frequency, and what is true of them. V words, K topics, 5 word classes.
    ``cells[c][k]`` holds the word ids of class c in topic k and each one's share of that cell (sums
    to 1); function words have one cell. ``concept`` (V,) is equal for synonyms only. ``senses``
    maps a polysemous word's id to its two topics."""

    words: list[str]
    word_class: np.ndarray
    cells: list[list[tuple[np.ndarray, np.ndarray]]]
    concept: np.ndarray
    synonyms: list[tuple[int, ...]]
    senses: dict[int, tuple[int, int]]


def _class_shares() -> np.ndarray:
    """Expected share of each word class among all tokens, from the frames: (5,), sums to 1."""
    counts = sum(weight * np.array([frame.count(letter) for letter in LETTERS])
                 for frame, weight in FRAMES.items())
    return counts / counts.sum()


def _topic_word(lexicon: _Lexicon) -> np.ndarray:
    """P(word | topic), (K, V): what each topic says, function words included."""
    shares, n_topics = _class_shares(), len(lexicon.cells[-1])
    table = np.zeros((n_topics, len(lexicon.words)))
    for c, row in enumerate(lexicon.cells):
        for k in range(n_topics):
            ids, probability = row[k if c >= N_FUNCTION else 0]
            table[k, ids] += shares[c] * probability
    return table


def _lexicon(s: LanguageSettings, rng: np.random.Generator) -> _Lexicon:
    """Make the words. Raises ValueError when the sizes do not fit together (all of them named).
    Every word gets the share that Zipf's law asks of its rank and is dealt to a cell, one word
    class in one topic, until each cell holds what the grammar needs; so class, topic and frequency
    fit together exactly."""
    share = np.arange(1, s.n_words + 1)**-float(s.zipf_exponent)
    share /= share.sum()
    of_function = _class_shares()[:N_FUNCTION].sum()
    n_function = int(np.abs(np.cumsum(share) - of_function).argmin()) + 1
    dealt, senses = _deal(share, n_function, s, rng)
    word_class = np.empty(s.n_words, dtype=np.int8)
    cells = []
    for c, name in enumerate(CLASSES):
        need = OWN_MEANINGS + 1 if c >= N_FUNCTION else 1
        cells.append([])
        for members in dealt[c] if c >= N_FUNCTION else dealt[c][:1]:
            if len(members) < need:
                raise ValueError(
                    f"n_words={s.n_words}, n_topics={s.n_topics} and zipf_exponent="
                    f"{s.zipf_exponent:g} leave {len(members)} words for the {name}s of a topic; "
                    f"expected >= {need}. Raise n_words, lower n_topics or zipf_exponent")
            ids, amounts = zip(*members, strict=True)
            cells[c].append((np.array(ids, dtype=np.int32), np.array(amounts) / sum(amounts)))
            word_class[cells[c][-1][0]] = c
    synonyms = _synonym_sets(cells, senses, n_function, s, rng)
    concept = np.arange(s.n_words)
    for members in synonyms:
        concept[list(members)] = min(members)
    words = _forms(word_class, n_function, rng)
    return _Lexicon(words, word_class, cells, concept, synonyms, senses)


def _deal(
    share: np.ndarray, n_function: int, s: LanguageSettings, rng: np.random.Generator
) -> tuple[list[list[list[tuple[int, float]]]], dict[int, tuple[int, int]]]:
    """Give each word, most frequent first, to the cell that lacks most; a polysemous one goes in
    halves to two topics of a class. Returns words and shares by class and topic, and the senses."""
    wanted = np.repeat(_class_shares()[:, None] / s.n_topics, s.n_topics, axis=1)
    wanted[:N_FUNCTION, 0] *= s.n_topics  # function words know no topics
    wanted[:N_FUNCTION, 1:] = -np.inf
    wanted *= 1 + 1e-6 * rng.random(wanted.shape)  # the seed decides the order of equal cells
    n_frequent = (s.n_words - n_function) // 3
    frequent = list(range(n_function, n_function + n_frequent))
    polysemous = set(_shuffled(frequent, rng)[:s.n_polysemous])
    if len(polysemous) < s.n_polysemous:
        raise ValueError(
            f"n_polysemous={s.n_polysemous} does not fit n_words={s.n_words} and n_topics="
            f"{s.n_topics}; expected at most {n_frequent}. Raise n_words or lower n_polysemous")
    dealt = [[[] for _ in range(s.n_topics)] for _ in CLASSES]
    senses = {}
    for word, amount in enumerate(share.tolist()):
        classes = slice(0, N_FUNCTION) if word < n_function else slice(N_FUNCTION, None)
        c, k = divmod(int(wanted[classes].argmax()), s.n_topics)
        c, topics = c + classes.start, [k]
        if word in polysemous:
            topics = sorted(np.argsort(-wanted[c], kind="stable")[:2].tolist())
            senses[word] = tuple(topics)
        for topic in topics:
            dealt[c][topic].append((word, amount / len(topics)))
            wanted[c, topic] -= amount / len(topics)
    return dealt, senses


def _synonym_sets(cells: list[list[tuple[np.ndarray, np.ndarray]]],
                  senses: dict[int, tuple[int, int]], n_function: int, s: LanguageSettings,
                  rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Take sets of two or three words out of the cells in turn, from the more frequent 40 % of the
    content words, so that contexts are many."""
    rarest = n_function + 0.4 * (s.n_words - n_function)
    free = []
    for ids, _ in itertools.chain.from_iterable(cells[N_FUNCTION:]):
        usable = [i for i in ids.tolist() if i not in senses and i < rarest]
        free.append(_shuffled(usable, rng)[:max(0, len(ids) - OWN_MEANINGS)])
    turns = _shuffled(free, rng)
    sets = []
    while len(sets) < s.n_synonym_sets:
        size = SET_SIZES[len(sets) % len(SET_SIZES)]
        place = next((place for place, cell in enumerate(turns) if len(cell) >= size), None)
        if place is None:
            raise ValueError(
                f"n_synonym_sets={s.n_synonym_sets} does not fit n_words={s.n_words}; expected at "
                f"most {len(sets)}. Raise n_words or lower it")
        turns.append(cell := turns.pop(place))
        sets.append(tuple(sorted(cell.pop() for _ in range(size))))
    return sets


def _forms(word_class: np.ndarray, n_function: int, rng: np.random.Generator) -> list[str]:
    """Pronounceable words, no two alike, none of them an English stop word: short function words,
    content words with their class's ending."""
    syllables = [a + b for a in CONSONANTS for b in VOWELS]
    closed = [a + b for a in syllables for b in CONSONANTS if a + b not in READS_BADLY]
    short = [*_shuffled(syllables, rng), *_shuffled(closed, rng)]
    short = [form for form in short if form not in ENGLISH]
    stems = _shuffled(closed, rng)[:N_SHORT]
    stems += _shuffled([a + b for a in syllables for b in closed], rng)
    n_content = len(word_class) - n_function
    if n_function > len(short) or n_content + 10 > len(stems):
        raise ValueError(
            f"n_words={len(word_class)} needs {n_function} function words and {n_content} content "
            f"words; expected at most {len(short)} and {len(stems) - 10}. Lower n_words or raise "
            "zipf_exponent")
    forms, following = short[:n_function], iter(stems)
    for c in word_class[n_function:].tolist():
        form = next(following) + ENDINGS[c]
        forms.append(form if form not in ENGLISH else next(following) + ENDINGS[c])
    return forms


# ------------------------------------------------------------------------ sentences and documents


class _SentenceTable:
    """P(word | class, topic, scene) for every combination, ready to be drawn from. In scene s of
    topic k a meaning has the probability share(meaning) * preference(s | meaning) * S; the
    preferences are balanced so that the S equally likely scenes average to the shares of the
    lexicon exactly: that tells two words of one topic apart, and makes synonyms alike. Scene
    ``n_scenes`` is that average itself."""
    def __init__(self, lexicon: _Lexicon, n_scenes: int, rng: np.random.Generator):
        self.n_scenes, self.n_topics = n_scenes, len(lexicon.cells[-1])
        rows, ids = [], []
        for c, cells in enumerate(lexicon.cells):
            for members, share in cells:
                tables = [share]
                if c >= N_FUNCTION:
                    scenes = _scene_shares(lexicon.concept[members], share, n_scenes, rng)
                    tables = [*scenes.T, share]
                rows += tables
                ids += [members] * len(tables)
        self._ids = np.concatenate(ids)
        self._keys = _row_keys(rows)

    def words(self, word_class: np.ndarray, topic: np.ndarray | int, scene: np.ndarray | int,
              uniform: np.ndarray) -> np.ndarray:
        """One word id per element, from uniform numbers in [0, 1)."""
        content = (word_class.astype(np.int64) - N_FUNCTION) * self.n_topics + topic
        content = N_FUNCTION + content * (self.n_scenes + 1) + scene
        row = np.where(word_class < N_FUNCTION, word_class, content)
        return self._ids[_draw(self._keys, row, uniform)]


def _scene_shares(concept: np.ndarray, share: np.ndarray, n_scenes: int,
                  rng: np.random.Generator) -> np.ndarray:
    """P(word | scene) of one cell, (words, scenes): random preferences, balanced by iterative
    proportional fitting."""
    meanings, which = np.unique(concept, return_inverse=True)
    mass = np.bincount(which, weights=share)
    joint = rng.random((len(meanings), n_scenes))**10 + 0.005  # a few scenes stand out
    for _ in range(500):
        joint *= 1.0 / n_scenes / joint.sum(axis=0)
        off = np.abs(joint.sum(axis=1) / mass - 1).max()
        joint *= (mass / joint.sum(axis=1))[:, None]
        if off < 1e-13:
            break
    preference = joint / mass[:, None]
    table = share[:, None] * preference[which]
    return table / table.sum(axis=0)


def _documents(s: LanguageSettings, table: _SentenceTable,
               rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw all documents at once: topics of documents, frame, topic and scene of sentences, then
    one word per slot."""
    from scipy.special import gammaincinv

    # rows of a symmetric Dirichlet distribution: gamma variables by the inverse distribution
    # function of 1 - u, which lies in (0, 1], divided by their sum
    gamma = gammaincinv(s.topic_concentration, 1.0 - rng.random((s.n_documents, s.n_topics)))
    gamma = np.where(np.isfinite(gamma), gamma, 40.0 + s.topic_concentration)
    doc_topic = gamma / gamma.sum(axis=1, keepdims=True)
    topic_keys = _row_keys(list(doc_topic))

    def topics_of(documents: np.ndarray) -> np.ndarray:
        drawn = _draw(topic_keys, documents, rng.random(len(documents)))
        return drawn - documents * s.n_topics

    fewest, most = s.sentences_per_document
    n_sentences = fewest + (rng.random(s.n_documents) * (most - fewest + 1)).astype(np.int64)
    document = np.repeat(np.arange(s.n_documents), n_sentences)  # of each sentence
    topic = topics_of(document)
    scene = (rng.random(len(document)) * s.n_scenes).astype(np.int64)
    shares = _row_keys([np.array(list(FRAMES.values()))])
    frame = _draw(shares, np.zeros(len(document), dtype=np.int64), rng.random(len(document)))
    lengths = np.array([len(f) for f in FRAMES])[frame]
    sentence = np.repeat(np.arange(len(document)), lengths)  # of each token
    coherent = rng.random(len(sentence)) < s.coherence
    token_topic = np.where(coherent, topic[sentence], topics_of(document[sentence]))
    token_scene = np.where(coherent, scene[sentence], s.n_scenes)
    sentence_offsets = np.concatenate([[0], np.cumsum(lengths)])
    begins = np.cumsum([0, *map(len, FRAMES)])[frame]  # where each sentence's frame begins
    slots = begins[sentence] + np.arange(len(sentence)) - sentence_offsets[sentence]
    classes = np.concatenate(FRAME_CLASSES)[slots]
    token_ids = table.words(classes, token_topic, token_scene, rng.random(len(sentence)))
    return {"doc_topic": doc_topic, "token_ids": token_ids.astype(np.int32),
            "offsets": sentence_offsets[np.concatenate([[0], np.cumsum(n_sentences)])],
            "sentence_offsets": sentence_offsets, "token_topic": token_topic.astype(np.int32)}


# ----------------------------------------------------------------------------- pairs and triplets


@dataclass
class _Sentence:
    ids: list[int]
    classes: list[int]
    topic: int

    def content(self) -> list[int]:
        return [slot for slot, c in enumerate(self.classes) if c >= N_FUNCTION]


class _Editor:
    """Draws sentences and edits them; every draw comes from ``rng``."""
    def __init__(self, lexicon: _Lexicon, table: _SentenceTable, rng: np.random.Generator):
        self.lexicon, self.table, self.rng = lexicon, table, rng
        self.concept = lexicon.concept.tolist()
        self.set_of = {word: members for members in lexicon.synonyms for word in members}

    def pick(self, n: int) -> int:
        return int(self.rng.random() * n)

    def one_of(self, items: list) -> Any:
        return items[self.pick(len(items))]

    def sentences(self) -> Iterator[_Sentence]:
        """Sentences of one topic and scene, without a repeated meaning, that hold a word with a
        synonym."""
        while True:
            classes, topic = self.one_of(FRAME_CLASSES), self.pick(self.table.n_topics)
            scene = self.pick(self.table.n_scenes)
            ids = self.table.words(classes, topic, scene, self.rng.random(len(classes))).tolist()
            sentence = _Sentence(ids, classes.tolist(), topic)
            content = [ids[slot] for slot in sentence.content()]
            differ = len({self.concept[i] for i in content}) == len(content)
            if differ and any(i in self.set_of for i in content):
                yield sentence

    def synonyms(self, s: _Sentence) -> list[int]:
        """Every word that has a synonym becomes one of its synonyms."""
        others = {i: [word for word in self.set_of.get(i, ()) if word != i] for i in s.ids}
        return [self.one_of(others[i]) if others[i] else i for i in s.ids]

    def function_words(self, s: _Sentence) -> list[int]:
        """One determiner is dropped and another exchanged, where the language has two."""
        determiners = [slot for slot, c in enumerate(s.classes) if c == 0]
        first, second = _shuffled(determiners, self.rng)[:2]
        others = [i for i in self.lexicon.cells[0][0][0].tolist() if i != s.ids[second]]
        ids = list(s.ids)
        if others:
            ids[second] = self.one_of(others)
        return ids[:first] + ids[first + 1:]

    def replaced(self, s: _Sentence, slots: list[int], topic: int) -> list[int]:
        """The content words at ``slots`` become others of their class, from ``topic``, none with a
        meaning that is already there."""
        ids = list(s.ids)
        taken = {self.concept[i] for i in ids}
        for slot in slots:
            members = self.lexicon.cells[s.classes[slot]][topic][0].tolist()
            ids[slot] = self.one_of([i for i in members if self.concept[i] not in taken])
            taken.add(self.concept[ids[slot]])
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
        edited = self.replaced(s, _shuffled(content, self.rng)[:n], s.topic)
        return edited, 1 + 3 * (len(content) - n) / len(content)

    def text(self, ids: list[int]) -> str:
        return " ".join(self.lexicon.words[i] for i in ids) + "."


def _pairs(lexicon: _Lexicon, table: _SentenceTable, n_pairs: int,
           rng: np.random.Generator) -> SentencePairs:
    """Graded pairs, all kinds equally often (``replaced`` twice), in an order without meaning;
    ``columns["kind"]`` names each pair's edit."""
    editor = _Editor(lexicon, table, rng)
    kinds = _shuffled([PAIR_KINDS[i % len(PAIR_KINDS)] for i in range(n_pairs)], rng)
    first, second, scores = [], [], []
    for kind, sentence in zip(kinds, editor.sentences(), strict=False):  # which have no end
        edited, score = editor.graded(kind, sentence)
        first.append(editor.text(sentence.ids))
        second.append(editor.text(edited))
        scores.append(score)
    more = {"name": "synthetic", "columns": {"kind": kinds}}
    return SentencePairs(first, second, np.array(scores), **more)


def _triplets(lexicon: _Lexicon, table: _SentenceTable, n_triplets: int,
              rng: np.random.Generator) -> Triplets:
    """Premises with a paraphrase that follows (synonyms, adjectives left out) and a sentence that
    does not (roles swapped, or another verb)."""
    editor = _Editor(lexicon, table, rng)
    kinds = ["role swap" if i % 2 else "other verb" for i in range(n_triplets)]
    columns: tuple[list[str], ...] = ([], [], [])
    for kind, s in zip(kinds, editor.sentences(), strict=False):
        follows = zip(editor.synonyms(s), s.classes, strict=True)
        follows = [i for i, c in follows if c != ADJECTIVE]
        against = editor.role_swap(s)
        if kind == "other verb":
            against = editor.replaced(s, [s.classes.index(VERB)], s.topic)
        for column, ids in zip(columns, (s.ids, follows, against), strict=True):
            column.append(editor.text(ids))
    return Triplets(*columns, name="synthetic", columns={"kind": kinds})
