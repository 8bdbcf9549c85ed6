"""`load`: one name in, one record out, wherever on this machine the data lies.

The arguments are checked before any file is opened, and nothing touches the network unless
``download=True``. Below it, a loader per kind of data. Used by every lesson; introduced in
``00_start_here``.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import (PROJECT, DamagedFile, DataMissing, check_choice, check_int, read_json, shown,
                    unknown_keyword)
from ..vectors import WordVectors, read_compact
from .beir import retrieval_set
from .records import (Analogies, ContextualStatistics, Documents, LabelledPairs, Questions,
                      RetrievalSet, SentencePairs, SpaceStatistics, StreamedDocuments, Triplets,
                      WordCounts, WordPairs, WordPieces)
from .registry import Dataset, RegisteredFile, registered
from .resolve import bundled_files, find_all, missing, packaged_files, place_of
from .tables import Table, iterate_lines, read_table, read_text
from .wikipedia import sample_of

__all__ = ["load"]

MAX_ARRAY_BYTES = 1 << 31
ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}


@dataclass(frozen=True)
class _Request:
    """One call of ``load`` after its arguments were checked and its files found; ``chosen`` is a
    value by column."""

    dataset: Dataset
    paths: tuple[Path, ...]
    split: str
    chosen: dict[str, str]

    @property
    def named(self) -> dict[str, str]:
        """What a record of texts is told about itself."""
        return {"name": self.dataset.name, "split": self.split}


def load(name: str, split: str | None = None, *, download: bool = False, **selection: Any) -> Any:
    """Load a dataset by name as a small frozen record.

    Looks in the folder LESSONS_DATA names, then ``data/``, what gensim ships, the cache; for
    weights (glove-6b-50d, minilm) in the folder of their package, of whose code nothing is run.

    Parameters
    ----------
    name : str
        See ``dataset_names()``.
    split : {"train", "dev", "test", "all"}, optional
        Where the set has it. None: "test" for graded sentence pairs and questions, "train" for
        lee and course-nli, else "all".
    download : bool, default False
        Fetch missing files into the cache first.
    **selection : str
        A filter the set has: ``dataset=`` (zh-pairs, nli-pairs, word-similarity), ``task=``
        (senteval), ``source=`` (nli), ``shards=`` (wiki; a list of int), ``model=`` and
        ``statistic=`` (contextual-statistics), ``model=`` (course-vectors: "skip-gram", "glove"),
        ``kind=`` (course-questions: "words", "name", "paraphrase").

    Returns
    -------
    a record, as the kind of the set
        SentencePairs, LabelledPairs, Triplets, Documents, StreamedDocuments, Questions,
        RetrievalSet, WordPairs, Analogies, WordCounts, vectors.WordVectors, ContextualStatistics,
        SpaceStatistics or WordPieces; the folder (Path) of a model.

    Raises
    ------
    ValueError, TypeError : an argument
    DataMissing : with the command that gets it
    DamagedFile, DownloadFailed : with path or address
    """
    dataset = registered(name)
    if not isinstance(download, bool):
        got = f"download={shown(download)} is {type(download).__name__}"
        raise TypeError(f"{got}; expected True or False")
    chosen = _checked_selection(dataset, selection)
    split = _checked_part(dataset, split, chosen)
    shards = chosen.pop("shards", None)
    files = dataset.files_of(split) if shards is None else _checked_shards(dataset, shards)
    try:
        paths, loader = _paths(dataset, files, split)
    except DataMissing:
        if not download:
            raise
        from .catalogue import get

        get(name, files=files)
        paths, loader = _paths(dataset, files, split)
    return loader(_Request(dataset, tuple(paths), split, chosen))


def _checked_selection(dataset: Dataset, selection: dict[str, Any]) -> dict[str, Any]:
    for key in selection:
        if key not in dataset.filters:
            allowed = ("split", "download", *dataset.filters)
            raise unknown_keyword(f"load({dataset.name!r})", key, allowed)
    given = {key: value for key, value in selection.items() if value is not None}
    for key, value in given.items():
        if key != "shards" and not isinstance(value, str):
            raise TypeError(f"{key}={shown(value)} is {type(value).__name__}; expected a str")
    return given


def _checked_part(dataset: Dataset, split: str | None, chosen: dict[str, Any]) -> str:
    """The split, or what stands in its place: a set whose parts are models takes ``model=``, which
    is taken out of ``chosen``."""
    if not dataset.part_by:
        return dataset.checked_split(split)
    if split is not None:
        raise ValueError(
            f"split={shown(split)} is not possible for {dataset.name}, which has no splits; choose "
            f"{dataset.part_by}={' or '.join(map(repr, dataset.splits))}")
    part = chosen.pop(dataset.part_by, dataset.default)
    return check_choice(dataset.part_by, part, dataset.splits)


def _checked_shards(dataset: Dataset, shards: Any) -> tuple[RegisteredFile, ...]:
    """The files of numbered shards. A number beyond the manifest's is a file of the same naming
    that may have been added."""
    if isinstance(shards, (str, bytes)) or not isinstance(shards, Sequence) or not shards:
        got = f"shards={shown(shards)} is {type(shards).__name__}"
        raise TypeError(f"{got}; expected a list of shard numbers, such as [0]")
    pattern = dataset.files[0].path.replace("_0.", "_{}.")
    numbers = [check_int(f"shards[{i}]", number, low=0) for i, number in enumerate(shards)]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"shards={shown(shards)} names a shard twice; expected different numbers")
    known = {file.path: file for file in dataset.files}
    paths = map(pattern.format, numbers)
    return tuple(known.get(path, RegisteredFile(path)) for path in paths)


def _paths(dataset: Dataset, files: tuple[RegisteredFile, ...],
           split: str) -> tuple[list[Path], Callable[[_Request], Any]]:
    """Where to read from, and who reads it: packages ship some sets in another form than ours."""
    if dataset.packaged:
        return packaged_files(dataset), BUNDLED_LOADERS[dataset.kind]
    if place_of(dataset, files) == "gensim":
        return bundled_files(dataset), BUNDLED_LOADERS.get(dataset.kind) or LOADERS[dataset.kind]
    if not files:
        raise missing(dataset, files)
    return find_all(dataset, files, split=split), LOADERS[dataset.kind]


# ------------------------------------------------------------------------------------- sentences


def _rows(request: _Request, path: Path, columns: Sequence[str], *,
          filters: Sequence[str] | None = None) -> Table:
    """The rows of a table that were asked for: of one split, and with the chosen value in each
    column of ``filters`` (None: all that were chosen). Raises as `read_table`; ValueError for a
    value that does not occur; DataMissing for a split without a row: it is known but not in this
    table, which is no mistake of the caller."""
    by_split = request.dataset.in_column and request.split != "all"
    names = list(request.chosen) if filters is None else list(filters)
    table = read_table(path, [*columns, *names, *(["split"] if by_split else [])])
    for name in names:
        table = table.where(name, request.chosen[name])
    if not by_split:
        return table
    present = sorted(set(table["split"]))
    if request.split not in present:
        where = "".join(f", {name}={request.chosen[name]!r}" for name in names)
        there = ", ".join(map(repr, dict.fromkeys([*present, "all"])))
        raise DataMissing(
            f"{request.dataset.name}{where} has no rows with split={request.split!r} in {path}; "
            f"splits that are there: {there}")
    return table.where("split", request.split)


def _joined(tables: Sequence[Table]) -> dict[str, list[str]]:
    """The columns that all tables have, end to end."""
    shared = [name for name in tables[0].columns if all(name in table.columns for table in tables)]
    return {name: [cell for table in tables for cell in table[name]] for name in shared}


def _sentence_pairs(request: _Request) -> SentencePairs:
    needed = ("score", "sentence1", "sentence2")
    tables = [_rows(request, path, needed) for path in request.paths]
    columns = _joined(tables)
    _, first, second = (columns.pop(name) for name in needed)
    scores = np.concatenate([table.numbers("score") for table in tables])
    subset = columns.pop("subset", None)
    more = {"scale": request.dataset.scale, "subset": subset, "columns": columns}
    return SentencePairs(first, second, scores, **request.named, **more)


def _triplets(request: _Request) -> Triplets:
    needed = ("premise", "entailment", "contradiction")
    columns = _joined([_rows(request, path, needed) for path in request.paths])
    return Triplets(*map(columns.pop, needed), **request.named, columns=columns)


def _labelled_pairs(request: _Request) -> LabelledPairs:
    """Pairs of several sets in one table, told apart by the column ``dataset``."""
    needed = ("sentence1", "sentence2", "label", "dataset")
    columns = _joined([_rows(request, path, needed) for path in request.paths])
    first, second, label, dataset = map(columns.pop, needed)
    with contextlib.suppress(ValueError):  # names, not numbers
        label = np.array([int(value) for value in label], dtype=np.int64)
    return LabelledPairs(first, second, label, dataset, **request.named, columns=columns)


def _nli_pairs(request: _Request) -> LabelledPairs:
    """Premise and hypothesis with their label; one file per source, which becomes ``dataset``."""
    needed = ("premise", "hypothesis", "label")
    paths = {path.name.split(".")[0]: path for path in request.paths}
    if "dataset" in request.chosen:
        source = check_choice("dataset", request.chosen["dataset"], paths)
        paths = {source: paths[source]}
    tables, nothing = {}, None
    for source, path in paths.items():
        try:
            tables[source] = _rows(request, path, needed, filters=())
        except DataMissing as error:
            nothing = error  # of this split in this source; it matters where no source has it
    if not tables:
        raise nothing
    sources = [source for source, table in tables.items() for _ in range(len(table))]
    columns = _joined(list(tables.values()))
    return LabelledPairs(*map(columns.pop, needed), sources, **request.named, columns=columns)


def _questions(request: _Request) -> Questions:
    """One row for each place that answers; further places of a question follow the first."""
    table = _rows(request, request.paths[0], ("question", "kind", "article", "answer"))
    places: dict[str, list[tuple[str, str]]] = {}
    kinds = dict(zip(table["question"], table["kind"], strict=True))
    cells = (table[name] for name in ("question", "article", "answer"))
    for question, title, quote in zip(*cells, strict=True):
        places.setdefault(question, []).append((title, quote))
    return Questions(list(places), list(map(tuple, places.values())), **request.named,
                     columns={"kind": list(kinds.values())})


def _retrieval(request: _Request) -> RetrievalSet:
    """Documents, questions, and the grades of one split or of all, in three tables."""
    documents, questions, answers = request.paths
    return retrieval_set(
        read_table(documents, ("id", "title", "text")), read_table(questions, ("id", "text")),
        _rows(request, answers, ("question", "document", "grade")), **request.named,
        what=f"{answers}, row")


# ------------------------------------------------------------------------------------- documents


def _documents(request: _Request) -> Documents:
    """Texts with labels, which become indices into the sorted names, and titles where there are."""
    dataset, column = request.dataset, request.dataset.columns
    table = _rows(request, request.paths[0], list(column.values()))
    texts, labels = table[column["text"]], table[column["label"]]
    if "task" in dataset.filters and "task" not in request.chosen:  # label "1" of two tasks is two
        labels = [f"{task}/{label}" for task, label in zip(table["task"], labels, strict=True)]
    names, codes = np.unique(np.array(labels, dtype=np.str_), return_inverse=True)
    if dataset.escaped:  # one line per text; any other backslash stays
        texts = [re.sub(r"\\[nt\\]", lambda escape: ESCAPES[escape[0]], text) for text in texts]
    titles = table[column["title"]] if "title" in column else None
    rest = {name: cells for name, cells in table.columns.items() if name not in column.values()}
    return Documents(texts, codes, titles, tuple(names.tolist()), **request.named, columns=rest)


def _articles(path: Path) -> Iterator[str]:
    """Texts between blank lines, their lines joined by a newline."""
    for filled, lines in itertools.groupby(iterate_lines(path), key=bool):
        if filled:
            yield "\n".join(lines)


def _streamed(read: Callable[[Path], Iterator[str]]) -> Callable[[_Request], StreamedDocuments]:
    def loader(request: _Request) -> StreamedDocuments:
        by_name = {Path(file.path).name: file for file in request.dataset.files}
        files = [by_name.get(path.name, RegisteredFile("")) for path in request.paths]
        promised = all(file.texts and file.bytes == path.stat().st_size
                       for file, path in zip(files, request.paths, strict=True))
        known = sum(file.texts for file in files) if promised else None
        return StreamedDocuments(request.paths, read, known, **request.named)
    return loader


def _lee(request: _Request) -> Documents:
    """Background documents (train) or the 50 compared ones (test), one per line, in Latin-1."""
    background, compared = request.paths
    encodings = {"train": [(background, "utf-8")], "test": [(compared, "latin-1")]}
    files = encodings.get(request.split) or [*encodings["train"], *encodings["test"]]
    lines = (line for path, encoding in files for line in iterate_lines(path, encoding=encoding))
    return Documents(list(filter(None, lines)), **request.named)


# ----------------------------------------------------------------------------------------- words


def _word_pairs(request: _Request) -> WordPairs:
    """The set of a table of many that bears the dataset's label, or the chosen one. Labels are
    compared without case and hyphens; the table may hold more than the manifest knows."""
    dataset, path = request.dataset, request.paths[0]
    table = read_table(path, ("dataset", "word1", "word2", "score"))
    labels = list(dict.fromkeys(table["dataset"]))
    wanted = dataset.label or request.chosen.get("dataset")
    if wanted is None:
        raise ValueError(f"dataset=None is not enough for {dataset.name}; choose one: "
                         f"{', '.join(map(repr, labels))}")
    spelled = {re.sub(r"\W|_", "", label.casefold()): label for label in reversed(labels)}
    label = spelled.get(re.sub(r"\W|_", "", wanted.casefold()))
    if label is None and dataset.label:
        raise DataMissing(
            f"{dataset.name} is not in {path}: no rows labelled {wanted!r}. Sets that are there: "
            f"{', '.join(labels)}")
    table = table.where("dataset", wanted if label is None else label)
    name = dataset.name if dataset.label else label
    scores = table.numbers("score")
    return WordPairs(table["word1"], table["word2"], scores, name=name, scale=dataset.scale)


def _word_pairs_of_gensim(request: _Request) -> WordPairs:
    """Word, word, score in three columns; lines beginning with # are remarks."""
    path, rows = request.paths[0], []
    for number, line in enumerate(iterate_lines(path), start=1):
        fields = line.split("\t")
        if not line or line.startswith("#"):
            continue
        if len(fields) != 3:
            where = f"{path}, line {number}: {len(fields)} fields"
            raise ValueError(f"{where}; expected 3: word, word, score")
        rows.append(fields)
    first, second, scores = (list(column) for column in zip(*rows, strict=True))
    name, scale = request.dataset.name, request.dataset.scale
    return WordPairs(first, second, np.array(scores, dtype=np.float64), name=name, scale=scale)


def _analogies(request: _Request) -> Analogies:
    """Four words per line, under section lines that begin with a colon."""
    path, questions, sections, section = request.paths[0], [], [], ""
    for number, line in enumerate(iterate_lines(path), start=1):
        words = line.split()
        if line.startswith(":"):
            section = line[1:].strip()
        elif words:
            if len(words) != 4:
                raise ValueError(f"{path}, line {number}: {len(words)} words; expected 4")
            questions.append(words)
            sections.append(section)
    return Analogies(np.array(questions, dtype=np.str_), sections, name=request.dataset.name)


def _word_counts(request: _Request) -> WordCounts:
    table = read_table(request.paths[0], ("word", "count"))
    counts = table.numbers("count").astype(np.int64)
    return WordCounts(table["word"], counts, name=request.dataset.name)


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> np.ndarray:
    """One array of an archive, after its header's promise was compared with the bytes there."""
    what, form = f"{path}: {info.filename}", np.lib.format
    if info.file_size > MAX_ARRAY_BYTES:
        size = f"{info.file_size:,} bytes; expected at most {MAX_ARRAY_BYTES:,}"
        raise DamagedFile(f"{what} says it holds {size}")
    stream = io.BytesIO(data := archive.read(info))
    old = form.read_magic(stream) == (1, 0)
    header = form.read_array_header_1_0 if old else form.read_array_header_2_0
    shape, _, dtype = header(stream)
    promised = int(np.prod([int(n) for n in shape], dtype=object)) * dtype.itemsize
    there = len(data) - stream.tell()
    if dtype.hasobject or promised != there:
        raise DamagedFile(f"{what} promises {promised:,} bytes of {dtype} and holds {there:,}")
    stream.seek(0)
    return form.read_array(stream, allow_pickle=False)


def _vectors(request: _Request) -> WordVectors:
    """Words and float32 vectors from arrays ``words`` (UTF-8 bytes) and ``vectors`` of an ``.npz``
    file. Raises DamagedFile for anything but whole arrays of numbers or strings."""
    path, needed = request.paths[0], ("words", "vectors")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {Path(info.filename).stem: info for info in archive.infolist()}
            if absent := [name for name in needed if name not in members]:
                there = f"found {', '.join(members) or 'none'}, needed {', '.join(needed)}"
                raise DamagedFile(f"{path} has no array {absent[0]!r}; {there}")
            words, matrix = (_read_array(archive, members[name], path) for name in needed)
    except DamagedFile:
        raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, ValueError,
            RuntimeError) as error:  # NotImplementedError is a RuntimeError
        raise DamagedFile(f"{path} is no whole .npz file: {error}") from error
    try:
        decoded = [bytes(word).decode("utf-8") for word in words.tolist()]
        return WordVectors(decoded, matrix, name=request.dataset.name)
    except (TypeError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        why = "words are no UTF-8 bytes, or do not fit the vectors"
        raise DamagedFile(f"{path}: {why}: {error}") from error


def _packaged_vectors(request: _Request) -> WordVectors:
    """Words and vectors from an ``.npy`` file and a list of its rows' words. Its checksum holds, so
    its form is known."""
    matrix, words = request.paths
    return WordVectors(list(iterate_lines(words)), np.load(matrix), name=request.dataset.name)


def _course_vectors(request: _Request) -> WordVectors:
    """The vectors that this course trained; of a damaged file, where another one is."""
    file, card = request.paths
    try:
        return read_compact(file, card=card)
    except DamagedFile as error:
        remedy = "remove it, then the project's own is read"
        if file.is_relative_to(PROJECT / "data"):
            remedy = f"git checkout {file.relative_to(PROJECT).parent.as_posix()}"
        raise DamagedFile(f"{error}: {remedy}") from error


# ---------------------------------------------------------------------------------------- models


def _model_folder(request: _Request) -> Path:
    """The folder of a model that comes with the course, which other rooms know how to read."""
    folders = sorted({path.parent for path in request.paths})
    if len(folders) > 1:
        raise DataMissing(
            f"the files of {request.dataset.name} lie in {len(folders)} folders, {folders[0]} and "
            f"{folders[1]}; a model is read from one: put them together, or remove those of the "
            "first")
    return folders[0]


def _contextual_statistics(request: _Request) -> ContextualStatistics:
    table = _rows(request, request.paths[0], ("model", "statistic", "word", "layer", "value"))
    model, statistic = (np.array(table[name], dtype=np.str_) for name in ("model", "statistic"))
    return ContextualStatistics(
        model, statistic, table["word"], table.numbers("layer").astype(np.int64),
        table.numbers("value"), name=request.dataset.name)


def _space_statistics(request: _Request) -> SpaceStatistics:
    """Model → statistic → one number per layer. Raises DamagedFile for JSON of another form."""
    path = request.paths[0]
    try:
        values = {model: {name: np.array([layers[f"layer_{i}"] for i in range(len(layers))],
                                         dtype=np.float64) for name, layers in entry.items()}
                  for model, entry in read_json(path).items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, DamagedFile):
            raise
        raise DamagedFile(f"{path} is not model → statistic → layer_0, layer_1, …: "
                          f"{type(error).__name__} {error}") from error
    return SpaceStatistics(values, name=request.dataset.name)


def _word_pieces(request: _Request) -> WordPieces:
    pieces = [line.removesuffix("\r") for line in read_text(request.paths[0]).split("\n")]
    settings = read_json(request.paths[1])
    if not isinstance(settings, dict):
        what = f"{request.paths[1]} holds {type(settings).__name__}"
        raise DamagedFile(f"{what}; expected settings by name")
    return WordPieces(pieces if pieces[-1] else pieces[:-1], settings, name=request.dataset.name)


LOADERS: dict[str, Callable[[_Request], Any]] = {
    "sentence pairs": _sentence_pairs, "triplets": _triplets, "labelled pairs": _labelled_pairs,
    "nli pairs": _nli_pairs, "questions": _questions, "retrieval": _retrieval,
    "documents": _documents, "lee": _lee, "word pairs": _word_pairs, "analogies": _analogies,
    "word counts": _word_counts, "vectors": _vectors, "course vectors": _course_vectors,
    "model": _model_folder, "word pieces": _word_pieces,
    "contextual statistics": _contextual_statistics, "space statistics": _space_statistics,
    "streamed articles": _streamed(_articles),
    "streamed lines": _streamed(lambda path: filter(None, iterate_lines(path))),
    "wikipedia sample": lambda request: Documents(**sample_of(request.paths[0]), **request.named)}
BUNDLED_LOADERS = {"word pairs": _word_pairs_of_gensim, "vectors": _packaged_vectors,
                   "model": lambda request: request.paths[0].parent}
