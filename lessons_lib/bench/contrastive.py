"""Cases of contrastive training: one step of SimCSE beside ``transformers`` with plain autograd, and the memory of a large batch read in parts.

Both sides have the weights of the course's control (4 x 256, start weights, which do not change the work), the same sentences in the same pieces,
every sentence twice under dropout, InfoNCE, clipped gradients and AdamW with a rate of 0, so that every run does the same. The peer pads to the
longest sentence, as usual. Masks of dropout are each side's own; so the gate looks at loss and all gradients without dropout. One thread each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core import DataMissing
from .measure import Case, Row, fixed_threads, race
from .memory import measure_memory

__all__ = ["Sizes", "cached_step", "cases", "direct_step", "rows"]

TOLERANCE = 1e-4                                # of the largest gradient
DROPOUT, TEMPERATURE, SEED = 0.1, 0.05, 1
PART = 16                                       # rows read at a time where memory is saved
LARGE = 512                                     # sentences in a batch that is measured for memory
GOAL, GOAL_MB = 1.5, 80.0


@dataclass(frozen=True)
class Sizes:
    """Sentences in a batch; tests use fewer."""

    batch: int = 64


def _sentences(n: int) -> list[str]:
    """Different sentences of the STS benchmark's training part, or of the course's own pairs where LESSONS_DATA is not set; repeats if too few."""
    from ..datasets import load

    try:
        pairs = load("stsb", split="train")
    except DataMissing:
        pairs = load("course-sts")
    both = list(dict.fromkeys(text for pair in zip(pairs.sentence1, pairs.sentence2, strict=True) for text in pair))
    return [both[i % len(both)] for i in range(n)]


class _Ours:
    """The course's way: no padding, InfoNCE by the kernel. Parameters: texts of a batch; part, rows read at a time, None: all."""

    def __init__(self, texts: list[str], *, part: int | None = None) -> None:
        import torch

        from ..contextual import load_encoder
        from ..contrastive.reading import Reading

        self.encoder = load_encoder("lesson-bert-random", device="cpu")
        self.reading = Reading(self.encoder, dropout=DROPOUT)
        self.numbered, self.rows, self.part = self.reading.number(texts), np.tile(np.arange(len(texts)), 2), part
        self.optimizer = torch.optim.AdamW(self.reading.parameters(), lr=0.0, fused=True)

    def loss_and_gradients(self, *, dropout: bool) -> float:
        """The loss; gradients are then with the weights."""
        from ..contrastive.caching import cached_backward, direct_backward
        from ..contrastive.losses import in_batch_loss

        n, size = len(self.rows) // 2, self.part or len(self.rows)
        parts = [partial(self.reading, self.numbered, self.rows[i : i + size], seed=SEED + i if dropout else None)
                 for i in range(0, len(self.rows), size)]
        backward = cached_backward if self.part else direct_backward
        return backward(parts, lambda x: in_batch_loss(x[:n], x[n:], temperature=TEMPERATURE)).item()

    def gradients(self) -> dict[str, np.ndarray]:
        """By the names of ``transformers.BertModel``."""
        return {name: p.grad.numpy() for name, p in self.reading.model.named_parameters() if p.grad is not None}

    def step(self) -> float:
        """One step of training; returns its loss."""
        import torch

        self.optimizer.zero_grad()
        loss = self.loss_and_gradients(dropout=True)
        torch.nn.utils.clip_grad_norm_(self.reading.parameters(), 1.0)
        self.optimizer.step()
        return loss


class _Plain:
    """The usual way: ``transformers.BertModel`` in padded rows, a table of cosines, cross-entropy."""

    def __init__(self, encoder: Any, texts: list[str]) -> None:
        import torch
        import transformers

        config = encoder.reader.model.size.to_config() | {"hidden_dropout_prob": DROPOUT, "attention_probs_dropout_prob": DROPOUT}
        self.model = transformers.BertModel(transformers.BertConfig(**config))
        self.model.load_state_dict(encoder.reader.model.state_dict())
        ids = [encoding.ids for encoding in encoder.tokenizer.engine.encode_batch_fast(texts)] * 2
        longest = max(map(len, ids))
        self.ids = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
        self.mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.0, fused=True)

    def loss_and_gradients(self, *, dropout: bool) -> float:
        """As `_Ours.loss_and_gradients`."""
        import torch
        from torch.nn import functional as F

        self.model.train(dropout)
        last = self.model(input_ids=self.ids, attention_mask=self.mask).last_hidden_state
        vectors = F.normalize((last * self.mask[:, :, None]).sum(1) / self.mask.sum(1, keepdim=True))
        u, v = vectors.chunk(2)
        loss = F.cross_entropy(u @ v.T / TEMPERATURE, torch.arange(len(u)))
        loss.backward()
        return loss.item()

    def gradients(self) -> dict[str, np.ndarray]:
        """By name."""
        return {name: p.grad.numpy() for name, p in self.model.named_parameters() if p.grad is not None}

    def step(self) -> float:
        """One step of training; returns its loss."""
        import torch

        self.optimizer.zero_grad()
        loss = self.loss_and_gradients(dropout=True)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss


def _same(ours: _Ours, theirs: _Plain) -> bool:
    """Whether loss and gradients without dropout agree."""
    losses, found = [], []
    for side in (ours, theirs):
        side.optimizer.zero_grad()
        losses.append(side.loss_and_gradients(dropout=False))
        found.append(side.gradients())
    largest = max(np.abs(g).max() for g in found[1].values())
    return bool(found[0].keys() == found[1].keys() and np.isclose(*losses, rtol=TOLERANCE)
                and max(np.abs(g - found[1][name]).max() for name, g in found[0].items()) <= TOLERANCE * largest)


def _on_one_thread(work: Callable[[], Any]) -> Any:
    with fixed_threads(1):
        return work()


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The race of steps."""
    sizes = sizes or Sizes()
    texts = _sentences(sizes.batch)
    ours = _Ours(texts)
    theirs = _Plain(ours.encoder, texts)
    yield Case("contrastive", f"SimCSE step fp32, {len(texts)} sentences twice, 4 x 256, 1 thread", "transformers in padded rows, autograd",
               partial(_on_one_thread, ours.step), partial(_on_one_thread, theirs.step), lambda *_: _same(ours, theirs), 2 * len(texts), "sentences",
               GOAL, f"loss and every gradient equal to {TOLERANCE:g} of the largest, dropout off")


def _step_of(n: int, part: int | None) -> Callable[[], int]:
    side = _Ours(_sentences(n), part=part)
    _on_one_thread(side.step)                   # gradients and the moments of the optimizer are there before and after

    def work() -> int:
        _on_one_thread(partial(side.loss_and_gradients, dropout=True))
        return 0

    return work


def cached_step(n: int) -> Callable[[], int]:
    """A batch of n sentences, twice each, prepared to be read in parts: what is done for its memory, loss and gradients."""
    return _step_of(n, PART)


def direct_step(n: int) -> Callable[[], int]:
    """The same, read at once."""
    return _step_of(n, None)


def rows(*, repeats: int, tell: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """The group: the races whose name holds ``only``, and the memory of a large batch."""
    yield from race((case for case in cases() if only in case.name), repeats=repeats, tell=tell)
    name = f"peak memory of gradients, {LARGE} sentences twice, in parts of {PART}"
    if only in name:
        tell(f"contrastive: {name}")
        yield measure_memory("contrastive", name, f"{__name__}:cached_step", LARGE, goal_mb=GOAL_MB, prepared=True, peer="the whole batch at once",
                             peer_function=f"{__name__}:direct_step", unit="sentences")
