"""What a document update changes and what it needs to know: rows of words, of the text's edge and of documents, and which documents have which rows.

A document has one row for each of its tags, and documents may share a tag. Everything else, text, chance and tree, is that of window updates.
Taught in ``07_doc2vec``.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ...core import shown
from ..lda_sweep.state import padded
from ..window_update import WindowState
from ..window_update.draws import GOLDEN, epoch_key, mixed_numbers
from ..window_update.state import Settings, cut, pieces_per_document

__all__ = ["COMBINATIONS", "DocumentSettings", "DocumentState"]

COMBINATIONS = ("mean", "sum", "concat")


@dataclass(frozen=True)
class DocumentSettings(Settings):
    """``neighbours``: words stand among the contexts; ``combine``: "" where each context is an input by itself; ``frozen``: only documents move."""

    neighbours: bool
    combine: str
    frozen: bool


@dataclass
class DocumentState(WindowState):
    """The model and the text of a document update; `document_update` changes ``inputs`` and ``outputs`` in place.

    Parameters: as of `WindowState`, but ``inputs`` is (V + 1 + T, d), the rows of V words, of the edge of a text, and of T tags, and ``outputs`` may
    have 1 + 2 · window times as many columns, for "concat"; tags, row numbers in [0, T), and tag_offsets (d + 1,): document i has the tags
    ``tags[tag_offsets[i]:tag_offsets[i + 1]]``, at least one and none twice.
    Attributes: as of `WindowState`; ``documents`` (T, columns), the rows of tags, a part of ``inputs``; ``parts``, inputs that stand side by side
    in a row of ``outputs``; ``numbers`` (d,) uint64 or None: what decides the draws of a document, where it is not its place. Raises TypeError,
    ValueError.
    """

    tags: Any = field(kw_only=True)
    tag_offsets: Any = field(kw_only=True)
    numbers: np.ndarray | None = field(init=False, default=None)
    parts: int = field(init=False, default=1)
    documents: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.tags, self.tag_offsets = _whole("tags", self.tags, np.int32), _whole("tag_offsets", self.tag_offsets, np.int64)
        self.inputs, self.outputs = (torch.as_tensor(x).detach().float() for x in (self.inputs, self.outputs))
        outputs = self.outputs
        super().__post_init__()
        self.parts = outputs.shape[1] // self.dim
        if self.parts > 1:                          # each part of a row is padded like the input that it meets
            self.outputs = padded(outputs.reshape(-1, self.dim)).view(len(outputs), -1)
        self.documents = self.inputs[len(self.counts) + 1 :]
        self._of_piece = _documents(self.offsets)

    def _check_shapes(self, n_inputs: int) -> None:
        shapes = tuple(tuple(x.shape) for x in (self.inputs, self.outputs))
        if any(len(shape) != 2 or not shape[1] for shape in shapes) or len(self.inputs) < n_inputs + 2 or shapes[1][1] % shapes[0][1]:
            raise ValueError(f"inputs has shape {shapes[0]}, outputs {shapes[1]}; expected ({n_inputs} words + 1 + tags, d) and (rows, d), for "
                             "combine='concat' (rows, d · (1 + 2 · window))")
        if torch.device(self.device).type != "cpu":
            raise ValueError(f"device={shown(self.device)} has no kernel for document updates; expected 'cpu'")
        self._check_tags(len(self.inputs) - n_inputs - 1)

    def _check_tags(self, n_tags: int) -> None:
        tags, bounds = self.tags, self.tag_offsets
        if bounds.shape != self.offsets.shape or bounds[0] != 0 or bounds[-1] != len(tags) or (np.diff(bounds) < 1).any():
            raise ValueError(f"tag_offsets={shown(bounds)} are wrong; expected {len(self.offsets)} whole numbers that begin with 0, rise by >= 1 for "
                             f"each document and end with {len(tags)}")
        if len(tags) and (tags.ndim != 1 or tags.dtype != np.int32 or not 0 <= tags.min() <= tags.max() < n_tags):
            raise ValueError(f"tags reach from {tags.min()} to {tags.max()}; expected ints in [0, {n_tags - 1}]")

    def check_tags(self) -> None:
        """Check that rows and lists of tags are whole, before each use: numbers become addresses. Raises ValueError."""
        x = self.documents
        if x.dtype != torch.float32 or x.ndim != 2 or x.shape[1] != self.inputs.shape[1] or not x.is_contiguous():
            raise ValueError(f"state.documents has become {x.dtype} of shape {tuple(x.shape)}; expected contiguous float32 rows as wide as inputs")
        if len(self._of_piece) != self.n_pieces:
            raise ValueError(f"state.pieces was changed: {self.n_pieces} pieces, {len(self._of_piece)} expected. Make a new state")
        self._check_tags(len(x))

    def check_fits(self, how: DocumentSettings) -> None:
        """Refuse settings that do not fit the rows. Raises ValueError."""
        parts = 1 + 2 * how.window if how.combine == "concat" else 1
        if parts != self.parts:
            raise ValueError(f"outputs has rows of {self.parts} · {self.dim} numbers; expected {parts} · {self.dim} with combine={how.combine!r}, "
                             f"window={how.window}")
        if parts > 1 and (np.diff(self.tag_offsets) > 1).any():
            i = int(np.diff(self.tag_offsets).argmax())
            raise ValueError(f"combine='concat' has room for one tag of a document; document {i} has {np.diff(self.tag_offsets)[i]}. Use 'mean' or "
                             "'sum'")
        if how.frozen and how.threads > 1:
            raise ValueError(f"threads={how.threads} with frozen=True; expected 1: give each thread its own documents")
        if not how.frozen and not self.own:
            raise ValueError("frozen=False would train words on documents that are not the state's own; expected frozen=True")

    @property
    def own(self) -> bool:
        """Whether ``documents`` are a part of ``inputs``."""
        return self.documents.data_ptr() == self.inputs[len(self.counts) + 1 :].data_ptr()

    @property
    def plain_outputs(self) -> np.ndarray:
        """``outputs`` without padding: (rows, parts · d) float32, a copy."""
        return self.outputs.view(len(self.outputs), self.parts, -1)[:, :, : self.dim].reshape(len(self.outputs), -1).numpy().copy()

    def for_new(self, words: np.ndarray, offsets: np.ndarray, rows: np.ndarray, numbers: np.ndarray) -> Self:
        """A state that shares everything but the text: new documents with a row each, whose draws follow from their numbers and from no place.

        Parameters: words and offsets as of `WindowState`, not checked again; rows (d, dim) to begin with; numbers (d,) uint64. Only `document_update`
        with ``frozen`` takes it, and moves its ``documents``.
        """
        new = copy.copy(self)
        new.words, new.offsets = np.ascontiguousarray(words, dtype=np.int32), np.ascontiguousarray(offsets, dtype=np.int64)
        new.pieces, new._of_piece = cut(new.offsets), _documents(new.offsets)
        new.tags, new.tag_offsets = np.arange(len(rows), dtype=np.int32), np.arange(len(rows) + 1, dtype=np.int64)
        new.documents, new.numbers = padded(torch.from_numpy(rows)), numbers
        return new

    def tags_of(self, piece: int) -> np.ndarray:
        """Rows of ``documents`` that belong to a piece of text."""
        document = self._of_piece[piece]
        return self.tags[self.tag_offsets[document] : self.tag_offsets[document + 1]]

    def tag_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the tags of each piece begin and end, int64."""
        return self.tag_offsets[self._of_piece], self.tag_offsets[self._of_piece + 1]

    def keys(self, how: Settings) -> np.ndarray:
        """The key of each piece in an epoch, uint64: of its number, or of its document's number and its place in the document."""
        numbers = np.arange(self.n_pieces, dtype=np.uint64)
        if self.numbers is not None:
            first = np.searchsorted(self._of_piece, np.arange(len(self.numbers))).astype(np.uint64)
            numbers += (self.numbers - first)[self._of_piece]
        return mixed_numbers(np.uint64(epoch_key(how.seed, how.epoch)) + numbers * np.uint64(GOLDEN))


def _whole(name: str, values: Any, kind: type) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{name}={shown(values)} has {array.ndim} axes and type {array.dtype}; expected whole numbers on one axis")
    return np.ascontiguousarray(array, dtype=kind)


def _documents(offsets: np.ndarray) -> np.ndarray:
    """The document of each piece of text."""
    n = pieces_per_document(offsets)
    return np.repeat(np.arange(len(n)), n)
