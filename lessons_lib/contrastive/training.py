"""One training run as an object: a step, what is noted on the way, and all of it as arrays, so that
it can stop and go on.

A batch is read in parts, each with dropout masks drawn from seed, step, part and view, and the
parts are dealt out to the processes. So a step depends on its number and the weights alone:
gradient caching, several processes, and a run that was stopped and goes on give equal results by
construction. Used by `trainer`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..contextual.batching import Numbered
from ..contextual.ranks import Ranks
from ..core import TrainingDiverged, track
from .batches import AugmentedColumn, Column, Order, in_parts
from .caching import cached_backward, direct_backward
from .gathering import gather, together
from .history import History, Watch
from .reading import Reading, derived_seed

__all__ = ["Objective", "Plan", "Record", "Training"]

DROPOUT = 3  # the word of chance of dropout masks; `batches` has the others
EPS = 1e-8                                        # of Adam
FAR = 1e4  # times the loss of the first batch, or of guessing: not learning any more


class Objective(nn.Module):
    """What is asked of the vectors of a batch.

    Attributes: columns, the texts of the examples, a `Column` each; views, for each column the
    number that its dropout masks are drawn with (equal numbers, equal masks), None for no dropout.
    Its parameters are those of a head that stands on the encoder while it learns.
    """

    columns: list[Column | AugmentedColumn]
    views: list[int | None]

    def forward(self, vectors: Sequence[Tensor], examples: np.ndarray) -> Tensor:
        """The loss of the vectors of a batch, (n, dim) for each column, whose examples have these
        numbers.
        """
        raise NotImplementedError

    def idle(self, examples: np.ndarray) -> bool:
        """Whether a batch has nothing to learn from, so that its loss is 0."""
        return False


@dataclass(frozen=True)
class Plan:
    """How long and how fast: ``steps`` in all; ``learning_rate``, reached after the share
    ``warmup`` of them, then falling to 0 in a straight line; ``weight_decay`` of matrices;
    ``clip``, longest gradient; ``chunk``, rows read at a time (None: all of a process's);
    ``evaluate_every`` so many steps; ``patience``, notes without a better dev score before it stops
    (None: never); ``seed``.
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
        return (self.learning_rate * (done / self.warmup if done < self.warmup else
                                      (1 - done) / (1 - self.warmup)))


@dataclass
class Record:
    """What was noted on the way: steps done, steps since the last line, lines of the history, the
    loss of the first batch, steps with nothing to order, the line whose weights are kept, its dev
    score, lines since it.
    """

    step: int = 0
    steps_in_loss: int = 0
    lines: list[dict[str, Any]] = field(default_factory=list)
    first: float | None = None
    idle: int = 0
    line: int = 0
    best: float | None = None
    since: int = 0
    stopped: bool = False


class Training:
    """Model, optimizer and record of one run.

    Parameters: reading, on its device; objective, there too; order; plan; watch, what looks at the
    space; ranks, this process and how many there are; encoder, makes of this training an encoder to
    be measured.
    """

    def __init__(self, reading: Reading, objective: Objective, order: Order, plan: Plan, *,
                 watch: Watch, ranks: Ranks, encoder: Callable[[Training], Any]) -> None:
        self.reading, self.objective, self.order, self.plan = reading, objective, order, plan
        self.watch, self.ranks, self.record, self._encoder = watch, ranks, Record(), encoder
        self.model = nn.ModuleDict({"reading": reading, "objective": objective})
        matrices = [p for p in self.model.parameters() if p.ndim > 1]
        # biases and LayerNorm are not drawn to 0
        others = [p for p in self.model.parameters() if p.ndim == 1]
        groups = [{"params": matrices, "weight_decay": plan.weight_decay},
                  {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=plan.learning_rate, eps=EPS, fused=True)
        self._loss = torch.zeros((), dtype=torch.float64, device=reading.device)
        self.kept: dict[str, Tensor] = {}

    # -------------------------------------------------------------------------- a step

    def step(self) -> None:
        """Read one batch and change the weights once."""
        number, plan = self.record.step, self.plan
        examples = self.order.batch(number)
        loss = self._backward_or_advice(examples, number)
        if self.record.first is None:
            self.record.first = float(torch.nan_to_num(loss))
        self.ranks.add_gradients(self.model)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), plan.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = plan.rate(number)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._loss += loss.double()
        self.record.idle += int(self.objective.idle(examples))
        self.record.step, self.record.steps_in_loss = number + 1, self.record.steps_in_loss + 1

    def _backward_or_advice(self, examples: np.ndarray, number: int) -> Tensor:
        try:
            return self._backward(examples, number)
        except torch.OutOfMemoryError as error:
            size = in_parts(len(examples), chunk=self.plan.chunk, processes=self.ranks.size)[0].stop
            raise torch.OutOfMemoryError(f"{size} examples at a time do not fit: "
                                         f"{str(error).split('. ')[0]}. Read fewer, with equal "
                                         "gradients: "
                                         f"chunk={max(1, size // 2)}") from error

    def _backward(self, examples: np.ndarray, number: int) -> Tensor:
        """Add the gradients of this process's share. Returns the loss of the whole batch."""
        size, n = self.ranks.size, len(examples)
        parts = in_parts(n, chunk=self.plan.chunk, processes=size)
        mine = list(range(len(parts)))[self.ranks.share(len(parts))]
        texts = [column.read(examples, number) for column in self.objective.columns]
        read = self._readers(texts, [(i, parts[i]) for i in mine or [0]], number)

        def loss(vectors: Tensor) -> Tensor:
            whole = self._gathered(vectors, [parts[i] for i in mine], parts)
            return self.objective(whole, examples) / size

        backward = cached_backward if len(mine) > 1 else direct_backward
        return backward(read, loss) * size

    def _readers(self, texts: list[tuple[Numbered, np.ndarray]], parts: list[tuple[int, slice]],
                 number: int) -> list[Callable[[], Tensor]]:
        """Calls that read a column of a part each, with the same dropout every time; part after
        part, in them column after column.
        """
        def reader(column: int, part: int, rows: slice) -> Callable[[], Tensor]:
            (numbered, all_rows), view = texts[column], self.objective.views[column]
            seed = (None
                    if view is None
                    else derived_seed(DROPOUT, self.plan.seed, number, part, view))
            return lambda: self.reading(numbered, all_rows[rows], seed=seed)

        return [reader(column, part, rows) for part, rows in parts for column in range(len(texts))]

    def _gathered(self, vectors: Tensor, own: list[slice], parts: list[slice]) -> list[Tensor]:
        """The vectors of the whole batch, (n, dim) for each column, from those that this process
        read.
        """
        columns, n, size = len(self.objective.columns), parts[-1].stop, parts[0].stop
        sizes = [part.stop - part.start for part in own]
        split = vectors.split([s for s in sizes for _ in range(columns)]) if own else ()
        # (rows, columns, dim)
        blocks = [torch.stack(split[i * columns:(i + 1) * columns], dim=1) for i in range(len(own))]
        if self.ranks.size == 1:
            whole = torch.cat(blocks)
        else:  # all parts of one length, so that they can be sent together
            full = [
                torch.cat([block, block.new_zeros(size - len(block), *block.shape[1:])])
                for block in blocks
            ]
            # goes along backward, too
            nothing = vectors.new_zeros(0, size, columns, vectors.shape[1]) + 0.0 * vectors.sum()
            stacked = torch.stack(full) if full else nothing
            whole = gather(stacked, self.ranks, rows=len(parts)).flatten(0, 1)[:n]
        return [whole[:, column] for column in range(columns)]

    def work(self, asked: threading.Event, *, label: str, progress: bool,
             on_note: Callable[[], object]) -> None:
        """Do the steps that are left, or those before ``asked`` is set in any process. Raises
        TrainingDiverged; ``kept`` is then of before; and ConnectionError where another process has
        gone.
        """
        record, plan, batch = self.record, self.plan, min(self.order.batch_size, self.order.n)
        with together(self.ranks):
            for step in track(range(record.step, plan.steps), total=plan.steps * batch, label=label,
                              show=progress and self.ranks.rank == 0, size=lambda step: batch,
                              unit=" examples", done=record.step * batch):
                if record.stopped or self._any(asked.is_set()):
                    return
                self.step()
                if (step + 1) % plan.evaluate_every == 0 or step + 1 == plan.steps:
                    self.note()
                    if self.ranks.rank == 0:
                        on_note()

    def _any(self, here: bool) -> bool:
        """Whether it is so in any process."""
        return (here if self.ranks.size == 1 else float(
            self.ranks.total(torch.tensor(float(here), device=self.ranks.device))) > 0)

    # -------------------------------------------------------------------------- what is noted

    def note(self) -> None:
        """Add a line to the history, keep the weights if they are the best, and see whether it is
        time to stop. Raises TrainingDiverged.
        """
        record, mean = self.record, float(
            self._loss) / self.record.steps_in_loss if self.record.steps_in_loss else math.nan
        if record.step and not self._sane(mean):
            self._diverged(mean)
        rate = self.plan.rate(record.step - 1) if record.step else 0.0
        record.lines.append({"step": record.step, "loss": mean, "rate": rate, "idle": record.idle}
                            | self.watch(self._encoder(self)))
        self._loss.zero_()
        record.steps_in_loss, dev = 0, record.lines[-1]["dev"]
        if record.step and self.watch.dev is not None and record.best is not None and not dev > record.best:
            record.since += 1
            record.stopped = self.plan.patience is not None and record.since >= self.plan.patience
            return
        record.best, record.since, record.line = (dev if record.step and not math.isnan(dev) else
                                                  None), 0, len(record.lines) - 1
        self.kept = {
            name: value.detach().clone() for name, value in self.model.state_dict().items()
        }

    def _sane(self, mean: float) -> bool:
        limit = FAR * (abs(self.record.first or 0.0) + math.log(max(2, self.order.n)))
        # False for NaN
        return mean < limit and all(bool(p.isfinite().all()) for p in self.model.parameters())

    def _diverged(self, mean: float) -> None:
        """Go back to the weights that were kept, and end the run there."""
        self.model.load_state_dict(self.kept)
        self.optimizer.state.clear()
        self._loss.zero_()
        self.record.stopped = True
        losses = [line["loss"] for line in self.record.lines if not math.isnan(line["loss"])]
        plain = "" if self.reading.precision == "float32" else ", or precision='float32'"
        raise TrainingDiverged(f"training diverged before step {self.record.step:,}: the mean loss "
                               f"is {mean:.4g}, or weights are not finite; last "
                               f"sound loss: {f'{losses[-1]:.4g}' if losses else 'none'}. The "
                               "weights are those of step "
                               f"{self.record.lines[self.record.line]['step']:,}. Use a smaller "
                               "rate: "
                               f"learning_rate={self.plan.learning_rate / 10:.2g}{plain}")

    @property
    def history(self) -> History:
        """What was noted so far."""
        return History.of(self.record.lines, best=self.record.line,
                          kept="last" if self.watch.dev is None else "dev")

    # ----------------------------------------------------------------------- stopping and going on

    def best(self) -> dict[str, Tensor]:
        """The weights to use: those with the best dev score, or without dev pairs the last ones."""
        return self.kept if self.watch.dev is not None and self.kept else self.model.state_dict()

    @property
    def finished(self) -> bool:
        """Whether no step is left to do."""
        return self.record.stopped or self.record.step >= self.plan.steps

    def arrays(self) -> dict[str, np.ndarray]:
        """Weights, those that were kept, and the moments of the optimizer, by name."""
        found = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        found |= {f"kept.{name}": value for name, value in self.kept.items()}
        for name, parameter in self.model.named_parameters():
            found |= {
                f"optimizer.{key}.{name}": value
                for key, value in self.optimizer.state.get(parameter, {}).items()
            }
        return {name: value.detach().cpu().numpy().copy() for name, value in found.items()}

    def noted(self) -> dict[str, Any]:
        """The record as JSON; NaN is None there."""
        lines = [{
            name: None if isinstance(v, float) and math.isnan(v) else v for name, v in line.items()
        } for line in self.record.lines]
        return asdict(self.record) | {"loss": float(self._loss), "lines": lines}

    def restore(self, arrays: dict[str, np.ndarray], noted: dict[str, Any]) -> None:
        """Stand where `arrays` and `noted` were taken.

        Raises KeyError, RuntimeError, TypeError for those of another run.
        """
        self.model.load_state_dict(_tensors(arrays, "model."))
        self.kept = ({
            name: value.to(self.reading.device)
            for name, value in _tensors(arrays, "kept.").items()
        })
        for name, parameter in self.model.named_parameters():
            state = ({
                key: arrays[f"optimizer.{key}.{name}"]
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"optimizer.{key}.{name}" in arrays
            })
            if state:
                self.optimizer.state[parameter] = {
                    key: torch.from_numpy(np.array(a)).to(parameter.device)
                    for key, a in state.items()
                }
        lines = ([{name: math.nan if v is None else v
                   for name, v in line.items()}
                  for line in noted["lines"]])
        self.record = Record(**{k: v for k, v in noted.items() if k != "loss"} | {"lines": lines})
        self._loss.fill_(noted["loss"])


def _tensors(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix``, without it."""
    return {
        name.removeprefix(prefix): torch.from_numpy(np.array(a))
        for name, a in arrays.items()
        if name.startswith(prefix)
    }
