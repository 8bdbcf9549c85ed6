"""Contrastive training: one step of SimCSE beside ``transformers`` with plain autograd, and the
memory of a large batch read in parts.

Both sides have the weights of the course's control (4 x 256, random initialisation), the same
tokens, every sentence twice under dropout, InfoNCE, clipped gradients, and AdamW with a rate of 0,
so that every run does the same. Masks of dropout are each side's own; so the gate looks at loss and
all gradients without dropout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .measure import Case, fixed_threads
from .peers import transformers
from .texts import pair_sentences

TOLERANCE = 1e-4                                # of the largest gradient
DROPOUT, TEMPERATURE, SEED = 0.1, 0.05, 1
PART = 16                                       # rows read at a time where memory is saved
LARGE = 512                                     # sentences in the batch measured for memory
GOAL = 1.5


def _sentences(n: int) -> list[str]:
    texts = pair_sentences(split="train")
    return [texts[i % len(texts)] for i in range(n)]


class Ours:
    """The course's way: no padding, InfoNCE by the kernel; ``part`` rows at a time, or all."""

    def __init__(self, texts: list[str], *, part: int | None = None) -> None:
        from ..contextual import load_encoder
        from ..contrastive.reading import Reading
        self.encoder = load_encoder("lesson-bert-random", device="cpu")
        self.reading = Reading(self.encoder, dropout=DROPOUT)
        self.model, self.part = self.reading.model, part
        self.numbered, self.rows = self.reading.number(texts), np.tile(np.arange(len(texts)), 2)

    def loss(self, *, dropout: bool) -> float:
        """The loss; gradients are then with the weights."""
        from ..contrastive.training import cached_backward, direct_backward
        from ..contrastive.losses import in_batch_loss
        n, size = len(self.rows) // 2, self.part or len(self.rows)
        parts = [partial(self.reading, self.numbered, self.rows[i : i + size],
                         seed=SEED + i if dropout else None)
                 for i in range(0, len(self.rows), size)]
        backward = cached_backward if self.part else direct_backward
        loss = partial(in_batch_loss, temperature=TEMPERATURE)
        return backward(parts, lambda x: loss(x[:n], x[n:])).item()


class Plain:
    """The usual way: padded rows, a table of cosines, cross-entropy."""

    def __init__(self, encoder: Any, texts: list[str]) -> None:
        self.model = transformers.same_bert(encoder, hidden_dropout_prob=DROPOUT,
                                            attention_probs_dropout_prob=DROPOUT)
        self.ids, self.mask = transformers.padded(transformers.token_ids(encoder, texts) * 2)

    def loss(self, *, dropout: bool) -> float:
        """As `Ours.loss`."""
        import torch
        from torch.nn import functional
        self.model.train(dropout)
        sums = transformers.token_sums(self.model, self.ids, self.mask)
        u, v = functional.normalize(sums).chunk(2)
        loss = functional.cross_entropy(u @ v.T / TEMPERATURE, torch.arange(len(u)))
        loss.backward()
        return loss.item()


def stepper(side: Ours | Plain) -> Callable[[], float]:
    """A function that makes one step of training and gives its loss."""
    import torch
    optimizer = torch.optim.AdamW(side.model.parameters(), lr=0.0, fused=True)

    def step() -> float:
        optimizer.zero_grad()
        loss = side.loss(dropout=True)
        torch.nn.utils.clip_grad_norm_(side.model.parameters(), 1.0)
        optimizer.step()
        return loss
    return step


def same(ours: Ours, theirs: Plain) -> bool:
    """Whether loss and gradients without dropout agree, by the names of ``transformers``."""
    losses, gradients = [], []
    for side in (ours, theirs):
        side.model.zero_grad()
        losses.append(side.loss(dropout=False))
        gradients.append({name: p.grad.numpy() for name, p in side.model.named_parameters()
                          if p.grad is not None})
    a, b = gradients
    return bool(a.keys() == b.keys() and np.isclose(*losses, rtol=TOLERANCE)
                and max(np.abs(a[name] - b[name]).max() for name in b)
                <= TOLERANCE * max(np.abs(g).max() for g in b.values()))


def cases(*, batch: int = 64) -> Iterator[Case]:
    """The race of steps."""
    texts = _sentences(batch)
    ours = Ours(texts)
    theirs = Plain(ours.encoder, texts)
    yield Case("contrastive", f"SimCSE step fp32, {batch} sentences twice, 4 x 256, 1 thread",
               "transformers in padded rows, autograd", stepper(ours), stepper(theirs),
               lambda *_: same(ours, theirs), 2 * batch, "sentences", GOAL,
               f"loss and every gradient equal to {TOLERANCE:g} of the largest, dropout off",
               threads=1)


def _gradients(n: int, part: int | None) -> Callable[[], int]:
    side = Ours(_sentences(n), part=part)

    def work() -> int:
        with fixed_threads(1):
            side.loss(dropout=True)
        return 0

    with fixed_threads(1):
        stepper(side)()                         # gradients are there before and after
    return work


def cached_step(n: int) -> Callable[[], int]:
    """Loss and gradients of n sentences, twice each, read in parts; done for its memory."""
    return _gradients(n, PART)


def direct_step(n: int) -> Callable[[], int]:
    """The same, read at once."""
    return _gradients(n, None)


MEMORY = ({"group": "contrastive", "n": LARGE, "goal_mb": 80.0, "prepared": True,
           "name": f"peak memory of gradients, {LARGE} sentences twice, in parts of {PART}",
           "function": f"{__name__}:cached_step", "unit": "sentences",
           "peer": "the whole batch at once", "peer_function": f"{__name__}:direct_step"},)
