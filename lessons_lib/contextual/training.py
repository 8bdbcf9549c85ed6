"""One training run of a LessonBert as an object: a step, what is measured on the way, and all of it
as arrays, so that it can stop and go on.

A step depends on its number and the weights alone: rows, masks and dropout are drawn from seed and
number. So a run that was stopped and goes on ends with the same bits as one that was not, on one
kind of machine. Used by `pretraining.pretrain`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..core import TrainingDiverged
from .lesson_bert import LessonBertForPretraining
from .masking import Masked, mask_rows
from .packing import Rows, TokenStream
from .ranks import Ranks
from .recipes import Recipe, moments
from .statistics import sampled_pieces, table_frame, table_statistics

__all__ = ["Training"]

HELD_OUT_ROWS = 512
FAR = 10.0  # times the loss of guessing: no sound run comes near it, not even in its first steps
ROWS_AT_ONCE = 128                                # when measuring
CURVE_POINTS = 200
# the second lower than usual: large early gradients are forgotten sooner (Liu et al. 2019)
BETAS = (0.9, 0.98)


@dataclass
class Batch:
    """Some rows of a step as the model reads them."""

    hidden: Masked
    segments: Tensor
    strangers: Tensor


@dataclass
class Record:
    """What was noted on the way: steps done, the loss since the last point of the curve, curve,
    moments, film, seconds of work.
    """

    step: int = 0
    loss: float = 0.0
    steps_in_loss: int = 0
    seconds: float = 0.0
    curve: list[list[float]] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)


class Training:
    """Model, optimizer and record of one run.

    Parameters: recipe; stream; ranks, this process and its device.
    """

    def __init__(self, recipe: Recipe, stream: TokenStream, ranks: Ranks) -> None:
        self.recipe, self.ranks, self.tokenizer = recipe, ranks, stream.tokenizer
        self.record, self.frames = Record(), []
        self.counts = stream.counts()
        self.pieces = sampled_pieces(self.counts)
        self.model = LessonBertForPretraining(recipe.size(len(stream.tokenizer)),
                                              seed=recipe.seed).to(ranks.device).train()
        self._called = torch.compile(self.model) if recipe.compiled else self.model
        self.optimizer = self._optimizer()
        options = {
            "seed": recipe.seed, "next_sentence": recipe.next_sentence, "device": ranks.device
        }
        self.rows = Rows(stream, recipe.row, **options)
        self.held_out = Rows(stream, recipe.row, held_out=True, **options)
        self.goes_on = (torch.from_numpy(stream.tokenizer.goes_on).to(ranks.device)
                        if recipe.whole_words
                        else None)
        self._loss = torch.zeros((), dtype=torch.float64, device=ranks.device)

    def _optimizer(self) -> torch.optim.AdamW:
        matrices = [p for p in self.model.parameters() if p.ndim > 1]
        # biases and LayerNorm are not drawn to 0
        others = [p for p in self.model.parameters() if p.ndim == 1]
        groups = [{"params": matrices, "weight_decay": self.recipe.weight_decay},
                  {"params": others, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.recipe.learning_rate, betas=BETAS, fused=True)

    # -------------------------------------------------------------------------- a step

    def batch(self, rows: Rows, numbers: np.ndarray) -> Batch:
        """Rows by their numbers in the run, with places hidden."""
        ids, segments, strangers = rows(numbers)
        hidden = mask_rows(ids,
                           torch.from_numpy(numbers).to(ids.device), n=self.recipe.hidden,
                           seed=self.recipe.seed, vocabulary=len(self.tokenizer),
                           goes_on=self.goes_on)
        return Batch(hidden, segments, strangers)

    def _read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        half = self.recipe.precision == "bfloat16"
        with torch.autocast(self.ranks.device.type, torch.bfloat16, enabled=half):
            return self._called(batch.hidden.ids, batch.hidden.positions, segments=batch.segments)

    def _losses(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Sums over places and over rows, float32."""
        scores, follows = self._read(batch)
        each = F.cross_entropy(scores.float(), batch.hidden.labels.flatten(), reduction="none")
        of_rows = (F.cross_entropy(follows.float(), batch.strangers, reduction="sum")
                   if self.recipe.next_sentence
                   else follows.sum() * 0)
        return (each * batch.hidden.weights.flatten()).sum(), of_rows

    def step(self) -> None:
        """Read one batch and change the weights once.

        The loss is a mean over all hidden places of all processes.
        """
        number, recipe, ranks = self.record.step, self.recipe, self.ranks
        mine = np.arange(number * recipe.batch, (number + 1) * recipe.batch,
                         dtype=np.int64)[ranks.share(recipe.batch)]
        batches = [
            self.batch(self.rows, part)
            for part in np.array_split(mine, min(recipe.accumulate, len(mine)))
        ]
        places = ranks.total(torch.stack(
            [b.hidden.weights.sum() for b in batches]).sum()).clamp(min=1.0)
        loss = torch.zeros((), device=ranks.device)
        with self._own_chance(number):
            for batch in batches:
                of_places, of_rows = self._losses(batch)
                part = of_places / places + of_rows / recipe.batch
                part.backward()
                loss = loss + part.detach()
        ranks.add_gradients(self.model)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.rate(number)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._loss += ranks.total(loss).double()
        self.record.step, self.record.steps_in_loss = number + 1, self.record.steps_in_loss + 1

    @contextmanager
    def _own_chance(self, number: int) -> Iterator[None]:
        """Dropout draws from Torch's generators: inside they begin at this step's number, outside
        they are as they were.
        """
        if not self.recipe.dropout:
            yield
            return
        device = self.ranks.device
        drawn = np.random.SeedSequence([self.recipe.seed, number, self.ranks.rank]).generate_state(
            1, np.uint64)[0]
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            place = (torch.cuda.default_generators[device.index or 0]
                     if device.type == "cuda"
                     else torch.default_generator)
            place.manual_seed(int(drawn >> np.uint64(1)))
            yield

    # -------------------------------------------------------------------------- what is noted

    def due(self) -> bool:
        """Whether something is to be noted after the steps done so far."""
        step, steps = self.record.step, self.recipe.steps
        return step % max(1, steps // CURVE_POINTS) == 0 or step in moments(steps)

    def note(self) -> None:
        """Add a point to the curve, and look at word table and held-out rows if it is the moment.

        Raises TrainingDiverged.
        """
        record, tokens = self.record, self.record.step * self.recipe.tokens_per_step
        if record.steps_in_loss:
            self.check()
            record.curve.append([tokens, round(self._mean_loss(), 4)])
            self._loss.zero_()
            record.steps_in_loss = 0
        if record.step in moments(
                self.recipe.steps) and not (record.seen and record.seen[-1]["step"] == record.step):
            table = self.model.bert.embeddings.word_embeddings.weight.detach().cpu().numpy()
            record.seen.append({"step": record.step, "tokens": tokens} | self.measure()
                               | table_statistics(table, self.counts))
            self.frames.append(table_frame(table, self.counts, self.pieces))

    def check(self) -> None:
        """Raise TrainingDiverged if weights are not finite any more, or the loss is far above that
        of guessing: they are not worth keeping.
        """
        mean, guessing = self._mean_loss(), float(np.log(len(self.tokenizer)))
        if not (mean <= FAR * guessing
                and all(bool(p.isfinite().all()) for p in self.model.parameters())):
            last = self.record.curve[-1][1] if self.record.curve else "none"
            raise TrainingDiverged(f"training diverged before step {self.record.step:,}: the mean "
                                   f"loss is {mean:.4g} (guessing: {guessing:.3g}), or "
                                   f"weights are not finite; last sound loss: {last}. "
                                   "The last checkpoint is from before. Use a smaller rate: "
                                   f"learning_rate={self.recipe.learning_rate / 3:.2g}")

    def _mean_loss(self) -> float:
        """The mean loss since the last point of the curve; 0 where no step was done."""
        return float(self._loss) / max(1, self.record.steps_in_loss)

    @torch.no_grad()
    def measure(self) -> dict[str, float]:
        """Loss and share of hidden pieces found in at most 512 held-out rows, whose masks never
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
            sums += torch.stack([(losses * weights).sum(),
                                 right.sum(),
                                 weights.sum(),
                                 (follows.argmax(1) == batch.strangers).sum()]).double().cpu()
        self.model.train()
        found = {
            "held_out_loss": float(sums[0] / sums[2]), "held_out_accuracy": float(sums[1] / sums[2])
        }
        return (found | ({"next_sentence_accuracy": float(sums[3] / len(numbers))}
                         if self.recipe.next_sentence else {}))

    # ----------------------------------------------------------------------- stopping and going on

    def arrays(self) -> dict[str, np.ndarray]:
        """Weights, moments of the optimizer and frames, by name."""
        found = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            found |= {
                f"optimizer.{key}.{name}": value
                for key, value in self.optimizer.state.get(parameter, {}).items()
            }
        arrays = {name: value.detach().cpu().numpy() for name, value in found.items()}
        return arrays | ({"film": np.stack(self.frames)} if self.frames else {})

    def noted(self) -> dict[str, Any]:
        """The record as JSON."""
        return vars(self.record) | {"loss": float(self._loss)}

    def restore(self, arrays: dict[str, np.ndarray], noted: dict[str, Any]) -> None:
        """Stand where `arrays` and `noted` were taken.

        Raises KeyError, RuntimeError for those of another model.
        """
        self.model.load_state_dict({
            name.removeprefix("model."): torch.from_numpy(a)
            for name, a in arrays.items()
            if name.startswith("model.")
        })
        for name, parameter in self.model.named_parameters():
            state = ({
                key: arrays[f"optimizer.{key}.{name}"]
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"optimizer.{key}.{name}" in arrays
            })
            # the fused optimizer of a GPU has its count there
            on_cpu = self.ranks.device.type == "cpu"
            self.optimizer.state[parameter] = {
                key: torch.from_numpy(np.array(a)).to("cpu" if on_cpu else self.ranks.device)
                for key, a in state.items()
            }
            if not state:
                del self.optimizer.state[parameter]
        self.frames = list(arrays["film"]) if "film" in arrays else []
        self.record = Record(**noted)
        self._loss.fill_(noted["loss"])
