"""Ways to change a text a little without changing what it says, or so one hopes: deletion,
insertion, swap, crop, synonyms, back-translation.

Two changed texts, or one beside the original, make a positive pair; lesson ``14_simcse`` measures
what is lost against dropout, which changes no word. Every function takes a text and a generator and
returns a text; none keeps anything.

White space parts words; a character of Chinese or Japanese is a word by itself. Words are joined by
one space, but by none where both neighbours are such characters. For other words pass ``words=``,
such as ``jieba.lcut``. A text that is not changed comes back as it was, spaces included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from ..core import check_float, check_int, check_kind, check_memory, shown
from ..kernels import knn
from ..text.stop_words import ENGLISH
from ..vectors import WordVectors

__all__ = ["Change", "back_translation", "compose", "crop", "delete_one_word", "delete_words",
           "eda", "insert_words", "joined", "neighbour_synonyms", "replace_synonyms", "swap_words",
           "words_of"]

Change = Callable[[str, np.random.Generator], str]
Words = Callable[[str], Sequence[str]]
Synonyms = Mapping[str, Sequence[str]]

# Chinese characters, kana, and the punctuation and full-width forms that go with them.
UNSPACED = (r"\u3001-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
            r"\uff01-\uff60\U00020000-\U0003134f")
WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
NO_SPACE = re.compile(rf"[{UNSPACED}]")
EDGES = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
DRAWS = 10                                        # after which an insertion gives up, as EDA does


def words_of(text: str) -> list[str]:
    """The words of a text by the rule of this module.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> words_of("我爱 New York。")
    ['我', '爱', 'New', 'York', '。']
    """
    return WORD.findall(text)


def joined(words: Sequence[str]) -> str:
    """Words as a text again.

    Parameters
    ----------
    words : sequence of str

    Returns
    -------
    str

    Examples
    --------
    >>> joined(["我", "爱", "New", "York", "。"])
    '我爱 New York 。'
    """
    parts = []
    for before, word in zip(["", *words], words, strict=False):
        apart = before and not (NO_SPACE.match(before[-1]) and NO_SPACE.match(word[0]))
        parts.append(f" {word}" if apart else word)
    return "".join(parts)


def delete_words(text: str, share: float = 0.1, *, rng: np.random.Generator,
                 words: Words = words_of) -> str:
    """Leave each word out with equal probability. [wei2019eda]

    Parameters
    ----------
    text : str
    share : float in [0, 1], default 0.1
        The probability. Where nothing would be left, a random word stays.
    rng : numpy.random.Generator
    words : callable, optional
        Cuts a text into words; None: `words_of`.

    Returns
    -------
    str

    Raises
    ------
    TypeError, ValueError
    """
    check_float("share", share, low=0.0, high=1.0)
    old = _cut(text, words)
    if len(old) < 2:
        return text
    kept = [word for word, draw in zip(old, rng.random(len(old)), strict=True) if draw >= share]
    return _new(text, old, kept or [old[rng.integers(len(old))]])


def delete_one_word(text: str, *, rng: np.random.Generator, words: Words = words_of) -> str:
    """Leave one word out, each with equal probability; a single word stays. [gao2021simcse]

    Parameters
    ----------
    text, rng, words
        As in `delete_words`.

    Returns
    -------
    str
    """
    old = _cut(text, words)
    if len(old) < 2:
        return text
    at = int(rng.integers(len(old)))
    return _new(text, old, [*old[:at], *old[at + 1 :]])


def crop(text: str, share: float = 0.1, *, rng: np.random.Generator,
         words: Words = words_of) -> str:
    """Keep a stretch of neighbouring words that begins anywhere. [gao2021simcse]

    Parameters
    ----------
    text, rng, words
        As in `delete_words`.
    share : float in [0, 1], default 0.1
        Of the words that go; the rest is rounded, and one word at least stays.

    Returns
    -------
    str
    """
    check_float("share", share, low=0.0, high=1.0)
    old = _cut(text, words)
    n = max(1, round((1 - share) * len(old)))
    first = int(rng.integers(len(old) - n + 1)) if len(old) > n else 0
    return _new(text, old, old[first : first + n])


def swap_words(text: str, share: float = 0.1, *, rng: np.random.Generator,
               words: Words = words_of) -> str:
    """Let two words change places.

    EDA draws the second place at most four times and may give up; here the two places always
    differ. [wei2019eda]

    Parameters
    ----------
    text, rng, words
        As in `delete_words`.
    share : float in [0, 1], default 0.1
        It is done ``max(1, int(share · words))`` times; 0: never.

    Returns
    -------
    str
    """
    old = _cut(text, words)
    new = list(old)
    for _ in range(_times(share, len(old)) if len(old) > 1 else 0):
        a, b = rng.choice(len(new), size=2, replace=False)
        new[a], new[b] = new[b], new[a]
    return _new(text, old, new)


def insert_words(text: str, synonyms: Synonyms, share: float = 0.1, *, rng: np.random.Generator,
                 words: Words = words_of) -> str:
    """Put the first synonym of some word anywhere before the last word. [wei2019eda]

    After ten words without a synonym an insertion is given up.

    Parameters
    ----------
    text, rng, words
        As in `delete_words`.
    synonyms : mapping
        As in `replace_synonyms`.
    share : float in [0, 1], default 0.1
        It is done ``max(1, int(share · words))`` times; 0: never.

    Returns
    -------
    str
    """
    _check_synonyms(synonyms)
    old = _cut(text, words)
    new = list(old)
    for _ in range(_times(share, len(old))):
        for _ in range(DRAWS):
            others = synonyms.get(_core(new[rng.integers(len(new))]))
            if others:
                new.insert(int(rng.integers(len(new))), others[0])
                break
    return _new(text, old, new)


def replace_synonyms(text: str, synonyms: Synonyms, share: float = 0.1, *, rng: np.random.Generator,
                     words: Words = words_of, keep: Collection[str] = ENGLISH) -> str:
    """Replace some words, everywhere in the text, each by one of its synonyms. [wei2019eda]

    Punctuation around a word stays, and so does a capital it begins with.

    Parameters
    ----------
    text, rng, words
        As in `delete_words`.
    synonyms : mapping of str to sequence of str
        Lower-case word to words that can stand for it.
    share : float in [0, 1], default 0.1
        ``max(1, int(share · words))`` different words are replaced; 0: none.
    keep : collection of str, default the English stop words
        Lower-case words that are never replaced.

    Returns
    -------
    str
    """
    _check_synonyms(synonyms)
    old = _cut(text, words)
    able = sorted({core for word in old if (core := _core(word)) not in keep
                   and synonyms.get(core)})
    chosen = [able[i] for i in rng.permutation(len(able))[: _times(share, len(old))]]
    becomes = {word: synonyms[word][rng.integers(len(synonyms[word]))] for word in chosen}
    return _new(text, old, [_dressed(becomes[_core(word)], word) if _core(word) in becomes else word
                            for word in old])


def neighbour_synonyms(vectors: WordVectors, texts: Iterable[str], *, n: int = 3,
                       closest: float = 0.6) -> dict[str, list[str]]:
    """A table for `replace_synonyms` without a dictionary: nearest neighbours of word vectors.

    Neighbours stand in the same places, which antonyms do too: "buy" comes with "sell".

    Parameters
    ----------
    vectors : WordVectors
    texts : iterable of str
        Their words are looked up.
    n : int >= 1, default 3
        Neighbours of a word at most.
    closest : float in [-1, 1], default 0.6
        The least cosine.

    Returns
    -------
    dict of str to list of str

    Raises
    ------
    TypeError, ValueError
    """
    check_int("n", n)
    check_float("closest", closest, low=-1.0, high=1.0)
    known = sorted({core for text in texts for word in words_of(text)
                    if (core := _core(word)) in vectors and core not in ENGLISH})
    if not known:
        return {}
    rows = vectors.ids(known)
    cosines, near = (part.numpy() for part in knn(
        vectors.matrix[rows], vectors.matrix, k=min(n + 1, len(vectors))))
    table = {}
    for word, row, scores, places in zip(known, rows, cosines, near, strict=True):
        others = places[(places != row) & (scores >= closest)][:n]   # a word is its own nearest
        if len(others):
            table[word] = [vectors.tokens[place] for place in others]
    return table


def eda(text: str, synonyms: Synonyms, *, share: float = 0.1, n: int = 9, rng: np.random.Generator,
        words: Words = words_of) -> list[str]:
    """EDA's driver: texts changed by its four operations in turn, in random order. [wei2019eda]

    Of each operation ``int(n / 4) + 1`` candidates are made. The authors' program lower-cases first
    and drops all but letters; here the text stays as it is.

    Parameters
    ----------
    text, rng, words
        As in `delete_words`.
    synonyms : mapping
        As in `replace_synonyms`.
    share : float in [0, 1], default 0.1
        The strength α of all four; 0: copies only.
    n : int >= 1, default 9
        Changed texts.

    Returns
    -------
    list of str
        n + 1 texts, the original as the last.
    """
    n = check_int("n", n)
    check_memory(f"{n:,} texts", 50 * n, f"Lower n={n}")
    made = []
    for _ in range(n // 4 + 1):
        made += [replace_synonyms(text, synonyms, share, rng=rng, words=words),
                 insert_words(text, synonyms, share, rng=rng, words=words),
                 swap_words(text, share, rng=rng, words=words),
                 delete_words(text, share, rng=rng, words=words)]
    return [*(made[i] for i in rng.permutation(len(made))[:n]), text]


def compose(*changes: Change) -> Change:
    """One change after the other as one.

    Parameters
    ----------
    *changes : callable
        Each takes ``(text, rng)``.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
    """
    for i, change in enumerate(changes):
        _check_callable(f"changes[{i}]", change)

    def composed(text: str, rng: np.random.Generator) -> str:
        for change in changes:
            text = change(text, rng)
        return text

    return composed


def back_translation(translate: Callable[[str], str], back: Callable[[str], str]) -> Change:
    """A change that says the same in other words: into another language and back.

    Parameters
    ----------
    translate, back : callable
        text -> text, such as those of two translation models; none comes with the course.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        What cannot be called, and, when a text is changed, an answer that is no str.

    Notes
    -----
    [sennrich2016improving]
    """
    _check_callable("translate", translate)
    _check_callable("back", back)

    def translated(text: str, rng: np.random.Generator) -> str:
        for name, step in (("translate", translate), ("back", back)):
            answer = step(text)
            if not isinstance(answer, str):
                raise TypeError(f"{name}({shown(text)}) gave {type(answer).__name__}; expected str")
            text = answer
        return text

    return translated


def _cut(text: str, words: Words) -> list[str]:
    return [word for word in words(check_kind("text", text, str, "str")) if word.strip()]


def _new(text: str, old: list[str], new: Sequence[str]) -> str:
    """Words as a text; where they are the old ones, the text itself."""
    return text if new == old else joined(new)


def _times(share: float, n: int) -> int:
    """How often something is done to n words: at least once, unless there is nothing to do."""
    return max(1, int(check_float("share", share, low=0.0, high=1.0) * n)) if share and n else 0


def _core(word: str) -> str:
    """A word in lower case without the punctuation around it."""
    return EDGES.match(word)[2].lower()


def _dressed(word: str, like: str) -> str:
    """A word with the punctuation and the first capital of another."""
    before, core, after = EDGES.match(like).groups()
    return f"{before}{word[:1].upper() + word[1:] if core[:1].isupper() else word}{after}"


def _check_synonyms(synonyms: Synonyms) -> None:
    check_kind("synonyms", synonyms, Mapping, "a mapping from a word to a list of words. Make one: "
               "augment.neighbour_synonyms(vectors, texts)")


def _check_callable(name: str, value: object) -> None:
    if not callable(value):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected a function")
