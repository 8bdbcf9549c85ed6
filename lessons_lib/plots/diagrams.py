"""Drawings of models: boxes and arrows for what reads what, a tree of decisions, parts of a word.

They come from what they stand for: a tree from its codes, a window from its text. Seen in
``04_word2vec``, ``05_glove_and_fasttext``, ``07_doc2vec``, ``10_sbert`` and ``16_outlook``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_int
from .labels import CENTRED, VEIL, heading, new_figure, note
from .primitives import arrow, bare, box, expect, expect_number, panel_figure, same_length
from .style import BLACK, BLUE, GREEN, GREY, SKY, VERMILLION, figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VECTORS = {1: "u", 2: "uv", 3: "apn"}     # of each text: a pair, or anchor, positive, negative


def _neighbours(tokens: Sequence[str], centre: int, half: int, most: int) -> list[int]:
    """Places of the context words. Raises ValueError for too few or too many words."""
    expect_number("tokens", tokens, most, 2, "words")
    check_int("centre", centre, low=0, high=len(tokens) - 1)
    check_int("half", half)
    return [i for i in range(len(tokens)) if 0 < abs(i - centre) <= half]


def _words(ax: Axes, tokens: Sequence[str], centre: int, used: Sequence[float]) -> None:
    """The text with a gap at its centre, which stands above as what is to be predicted."""
    box(ax, centre, 3, plain(tokens[centre], limit=10), VERMILLION, filled=True)
    for i, token in enumerate(tokens):
        colour = BLUE if i in used else VERMILLION if i == centre else GREY
        box(ax, i, 0, plain(token, limit=10) if i != centre else "?", colour)


@figure
def window_diagram(tokens: Sequence[str], centre: int, *, half: int, title: str) -> Figure:
    """Draw one window: the centre is guessed from each neighbour alone, or from their mean.

    [mikolov2013efficient, Fig. 1]

    Parameters
    ----------
    tokens : sequence of 2 to 7 str
    centre : int; place of the word to be guessed
    half : int; words looked at on either side
    """
    near = _neighbours(tokens, centre, half, 7)
    fig, (skip, cbow) = new_figure(title, size=(7.2, 3.7), panels=2)
    for ax in (skip, cbow):
        _words(ax, tokens, centre, near)
        bare(ax, xlim=(-0.7, len(tokens) - 0.3), ylim=(-0.5, 3.5), xlabel="the text, word by word")
    box(cbow, centre, 1.6, "mean of the vectors")
    arrow(cbow, (centre, 1.85), (centre, 2.68), BLUE, lw=2)
    for i in near:
        box(skip, i, 1.2, "vector")
        arrow(skip, (i, 1.45), (centre + 0.18 * (i - centre), 2.68), BLUE)
        arrow(skip, (i, 0.28), (i, 0.92), BLUE)
        arrow(cbow, (i, 0.28), (centre + 0.3 * (i - centre), 1.32), BLUE)
    heading(skip, f"skip-gram: {len(near)} guess{'es' if len(near) > 1 else ''}")
    heading(cbow, "CBOW: 1 guess")
    return fig


@figure
def paragraph_diagram(tokens: Sequence[str], centre: int, *, half: int, document: str,
                      title: str) -> Figure:
    """Draw one window with its document: PV-DM lets it join the context, PV-DBOW guess alone.

    [le2014distributed, Fig. 2 and 3]

    Parameters
    ----------
    tokens : sequence of 2 to 6 str
    centre : int; place of the word to be guessed
    half : int; words looked at on either side
    document : str; its name
    """
    near = _neighbours(tokens, centre, half, 6)
    own = len(tokens) + 0.5                         # the place of the document, behind the words
    fig, (joint, alone) = new_figure(title, size=(7.2, 3.7), panels=2)
    for ax, used in ((joint, near), (alone, ())):
        _words(ax, tokens, centre, used)
        box(ax, own, 0, plain(document, limit=10), GREEN, filled=True)
        bare(ax, xlim=(-0.7, own + 0.9), ylim=(-0.5, 3.5),
             xlabel="the text, and the document itself")
    for i in (*near, own):
        arrow(joint, (i, 0.28), (centre + 0.3 * (i - centre), 1.32), GREEN if i == own else BLUE)
    box(joint, centre, 1.6, "mean, sum or side by side")
    arrow(joint, (centre, 1.85), (centre, 2.68), BLUE, lw=2)
    arrow(alone, (own, 0.28), (centre, 2.68), GREEN)
    heading(joint, "PV-DM: the document helps")
    heading(alone, "PV-DBOW: the document alone")
    return fig


@figure
def siamese_diagram(panels: Mapping[str, tuple[Sequence[str], str]], *, title: str,
                    joined: Sequence[str] = ()) -> Figure:
    """Draw networks: texts below, the encoder that reads them, vectors, the question on top.

    Encoders of one panel are one encoder: a double line joins them.

    Parameters
    ----------
    panels : mapping of heading to (names of one to three texts, question); one or two
    joined : sequence of str, default ()
        Headings of networks that read all their texts at once and make no vectors.
    """
    for text, (texts, _) in panels.items():
        expect_number(f"panels[{text!r}]", texts, 3, 1, "texts")
    fig, axes = panel_figure(title, panels, 2, limit=30, size=(7.2, 3.9))
    for ax, (text, (texts, answer)) in zip(axes, panels.items(), strict=True):
        n, together = len(texts), text in joined
        places = np.linspace(-0.9, 0.9, n) * (0.72 if n == 2 else 1) if n > 1 else np.zeros(1)
        towers = np.zeros(1) if together else places
        box(ax, 0, 3.6, plain(answer, limit=34), VERMILLION, filled=True)
        for tower in towers:
            box(ax, tower, 1.15, "encoder", filled=True)
        for left, right in pairwise(towers):                  # a double line: the same weights
            for height in (1.1, 1.2):
                ax.plot([left, right], [height] * 2, "-", color=BLUE, lw=1.2, zorder=0)
        for place, name, letter in zip(places, texts, VECTORS[n], strict=True):
            box(ax, place, 0, plain(name, limit=14), BLACK)
            arrow(ax, (place, 0.27), (0.2 * np.sign(place) if together else place, 0.85), BLACK)
            if not together:
                arrow(ax, (place, 1.45), (place, 2.02), BLUE)
                box(ax, place, 2.3, f"${letter}$", GREEN)
                arrow(ax, (place, 2.58), (0.4 * place, 3.3), GREEN)
        if together:
            arrow(ax, (0, 1.45), (0, 3.3), BLUE)
        bare(ax, xlim=(-1.35, 1.35), ylim=(-0.5, 4.05), xlabel="texts below, the answer on top")
    return fig


@figure
def bottleneck_diagram(pieces: Sequence[str], *, encoder_hides: Sequence[bool],
                       decoder_hides: Sequence[bool], title: str) -> Figure:
    """Draw a text as encoder and weak decoder of an auto-encoder see it, and the one vector.

    [xiao2022retromae, Fig. 1]

    Parameters
    ----------
    pieces : sequence of 2 to 9 str
    encoder_hides, decoder_hides : sequence of bool
        Which pieces each of the two is not shown; the decoder has to guess at least one.
    """
    n = len(pieces)
    expect_number("pieces", pieces, 9, 2, "pieces")
    same_length(pieces=pieces, encoder_hides=encoder_hides, decoder_hides=decoder_hides)
    expect(any(decoder_hides), "decoder_hides has no True; expected at least one piece to guess")
    fig, (ax,) = new_figure(title, size=(7.2, 4.3))
    middle = (n - 1) / 2
    for y, name, hides, colour in ((4, "the encoder\nsees", encoder_hides, BLUE),
                                   (0.9, "the decoder\nsees", decoder_hides, GREEN)):
        for i, (piece, gone) in enumerate(zip(pieces, hides, strict=True)):
            text = "?" if gone else plain(piece, limit=9)
            box(ax, i, y, text, GREY if gone else colour, filled=bool(gone))
        note(ax, name, (-0.75, y), ha="right", va="center", color=colour, fontweight="bold")
    box(ax, middle, 2.5, "one vector", VERMILLION, filled=True)
    for i in range(n):
        arrow(ax, (i, 3.66), (middle + 0.25 * (i - middle), 2.82), BLUE, lw=1.0)
    for i in np.flatnonzero(decoder_hides):
        arrow(ax, (middle + 0.25 * (i - middle), 2.18), (i, 1.28), VERMILLION, lw=1.0)
        box(ax, i, -0.35, plain(pieces[i], limit=9), VERMILLION)
        arrow(ax, (i, 0.55), (i, -0.02), GREY, lw=1.0)
    for y, text, colour in ((3.2, "all blocks", BLUE), (1.7, "one block", GREEN),
                            (-0.35, "and has\nto guess", VERMILLION)):
        note(ax, text, (-0.75, y), ha="right", va="center", color=colour,
             fontweight="bold" if y < 0 else "normal")
    bare(ax, xlim=(-0.75 - 0.27 * n, n - 0.4), ylim=(-0.8, 4.5))
    return fig


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
