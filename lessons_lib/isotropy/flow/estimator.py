"""A flow fitted to vectors: a learned bijection that makes them look like a standard Gaussian, so
that no direction is preferred.

The encoder stays as it is; only the flow learns, without labels, by raising the likelihood of the
vectors. Cosines are then taken between the z. Taught in lesson ``11_bert_flow``. [li2020sentence]
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ...core import (DamagedFile, Estimator, asked_to_stop, check_choice, check_float, check_int,
                     check_seed, generator, load_model, save_model, shown, torch_device)
from .architecture import KINDS, Architecture, most_levels
from .bijection import Composition
from .table import Order, Unit, check_varies, fingerprint_of, rows_of, unit_of
from .training import Batches, Training, on_threads, weights_of

__all__ = ["Flow"]

ROWS_AT_ONCE = 4096                               # of transform
# of the settings, when a run goes on
MAY_CHANGE = ("epochs", "patience", "deterministic", "device", "compiled", "progress")


class Flow(Estimator):
    """A normalising flow z = g(x) with z ~ N(0, I), fitted by maximum likelihood.

        log p(x) = log N(g(x); 0, I) + log |det ∂g/∂x|,      learned: max Σ log p(x)

    Parameters
        kind: "glow" (as BERT-flow has it: ActNorm, fixed random order, additive coupling),
        "realnvp" or "nice". levels, after each but the last half of the numbers leave: None is 2,
        or 1 for kind="nice" and for less than 3 columns; depth, blocks a level; width of the
        coupling nets. mixing: "random", "reversal", "linear" (learned); coupling: "additive",
        "affine", "affine-glow"; None: the kind's. rate: of the log-scales (3 in BERT-flow's
        program). epochs >= 0, also parts of one; 0 leaves the layers as the first data set them:
        each dimension standardised, in another order. batch_size; learning_rate, constant;
        weight_decay, of the nets' matrices; clip, longest gradient. held_out: share of the rows, at
        most 4096, that tell when to stop: after ``patience`` notes without a better value (None:
        never), and the best layers are kept. init_size: rows that set the layers first. noise:
        added while learning, in root mean square deviations. seed. deterministic: on a processor,
        work on one thread, so that the bits do not depend on how many there are. device: "auto",
        "cpu" or "cuda"; compiled, by ``torch.compile``, on a GPU only. progress, show a bar.
    Attributes
        layers_: the `Composition`, on the processor. history_ (m, 3) float64: epochs done; bits per
        dimension, mean of the batches since the line before (first line: of the rows that set the
        layers); of the held-out rows (NaN where there are none). A line each epoch or 250 steps.
        rank_: directions in which the rows vary. mean_ (d,) float64. n_steps_: steps done.
    Notes
        The mean and a power of two are taken away in float64 before float32 layers see the rows.
        Rows that do not fill all directions have a likelihood without maximum, with a DataWarning:
        scales stop at 10^4 times those of the beginning. In one dimension the flow is affine. About
        as many rows as dimensions over-fit: watch the held-out column.

    >>> x = np.random.default_rng(0).normal(size=(200, 4)) * [1, 2, 3, 4] + 5
    >>> Flow(epochs=0, held_out=0.0).fit(x).transform(x).std(axis=0).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    def __init__(self, kind: str = "glow", *, levels: int | None = None, depth: int = 3,
                 width: int = 32, mixing: str | None = None, coupling: str | None = None,
                 rate: float = 1.0, epochs: float = 20.0, batch_size: int = 256,
                 learning_rate: float = 1e-3, weight_decay: float = 0.01, clip: float = 1.0,
                 held_out: float = 0.1, patience: int | None = 5, init_size: int = 4096,
                 noise: float = 0.0, seed: int = 0, deterministic: bool = True,
                 device: str = "auto", compiled: bool = False, progress: bool = False):
        self.kind, self.levels, self.depth, self.width, self.mixing, self.coupling, self.rate = kind, levels, depth, width, mixing, coupling, rate
        self.epochs, self.batch_size, self.learning_rate, self.weight_decay, self.clip = epochs, batch_size, learning_rate, weight_decay, clip
        self.held_out, self.patience, self.init_size, self.noise, self.seed = held_out, patience, init_size, noise, seed
        self.deterministic, self.device, self.compiled, self.progress = deterministic, device, compiled, progress

    @property
    def name(self) -> str:
        """What it does in a few words, such as ``flow (glow)``."""
        return f"flow ({self.kind})"

    def _check_settings(self) -> None:
        check_choice("kind", self.kind, KINDS)
        for name in ("batch_size", "init_size"):
            check_int(name, getattr(self, name), low=2 if name == "init_size" else 1)
        for name in ("levels", "patience"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name))
        for name in ("epochs", "weight_decay", "noise"):
            check_float(name, getattr(self, name), low=0.0)
        for name in ("learning_rate", "clip"):
            check_float(name, getattr(self, name), low=0.0, open_low=True)
        check_float("held_out", self.held_out, low=0.0, high=0.9)
        check_seed(self.seed)
        for name in ("deterministic", "compiled", "progress"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name}={shown(getattr(self, name))} is "
                                f"{type(getattr(self, name)).__name__}; expected True or False")

    def _place(self) -> torch.device:
        place = torch_device(self.device)
        if self.compiled and place.type == "cpu":
            raise ValueError("compiled=True is for a GPU; on a processor compiling takes longer "
                             "than it saves. Use compiled=False")
        return place

    def _plan(self, dim: int) -> Architecture:
        """The architecture for vectors of ``dim`` numbers: what was asked for, else what the kind
        has.
        """
        own = (KINDS[self.kind] | {
            name: getattr(self, name)
            for name in ("levels", "mixing", "coupling")
            if getattr(self, name) is not None
        })
        if self.levels is None:
            own["levels"] = min(own["levels"], most_levels(dim))
        return Architecture(depth=self.depth, width=self.width, rate=self.rate, **own)

    # -------------------------------------------------------------------------- learning

    def fit(self, x: Any, *, on_note: Callable[[Self], object] | None = None) -> Self:
        """Learn from vectors. Returns self.

        Parameters: x, (n, d) real, >= 2 different rows, also memory-mapped; on_note, called with
        the flow whenever a line was added to ``history_``, for example to save it. Ctrl-C ends
        after the step that is under way and comes out as KeyboardInterrupt; the flow holds what was
        learned, and `resume` goes on, also after `save` and `load`. Raises TypeError, ValueError
        (settings, shape, NaN, rows that are all equal), BackendUnavailable, TrainingDiverged: the
        layers are then the best of before. DataWarning: see Notes.
        """
        self._check_settings()
        place, x = self._place(), rows_of("x", x, min_rows=2)
        layers, unit = self._plan(x.shape[1]).build(x.shape[1],
                                                    rng=generator(self.seed)), unit_of(x)
        rank = check_varies(x, unit)
        with on_threads(1 if self.deterministic and place.type == "cpu" else None):
            training = self._training(layers.to(place), x, unit, place)
            training.begin(self.init_size)
            self._unit, self._text, self.rank_, self._fitted = unit, fingerprint_of(
                x, unit), rank, self.get_params()
            self._work(training, on_note)
        return self

    def resume(self, x: Any, *, on_note: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` that was interrupted, also after `load`: bitwise as if it had not been.
        Returns self.

        Parameters: x, the same as before; on_note as in `fit`. A finished run is left as it is,
        unless ``epochs`` were raised. Raises NotFittedError, ValueError for other vectors or
        settings, and as `fit`.
        """
        self._check_fitted("layers_")
        self._check_same_settings()
        place, x = self._place(), rows_of("x", x, dim=self.dim, min_rows=2)
        if fingerprint_of(x, self._unit) != self._text:
            raise ValueError(f"x of shape {x.shape} holds other vectors than the interrupted run, "
                             "or in another order; resume needs its own")
        layers = self._plan(self.dim).build(self.dim, rng=generator(self.seed))
        with on_threads(1 if self.deterministic and place.type == "cpu" else None):
            training = self._training(layers.to(place), x, self._unit, place)
            training.restore(*self._state)
            self._work(training, on_note)
        return self

    def _check_same_settings(self) -> None:
        self._check_settings()
        wrong = [
            f"{name}={shown(value)} (in fit: {shown(self._fitted[name])})"
            for name, value in self.get_params().items()
            if name not in MAY_CHANGE and value != self._fitted[name]
        ]
        if wrong:
            raise ValueError(f"settings differ from those of the fit: {', '.join(wrong)}. Set them "
                             "back, or fit anew")

    def _training(self, layers: Composition, x: np.ndarray, unit: Unit,
                  place: torch.device) -> Training:
        order = Order(len(x), held_out=self.held_out, batch_size=self.batch_size, seed=self.seed)
        steps = math.ceil(round(self.epochs * order.per_epoch, 6))
        return Training(layers, Batches(x, unit, order, noise=self.noise,
                                        device=place), steps=steps,
                        learning_rate=self.learning_rate, weight_decay=self.weight_decay,
                        clip=self.clip, patience=self.patience, compiled=self.compiled)

    def _work(self, training: Training, on_note: Callable[[Self], object] | None) -> None:
        def tell() -> None:
            if on_note is not None:
                self._hand_over(training)
                on_note(self)

        try:
            with asked_to_stop() as asked:
                training.work(asked, label=self.name, progress=self.progress, on_note=tell)
        finally:                                  # also after divergence: the last sane layers
            self._hand_over(training)
        if asked.is_set():
            raise KeyboardInterrupt

    def _hand_over(self, training: Training) -> None:
        """Copy what was learned so far into the attributes that others see, and what `resume`
        needs.
        """
        self._state = training.arrays(), training.noted()
        self._show(copy.deepcopy(training.layers).cpu(), training.best())

    def _show(self, layers: Composition, weights: dict[str, Tensor]) -> None:
        layers.load_state_dict(weights)
        self.layers_ = layers.eval().requires_grad_(False)
        noted = self._state[1]
        self.history_, self.n_steps_ = np.array(noted["history"],
                                                dtype=np.float64).reshape(-1, 3), noted["step"]

    # -------------------------------------------------------------------------- vectors

    @property
    def dim(self) -> int:
        """Numbers per vector, before and after."""
        self._check_fitted("layers_")
        return self.layers_.dim

    @property
    def mean_(self) -> np.ndarray:
        """Mean of the fitted vectors, (d,) float64."""
        self._check_fitted("layers_")
        return self._unit.mean

    def _parts(self, name: str, x: Any) -> list[np.ndarray]:
        self._check_fitted("layers_")
        x = rows_of(name, x, dim=self.dim)
        return [x[start : start + ROWS_AT_ONCE] for start in range(0, len(x), ROWS_AT_ONCE)]

    @torch.inference_mode()
    def transform(self, x: Any) -> np.ndarray:
        """z of vectors x, of which cosines are taken; their length is about √d where the flow fits.

        Parameters: x, (n, d) real, n >= 0. Returns (n, d) float32. Memory beyond x and the result:
        a block of rows. Raises NotFittedError, TypeError, ValueError (shape, NaN, numbers that
        leave float32).
        """
        return _joined([
            self.layers_(torch.from_numpy(self._unit.enter(part))).numpy()
            for part in self._parts("x", x)
        ], "x", self.dim)

    @torch.inference_mode()
    def inverse_transform(self, z: Any) -> np.ndarray:
        """x of z: the way back, and with z drawn from N(0, I) the way to new vectors.

        Returns (n, d) float32. Parameters, errors as `transform`.
        """
        parts = self._parts("z", z)
        return _joined([
            self._unit.leave(
                self.layers_.inverse(torch.from_numpy(part.astype(np.float32))).numpy())
            for part in parts
        ], "z", self.dim)

    def sample(self, n: int, *, rng: np.random.Generator) -> np.ndarray:
        """n new vectors, (n, d) float32, from the learned density.

        Raises NotFittedError, TypeError, ValueError.
        """
        return self.inverse_transform(rng.normal(size=(check_int("n", n, low=0), self.dim)))

    @torch.inference_mode()
    def log_density(self, x: Any) -> np.ndarray:
        """log p(x) of each vector, in nats: (n,) float64. Parameters and errors as `transform`."""
        found = [np.zeros(0)]
        for part in self._parts("x", x):
            z, log_det = self.layers_.with_log_det(torch.from_numpy(self._unit.enter(part)))
            found.append((log_det.double() - 0.5 * z.double().square().sum(dim=1)).numpy())
        values = np.concatenate(found) + self._unit.log_det - 0.5 * self.dim * math.log(2 * math.pi)
        _check_finite(values, "x")
        return values

    def score(self, x: Any) -> float:
        """Mean log-density of vectors, in nats.

        Parameters and errors as `transform`; ValueError for no row.
        """
        return float(self.log_density(rows_of("x", x, min_rows=1)).mean())

    def bits_per_dimension(self, x: Any) -> float:
        """-score(x) / (d ln 2); ½ log2(2πe) = 2.0471 for N(0, I) and a flow that leaves it as it
        is. Parameters and errors as `score`.
        """
        return -self.score(x) / (self.dim * math.log(2))

    @torch.inference_mode()
    def trace(self, x: Any) -> list[tuple[str, np.ndarray]]:
        """Where vectors are after each layer: ("x", x), then ("Unit", centred and scaled), then
        name and (n, d) float32 of each layer, z last.

        Parameters and errors as `transform`; all rows are held for every layer, so this is for
        pictures.
        """
        self._check_fitted("layers_")
        x = rows_of("x", x, dim=self.dim)
        y = self._unit.enter(x)
        return [("x", x.astype(np.float32)), ("Unit", y),
                *((name, z.numpy()) for name, z in self.layers_.trace(torch.from_numpy(y)))]

    # -------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the flow into a folder, from which training can go on.

        Raises NotFittedError, OSError, ValueError (settings not of the fit).
        """
        self._check_fitted("layers_")
        self._check_same_settings()
        arrays, noted = self._state
        settings = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self.get_params().items()
        }
        run = {
            "record": noted, "text": self._text, "exponent": self._unit.exponent,
            "spread": self._unit.spread, "rank": self.rank_
        }
        save_model(path, "Flow", settings=settings, arrays=arrays | {"mean": self._unit.mean},
                   extra=run)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a flow that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        settings, arrays, extra = load_model(path, "Flow")
        try:
            flow = cls(**settings)
            flow._check_settings()
            mean = arrays.pop("mean")
            flow._unit = Unit(mean, check_int("exponent", extra["exponent"], low=-4096),
                              float(extra["spread"]))
            flow._text, flow.rank_, flow._state = str(extra["text"]), check_int(
                "rank", extra["rank"]), (arrays, extra["record"])
            if not all(
                    np.isfinite(a).all()
                    for name, a in arrays.items()
                    if not name.endswith("ceiling")) or not np.isfinite(mean).all():
                raise ValueError("an array holds NaN or infinity")
            flow._fitted = flow.get_params()
            layers = flow._plan(len(mean)).build(len(mean), rng=generator(flow.seed))
            flow._show(
                layers,
                weights_of(arrays, "kept." if extra["record"]["best"] is not None else "layers."))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise DamagedFile(f"{path} is a Flow that this version cannot read "
                              f"({shown(str(error), 200)}). Save it again") from error
        return flow


def _check_finite(found: np.ndarray, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(found).all(axis=tuple(range(1, found.ndim))))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] leaves float32 on its way through the flow ({len(bad)} "
                         f"of {len(found)} rows do): too far from the "
                         "fitted vectors")


def _joined(parts: list[np.ndarray], name: str, dim: int) -> np.ndarray:
    with np.errstate(over="ignore"):
        found = (np.concatenate(parts).astype(np.float32, copy=False)
                 if parts
                 else np.zeros((0, dim), np.float32))
    _check_finite(found, name)
    return found
