"""A text as one long line of token ids, and the rows of equal length that a model reads from it.

Every row begins where a sentence begins, [CLS] before it and [SEP] after it, and is full: no place
is spent on padding. Rows are shuffled anew in each epoch; row number k of a run is the same
whenever it is asked for. Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ..core import (DamagedFile, check_float, check_int, check_kind, checked_texts, load_model,
                    save_model, track)
from .masking import uniforms
from .tokenizer import SPECIAL, WordPiece

__all__ = ["Rows", "TokenStream", "prepare_tokens", "row_starts"]

CLS, SEP = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]")
TEXTS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class TokenStream:
    """A text as token ids.

    Parameters
    ----------
    tokenizer : WordPiece
    ids : (n,) uint16
        Each document ends with [SEP].
    starts : (n,) bool
        Where a sentence begins.
    held_out : int
        The tokens from here on, where a document begins, are for measuring only.
    data : dict, optional
        Which text this is.
    """

    tokenizer: WordPiece
    ids: np.ndarray
    starts: np.ndarray
    held_out: int
    data: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def counts(self) -> np.ndarray:
        """How often each token occurs, held-out text left out.

        Returns
        -------
        (vocabulary,) int64
        """
        return np.bincount(self.ids[: self.held_out], minlength=len(self.tokenizer))

    def save(self, path: str | os.PathLike) -> None:
        """Write a folder, two bytes a token and one bit for the beginnings of sentences.

        Parameters
        ----------
        path : str or path
        """
        save_model(path, "TokenStream", settings={"held_out": self.held_out, "n": len(self)},
                   arrays={"ids": self.ids, "starts": np.packbits(self.starts)},
                   extra={"pieces": self.tokenizer.pieces, "data": self.data})

    @classmethod
    def load(cls, path: str | os.PathLike, *, verify: bool = True) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or path
        verify : bool, default True
            Compare every number with the checksums it was saved with (about 0.5 s per GB).

        Returns
        -------
        TokenStream

        Raises
        ------
        FileNotFoundError, DamagedFile
        """
        settings, arrays, extra = load_model(path, "TokenStream", verify=verify)
        try:
            stream = cls(WordPiece(extra["pieces"]), arrays["ids"],
                         np.unpackbits(arrays["starts"], count=settings["n"]).astype(bool),
                         settings["held_out"], extra["data"])
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} does not hold numbered text: {error}. Make it again"
                              ) from error
        sound = stream.ids.dtype == np.uint16 and len(stream.ids) == settings["n"]
        if not sound or int(stream.ids.max()) >= len(stream.tokenizer):
            raise DamagedFile(f"{path} does not hold ids of its {len(stream.tokenizer)} tokens. "
                              "Make it again")
        return stream


def prepare_tokens(texts: Iterable[str], tokenizer: WordPiece, *, max_tokens: int | None = None,
                   held_out: float = 0.01, data: dict[str, Any] | None = None,
                   progress: bool = False) -> TokenStream:
    """Number a text: cut it into tokens, and keep its last documents for measuring.

    Parameters
    ----------
    texts : iterable of str
        Documents, one sentence per line.
    tokenizer : WordPiece
    max_tokens : int >= 1, optional
        Stop after the document that reaches it.
    held_out : float > 0 and <= 0.5, default 0.01
        Share of the tokens kept for measuring.
    data : dict, optional
        What text this is; said in the cards of models.
    progress : bool, default False

    Returns
    -------
    TokenStream

    Raises
    ------
    TypeError, ValueError
        Also too little text for both parts.
    """
    check_float("held_out", held_out, low=0.0, high=0.5, open_low=True)
    check_kind("tokenizer", tokenizer, WordPiece, "a WordPiece. Make it: WordPiece.train(texts)")
    if max_tokens is not None:
        check_int("max_tokens", max_tokens)
    ids, starts, ends, n = [], [], [], 0
    for part, begins, lengths in track(_numbered(texts, tokenizer), label="numbering",
                                       show=progress, size=lambda p: len(p[0]), unit=" tokens"):
        ids.append(part)
        starts.append(begins)
        ends += (n + np.cumsum(lengths)).tolist()
        n += len(part)
        if max_tokens is not None and n >= max_tokens:
            break
    cut = [end for end in ends if end <= n * (1 - held_out)]
    if not cut:
        raise ValueError(f"texts hold {n:,} tokens in {len(ends)} documents; expected at least one "
                         "document to learn from and one to measure on")
    return TokenStream(tokenizer, np.concatenate(ids), np.concatenate(starts), cut[-1],
                       dict(data or {}))


def _numbered(texts: Iterable[str],
              tokenizer: WordPiece) -> Iterator[tuple[np.ndarray, np.ndarray, list[int]]]:
    """Ids, beginnings of sentences and lengths of some documents at a time."""
    documents = checked_texts(texts, name="texts")
    while batch := list(islice(documents, TEXTS_AT_ONCE)):
        sentences = [document.splitlines() for document in batch]
        numbered = iter(tokenizer.encode([line for lines in sentences for line in lines]))
        ids, starts, lengths = [], [], []
        for lines in sentences:
            parts = [part for part in islice(numbered, len(lines)) if part]
            flat = [i for part in parts for i in part] + [SEP]
            begins = np.zeros(len(flat), bool)
            begins[np.cumsum([0, *map(len, parts[:-1])])] = bool(parts)
            ids.append(np.array(flat, np.uint16))
            starts.append(begins)
            lengths.append(len(flat))
        yield np.concatenate(ids), np.concatenate(starts), lengths


def row_starts(starts: np.ndarray, length: int) -> np.ndarray:
    """Where rows of ``length`` tokens begin (int64): at a sentence, as late as no token is left
    out; within one that is longer than a row.

    A row that is cut within a sentence is followed by one that begins with this sentence: its first
    part is read twice.
    """
    n = len(starts)
    begins = np.flatnonzero(starts)
    if len(begins) == 0 or n < length:
        raise ValueError(f"the text has {n:,} tokens; a row needs {length}. Give more text, or "
                         "shorter rows")
    sentences, result, at = begins.tolist(), [], int(begins[0])
    while at + length <= n:
        result.append(at)
        # the last sentence that begins before what was not read yet
        latest = sentences[bisect_right(sentences, at + length) - 1]
        at = latest if latest > at else at + length
    return np.array(result, np.int64)


class Rows:
    """The rows of a part of a stream: ``rows(numbers)`` gives ids and segments of any row numbers
    of an endless run of epochs. With ``next_sentence`` a row has two segments, of which the second
    follows the first in the text or (every other time) does not.
    """

    def __init__(self, stream: TokenStream, length: int, *, seed: int, held_out: bool = False,
                 next_sentence: bool = False, device: str | torch.device = "cpu") -> None:
        check_int("length", length, low=8)
        part = slice(stream.held_out, None) if held_out else slice(0, stream.held_out)
        self.length, self.seed, self.next_sentence = length, seed, next_sentence
        self.begins = row_starts(stream.starts[part], length - 2)
        self._ids = torch.from_numpy(stream.ids[part].view(np.int16)).to(device)   # below 32,768
        self._starts = torch.from_numpy(np.ascontiguousarray(stream.starts[part])).to(device)
        self._orders: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.begins)

    def _order(self, epoch: int) -> np.ndarray:
        """The rows in the order of an epoch; those of the last two are kept."""
        if epoch not in self._orders:
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, epoch])))
            kept = {e: order for e, order in self._orders.items() if e == epoch - 1}
            self._orders = kept | {epoch: rng.permutation(len(self))}
        return self._orders[epoch]

    def beginnings(self, numbers: np.ndarray) -> np.ndarray:
        """Where in the text rows begin; number len(self) is the first row of the second epoch."""
        epochs = numbers // len(self)
        result = np.empty(len(numbers), np.int64)
        for epoch in np.unique(epochs):
            here = epochs == epoch
            result[here] = self.begins[self._order(int(epoch))[numbers[here] % len(self)]]
        return result

    def __call__(self, numbers: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """Ids (rows, length), segments (rows, length) and whether the second segment does not
        follow (rows,), all int64; numbers (rows,) int64.
        """
        device, inner = self._ids.device, self.length - 2
        begin = torch.from_numpy(self.beginnings(numbers)).to(device)
        if self.next_sentence:
            return self._pairs(begin, torch.from_numpy(numbers).to(device))
        ids = torch.empty((len(numbers), self.length), dtype=torch.int64, device=device)
        ids[:, 0], ids[:, -1] = CLS, SEP
        ids[:, 1:-1] = self._ids[begin[:, None] + torch.arange(inner, device=device)].long()
        nothing = torch.zeros_like(begin)
        return ids, torch.zeros_like(ids), nothing

    def _pairs(self, begin: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows [CLS] first [SEP] second [SEP], cut where a sentence begins that is nearest to the
        middle.
        """
        device, inner = begin.device, self.length - 3
        places = torch.arange(1, inner, device=device)
        far = (places - inner // 2).abs() + self.length * ~self._starts[begin[:, None] + places]
        first = 1 + far.argmin(dim=1)             # tokens in the first segment
        draws = uniforms(self.seed, 3, numbers, 2)
        unrelated = draws[:, 0] < 0.5
        elsewhere = torch.from_numpy(self.begins).to(device)[(draws[:, 1] * len(self)).long()]
        second = torch.where(unrelated, elsewhere, begin + first)
        place = torch.arange(self.length, device=device)[None]
        in_second = place > first[:, None] + 1
        at = torch.where(in_second, second[:, None] + place - first[:, None] - 2,
                         begin[:, None] + place - 1)
        ids = self._ids[at.clamp(0, len(self._ids) - 1)].long()
        ids = torch.where((place == first[:, None] + 1) | (place == self.length - 1), SEP, ids)
        ids[:, 0] = CLS
        return ids, in_second.long(), unrelated.long()
