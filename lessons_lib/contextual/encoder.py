"""A contextual model as an `Encoder`: texts in, one vector per text out, or the vectors of all
their tokens.

Texts are numbered, sorted by length and read in batches; what is asked of them (which hidden
states, which tokens, mean or maximum) decides how far the model is run. Taught in lesson
``08_bert_sentence_vectors``; its token vectors are measured in ``09_anisotropy``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch

from ..core import Estimator, check_choice, check_int, shown, track, warn_data
from .batching import Numbered, batches, numbered_rows
from .pieces import Pieces
from .pooling import Pooling
from .readers import Group, Reader

__all__ = ["ContextualEncoder", "TokenStates"]

# places in a batch; more do not make matrix products faster
TOKENS_AT_ONCE = {"cpu": 512, "cuda": 65_536}
NUMBERS_KEPT = 1 << 26  # of hidden states that wait for their turn: 256 MB
TRUNCATIONS = ("warn", "error")


@dataclass(frozen=True, eq=False)
class TokenStates:
    """The tokens of one text, in order: ``pieces`` (n) str; ``ids`` (n,) int64; ``special`` (n,)
    bool, True for [CLS] and [SEP]; ``vectors`` (layers, n, dim) float32, the hidden states that
    were asked for.
    """

    pieces: list[str]
    ids: np.ndarray
    special: np.ndarray
    vectors: np.ndarray


class ContextualEncoder(Estimator):
    """An encoder made of a model and its tokenizer; `load_encoder` makes one by name.

    Parameters
        reader, tokenizer: the model and what cuts texts into its pieces. name. pooling, layer,
        special_tokens: see `Pooling`. max_length: pieces of the longest text, special ones
        included, None: what the model reads. truncation: a longer text is cut with a warning
        ("warn") or refused ("error"). normalize: scale vectors to length 1. batch_invariant: read
        every text by itself, so that its vector has the same bits whatever stands beside it;
        slower. piece_counts: how often each piece stood in the text that the model learned from
        (vocabulary,), None where nobody knows. card: what is known about the model.
    Notes
        Without ``batch_invariant`` a vector in another batch differs by about a millionth of its
        length at most (float32).
    """

    def __init__(self, reader: Reader, tokenizer: Pieces, *, name: str, pooling: str = "last",
                 layer: int | None = None, special_tokens: bool = True,
                 max_length: int | None = None, truncation: str = "warn", normalize: bool = False,
                 batch_invariant: bool = False, piece_counts: np.ndarray | None = None,
                 card: dict[str, Any] | None = None):
        self.reader, self.tokenizer, self.name = reader, tokenizer, name
        self.pooling, self.layer, self.special_tokens = pooling, layer, special_tokens
        self.max_length, self.truncation, self.normalize, self.batch_invariant = max_length, truncation, normalize, batch_invariant
        self.piece_counts, self.card = piece_counts, card

    def __repr__(self) -> str:
        return (f"ContextualEncoder({self.name}: {self.layers} blocks x {self.dim}, "
                f"{self._pooling()}, {self.longest} pieces at most)")

    # -------------------------------------------------------------------------- what it is

    @property
    def dim(self) -> int:
        """Numbers per vector."""
        return self.reader.dim

    @property
    def layers(self) -> int:
        """Blocks of the model; it has one hidden state more, number 0."""
        return self.reader.blocks

    @property
    def longest(self) -> int:
        """Pieces of the longest text that is read whole, special ones included."""
        return self.reader.positions if self.max_length is None else self.max_length

    @property
    def pieces(self) -> list[str]:
        """The pieces by id; "" where the tokenizer has none."""
        return self.tokenizer.strings(self.reader.vocabulary)

    @property
    def word_table(self) -> np.ndarray:
        """The raw vectors of all pieces, before place and segment are added and LayerNorm evens
        them out: (vocabulary, dim) float32, a copy.
        """
        return self.reader.word_table.detach().float().cpu().numpy().copy()

    def check(self) -> Self:
        """Raise TypeError or ValueError for settings that do not fit each other or the model;
        called by everything that encodes.
        """
        self._pooling()
        check_choice("truncation", self.truncation, TRUNCATIONS)
        least = self.tokenizer.n_special + 1
        if self.max_length is not None:
            check_int("max_length", self.max_length, low=least, high=self.reader.positions)
        for name in ("normalize", "batch_invariant"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}={shown(getattr(self, name))} is "
                                f"{type(getattr(self, name)).__name__}; expected True or False")
        return self

    def _pooling(self) -> Pooling:
        return self._fitting(Pooling(self.pooling, self.layer, self.special_tokens))

    def _fitting(self, pooling: Pooling) -> Pooling:
        pooling.states(self.layers)
        if pooling.name == "pooler" and self.reader.pooler is None:
            raise ValueError(f"pooling='pooler' is not possible: {self.name} has no pooler among "
                             "its weights; choose 'cls' or 'last'")
        if pooling.name in ("cls", "pooler") and not self.tokenizer.before:
            raise ValueError(f"pooling={pooling.name!r} reads the piece before a text, and the "
                             f"tokenizer of {self.name} puts none "
                             "there; choose 'last'")
        return pooling

    # -------------------------------------------------------------------------- vectors of texts

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, (n, dim) float32, in their order; the `Encoder` contract.

        Parameters: texts, any iterable of str; batch_size, texts read at a time at most; progress,
        show a bar. A text without a token to pool ("" with ``special_tokens=False``) is a zero
        vector, with one DataWarning. Raises TypeError, ValueError (no texts, settings, a text that
        is too long with ``truncation="error"``, a model that gives NaN), OutOfMemoryError with a
        batch size that fits.
        """
        return self._vectors(self._numbered(texts), [self._pooling()], batch_size, progress)[0]

    def encode_each(self, texts: Sequence[str], poolings: Iterable[Pooling | str], *,
                    batch_size: int = 256, progress: bool = False) -> list[np.ndarray]:
        """Vectors of texts by several poolings, for which the model is run once; what the map of
        poolings and layers in lesson 08 is made of.

        Parameters: poolings, each a `Pooling` or the name of one; others as `encode`. Returns for
        each (n, dim) float32. Raises as `encode`.
        """
        if isinstance(poolings, (str, Pooling)) or not isinstance(poolings, Iterable):
            raise TypeError(f"poolings={shown(poolings)} is {type(poolings).__name__}; expected a "
                            "list of poolings, such as ['cls', 'last']")
        chosen = [
            self._fitting(
                p if isinstance(p, Pooling) else Pooling(p, special_tokens=self.special_tokens))
            for p in poolings
        ]
        if not chosen:
            raise ValueError("poolings holds 0 poolings; expected >= 1")
        return self._vectors(self._numbered(texts), chosen, batch_size, progress)

    def encode_ids(self, rows: Any, *, mask: Any = None, batch_size: int = 256,
                   progress: bool = False) -> np.ndarray:
        """Vectors of texts that are cut into pieces already, (n, dim) float32.

        Parameters: rows, (n, length) or a list of lists of piece ids, special pieces included;
        mask, of the same shape, 0 where nothing is to be read, such as in padding; others as
        `encode`. A row without a piece to read is a zero vector, with one DataWarning. Raises
        TypeError, ValueError (an id that is no piece: row, place; a mask of another shape), before
        the device sees anything.
        """
        self.check()
        numbered = numbered_rows(rows, mask, vocabulary=self.reader.vocabulary,
                                 longest=self.reader.positions)
        return self._vectors(numbered, [self._pooling()], batch_size, progress)[0]

    def encode_to(self, path: str | os.PathLike, texts: Iterable[str], *, batch_size: int = 256,
                  progress: bool = False) -> np.ndarray:
        """Vectors of texts into a ``.npy`` file, in parts, so that a run that was stopped goes on;
        see `encode_to`.
        """
        from .vectors_file import encode_to

        return encode_to(self, path, texts, batch_size=batch_size, progress=progress)

    def _numbered(self, texts: Iterable[str]) -> Numbered:
        self.check()
        return self.tokenizer.number(texts, longest=self.longest, refuse=self.truncation == "error")

    @torch.inference_mode()
    def _vectors(self, numbered: Numbered, poolings: list[Pooling], batch_size: int,
                 progress: bool) -> list[np.ndarray]:
        check_int("batch_size", batch_size)
        self._check_first(numbered, poolings)
        found = [np.zeros((len(numbered), self.dim), np.float32) for _ in poolings]
        read = [pooling.states(self.layers) for pooling in poolings]
        for group in self._groups(numbered, frozenset().union(*read), batch_size, progress):
            for vectors, pooling, states in zip(found, poolings, read, strict=True):
                mask = group.mask if pooling.special_tokens else group.mask & ~self._special(group)
                pooled = pooling({number: group.states[number] for number in states}, mask,
                                 self.reader.pooler, normalize=self.normalize)
                vectors[group.rows] = pooled.cpu().numpy()
                _check_finite(vectors, group.rows, self.name)
        self._warn_empty(numbered, poolings)
        return found

    def _special(self, group: Group) -> torch.Tensor:
        return torch.isin(group.ids,
                          torch.tensor(sorted(self.tokenizer.special), device=group.ids.device))

    def _check_first(self, numbered: Numbered, poolings: list[Pooling]) -> None:
        """A vector at position 0 needs a piece there."""
        begins = numbered.offsets[:-1][numbered.lengths > 0]
        wrong = np.flatnonzero(numbered.places[begins])
        if len(wrong) and any(pooling.name in ("cls", "pooler") for pooling in poolings):
            row = np.flatnonzero(numbered.lengths > 0)[wrong[0]]
            raise ValueError(f"mask[{row}][0] is 0 although the row has pieces to read "
                             f"({len(wrong)} of {len(numbered)} rows); pooling='cls' and "
                             "'pooler' need position 0. Pad on the right")

    def _warn_empty(self, numbered: Numbered, poolings: list[Pooling]) -> None:
        """One warning for texts that have nothing to pool."""
        counts = numbered.lengths
        if not all(pooling.special_tokens for pooling in poolings):
            inner = np.append(~self.tokenizer.special_mask(numbered.ids), False)
            counts = (np.add.reduceat(inner.astype(np.int64), numbered.offsets[:-1]) * (counts > 0)
                      if len(numbered)
                      else counts)
        empty = np.flatnonzero(counts == 0)
        if len(empty):
            warn_data(f"{len(empty)} of {len(numbered)} texts have no piece to pool (first: "
                      f"texts[{empty[0]}]); their vectors are zeros",
                      stacklevel=4)

    # -------------------------------------------------------------------------- vectors of tokens

    def hidden_states(self, texts: Iterable[str], *, layers: int | Sequence[int] | None = None,
                      batch_size: int = 256, progress: bool = False) -> Iterator[TokenStates]:
        """The tokens of each text with their vectors, text after text in the order given; memory
        holds some texts at a time.

        Parameters: texts; layers, numbers of hidden states, 0 for the output of the embeddings,
        None: all, from 0 to ``layers``; others as `encode`. Yields a `TokenStates` per text,
        special pieces included and marked. Raises as `encode`.
        """
        if not (layers is None or isinstance(layers, Iterable)):
            layers = [check_int("layers", layers, low=0, high=self.layers)]
        wanted = list(range(self.layers + 1)) if layers is None else list(layers)
        wanted = ([
            check_int(f"layers[{i}]", number, low=0, high=self.layers)
            for i, number in enumerate(wanted)
        ])
        if not wanted:
            raise ValueError("layers holds 0 numbers; expected >= 1, or None for all")
        check_int("batch_size", batch_size)
        return self._token_states(self._numbered(texts), wanted, batch_size, progress)

    def _token_states(self, numbered: Numbered, wanted: list[int], batch_size: int,
                      progress: bool) -> Iterator[TokenStates]:
        strings, kept = self.pieces, max(1, NUMBERS_KEPT // (self.dim * len(wanted)))
        spans = np.searchsorted(numbered.offsets, np.arange(0, numbered.offsets[-1] + kept, kept),
                                side="left").clip(max=len(numbered))
        bounds = list(dict.fromkeys([0, *spans.tolist(), len(numbered)]))
        windows = track(list(pairwise(bounds)), total=len(numbered), label=self.name, show=progress,
                        size=lambda w: w[1] - w[0], unit=" texts")
        for first, last in windows:
            part = numbered.part(first, last)
            vectors = {}
            for group in self._groups(part, frozenset(wanted), batch_size, False):
                stacked = torch.stack([group.states[number].float() for number in wanted],
                                      dim=1).cpu().numpy()
                for row, of_text, seen in zip(group.rows.tolist(), stacked,
                                              group.mask.cpu().numpy(), strict=True):
                    vectors[row] = of_text[:, seen]
                    if not np.isfinite(vectors[row]).all():
                        raise ValueError(_not_finite(self.name, 1, first + row))
            for row in range(last - first):
                ids = part.ids[part.offsets[row] : part.offsets[row + 1]].astype(np.int64)
                nothing = np.zeros((len(wanted), 0, self.dim), np.float32)
                yield TokenStates([strings[i] for i in ids], ids, self.tokenizer.special_mask(ids),
                                  vectors.pop(row, nothing))

    # -------------------------------------------------------------------------- reading

    def _groups(self, numbered: Numbered, wanted: Collection[int], batch_size: int,
                progress: bool) -> Iterator[Group]:
        """Hidden states of all texts that have a token, in groups of equal length."""
        some = np.flatnonzero(numbered.lengths)
        texts = 1 if self.batch_invariant else batch_size
        plan = list(
            batches(numbered.lengths[some], texts=texts, tokens=TOKENS_AT_ONCE.get(
                self.reader.device.type, 65_536)))
        for batch in track(plan, total=len(some), label=self.name, show=progress, size=len,
                           unit=" texts"):
            rows = some[batch]
            with torch.inference_mode():
                groups = self._read(numbered, rows, wanted)
            yield from groups

    def _read(self, numbered: Numbered, rows: np.ndarray, wanted: Collection[int]) -> list[Group]:
        """One batch; a model in the middle of its training is read without dropout, and goes on as
        it was.
        """
        model, trains = self.reader.model, self.reader.model.training
        try:
            if trains:
                model.eval()
            return list(self.reader.read(numbered, rows, wanted))
        except torch.OutOfMemoryError as error:
            peak = torch.cuda.max_memory_allocated(self.reader.device) / 1e9
            raise torch.OutOfMemoryError(f"{len(rows)} texts of up to "
                                         f"{int(numbered.lengths[rows].max())} pieces at a time do "
                                         "not fit (peak "
                                         f"{peak:.1f} GB): {str(error).split('. ')[0]}. Read "
                                         f"fewer: batch_size={max(1, len(rows) // 2)}") from error
        finally:
            if trains:
                model.train()

    # -------------------------------------------------------------------------- other programs

    def to_sentence_transformers(self) -> Any:
        """The same encoder as a ``sentence_transformers.SentenceTransformer``; see `interop`."""
        from .interop import to_sentence_transformers

        return to_sentence_transformers(self)

    @classmethod
    def from_sentence_transformers(cls, model: Any, *, name: str | None = None) -> Self:
        """A ``SentenceTransformer`` as an encoder; see `interop`."""
        from .interop import from_sentence_transformers

        return cls(**from_sentence_transformers(model, name=name))


def _check_finite(vectors: np.ndarray, rows: np.ndarray, name: str) -> None:
    finite = np.isfinite(vectors[rows]).all(axis=1)
    if not finite.all():
        raise ValueError(_not_finite(name, int((~finite).sum()), int(rows[~finite].min())))


def _not_finite(name: str, count: int, first: int) -> str:
    return (f"{name} gives NaN or infinity for {count} texts (first: texts[{first}]); its weights "
            "may be damaged, or too large for its precision: "
            "load it with precision='float32'")
