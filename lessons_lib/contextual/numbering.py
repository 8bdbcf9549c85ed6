"""Texts as token ids, and which of them are read together: long with long and short with short.

Texts lie one after the other in one array of token ids, four bytes a token; a batch is a list of
their numbers, of about equal length. Which batch a text falls into changes the time, and its vector
in the last digit at most. A text that is longer than the model reads is cut, with one warning for
all, or refused. Text that is spelt like a special token ("[SEP]") is read as text, and a list of
words is never read as a pair of sentences. Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core import DamagedFile, checked_batches, shown, warn_data

__all__ = ["Numbered", "Subwords", "batches", "load_subwords", "numbered_rows", "padded", "placed"]

# Any of these sets makes a tokenizer; the first needs no other package.
FILES = (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt"),
         ("sentencepiece.bpe.model",), ("spiece.model",))
TEXTS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Numbered:
    """Texts as token ids, special tokens included: text i has ``ids[offsets[i]:offsets[i + 1]]`` at
    ``places`` of its row; both (n,) int32.
    """

    ids: np.ndarray
    places: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each text."""
        return np.diff(self.offsets)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Numbered:
        """Rows of ids, which count as right."""
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        ids = np.fromiter((i for row in rows for i in row), np.int32, int(lengths.sum()))
        return cls(ids, _places(lengths), _offsets(lengths))

    @classmethod
    def joined(cls, parts: Sequence[Numbered]) -> Numbered:
        """Several as one, in their order."""
        parts = [cls.of([]), *parts]
        ids, places, lengths = (np.concatenate([getattr(part, name) for part in parts])
                                for name in ("ids", "places", "lengths"))
        return cls(ids, places, _offsets(lengths))

    def part(self, first: int, last: int) -> Numbered:
        """Texts ``first`` to ``last``, the last not included."""
        a, b = self.offsets[first], self.offsets[last]
        return Numbered(self.ids[a:b], self.places[a:b], self.offsets[first : last + 1] - a)

    def tokens_of(self, rows: np.ndarray) -> np.ndarray:
        """Where in ``ids`` the tokens of some texts lie, text after text."""
        lengths = self.lengths[rows]
        starts = self.offsets[rows] - (np.cumsum(lengths) - lengths)
        return np.repeat(starts, lengths) + np.arange(int(lengths.sum()))


def _offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _places(lengths: np.ndarray) -> np.ndarray:
    starts = np.cumsum(lengths) - lengths
    return (np.arange(int(lengths.sum())) - np.repeat(starts, lengths)).astype(np.int32)


def numbered_rows(rows: Any, mask: Any, *, vocabulary: int, longest: int) -> Numbered:
    """Rows of token ids that a caller made, looked at before any device sees them; ``mask`` of the
    same shape is 0 where nothing is to be read, None: nowhere. Raises TypeError, ValueError.
    """
    lists = [_whole_numbers("rows", i, row) for i, row in enumerate(_listed("rows", rows))]
    for i, row in enumerate(lists):
        bad = np.flatnonzero((row < 0) | (row >= vocabulary))
        if len(bad):
            raise ValueError(f"rows[{i}][{bad[0]}]={row[bad[0]]} is no token; expected ids from 0 "
                             f"to {vocabulary - 1}, the vocabulary has {vocabulary:,} tokens")
        if len(row) > longest:
            raise ValueError(f"rows[{i}] has {len(row):,} tokens; the model reads at most "
                             f"{longest:,}. Cut it: rows[{i}][:{longest}]")
    whole = Numbered.of([row.tolist() for row in lists])
    return whole if mask is None else _kept(whole, mask)


def _kept(whole: Numbered, mask: Any) -> Numbered:
    """Without the places that a mask leaves out; what is left stays where it stood."""
    seen = [_whole_numbers("mask", i, row) for i, row in enumerate(_listed("mask", mask))]
    lengths = np.array([len(row) for row in seen], dtype=np.int64)
    if len(seen) != len(whole):
        raise ValueError(f"mask has {len(seen)} rows and rows has {len(whole)}; expected one row "
                         "of the mask per row")
    wrong = np.flatnonzero(lengths != whole.lengths)
    if len(wrong):
        raise ValueError(f"mask[{wrong[0]}] has {lengths[wrong[0]]} entries and rows[{wrong[0]}] "
                         f"has {whole.lengths[wrong[0]]} tokens; expected one entry per token")
    flat = np.concatenate([*seen, np.zeros(0, np.int64)])
    if not np.isin(flat, (0, 1)).all():
        raise ValueError(f"mask holds {shown(int(flat[~np.isin(flat, (0, 1))][0]))}; expected 1 or "
                         "True for a token to read, 0 or False for padding")
    keep = flat.astype(bool)
    counts = whole.lengths
    if len(whole):
        counts = np.add.reduceat(np.append(flat, 0), whole.offsets[:-1]) * (counts > 0)
    return Numbered(whole.ids[keep], whole.places[keep], _offsets(counts))


def _listed(name: str, rows: Any) -> Iterable[Any]:
    if isinstance(rows, (str, bytes)) or not isinstance(rows, (Sequence, np.ndarray, Tensor)):
        raise TypeError(f"{name}={shown(rows)} is {type(rows).__name__}; expected a list of rows "
                        "of whole numbers. For texts use encode")
    return rows


def _whole_numbers(name: str, i: int, row: Any) -> np.ndarray:
    array = np.asarray(row)
    if array.size == 0:
        array = np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise TypeError(f"{name}[{i}]={shown(row)} is no row of whole numbers; expected a list of "
                        "int. For texts use encode")
    return array.astype(np.int64)


class Subwords:
    """Cuts texts into tokens by a ``tokenizers.Tokenizer``, set to read "[SEP]" as text."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        engine.no_truncation()
        engine.no_padding()
        engine.encode_special_tokens = True
        self.before, self.after = _frame(engine)

    def __len__(self) -> int:
        return self.engine.get_vocab_size()

    @property
    def highest(self) -> int:
        """The highest id of a text: one below the size, unless numbers are left out."""
        return max(self.engine.get_vocab().values(), default=-1)

    @property
    def special(self) -> frozenset[int]:
        """Ids of the tokens that are put around a text, such as [CLS] and [SEP]."""
        return frozenset((*self.before, *self.after))

    @property
    def n_special(self) -> int:
        """How many tokens are put around a text."""
        return len(self.before) + len(self.after)

    def strings(self, size: int) -> list[str]:
        """The tokens by id, ``size`` of them; "" where the tokenizer has none."""
        return [self.engine.id_to_token(i) or "" for i in range(size)]

    def rows(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts, whole and without special tokens."""
        return [encoding.ids for encoding in
                self.engine.encode_batch_fast(texts, add_special_tokens=False)]

    def number(self, texts: Iterable[str], *, longest: int, refuse: bool) -> Numbered:
        """Texts as ids with their special tokens, cut to ``longest`` tokens; with ``refuse`` a
        longer one is a ValueError.
        """
        inner, parts, first, cut = longest - self.n_special, [], 0, []
        for batch in checked_batches(texts, name="texts", allow_empty=True, size=TEXTS_AT_ONCE):
            rows = self.rows(batch)
            cut += [(first + i, len(row) + self.n_special) for i, row in enumerate(rows)
                    if len(row) > inner]
            if cut and refuse:
                raise ValueError(f"texts[{cut[0][0]}] has {cut[0][1]:,} tokens, special ones "
                                 f"included; max_length={longest}. Split it, or let it be cut: "
                                 "truncation='warn'")
            parts.append(Numbered.of([[*self.before, *row[:inner], *self.after] for row in rows]))
            first += len(rows)
        if cut:
            warn_data(f"{len(cut)} of {first} texts have more than max_length={longest} tokens and "
                      f"were cut (first: texts[{cut[0][0]}], {cut[0][1]:,} tokens). Split them, "
                      "or refuse them: truncation='error'", stacklevel=4)
        return Numbered.joined(parts)

    def special_mask(self, ids: np.ndarray) -> np.ndarray:
        """Which ids are tokens put around texts (bool)."""
        return np.isin(ids, list(self.special))


def _frame(engine: Any) -> tuple[list[int], list[int]]:
    """The ids that are put before and after a text.

    Raises ValueError for a tokenizer that makes no token of any text.
    """
    # a vocabulary without "a" may drop it, and what stood around it would be lost
    for text in ("a", "1", *sorted(engine.get_vocab())):
        framed = engine.encode(text, add_special_tokens=True)
        inner = [i for i, special in enumerate(framed.special_tokens_mask) if not special]
        if inner:
            return framed.ids[: inner[0]], framed.ids[inner[-1] + 1 :]
    raise ValueError("none of its tokens is found in a text")


def load_subwords(folder: Path) -> Subwords:
    """The tokenizer in the folder of a model. Raises DamagedFile."""
    there = next((names for names in FILES if all((folder / name).is_file() for name in names)),
                 None)
    if there is None:
        expected = " or ".join(" with ".join(names) for names in FILES)
        raise DamagedFile(f"{folder} has no tokenizer: expected {expected}. Copy the files that "
                          "belong to the model")
    try:
        if there == FILES[0]:
            from tokenizers import Tokenizer

            return Subwords(Tokenizer.from_file(str(folder / there[0])))
        from transformers import AutoTokenizer

        return Subwords(AutoTokenizer.from_pretrained(folder, local_files_only=True,
                                                    trust_remote_code=False).backend_tokenizer)
    except Exception as error:                    # the package raises plain Exception
        raise DamagedFile(f"{folder / there[0]} holds no tokenizer that can be read: "
                          f"{str(error)[:200]}") from error


def batches(lengths: np.ndarray, *, texts: int, tokens: int) -> Iterator[np.ndarray]:
    """Numbers of the texts of one batch after the other, longest texts first: at most so many texts
    in each, and so many tokens, padding counted, unless one text is longer.
    """
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        longest = max(1, int(lengths[order[first]]))
        last = first + max(1, min(texts, tokens // longest))
        yield order[first:last]
        first = last


def placed(numbered: Numbered, rows: np.ndarray, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids and places (n,) int64 of some texts, one after the other."""
    where = numbered.tokens_of(rows)
    ids, places = (torch.from_numpy(array[where].astype(np.int64)).to(device)
                   for array in (numbered.ids, numbered.places))
    return ids, places


def padded(numbered: Numbered, rows: np.ndarray, device: torch.device, *,
           pad: int = 0) -> tuple[Tensor, Tensor]:
    """Ids (rows, length) int64, ``pad`` where there is no token, and a mask, False there."""
    where, lengths = numbered.tokens_of(rows), numbered.lengths[rows]
    row, column = np.repeat(np.arange(len(rows)), lengths), numbered.places[where]
    length = int(column.max(initial=0)) + 1
    ids, mask = np.full((len(rows), length), pad, np.int64), np.zeros((len(rows), length), bool)
    ids[row, column], mask[row, column] = numbered.ids[where], True
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)
