"""Figures as notebook outputs and as files, the same on every run.

An output holds SVG and a small PNG: an untrusted notebook hides SVG, and the PNG makes it
complete. Beyond 2,000 marks the SVG is left out. A plotly figure travels with a static twin for
pages that cannot run it. A picture that follows a control is a PNG alone, which is drawn once. Used
by ``lesson.show`` and ``lesson.explore``.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from pathlib import Path
from typing import Any

from ..core import atomic_open, output_folder, shown, write_text
from ..plots import (MAX_BYTES, MAX_MARKS, checked_alt, count_marks, png_bytes, quick_png,
                     svg_text)

__all__ = ["FIGURES_VARIABLE", "checked_id", "figure_bundle", "is_plotly", "layout_of",
           "moved_bundle", "png_metadata", "save_figure"]

# set by `lessons build` to the folder that collects the committed figures
FIGURES_VARIABLE = "LESSONS_FIGURES"
PLOTLY, SVG, PNG = "application/vnd.plotly.v1+json", "image/svg+xml", "image/png"
PIXELS_PER_INCH = 96                             # of a page; an SVG is shown so, too


def checked_id(id: object) -> str:
    """A figure's name, which becomes a file name; ValueError for others than words joined by _."""
    if not isinstance(id, str) or not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,59}", id):
        raise ValueError(f"id={shown(id)} is no figure name; expected lower-case words joined by "
                         "_, at most 60 characters: 'zipf_wikipedia'")
    return id


def is_plotly(fig: Any) -> bool:
    """Whether ``fig`` is a plotly figure; plotly is not imported to find out."""
    return hasattr(fig, "to_plotly_json")


def figure_bundle(fig: Any, *, id: str, alt: str,
                  static: Any = None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What a notebook needs to show a figure, given and refused as in `Lesson.show`.

    Returns output data by media type, metadata with the alt text, and the static parts (SVG as
    str, PNG as bytes) for files.
    """
    alt, id = checked_alt(alt), checked_id(id)
    if is_plotly(fig) and static is None:
        raise ValueError(f"figure {id!r} is interactive; pass static=, a matplotlib figure for "
                         "pages that cannot run it")
    drawn = static if is_plotly(fig) else fig
    if not hasattr(drawn, "savefig"):
        raise TypeError(f"fig={shown(drawn)} is {type(drawn).__name__}; expected a matplotlib or "
                        "plotly figure")
    svg = svg_text(drawn, alt, salt=id) if count_marks(drawn) <= MAX_MARKS else ""
    parts: dict[str, Any] = {SVG: svg} if 0 < len(svg.encode()) <= MAX_BYTES else {}
    png = png_bytes(drawn, fallback=bool(parts))
    if is_plotly(fig):
        data = {PLOTLY: json.loads(fig.to_json()),
                SVG: parts.get(SVG) or _svg_around(png, drawn, alt)}
    else:
        data = parts | {PNG: base64.b64encode(png).decode()}
    metadata = {kind: {"alt": alt} for kind in data}
    if PNG in data:
        metadata[PNG] = png_metadata(drawn, alt)
    return data | {"text/plain": alt}, metadata, parts | {PNG: png}


def png_metadata(fig: Any, alt: str) -> dict[str, Any]:
    """What a notebook keeps beside a PNG: its alt text, and its size in the pixels of the page."""
    width, height = (round(PIXELS_PER_INCH * inches) for inches in fig.get_size_inches())
    return {"alt": alt, "width": width, "height": height}


def _svg_around(png: bytes, fig: Any, alt: str) -> str:
    """A PNG as SVG: of a plotly output with a PNG, JupyterLab shows that until a mouse passes, and
    then the page jumps.
    """
    size = png_metadata(fig, alt)
    place = f'width="{size["width"]}" height="{size["height"]}"'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{html.escape(alt)}" '
            f'{place}><image {place} href="data:{PNG};base64,{base64.b64encode(png).decode()}"/>'
            "</svg>\n")


def layout_of(fig: Any) -> tuple[Any, ...]:
    """Where the axes and the title of a drawn matplotlib figure lie; empty for others."""
    if not hasattr(fig, "savefig"):
        return ()
    return (tuple(fig.get_size_inches()), [ax.get_position() for ax in fig.axes],
            [text.get_position() for text in fig.texts])


def _keep_layout(fig: Any, layout: tuple[Any, ...]) -> None:
    """Lay a figure out as another one lies, where it has as many axes and texts and is as large.

    To find a layout takes a third of the time of a picture, and axes that move hide what moves.
    """
    if not layout or [len(part) for part in layout_of(fig)] != [len(part) for part in layout] or (
            layout_of(fig)[0] != layout[0]):
        return
    fig.set_layout_engine("none")
    for ax, position in zip(fig.axes, layout[1], strict=True):
        ax.set_position(position)
    for text, position in zip(fig.texts, layout[2], strict=True):
        if getattr(text, "_autopos", False):     # a title of the figure, which the layout sets
            text.set_position(position)


def moved_bundle(fig: Any, *, alt: str,
                 layout: tuple[Any, ...] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    """Output data and metadata of a figure that follows a control, drawn in the shortest time.

    Parameters as in `figure_bundle`; a plotly figure needs no twin. ``layout`` is that of the
    picture before (`layout_of`).
    """
    alt = checked_alt(alt)
    if is_plotly(fig):
        return {PLOTLY: json.loads(fig.to_json()), "text/plain": alt}, {PLOTLY: {"alt": alt}}
    _keep_layout(fig, layout)
    picture = base64.b64encode(quick_png(fig)).decode()
    return {PNG: picture, "text/plain": alt}, {PNG: png_metadata(fig, alt)}


def save_figure(id: str, parts: dict[str, Any]) -> None:
    """Write ``<id>.svg``, or ``<id>.png`` without SVG, to the build's folder or the user's."""
    build = os.environ.get(FIGURES_VARIABLE)
    folder = Path(build) if build else output_folder() / "figures"
    if SVG in parts:
        write_text(folder / f"{id}.svg", parts[SVG])
        return
    with atomic_open(folder / f"{id}.png", "wb") as file:
        file.write(parts[PNG])
