"""What a reader opens to see: answers to predictions, checks of results, optional parts.

A code cell is folded by its tag, text by ``<details>``. The same tags fold a cell in JupyterLab
(which reads the metadata that `fold` writes), on the site and in print, and move it to the next
step of a slide. Folded cells are run like all others. Used by every lesson.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["DETAILS", "fold", "hides_source", "is_optional", "tags_of", "unfold", "without_details"]

INPUT, OUTPUT = "source_hidden", "outputs_hidden"
FOLDS = {"hide-output": (OUTPUT,),               # what happened after a prediction
         "hide-input": (INPUT,),                 # a drawing whose code teaches nothing
         "check": (INPUT, OUTPUT),               # assertions of a section's results
         "curious": (INPUT, OUTPUT)}             # goes with a text "For the curious"
DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)


def tags_of(cell: Any) -> set[str]:
    """The tags of a cell."""
    return set(cell.metadata.get("tags", []))


def is_optional(cell: Any) -> bool:
    """Whether a cell is off the main thread: assertions, and what is for the curious."""
    return bool(tags_of(cell) & {"check", "curious"})


def hides_source(cell: Any) -> bool:
    """Whether a reader does not see the code of a cell at first."""
    return any(INPUT in FOLDS.get(tag, ()) for tag in tags_of(cell))


def fold(notebook: Any) -> None:
    """Write into each code cell what JupyterLab hides of it, by its tags."""
    for cell in notebook.cells:
        hidden = {key: True for tag, keys in FOLDS.items() if tag in tags_of(cell) for key in keys}
        if hidden and cell.cell_type == "code":
            cell.metadata["jupyter"] = hidden


def unfold(notebook: Any) -> None:
    """Take it out again: the text of a lesson has the tags alone."""
    for cell in notebook.cells:
        cell.metadata.pop("jupyter", None)


def without_details(text: str) -> str:
    """A text without its folded parts."""
    return DETAILS.sub("", text)
