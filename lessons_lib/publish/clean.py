"""Remove from an executed notebook what changes from run to run, so that a rebuilt lesson differs
only where its results do.

Gone are execution times, memory addresses, progress bars, standard error, widgets, the project's
path and the versions of the kernel; execution counts become 1…n, and cell ids follow from the
cells' content. Used by ``lessons build``.
"""

from __future__ import annotations

import copy
import hashlib
import re
from pathlib import Path
from typing import Any

from ..core import PROJECT

__all__ = ["clean", "clean_text"]

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{6,16}\b")
BARE_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{8,16}\b")
PROGRESS_BAR = re.compile(r"^.*\d+%\|.*\|.*$\n?", re.MULTILINE)
OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n)", re.MULTILINE)
SVG_DATE = re.compile(r"\s*<dc:date>.*?</dc:date>", re.DOTALL)
WIDGET = "application/vnd.jupyter.widget-view+json"


def clean_text(text: str, *, root: Path = PROJECT) -> str:
    """A text without memory addresses, progress bars, overwritten lines and the project's path."""
    text = OVERWRITTEN.sub("", text.replace("\r\n", "\n"))
    text = BARE_ADDRESS.sub("0x…", ADDRESS.sub("", PROGRESS_BAR.sub("", text)))
    for path in {str(root), root.as_posix()}:
        text = text.replace(path + "/", "").replace(path + "\\", "").replace(path, ".")
    return text


def _clean_outputs(cell: Any, number: int, root: Path) -> list[Any]:
    """A cell's outputs, standard error and widgets gone, neighbouring texts joined, counts set."""
    kept: list[Any] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            if output.name == "stderr":
                continue
            if kept and kept[-1].output_type == "stream":
                kept[-1].text += output.text
            else:
                kept.append(output)
        elif WIDGET not in output.get("data", {}):
            for kind, value in output.get("data", {}).items():
                if kind == "image/svg+xml":
                    output.data[kind] = SVG_DATE.sub("", value)
                elif isinstance(value, str) and not kind.startswith("image/"):
                    output.data[kind] = clean_text(value, root=root)
            if "execution_count" in output:
                output.execution_count = number
            kept.append(output)
    for output in kept:
        if output.output_type == "stream":
            output.text = clean_text(output.text, root=root)
    return [output for output in kept if output.output_type != "stream" or output.text]


def clean(notebook: Any, *, root: Path = PROJECT) -> Any:
    """A cleaned copy of an executed notebook; cleaning it again changes nothing.

    Parameters
    ----------
    notebook : NotebookNode
    root : Path, default the project's folder
        Its path is taken out of outputs.

    Returns
    -------
    NotebookNode
    """
    notebook = copy.deepcopy(notebook)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.pop("signature", None)
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    number, seen = 0, {}
    for cell in notebook.cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1           # equal cells are numbered
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        for key in ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted"):
            cell.metadata.pop(key, None)
        # a cell that did not run stays visibly unexecuted
        if cell.cell_type == "code" and cell.execution_count is not None:
            number += 1
            cell.execution_count = number
            cell.outputs = _clean_outputs(cell, number, root)
    return notebook
