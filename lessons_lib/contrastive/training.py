"""One training run of an encoder: a step, and what is noted on the way.

A batch is read in parts, each with dropout masks drawn from seed, step, part and view, and the
parts are dealt out to the processes. So a step depends on its number and the weights alone, and
gradient caching, several processes, and a run that was stopped and goes on give equal results by
construction. What a run has in common with others is in `core.gradient_run`. Used by `trainer`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..contextual.ranks import Ranks, gather, together
from ..core import gradient_run
from .examples import AugmentedColumn, Column, Order, in_parts
from .history import History, Watch
from .reading import Reading, derived_seed

__all__ = ["Objective", "Plan", "Record", "Training", "cached_backward", "direct_backward"]

Chunk = Callable[[], Tensor]       # reads some texts, with the same dropout every time: (n, dim)
Loss = Callable[[Tensor], Tensor]  # of all vectors, chunk after chunk, to a number

DROPOUT = 3                         # the seed's number of dropout masks; `batches` has the others
EPS = 1e-8                          # of Adam
FAR = 1e4                           # times the loss of the first batch, or of guessing: not sane


class Objective(nn.Module):
    """What is asked of the vectors of a batch. For each of its columns ``views`` has the number
    that dropout masks are drawn with (equal numbers, equal masks; None: no dropout). Its parameters
    are those of a head that stands on the encoder while it learns. ``negatives``: the fewest and
    the most that a row of the last batch was set against, counted where the loss was taken; None
    for a loss that has none.
    """

    columns: list[Column | AugmentedColumn]
    views: list[int | None]
    negatives: tuple[int, int] | None = None

    def forward(self, vectors: Sequence[Tensor], examples: np.ndarray) -> Tensor:
        """The loss of the vectors of a batch, (n, dim) for each column, of examples by their
        numbers.
        """
        raise NotImplementedError

    def idle(self, examples: np.ndarray) -> bool:
        """Whether a batch has nothing to learn from, so that its loss is 0."""
        return False


@dataclass(frozen=True)
class Plan:
    """How long and how fast. The rate rises to ``learning_rate`` in the share ``warmup`` of the
    steps, then falls to 0 in a straight line; ``chunk`` rows are read at a time (None: all of a
    process's); after ``patience`` notes without a better dev score it stops (None: never).
    """

    steps: int
    learning_rate: float
    warmup: float = 0.1
    weight_decay: float = 0.0
    clip: float = 1.0
    chunk: int | None = None
    evaluate_every: int = 100
    patience: int | None = None
    seed: int = 0

    def rate(self, step: int) -> float:
        """The learning rate of a step (counted from 0)."""
        done = (step + 0.5) / self.steps
        warm = self.warmup
        return self.learning_rate * (done / warm if done < warm else (1 - done) / (1 - warm))


@dataclass
class Record(gradient_run.Record):
    """What was noted on the way: lines of the history; ``idle``, steps with nothing to order;
    ``line``, the one whose weights are kept.
    """

    lines: list[dict[str, Any]] = field(default_factory=list)
    idle: int = 0
    line: int = 0


class Training(gradient_run.GradientRun):
    """Model, optimizer and record of one run; ``watch`` looks at the space, ``encoder`` makes of
    this training an encoder to be measured.
    """

    unit = " examples"

    def __init__(self, learner: Reading, objective: Objective, order: Order, plan: Plan, *,
                 watch: Watch, ranks: Ranks, encoder: Callable[[Training], Any]) -> None:
        super().__init__(nn.ModuleDict({"reading": learner, "objective": objective}), Record(),
                         steps=plan.steps, every=plan.evaluate_every,
                         items=min(order.batch_size, order.n), learning_rate=plan.learning_rate,
                         weight_decay=plan.weight_decay, clip=plan.clip, eps=EPS,
                         device=learner.device)
        self.learner, self.objective, self.order, self.plan = learner, objective, order, plan
        self.watch, self.ranks, self._encoder = watch, ranks, encoder

    def step(self) -> None:
        """Read one batch and change the weights once. Raises OutOfMemoryError with advice."""
        number, examples = self.record.step, self.order.batch(self.record.step)
        try:
            loss = self._backward(examples, number)
        except torch.OutOfMemoryError as error:
            size = in_parts(len(examples), chunk=self.plan.chunk, processes=self.ranks.size)[0].stop
            raise torch.OutOfMemoryError(
                f"{size} examples at a time do not fit: {str(error).split('. ')[0]}. Read fewer, "
                f"with equal gradients: chunk={max(1, size // 2)}") from error
        self.ranks.add_gradients(self.model)
        self.advance(loss, rate=self.plan.rate(number))
        self.record.idle += int(self.objective.idle(examples))

    def _backward(self, examples: np.ndarray, number: int) -> Tensor:
        """Add the gradients of this process's share. Returns the loss of the whole batch."""
        size, n = self.ranks.size, len(examples)
        parts = in_parts(n, chunk=self.plan.chunk, processes=size)
        mine = list(range(len(parts)))[self.ranks.share(len(parts))]
        texts = [column.read(examples, number) for column in self.objective.columns]

        def reader(column: int, part: int) -> Callable[[], Tensor]:
            """A call that reads a column of a part, with the same dropout every time."""
            (numbered, rows), view = texts[column], self.objective.views[column]
            seed = None
            if view is not None:
                seed = derived_seed(DROPOUT, self.plan.seed, number, part, view)
            return lambda: self.learner(numbered, rows[parts[part]], seed=seed)

        def loss(vectors: Tensor) -> Tensor:
            whole = self._gathered(vectors, [parts[i] for i in mine], parts)
            return self.objective(whole, examples) / size

        read = [reader(column, part) for part in mine or [0] for column in range(len(texts))]
        backward = cached_backward if len(mine) > 1 else direct_backward
        return backward(read, loss) * size

    def _gathered(self, vectors: Tensor, own: list[slice], parts: list[slice]) -> list[Tensor]:
        """The vectors of the whole batch, (n, dim) for each column, from those that this process
        read.
        """
        columns, n, size = len(self.objective.columns), parts[-1].stop, parts[0].stop
        sizes = [part.stop - part.start for part in own]
        split = vectors.split([s for s in sizes for _ in range(columns)]) if own else ()
        blocks = [torch.stack(split[i * columns : (i + 1) * columns], dim=1)
                  for i in range(len(own))]                           # (rows, columns, dim)
        if self.ranks.size == 1:
            whole = torch.cat(blocks)
        else:                         # all parts of one length, so that they can be sent together
            full = [torch.cat([block, block.new_zeros(size - len(block), *block.shape[1:])])
                    for block in blocks]
            nothing = vectors.new_zeros(0, size, columns, vectors.shape[1])
            stacked = torch.stack(full) if full else nothing + 0.0 * vectors.sum()
            whole = gather(stacked, self.ranks, rows=len(parts)).flatten(0, 1)[:n]
        return [whole[:, column] for column in range(columns)]

    def work(self, stop: Callable[[], bool], *, label: str, show: bool,
             on_note: Callable[[], object] = lambda: None) -> None:
        """As `GradientRun.work`, until ``stop`` says so in any process. Raises ConnectionError."""
        ranks, first = self.ranks, self.ranks.rank == 0

        def anywhere() -> bool:
            return (ranks.size == 1 and stop()) or (ranks.size > 1 and float(
                ranks.total(torch.tensor(float(stop()), device=ranks.device))) > 0)

        with together(ranks):
            super().work(anywhere, label=label, show=show and first,
                         on_note=on_note if first else lambda: None)

    def note(self) -> None:
        """Add a line to the history, keep the weights if they are the best, and see whether it is
        time to stop. Raises TrainingDiverged.
        """
        record, mean, step = self.record, self.mean_loss(), self.record.step
        limit = FAR * (abs(record.first or 0.0) + math.log(max(2, self.order.n)))
        if step and not (mean < limit and self.finite()):              # False for NaN
            losses = [line["loss"] for line in record.lines if not math.isnan(line["loss"])]
            plain = "" if self.learner.precision == "float32" else ", or precision='float32'"
            self.diverged(
                f"training diverged before step {step:,}: the mean loss is {mean:.4g}, or weights "
                f"are not finite; last sound loss: {f'{losses[-1]:.4g}' if losses else 'none'}. "
                f"The weights are those of step {record.lines[record.line]['step']:,}. Use a "
                f"smaller rate: learning_rate={self.plan.learning_rate / 10:.2g}{plain}")
        rate = self.plan.rate(step - 1) if step else 0.0
        record.lines.append({"step": step, "loss": mean, "rate": rate, "idle": record.idle}
                            | self.watch(self._encoder(self)))
        self.begin_line()
        dev = record.lines[-1]["dev"] if step and self.watch.dev is not None else None
        if self.better(dev, larger=True, patience=self.plan.patience):
            record.line = len(record.lines) - 1

    @property
    def history(self) -> History:
        """What was noted so far."""
        return History.of(self.record.lines, best=self.record.line,
                          kept="last" if self.watch.dev is None else "dev")

    def best(self) -> dict[str, Tensor]:
        """The weights to use: those with the best dev score, or without dev pairs the last ones."""
        return self.kept if self.watch.dev is not None and self.kept else self.model.state_dict()


def direct_backward(parts: Sequence[Chunk], loss: Loss) -> Tensor:
    """Read everything, add the gradient of the loss to the weights', return the loss as a number.
    """
    value = loss(torch.cat([part() for part in parts]))
    value.backward()
    return value.detach()


def cached_backward(parts: Sequence[Chunk], loss: Loss) -> Tensor:
    """The same as `direct_backward` in the memory of one part, at twice the work. Each part
    gives the same vectors each time; the loss is called once, and what it holds itself, such as a
    head, gets its gradient as usual.
    """
    # with a graph that is dropped at once: without one, other kernels would draw other masks
    read = [part().detach() for part in parts]
    vectors = torch.cat(read).requires_grad_(True)
    value = loss(vectors)
    value.backward()
    for part, gradient in zip(parts, vectors.grad.split([len(x) for x in read]), strict=True):
        part().backward(gradient)                 # the graph of this part lives on this line only
    return value.detach()
