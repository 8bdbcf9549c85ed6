"""What all trainers have in common: `fit` on texts, `resume`, and afterwards an encoder like any
other.

A trainer learns on a copy: the encoder it is given stays as it is. What differs between SBERT,
CoSENT and SimCSE is the objective, in `sbert`, `cosent` and `simcse`; what happens in a step is in
`training`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import torch

from ..contextual import ContextualEncoder, Pooling
from ..contextual.ranks import Ranks, joined
from ..core import (Estimator, asked_to_stop, check_choice, check_float, check_int, check_seed,
                    shown, torch_device)
from ..datasets import SentencePairs
from .batches import Order
from .examples import Examples
from .history import Watch
from .reading import PRECISIONS, Reading
from .training import Objective, Plan, Training

__all__ = ["Trainer"]

NOTES = 8  # with dev pairs, unless evaluate_every says otherwise
LINES = 20                                        # without them, when a note costs nothing
MAY_CHANGE = ("chunk", "device", "patience", "progress")  # of the settings, when a run goes on


class Trainer(Estimator):
    """Base of the trainers: subclasses store their settings, and say what the examples are and what
    is asked of their vectors.

    Settings of all of them
        encoder: a `ContextualEncoder`, which is not changed. pooling: how texts become vectors
        while learning and afterwards, None: as the encoder does. dropout: share of units left out,
        None: as the model has. batch_size: examples per step, over all processes. epochs, also
        parts of one; steps, instead of epochs. learning_rate, reached after the share ``warmup`` of
        the steps, then falling to 0 in a straight line (AdamW). weight_decay, of matrices; clip,
        longest gradient. max_length: pieces read of a text while learning, None: as the encoder.
        evaluate_every: steps between two lines of the history, None: 8 lines with dev pairs and 20
        without; patience: lines without a better dev score before it stops, None: never. chunk:
        examples read at a time, which saves memory and takes two readings (gradient caching); None:
        all at once. precision: "float32", or "bfloat16" on a GPU. seed: decides order, masks, start
        of a head. device: "auto", "cpu" or "cuda". progress, show a bar.
    Attributes
        encoder_, a `ContextualEncoder` with the weights that were best on dev, or without dev pairs
        the last ones. history_, a `History`. n_steps_, steps done.
    """

    encoder: ContextualEncoder
    pooling: str | None
    dropout: float | None
    batch_size: int
    epochs: float
    steps: int | None
    learning_rate: float
    warmup: float
    weight_decay: float
    clip: float
    max_length: int | None
    evaluate_every: int | None
    patience: int | None
    chunk: int | None
    precision: str
    seed: int
    device: str
    progress: bool
    words: str                                    # what it does to an encoder, in a name

    # ------------------------------------------------------------------------ what a subclass says

    def _examples(self, data: Any) -> Examples:
        """The examples in ``data``, looked at. Raises TypeError, ValueError."""
        raise NotImplementedError

    def _objective(self, reading: Reading, examples: Examples) -> Objective:
        """What is asked of their vectors."""
        raise NotImplementedError

    def _finish(self, training: Training) -> None:
        """Change the model before an encoder is made of it."""

    def _check_own(self) -> None:
        """Raise TypeError or ValueError for settings of the subclass."""

    def _check_data(self, examples: Examples, order: Order) -> None:
        """Warn of what is allowed in the examples but rarely meant."""

    @property
    def _pooling_after(self) -> str | None:
        """How texts become vectors afterwards, None: as while learning."""
        return None

    # -------------------------------------------------------------------------- settings

    def _check_settings(self) -> None:
        if not isinstance(self.encoder, ContextualEncoder):
            raise TypeError(f"encoder={shown(self.encoder)} is {type(self.encoder).__name__}; "
                            "expected a ContextualEncoder. Make one: "
                            "ll.contextual.load_encoder('lesson-bert')")
        check_int("batch_size", self.batch_size, low=2)
        for name in ("steps", "max_length", "evaluate_every", "patience", "chunk"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name))
        for name in ("epochs", "learning_rate", "clip"):
            check_float(name, getattr(self, name), low=0.0, open_low=True)
        check_float("weight_decay", self.weight_decay, low=0.0)
        check_float("warmup", self.warmup, low=0.0, high=0.9)
        check_choice("precision", self.precision, PRECISIONS)
        check_seed(self.seed)
        if not isinstance(self.progress, (bool, np.bool_)):
            raise TypeError(f"progress={shown(self.progress)} is {type(self.progress).__name__}; "
                            "expected True or False")
        self._check_own()

    def _plan(self, order: Order, *, has_dev: bool) -> Plan:
        steps = (self.steps
                 if self.steps is not None
                 else max(1, math.ceil(round(self.epochs * order.per_epoch, 6))))
        every = (self.evaluate_every
                 if self.evaluate_every is not None
                 else max(1, steps // (NOTES if has_dev else LINES)))
        return Plan(steps, self.learning_rate, self.warmup, self.weight_decay, self.clip,
                    self.chunk, every, self.patience, self.seed)

    # -------------------------------------------------------------------------- learning

    def fit(self, data: Any, dev: SentencePairs | None = None, *,
            on_note: Callable[[Self], object] | None = None) -> Self:
        """Learn from examples, beginning with the given encoder. Returns self.

        Parameters: data, see the class; dev, graded pairs, on which Spearman's correlation is noted
        every ``evaluate_every`` steps: the weights of the best line are kept, line 0 (before
        training) not counted; on_note, called with the trainer whenever a line was added to
        ``history_``, for example to save it. Started by ``torchrun``, the processes share each
        batch, and only the first calls ``on_note``. Ctrl-C ends after the step that is under way
        and comes out as KeyboardInterrupt; the trainer holds what was learned, and `resume` goes
        on, also after `save` and `load`.

        Raises TypeError, ValueError (settings, data), BackendUnavailable, TrainingDiverged: the
        weights are then those of before; ConnectionError where another process has gone.
        DataWarning: a text is cut; equal texts meet as each other's negatives.
        """
        self._check_settings()
        torch_device(self.device)
        examples, watch = self._examples(data), Watch.of(dev, seed=self.seed)
        order = Order(len(examples), batch_size=self.batch_size, seed=self.seed)
        self._check_data(examples, order)
        with joined(self.device) as ranks:
            training = self._training(examples, order, watch, ranks)
            training.note()
            self._fitted, self._text, self._augmented = self.get_params(
            ), examples.fingerprint, getattr(self, "augment", None) is not None
            self._work(training, on_note)
        return self

    def resume(self, data: Any, dev: SentencePairs | None = None, *,
               on_note: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` that was interrupted, also after `load`: bitwise as if it had not been.
        Returns self.

        Parameters: data, dev, the same as before; on_note as in `fit`. A finished run is left as it
        is. Raises NotFittedError, ValueError for other data or settings, and as `fit`.
        """
        self._check_fitted("encoder_")
        self._check_same_settings()
        if (getattr(self, "augment", None) is not None) != self._augmented:
            raise ValueError(f"augment was {'given' if self._augmented else 'None'} in fit; a "
                             "function is not saved: set_params(augment=...)")
        examples, watch = self._examples(data), Watch.of(dev, seed=self.seed)
        if examples.fingerprint != self._text:
            raise ValueError(f"data holds {len(examples):,} other examples than the interrupted "
                             "run, or in another order; resume needs its own")
        if (watch.dev is None) != (self.history_.kept == "last"):
            raise ValueError("the interrupted run was measured "
                             f"{'without' if watch.dev is not None else 'on'} dev pairs; resume "
                             "needs the same")
        if self._finished:
            return self
        order = Order(len(examples), batch_size=self.batch_size, seed=self.seed)
        with joined(self.device) as ranks:
            training = self._training(examples, order, watch, ranks)
            training.restore(*self._state)
            self._work(training, on_note)
        return self

    def _check_same_settings(self) -> None:
        self._check_settings()
        wrong = [
            f"{name}={shown(value)} (in fit: {shown(self._fitted[name])})"
            for name, value in self.get_params().items()
            if name not in (*MAY_CHANGE, "encoder", "augment") and value != self._fitted[name]
        ]
        if wrong:
            raise ValueError(f"settings differ from those of the fit: {', '.join(wrong)}. Set them "
                             "back, or fit anew")

    def _training(self, examples: Examples, order: Order, watch: Watch, ranks: Ranks) -> Training:
        reading = Reading(self.encoder, pooling=self.pooling, dropout=self.dropout,
                          max_length=self.max_length, precision=self.precision)
        objective = self._objective(reading, examples)
        return Training(reading.to(ranks.device), objective.to(ranks.device), order,
                        self._plan(order, has_dev=watch.dev is not None), watch=watch, ranks=ranks,
                        encoder=lambda training: self._encoder_of(training, copy=False))

    def _encoder_of(self, training: Training, *, copy: bool = True) -> ContextualEncoder:
        with torch.no_grad():
            self._finish(training)
        found = training.reading.encoder(copy=copy)
        settings = ({"name": self.name, "card": None} |
                    ({"pooling": self._pooling_after} if self._pooling_after else {}))
        return found.set_params(**settings)

    def _work(self, training: Training, on_note: Callable[[Self], object] | None) -> None:
        def tell() -> None:
            if on_note is not None:
                self._hand_over(training)
                on_note(self)

        try:
            with asked_to_stop() as asked:
                training.work(asked, label=self.name, progress=self.progress, on_note=tell)
        finally:                                  # also after divergence: the last sane weights
            self._hand_over(training)
        if not training.finished:                 # this process was asked to stop, or another one
            raise KeyboardInterrupt

    def _hand_over(self, training: Training) -> None:
        """Copy what was learned so far into the attributes that others see, and what `resume`
        needs.
        """
        with torch.no_grad():
            self._finish(training)
        self._state = training.arrays(), training.noted()
        self.history_, self.n_steps_, self._finished = training.history, training.record.step, training.finished
        best, last = training.best(), {
            name: value.clone() for name, value in training.model.state_dict().items()
        }
        training.model.load_state_dict(best)
        self.encoder_ = self._encoder_of(training)
        training.model.load_state_dict(last)

    # -------------------------------------------------------------------------- an encoder

    @property
    def name(self) -> str:
        """The encoder's name and what was done to it, such as ``lesson-bert + SimCSE``."""
        return f"{self.encoder.name} + {self.words}"

    @property
    def dim(self) -> int:
        """Numbers per vector."""
        self._check_fitted("encoder_")
        return self.encoder_.dim

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts by the trained encoder, (n, dim) float32; see
        `ContextualEncoder.encode`. Raises NotFittedError.
        """
        self._check_fitted("encoder_")
        return self.encoder_.encode(texts, batch_size=batch_size, progress=progress)

    def read_by(self, pooling: str | Pooling) -> ContextualEncoder:
        """The trained encoder with another pooling, such as "first-last"; the weights are shared.

        Raises NotFittedError, ValueError.
        """
        self._check_fitted("encoder_")
        chosen = pooling if isinstance(pooling, Pooling) else Pooling(pooling)
        settings = self.encoder_.get_params() | {
            "pooling": chosen.name, "layer": chosen.layer, "special_tokens": chosen.special_tokens,
            "name": f"{self.name} ({chosen})"
        }
        return ContextualEncoder(**settings).check()

    # -------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write a folder that `load` and ``load_encoder`` read, and from which training can go on;
        see `files`. Raises NotFittedError, OSError.
        """
        from .files import save_trainer

        self._check_fitted("encoder_")
        save_trainer(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read what `save` wrote; ``encoder`` is then the trained one, from which another `fit`
        would begin. Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        from .files import load_trainer

        return load_trainer(cls, path)
