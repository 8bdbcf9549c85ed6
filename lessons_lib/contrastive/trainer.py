"""What all trainers have in common: `fit` on texts, `resume`, and afterwards an encoder.

A trainer learns on a copy: the encoder it is given stays as it is. What differs between SBERT,
CoSENT and SimCSE is the objective, in `sbert`, `cosent` and `simcse`; what happens in a step is in
`training`.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from ..contextual import ContextualEncoder, Pooling
from ..contextual.folders import encoder_in
from ..contextual.ranks import Ranks, joined
from ..contextual.folders import save_encoder
from ..core import (DamagedFile, checked_path, existing_path, read_json, save_model, shown, taken,
                    torch_device, write_json)
from ..core.checks import MOST
from ..core.gradient_run import GradientEstimator, newest_state, weights_of
from ..core.learned import Learned
from ..core.parameters import Choice, Count, Float, Given, Int
from ..datasets import SentencePairs
from .examples import Examples, Order
from .history import History, Watch
from .reading import PRECISIONS, Reading, an_encoder
from .training import Objective, Plan, Training

__all__ = ["Trainer", "holds_run"]

RUNS = ("run-a", "run-b")       # written in turn: when the last is damaged, one is still there
NOTES = 8                       # with dev pairs, unless evaluate_every says otherwise
LINES = 20                      # without them, when a note costs nothing
NO_SETTINGS = ("encoder", "augment")              # of a trainer that are no JSON
BEGUN = "run on its way"                            # in the card of an encoder without its run
OF_ENCODER = ("name", "pooling", "layer", "special_tokens", "max_length", "truncation", "normalize",
              "batch_invariant")


class Trainer(GradientEstimator):
    """Base of the trainers: the settings of all of them.

    Subclasses declare their own, and say what the examples are and what is asked of their vectors.
    """

    words: str                                    # what it does to an encoder, in a name
    _may_change = (*GradientEstimator._may_change, *NO_SETTINGS, "chunk")

    encoder = Given(doc="is not changed", kind="ContextualEncoder", check=an_encoder, positional=1)
    pooling = Given(None, "how texts become vectors while learning and afterwards; None: as the "
                          "encoder does", kind="str")
    dropout = Float(0.1, "share of units left out while learning; None: as the model has", low=0,
                    high=0.9, optional=True)
    batch_size = Int(64, "examples of a step, over all processes", low=2)
    epochs = Float(1.0, "also parts of one", above=0, high=MOST)
    steps = Count(None, "instead of epochs")
    learning_rate = Float(2e-5, "of AdamW, reached after ``warmup``, then falling to 0 in a "
                                "straight line", above=0)
    warmup = Float(0.1, "share of the steps", low=0, high=0.9)
    max_length = Int(None, "tokens read of a text while learning; None: as the encoder")
    evaluate_every = Int(None, "steps between two lines of the history; None: 8 lines with dev "
                               "pairs and 20 without")
    patience = Int(None, "lines without a better dev score before it stops; None: never")
    chunk = Int(None, "examples read at a time, which saves memory and reads twice (gradient "
                      "caching); None: all at once")
    precision = Choice(*PRECISIONS, doc="'bfloat16' is for a GPU")

    encoder_ = Learned("ContextualEncoder", "with the weights that were best on dev, or without "
                       "dev pairs the last ones")
    history_ = Learned("History", "what was noted on the way")
    n_steps_ = Learned("int", "steps done")

    # ---------------------------------------------------------------------- what a subclass says

    def _examples(self, data: Any) -> Examples:
        """The examples in ``data``, looked at. Raises TypeError, ValueError."""
        raise NotImplementedError

    def _objective(self, learner: Reading, examples: Examples) -> Objective:
        """What is asked of their vectors."""
        raise NotImplementedError

    def _finish(self, training: Training) -> None:
        """Change the model before an encoder is made of it."""

    def _check_data(self, examples: Examples, order: Order) -> None:
        """Warn of what is allowed in the examples but rarely meant."""

    @property
    def _pooling_after(self) -> str | None:
        """How texts become vectors afterwards, None: as while learning."""
        return None

    # ------------------------------------------------------------------------------ learning

    def fit(self, data: Any, dev: SentencePairs | None = None, *,
            on_note: Callable[[Self], object] | None = None) -> Self:
        """Learn from examples, beginning with the given encoder.

        Started by ``torchrun``, the processes share each batch, and only the first calls
        ``on_note``. Ctrl-C ends after the step that is under way and comes out as
        KeyboardInterrupt; the trainer holds what was learned, and `resume` goes on, also after
        `save` and `load`.

        Parameters
        ----------
        data : object
            See the class.
        dev : datasets.SentencePairs, optional
            Graded pairs, on which Spearman's correlation is noted every ``evaluate_every`` steps.
            The weights of the best line are kept; line 0, before training, does not count.
        on_note : callable, optional
            Called with the trainer when a line was added to ``history_``, for example to save it.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, data.
        BackendUnavailable
        TrainingDiverged
            The weights are then those of before.
        ConnectionError
            Another process has gone.

        Warns
        -----
        DataWarning
            A text is cut; equal texts meet as each other's negatives.
        """
        settings = self._check_settings()
        torch_device(self.device)
        examples, watch = self._examples(data), Watch.of(dev, seed=self.seed)
        order = Order(len(examples), batch_size=self.batch_size, seed=self.seed)
        self._check_data(examples, order)
        with joined(self.device) as ranks:
            training = self._training(examples, order, watch, ranks)
            training.note()
            self._fitted, self._text = settings, examples.fingerprint
            self._augmented = settings.get("augment") is not None
            self._work(training, on_note)
        return self

    def resume(self, data: Any, dev: SentencePairs | None = None, *,
               on_note: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` that was interrupted, also after `load`: bitwise as if it had not been.

        A finished run is left as it is.

        Parameters
        ----------
        data, dev, on_note
            The same data and dev pairs as before; on_note as in `fit`.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
        ValueError
            Other data or settings; others as `fit`.
        """
        self._check_fitted("encoder_")
        settings = self._same_settings()
        if (settings.get("augment") is not None) != self._augmented:
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

    def _training(self, examples: Examples, order: Order, watch: Watch, ranks: Ranks,
                  kind: type[Training] = Training) -> Training:
        learner = Reading(self.encoder, pooling=self.pooling, dropout=self.dropout,
                          max_length=self.max_length, precision=self.precision)
        objective = self._objective(learner, examples)
        steps = self.steps or max(1, math.ceil(round(self.epochs * order.per_epoch, 6)))
        self._check_patience(steps)
        if self.evaluate_every is not None:
            taken("evaluate_every", self.evaluate_every, steps, f"the run has {steps:,} steps",
                  stacklevel=5)
        lines = LINES if watch.dev is None else NOTES
        plan = Plan(steps, self.learning_rate, self.warmup, self.weight_decay, self.clip,
                    self.chunk, self.evaluate_every or max(1, steps // lines), self.patience,
                    self.seed)
        return kind(learner.to(ranks.device), objective.to(ranks.device), order, plan, watch=watch,
                    ranks=ranks, encoder=lambda training: self._encoder_of(training, copy=False))

    def _encoder_of(self, training: Training, *, copy: bool = True) -> ContextualEncoder:
        with torch.no_grad():
            self._finish(training)
        settings = {"name": self.name, "card": None}
        if self._pooling_after:
            settings["pooling"] = self._pooling_after
        return training.learner.encoder(copy=copy).set_params(**settings)

    def _hand_over(self, training: Training) -> None:
        with torch.no_grad():
            self._finish(training)
        self._state, self._finished = (training.arrays(), training.noted()), training.finished
        self.history_, self.n_steps_ = training.history, training.record.step
        self._negatives = training.objective.negatives
        last = {name: value.clone() for name, value in training.model.state_dict().items()}
        training.model.load_state_dict(training.best())
        self.encoder_ = self._encoder_of(training)
        training.model.load_state_dict(last)

    # ------------------------------------------------------------------------------ an encoder

    @property
    def name(self) -> str:
        """The encoder's name and what was done to it, such as ``lesson-bert + SimCSE``."""
        return f"{self.encoder.name} + {self.words}"

    @property
    def dim(self) -> int:
        """Columns of a vector."""
        return self.encoder_.dim

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts by the trained encoder.

        Parameters
        ----------
        texts, batch_size, progress
            As `ContextualEncoder.encode`.

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        NotFittedError, TypeError, ValueError
        """
        return self.encoder_.encode(texts, batch_size=batch_size, progress=progress)

    def read_by(self, pooling: str | Pooling) -> ContextualEncoder:
        """The trained encoder with another pooling; the weights are shared.

        Parameters
        ----------
        pooling : str or Pooling
            Such as "first-last".

        Returns
        -------
        ContextualEncoder

        Raises
        ------
        NotFittedError, ValueError
        """
        chosen = pooling if isinstance(pooling, Pooling) else Pooling(pooling)
        return ContextualEncoder(**self.encoder_.get_params() | {
            "pooling": chosen.name, "layer": chosen.layer, "special_tokens": chosen.special_tokens,
            "name": f"{self.name} ({chosen})"}).check()

    # ------------------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike) -> None:
        """Write a folder that `load` and ``load_encoder`` read, and from which training can go on.

        Parameters
        ----------
        path : str or path
            A folder of its own.

        Raises
        ------
        NotFittedError, OSError
        FileExistsError
            The folder holds somebody else's model.
        """
        self._check_fitted("encoder_")
        folder, settings = checked_path(path), self._same_settings()
        if there := another_model(folder):
            raise FileExistsError(f"{folder} holds a model already ({there}), which would be "
                                  "written over; choose another folder")
        arrays, noted = self._state
        if self._finished:                        # what is left to do with it needs no optimizer
            arrays = {n: array for n, array in arrays.items() if n.startswith("model.objective.")}
        first, card = not holds_run(folder), self._card()
        # until its run is there, too, the encoder is nobody's: a killed save can be done again
        save_encoder(folder, self.encoder_, card=card | {BEGUN: True} if first else card)
        plain = {name: str(value) if isinstance(value, float) and math.isinf(value) else value
                 for name, value in settings.items() if name not in NO_SETTINGS}
        older, newer = sorted(RUNS, key=lambda name: _number(folder / name))
        save_model(folder / older, type(self).__name__, settings=plain, arrays=arrays, extra={
            "number": _number(folder / newer) + 1, "record": noted, "text": self._text,
            "finished": self._finished, "kept": self.history_.kept, "augmented": self._augmented,
            "classes": list(vars(self).get("classes_", ())),
            "encoder": {name: getattr(self.encoder, name) for name in OF_ENCODER},
            "trained": {name: getattr(self.encoder_, name) for name in OF_ENCODER}})
        if first:
            whole = read_json(folder / "card.json")
            write_json(folder / "card.json", {k: v for k, v in whole.items() if k != BEGUN})
        if self._finished:
            shutil.rmtree(folder / newer, ignore_errors=True)

    def _card(self) -> dict[str, Any]:
        history = self.history_
        card = {"name": self.name, "method": self.words, "steps": self.n_steps_,
                "steps of these weights": int(history.step[history.best]),
                "finished": self._finished, "seed": self.seed}
        best = float(history.dev[history.best])
        return card if math.isnan(best) else card | {"dev spearman": round(best, 4)}

    @classmethod
    def load(cls, path: str | os.PathLike, *, verify: bool = True) -> Self:
        """Read what `save` wrote.

        ``encoder`` is then the trained one, from which another `fit` would begin.

        Parameters
        ----------
        path : str or path
        verify : bool, default True
            Compare every number with the checksums it was saved with (about 0.5 s per GB).

        Returns
        -------
        Trainer

        Raises
        ------
        FileNotFoundError, DamagedFile, ValueError
            Not there; cut, changed, or of another kind; of a newer format.

        Warns
        -----
        DataWarning
            The newest state is damaged, and the one before it is used.
        """
        folder = existing_path(path)
        if not holds_run(folder):
            raise DamagedFile(f"{folder} is not a saved {cls.__name__}: neither {RUNS[0]} nor "
                              f"{RUNS[1]} holds a run. An encoder alone is read by "
                              "ll.contextual.load_encoder")
        _, (settings, arrays, extra) = newest_state([folder / name for name in RUNS], cls.__name__,
                                                      verify=verify)
        try:
            encoder = encoder_in(folder, precision="float32", verify=verify).set_params(card=None,
                                                                         **extra["encoder"])
            trainer = cls(encoder.check(), **{
                name: float(value) if value in ("inf", "-inf") else value
                for name, value in settings.items()})
            trainer._fitted = trainer._check_settings()
            trainer._set_state(arrays, extra)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            if isinstance(error, DamagedFile):
                raise
            raise DamagedFile(f"{folder} is a {cls.__name__} that this version cannot read "
                              f"({shown(str(error), 200)}). Save it again") from error
        return trainer

    def _set_state(self, arrays: dict[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        """Stand where a run was saved; the encoder of one that is not finished is in its arrays."""
        record = extra["record"]
        lines = [{name: math.nan if value is None else value for name, value in line.items()}
                 for line in record["lines"]]
        self._state, self._text = (arrays, record), str(extra["text"])
        self._finished, self._augmented = bool(extra["finished"]), bool(extra["augmented"])
        if extra["classes"]:
            self.classes_ = tuple(extra["classes"])
        self.history_ = History.of(lines, best=record["line"], kept=extra["kept"])
        self.n_steps_, trained = record["step"], self.encoder
        if not self._finished:
            learner = Reading(self.encoder)
            prefix = "kept.reading." if extra["kept"] == "dev" else "model.reading."
            learner.load_state_dict(weights_of(arrays, prefix))
            trained = learner.encoder()
        self.encoder_ = ContextualEncoder(**trained.get_params() | extra["trained"]).check()


def another_model(folder: Path) -> str:
    """A file of a model that no run of ours wrote, or is about to write; "" where there is none."""
    names = ("model.safetensors", "config.json", "model.json")
    there = next((name for name in names if (folder / name).exists()), "")
    if not there or holds_run(folder):
        return ""
    try:
        card = read_json(folder / "card.json")
    except (FileNotFoundError, DamagedFile):
        return there
    return "" if isinstance(card, dict) and (
        card.get(BEGUN) is True or list(card) == ["becomes", "draft"]) else there


def holds_run(folder: str | os.PathLike) -> bool:
    """Whether a folder holds a trainer, of whatever kind."""
    return any((Path(folder) / name / "model.json").is_file() for name in RUNS)


def _number(folder: Path) -> int:
    """The number of a state, counted from 1; 0 where there is none that can be read."""
    try:
        return int(read_json(folder / "model.json")["extra"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
