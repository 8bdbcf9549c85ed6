"""Pictures in the dark themes of JupyterLab: light lines on a dark ground, no white blocks.

A picture is stored with a white ground, as paper has it, and a page does not tell a picture which
theme it stands in. So the page turns its lightness round and keeps its hues. Used by
``lessons lab``, which gives JupyterLab the rules as an extension of styles alone.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..core import write_json, write_text

__all__ = ["give_dark_pictures"]

NAME = "lessons-dark-pictures"
PICTURES = (".jp-RenderedSVG img", ".jp-RenderedImage img", ".jp-RenderedPlotly")
GROUND = 0.93                                    # white becomes the grey of the theme, not black
STYLE = (", ".join(f'body[data-jp-theme-light="false"] .jp-Notebook {picture}'
                   for picture in PICTURES)
         + f" {{ filter: invert({GROUND}) hue-rotate(180deg); }}")
SCRIPT = f"""window._JUPYTERLAB = window._JUPYTERLAB || {{}};
window._JUPYTERLAB[{json.dumps(NAME)}] = {{
  init: () => {{}},
  get: async () => () => {{
    const style = document.createElement("style");
    style.textContent = {json.dumps(STYLE)};
    document.head.append(style);
    return {{}};
  }},
}};
"""


def give_dark_pictures(folder: Path) -> str:
    """Write the extension, and say where it lies.

    Parameters
    ----------
    folder : Path
        Of extensions, which nothing else uses.

    Returns
    -------
    str
        The option for JupyterLab.
    """
    build = {"load": "static/style.js", "style": "./style"}
    write_json(folder / NAME / "package.json",
               {"name": NAME, "version": "1.0.0", "description": "Pictures in dark themes",
                "jupyterlab": {"_build": build}})
    write_text(folder / NAME / "static" / "style.js", SCRIPT)
    return f"--LabApp.extra_labextensions_path={folder}"
