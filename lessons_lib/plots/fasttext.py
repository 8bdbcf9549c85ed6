"""Figures about words made of parts: the n-grams of a word where they stand, and the neighbours of words that no text held.

Drawn from what the model says; colours follow cosines. Seen in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .labels import new_figure
from .style import GREY, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["neighbour_grid", "ngram_ladder"]

BLUE, VERMILLION, BLACK = (PALETTE[name] for name in ("blue", "vermillion", "black"))
MOST_LETTERS, MOST_ROWS, MOST_COLUMNS = 16, 10, 6


def _lanes(whole: str, parts: Sequence[str]) -> list[tuple[str, int, int]]:
    """Where each part stands: (part, first letter, lane); parts that overlap lie in lanes of their own, short ones above."""
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


@styled()
def ngram_ladder(word: str, parts: Sequence[str], *, title: str, shared: Sequence[str] = ()) -> Figure:
    """The parts of a word under its letters, one bar each; those that another word has, too, are filled.

    Parameters: word, at most 14 letters; parts, n-grams of ``<word>``; title, the finding; shared, the parts to be filled. Raises ValueError for a
    part that is none of the word.
    """
    whole = f"<{word}>"
    strange = [part for part in parts if part not in whole]
    if strange or not parts or len(whole) > MOST_LETTERS:
        raise ValueError(f"parts of {word!r} hold {strange[:1] or len(parts)}; expected >= 1 pieces of {whole!r}, of at most {MOST_LETTERS} letters")
    places = _lanes(whole, parts)
    rows = 1 + max(lane for *_, lane in places)
    fig, (ax,) = new_figure(title, size=(7.2, 1.6 + 0.33 * rows))
    for i, letter in enumerate(whole):
        ax.annotate(plain(letter), (i + 0.5, 0.9), ha="center", va="center", fontsize=15, fontweight="bold", color=GREY if letter in "<>" else BLACK)
    for part, begin, lane in places:
        both = part in shared
        ax.barh(-lane, len(part) - 0.12, 0.76, begin + 0.06, facecolor=PALETTE["sky"] if both else "white", edgecolor=BLUE if both else GREY, lw=1.2)
        ax.annotate(plain(part), (begin + len(part) / 2, -lane), ha="center", va="center", fontsize=10)
    ax.set(xlim=(0, len(whole)), ylim=(0.4 - rows, 1.5), xticks=[], yticks=[], xlabel="letters of the word; < and > are its borders")
    ax.spines[:].set_visible(False)
    return fig


@styled()
def neighbour_grid(rows: Mapping[str, Sequence[tuple[str, float]]], *, title: str, limits: tuple[float, float] = (0.3, 1.0),
                   hits: Mapping[str, str] | None = None) -> Figure:
    """Words with their nearest neighbours, one word a row, the colour of a cell its cosine.

    Parameters: rows, word -> (neighbour, cosine), nearest first, at most 10 words with equally many, at most 6, neighbours; title, the finding;
    limits of the colours; hits, word -> the neighbour to be framed, where it is among them.
    """
    from matplotlib.patches import Rectangle

    widths = {len(near) for near in rows.values()}
    if not rows or len(rows) > MOST_ROWS or len(widths) != 1 or not 1 <= max(widths) <= MOST_COLUMNS:
        raise ValueError(f"rows holds {len(rows)} words with {sorted(widths)} neighbours; expected 1 to {MOST_ROWS} words with equally many, "
                         f"1 to {MOST_COLUMNS}")
    n = max(widths)
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.4 * len(rows)))
    values = np.array([[cosine for _, cosine in near] for near in rows.values()])
    dark = limits[0] + 0.45 * (limits[1] - limits[0])                  # below: white letters are easier to read
    image = ax.imshow(values, cmap="cividis", vmin=limits[0], vmax=limits[1], aspect="auto")
    for i, (word, near) in enumerate(rows.items()):
        for k, (other, cosine) in enumerate(near):
            ax.annotate(plain(other, limit=15), (k, i), ha="center", va="center", fontsize=10 if n <= 4 else 9,
                        color="white" if cosine < dark else "black")
            if (hits or {}).get(word) == other:
                ax.add_patch(Rectangle((k - 0.47, i - 0.45), 0.94, 0.9, fill=False, edgecolor=PALETTE["orange"], lw=3))
    ax.set_yticks(range(len(rows)), [plain(word, limit=18) for word in rows])
    ax.set_xticks(range(n), [f"{k + 1}." for k in range(n)])
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="nearest neighbours")
    ax.xaxis.set_label_position("top")
    bar = fig.colorbar(image, ax=ax, fraction=0.035, pad=0.02)
    bar.set_label("cosine")
    bar.outline.set_visible(False)
    return fig
