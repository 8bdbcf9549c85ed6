"""Loads what is known about single words: graded pairs, analogy questions, counts, pretrained vectors.

The word-similarity table holds many sets under a label each, and may hold more than the manifest knows; labels are compared without
case and hyphens. Others' vectors come from ``.npz`` files without pickle, their promised sizes checked first; the course's own from safetensors with
a card. Used from lesson 04 on.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..core import PROJECT, DamagedFile, DataMissing, check_choice
from ..vectors import WordVectors, read_compact
from .records import WordCounts, WordPairs
from .rows import Request
from .tables import read_table

__all__ = ["course_vectors", "read_npz", "vectors", "word_counts", "word_pairs"]

MAX_ARRAY_BYTES = 1 << 31


def _plain(label: str) -> str:
    return re.sub(r"\W|_", "", label.casefold())


def _label_in(request: Request, labels: list[str]) -> str:
    """The label of the wanted set as the table spells it."""
    dataset, path = request.dataset, request.paths[0]
    wanted = dataset.label or request.chosen.get("dataset")
    if wanted is None:
        raise ValueError(f"dataset=None is not enough for {dataset.name}; choose one: {', '.join(map(repr, labels))}")
    found = next((label for label in labels if _plain(label) == _plain(wanted)), None)
    if found is None and dataset.label:
        raise DataMissing(f"{dataset.name} is not in {path}: no rows labelled {wanted!r}. Sets that are there: {', '.join(labels)}")
    return found if found is not None else check_choice("dataset", wanted, labels)


def word_pairs(request: Request) -> WordPairs:
    """The set of the table that bears the dataset's label. Raises DataMissing or ValueError with the labels that are there."""
    table = read_table(request.paths[0], ("dataset", "word1", "word2", "score"))
    label = _label_in(request, list(dict.fromkeys(table["dataset"])))
    table = table.where("dataset", label)
    name = request.dataset.name if request.dataset.label else label
    return WordPairs(table["word1"], table["word2"], table.numbers("score"), name=name, scale=request.dataset.scale)


def word_counts(request: Request) -> WordCounts:
    """Words with their counts."""
    table = read_table(request.paths[0], ("word", "count"))
    return WordCounts(table["word"], table.numbers("count").astype(np.int64), name=request.dataset.name)


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> np.ndarray:
    """One array of an archive, after its header's promise was compared with the bytes that are there."""
    if info.file_size > MAX_ARRAY_BYTES:
        raise DamagedFile(f"{path}: {info.filename} says it holds {info.file_size:,} bytes; expected at most {MAX_ARRAY_BYTES:,}")
    data = archive.read(info)
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(stream)
    promised = int(np.prod([int(n) for n in shape], dtype=object)) * dtype.itemsize
    if dtype.hasobject or promised != len(data) - stream.tell():
        raise DamagedFile(f"{path}: {info.filename} promises {promised:,} bytes of {dtype} and holds {len(data) - stream.tell():,}")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def read_npz(path: Path, names: Sequence[str]) -> list[np.ndarray]:
    """The named arrays of an ``.npz`` file. Raises DamagedFile for anything else than whole arrays of numbers or strings under these names."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {Path(info.filename).stem: info for info in archive.infolist()}
            if absent := [name for name in names if name not in members]:
                raise DamagedFile(f"{path} has no array {absent[0]!r}; found {', '.join(members) or 'none'}, needed {', '.join(names)}")
            return [_read_array(archive, members[name], path) for name in names]
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, ValueError, RuntimeError) as error:
        if isinstance(error, DamagedFile):
            raise
        raise DamagedFile(f"{path} is no whole .npz file: {error}") from error


def vectors(request: Request) -> WordVectors:
    """Words and float32 vectors from arrays ``words`` (UTF-8 bytes) and ``vectors``."""
    words, matrix = read_npz(request.paths[0], ("words", "vectors"))
    try:
        decoded = [bytes(word).decode("utf-8") for word in words.tolist()]
        return WordVectors(decoded, matrix, name=request.dataset.name)
    except (UnicodeDecodeError, TypeError, ValueError) as error:
        raise DamagedFile(f"{request.paths[0]}: words are no UTF-8 bytes, or do not fit the vectors: {error}") from error


def course_vectors(request: Request) -> WordVectors:
    """The vectors that this course trained; the error for a damaged file says where another one is."""
    file, card = request.paths
    try:
        return read_compact(file, card=card)
    except DamagedFile as error:
        own = file.is_relative_to(PROJECT / "data")
        remedy = f"git checkout {file.relative_to(PROJECT).parent.as_posix()}" if own else "remove it, then the project's own is read"
        raise DamagedFile(f"{error}: {remedy}") from error
