"""Outputs of a notebook as HTML that needs no kernel and no network, the same on the site and on
slides.

A picture becomes a file beside the page, with its alt text. An interactive figure becomes its still
picture with the figure's data beside it: ``figures.js`` draws it alive where scripts run, once it
comes into view, and elsewhere the picture stays.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core import DamagedFile

__all__ = ["PLOTLY", "Pictures", "alt_text", "is_picture", "size_of"]

PLOTLY = "application/vnd.plotly.v1+json"
KINDS = {"image/svg+xml": "svg", "image/png": "png"}          # the sharper one first


def _text(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else value


def is_picture(output: Mapping[str, Any]) -> bool:
    """Whether an output shows a picture, still or interactive."""
    return any(kind in output.get("data", {}) for kind in KINDS)


def alt_text(output: Mapping[str, Any]) -> str:
    """The words that stand for a picture; "" for an output without."""
    texts = (output.get("metadata", {}).get(kind, {}).get("alt", "") for kind in (*KINDS, PLOTLY))
    return next((text for text in texts if text), "")


def size_of(output: Mapping[str, Any]) -> tuple[float, float]:
    """Width and height of a picture, in units of its own."""
    if svg := _text(output["data"].get("image/svg+xml", "")):
        opening = re.search(r"<svg\b[^>]*>", svg)[0]
        if box := re.search(r'viewBox="\S+ \S+ ([\d.]+) ([\d.]+)"', opening):
            return float(box[1]), float(box[2])
        width, height = (re.search(rf'\b{side}="([\d.]+)', opening) for side in ("width", "height"))
        return float(width[1]), float(height[1])
    return struct.unpack(">II", base64.b64decode(_text(output["data"]["image/png"]))[16:24])


@dataclass(frozen=True)
class Pictures:
    """Writes pictures into ``folder``, which pages reach by ``prefix``, and gives their HTML."""

    folder: Path
    prefix: str

    def html(self, output: Mapping[str, Any]) -> str:
        """One picture as a ``<figure>``. Raises DamagedFile without alt text."""
        alt = html.escape(alt_text(output))
        if not alt:
            raise DamagedFile("a picture of a notebook has no alt text; lessons build --check "
                              "names the cell")
        kind = next(kind for kind in KINDS if kind in output["data"])
        content = _text(output["data"][kind])
        picture = (f'<img src="{self.prefix}{self._written(kind, content)}" alt="{alt}" '
                   'loading="lazy">')
        if PLOTLY not in output["data"]:
            return f'<figure class="picture">{picture}</figure>'
        figure = {key: output["data"][PLOTLY].get(key) for key in ("data", "layout", "frames")}
        drawing = json.dumps(figure, separators=(",", ":")).replace("<", "\\u003c")
        return (f'<figure class="picture interactive" role="group" aria-label="{alt}">{picture}'
                f'<script type="application/json">{drawing}</script></figure>')

    def _written(self, kind: str, content: str) -> str:
        """Write one picture under a name made from its content, and give the name."""
        data = base64.b64decode(content) if kind == "image/png" else content.encode()
        name = f"{hashlib.sha256(data).hexdigest()[:16]}.{KINDS[kind]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(data)
        return name
