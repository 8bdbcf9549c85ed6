"""Figures as notebook outputs and as files: sharp, small, the same on every run, and readable
without eyes or trust.

An output holds SVG and a small PNG: an untrusted notebook hides SVG, so that the PNG makes it
complete. Beyond 2,000 marks the SVG is left out. A plotly figure travels with a static twin for
pages that cannot run it. Used by ``lesson.show`` and ``lesson.explore``.
"""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import Any

from ..core import atomic_open, output_folder, shown, write_text
from ..plots import MAX_BYTES, MAX_MARKS, checked_alt, count_marks, png_bytes, svg_text

__all__ = ["FIGURES_VARIABLE", "checked_id", "figure_bundle", "is_plotly", "save_figure"]

# set by `lessons build` to the folder that collects the committed figures
FIGURES_VARIABLE = "LESSONS_FIGURES"
PLOTLY = "application/vnd.plotly.v1+json"


def checked_id(id: object) -> str:
    """The figure's name, which becomes a file name.

    Raises ValueError unless it is lower-case words joined by _.
    """
    if not isinstance(id, str) or not re.fullmatch(r"[a-z0-9][a-z0-9_]{0,59}", id):
        raise ValueError(f"id={shown(id)} is no figure name; expected lower-case words joined by "
                         "_, at most 60 characters: 'zipf_wikipedia'")
    return id


def is_plotly(fig: Any) -> bool:
    """Whether ``fig`` is a plotly figure; plotly is not imported to find out."""
    return hasattr(fig, "to_plotly_json")


def _static_parts(fig: Any, alt: str, id: str) -> dict[str, Any]:
    """SVG where it is small enough, and always a PNG: the output of a notebook that nobody trusts
    yet shows nothing else.
    """
    svg = svg_text(fig, alt, salt=id) if count_marks(fig) <= MAX_MARKS else None
    keep = svg is not None and len(svg.encode()) <= MAX_BYTES
    return ({"image/svg+xml": svg} if keep else {}) | {"image/png": png_bytes(fig)}


def figure_bundle(fig: Any, *, id: str, alt: str,
                  static: Any = None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What a notebook needs to show a figure.

    Parameters: fig, a matplotlib or plotly figure; id, its name; alt, 5 to 40 words; static, the
    matplotlib twin of a plotly figure. Returns output data by media type, metadata with the alt
    text, and the static parts (SVG as str, PNG as bytes) for files. Raises TypeError for anything
    but a figure, ValueError for a bad id or alt, or a plotly figure without its static twin.
    """
    alt, id = checked_alt(alt), checked_id(id)
    if is_plotly(fig) and static is None:
        raise ValueError(f"figure {id!r} is interactive; pass static=, a matplotlib figure for "
                         "pages that cannot run it")
    drawn = static if is_plotly(fig) else fig
    if not hasattr(drawn, "savefig"):
        raise TypeError(f"fig={shown(drawn)} is {type(drawn).__name__}; expected a matplotlib or "
                        "plotly figure")
    parts = _static_parts(drawn, alt, id)
    data: dict[str, Any] = {PLOTLY: json.loads(fig.to_json())} if is_plotly(fig) else {}
    if "image/svg+xml" in parts:
        data["image/svg+xml"] = parts["image/svg+xml"]
    data |= {"image/png": base64.b64encode(parts["image/png"]).decode(), "text/plain": alt}
    return data, {kind: {"alt": alt} for kind in data if kind != "text/plain"}, parts


def _figure_folder() -> Path:
    return Path(os.environ[FIGURES_VARIABLE]) if os.environ.get(
        FIGURES_VARIABLE) else output_folder() / "figures"


def save_figure(id: str, parts: dict[str, Any]) -> None:
    """Write ``<id>.svg``, or ``<id>.png`` where there is no SVG, to the build's folder when a build
    runs, else to the user's output folder.
    """
    folder = _figure_folder()
    if "image/svg+xml" in parts:
        write_text(folder / f"{id}.svg", parts["image/svg+xml"])
        return
    with atomic_open(folder / f"{id}.png", "wb") as file:
        file.write(parts["image/png"])
