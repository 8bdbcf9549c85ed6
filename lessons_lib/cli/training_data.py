"""What ``lessons train simcse|sbert|cosent`` learns from: datasets by name and files, brought into
the columns that a method needs.

A text file holds a sentence per line. A table (``.tsv``, also compressed) has a line of column
names: sentence1, sentence2, score; sentence1, sentence2, label; or premise, entailment,
contradiction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core import shown
from .options import unknown_source
from .training import read_texts

__all__ = ["CONVERTERS", "dev_pairs", "records"]

TABLES = (".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.xz")
ORDINAL = {"contradiction": 0, "neutral": 1, "entailment": 2}


def records(sources: Sequence[str], *, split: str = "train") -> list[Any]:
    """A record for each source.

    Raises FileNotFoundError (neither a file nor a dataset), DataMissing, DamagedFile, ValueError.
    """
    from ..datasets import Documents, dataset_names, load, registered

    result = []
    for source in sources:
        if Path(source).is_file():
            if source.endswith(TABLES):
                result.append(_table(Path(source)))
                continue
            texts = [text for text in read_texts([source]) if text.strip()]
            result.append(Documents(texts, name=Path(source).name))
        elif source in dataset_names():
            result.append(load(source, split=split if split in registered(source).splits else None))
        else:
            raise unknown_source(source, dataset_names())
    return result


def dev_pairs(source: str) -> Any:
    """Graded pairs to watch training by: the dev part of a dataset, or a table; None for "none"."""
    if source == "none":
        return None
    result = records([source], split="dev")[0]
    if type(result).__name__ != "SentencePairs":
        raise ValueError(f"--dev {source} holds {type(result).__name__}; expected graded pairs, "
                         "such as stsb or course-sts, or none")
    return result


def _table(path: Path) -> Any:
    """A table by its column names."""
    from ..datasets import LabelledPairs, SentencePairs, Triplets
    from ..datasets.tables import read_table

    table = read_table(path, ())
    columns = table.columns
    if {"premise", "entailment", "contradiction"} <= set(columns):
        return Triplets(*(table[name] for name in ("premise", "entailment", "contradiction")),
                        name=path.name)
    if {"sentence1", "sentence2", "score"} <= set(columns):
        score = table.numbers("score")
        scale = (0.0, 1.0 if score.max(initial=0) <= 1 else 5.0)
        return SentencePairs(table["sentence1"], table["sentence2"], score, name=path.name,
                             scale=scale)
    if {"sentence1", "sentence2", "label"} <= set(columns):
        return LabelledPairs(table["sentence1"], table["sentence2"], table["label"],
                             [path.name] * len(table))
    raise ValueError(f"{path} has the columns {', '.join(columns) or 'none'}; expected sentence1, "
                     "sentence2 and score or label; or premise, entailment, contradiction")


def _texts_of(record: Any) -> list[str]:
    names = [name for name in ("texts", "sentence1", "sentence2", "premise", "entailment",
                               "contradiction") if hasattr(record, name)]
    if names:
        return [text for name in names for text in getattr(record, name)]
    try:
        return list(record)                       # articles and lines that are streamed
    except TypeError:
        raise ValueError(f"{type(record).__name__} holds no sentences; expected documents, pairs "
                         "or triplets") from None


def sentences(parts: list[Any]) -> list[str]:
    """Every different sentence once, whatever else the records say."""
    return list(dict.fromkeys(text for record in parts for text in _texts_of(record)))


def triplets(parts: list[Any]) -> tuple[list[str], list[str], list[str]]:
    """Premises, what follows from them, what contradicts them."""
    columns: tuple[list[str], list[str], list[str]] = ([], [], [])
    for record in parts:
        if not hasattr(record, "contradiction"):
            raise ValueError(f"{type(record).__name__} holds no triplets; expected premise, "
                             "entailment, contradiction, as the dataset nli has them")
        for column, name in zip(columns, ("premise", "entailment", "contradiction"), strict=True):
            column += getattr(record, name)
    return columns


def labelled(parts: list[Any]) -> tuple[list[str], list[str], list[Any]]:
    """Pairs with their class; of triplets the two classes that they hold."""
    first, second, labels = [], [], []
    for record in parts:
        if hasattr(record, "contradiction"):
            for name in ("entailment", "contradiction"):
                first += record.premise
                second += getattr(record, name)
                labels += [name] * len(record)
        elif hasattr(record, "label"):
            first += record.sentence1
            second += record.sentence2
            labels += np.asarray(record.label).tolist()
        else:
            raise ValueError(f"{type(record).__name__} holds no labelled pairs; expected "
                             "sentence1, sentence2, label, as the dataset nli-pairs has")
    return first, second, labels


def graded(parts: list[Any]) -> tuple[list[str], list[str], np.ndarray]:
    """Pairs with a grade from 0 to 1; classes of inference in the order of `ORDINAL`."""
    first, second, grades = [], [], []
    for record in parts:
        if hasattr(record, "score"):
            low, high = record.scale
            values = ((record.score - low) / (high - low)).tolist()
        elif hasattr(record, "label") and len(record):
            given = [ORDINAL.get(label, label) for label in np.asarray(record.label).tolist()]
            try:
                values = np.asarray(given, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"labels such as {shown(given[0])} have no order; expected "
                                 f"numbers, or {', '.join(ORDINAL)}") from None
            values = ((values - values.min()) / max(1.0, float(np.ptp(values)))).tolist()
        else:
            raise ValueError(f"{type(record).__name__} holds no graded pairs; expected sentence1, "
                             "sentence2, score, as the dataset stsb has them")
        first += record.sentence1
        second += record.sentence2
        grades += values
    return first, second, np.array(grades)


CONVERTERS: dict[str, Callable[[list[Any]], Any]] = {
    "simcse": sentences, "supervised simcse": triplets, "sbert": labelled,
    "sbert triplet": triplets, "sbert cosine": graded, "cosent": graded,
    "distil": sentences}
