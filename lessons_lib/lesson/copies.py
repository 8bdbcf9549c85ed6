"""Copies of the lessons that are the reader's own: made once, brought up to date without losing
what was written.

A lesson that is opened in JupyterLab is also saved there. So a reader gets copies in ``work/``,
which git does not see; the clone stays as it was published, and ``git pull`` brings newer lessons.
Beside the copies lie the lessons as they were copied, so that an update can tell what the reader
changed from what the course changed. Used by ``lessons lab``.
"""

from __future__ import annotations

import copy
import difflib
import os
import shutil
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

from ..core import PROJECT, write_text

__all__ = ["COURSE_FOLDER", "WORK", "merged", "renew_copies"]

WORK = Path(os.environ.get("LESSONS_WORK") or PROJECT / "work")      # ignored by git
COURSE_FOLDER = ".course"                        # hidden, so JupyterLab does not list it
LESSONS = ("[0-9][0-9]_*.ipynb", "glossary.ipynb")
EARLIER = "Your earlier answer. The course has changed this cell; its new form stands above."


def renew_copies(originals: Path, work: Path) -> dict[str, str]:
    """Copy the lessons that are not in ``work`` yet, and bring the others up to date.

    Parameters
    ----------
    originals : path
        The folder of the lessons.
    work : path
        The reader's folder; made if need be. A copy that was deleted is made anew.

    Returns
    -------
    dict of str to str
        File name -> "copied", "updated", or "left as it is: " and why; lessons in which nothing
        changed are left out. Before an update the copy is kept in ``work/.course/before``.
    """
    import nbformat

    bases = work / COURSE_FOLDER
    (bases / "before").mkdir(parents=True, exist_ok=True)
    done = {}
    for original in (path for pattern in LESSONS for path in sorted(originals.glob(pattern))):
        own, base = work / original.name, bases / original.name
        text = original.read_text("utf-8")
        new = _alone(nbformat.reads(text, as_version=4))
        if not own.exists():
            write_text(own, nbformat.writes(new) + "\n")
            done[original.name] = "copied"
        elif not base.exists() or base.read_text("utf-8") != text:
            try:
                before = nbformat.reads(base.read_text("utf-8"), as_version=4)
                mine = nbformat.read(own, as_version=4)
            except (OSError, ValueError, nbformat.reader.NotJSONError,
                    nbformat.ValidationError) as error:
                done[original.name] = f"left as it is: {' '.join(str(error).split())[:120]}"
                continue
            shutil.copyfile(own, bases / "before" / own.name)
            write_text(own, nbformat.writes(merged(before, mine, new)) + "\n")
            done[original.name] = "updated"
        else:
            continue
        write_text(base, text)
    return done


def _alone(notebook: Any) -> Any:
    """A notebook without its pair: JupyterLab would write the text beside each copy."""
    notebook.metadata.pop("jupytext", None)
    return notebook


def merged(base: Any, mine: Any, new: Any) -> Any:
    """The new lesson with all that the reader changed or added.

    A cell that the reader did not touch becomes the new one, with the reader's outputs where its
    source stayed. A cell that only the reader changed stays; where the course changed it too, the
    new one comes first and the reader's follows, marked. The reader's own cells stay behind the
    cell that they stood behind.

    Parameters
    ----------
    base : NotebookNode
        The lesson as it was copied.
    mine : NotebookNode
        The reader's copy.
    new : NotebookNode
        The lesson as it is now.

    Returns
    -------
    NotebookNode
    """
    place = _places(base.cells, new.cells)
    by_id = {cell.get("id"): i for i, cell in enumerate(base.cells)}
    by_source = {cell.source: i for i, cell in enumerate(base.cells)}
    new_ids = {cell.get("id"): i for i, cell in enumerate(new.cells)}
    kept: dict[int, Any] = {}
    behind: dict[int, list[Any]] = defaultdict(list)
    last = -1
    for cell in mine.cells:
        # a program that knows no ids has dropped them
        i = by_id.get(cell["id"]) if cell.get("id") else by_source.get(cell.source)
        # the same cell is where its id is, also where the course moved it
        target = new_ids.get(cell.get("id"), place.get(i))
        last = last if target is None else target
        if target is not None and new.cells[target].source == cell.source:
            kept[target] = cell                  # with its outputs
        elif i is None:
            behind[last].append(cell)
        elif cell.source != base.cells[i].source:
            if target is not None and new.cells[target].source == base.cells[i].source:
                kept[target] = cell
            else:
                behind[last].append(_marked(cell))
    result, cells, used = copy.deepcopy(new), [], set()
    for i in range(-1, len(new.cells)):
        here = [] if i < 0 else [kept.get(i, new.cells[i])]
        for cell in (*here, *behind[i]):
            cell = copy.deepcopy(cell)
            if cell.get("id") is None or cell["id"] in used:
                cell["id"] = uuid.uuid4().hex[:12]
            used.add(cell["id"])
            cells.append(cell)
    result.cells = cells
    return result


def _places(old: list[Any], new: list[Any]) -> dict[int, int]:
    """Place of a cell in the old lesson -> place in the new one, also of cells that changed."""
    matcher = difflib.SequenceMatcher(a=[(c.cell_type, c.source) for c in old],
                                      b=[(c.cell_type, c.source) for c in new], autojunk=False)
    result = {}
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            pairs = zip(range(a, a_end), range(b, b_end), strict=False)
            result |= {i: j for i, j in pairs if old[i].cell_type == new[j].cell_type}
    return result


def _marked(cell: Any) -> Any:
    """A reader's cell that no longer has its place, with a word about it and an id of its own."""
    cell = copy.deepcopy(cell)
    cell["id"] = uuid.uuid4().hex[:12]
    cell["source"] = (f"# {EARLIER}\n{cell.source}" if cell.cell_type == "code"
                      else f"*{EARLIER}*\n\n{cell.source}")
    return cell
