"""`load`: one name in, one record out, wherever on this machine the data lies.

The arguments are checked before any file is opened, and nothing touches the network unless ``download=True``. Used by every lesson;
introduced in ``00_start_here``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..core import DataMissing, check_choice, check_int, shown, unknown_keyword
from . import bundled, contextual, documents, models, pairs, streams, words
from .registry import Dataset, RegisteredFile, registered
from .resolve import bundled_files, find_all, missing, place_of
from .rows import Request

__all__ = ["load"]

LOADERS: dict[str, Callable[[Request], Any]] = {
    "sentence pairs": pairs.sentence_pairs, "labelled pairs": pairs.labelled_pairs, "nli pairs": pairs.nli_pairs,
    "triplets": pairs.triplets, "documents": documents.documents, "streamed articles": streams.streamed_articles,
    "streamed lines": streams.streamed_lines, "word pairs": words.word_pairs, "word counts": words.word_counts, "vectors": words.vectors,
    "course vectors": words.course_vectors, "model": models.model_folder,
    "contextual statistics": contextual.contextual_statistics, "space statistics": contextual.space_statistics,
    "word pieces": contextual.word_pieces, "wikipedia sample": bundled.wikipedia_sample, "lee": bundled.lee, "analogies": bundled.analogies}
BUNDLED_LOADERS = {"word pairs": bundled.word_pairs_of_gensim}


def _checked_shards(dataset: Dataset, shards: Any) -> tuple[RegisteredFile, ...]:
    """The files of numbered shards. A number beyond the manifest's is a file of the same naming that may have been added."""
    if isinstance(shards, (str, bytes)) or not isinstance(shards, Sequence) or not shards:
        raise TypeError(f"shards={shown(shards)} is {type(shards).__name__}; expected a list of shard numbers, such as [0]")
    pattern = dataset.files[0].path.replace("_0.", "_{}.")
    by_path = {file.path: file for file in dataset.files}
    paths = [pattern.format(check_int(f"shards[{i}]", number, low=0)) for i, number in enumerate(shards)]
    if len(set(paths)) < len(paths):
        raise ValueError(f"shards={shown(shards)} names a shard twice; expected different numbers")
    return tuple(by_path.get(path, RegisteredFile(path)) for path in paths)


def _checked_selection(dataset: Dataset, selection: dict[str, Any]) -> dict[str, Any]:
    for key in selection:
        if key not in dataset.filters:
            raise unknown_keyword(f"load({dataset.name!r})", key, ("split", "download", *dataset.filters))
    given = {key: value for key, value in selection.items() if value is not None}
    for key, value in given.items():
        if key != "shards" and not isinstance(value, str):
            raise TypeError(f"{key}={shown(value)} is {type(value).__name__}; expected a str")
    return given


def _checked_part(dataset: Dataset, split: str | None, chosen: dict[str, Any]) -> str:
    """The split, or what stands in its place: a set whose parts are models takes ``model=``, which is taken out of ``chosen``."""
    if not dataset.part_by:
        return dataset.checked_split(split)
    part = chosen.pop(dataset.part_by, dataset.default)
    if split is not None:
        raise ValueError(f"split={shown(split)} is not possible for {dataset.name}, which has no splits; choose {dataset.part_by}="
                         f"{' or '.join(map(repr, dataset.splits))}")
    return check_choice(dataset.part_by, part, dataset.splits)


def _paths(dataset: Dataset, files: tuple[RegisteredFile, ...], split: str) -> tuple[tuple[Path, ...], bool]:
    """Where to read from, and whether that is what gensim ships."""
    if place_of(dataset, files) == "gensim":
        return tuple(bundled_files(dataset)), True
    if not files:
        raise missing(dataset, files)
    return tuple(find_all(dataset, files, split=split)), False


def load(name: str, split: str | None = None, *, download: bool = False, **selection: Any) -> Any:
    """Load a dataset by name as a small frozen record.

    Parameters: name, see ``dataset_names()``; split, "train", "dev", "test" or "all" where the set has them, None for its default ("test" for
    graded sentence pairs, "train" for lee and course-nli, else "all"); download, True fetches missing files into the cache first;
    selection, a filter the set has: ``dataset=`` (zh-pairs, nli-pairs, word-similarity), ``task=`` (senteval), ``source=`` (nli),
    ``shards=`` (wiki), ``model=`` and ``statistic=`` (contextual-statistics), ``model=`` (course-vectors: "skip-gram", "glove").

    Returns SentencePairs, LabelledPairs, Triplets, Documents, StreamedDocuments, WordPairs, Analogies, WordCounts, `vectors.WordVectors`,
    ContextualStatistics, SpaceStatistics or WordPieces. Looks in the folder LESSONS_DATA names, then ``data/``, what gensim ships, the cache.
    Raises ValueError or TypeError (an argument), DataMissing (with the command that gets it), DamagedFile, DownloadFailed.
    """
    dataset = registered(name)
    if not isinstance(download, bool):
        raise TypeError(f"download={shown(download)} is {type(download).__name__}; expected True or False")
    chosen = _checked_selection(dataset, selection)
    split = _checked_part(dataset, split, chosen)
    shards = chosen.pop("shards", None)
    files = dataset.files_of(split) if shards is None else _checked_shards(dataset, shards)
    try:
        paths, from_gensim = _paths(dataset, files, split)
    except DataMissing:
        if not download:
            raise
        from .catalogue import get

        get(name, files=files)
        paths, from_gensim = _paths(dataset, files, split)
    loader = BUNDLED_LOADERS.get(dataset.kind, LOADERS[dataset.kind]) if from_gensim else LOADERS[dataset.kind]
    return loader(Request(dataset, paths, split, chosen))
