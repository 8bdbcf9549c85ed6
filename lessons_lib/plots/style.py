"""One look for all figures: Okabe-Ito colours, letters of >= 10 points, fonts that know Chinese.

The look is a context (`styled`), never a side effect of an import; ``lesson.start`` asks for it
once with `use_style`. Text that comes from data passes through `plain`, so that no dollar sign
becomes a formula. Used by every figure of every lesson.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

__all__ = ["DASHES", "FILL_COLOURS", "GREY", "INK_OF", "LINE_COLOURS", "MARKERS", "PALETTE",
           "documented", "figure", "plain", "style_settings", "styled", "use_style", "wrapped"]

PALETTE = {"black": "#000000", "blue": "#0072B2", "vermillion": "#D55E00", "green": "#009E73",
           "purple": "#CC79A7", "orange": "#E69F00", "sky": "#56B4E9", "yellow": "#F0E442"}
BLUE, VERMILLION, GREEN, PURPLE, BLACK, ORANGE, SKY = (PALETTE[name] for name in (
    "blue", "vermillion", "green", "purple", "black", "orange", "sky"))
LINE_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, BLACK)      # 3:1 on white; the others only fill
FILL_COLOURS = (ORANGE, PALETTE["yellow"], SKY)                # these need a dark edge
INK_OF = {ORANGE: "#8A5A00", PALETTE["yellow"]: "#6F6800", SKY: "#2B6C93"}   # dark enough for words
GREY = "#595959"                                  # 7:1 on white, for what is not the point
PALE = "#DDDDDD"                                  # grids, and bars that are not the point
MARKERS = ("o", "s", "^", "D", "v")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC",
         "Microsoft YaHei", "PingFang SC", "WenQuanYi Zen Hei", "SimHei", "Arial Unicode MS",
         "Noto Serif CJK SC")
TITLE_CHARS = 66                    # characters of a 13-point bold title that fit 7.2 inches
MISSING_GLYPH = "□"
SHARED = {"title": "the finding, in a sentence", "xlabel": "what stands across",
          "ylabel": "what stands up"}
SHARED_DOC = """
Returns
-------
{figure}

Raises
------
TypeError, ValueError
    If an argument cannot be drawn or does not fit the others; the message says what would.
"""


@cache
def _fonts() -> tuple[str, ...]:
    """Those of FONTS that this machine has; naming an absent one would warn at every letter."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return tuple(name for name in FONTS if name in installed)


@cache
def _drawable() -> frozenset[int]:
    """Code points that one of the fonts can draw."""
    from matplotlib import font_manager

    codes: set[int] = set()
    for name in _fonts():
        codes.update(font_manager.get_font(font_manager.findfont(name)).get_charmap())
    return frozenset(codes)


def style_settings() -> dict[str, Any]:
    """The look as matplotlib settings by name."""
    from cycler import cycler

    return {"font.size": 11, "font.family": list(_fonts()), "axes.titlesize": 13,
            "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.labelsize": 11,
            "xtick.labelsize": 10, "ytick.labelsize": 10, "legend.fontsize": 10,
            "axes.spines.top": False, "axes.spines.right": False, "axes.titlepad": 10,
            "figure.figsize": (7.2, 4.0), "figure.constrained_layout.use": True,
            "figure.facecolor": "white", "lines.linewidth": 2, "lines.markersize": 6,
            "image.cmap": "cividis", "svg.fonttype": "path",
            "axes.prop_cycle": cycler(color=LINE_COLOURS) + cycler(linestyle=DASHES)}


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw with the course's look inside this block, or inside the function it decorates.

    Afterwards all settings are as before.

    Yields
    ------
    None

    Examples
    --------
    >>> with styled():
    ...     pass
    """
    import matplotlib

    with matplotlib.rc_context(style_settings()):
        yield


def use_style() -> None:
    """Set the look for the rest of this process: for notebooks, where readers draw figures too."""
    import matplotlib

    matplotlib.rcParams.update(style_settings())


def documented(draw: Callable) -> Callable:
    """Complete the docstring of a figure by what all share: title, labels, Returns, Raises."""
    text = inspect.cleandoc(draw.__doc__ or "")
    for name, given in inspect.signature(draw).parameters.items():
        if name in SHARED and not re.search(rf"^(\w+, )*{name}\b.* : ", text, re.MULTILINE):
            default = "" if given.default is given.empty else f', default "{given.default}"'
            text += f"\n{name} : str{default}; {SHARED[name]}"
    kind = {"Figure": "matplotlib.figure.Figure", "go.Figure": "plotly.graph_objects.Figure"}
    draw.__doc__ = text + "\n" + SHARED_DOC.format(figure=kind[draw.__annotations__["return"]])
    return draw


def figure(draw: Callable) -> Callable:
    """Make a function a figure of the course: `styled` while it draws, and `documented`."""
    return styled()(documented(draw))


def plain(text: object, *, limit: int = 60) -> str:
    r"""Make text from data ready to be drawn: no formulas, one line, no control characters.

    A character that no installed font has becomes □, so that no figure warns about glyphs.

    Parameters
    ----------
    text : object
    limit : int, default 60; most characters; a longer text ends in "…"

    Returns
    -------
    str

    Examples
    --------
    >>> print(plain("costs $5 or $6"))
    costs \$5 or \$6
    """
    kinds = ("Cc", "Zl", "Zp")
    line = "".join(" " if unicodedata.category(c) in kinds else c for c in str(text))
    line = " ".join(line.split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return "".join(c if ord(c) in _drawable() else _without_glyph(c) for c in line).replace(
        "$", r"\$")


def _without_glyph(character: str) -> str:
    """Nothing for marks and invisible characters that cannot be drawn, a box for the others."""
    return "" if unicodedata.category(character) in ("Cf", "Mn", "Me") else MISSING_GLYPH


def wrapped(title: str, *, width: int = TITLE_CHARS) -> str:
    """A title broken into lines that fit the figure."""
    return "\n".join(textwrap.wrap(title, width)) if title.strip() else ""
