"""A flow fitted to vectors: a learned bijection that makes them look like a standard Gaussian.

Then no direction is preferred. The encoder stays as it is; only the flow learns, without labels, by
raising the likelihood of the vectors. Cosines are then taken between the z. Taught in lesson
``11_bert_flow``. [li2020sentence]
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ...core import check_int, check_memory, generator, shown, torch_device
from ...core.checks import MOST
from ...core.estimator import SavedEstimator
from ...core.gradient_run import GradientEstimator, on_threads, weights_of
from ...core.learned import Array, Learned
from ...core.parameters import Choice, Flag, Float, Int
from .architecture import (COUPLINGS, KINDS, MIXINGS, MOST_BLOCKS, Architecture,
                           most_levels)
from .bijection import Composition
from .table import Order, Unit, check_varies, fingerprint_of, rows_of, unit_of
from .training import Batches, Training

__all__ = ["Flow"]

ROWS_AT_ONCE = 4096                               # of transform


class RunArrays(Learned):
    """Arrays and record of a `Training`, from which it goes on; ceilings may be infinite."""

    def pack(self, value: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The arrays, and the record as JSON."""
        arrays, noted = value
        return arrays, {"record": noted}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The same after a look at the numbers."""
        own = {name: array for name, array in arrays.items() if "." in name}
        if not all(np.isfinite(a).all() for n, a in own.items() if not n.endswith("ceiling")):
            raise ValueError("an array holds NaN or infinity")
        return own, extra["record"]


class Flow(GradientEstimator, SavedEstimator):
    """A normalising flow z = g(x) with z ~ N(0, I), fitted by maximum likelihood.

    Notes
    -----
    log p(x) = log N(g(x); 0, I) + log |det ∂g/∂x|,      learned: max Σ log p(x)

    The mean and a power of two are taken away in float64 before float32 layers see the rows. Rows
    that do not fill all directions have a likelihood without maximum, with a DataWarning: scales
    stop at 10^4 times those of the beginning. In one dimension the flow is affine. About as many
    rows as dimensions over-fit: watch the held-out column.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 4)) * [1, 2, 3, 4] + 5
    >>> Flow(epochs=0, held_out=0.0).fit(x).transform(x).std(axis=0).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    _may_change = ("epochs", "patience", "deterministic", "device", "compiled", "progress")

    kind = Choice("glow", "realnvp", "nice", positional=1, doc="'glow' is as BERT-flow has it: "
                  "ActNorm, a fixed random order, additive coupling")
    levels = Int(None, "after each but the last, half of the numbers leave; None: 2, or 1 for "
                       "kind='nice' and for less than 3 columns")
    depth = Int(3, "blocks of a level", high=MOST_BLOCKS)
    width = Int(32, "of the two inner layers of the coupling nets")
    mixing = Choice(*MIXINGS, default=None, doc="'linear' is learned; None: as the kind has it")
    coupling = Choice(*COUPLINGS, default=None, doc="None: as the kind has it")
    rate = Float(1.0, "of the log-scales; 3 in BERT-flow's program", above=0)
    epochs = Float(20.0, "also parts of one; 0 leaves the layers as the first data set them: each "
                         "dimension standardised, in another order", low=0, high=MOST)
    batch_size = Int(256)
    weight_decay = Float(0.01, "of the nets' matrices", low=0)
    held_out = Float(0.1, "share of the rows, at most 4096 of them, that tell when to stop; the "
                          "layers that are best there are kept", low=0, high=0.9)
    patience = Int(5, "notes without a better held-out value before it stops; None: never",
                   optional=True)
    init_size = Int(4096, "rows that set the layers first", low=2)
    noise = Float(0.0, "added while learning, in root mean square deviations", low=0)
    deterministic = Flag(True, "on a processor, work on one thread, so that the bits do not depend "
                               "on how many there are")
    compiled = Flag(False, "by ``torch.compile``, on a GPU only")

    layers_ = Learned("Composition", "on the processor")
    history_ = Learned("(m, 3) float64", "epochs done; bits per dimension, mean of the batches "
                       "since the line before (first line: of the rows that set the layers); of "
                       "the held-out rows (NaN where there are none); a line each epoch or 250 "
                       "steps")
    rank_ = Learned("int", "directions in which the rows vary")
    n_steps_ = Learned("int", "steps done")
    _mean = Array("d", dtype="float64", file="mean")
    _state = RunArrays(file="run")

    @property
    def name(self) -> str:
        """What it does in a few words, such as ``flow (glow)``."""
        return f"flow ({self.kind})"

    # ------------------------------------------------------------------------------ learning

    def fit(self, x: Any, *, on_note: Callable[[Self], object] | None = None) -> Self:
        """Learn from vectors.

        Ctrl-C ends after the step that is under way and comes out as KeyboardInterrupt; the flow
        holds what was learned, and `resume` goes on, also after `save` and `load`.

        Parameters
        ----------
        x : (n, d) real
            At least 2 different rows; also memory-mapped.
        on_note : callable, optional
            Called with the flow whenever a line was added to ``history_``, for example to save it.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, shape, NaN, rows that are all equal.
        BackendUnavailable
        TrainingDiverged
            The layers are then the best of before.

        Warns
        -----
        DataWarning
            See Notes.
        """
        settings = self._check_settings()
        place, x = self._place(), rows_of("x", x, min_rows=2)
        unit = unit_of(x)
        training = self._training(x, unit, place)
        rank = check_varies(x, unit)
        with on_threads(1 if self.deterministic and place.type == "cpu" else None):
            training.begin(self.init_size)
            self._unit, self._text, self._fitted = unit, fingerprint_of(x, unit), settings
            self.rank_, self._mean = rank, unit.mean
            self._work(training, on_note)
        return self

    def resume(self, x: Any, *, on_note: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` that was interrupted, also after `load`: bitwise as if it had not been.

        A finished run is left as it is, unless ``epochs`` were raised.

        Parameters
        ----------
        x, on_note
            The same vectors as before; on_note as in `fit`.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
        ValueError
            Other vectors or settings; others as `fit`.
        """
        self._check_fitted("layers_")
        self._same_settings()
        place, x = self._place(), rows_of("x", x, dim=self.dim, min_rows=2)
        if fingerprint_of(x, self._unit) != self._text:
            raise ValueError(f"x of shape {x.shape} holds other vectors than the interrupted run, "
                             "or in another order; resume needs its own")
        training = self._training(x, self._unit, place)
        with on_threads(1 if self.deterministic and place.type == "cpu" else None):
            training.restore(*self._state)
            self._work(training, on_note)
        return self

    def _place(self) -> torch.device:
        place = torch_device(self.device)
        if self.compiled and place.type == "cpu":
            raise ValueError("compiled=True is for a GPU; on a processor compiling takes longer "
                             "than it saves. Use compiled=False")
        return place

    def _fresh(self, dim: int) -> Composition:
        """Layers for vectors of ``dim`` numbers: as was asked for, else as the kind has them."""
        own = KINDS[self.kind] | {name: getattr(self, name)
                                  for name in ("levels", "mixing", "coupling")
                                  if getattr(self, name) is not None}
        if self.levels is None:
            own["levels"] = min(own["levels"], most_levels(dim))
        plan = Architecture(depth=self.depth, width=self.width, rate=self.rate, **own)
        return plan.build(dim, rng=generator(self.seed))

    def _training(self, x: np.ndarray, unit: Unit, place: torch.device) -> Training:
        order = Order(len(x), held_out=self.held_out, batch_size=self.batch_size, seed=self.seed)
        batches = Batches(x, unit, order, noise=self.noise, device=place)
        steps = math.ceil(round(self.epochs * order.per_epoch, 6))
        self._check_patience(steps)
        return Training(self._fresh(x.shape[1]).to(place), batches, steps=steps,
                        learning_rate=self.learning_rate, weight_decay=self.weight_decay,
                        clip=self.clip, patience=self.patience, compiled=self.compiled)

    def _hand_over(self, training: Training) -> None:
        self._state = training.arrays(), training.noted()
        self._show(copy.deepcopy(training.layers).cpu(), training.best())

    def _show(self, layers: Composition, weights: dict[str, Tensor]) -> None:
        layers.load_state_dict(weights)
        self.layers_ = layers.eval().requires_grad_(False)
        noted = self._state[1]
        self.history_ = np.array(noted["history"], dtype=np.float64).reshape(-1, 3)
        self.n_steps_ = noted["step"]

    # ------------------------------------------------------------------------------ vectors

    @property
    def dim(self) -> int:
        """Columns of a vector, before and after."""
        return self.layers_.dim

    @property
    def mean_(self) -> np.ndarray:
        """Mean of the fitted vectors, (d,) float64."""
        return self._mean

    def _parts(self, name: str, x: Any) -> list[np.ndarray]:
        x = rows_of(name, x, dim=self.dim)
        return [x[start : start + ROWS_AT_ONCE] for start in range(0, len(x), ROWS_AT_ONCE)]

    def _joined(self, name: str, parts: list[np.ndarray]) -> np.ndarray:
        with np.errstate(over="ignore"):
            nothing = np.zeros((0, self.dim), np.float32)
            result = np.concatenate([nothing, *parts]).astype(np.float32, copy=False)
        return _finite(name, result)

    @torch.inference_mode()
    def transform(self, x: Any) -> np.ndarray:
        """z of vectors, of which cosines are taken.

        The norm of z is about √d where the flow fits.

        Parameters
        ----------
        x : (n, d) real, n >= 0

        Returns
        -------
        (n, d) float32
            Memory beyond x and the result: a block of rows.

        Raises
        ------
        NotFittedError
        TypeError, ValueError
            Shape, NaN, numbers that leave float32.
        """
        return self._joined("x", [self.layers_(torch.from_numpy(self._unit.enter(part))).numpy()
                                  for part in self._parts("x", x)])

    @torch.inference_mode()
    def inverse_transform(self, z: Any) -> np.ndarray:
        """x of z: the way back, and with z drawn from N(0, I) the way to new vectors.

        Parameters
        ----------
        z : (n, d) real, n >= 0

        Returns
        -------
        (n, d) float32

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `transform`.
        """
        parts = [torch.from_numpy(part.astype(np.float32)) for part in self._parts("z", z)]
        return self._joined("z", [self._unit.leave(self.layers_.inverse(part).numpy())
                                  for part in parts])

    def sample(self, n: int, *, rng: np.random.Generator) -> np.ndarray:
        """New vectors from the learned density.

        Parameters
        ----------
        n : int >= 0
        rng : numpy.random.Generator

        Returns
        -------
        (n, d) float32

        Raises
        ------
        NotFittedError, TypeError, ValueError
        """
        n = check_int("n", n, low=0)
        check_memory(f"{n:,} vectors of {self.dim:,} numbers", 12 * n * self.dim, f"Lower n={n}")
        return self.inverse_transform(rng.normal(size=(n, self.dim)))

    @torch.inference_mode()
    def log_density(self, x: Any) -> np.ndarray:
        """log p(x) of each vector, in nats.

        Parameters
        ----------
        x : (n, d) real, n >= 0

        Returns
        -------
        (n,) float64

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `transform`.
        """
        values = [np.zeros(0)]
        for part in self._parts("x", x):
            z, log_det = self.layers_.with_log_det(torch.from_numpy(self._unit.enter(part)))
            values.append((log_det.double() - 0.5 * z.double().square().sum(dim=1)).numpy())
        constant = 0.5 * self.dim * math.log(2 * math.pi)
        return _finite("x", np.concatenate(values) + self._unit.log_det - constant)

    def score(self, x: Any) -> float:
        """Mean log-density of vectors, in nats.

        Parameters
        ----------
        x : (n, d) real, n >= 1

        Returns
        -------
        float

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `transform`, and for no row.
        """
        return float(self.log_density(rows_of("x", x, min_rows=1)).mean())

    def bits_per_dimension(self, x: Any) -> float:
        """-score(x) / (d ln 2); ½ log2(2πe) = 2.0471 for N(0, I) and a flow that is the identity.

        Parameters
        ----------
        x : (n, d) real, n >= 1

        Returns
        -------
        float

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `score`.
        """
        return -self.score(x) / (self.dim * math.log(2))

    @torch.inference_mode()
    def trace(self, x: Any) -> list[tuple[str, np.ndarray]]:
        """Where vectors are after each layer; all are held for every layer, so this is for figures.

        Parameters
        ----------
        x : (n, d) real, n >= 0

        Returns
        -------
        list of (str, (n, d) float32)
            ("x", x), then ("Unit", centred and scaled), then name and result of each layer, z last.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `transform`.
        """
        x = rows_of("x", x, dim=self.dim)
        y = self._unit.enter(x)
        return [("x", x.astype(np.float32)), ("Unit", y),
                *((name, z.numpy()) for name, z in self.layers_.trace(torch.from_numpy(y)))]

    # ------------------------------------------------------------------------------ files

    def _saved_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        unit = self._unit
        return self._same_settings(), {"text": self._text, "exponent": unit.exponents.tolist(),
                                       "spread": unit.spread, "rank": self.rank_}

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        exponents = np.asarray(extra["exponent"])           # one number for all in older files
        if exponents.dtype.kind != "i" or exponents.shape not in ((), self._mean.shape):
            raise ValueError(f"exponent={shown(extra['exponent'])} is neither an int nor "
                             f"{len(self._mean)} of them")
        self._unit = Unit(self._mean, np.broadcast_to(exponents, self._mean.shape),
                          float(extra["spread"]))
        self._text, self.rank_ = str(extra["text"]), check_int("rank", extra["rank"])
        self._fitted = self._check_settings()
        which = "kept." if extra["record"]["best"] is not None else "layers."
        try:
            self._show(self._fresh(len(self._mean)), weights_of(arrays, which))
        except RuntimeError as error:              # of Torch: weights of other names or shapes
            raise ValueError(shown(str(error), 200)) from error


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    """The values. Raises ValueError that names the first row that is not finite."""
    bad = np.flatnonzero(~np.isfinite(values).all(axis=tuple(range(1, values.ndim))))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] leaves float32 on its way through the flow ({len(bad)} "
                         f"of {len(values)} rows do): too far from the fitted vectors")
    return values
