"""One training run of a LessonBert: a step, and what is measured on the way.

A step depends on its number and the weights alone: rows, masks and dropout are drawn from seed and
number. What a run has in common with others, such as going on to the same bits, is in
`core.gradient_run`. Used by `pretraining.pretrain`.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..core import TrainingDiverged, generator, gradient_run
from ..datasets import load
from ..vectors import WordVectors
from .lesson_bert import LessonBertForPretraining, set_dropout
from .masking import Masked, mask_rows
from .packing import Rows, TokenStream
from .ranks import Ranks
from .recipes import Recipe, doublings, moments
from .statistics import sampled_pieces, table_frame, table_statistics

__all__ = ["Training", "start_from"]

HELD_OUT_ROWS = 512
FAR = 10.0            # times the loss of guessing: no sound run comes near it, not even at first
ROWS_AT_ONCE = 128                                # when measuring
CURVE_POINTS = 200
BETAS = (0.9, 0.98)   # the second is low: large early gradients fade sooner (Liu et al. 2019)


@dataclass
class Batch:
    """Some rows of a step as the model reads them."""

    hidden: Masked
    segments: Tensor
    unrelated: Tensor


@dataclass
class Record(gradient_run.Record):
    """What was noted on the way: tokens read before by the model that the run began with, seconds
    of work, points of the curve, what was seen at the moments.
    """

    before: int = 0
    seconds: float = 0.0
    curve: list[list[float]] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)


@torch.no_grad()
def start_from(table: Tensor, subwords: list[str], vectors: WordVectors, *, seed: int = 0) -> None:
    """Give every subword that is a whole word the direction of its vector, in place: centred,
    turned into the dimension of the table by orthonormal rows, and with the norm the subword had.
    The others keep what they are.
    """
    rows = [i for i, subword in enumerate(subwords) if subword in vectors]
    known = vectors[[subwords[i] for i in rows]].astype(np.float64)
    known -= known.mean(axis=0)
    wide, narrow = max(known.shape[1], table.shape[1]), min(known.shape[1], table.shape[1])
    turn = np.linalg.qr(generator(seed).normal(size=(wide, narrow)))[0]
    known = known @ (turn if known.shape[1] == wide else turn.T)
    there = torch.from_numpy(known).to(table)
    table[rows] = F.normalize(there, dim=1) * table[rows].norm(dim=1, keepdim=True)


class Training(gradient_run.GradientRun):
    """Model, optimizer and record of one run; ranks are this process and its device."""

    unit = " tokens"

    def __init__(self, recipe: Recipe, stream: TokenStream, ranks: Ranks) -> None:
        model = LessonBertForPretraining(recipe.size(len(stream.tokenizer)), seed=recipe.seed)
        if recipe.word_table != "random":
            start_from(model.bert.embeddings.word_embeddings.weight, stream.tokenizer.pieces,
                       load("course-vectors", model=recipe.word_table), seed=recipe.seed)
        super().__init__(model.to(ranks.device).train(), Record(), steps=recipe.steps,
                         every=max(1, recipe.steps // CURVE_POINTS), items=recipe.tokens_per_step,
                         learning_rate=recipe.learning_rate, weight_decay=recipe.weight_decay,
                         clip=recipe.clip, device=ranks.device, betas=BETAS)
        self.recipe, self.ranks, self.tokenizer = recipe, ranks, stream.tokenizer
        self.frames: list[np.ndarray] = []
        self.counts = stream.counts()
        self.sampled = sampled_pieces(self.counts)
        self._called: Any = self.model
        if recipe.compiled:  # a CPU draws dropout faster by torch's own loop than by a compiled one
            own = {"fallback_random": ranks.device.type == "cpu"}
            self._called = torch.compile(self.model, options=own)
        options = {"seed": recipe.seed, "next_sentence": recipe.next_sentence,
                   "device": ranks.device}
        self.rows = Rows(stream, recipe.row, **options)
        self.held_out = Rows(stream, recipe.row, held_out=True, **options)
        self._kept_at = {*moments(recipe.steps), *doublings(recipe)}
        self.goes_on = None
        if recipe.whole_words:
            self.goes_on = torch.from_numpy(stream.tokenizer.goes_on).to(ranks.device)

    def batch(self, rows: Rows, numbers: np.ndarray) -> Batch:
        """Rows by their numbers in the run, with places hidden."""
        ids, segments, unrelated = rows(numbers)
        hidden = mask_rows(ids, torch.from_numpy(numbers).to(ids.device), n=self.recipe.hidden,
                           seed=self.recipe.seed, vocabulary=len(self.tokenizer),
                           goes_on=self.goes_on)
        return Batch(hidden, segments, unrelated)

    def _read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        half = self.recipe.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            return self._called(batch.hidden.ids, batch.hidden.positions, segments=batch.segments)

    def _losses(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sums over places and over rows, float32."""
        scores, follows = self._read(batch)
        each = F.cross_entropy(scores.float(), batch.hidden.labels.flatten(), reduction="none")
        of_rows = follows.sum() * 0
        if self.recipe.next_sentence:
            of_rows = F.cross_entropy(follows.float(), batch.unrelated, reduction="sum")
        return (each * batch.hidden.weights.flatten()).sum(), of_rows

    def step(self) -> None:
        """Read one batch and change the weights once. The loss is a mean over all hidden places of
        all processes. Raises OutOfMemoryError with an ``accumulate`` that fits.
        """
        recipe = self.recipe
        set_dropout(self.model, recipe.dropout_at(self.record.step))
        try:
            loss = self._backward(self.record.step)
        except torch.OutOfMemoryError as error:
            raise torch.OutOfMemoryError(
                f"{recipe.batch // recipe.accumulate} rows of {recipe.row} at a time do not fit: "
                f"{str(error).split('. ')[0]}. Work on a step in more parts: accumulate="
                f"{min(recipe.batch, 2 * recipe.accumulate)} (--accumulate)") from error
        self.ranks.add_gradients(self.model)
        self.advance(self.ranks.total(loss), rate=recipe.rate(self.record.step))

    def _backward(self, number: int) -> Tensor:
        """Add the gradients of this process's rows. Returns its part of the loss."""
        recipe, ranks = self.recipe, self.ranks
        rows = np.arange(number * recipe.batch, (number + 1) * recipe.batch, dtype=np.int64)
        mine = rows[ranks.share(recipe.batch)]
        batches = [self.batch(self.rows, part)
                   for part in np.array_split(mine, min(recipe.accumulate, len(mine)))]
        hidden = torch.stack([b.hidden.weights.sum() for b in batches]).sum()
        places = ranks.total(hidden).clamp(min=1.0)
        loss = torch.zeros((), device=ranks.device)
        words = np.random.SeedSequence([recipe.seed, number, ranks.rank])
        seed = int(words.generate_state(1, np.uint64)[0] >> np.uint64(1))
        with (gradient_run.seeded(seed, self.device) if recipe.dropout_at(number)
              else nullcontext()):
            for batch in batches:
                of_places, of_rows = self._losses(batch)
                part = of_places / places + of_rows / recipe.batch
                part.backward()
                loss = loss + part.detach()
        return loss

    @property
    def tokens(self) -> int:
        """Places read so far, also by the model that the run began with."""
        return self.record.before + self.record.step * self.recipe.tokens_per_step

    def due(self) -> bool:
        """Whether something is to be noted after the steps done so far."""
        return self.record.step % self.every == 0 or self.record.step in self._kept_at

    def note(self) -> None:
        """Add a point to the curve, and look at word table and held-out rows at the moments."""
        record, tokens = self.record, self.tokens
        if record.steps_in_loss:
            self.check()
            record.curve.append([tokens, round(self.mean_loss(), 4)])
            self.begin_line()
        seen = bool(record.seen) and record.seen[-1]["tokens"] == tokens
        if record.step in moments(self.steps) and not seen:
            table = self.model.bert.embeddings.word_embeddings.weight.detach().cpu().numpy()
            record.seen.append({"step": record.step, "tokens": tokens} | self.measure()
                               | table_statistics(table, self.counts))
            self.frames.append(table_frame(table, self.counts, self.sampled))

    def check(self) -> None:
        """Raise TrainingDiverged if weights are not finite any more, or the loss is far above that
        of guessing: they are not worth keeping.
        """
        mean = self.mean_loss() if self.record.steps_in_loss else 0.0
        guessing = float(np.log(len(self.tokenizer)))
        if not (mean <= FAR * guessing and self.finite()):
            last = self.record.curve[-1][1] if self.record.curve else "none"
            raise TrainingDiverged(
                f"training diverged before step {self.record.step:,}: the mean loss is {mean:.4g} "
                f"(guessing: {guessing:.3g}), or weights are not finite; last sound loss: {last}. "
                "The last checkpoint is from before. Use a smaller rate: "
                f"learning_rate={self.recipe.learning_rate / 3:.2g}")

    @torch.no_grad()
    def measure(self) -> dict[str, float]:
        """Loss and share of hidden tokens found in at most 512 held-out rows, whose masks never
        change; of whole epochs the first rows.
        """
        numbers = np.arange(min(HELD_OUT_ROWS, len(self.held_out)), dtype=np.int64)
        self.model.eval()
        sums = torch.zeros(4, dtype=torch.float64)
        for part in np.array_split(numbers, -(-len(numbers) // ROWS_AT_ONCE)):
            batch = self.batch(self.held_out, part)
            scores, follows = self._read(batch)
            weights, labels = batch.hidden.weights.flatten(), batch.hidden.labels.flatten()
            losses = F.cross_entropy(scores.float(), labels, reduction="none")
            right = (scores.argmax(1) == labels) * weights
            followed = (follows.argmax(1) == batch.unrelated).sum()
            sums += torch.stack([(losses * weights).sum(), right.sum(), weights.sum(),
                                 followed]).double().cpu()
        self.model.train()
        result = {"held_out_loss": float(sums[0] / sums[2]),
                  "held_out_accuracy": float(sums[1] / sums[2])}
        if self.recipe.next_sentence:
            result["next_sentence_accuracy"] = float(sums[3] / len(numbers))
        return result

    def arrays(self) -> dict[str, np.ndarray]:
        """Weights, moments of the optimizer and frames of the film, by name."""
        return super().arrays() | ({"film": np.stack(self.frames)} if self.frames else {})

    def restore(self, arrays: dict[str, np.ndarray], noted: dict[str, Any]) -> None:
        """Stand where `arrays` and `noted` were taken. Raises as `GradientRun.restore`."""
        super().restore(arrays, noted)
        self.frames = list(arrays["film"]) if "film" in arrays else []
