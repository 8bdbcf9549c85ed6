"""Drawings of models: boxes and arrows for what reads what, a tree of decisions, parts of a word.

They come from what they stand for: a tree from its codes, a window from its text. Seen in
``04_word2vec``, ``05_glove_and_fasttext``, ``07_doc2vec``, ``10_sbert`` and ``16_outlook``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from .labels import CENTRED, VEIL, heading, new_figure, note
from .primitives import arrow, bare, expect, expect_number
from .style import BLACK, BLUE, GREY, SKY, VERMILLION, figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure
def equal_distances(words: Sequence[str], *, title: str) -> Figure:
    """Draw one-hot vectors of three words on their axes, and of four as a tetrahedron.

    Four vectors span four axes, but their ends lie in a space of three: a tetrahedron whose edges
    are all √2 long.

    Parameters
    ----------
    words : sequence of 4 str
    """
    expect_number("words", words, 4, 4, "words")
    names = [plain(word, limit=12) for word in words]
    fig, axes = new_figure(title, size=(7.2, 3.5), panels=2)
    turn = np.deg2rad([-100, 20, 140])                   # the base of the tetrahedron
    base = np.column_stack([np.cos(turn), np.sin(turn), np.full(3, -0.5)]) * np.sqrt(2 / 3)
    solid = np.vstack([base, [0, 0, 2 / np.sqrt(3) - np.sqrt(1 / 6)]])
    panels = {"three words: an axis each": (_seen_from(np.eye(3), 38, 22), ()),
              "four words: a tetrahedron": (_seen_from(solid, -90, 16), ((1, 2),))}
    beside = [((4, -19), (-12, -18), (38, 4)), ((0, -17), (20, -16), (-20, -16), (26, 5))]
    for ax, (text, (flat, behind)), shifts in zip(axes, panels.items(), beside, strict=True):
        for end in flat if len(flat) == 3 else ():
            arrow(ax, (0, 0), end * 1.4, GREY, lw=1)
        for i, j in combinations(range(len(flat)), 2):
            ax.plot(*flat[[i, j]].T, "--" if (i, j) in behind else "-", color=BLUE, lw=1.8)
            note(ax, "√2", flat[[i, j]].mean(axis=0), color=BLUE, bbox=VEIL | {"alpha": 1},
                 fontsize=11, **CENTRED)
        for place, name, shift in zip(flat, names, shifts, strict=False):
            ax.plot(*place, "o", color=BLACK, ms=7)
            note(ax, name, place, shift, fontweight="bold", **CENTRED)
        bare(ax)
        ax.set_aspect("equal", adjustable="datalim")
        ax.plot(*(flat * 1.4 if len(flat) == 3 else flat).T, ls="none")   # room for the arrows
        ax.margins(0.28, 0.24)
        heading(ax, text)
    return fig


def _seen_from(points: np.ndarray, around: float, above: float) -> np.ndarray:
    """Points (n, 3) on the page (n, 2), for an eye at two angles in degrees."""
    a, b = np.deg2rad([around, above])
    right = np.array([-np.sin(a), np.cos(a), 0])
    up = np.array([-np.sin(b) * np.cos(a), -np.sin(b) * np.sin(a), np.cos(b)])
    return points @ np.column_stack([right, up])


@figure
def code_tree(codes: Mapping[str, str], counts: Mapping[str, float], *, title: str,
              marked: str | None = None) -> Figure:
    """Draw a binary tree from the codes of its leaves, with counts under the words.

    Parameters
    ----------
    codes : mapping of word to bits
        From the root, such as "010"; 2 to 16 words, no code the beginning of another.
    counts : mapping of word to count
    marked : str, optional; the word whose path is coloured
    """
    words = sorted(codes, key=codes.__getitem__)
    expect_number("codes", words, 16, 2, "words")
    expect(not any(codes[b].startswith(codes[a]) for a, b in pairwise(words)),
           f"codes={dict(codes)!s:.60}; expected no code that begins another")
    expect(marked is None or marked in codes, f"marked={marked!r} is none of {', '.join(words)}")
    deepest, path = max(map(len, codes.values())), codes[marked] if marked is not None else ""
    place: dict[str, tuple[float, int]] = {}
    for node in sorted({codes[word][:k] for word in words for k in range(deepest + 1)}):
        under = [i for i, word in enumerate(words) if codes[word].startswith(node)]
        place[node] = float(np.mean(under)), -len(node)
    fig, (ax,) = new_figure(title, size=(7.2, 0.9 + 0.72 * (1 + deepest)))
    for node in sorted(place, key=len)[1:]:
        on = path.startswith(node)
        begin, end = place[node[:-1]], place[node]
        ax.plot(*zip(begin, end, strict=True), "-", color=VERMILLION if on else GREY,
                lw=2.6 if on else 1.2, zorder=1)
        note(ax, node[-1], np.mean([begin, end], axis=0), fontsize=10, **CENTRED,
             color=VERMILLION if on else BLACK, bbox=VEIL | {"alpha": 1.0})
    for node in [node for node in place if node not in codes.values()]:
        on = path and path.startswith(node)
        ax.plot(*place[node], "o", ms=9, color=VERMILLION if on else "white", mec=BLACK, mew=1.2)
    for word in words:
        note(ax, f"{plain(word, limit=12)}\n{counts[word]:g}", place[codes[word]], (0, -4),
             ha="center", va="top", fontsize=10, color=VERMILLION if word == marked else BLACK)
    bare(ax, xlim=(-0.7, len(words) - 0.3), ylim=(-deepest - 0.75, 0.35),
         xlabel="words with their counts; every branching is one yes-or-no question")
    return fig


@figure
def ngram_ladder(word: str, parts: Sequence[str], *, title: str,
                 shared: Sequence[str] = ()) -> Figure:
    """Draw the parts of a word under its letters; those that another word has are filled.

    Parameters
    ----------
    word : str; at most 14 letters
    parts : sequence of str; n-grams of ``<word>``
    shared : sequence of str, default (); parts to be filled
    """
    whole = f"<{word}>"
    strange = [part for part in parts if part not in whole]
    expect(parts and not strange and len(whole) <= 16,
           f"parts={strange[:1] or list(parts)!s:.60} of {word!r}; expected >= 1 parts of "
           f"{whole!r}, which has at most 16 letters")
    places = _lanes(whole, parts)
    rows = 1 + max(lane for *_, lane in places)
    fig, (ax,) = new_figure(title, size=(7.2, 1.6 + 0.33 * rows))
    for i, letter in enumerate(whole):
        note(ax, plain(letter), (i + 0.5, 0.9), fontsize=15, fontweight="bold", **CENTRED,
             color=GREY if letter in "<>" else BLACK)
    for part, begin, lane in places:
        face, edge = (SKY, BLUE) if part in shared else ("white", GREY)
        ax.barh(-lane, len(part) - 0.12, 0.76, begin + 0.06, facecolor=face, edgecolor=edge,
                lw=1.2)
        note(ax, plain(part), (begin + len(part) / 2, -lane), fontsize=10, **CENTRED)
    bare(ax, xlim=(0, len(whole)), ylim=(0.4 - rows, 1.5),
         xlabel="letters of the word; < and > are its borders")
    return fig


def _lanes(whole: str, parts: Sequence[str]) -> list[tuple[str, int, int]]:
    """(part, first letter, lane) of each part; those that overlap lie in lanes of their own."""
    places, free = [], []
    for n in sorted({len(part) for part in parts}):
        base, ends = len(free), []
        for begin in range(len(whole) - n + 1):
            if whole[begin : begin + n] not in parts:
                continue
            lane = next((k for k, end in enumerate(ends) if end <= begin), len(ends))
            ends[lane : lane + 1] = [begin + n]
            places.append((whole[begin : begin + n], begin, base + lane))
        free += ends
    return places
