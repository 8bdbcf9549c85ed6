"""Topic coherence: do the top words of a topic occur together in real text, as a reader would
expect of one theme?

Three measures from the literature. `u_mass` asks in how many documents words meet, `npmi` and `c_v`
look through a window that slides over the text, and `c_v` compares each word's company with the
company of the whole topic. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import check_choice, check_int, shown, warn_data
from ..core.compiled import compiled
from .counts_input import Counts, as_counts, runs

__all__ = ["MEASURES", "coherence_of"]

MEASURES = {"u_mass": None, "npmi": 10, "c_v": 110}  # tokens in a window; None counts documents
EPSILON = 1e-12
_TOKENS_AT_ONCE = 1 << 22                                     # of one compiled call: some 50 ms
_WORDS_AT_ONCE = 2048                                         # a table of pairs of 32 MB


def coherence_of(topics: Sequence[Sequence[Any]], data: Any, *, measure: str = "u_mass",
                 window: int | None = None) -> np.ndarray:
    """Coherence of each topic's top words.

    Words that ``data`` lacks are left out of their topic, with one DataWarning.

    Parameters
    ----------
    topics : list of lists of str, or of columns of ``data``
        For each topic its words, best first.
    data : text.Corpus, or for "u_mass" also counts, which have no order for a window
        The reference.
    measure : {'u_mass', 'npmi', 'c_v'}, default 'u_mass'
    window : int >= 1, optional
        Tokens that a window holds; None: 10 for 'npmi', 110 for 'c_v'.

    Returns
    -------
    (n_topics,) float64

    Raises
    ------
    TypeError, ValueError
        An unknown measure; a window where documents are counted; data without order; a topic with
        fewer than two words in ``data``.

    Notes
    -----
    With p(w) the share of documents or windows that hold w, p(v, w) of those that hold both, and e
    = 1e-12: "u_mass": mean over pairs of log((p(v, w) + e) / p(w)), w the better-ranked word
    [mimno2011optimizing]; "npmi": mean over pairs of NPMI(v, w) = log((p(v, w) + e) / (p(v) p(w)))
    / -log(p(v, w) + e) [bouma2009normalized]; "c_v": each word v has the vector NPMI(v, .) over the
    topic's words; mean cosine between it and the sum of all [roder2015exploring].

    A window counts once however often a word stands in it, and a document shorter than the window
    is one window. (gensim forgets a word when one of its two places leaves the window, so its
    counts are lower where words repeat.) Two words that are in every window have NPMI 1, the limit.
    """
    check_choice("measure", measure, MEASURES)
    size = MEASURES[measure]
    if window is not None:
        if size is None:
            raise ValueError(f'window={shown(window)} has no meaning for measure="u_mass", which '
                             'counts documents; leave it out')
        size = check_int("window", window)
    counts = data if isinstance(data, Counts) else as_counts(data, fitting=False)
    if size is not None and counts.reading is None:
        raise ValueError(f'measure={measure!r} needs the order of the words, which counts do not '
                         'have; pass a Corpus, or measure="u_mass"')
    columns = _known_columns(_checked_topics(topics), counts)
    scores = np.empty(len(columns))
    for group in _groups(columns):
        used = np.unique(np.concatenate([columns[k] for k in group]))
        total, together = (_document_counts(counts, used) if size is None
                           else _window_counts(counts, used, size))
        for k in group:
            own = np.searchsorted(used, columns[k])
            scores[k] = _SCORES[measure](together[np.ix_(own, own)] / total)
    return scores


def _checked_topics(topics: Any) -> list[list[Any]]:
    rows = [list(words) for words in topics] if not isinstance(topics, (str, bytes)) else []
    if not rows or any(isinstance(words, str) for words in topics):
        raise TypeError(f"topics={shown(topics)} holds no lists of words; expected one list of top "
                        "words for each topic")
    for k, words in enumerate(rows):
        if len(words) < 2 or len(set(words)) < len(words):
            raise ValueError(f"topics[{k}]={shown(words)} has {len(set(words))} distinct words of "
                             f"{len(words)}; expected >= 2, all different")
    return rows


def _known_columns(topics: list[list[Any]], counts: Counts) -> list[np.ndarray]:
    """The columns of each topic's words that occur in the reference, best first."""
    kept, missing = [], []
    for k, words in enumerate(topics):
        columns = _columns(k, words, counts)
        occurs = [c >= 0 and counts.word_counts[c] > 0 for c in columns]
        if sum(occurs) < 2:
            raise ValueError(f"topics[{k}]={shown(words)}: {sum(occurs)} of {len(words)} words "
                             "occur in data; expected >= 2")
        kept.append(np.array(columns, dtype=np.int64)[occurs])
        missing += [(k, word) for word, known in zip(words, occurs, strict=True) if not known]
    if missing:
        k, word = missing[0]
        warn_data(f"{len(missing)} top words do not occur in data, first {shown(word)} of "
                  f"topics[{k}]; they are left out", stacklevel=4)
    return kept


def _columns(k: int, words: list[Any], counts: Counts) -> list[int]:
    if not isinstance(words[0], str):
        return [check_int(f"topics[{k}]", word, low=0, high=counts.n_words - 1) for word in words]
    if counts.tokens is None:
        raise ValueError("topics hold words, but data is a matrix without names; pass columns, or "
                         "as_counts(data, vocabulary=words)")
    return [counts.column_of.get(word, -1) for word in words]


def _groups(columns: list[np.ndarray]) -> list[list[int]]:
    """Topics that are counted in one pass, so that their table of pairs stays small."""
    groups, words = [[]], 0
    for k, own in enumerate(columns):
        if groups[-1] and words + len(own) > _WORDS_AT_ONCE:
            groups.append([])
            words = 0
        groups[-1].append(k)
        words += len(own)
    return groups


def _document_counts(counts: Counts, used: np.ndarray) -> tuple[int, np.ndarray]:
    """Number of documents, and in how many of them pairs of words meet: (R, R)."""
    present = counts.matrix[:, used].astype(bool).astype(np.int64)
    return counts.n_documents, (present.T @ present).toarray()


def _window_counts(counts: Counts, used: np.ndarray, size: int) -> tuple[int, np.ndarray]:
    """Number of windows, and in how many of them pairs of words meet: (R, R)."""
    offsets, word_ids = counts.tokens_in_order()
    number = np.full(counts.n_words, -1, dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    together, total = np.zeros((len(used), len(used)), dtype=np.int64), 0
    for first, last in runs(offsets, _TOKENS_AT_ONCE):
        total += count_windows(offsets, word_ids, number, size, together, first, last)
    return total, together


# Windows are counted without walking through them: a word is in a window from the moment its front
# reaches the word until its end has passed it, so each run of occurrences is one interval of
# windows, and two words share the overlap of their intervals.


@compiled
def _close(i: int, n_open: int, open_: np.ndarray, opened: np.ndarray, closed: np.ndarray,
           together: np.ndarray) -> int:
    """Count the i-th open word's interval and overlaps; returns how many words stay open."""
    word = open_[i]
    together[word, word] += closed[word] - opened[word]
    for j in range(n_open):
        other = open_[j]
        shared = min(closed[word], closed[other]) - max(opened[word], opened[other])
        if j != i and shared > 0:
            together[word, other] += shared
            together[other, word] += shared
    open_[i] = open_[n_open - 1]
    return n_open - 1


@compiled
def count_windows(offsets: np.ndarray, word_ids: np.ndarray, number: np.ndarray, size: int,
                  together: np.ndarray, first: int, last: int) -> int:
    """Add windows of documents ``first`` to ``last`` to ``together`` (R, R), where ``number`` (V,)
    has the place of each word or -1: with word i on the diagonal, with i and j beside it. A
    document shorter than ``size`` tokens is one window. Returns the number of windows.
    """
    n_windows, n_open = 0, 0
    open_ = np.empty(len(together), dtype=np.int64)
    windows = np.zeros((2, len(together)), dtype=np.int64)
    opened, closed = windows[0], windows[1]                             # those that hold the word
    for d in range(first, last):
        start, length = offsets[d], offsets[d + 1] - offsets[d]
        here = max(1, length - size + 1)
        n_windows += here
        for p in range(length):
            word = number[word_ids[start + p]]
            if word < 0:
                continue
            begins, ends = max(0, p - size + 1), min(p, here - 1) + 1
            i, is_open = 0, False
            while i < n_open:
                if closed[open_[i]] < begins:  # over for good; the last open word takes its place
                    n_open = _close(i, n_open, open_, opened, closed, together)
                else:
                    is_open |= open_[i] == word
                    i += 1
            if not is_open:
                open_[n_open] = word
                opened[word] = begins
                n_open += 1
            closed[word] = ends
        while n_open > 0:
            n_open = _close(n_open - 1, n_open, open_, opened, closed, together)
    return n_windows


def _u_mass(p: np.ndarray) -> float:
    lower = np.tril_indices(len(p), k=-1)  # the second index is the better-ranked word
    return float(np.log((p[lower] + EPSILON) / np.diag(p)[lower[1]]).mean())


def _npmi_table(p: np.ndarray) -> np.ndarray:
    alone = np.diag(p)
    joint = p + EPSILON
    always = p >= 1.0  # 0 / 0; words that are always together tend to 1
    return np.where(always, 1.0,
                    np.log(joint / np.outer(alone, alone)) / np.where(always, 1.0, -np.log(joint)))


def _npmi(p: np.ndarray) -> float:
    return float(_npmi_table(p)[~np.eye(len(p), dtype=bool)].mean())


def _c_v(p: np.ndarray) -> float:
    company = _npmi_table(p)
    whole = company.sum(axis=0)
    norms = np.linalg.norm(company, axis=1) * np.linalg.norm(whole)
    return float((company @ whole / np.where(norms > 0, norms, np.inf)).mean())


_SCORES = {"u_mass": _u_mass, "npmi": _npmi, "c_v": _c_v}
