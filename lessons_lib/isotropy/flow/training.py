"""One training run of a flow as an object: a step, what is noted on the way, and all of it as
arrays, so that it can stop and go on.

The loss is the negative log-likelihood in bits per dimension, -log p(x) / (d ln 2). A step depends
on its number and the weights alone, so a run that was stopped and goes on ends with the same bits
as one that was not. Used by `estimator.Flow`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...core import TrainingDiverged, track
from .bijection import Composition
from .table import Order, Unit

__all__ = ["Batches", "Record", "Training", "bits_per_dimension", "on_threads", "weights_of"]

NOTE_EVERY = 250                                  # steps, or an epoch if that is shorter
ROWS_AT_ONCE = 2048                               # when measuring
BEYOND = 1000.0  # bits per dimension above the first batch: not learning any more
EPS = 1e-6  # of Adam, as in the programs of BERT and BERT-flow


@dataclass
class Record:
    """What was noted on the way: steps done, steps since the last note, lines of the history, the
    loss of the first batch, the best held-out value, notes since it.
    """

    step: int = 0
    steps_in_loss: int = 0
    history: list[list[float]] = field(default_factory=list)
    first: float | None = None
    best: float | None = None
    since: int = 0
    stopped: bool = False


class Batches:
    """Rows of a table on the device of the layers.

    Parameters: x (n, d); unit; order; noise, in root mean square deviations; device.
    """

    def __init__(self, x: np.ndarray, unit: Unit, order: Order, *, noise: float,
                 device: torch.device) -> None:
        self.x, self.unit, self.order, self.noise, self.device = x, unit, order, noise, device
        self._whole = self._all() if device.type == "cuda" else None

    def _all(self) -> Tensor:
        return torch.cat([
            self._entered(rows)
            for rows in np.array_split(np.arange(len(self.x)), -(-len(self.x) // ROWS_AT_ONCE))
        ])

    def _entered(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(self.unit.enter(self.x[rows])).to(self.device)

    def rows(self, rows: np.ndarray) -> Tensor:
        """Rows by their numbers; a GPU holds all of them."""
        return (self._entered(rows)
                if self._whole is None
                else self._whole[torch.from_numpy(rows).to(self.device)])

    def learned(self, step: int) -> Tensor:
        """The rows of a step, with noise where it is wanted."""
        y = self.rows(self.order.batch(step))
        if self.noise:
            y = (y + self.noise * self.unit.spread *
                 torch.from_numpy(self.order.noise(step, tuple(y.shape))).to(self.device))
        return y

    def first(self, n: int) -> Tensor:
        """The first n rows that are learned from."""
        return self.rows(self.order.first(n))


def bits_per_dimension(layers: Composition, y: Tensor) -> Tensor:
    """-log2 of the density of each row y, over d: (n,)."""
    z, log_det = layers._map(y)
    return ((0.5 * z.square().sum(dim=1) - log_det) / (layers.dim * math.log(2)) +
            0.5 * math.log2(2 * math.pi))


class Training:
    """Layers, optimizer and record of one run.

    Parameters: layers, on their device; batches; steps, in all; learning_rate, constant;
    weight_decay, of the matrices in the coupling nets; clip, the longest gradient; patience, notes
    without a better held-out value before it stops, None: never; compiled, by ``torch.compile``.
    """

    def __init__(self, layers: Composition, batches: Batches, *, steps: int, learning_rate: float,
                 weight_decay: float, clip: float, patience: int | None,
                 compiled: bool = False) -> None:
        self.layers, self.batches, self.steps, self.clip, self.patience = layers, batches, steps, clip, patience
        self.record, self.learning_rate = Record(), learning_rate
        self.parameters = list(layers.parameters())
        nets = ([
            p for name, p in layers.named_parameters()
            if name.rpartition(".")[2] in ("first", "second", "last")
        ])
        others = [p for p in self.parameters if not any(p is net for net in nets)]
        groups = [{"params": nets, "weight_decay": weight_decay},
                  {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate,
                                           eps=EPS, fused=True)
        self._bits = torch.compile(bits_per_dimension) if compiled else bits_per_dimension
        self._loss = torch.zeros((), dtype=torch.float64, device=batches.device)
        self.kept: dict[str, Tensor] = {}

    # -------------------------------------------------------------------------- a step

    @torch.no_grad()
    def begin(self, init_size: int) -> None:
        """Set the layers from the first rows, and note where that leads."""
        rows = self.batches.first(init_size)
        self.layers.initialise(rows)
        self._loss += self.mean_bits([rows])
        self.record.steps_in_loss = 1
        self.note()

    def step(self) -> None:
        """Read one batch and change the weights once."""
        loss = self._bits(self.layers, self.batches.learned(self.record.step)).mean()
        if self.record.first is None:
            self.record.first = float(torch.nan_to_num(loss.detach()))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.layers.limit()
        self._loss += loss.detach()
        self.record.step, self.record.steps_in_loss = self.record.step + 1, self.record.steps_in_loss + 1

    def work(self, asked: threading.Event, *, label: str, progress: bool,
             on_note: Callable[[], object]) -> None:
        """Do the steps that are left, or those before ``asked`` is set.

        Raises TrainingDiverged; ``kept`` is then the best of before.
        """
        record, period = self.record, min(NOTE_EVERY, self.batches.order.per_epoch)
        batch = -(-len(self.batches.order.learned) // self.batches.order.per_epoch)
        for step in track(range(record.step,
                                self.steps), total=self.steps * batch, label=label, show=progress,
                          size=lambda step: batch, unit=" vectors", done=record.step * batch):
            if record.stopped or asked.is_set():
                return
            self.step()
            if (step + 1) % period == 0 or step + 1 == self.steps:
                self.note()
                on_note()

    # -------------------------------------------------------------------------- what is noted

    @torch.no_grad()
    def mean_bits(self, parts: list[Tensor] | Iterator[Tensor]) -> float:
        """The mean of `bits_per_dimension` over the rows of all parts; NaN for none."""
        sums = [(bits_per_dimension(self.layers, part).double().sum(), len(part)) for part in parts]
        n = sum(size for _, size in sums)
        return float(sum(total for total, _ in sums)) / n if n else math.nan

    def _held_out(self) -> float:
        rows = self.batches.order.held_out
        return self.mean_bits(
            self.batches.rows(rows[s:s + ROWS_AT_ONCE]) for s in range(0, len(rows), ROWS_AT_ONCE))

    def note(self) -> None:
        """Add a line to the history, keep the weights if they are the best, and see whether it is
        time to stop. Raises TrainingDiverged.
        """
        record, order = self.record, self.batches.order
        found = float(self._loss) / record.steps_in_loss, self._held_out()
        # False for NaN
        sane = (found[0] < (record.first or 0.0) + BEYOND
                and (np.isfinite(found[1]) or not order.n_held_out))
        if not (sane and all(bool(p.isfinite().all()) for p in self.parameters)):
            self._diverged()
        record.history.append(
            [record.step / order.per_epoch, *(bits + self.batches.unit.exponent for bits in found)])
        self._loss.zero_()
        record.steps_in_loss = 0
        if order.n_held_out and record.best is not None and found[1] >= record.best:
            record.since += 1
            record.stopped = self.patience is not None and record.since >= self.patience
            return
        record.best, record.since = (found[1] if order.n_held_out else None), 0
        self.kept = {
            name: value.detach().clone() for name, value in self.layers.state_dict().items()
        }

    def _diverged(self) -> None:
        """Go back to the layers that were kept, and end the run there."""
        if self.kept:
            self.layers.load_state_dict(self.kept)
        self.optimizer.state.clear()
        self._loss.zero_()
        self.record.stopped = True
        last = (f"{self.record.history[-1][1]:.4g} bits per dimension"
                if self.record.history
                else "none")
        raise TrainingDiverged(f"training diverged before step {self.record.step:,}: loss or "
                               "weights are not finite or beyond all measure; last loss "
                               f"before: {last}. The layers are the best of before. Use a smaller "
                               f"rate: learning_rate={self.learning_rate / 10:.3g}")

    # ----------------------------------------------------------------------- stopping and going on

    def best(self) -> dict[str, Tensor]:
        """The weights to use: those with the best held-out value, or where nothing is held out, the
        last ones.
        """
        return self.kept if self.batches.order.n_held_out else self.layers.state_dict()

    def arrays(self) -> dict[str, np.ndarray]:
        """Weights, those that were kept, and the moments of the optimizer, by name."""
        found = {f"layers.{name}": value for name, value in self.layers.state_dict().items()}
        found |= {f"kept.{name}": value for name, value in self.kept.items()}
        for name, parameter in self.layers.named_parameters():
            found |= {
                f"optimizer.{key}.{name}": value
                for key, value in self.optimizer.state.get(parameter, {}).items()
            }
        return {name: value.detach().cpu().numpy().copy() for name, value in found.items()}

    def noted(self) -> dict[str, Any]:
        """The record as JSON; NaN is None there."""
        history = [[None if math.isnan(v) else v for v in line] for line in self.record.history]
        return asdict(self.record) | {"loss": float(self._loss), "history": history}

    def restore(self, arrays: dict[str, np.ndarray], noted: dict[str, Any]) -> None:
        """Stand where `arrays` and `noted` were taken.

        Raises KeyError, RuntimeError, TypeError for those of another run.
        """
        self.layers.load_state_dict(weights_of(arrays, "layers."))
        self.kept = ({
            name: value.to(self.batches.device)
            for name, value in weights_of(arrays, "kept.").items()
        })
        for name, parameter in self.layers.named_parameters():
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
        history = [[math.nan if v is None else v for v in line] for line in noted["history"]]
        self.record = Record(**{k: v for k, v in noted.items() if k != "loss"}
                             | {"history": history})
        self._loss.fill_(noted["loss"])


def weights_of(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix``, without it."""
    return {
        name.removeprefix(prefix): torch.from_numpy(np.array(a))
        for name, a in arrays.items()
        if name.startswith(prefix)
    }


@contextmanager
def on_threads(n: int | None) -> Iterator[None]:
    """Let PyTorch use n threads of the processor, inside; None changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(n or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
