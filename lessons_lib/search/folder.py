"""A folder of texts to ask: its passages with words and vectors, kept up to date file by file.

A question is sought by its words (`InvertedIndex`) and by its vector (`ExactNeighbours`), and the
two rankings are joined. The index is a folder of its own: safetensors and JSON, written whole or
not at all. Taught in ``17_search``.
"""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..core import (DamagedFile, DataWarning, Encoder, Estimator, NotFittedError, check_int,
                    check_kind, existing_path, load_model, save_model, shown)
from ..core.documents import check_encodable
from ..core.learned import checked_array, packed_strings, unpacked_strings
from ..core.parameters import Given, Int
from .documents import NotRead, Skipped, files_of, read_document
from .inverted import InvertedIndex
from .neighbours import ExactNeighbours
from .passages import split_passages
from .rankings import reciprocal_rank_fusion

__all__ = ["Answer", "FolderIndex", "Update"]

# Texts by whose vectors an encoder is known again.
PROBES = ("A bridge crosses the river.", "The price of bread rose twice.",
          "She plays the violin in the evening.", "Water boils at one hundred degrees.")
SAME = 0.999                                     # cosine: other batches and machines round too
UNSETTLED = 2_000_000_000                        # ns: a file changed later may have kept its time
AT_ONCE = 4_000_000                              # characters that an encoder is given
DEEP = 100                                       # places of each ranking that are joined
CONSTANT = 5.0                                   # of their fusion, chosen in lesson 17 on its dev
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")  # kana and Chinese characters


@dataclass(frozen=True)
class Update:
    """What an update of an index has done.

    Attributes
    ----------
    added, changed, removed : list of str
        Names of files.
    unchanged : int
        Files whose vectors were kept.
    skipped : list of Skipped
        What was not read: ``name`` and ``reason``.
    """

    added: list[str]
    changed: list[str]
    removed: list[str]
    unchanged: int
    skipped: list[Skipped]

    @property
    def any(self) -> bool:
        """Whether the index is another one now."""
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True)
class Answer:
    """A passage and why it was found.

    Attributes
    ----------
    file : str
        Name within the folder.
    text : str
    start, end : int
        Characters of the file's text.
    score : float
        Of the joined rankings.
    words : dict of str to float
        What each word of the question adds to the BM25 score, the most first.
    cosine : float
        Of the vectors of question and passage.
    """

    file: str
    text: str
    start: int
    end: int
    score: float
    words: dict[str, float]
    cosine: float


class FolderIndex(Estimator):
    """The passages of a folder, found by words and by meaning.

    Examples
    --------
    >>> index = FolderIndex(load_encoder("lesson-bag"))                    # doctest: +SKIP
    >>> index.update("notes")                                              # doctest: +SKIP
    >>> index.search("How do I renew a passport?")[0].file                 # doctest: +SKIP
    'offices.md'
    """

    encoder = Given(doc="what makes vectors of passages and questions", kind="Encoder",
                    positional=1)
    size = Int(120, "words of a passage at most")
    overlap = Int(20, "words at most that a passage repeats of the one before", low=0)
    encoding = Given("utf-8", "of files that are not UTF-8", kind="str")

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        if not isinstance(self.encoder, Encoder):
            raise TypeError(f"encoder={shown(self.encoder)} is {type(self.encoder).__name__}; "
                            "expected an Encoder: contextual.load_encoder gives one")
        check_int("overlap", self.overlap, low=0, high=settings["size"] - 1)
        try:
            # of bytes and not of nothing, which any name decodes; base64 and others give no text
            b"text".decode(check_kind("encoding", self.encoding, str, "str"))
        except UnicodeDecodeError:
            pass                                 # an encoding in which these bytes are no text
        except (LookupError, ValueError) as error:
            raise ValueError(f"encoding={shown(self.encoding)} is no encoding of text that Python "
                             "knows; expected one such as 'utf-8', 'cp1252' or 'gb18030'"
                             ) from error

    def _vectors(self, texts: list[str], progress: bool = False) -> np.ndarray:
        """Of norm 1; a text that the encoder knows nothing of has zeros. An encoder may number all
        that it is given before it begins, at twenty bytes a letter, so it gets some at a time.
        """
        ends = np.cumsum([len(text) for text in texts]) // AT_ONCE
        groups = np.split(np.arange(len(texts)), np.flatnonzero(np.diff(ends)) + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            x = np.concatenate([np.asarray(self.encoder.encode([texts[i] for i in group],
                                                               progress=progress), np.float32)
                                for group in groups])
        norms = np.linalg.norm(x, axis=1, keepdims=True)
        return x / np.where(norms > 0, norms, 1)

    def __len__(self) -> int:
        """Number of passages."""
        return len(vars(self).get("_texts", ()))

    @property
    def files(self) -> list[str]:
        """Names of the files that passages are of."""
        return [entry["name"] for entry in vars(self).get("_files", ())]

    # ------------------------------------------------------------------------------ filling

    def update(self, folder: str | os.PathLike, *, progress: bool = False) -> Update:
        """Take in what is new or changed in a folder, and leave out what is gone.

        A file counts as unchanged when its size and time are, or else its content is, and the
        encoding that it needed; its vectors are kept. The index is as before when an error comes
        out.

        Parameters
        ----------
        folder : str or path
        progress : bool, default False
            Show a bar while passages are encoded.

        Returns
        -------
        Update

        Raises
        ------
        FileNotFoundError, NotADirectoryError
        TypeError, ValueError
            Settings; the folder holds no text that can be read: what was skipped, and why; the
            index is of another folder.
        """
        self._check_settings()
        there, skipped = files_of(folder)
        root = existing_path(folder, name="folder")
        self._check_folder(root)
        before = {entry["name"]: entry for entry in vars(self).get("_files", ())}
        now = time.time_ns()
        rows_of, kept = self._rows_of_files(), {}
        files, passages, fresh, changed = [], [], [], []
        for file in there:
            old, entry = before.get(file.name), {
                "name": file.name, "size": file.size, "modified": file.modified,
                "settled": now - file.modified > UNSETTLED}
            same = old is not None and old["settled"] and (
                old["size"], old["modified"]) == (file.size, file.modified) and (
                old["encoding"] in ("", self.encoding))
            if not same:
                try:
                    text, entry["sha256"], entry["encoding"] = read_document(
                        file, encoding=self.encoding)
                except NotRead as error:
                    skipped.append(Skipped(file.name, str(error)))
                    continue
                same = old is not None and all(old[key] == entry[key]
                                               for key in ("sha256", "encoding"))
            if same:
                entry |= {key: old[key] for key in ("sha256", "encoding")}
                kept[len(files)] = rows_of[file.name]
                passages.append([(self._texts[i], *self._spans[i]) for i in rows_of[file.name]])
            else:
                passages.append(split_passages(text, size=self.size, overlap=self.overlap))
                (fresh if old is None else changed).append(file.name)
            files.append(entry)
        if not any(passages):
            raise ValueError(_nothing(folder, skipped, files))
        removed = sorted(before.keys() - {entry["name"] for entry in files})
        update = Update(fresh, changed, removed, len(kept), skipped)
        if update.any:
            self._replace(files, passages, kept, root, progress)
        self._files = files                      # with their present times
        return update

    def _check_folder(self, folder: Path) -> None:
        """Raise ValueError where the index is of another folder, which is still there."""
        of = vars(self).get("_folder")
        if of is not None and Path(of) != folder and Path(of).is_dir():
            raise ValueError(f"folder={folder} is not the one that this index is of, {of}: all its "
                             "passages would be lost. Choose another index for it")

    def _rows_of_files(self) -> dict[str, list[int]]:
        """The passages of each file."""
        rows = {name: [] for name in self.files}
        for row, file in enumerate(vars(self).get("_file_of", ())):
            rows[self._files[file]["name"]].append(row)
        return rows

    def _replace(self, files: list[dict], passages: list[list[tuple[str, int, int]]],
                 kept: dict[int, list[int]], folder: Path, progress: bool) -> None:
        """Make the new state, and take it at once."""
        file_of = np.repeat(np.arange(len(files), dtype=np.int32), list(map(len, passages)))
        texts = [text for of_file in passages for text, _, _ in of_file]
        spans = np.array([span for of_file in passages for _, *span in of_file], dtype=np.int64)
        is_new = ~np.isin(file_of, list(kept))
        new = np.flatnonzero(is_new)
        parts = [self._vectors([texts[i] for i in new], progress)] if len(new) else []
        if kept:
            parts.append(self._near.vectors_[[row for rows in kept.values() for row in rows]])
        vectors = np.empty((len(texts), parts[0].shape[1]), np.float32)
        vectors[np.concatenate([new, np.flatnonzero(~is_new)])] = np.concatenate(parts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            words = InvertedIndex(token_pattern=r"(?u)\b\w+\b").fit(map(_parted, texts))
        probes = vars(self).get("_probes")
        self._take(texts, spans, file_of, files, vectors, words, str(folder),
                   self._vectors(list(PROBES)) if probes is None else probes)

    def _take(self, texts: list[str], spans: np.ndarray, file_of: np.ndarray, files: list[dict],
              vectors: np.ndarray, words: InvertedIndex, folder: str, probes: np.ndarray) -> None:
        vars(self).update(_texts=texts, _spans=spans, _file_of=file_of, _files=files,
                          _words=words, _folder=folder, _probes=probes,
                          _near=ExactNeighbours().fit(vectors))

    # ------------------------------------------------------------------------------ asking

    def search(self, question: str, *, k: int = 5) -> list[Answer]:
        """The passages that answer a question best, with the reasons.

        Parameters
        ----------
        question : str
            Words that stand nowhere do no harm: its vector finds what is near.
        k : int >= 1, default 5

        Returns
        -------
        list of Answer
            Best first; empty where neither a word nor a vector of the question says anything.

        Raises
        ------
        NotFittedError
            Nothing was taken in yet.
        TypeError, ValueError
            question is not one str, or blank, or holds a lone surrogate; k below 1.
        """
        if not len(self):
            raise NotFittedError("this FolderIndex is empty; call update(folder) first")
        k, question = check_int("k", k), check_question(question)
        deep = min(len(self), max(DEEP, k))
        vector = self._vectors([question])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            rankings = [[row for row, _ in self._words.search(_parted(question), k=deep)]]
            if vector.any():                     # of equals what the vectors found comes first
                rankings.insert(0, self._near.search(vector, k=deep)[1][0].tolist())
            return [self._answer(question, vector[0], row, score) for row, score in
                    reciprocal_rank_fusion(rankings, k=k, constant=CONSTANT)]

    def _answer(self, question: str, vector: np.ndarray, row: int, score: float) -> Answer:
        start, end = self._spans[row].tolist()
        return Answer(self._files[self._file_of[row]]["name"], self._texts[row], start, end, score,
                      self._words.why(_parted(question), row),
                      float(self._near.vectors_[row] @ vector))

    # ------------------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike) -> None:
        """Write the index into a folder, whole or not at all.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        NotFittedError, OSError
            Empty; the folder cannot be written, and an older index there stays whole.
        """
        if not len(self):
            raise NotFittedError("this FolderIndex is empty; call update(folder) first")
        settings, arrays, extra = self._words._contents()
        own = {"vectors": self._near.vectors_, "probes": self._probes, "spans": self._spans,
               "file_of": self._file_of, **packed_strings(self._texts, "passage"),
               **_packed_files(self._files)}
        save_model(path, type(self).__name__,
                   settings={"size": self.size, "overlap": self.overlap, "encoding": self.encoding},
                   arrays=own | {f"words.{name}": array for name, array in arrays.items()},
                   extra={"encoder": self.encoder.name, "folder": self._folder,
                          "words": {"settings": settings, "extra": extra}})

    @classmethod
    def load(cls, path: str | os.PathLike, encoder: Encoder, *, verify: bool = True) -> Self:
        """Read an index that `save` wrote.

        Parameters
        ----------
        path : str or path
        encoder : Encoder
            The one that made its vectors, which is checked.
        verify : bool, default True
            Compare every number with the checksums it was saved with (about 0.5 s per GB).

        Returns
        -------
        FolderIndex

        Raises
        ------
        FileNotFoundError, DamagedFile
            Not there; cut, changed or of another kind.
        ValueError
            Made with another encoder: both are named; a newer format.
        """
        settings, arrays, extra = load_model(path, cls.__name__, verify=verify)
        try:
            index = cls(encoder, **settings)
            index._check_settings()
            index._restore(arrays, extra)
            name = check_kind("encoder", extra["encoder"], str, "the name of one")
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise DamagedFile(f"{path} is a {cls.__name__} that this version cannot read "
                              f"({error}). Remove it, and index the folder again") from error
        index._check_encoder(path, name)
        return index

    def _restore(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        texts, sizes = unpacked_strings(arrays, "passage"), {}
        sizes["passages"] = len(texts)
        vectors = checked_array(arrays, "vectors", "passages", "dim", sizes=sizes)
        probes = checked_array(arrays, "probes", len(PROBES), "dim", sizes=sizes)
        spans = checked_array(arrays, "spans", "passages", 2, dtype="int64", sizes=sizes)
        file_of = checked_array(arrays, "file_of", "passages", dtype="int32", sizes=sizes)
        files = (_former_files(extra["files"], self.encoding) if "files" in extra
                 else _unpacked_files(arrays))
        if not 0 <= file_of.min() <= file_of.max() < len(files):
            raise ValueError(f"array 'file_of' names files outside the {len(files)}")
        card = extra["words"]
        own = {name.removeprefix("words."): array for name, array in arrays.items()
               if name.startswith("words.")}
        words = InvertedIndex._from_contents(card["settings"], own, card["extra"])
        if len(words) != len(texts):
            raise ValueError(f"the lists of words are of {len(words)} passages, not {len(texts)}")
        self._take(texts, spans, file_of, files, vectors, words,
                   check_kind("folder", extra["folder"], str, "a path"), probes)

    def _check_encoder(self, path: str | os.PathLike, name: str) -> None:
        """Raise ValueError where the encoder gives other vectors than the one of the index."""
        remedy = "Load it with that one, or make another index"
        if self.encoder.name != name:
            raise ValueError(f"{path} was made with the encoder {shown(name)}, not "
                             f"{shown(self.encoder.name)}. {remedy}")
        now, then = self._vectors(list(PROBES)), self._probes
        # of a text that the encoder knows nothing of, both are zero
        if now.shape != then.shape or not np.where(
                now.any(axis=1) & then.any(axis=1), (now * then).sum(axis=1) > SAME,
                ~now.any(axis=1) & ~then.any(axis=1)).all():
            raise ValueError(f"{path} was made with an encoder {shown(name)} of other weights: "
                             f"its vectors of the same sentences differ. {remedy}")


def _parted(text: str) -> str:
    """A text in which each Chinese character and kana is a word: no space parts their words."""
    return UNSPACED.sub(r" \g<0> ", text)


def _packed_files(files: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """What is known of the files, as arrays."""
    about = [[entry[key] for key in ("size", "modified", "settled")] for entry in files]
    strings = {name: [entry[key] for entry in files] for name, key in
               (("file", "name"), ("sha256", "sha256"), ("encoding", "encoding"))}
    arrays = {"about_files": np.array(about, np.int64).reshape(-1, 3)}
    for name, values in strings.items():
        arrays |= packed_strings(values, name)
    return arrays


def _unpacked_files(arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """The files of `_packed_files`. Raises ValueError for what it did not write."""
    names, digests, encodings = (unpacked_strings(arrays, key)
                                 for key in ("file", "sha256", "encoding"))
    about = checked_array(arrays, "about_files", len(names), 3, dtype="int64").tolist()
    if len(set(names)) < len(names):
        raise ValueError("file_bytes holds a name twice")
    return [{"name": name, "size": size, "modified": modified, "settled": bool(settled),
             "sha256": digest, "encoding": encoding}
            for name, (size, modified, settled), digest, encoding
            in zip(names, about, digests, encodings, strict=True)]


def _former_files(listed: list[dict[str, Any]], encoding: str) -> list[dict[str, Any]]:
    """The files of an index of the first version, which kept no encodings: each may have needed the
    index's. Raises KeyError, TypeError or ValueError.
    """
    own = "" if encoding == "utf-8" else encoding
    return _unpacked_files(_packed_files([{
        **{key: check_kind(key, entry[key], kind, kind.__name__)
           for key, kind in (("name", str), ("size", int), ("modified", int), ("settled", bool),
                             ("sha256", str))}, "encoding": own} for entry in listed]))


def check_question(question: Any) -> str:
    """The question. Raises TypeError or ValueError for what is none."""
    if not check_kind("question", question, str, "one str").strip():
        raise ValueError(f"question={shown(question)} is blank; expected some words")
    check_encodable(f"question={shown(question)}", question)
    return question


def _nothing(folder: str | os.PathLike, skipped: list[Skipped], files: list[dict]) -> str:
    """Why an index would be empty."""
    reasons = [f"{name}: {reason}" for name, reason in skipped[:3]]
    reasons += [f"{entry['name']}: no word" for entry in files[: 3 - len(reasons)]]
    more = len(skipped) + len(files) - len(reasons)
    reasons += [f"and {more} more"] * (more > 0)
    return (f"folder={shown(os.fspath(folder))} holds no text that can be read"
            f"{' (' + '; '.join(reasons) + ')' if reasons else ': it is empty'}. Nothing was "
            "changed; expected .txt, .md or .pdf files")
