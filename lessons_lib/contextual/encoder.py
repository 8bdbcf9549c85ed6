"""A contextual model as an `Encoder`: texts in, one vector per text out, or the vectors of all
their tokens.

Texts are numbered, sorted by length and read in batches; what is asked of them (which hidden
states, which tokens, mean or maximum) decides how far the model is run. Taught in lesson
``08_bert_sentence_vectors``; its token vectors are measured in ``09_anisotropy``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch

from ..core import Estimator, check_int, check_memory, shown, track, warn_data
from ..core.parameters import Choice, Flag, Given, Int
from .numbering import Numbered, batches, numbered_rows
from .pooling import Pooling
from .readers import Group

__all__ = ["ContextualEncoder", "TokenStates"]

# in a batch, padding counted; more do not make matrix products faster
TOKENS_AT_ONCE = {"cpu": 512, "cuda": 65_536, "bag": 65_536}
NUMBERS_KEPT = 1 << 26                   # of hidden states that wait for their turn: 256 MB
TRUNCATIONS = ("warn", "error")


@dataclass(frozen=True, eq=False)
class TokenStates:
    """The tokens of one text, in order.

    Parameters
    ----------
    pieces : list of str
    ids : (n,) int64
    special : (n,) bool
        True for [CLS] and [SEP].
    vectors : (layers, n, dim) float32
        The hidden states that were asked for.
    """

    pieces: list[str]
    ids: np.ndarray
    special: np.ndarray
    vectors: np.ndarray


class ContextualEncoder(Estimator):
    """An encoder made of a model and its tokenizer; `load_encoder` makes one by name.

    Notes
    -----
    Without ``batch_invariant`` a vector in another batch differs by about a millionth of its norm
    at most (float32).
    """

    reader = Given(doc="the model", kind="Reader", positional=1)
    tokenizer = Given(doc="cuts texts into the model's tokens", kind="Subwords", positional=2)
    name = Given(kind="str")
    pooling = Given("last", "see `Pooling`", kind="str")
    layer = Given(None, "see `Pooling`", kind="int >= 0")
    special_tokens = Given(True, "see `Pooling`", kind="bool")
    max_length = Int(None, "tokens of the longest text, special ones included; None: what the "
                           "model reads")
    truncation = Choice(*TRUNCATIONS, doc="a longer text is cut with a warning, or refused")
    normalize = Flag(False, "scale vectors to norm 1")
    batch_invariant = Flag(False, "read every text by itself, so that its vector has the same bits "
                                  "whatever stands beside it; slower")
    piece_counts = Given(None, "how often each token stood in the text that the model learned "
                               "from; None where nobody knows", kind="(vocabulary,) int64")
    card = Given(None, "what is known about the model", kind="dict")

    def __repr__(self) -> str:
        # word for word as ever: by it the card of a file of vectors knows its encoder again
        return (f"ContextualEncoder({self.name}: {self.layers} blocks x {self.dim}, "
                f"{self._pooling()}, {self.longest} pieces at most)")

    # ------------------------------------------------------------------------------ what it is

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
        """Tokens of the longest text that is read whole, special ones included."""
        return self.reader.positions if self.max_length is None else self.max_length

    @property
    def pieces(self) -> list[str]:
        """The tokens by id; "" where the tokenizer has none."""
        return self.tokenizer.strings(self.reader.vocabulary)

    @property
    def word_table(self) -> np.ndarray:
        """The raw vectors of all tokens, before place and segment are added and LayerNorm evens
        them out: (vocabulary, dim) float32, a copy.
        """
        return self.reader.word_table.detach().float().cpu().numpy().copy()

    def check(self) -> Self:
        """The encoder, when its settings fit each other and the model; all that encodes calls it.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
        """
        self._check_settings()
        return self

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        self._pooling()
        if self.max_length is not None:
            check_int("max_length", self.max_length, low=self.tokenizer.n_special + 1,
                      high=self.reader.positions)

    def _pooling(self) -> Pooling:
        return self._fitting(Pooling(self.pooling, self.layer, self.special_tokens))

    def _fitting(self, pooling: Pooling) -> Pooling:
        pooling.states(self.layers)
        if pooling.name == "pooler" and self.reader.pooler is None:
            raise ValueError(f"pooling='pooler' is not possible: {self.name} has no pooler among "
                             "its weights; choose 'cls' or 'last'")
        if pooling.name == "max" and not self.reader.per_token:
            raise ValueError(f"pooling='max' is not possible: {self.name} is a mean of tokens, and "
                             "has no state of each; choose 'last'")
        if pooling.name in ("cls", "pooler") and not self.tokenizer.before:
            raise ValueError(f"pooling={pooling.name!r} reads the token before a text, and the "
                             f"tokenizer of {self.name} puts none "
                             "there; choose 'last'")
        return pooling

    # ------------------------------------------------------------------------------ texts

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, in their order; the `Encoder` contract.

        Parameters
        ----------
        texts : iterable of str
        batch_size : int >= 1, default 256
            Texts read at a time at most.
        progress : bool, default False
            Show a bar.

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        TypeError, ValueError
            No texts, settings, a text that is too long with ``truncation="error"``, a model that
            gives NaN.
        torch.OutOfMemoryError
            With a batch size that fits.

        Warns
        -----
        DataWarning
            A text without a token to pool ("" with ``special_tokens=False``); it gets zeros.
        """
        return self._vectors(self._numbered(texts), [self._pooling()], batch_size, progress)[0]

    def encode_each(self, texts: Sequence[str], poolings: Iterable[Pooling | str], *,
                    batch_size: int = 256, progress: bool = False) -> list[np.ndarray]:
        """Vectors of texts by several poolings, for which the model is run once.

        Parameters
        ----------
        texts, batch_size, progress
            As in `encode`.
        poolings : iterable of Pooling or str

        Returns
        -------
        list of (n, dim) float32
            One for each pooling.

        Raises
        ------
        TypeError, ValueError, torch.OutOfMemoryError
            As `encode`.
        """
        if isinstance(poolings, (str, Pooling)) or not isinstance(poolings, Iterable):
            raise TypeError(f"poolings={shown(poolings)} is {type(poolings).__name__}; expected a "
                            "list of poolings, such as ['cls', 'last']")
        chosen = [self._fitting(p if isinstance(p, Pooling) else
                                Pooling(p, special_tokens=self.special_tokens)) for p in poolings]
        if not chosen:
            raise ValueError("poolings holds 0 poolings; expected >= 1")
        return self._vectors(self._numbered(texts), chosen, batch_size, progress)

    def encode_ids(self, rows: Any, *, mask: Any = None, batch_size: int = 256,
                   progress: bool = False) -> np.ndarray:
        """Vectors of texts that are token ids already.

        Parameters
        ----------
        rows : (n, length) int, or list of list of int
            Special tokens included.
        mask : of the same shape, optional
            0 where nothing is to be read, such as in padding.
        batch_size, progress
            As in `encode`.

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        TypeError, ValueError
            An id that is no token (row and place), a mask of another shape; before the device sees
            anything.

        Warns
        -----
        DataWarning
            A row without a token to read; it gets zeros.
        """
        self.check()
        numbered = numbered_rows(rows, mask, vocabulary=self.reader.vocabulary,
                                 longest=self.reader.positions)
        return self._vectors(numbered, [self._pooling()], batch_size, progress)[0]

    def encode_to(self, path: str | os.PathLike, texts: Iterable[str], *, batch_size: int = 256,
                  progress: bool = False) -> np.ndarray:
        """Vectors of texts into a ``.npy`` file, in parts, so that a stopped run goes on.

        Parameters
        ----------
        path : str or path
        texts, batch_size, progress
            As in `encode`.

        Returns
        -------
        (n, dim) float32
            Mapped from the file.

        Raises
        ------
        TypeError, ValueError, FileExistsError, DamagedFile
            See `encode_to` of the room.
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
        begins = numbered.offsets[:-1][numbered.lengths > 0]
        wrong = np.flatnonzero(numbered.places[begins])
        if len(wrong) and any(pooling.name in ("cls", "pooler") for pooling in poolings):
            row = np.flatnonzero(numbered.lengths > 0)[wrong[0]]
            raise ValueError(f"mask[{row}][0] is 0 although the row has tokens to read "
                             f"({len(wrong)} of {len(numbered)} rows); pooling='cls' and "
                             "'pooler' need position 0. Pad on the right")
        check_memory(f"{len(poolings)} x {len(numbered):,} vectors of {self.dim:,} numbers",
                     4 * len(poolings) * len(numbered) * self.dim, "Encode fewer texts at once, or "
                     "into a file: encode_to")
        result = [np.zeros((len(numbered), self.dim), np.float32) for _ in poolings]
        read = [pooling.states(self.layers) for pooling in poolings]
        special = torch.tensor(sorted(self.tokenizer.special), device=self.reader.device)
        for group in self._groups(numbered, frozenset().union(*read), batch_size, progress):
            for vectors, pooling, states in zip(result, poolings, read, strict=True):
                mask = group.mask
                if not pooling.special_tokens:
                    mask = mask & ~torch.isin(group.ids, special)
                pooled = pooling({number: group.states[number] for number in states}, mask,
                                 self.reader.pooler, normalize=self.normalize)
                vectors[group.rows] = pooled.cpu().numpy()
                finite = np.isfinite(vectors[group.rows]).all(axis=1)
                if not finite.all():
                    first = int(group.rows[~finite].min())
                    raise ValueError(_not_finite(self.name, int((~finite).sum()), first))
        self._warn_empty(numbered, poolings)
        return result

    def _warn_empty(self, numbered: Numbered, poolings: list[Pooling]) -> None:
        """One warning for texts that have nothing to pool."""
        counts = numbered.lengths
        if len(numbered) and not all(pooling.special_tokens for pooling in poolings):
            inner = np.append(~self.tokenizer.special_mask(numbered.ids), False)
            counts = np.add.reduceat(inner.astype(np.int64), numbered.offsets[:-1]) * (counts > 0)
        empty = np.flatnonzero(counts == 0)
        if len(empty):
            warn_data(f"{len(empty)} of {len(numbered)} texts have no token to pool (first: "
                      f"texts[{empty[0]}]); their vectors are zeros", stacklevel=4)

    # ------------------------------------------------------------------------------ tokens

    def hidden_states(self, texts: Iterable[str], *, layers: int | Sequence[int] | None = None,
                      batch_size: int = 256, progress: bool = False) -> Iterator[TokenStates]:
        """The tokens of each text with their vectors, text after text in the order given.

        Parameters
        ----------
        texts, batch_size, progress
            As in `encode`; memory holds some texts at a time.
        layers : int or sequence of int, optional
            Numbers of hidden states, 0 for the output of the embeddings; None: all.

        Yields
        ------
        TokenStates
            One for each text, special tokens included and marked.

        Raises
        ------
        TypeError, ValueError, torch.OutOfMemoryError
            As `encode`.
        """
        if not self.reader.per_token:
            raise ValueError(f"{self.name} is a mean of tokens, and has no hidden state of each; "
                             "the vectors of tokens themselves: encoder.word_table")
        if not (layers is None or isinstance(layers, Iterable)):
            layers = [check_int("layers", layers, low=0, high=self.layers)]
        wanted = list(range(self.layers + 1)) if layers is None else list(layers)
        wanted = [check_int(f"layers[{i}]", number, low=0, high=self.layers)
                  for i, number in enumerate(wanted)]
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

    # ------------------------------------------------------------------------------ reading

    def _groups(self, numbered: Numbered, wanted: Collection[int], batch_size: int,
                progress: bool) -> Iterator[Group]:
        """Hidden states of all texts that have a token, in groups of equal length."""
        some = np.flatnonzero(numbered.lengths)
        texts = 1 if self.batch_invariant else batch_size
        tokens = TOKENS_AT_ONCE[self.reader.device.type if self.reader.per_token else "bag"]
        plan = list(batches(numbered.lengths[some], texts=texts, tokens=tokens))
        for batch in track(plan, total=len(some), label=self.name, show=progress, size=len,
                           unit=" texts"):
            rows = some[batch]
            with torch.inference_mode():
                groups = self._read(numbered, rows, wanted)
            yield from groups

    def _read(self, numbered: Numbered, rows: np.ndarray, wanted: Collection[int]) -> list[Group]:
        """One batch; a model in the midst of its training is read without dropout, and goes on."""
        model, trains = self.reader.model, self.reader.model.training
        try:
            if trains:
                model.eval()
            return list(self.reader.read(numbered, rows, wanted))
        except torch.OutOfMemoryError as error:
            peak = torch.cuda.max_memory_allocated(self.reader.device) / 1e9
            raise torch.OutOfMemoryError(
                f"{len(rows)} texts of up to {int(numbered.lengths[rows].max())} tokens at a time "
                f"do not fit (peak {peak:.1f} GB): {str(error).split('. ')[0]}. Read fewer: "
                f"batch_size={max(1, len(rows) // 2)}") from error
        finally:
            if trains:
                model.train()

    # ------------------------------------------------------------------------------ other programs

    def to_sentence_transformers(self) -> Any:
        """The same encoder as a ``SentenceTransformer``, with a copy of its weights on the CPU.

        A chosen ``layer`` becomes a model with as many blocks.

        Returns
        -------
        sentence_transformers.SentenceTransformer

        Raises
        ------
        BackendUnavailable
            The package is not installed.
        ValueError
            A pooling of several layers, "pooler", layer 0 or ``special_tokens=False``, which have
            no counterpart there.
        """
        from .interop import to_sentence_transformers

        self.check()
        return to_sentence_transformers(
            self.reader, self.tokenizer, Pooling(self.pooling, self.layer, self.special_tokens),
            longest=self.longest, normalize=self.normalize)

    @classmethod
    def from_sentence_transformers(cls, model: Any, *, name: str | None = None) -> Self:
        """A ``SentenceTransformer`` as an encoder; a BERT's weights are copied, others are shared.

        Parameters
        ----------
        model : sentence_transformers.SentenceTransformer
        name : str, optional

        Returns
        -------
        ContextualEncoder

        Raises
        ------
        TypeError
            No such model.
        ValueError
            Modules other than a Transformer, one Pooling (mean, cls or max) and Normalize.
        """
        from .interop import from_sentence_transformers

        return cls(**from_sentence_transformers(model, name=name))


def _not_finite(name: str, count: int, first: int) -> str:
    return (f"{name} gives NaN or infinity for {count} texts (first: texts[{first}]); its weights "
            "may be damaged, or too large for its precision: load it with precision='float32'")
