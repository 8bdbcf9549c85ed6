"""One look for all figures: the Okabe-Ito colours, letters of at least 10 points, fonts that know Chinese where they are installed.

The look is a context (`styled`), never a side effect of an import; ``lesson.start`` asks for it once with `use_style`. Text that comes from
data passes through `plain`, so that no dollar sign becomes a formula. Used by every figure of every lesson.
"""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

__all__ = ["DASHES", "FILL_COLOURS", "GREY", "INK_OF", "LINE_COLOURS", "MARKERS", "PALETTE",
           "plain", "style_settings", "styled", "use_style", "wrapped"]

PALETTE = {"black": "#000000", "blue": "#0072B2", "vermillion": "#D55E00", "green": "#009E73", "purple": "#CC79A7",
           "orange": "#E69F00", "sky": "#56B4E9", "yellow": "#F0E442"}
LINE_COLOURS = tuple(PALETTE[name] for name in ("blue", "vermillion", "green", "purple", "black"))   # these have 3:1 on white; the others only fill
FILL_COLOURS = tuple(PALETTE[name] for name in ("orange", "yellow", "sky"))                          # these need a dark edge
INK_OF = {PALETTE["orange"]: "#8A5A00", PALETTE["yellow"]: "#6F6800", PALETTE["sky"]: "#2B6C93"}    # the same hues, dark enough for words
GREY = "#595959"                                  # 7:1 on white, for what is not the point
MARKERS = ("o", "s", "^", "D", "v")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "Microsoft YaHei", "PingFang SC", "WenQuanYi Zen Hei",
         "SimHei", "Arial Unicode MS")
TITLE_CHARS = 66                                  # characters of a 13-point bold title that fit a 7.2-inch figure
MISSING_GLYPH = "□"


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
    return {"font.size": 11, "font.family": list(_fonts()), "axes.titlesize": 13, "axes.titleweight": "bold", "axes.titlelocation": "left",
            "axes.labelsize": 11, "xtick.labelsize": 10, "ytick.labelsize": 10, "legend.fontsize": 10, "axes.spines.top": False,
            "axes.spines.right": False, "axes.titlepad": 10, "figure.figsize": (7.2, 4.0), "figure.constrained_layout.use": True,
            "figure.facecolor": "white", "lines.linewidth": 2, "lines.markersize": 6, "image.cmap": "cividis", "svg.fonttype": "path",
            "axes.prop_cycle": _cycle()}


def _cycle() -> Any:
    from cycler import cycler

    return cycler(color=LINE_COLOURS) + cycler(linestyle=DASHES)


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw with the course's look inside this block, or inside the function it decorates; afterwards all settings are as before.

    >>> with styled():
    ...     pass
    """
    import matplotlib

    with matplotlib.rc_context(style_settings()):
        yield


def use_style() -> None:
    """Set the look for the rest of this process. For notebooks, where a reader draws figures of their own."""
    import matplotlib

    matplotlib.rcParams.update(style_settings())


def plain(text: object, *, limit: int = 60) -> str:
    """Text from data, ready to be drawn: no formulas, one line, no control characters, at most ``limit`` characters.

    A character that no installed font has becomes □, so that no figure warns about missing glyphs.

    >>> plain("costs $5 or $6")
    'costs \\\\$5 or \\\\$6'
    """
    line = " ".join("".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in str(text)).split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return "".join(c if ord(c) in _drawable() else _without_glyph(c) for c in line).replace("$", r"\$")


def _without_glyph(character: str) -> str:
    """What stands for a character that cannot be drawn: nothing for marks and invisible ones, a box for the others."""
    return "" if unicodedata.category(character) in ("Cf", "Mn", "Me") else MISSING_GLYPH


def wrapped(title: str, *, width: int = TITLE_CHARS) -> str:
    """A title broken into lines that fit the figure."""
    import textwrap

    return "\n".join(textwrap.wrap(title, width)) if title.strip() else ""
