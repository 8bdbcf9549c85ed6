"""A model that learns: texts in, one vector per text out, with gradients and dropout, on a copy of
the encoder it began from.

Which units dropout leaves out is decided by one number, so the same texts can be read again with
the same masks: that makes two views equal that shall be equal, lets large batches be read twice,
and lets a stopped run go on bit by bit. Used by the trainers; taught in ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..contextual import ContextualEncoder, Pooling
from ..contextual.lesson_bert import set_dropout
from ..contextual.numbering import Numbered
from ..contextual.readers import Group, Reader
from ..core import check_choice, check_float, check_int, check_kind, check_seed
from ..core.gradient_run import seeded

__all__ = ["PRECISIONS", "Reading", "an_encoder", "derived_seed"]

PRECISIONS = ("float32", "bfloat16")


def derived_seed(*numbers: int) -> int:
    """One seed out of several whole numbers >= 0, such as those of run, step and view."""
    state = np.random.SeedSequence([len(numbers), *numbers]).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def an_encoder(name: str, value: Any) -> ContextualEncoder:
    """The encoder. Raises TypeError for what is none."""
    return check_kind(name, value, ContextualEncoder, "a ContextualEncoder. Make one: "
                      "ll.contextual.load_encoder('lesson-bert')")


class Reading(nn.Module):
    """A trainable copy of the model of a `ContextualEncoder`, which is never changed itself.
    Pooling, longest text and shares of dropout are the encoder's where they are None; precision is
    what is calculated in (weights stay float32, by `torch.autocast`). Raises TypeError, ValueError.
    """

    def __init__(self, encoder: ContextualEncoder, *, pooling: Pooling | str | None = None,
                 dropout: float | None = None, max_length: int | None = None,
                 precision: str = "float32") -> None:
        super().__init__()
        an_encoder("encoder", encoder).check()
        self.precision = check_choice("precision", precision, PRECISIONS)
        if pooling is None:
            pooling = encoder._pooling()
        elif not isinstance(pooling, Pooling):
            pooling = Pooling(pooling, special_tokens=encoder.special_tokens)
        self.pooling = encoder._fitting(pooling)
        if max_length is not None:
            check_int("max_length", max_length, low=encoder.tokenizer.n_special + 1,
                      high=encoder.reader.positions)
        self.longest = encoder.longest if max_length is None else max_length
        self._encoder = encoder
        self.model = deepcopy(encoder.reader.model).float().requires_grad_(True).train()
        self.reader = _reader_of(encoder.reader, self.model)
        if dropout is not None:
            set_dropout(self.model, check_float("dropout", dropout, low=0.0, high=0.9))

    @property
    def dim(self) -> int:
        """Numbers per vector."""
        return self.reader.dim

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.reader.device

    def number(self, texts: Iterable[str]) -> Numbered:
        """Texts as token ids, to be read by their row numbers. Raises TypeError, ValueError."""
        return self._encoder.tokenizer.number(texts, longest=self.longest,
                                              refuse=self._encoder.truncation == "error")

    def forward(self, numbered: Numbered, rows: np.ndarray, *, seed: int | None = None) -> Tensor:
        """Vectors (len(rows), dim) float32 of texts, with gradients. The same rows and seed give
        the same masks of dropout; None: nothing is left out. A text without a token is a zero
        vector.
        """
        rows = np.asarray(rows, dtype=np.int64)
        lengths = numbered.lengths[rows]
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        if not len(order):
            return torch.zeros(len(rows), self.dim, device=self.device,
                               requires_grad=torch.is_grad_enabled())
        with self._chance(seed), torch.autocast(self.device.type, torch.bfloat16,
                                                enabled=self.precision == "bfloat16"):
            groups = self.reader.read(numbered, rows[order],
                                      self.pooling.states(self.reader.blocks))
            vectors = torch.cat([self._pooled(group) for group in groups])
        back = np.full(len(rows), len(order))
        back[order] = np.arange(len(order))
        if len(order) < len(rows):
            vectors = torch.cat([vectors, vectors.new_zeros(1, self.dim)])
        return vectors[torch.from_numpy(back).to(vectors.device)]

    def _pooled(self, group: Group) -> Tensor:
        mask = group.mask
        if not self.pooling.special_tokens:
            special = torch.tensor(sorted(self._encoder.tokenizer.special), device=mask.device)
            mask = mask & ~torch.isin(group.ids, special)
        return self.pooling(group.states, mask, self.reader.pooler)

    @contextmanager
    def _chance(self, seed: int | None) -> Iterator[None]:
        """Dropout by the seed, or none at all; Torch's own generators are then as they were."""
        trains = self.model.training
        self.model.train(seed is not None)
        try:
            with nullcontext() if seed is None else seeded(check_seed(seed), self.device):
                yield
        finally:
            self.model.train(trains)

    def encoder(self, *, copy: bool = True) -> ContextualEncoder:
        """An encoder with the weights as they are now, which pools as was trained; without ``copy``
        its weights go on learning with these.
        """
        reader = _reader_of(self._encoder.reader, deepcopy(self.model) if copy else self.model)
        if copy:
            reader.model.eval().requires_grad_(False)
        return ContextualEncoder(**self._encoder.get_params() | {
            "reader": reader, "pooling": self.pooling.name, "layer": self.pooling.layer,
            "special_tokens": self.pooling.special_tokens})


def _reader_of(reader: Reader, model: nn.Module) -> Reader:
    """The same way to read with another model of the same kind."""
    return type(reader)(model, has_pooler=reader.pooler is not None)
