"""``lessons search``: ask a folder of texts."""

from __future__ import annotations

import hashlib
import re
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import (DamagedFile, cache_folder, check_int, checked_path, existing_path,
                    read_json)
from ..core.store import nothing_saved
from .encoding import encoder_named
from .options import option, unset
from .show import plain

__all__ = ["search"]

SHOWN = 5                                        # reasons why a file was not read
PRINTED = 2_000                                  # characters of a passage
NAME = 50                                        # characters of a folder's name in the cache
# What a save leaves in the folder of an index, and what it leaves there when it was killed.
WHOLE = re.compile(r"model\.json|tensors-[0-9a-f]{12}-\d+\.safetensors")
DRAFT = re.compile(r"\.tmp-.*|tensors-([0-9a-f]{12}|draft)-\d+\.safetensors")


def search(
    folder: Annotated[str, typer.Argument(help="a folder of .txt, .md and, with pypdf, .pdf")],
    question: Annotated[list[str], typer.Argument(help="its words, best in quotes")],
    encoder: Annotated[str, option("as in `lessons encode`")] = "lesson-bag",
    index: Annotated[str | None, unset("folder of the index; without it one in the cache")] = None,
    top: Annotated[int, option("answers")] = 5,
    encoding: Annotated[str, option("of files that are not UTF-8")] = "utf-8",
) -> None:
    """Find the passages of a folder that answer a question, by words and by meaning, and say why.

    What is new or changed in the folder is taken in first; all stays on this machine.
    """
    from ..search import FolderIndex
    from ..search.folder import check_question

    check_int("top", top)
    asking = check_question(" ".join(question))
    root = existing_path(folder, name="folder")
    encodes = encoder_named(encoder)
    place = _place(root, encoder) if index is None else checked_path(index, name="index")
    there = place.is_symlink() or not nothing_saved(place)
    try:
        asked = FolderIndex.load(place, encodes) if there else FolderIndex(encodes)
    except ValueError as error:                   # damaged, or of another encoder
        remove = f"remove {place}, or " if index is None or _is_index(place) else ""
        raise ValueError(f"{error}\nNothing was changed. To index {root} again: {remove}name "
                         "another --index, a new folder") from error
    asked.encoding = encoding
    update = asked.update(root, progress=sys.stderr.isatty())
    if update.any:
        try:
            asked.save(place)
        except OSError as error:                  # the answers are there, and are not lost
            _aside(f"the index was not kept, and is made anew at the next question: {error}")
    _tell(asked, update)
    _show(asked.search(asking, k=top))


def _is_index(place: Path) -> bool:
    """Whether a folder holds an index, perhaps a damaged one, and nothing that is anyone's."""
    if not place.is_dir() or not all(WHOLE.fullmatch(entry.name) or DRAFT.fullmatch(entry.name)
                                     for entry in place.iterdir()):
        return False
    try:
        return read_json(place / "model.json").get("kind") == "FolderIndex"
    except (DamagedFile, OSError, AttributeError):
        return True


def _place(folder: Path, encoder: str) -> Path:
    """Where the index of a folder by an encoder lies in the cache."""
    key = hashlib.sha256(f"{folder}\n{encoder}".encode("utf-8", "surrogatepass")).hexdigest()
    return cache_folder() / "search" / f"{folder.name[:NAME] or 'root'}-{key[:16]}"


def _aside(text: str) -> None:
    """A line beside the answers, not among them."""
    print(plain(text), file=sys.stderr)


def _counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'s' * (n != 1)}"


def _tell(index: Any, update: Any) -> None:
    """What the index holds and what was left out."""
    _aside(f"{_counted(len(index), 'passage')} of {_counted(len(index.files), 'file')} "
           f"({len(update.added):,} new, "
           f"{len(update.changed):,} changed, {len(update.removed):,} removed)")
    for name, reason in update.skipped[:SHOWN]:
        _aside(f"not read: {name}: {reason}")
    if len(update.skipped) > SHOWN:
        _aside(f"not read: {len(update.skipped) - SHOWN:,} more")


def _show(answers: list[Any]) -> None:
    if not any(answer.words for answer in answers):
        _aside("No word of the question stands in the texts"
               + (": what follows was found by meaning alone" if answers else ", and its vector is "
                  "zero: nothing was found. Ask in other words"))
    for place, answer in enumerate(answers, start=1):
        words = ", ".join(f"{word} {weight:.1f}" for word, weight in answer.words.items())
        print(plain(f"{place}. {answer.file}, characters {answer.start:,} to {answer.end:,}"
                    f"  (words: {words[:PRINTED] or 'none'}; cosine {answer.cosine:.2f})"))
        print(textwrap.indent(textwrap.fill(plain(_printed(answer.text)), 96), "   "))


def _printed(text: str) -> str:
    """A passage in a line, of a length that can be read: a word may have a million letters."""
    text = " ".join(text.split())
    more = len(text) - PRINTED
    return text if more <= 0 else f"{text[:PRINTED]} … ({more:,} more characters)"
