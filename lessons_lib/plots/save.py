"""A figure as a file: SVG while it is small, PNG beyond, with alt text, at most 100 kB.

A picture without words is lost on a reader who cannot see it, so the alt text is not optional.
The same figure gives the same bytes on every run; files appear whole or not at all. Used by
`lesson.show` and by every committed figure.
"""

from __future__ import annotations

import html
import io
import os
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core import atomic_open, checked_path, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MAX_BYTES", "MAX_MARKS", "checked_alt", "count_marks", "png_bytes", "quick_png",
           "save", "svg_text"]

MAX_MARKS = 2000
MAX_BYTES = 100_000
PNG_DPI = (192, 144, 110)                        # two points of the picture for one of the page
LENGTHS = re.compile(r'(?<= [dxy]=")[^"]+|translate\([^)]*\)')
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
USES = re.compile(r"(?:<use [^>]*/>){3,}")
STYLE = re.compile(r' style="([^"]*)"')
GLYPH = re.compile(r'(?<= )d="([^"]*)" transform="scale\(0\.015625\)"')
GLYPH_UNIT = 32                                  # Matplotlib's units in one of ours: 1/200 em
POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0, "z": 0}         # of each command of an outline
COMMAND = re.compile(r" ?([MLQCz]) ?")            # of an outline: "M 1 2 L 3 4" is "M1 2L3 4"
LETTER = re.compile(r'(<use href="#[DB][\w-]*") transform="translate\(([-\d.]+) 0\)"/>')
GOOD_ENOUGH = 0.8                                # of 255: mean error of a PNG with few colours


def checked_alt(alt: object) -> str:
    """Check an alt text.

    Parameters
    ----------
    alt : str; 5 to 40 words: kind of figure, axes and finding

    Returns
    -------
    str
        On one line.

    Raises
    ------
    ValueError
        For fewer or more words, or a control character.
    """
    words = alt.split() if isinstance(alt, str) else []
    if not 5 <= len(words) <= 40:
        raise ValueError(f"alt={shown(alt)} has {len(words)} words; expected 5 to 40 words that "
                         "say kind of figure, axes and finding")
    for character in "".join(words):
        if unicodedata.category(character) in ("Cc", "Cs") or character in "\ufffe\uffff":
            raise ValueError(f"alt={shown(alt)} holds {character!r}, which no SVG file can; "
                             "expected plain text")
    return " ".join(words)


def count_marks(fig: Figure) -> int:
    """Count the marks of a figure: points of lines, markers, bars, cells of a mesh, texts.

    Parameters
    ----------
    fig : matplotlib.figure.Figure

    Returns
    -------
    int
        An image counts as one.
    """
    n = 0
    for ax in fig.axes:
        n += sum(len(line.get_xdata(orig=False)) for line in ax.lines)
        n += len(ax.patches) + len(ax.texts) + len(ax.images)
        for drawn in ax.collections:
            cells = drawn.get_array()
            n += max(len(drawn.get_offsets()), len(drawn.get_paths()),
                     0 if cells is None else cells.size)
    return n


def svg_text(fig: Figure, alt: str, *, salt: str = "lessons") -> str:
    """Write a figure as SVG with role and label for screen readers.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    alt : str
    salt : str, default "lessons"
        Makes the ids of this figure differ from those of another one in the same page.

    Returns
    -------
    str
        No date, no program version, no random ids.
    """
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        fig.savefig(text, format="svg", metadata=nothing)
    svg = _shortened(text.getvalue()[text.getvalue().index("<svg") :])
    return svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(alt)}" ', 1)


def _shortened(svg: str) -> str:
    """The same picture in about a third of the bytes.

    No comments, no indentation, lengths to a hundredth of a point, shared styles once, no names
    of groups, to which nothing refers, short names of letters, and their outlines in whole
    numbers relative to the point before: right to a fortieth of a point at ten points.
    """
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s+", " ", re.sub(r">\s+<", "><", svg))
    svg = re.sub(r'<g id="[\w.]+"', "<g", svg)
    svg = re.sub(r"<g>((?:<(?:use|path)\b[^>]*/>)+)</g>", r"\1", svg)
    svg = re.sub(r'"(#?)DejaVuSans-', r'"\1D', svg).replace("DBold-", "B")
    svg = svg.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "").replace("xlink:", "")
    svg = GLYPH.sub(_short_glyph, svg)
    svg = LETTER.sub(lambda use: f'{use[1]} x="{float(use[2]):.0f}"/>', svg)
    svg = LENGTHS.sub(lambda found: LONG_NUMBER.sub(_two_digits, COMMAND.sub(r"\1", found[0])), svg)
    return USES.sub(_with_one_style, svg) + "\n"


def _two_digits(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _short_glyph(glyph: re.Match[str]) -> str:
    """A letter's outline in relative steps; each is rounded from where the last one ended."""
    short, here, start = "", (0, 0), (0, 0)
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", glyph[1]):
        flat = [round(float(number) / GLYPH_UNIT) for number in numbers.split()]
        points = list(zip(flat[::2], flat[1::2], strict=False))
        if len(points) != POINTS.get(command):
            return glyph[0]                      # an outline that Matplotlib does not write today
        steps = " ".join(f"{x - here[0]} {y - here[1]}" for x, y in points).replace(" -", "-")
        short += command.lower() + steps
        here = points[-1] if points else start
        start = here if command == "M" else start
    return f'd="{short}" transform="scale({GLYPH_UNIT / 64:g})"'


def _with_one_style(run: re.Match[str]) -> str:
    """A run of marks as a group that has their style, where they share one."""
    styles = STYLE.findall(run[0])
    if len(set(styles)) != 1 or len(styles) != run[0].count("<use "):
        return run[0]
    return f'<g style="{styles[0]}">{STYLE.sub("", run[0])}</g>'


def png_bytes(fig: Figure, *, fallback: bool = False) -> bytes:
    """Write a figure as PNG with a palette of 48 colours, or 255 where 48 would show.

    It is twice as fine as a page, for screens that are; less so where it would pass 100 kB.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    fallback : bool, default False
        It stands beside an SVG, which most pages show: half as many bytes will do.

    Returns
    -------
    bytes
        No date inside.
    """
    for dpi in PNG_DPI[fallback:]:
        content = _few_colours(quick_png(fig, dpi=dpi))
        if len(content) <= MAX_BYTES:
            break
    return content


def quick_png(fig: Figure, *, dpi: int = PNG_DPI[0]) -> bytes:
    """Write a figure as PNG in the shortest time, for a picture that follows a control.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    dpi : int, default 192
        Dots per inch; a page has 96.

    Returns
    -------
    bytes
        Several times as many as those of `png_bytes`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    before, raw = (fig.dpi, fig.canvas), io.BytesIO()
    try:                                         # savefig draws twice, to fit what it cuts off
        fig.set_dpi(dpi)
        canvas = FigureCanvasAgg(fig)
        canvas.draw()
        Image.fromarray(np.asarray(canvas.buffer_rgba())).save(raw, "png", compress_level=1)
    finally:
        fig.set_dpi(before[0])
        fig.set_canvas(before[1])
    return raw.getvalue()


def _few_colours(png: bytes) -> bytes:
    from PIL import Image, ImageChops, ImageStat

    exact, small = Image.open(io.BytesIO(png)).convert("RGB"), io.BytesIO()
    image = exact.quantize(48, dither=Image.Dither.NONE)
    errors = ImageStat.Stat(ImageChops.difference(image.convert("RGB"), exact)).mean
    if max(errors) > GOOD_ENOUGH:
        image = exact.quantize(255, dither=Image.Dither.NONE)
    image.save(small, format="png", optimize=True)
    return small.getvalue()


def _svg_path(path: object) -> Path:
    """The path with ``.svg``, in place of ``.svg`` or ``.png``, so that ``fig1.1`` stays itself."""
    text = os.fspath(checked_path(path) if path != "" else path)
    base, ending = os.path.splitext(text)
    if ending.lower() not in (".svg", ".png"):
        base = text
    name = os.path.basename(base)
    if not name.strip(" .") or name.lower() in (".svg", ".png") or os.path.isdir(text):
        what = "a folder" if os.path.isdir(text) else "no file name"
        raise ValueError(f"path={shown(text)} is {what}; expected the file's name: "
                         "folder/figure.svg")
    return Path(f"{base}.svg")


def save(fig: Figure, path: str | os.PathLike, alt: str) -> Path:
    """Write a figure as ``.svg``, or as ``.png`` beyond 2,000 marks or 100 kB of SVG.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    path : str or path; with or without the ending, which is set by the kind of file
    alt : str; 5 to 40 words: kind of figure, axes and finding

    Returns
    -------
    pathlib.Path
        The file written; the same figure gives the same bytes on every run.

    Raises
    ------
    TypeError
        For no matplotlib figure.
    ValueError
        For an alt text as in `checked_alt`, a folder as path, a file beyond 100 kB.
    OSError
        If the file cannot be written; an older file stays whole.
    """
    alt = checked_alt(alt)
    if not (hasattr(fig, "savefig") and hasattr(fig, "axes")):
        raise TypeError(f"fig={shown(fig)} is {type(fig).__name__}; expected a matplotlib figure "
                        "(plotly figures need a static one beside them)")
    marks, target = count_marks(fig), _svg_path(path)
    content = svg_text(fig, alt, salt=target.stem).encode() if marks <= MAX_MARKS else b""
    if not 0 < len(content) <= MAX_BYTES:
        target, content = target.with_suffix(".png"), png_bytes(fig)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{target.name} has {len(content):,} bytes from {marks:,} marks; expected "
                         f"<= {MAX_BYTES:,} bytes. Draw a sample of the points, fewer labels, or "
                         "a smaller figure")
    with atomic_open(target, "wb") as file:
        file.write(content)
    return target
