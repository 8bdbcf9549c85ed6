"""Document updates: a document has a row of its own, which stands among the contexts of each of its
words and so learns what they have in common.

One operation for both kinds of paragraph vectors. PV-DBOW is skip-gram whose context is the
document, alone or beside the words around; PV-DM is CBOW whose contexts are the words around and
the document, as a mean, a sum, or one after the other. A document has one row for each of its tags,
and documents may share a tag. Taught in ``07_doc2vec``.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ...core import check_choice, shown
from ..contents import whole
from ..dispatch import Operation
from ..layout import padded
from ..window_update.state import (Settings, WindowState, check_sound, checked_settings, cut, flag,
                                   pieces_per_document)

__all__ = ["COMBINATIONS", "MODELS", "OPERATION", "DocumentState", "document_update"]

OPERATION = Operation("document_update", kernel=False, processor="vector code",
                      without="all words of a document move one row, one after the other; "
                      "programs side by side would wait for it, or miss its moves")
MODELS = ("dm", "dbow")
COMBINATIONS = ("mean", "sum", "concat")


@dataclass
class DocumentState(WindowState):
    """The model and the text of a document update; `document_update` changes ``inputs`` and
    ``outputs`` in place.

    Parameters
    ----------
    words, offsets, counts, sample, noise_exponent : as of `WindowState`
    inputs : (V + 1 + T, d) numbers, copied
        The rows of V words, of the edge of a text, and of T tags.
    outputs : (rows, d) numbers, copied
        For "concat" with 1 + 2 · window times as many columns.
    device : "cpu"
    tags : (n,) ints in [0, T)
    tag_offsets : (d + 1,) ints
        Document i has the tags ``tags[tag_offsets[i]:tag_offsets[i + 1]]``, at least one and none
        twice.

    Attributes
    ----------
    documents : (T, columns) float32
        The rows of tags, a part of ``inputs``.
    parts : int
        Inputs that stand side by side in a row of ``outputs``.
    numbers : (d,) uint64 or None
        What decides the draws of a document, where it is not its place.

    Raises
    ------
    TypeError, ValueError
        As of `WindowState`, and where the tags are wrong.
    """

    tags: Any = field(kw_only=True)
    tag_offsets: Any = field(kw_only=True)
    numbers: np.ndarray | None = field(init=False, default=None)
    parts: int = field(init=False, default=1)
    documents: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.tags = whole("tags", self.tags, np.int32)
        self.tag_offsets = whole("tag_offsets", self.tag_offsets, np.int64)
        self.inputs, self.outputs = (torch.as_tensor(x).detach().float()
                                     for x in (self.inputs, self.outputs))
        outputs = self.outputs
        super().__post_init__()
        self.parts = outputs.shape[1] // self.dim
        if self.parts > 1:  # each part of a row is padded like the input that it meets
            parts = padded(outputs.reshape(-1, self.dim))
            self.outputs = parts.view(len(outputs), -1)
        self.documents = self.inputs[len(self.counts) + 1:]
        self._of_piece = _documents(self.offsets)

    def _check_shapes(self, n_inputs: int) -> None:
        a, b = tuple(self.inputs.shape), tuple(self.outputs.shape)
        shaped = len(a) == len(b) == 2 and a[1] > 0 and b[1] > 0 and b[1] % a[1] == 0
        if not shaped or a[0] < n_inputs + 2:
            raise ValueError(
                f"inputs has shape {a}, outputs {b}; expected ({n_inputs} words + 1 + tags, d) and "
                "(rows, d), for combine='concat' (rows, d · (1 + 2 · window))")
        if torch.device(self.device).type != "cpu":
            raise ValueError(
                f"device={shown(self.device)} has no kernel for document updates; expected 'cpu'")
        self._check_tags(a[0] - n_inputs - 1)

    def _check_tags(self, n_tags: int) -> None:
        tags, bounds = self.tags, self.tag_offsets
        ends = bounds.shape == self.offsets.shape and bounds[0] == 0 and bounds[-1] == len(tags)
        if not ends or (np.diff(bounds) < 1).any():
            raise ValueError(f"tag_offsets={shown(bounds)} are wrong; expected {len(self.offsets)} "
                             "whole numbers that begin with 0, rise by >= 1 for each document and "
                             f"end with {len(tags)}")
        plain = tags.ndim == 1 and tags.dtype == np.int32
        if len(tags) and (not plain or not 0 <= tags.min() <= tags.max() < n_tags):
            raise ValueError(
                f"tags reach from {tags.min()} to {tags.max()}; expected ints in [0, {n_tags - 1}]")

    def check_tags(self) -> None:
        """Check that rows and lists of tags are whole, before each use: numbers become addresses.

        Raises
        ------
        ValueError
            They are not.
        """
        x = self.documents
        wide = x.ndim == 2 and x.shape[1] == self.inputs.shape[1]
        if x.dtype != torch.float32 or not wide or not x.is_contiguous():
            raise ValueError(f"state.documents has become {x.dtype} of shape {tuple(x.shape)}; "
                             "expected contiguous float32 rows as wide as inputs")
        if len(self._of_piece) != self.n_pieces:
            raise ValueError(f"state.pieces was changed: {self.n_pieces} pieces, "
                             f"{len(self._of_piece)} expected. Make a new state")
        self._check_tags(len(x))

    @property
    def own(self) -> bool:
        """Whether ``documents`` are a part of ``inputs``."""
        return self.documents.data_ptr() == self.inputs[len(self.counts) + 1:].data_ptr()

    @property
    def plain_outputs(self) -> np.ndarray:
        """``outputs`` without padding: (rows, parts · d) float32, a copy."""
        n = len(self.outputs)
        parts = self.outputs.view(n, self.parts, -1)[:, :, :self.dim]
        return parts.reshape(n, -1).numpy().copy()

    def for_new(self, words: np.ndarray, offsets: np.ndarray, rows: np.ndarray,
                numbers: np.ndarray) -> Self:
        """A state that shares everything but the text: new documents with a row each, whose draws
        follow from their numbers and from no place.

        Parameters
        ----------
        words, offsets : as of `WindowState`, not checked again
        rows : (d, dim) float32
            To begin with.
        numbers : (d,) uint64

        Returns
        -------
        DocumentState
            Only `document_update` with ``frozen`` takes it, and moves its ``documents``.
        """
        new = copy.copy(self)
        new.words = np.ascontiguousarray(words, dtype=np.int32)
        new.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        new.pieces, new._of_piece = cut(new.offsets), _documents(new.offsets)
        new.tags = np.arange(len(rows), dtype=np.int32)
        new.tag_offsets = np.arange(len(rows) + 1, dtype=np.int64)
        new.documents, new.numbers = padded(torch.from_numpy(rows)), numbers
        return new

    def tags_of(self, piece: int) -> np.ndarray:
        """Rows of ``documents`` that belong to a piece of text.

        Parameters
        ----------
        piece : int

        Returns
        -------
        (tags,) int32
        """
        document = self._of_piece[piece]
        return self.tags[self.tag_offsets[document]:self.tag_offsets[document + 1]]

    def tag_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the tags of each piece begin and end.

        Returns
        -------
        begins, ends : (n,) int64 each
        """
        return self.tag_offsets[self._of_piece], self.tag_offsets[self._of_piece + 1]

    def keys(self, how: Settings) -> np.ndarray:
        """The keys of the draws of the text that a pass works on: from the number of each part of
        it, or from its document's number and its place in the document.

        Parameters
        ----------
        how : Settings

        Returns
        -------
        (n,) uint64
        """
        numbers = np.arange(self.n_pieces, dtype=np.uint64)
        if self.numbers is not None:
            first = np.searchsorted(self._of_piece, np.arange(len(self.numbers))).astype(np.uint64)
            numbers += (self.numbers - first)[self._of_piece]
        return self._keys(how, numbers[slice(*how.pieces)])


def _documents(offsets: np.ndarray) -> np.ndarray:
    """The document of each piece of text."""
    n = pieces_per_document(offsets)
    return np.repeat(np.arange(len(n)), n)


def document_update(state: DocumentState, *, model: str = "dm", combine: str = "mean",
                    train_words: bool = False, frozen: bool = False,
                    objective: str = "negative_sampling", window: int = 5, negatives: int = 5,
                    learning_rate: float | tuple[float, float] = 0.025, share_error: bool = False,
                    loss_every: int = 16, seed: int = 0, epoch: int = 0,
                    pieces: tuple[int, int] | None = None, threads: int = 1,
                    deterministic: bool = True, backend: str | None = None) -> tuple[float, int]:
    """Go over the text once and update ``state.inputs`` and ``state.outputs`` in place.

    Parameters
    ----------
    state : DocumentState
    model : "dm" or "dbow", default "dm"
    combine : "mean", "sum" or "concat", default "mean"
        "dm" only: how words around and tags become one input. With "concat" a window has its full
        width, and a row of its own stands for what lies beyond the text's edge.
    train_words : bool, default False
        "dbow" only: the words around are contexts too.
    frozen : bool, default False
        Only the rows of documents move, on one thread: this infers vectors of new documents.
    share_error : bool, default False
        "dm" with "mean" only: each context gets its share of the error, which is the gradient,
        instead of the whole.
    objective, window, negatives, learning_rate, loss_every, seed, epoch, pieces, threads, \
deterministic, backend : as in `window_update`

    Returns
    -------
    loss, pairs : float, int
        The sum of −log p over the pairs whose loss was noted, and their number.

    Raises
    ------
    TypeError, ValueError
        Settings out of range or that do not fit the state, or a state whose arrays were changed.
    BackendUnavailable
        The backend that was named cannot run.

    Notes
    -----
    ::

        o += lr (y − σ(o·x)) x          c += lr Σ_o (y − σ(o·x)) o
        dbow: x is each context c by itself: the rows D of the document's tags, and with
              ``train_words`` the words around
        dm:   x is the mean of the words around and of D, or their sum, or all of them side by side
              (concat), for whose parts o has parts

    Windows, noise, draws and rates are those of `window_update`. [le2014distributed]

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.full((5, 3), 0.1)  # two words, the edge, two documents
    >>> tags = {"tags": [0, 1], "tag_offsets": [0, 1, 2]}
    >>> state = DocumentState([0, 1, 0, 1], [0, 2, 4], rows, np.zeros((2, 3)), [2, 2], **tags)
    >>> loss, pairs = document_update(state, loss_every=1)
    """
    if not isinstance(state, DocumentState):
        raise TypeError(f"state={shown(state)} is {type(state).__name__}; expected a DocumentState")
    dm = check_choice("model", model, MODELS) == "dm"
    words, frozen = flag("train_words", train_words), flag("frozen", frozen)
    check_choice("combine", combine, COMBINATIONS)
    how = checked_settings(state, architecture="cbow" if dm else "skip_gram", objective=objective,
                           window=window, negatives=negatives, learning_rate=learning_rate,
                           share_error=share_error, loss_every=loss_every, seed=seed, epoch=epoch,
                           pieces=pieces, threads=threads, deterministic=deterministic,
                           combine=combine if dm else "", neighbours=dm or (words and not frozen),
                           frozen=frozen)
    _check_fits(state, how)
    check_sound(state, how.pieces, rows=len(state.counts) + 2, parts=state.parts)
    state.check_tags()
    return OPERATION.run("document_update", state.inputs, state.outputs, state, how,
                         backend=backend)


def _check_fits(state: DocumentState, how: Settings) -> None:
    """Refuse settings that do not fit the rows. Raises ValueError."""
    parts = 1 + 2 * how.window if how.combine == "concat" else 1
    if parts != state.parts:
        raise ValueError(f"outputs has rows of {state.parts} · {state.dim} numbers; expected "
                         f"{parts} · {state.dim} with combine={how.combine!r}, window={how.window}")
    n_tags = np.diff(state.tag_offsets)
    if parts > 1 and (n_tags > 1).any():
        i = int(n_tags.argmax())
        raise ValueError(f"combine='concat' has room for one tag of a document; document {i} has "
                         f"{n_tags[i]}. Use 'mean' or 'sum'")
    if how.frozen and how.threads > 1:
        raise ValueError(f"threads={how.threads} with frozen=True; expected 1: give each thread "
                         "its own documents")
    if not how.frozen and not state.own:
        raise ValueError("frozen=False would train words on documents that are not the state's "
                         "own; expected frozen=True")
