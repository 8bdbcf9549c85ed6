"""The words of the synthetic language: which there are, how often each is used, in which topics, and what means the same.

Every word gets the share that Zipf's law asks of its rank and is dealt to a cell, one word class in one topic, until each cell holds what
the grammar needs; so class, topic and frequency fit together exactly. Inside a topic, scenes prefer some meanings to others, in a way that
leaves all shares as they are: that is what tells two words of one topic apart, and makes synonyms alike. Part of `synthetic`, taught in
lesson ``03_topic_models``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..text.stop_words import ENGLISH

__all__ = ["CLASSES", "FRAMES", "Lexicon", "SentenceTable", "class_shares", "draw", "make_lexicon", "row_keys"]

CLASSES = ("determiner", "preposition", "noun", "verb", "adjective")              # the first two are function words
LETTERS = "DPNVA"
N_FUNCTION = 2
ENDINGS = {2: "o", 3: "et", 4: "i"}                           # nouns, verbs and adjectives are known by their ending
FRAMES = {"DNVDN": 0.20, "DANVDN": 0.12, "DNVDAN": 0.12, "DANVDAN": 0.06, "DNVDNPDN": 0.14, "DANVDNPDN": 0.08, "DNVPDN": 0.12, "DNVPDAN": 0.08,
          "DNVDNPDAN": 0.08}                                  # subject, verb, object or place; and how often each is used
CONSONANTS, VOWELS = "bdklmnprstvz", "aeiou"
READS_BADLY = ("dik", "kok", "kum", "kun", "pus", "put", "tit")
N_SHORT = 250                                                 # the most frequent content words are the shortest
OWN_MEANINGS = 6                                              # words of a cell that stay without synonyms: enough to edit any sentence
SET_SIZES = (2, 2, 3)                                         # sizes of the synonym sets, in turn


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words by falling frequency, and what is true of them. V words, K topics, 5 word classes.

    ``cells[c][k]`` holds the word ids of class c in topic k and each one's share of that cell (sums to 1); function words have one cell.
    ``concept`` (V,) is equal for synonyms only. ``senses`` maps a polysemous word's id to its two topics.
    """

    words: list[str]
    word_class: np.ndarray
    cells: list[list[tuple[np.ndarray, np.ndarray]]]
    concept: np.ndarray
    synonyms: list[tuple[int, ...]]
    senses: dict[int, tuple[int, int]]

    def topic_word(self) -> np.ndarray:
        """P(word | topic), (K, V): what each topic says, function words included."""
        shares, n_topics = class_shares(), len(self.cells[-1])
        table = np.zeros((n_topics, len(self.words)))
        for c, row in enumerate(self.cells):
            for k in range(n_topics):
                ids, probability = row[k if c >= N_FUNCTION else 0]
                table[k, ids] += shares[c] * probability
        return table


def class_shares() -> np.ndarray:
    """Expected share of each word class among all tokens, from the frames: (5,), sums to 1."""
    counts = sum(weight * np.array([frame.count(letter) for letter in LETTERS]) for frame, weight in FRAMES.items())
    return counts / counts.sum()


def make_lexicon(n_words: int, n_topics: int, *, zipf_exponent: float, n_synonym_sets: int, n_polysemous: int,
                 rng: np.random.Generator) -> Lexicon:
    """Make the words and deal them to classes and topics. Raises ValueError when the sizes do not fit together (all of them named)."""
    share = np.arange(1, n_words + 1) ** -float(zipf_exponent)
    share /= share.sum()
    n_function = int(np.abs(np.cumsum(share) - class_shares()[:N_FUNCTION].sum()).argmin()) + 1
    dealt, senses = _deal(share, n_function, n_topics, n_polysemous, rng)
    word_class = np.empty(n_words, dtype=np.int8)
    cells = []
    for c in range(len(CLASSES)):
        cells.append([_cell(members, c, (n_words, n_topics, zipf_exponent)) for members in (dealt[c] if c >= N_FUNCTION else dealt[c][:1])])
        for ids, _ in cells[c]:
            word_class[ids] = c
    synonyms = _synonym_sets(cells, senses, n_synonym_sets, n_function, n_words, rng)
    concept = np.arange(n_words)
    for members in synonyms:
        concept[list(members)] = min(members)
    return Lexicon(_forms(word_class, n_function, rng), word_class, cells, concept, synonyms, senses)


def _deal(share: np.ndarray, n_function: int, n_topics: int, n_polysemous: int,
          rng: np.random.Generator) -> tuple[list[list[list[tuple[int, float]]]], dict[int, tuple[int, int]]]:
    """Give each word, most frequent first, to the cell that lacks most; a polysemous one goes in halves to two topics of a class."""
    wanted = np.repeat(class_shares()[:, None] / n_topics, n_topics, axis=1)
    wanted[:N_FUNCTION] = np.where(np.arange(n_topics) == 0, wanted[:N_FUNCTION] * n_topics, -np.inf)     # function words know no topics
    wanted *= 1 + 1e-6 * rng.random(wanted.shape)             # equal cells are served in an order that the seed decides
    frequent = np.arange(n_function, n_function + (len(share) - n_function) // 3)
    polysemous = set(frequent[np.argsort(rng.random(len(frequent)), kind="stable")[:n_polysemous]].tolist())
    if len(polysemous) < n_polysemous or (n_polysemous and n_topics < 2):
        raise ValueError(f"n_polysemous={n_polysemous} does not fit n_words={len(share)} and n_topics={n_topics}; expected at most {len(frequent)} "
                         "and >= 2 topics. Raise n_words or lower n_polysemous")
    dealt = [[[] for _ in range(n_topics)] for _ in CLASSES]
    senses = {}
    for word, amount in enumerate(share.tolist()):
        low, high = (0, N_FUNCTION) if word < n_function else (N_FUNCTION, len(CLASSES))
        c, k = np.unravel_index(wanted[low:high].argmax(), (high - low, n_topics))
        topics = np.sort(np.argsort(-wanted[low + c], kind="stable")[:2]).tolist() if word in polysemous else [int(k)]
        for topic in topics:
            dealt[low + c][topic].append((word, amount / len(topics)))
            wanted[low + c, topic] -= amount / len(topics)
        if word in polysemous:
            senses[word] = tuple(topics)
    return dealt, senses


def _cell(members: list[tuple[int, float]], c: int, sizes: tuple[int, int, float]) -> tuple[np.ndarray, np.ndarray]:
    need = OWN_MEANINGS + 1 if c >= N_FUNCTION else 1
    if len(members) < need:
        n_words, n_topics, exponent = sizes
        raise ValueError(f"n_words={n_words}, n_topics={n_topics} and zipf_exponent={exponent:g} leave {len(members)} words for the {CLASSES[c]}s "
                         f"of a topic; expected >= {need}. Raise n_words, lower n_topics or zipf_exponent")
    ids, amounts = zip(*members, strict=True)
    return np.array(ids, dtype=np.int32), np.array(amounts) / sum(amounts)


def _synonym_sets(cells: list[list[tuple[np.ndarray, np.ndarray]]], senses: dict[int, tuple[int, int]], n_sets: int, n_function: int,
                  n_words: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Take sets of two or three words out of the cells in turn, from the more frequent 40 % of the content words, so that contexts are many."""
    rarest = n_function + 0.4 * (n_words - n_function)
    free = []
    for ids, _ in (cell for row in cells[N_FUNCTION:] for cell in row):
        usable = [i for i in ids.tolist() if i not in senses and i < rarest]
        order = np.argsort(rng.random(len(usable)), kind="stable")
        free.append([usable[i] for i in order][: max(0, len(ids) - OWN_MEANINGS)])
    turns = np.argsort(rng.random(len(free)), kind="stable").tolist()
    sets = []
    while len(sets) < n_sets:
        size = SET_SIZES[len(sets) % len(SET_SIZES)]
        open_cells = [t for t in turns if len(free[t]) >= size]
        if not open_cells:
            raise ValueError(f"n_synonym_sets={n_sets} does not fit n_words={n_words}; expected at most {len(sets)}. Raise n_words or lower it")
        cell = free[open_cells[0]]
        sets.append(tuple(sorted(cell.pop() for _ in range(size))))
        turns = [t for t in turns if t != open_cells[0]] + [open_cells[0]]
    return sets


def _forms(word_class: np.ndarray, n_function: int, rng: np.random.Generator) -> list[str]:
    """Pronounceable words, no two alike, none of them an English stop word: short function words, content words with their class's ending."""
    open_syllables = [a + b for a in CONSONANTS for b in VOWELS]
    closed = [a + b for a in open_syllables for b in CONSONANTS if a + b not in READS_BADLY]
    short = [form for form in [*_shuffled(open_syllables, rng), *_shuffled(closed, rng)] if form not in ENGLISH]
    n_content = len(word_class) - n_function
    long = [a + b for a in open_syllables for b in closed]
    stems = _shuffled(closed, rng)[:N_SHORT] + _shuffled(long, rng)
    if n_function > len(short) or n_content + 10 > len(stems):
        raise ValueError(f"n_words={len(word_class)} needs {n_function} function words and {n_content} content words; expected at most {len(short)} "
                         f"and {len(stems) - 10}. Lower n_words or raise zipf_exponent")
    forms, following = short[:n_function], iter(stems)
    for c in word_class[n_function:].tolist():
        form = next(following) + ENDINGS[c]
        forms.append(form if form not in ENGLISH else next(following) + ENDINGS[c])
    return forms


def _shuffled(items: list[str], rng: np.random.Generator) -> list[str]:
    return [items[i] for i in np.argsort(rng.random(len(items)), kind="stable")]


# ------------------------------------------------------------------------------------------------ drawing


def row_keys(rows: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Cumulative sums of probability rows, row number added, end to end: one sorted array for `draw`. Returns keys and the rows' ends."""
    keys = []
    for number, probability in enumerate(rows):
        cumulative = np.cumsum(probability)
        cumulative[cumulative >= cumulative[-1]] = 1.0        # the last entry that can be drawn, and those after it
        keys.append(number + cumulative)
    return np.concatenate(keys), np.cumsum([len(row) for row in rows])


def draw(keys: np.ndarray, ends: np.ndarray, row: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Place in the end-to-end array of one draw per element: from the row ``row[i]`` with the uniform number ``uniform[i]`` in [0, 1)."""
    return np.minimum(np.searchsorted(keys, row + uniform, side="right"), ends[row] - 1)


class SentenceTable:
    """P(word | class, topic, scene) for every combination, ready to be drawn from.

    In scene s of topic k a meaning has the probability share(meaning) * preference(s | meaning) * S; the preferences are balanced so that
    the S equally likely scenes average to the shares of the lexicon exactly. Scene ``n_scenes`` is that average itself.
    """

    def __init__(self, lexicon: Lexicon, n_scenes: int, rng: np.random.Generator):
        self.n_scenes, self.n_topics = n_scenes, len(lexicon.cells[-1])
        rows, ids = [], []
        for c, cells in enumerate(lexicon.cells):
            for members, share in cells:
                tables = [share] if c < N_FUNCTION else [*_scene_shares(lexicon.concept[members], share, n_scenes, rng).T, share]
                rows += tables
                ids += [members] * len(tables)
        self._ids = np.concatenate(ids)
        self._keys, self._ends = row_keys(rows)

    def words(self, word_class: np.ndarray, topic: np.ndarray, scene: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """One word id per element. All four arrays have one length; uniform numbers lie in [0, 1)."""
        content = N_FUNCTION + ((word_class.astype(np.int64) - N_FUNCTION) * self.n_topics + topic) * (self.n_scenes + 1) + scene
        return self._ids[draw(self._keys, self._ends, np.where(word_class < N_FUNCTION, word_class, content), uniform)]


def _scene_shares(concept: np.ndarray, share: np.ndarray, n_scenes: int, rng: np.random.Generator) -> np.ndarray:
    """P(word | scene) of one cell, (words, scenes): random preferences, balanced by iterative proportional fitting."""
    meanings, which = np.unique(concept, return_inverse=True)
    mass = np.bincount(which, weights=share)
    joint = rng.random((len(meanings), n_scenes)) ** 10 + 0.005                  # a few scenes per meaning stand out
    for _ in range(500):
        joint *= 1.0 / n_scenes / joint.sum(axis=0)
        off = np.abs(joint.sum(axis=1) / mass - 1).max()
        joint *= (mass / joint.sum(axis=1))[:, None]
        if off < 1e-13:
            break
    preference = joint / mass[:, None]
    table = share[:, None] * preference[which]
    return table / table.sum(axis=0)
