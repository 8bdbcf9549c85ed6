"""The compiled loop under `coherence_of`: in how many windows words occur, and occur together,
without walking through the windows.

A word is in a window from the moment the window's front reaches it until its end has passed it, so
each run of occurrences is one interval of windows; two words share the overlap of their intervals.
Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled

__all__ = ["count_windows"]


@compiled
def _close(i: int, n_open: int, open_: np.ndarray, enter: np.ndarray, leave: np.ndarray,
           together: np.ndarray) -> int:
    """End the interval of the i-th open word: count it, and its overlap with each other open one.

    Returns how many stay open.
    """
    word = open_[i]
    together[word, word] += leave[word] - enter[word]
    for j in range(n_open):
        other = open_[j]
        shared = min(leave[word], leave[other]) - max(enter[word], enter[other])
        if j != i and shared > 0:
            together[word, other] += shared
            together[other, word] += shared
    open_[i] = open_[n_open - 1]
    return n_open - 1


@compiled
def count_windows(offsets: np.ndarray, word_ids: np.ndarray, number: np.ndarray, size: int,
                  together: np.ndarray, first: int, last: int) -> int:
    """Add windows of documents ``first`` to ``last`` to ``together`` (R, R): with word i on the
    diagonal, with i and j beside it.

    Parameters: tokens in reading order (offsets, word_ids); number (V,), place of each word in
    ``together`` or -1; size of a window in tokens. A document shorter than a window is one window.
    Returns the number of windows.
    """
    n_windows, n_open = 0, 0
    open_ = np.empty(len(together), dtype=np.int64)
    # windows [enter, leave) hold the word
    enter, leave = np.zeros(len(together), dtype=np.int64), np.zeros(len(together), dtype=np.int64)
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
                if leave[open_[i]] < begins:  # over for good; the last open word takes its place
                    n_open = _close(i, n_open, open_, enter, leave, together)
                else:
                    is_open |= open_[i] == word
                    i += 1
            if not is_open:
                open_[n_open] = word
                enter[word] = begins
                n_open += 1
            leave[word] = ends
        while n_open > 0:
            n_open = _close(n_open - 1, n_open, open_, enter, leave, together)
    return n_windows
