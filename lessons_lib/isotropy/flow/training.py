"""One training run of a flow: a step, and what is noted on the way.

The loss is the negative log-likelihood in bits per dimension, -log p(x) / (d ln 2). What a run has
in common with others, such as going on to the same bits, is in `core.gradient_run`. Used by
`estimator.Flow`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ...core import gradient_run
from .bijection import Composition
from .table import Order, Unit

__all__ = ["Batches", "Record", "Training", "bits_per_dimension"]

NOTE_EVERY = 250                                  # steps, or an epoch if that is shorter
ROWS_AT_ONCE = 2048                               # when measuring
BEYOND = 1000.0                # bits per dimension above the first batch: not learning any more
EPS = 1e-6                     # of Adam, as in the programs of BERT and BERT-flow


@dataclass
class Record(gradient_run.Record):
    """What was noted on the way: lines of epochs, bits of the batches, bits of the held-out."""

    history: list[list[float]] = field(default_factory=list)


class Batches:
    """Rows of a table on the device of the layers.

    Parameters: x (n, d); unit; order; noise, in root mean square deviations; device.
    """

    def __init__(self, x: np.ndarray, unit: Unit, order: Order, *, noise: float,
                 device: torch.device) -> None:
        self.x, self.unit, self.order, self.noise, self.device = x, unit, order, noise, device
        self._whole = None
        if device.type == "cuda":
            parts = np.array_split(np.arange(len(x)), -(-len(x) // ROWS_AT_ONCE))
            self._whole = torch.cat([self.rows(rows) for rows in parts])

    def rows(self, rows: np.ndarray) -> Tensor:
        """Rows by their numbers; a GPU holds all of them."""
        if self._whole is not None:
            return self._whole[torch.from_numpy(rows).to(self.device)]
        return torch.from_numpy(self.unit.enter(self.x[rows])).to(self.device)

    def learned(self, step: int) -> Tensor:
        """The rows of a step, with noise where it is wanted."""
        y = self.rows(self.order.batch(step))
        if self.noise:
            draws = torch.from_numpy(self.order.noise(step, tuple(y.shape))).to(self.device)
            y = y + self.noise * self.unit.spread * draws
        return y


def bits_per_dimension(layers: Composition, y: Tensor) -> Tensor:
    """-log2 of the density of each row y, over d: (n,)."""
    z, log_det = layers._map(y)
    return ((0.5 * z.square().sum(dim=1) - log_det) / (layers.dim * math.log(2)) +
            0.5 * math.log2(2 * math.pi))


class Training(gradient_run.GradientRun):
    """Layers, optimizer and record of one run.

    Parameters: layers, on their device; batches; steps, in all; learning_rate, constant;
    weight_decay, of the matrices in the coupling nets; clip; patience, lines without a better
    held-out value before it stops, None: never; compiled, by ``torch.compile``.
    """

    prefix, unit = "layers.", " vectors"

    def __init__(self, layers: Composition, batches: Batches, *, steps: int, learning_rate: float,
                 weight_decay: float, clip: float, patience: int | None,
                 compiled: bool = False) -> None:
        order = batches.order
        nets = [p for name, p in layers.named_parameters()
                if name.rpartition(".")[2] in ("first", "second", "last")]
        super().__init__(layers, Record(), steps=steps, every=min(NOTE_EVERY, order.per_epoch),
                         items=-(-len(order.learned) // order.per_epoch), decayed=nets, eps=EPS,
                         learning_rate=learning_rate, weight_decay=weight_decay, clip=clip,
                         device=batches.device)
        self.layers, self.batches, self.patience = layers, batches, patience
        self.learning_rate = learning_rate
        self._bits = torch.compile(bits_per_dimension) if compiled else bits_per_dimension

    @torch.no_grad()
    def begin(self, init_size: int) -> None:
        """Set the layers from the first rows, and note where that leads."""
        rows = self.batches.rows(self.batches.order.first(init_size))
        self.layers.initialise(rows)
        self._loss += self.mean_bits([rows])
        self.record.steps_in_loss = 1
        self.note()

    def step(self) -> None:
        """Read one batch and change the weights once."""
        loss = self._bits(self.layers, self.batches.learned(self.record.step)).mean()
        loss.backward()
        self.advance(loss)
        self.layers.limit()

    @torch.no_grad()
    def mean_bits(self, parts: Iterable[Tensor]) -> float:
        """The mean of `bits_per_dimension` over the rows of all parts; NaN for none."""
        sums = [(bits_per_dimension(self.layers, part).double().sum(), len(part)) for part in parts]
        n = sum(size for _, size in sums)
        return float(sum(total for total, _ in sums)) / n if n else math.nan

    def note(self) -> None:
        """Add a line to the history, keep the best weights, maybe stop. Raises TrainingDiverged."""
        record, order = self.record, self.batches.order
        held_out = self.mean_bits(self.batches.rows(order.held_out[s : s + ROWS_AT_ONCE])
                                  for s in range(0, order.n_held_out, ROWS_AT_ONCE))
        bits = self.mean_loss()
        near = bits < (record.first or 0.0) + BEYOND                   # False for NaN
        if not near or not (np.isfinite(held_out) or not order.n_held_out) or not self.finite():
            last = record.history[-1][1] if record.history else math.nan
            self.diverged(f"training diverged before step {record.step:,}: loss or weights are not "
                          "finite or beyond all measure; last loss before: "
                          f"{last:.4g} bits per dimension. The layers are the best of before. Use "
                          f"a smaller rate: learning_rate={self.learning_rate / 10:.3g}")
        exponent = float(self.batches.unit.exponents.mean())
        record.history.append([record.step / order.per_epoch, bits + exponent, held_out + exponent])
        self.begin_line()
        self.better(held_out if order.n_held_out else None, larger=False, patience=self.patience)

    def best(self) -> dict[str, Tensor]:
        """The weights with the best held-out value; the last ones where nothing is held out."""
        return self.kept if self.batches.order.n_held_out else self.layers.state_dict()
