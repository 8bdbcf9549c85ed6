"""Retrieval sets in the form of BEIR (Thakur et al. 2021): texts, questions, and which text answers
which question.

A folder holds ``corpus.jsonl`` and ``queries.jsonl`` (an object per line: ``_id``, ``text``, of a
text also ``title``) and ``qrels/SPLIT.tsv`` (a header, then question, text, grade). Taught in
``17_search``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..core import DamagedFile, check_choice, existing_path
from .records import Documents, RetrievalSet

__all__ = ["read_beir", "retrieval_set"]

ENDINGS = ("", ".gz")                            # the hub hands them out packed


def read_beir(folder: str | os.PathLike, split: str = "test") -> RetrievalSet:
    """Read a retrieval set from a folder in the form of BEIR.

    Parameters
    ----------
    folder : path
        With ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/``; each file may end in ``.gz``.
    split : str, default "test"
        Name of a file in ``qrels``: "train", "dev" or "test", as far as there is one.

    Returns
    -------
    RetrievalSet
        Title and text of each document in one, as BEIR's own program searches them; titles and ids
        beside them. Questions in the order of their file, without those that nothing answers.

    Raises
    ------
    FileNotFoundError
        The folder, or one of its files.
    ValueError
        A split that is not there.
    DamagedFile
        With file and line: no JSON, a field is missing, an id stands twice or nowhere, a grade is
        no number.
    """
    from .readers import json_lines, table       # `load` needs the rest of this file only

    folder = existing_path(folder)
    splits = {path.name.split(".tsv")[0]: path for path in sorted(folder.glob("qrels/*.tsv*"))
              if path.name.endswith(tuple(".tsv" + end for end in ENDINGS))}
    if not splits:
        raise FileNotFoundError(f"{folder / 'qrels'} holds no .tsv file; expected a folder with "
                                "corpus.jsonl, queries.jsonl and qrels/test.tsv")
    grades = splits[check_choice("split", split, splits)]
    corpus, queries = (_one_of(folder, name) for name in ("corpus.jsonl", "queries.jsonl"))
    texts = _read(corpus, json_lines, {"id": "_id", "title": "title", "text": "text"})
    asked = _read(queries, json_lines, {"id": "_id", "text": "text"})
    given = _read(grades, table, {"question": "query-id", "document": "corpus-id",
                                  "grade": "score"})
    return retrieval_set(texts, asked, given, name=folder.resolve().name, split=split,
                         what=f"{grades}, row")


def _one_of(folder: Path, name: str) -> Path:
    """A file, plain or packed. Raises FileNotFoundError."""
    paths = [folder / (name + end) for end in ENDINGS]
    return next(filter(Path.is_file, paths), None) or existing_path(paths[0])


def _read(path: Path, reader: Callable[..., Iterable[dict[str, str]]],
          columns: Mapping[str, str]) -> dict[str, list[str]]:
    """The cells of one file by our names for its columns."""
    from .readers import Files

    rows = reader(Files({str(path): path}), {"files": [str(path)], "columns": columns})
    read = list(rows)
    return {name: [row[name] for row in read] for name in columns}


def retrieval_set(texts: Mapping[str, Sequence[str]], asked: Mapping[str, Sequence[str]],
                  given: Mapping[str, Sequence[str]], *, name: str, split: str,
                  what: str) -> RetrievalSet:
    """Documents (id, title, text), questions (id, text) and grades (question, document, grade), by
    columns, as one set. Raises DamagedFile, with ``what`` and the row of the grade."""
    row_of = _rows_by_id("document", texts["id"])
    place_of = _rows_by_id("question", asked["id"])
    relevant: list[dict[int, float]] = [{} for _ in place_of]
    cells = zip(given["question"], given["document"], given["grade"], strict=True)
    for number, (question, document, text) in enumerate(cells, start=1):
        for kind, key, known in (("question", question, place_of), ("document", document, row_of)):
            if key not in known:
                raise DamagedFile(f"{what} {number}: no {kind} has the id {key!r}")
        try:
            grade = float(text)
        except ValueError:
            grade = math.nan
        if not math.isfinite(grade):
            raise DamagedFile(f"{what} {number}: grade {text!r}; expected a number")
        if grade > 0:
            relevant[place_of[question]][row_of[document]] = grade
    kept = [i for i, grades in enumerate(relevant) if grades]
    joined = [f"{title} {text}".strip()
              for title, text in zip(texts["title"], texts["text"], strict=True)]
    documents = Documents(joined, titles=list(texts["title"]), columns={"id": list(texts["id"])})
    return RetrievalSet([asked["text"][i] for i in kept], [relevant[i] for i in kept], documents,
                        name, split, {"id": [asked["id"][i] for i in kept]})


def _rows_by_id(kind: str, ids: Iterable[str]) -> dict[str, int]:
    """The row of each id. Raises DamagedFile for one that stands twice."""
    rows: dict[str, int] = {}
    for row, key in enumerate(ids):
        if rows.setdefault(key, row) != row:
            raise DamagedFile(f"{kind} {row + 1} has the id {key!r}, as {kind} {rows[key] + 1}; "
                              "expected each once")
    return rows
