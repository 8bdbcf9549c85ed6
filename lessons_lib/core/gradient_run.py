"""A training run by gradients as an object: steps, what is noted, and all of it as arrays.

A step depends on its number and the weights alone, so a run that was stopped and goes on ends with
the same bits as one that was not. Used by the flow (lesson ``11_bert_flow``), by pre-training
(``08_bert_sentence_vectors``) and by the contrastive trainers (``10_sbert``, ``13_cosent``,
``14_simcse``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn

from .checks import shown, taken, warn_data
from .errors import DamagedFile, TrainingDiverged
from .estimator import Estimator
from .files import read_json
from .interruption import asked_to_stop
from .parameters import Choice, Flag, Float, Int, Seed
from .progress import track
from .store import CARD, load_model

__all__ = ["GradientEstimator", "GradientRun", "Record", "newest_state", "on_threads", "seeded",
           "weights_of"]

MOMENTS = ("step", "exp_avg", "exp_avg_sq")       # what AdamW keeps of a parameter


@dataclass
class Record:
    """What every run notes; subclasses add their lines.

    ``step``, steps done; ``steps_in_loss``, since the last line; ``first``, loss of the first
    batch; ``best``, best held-out value so far; ``since``, lines since it; ``stopped`` early.
    """

    step: int = 0
    steps_in_loss: int = 0
    first: float | None = None
    best: float | None = None
    since: int = 0
    stopped: bool = False


class GradientRun:
    """Model, optimizer and record of one run.

    Parameters: model, on its device; record, empty; steps, in all, with a line every ``every`` of
    them; items read in a step; decayed, the parameters that weight decay draws to 0, None: all with
    more than one axis; options of AdamW. Subclasses write `step` and `note`.
    """

    prefix = "model."                              # of the weights among the arrays
    unit = ""                                      # of the items, in the bar

    def __init__(self, model: nn.Module, record: Any, *, steps: int, every: int, items: int,
                 learning_rate: float, weight_decay: float, clip: float,
                 decayed: Iterable[Tensor] | None = None, device: torch.device | str = "cpu",
                 **adam: Any) -> None:
        self.model, self.record = model, record
        self.steps, self.every, self.items, self.clip = steps, every, items, clip
        self.parameters = list(model.parameters())
        if decayed is None:                        # biases and LayerNorm are not drawn to 0
            decayed = [p for p in self.parameters if p.ndim > 1]
        drawn = {id(p) for p in decayed}
        groups = [{"params": [p for p in self.parameters if (id(p) in drawn) == is_drawn],
                   "weight_decay": weight_decay * is_drawn} for is_drawn in (True, False)]
        self.optimizer = torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate,
                                           fused=True, **adam)
        self.device = torch.device(device)
        self._loss = torch.zeros((), dtype=torch.float64, device=self.device)
        self._line_loss = math.nan                 # of the last line
        self.kept: dict[str, Tensor] = {}

    # ------------------------------------------------------------------------------ steps

    def step(self) -> None:
        """Read one batch and change the weights once."""
        raise NotImplementedError

    def note(self) -> None:
        """Add a line to the record, and keep the weights if they are the best."""
        raise NotImplementedError

    def due(self) -> bool:
        """Whether a line is to be added after the steps done so far."""
        return self.record.step % self.every == 0 or self.record.step == self.steps

    @property
    def finished(self) -> bool:
        """Whether no step is left to do."""
        return self.record.stopped or self.record.step >= self.steps

    def advance(self, loss: Tensor, *, rate: float | None = None) -> None:
        """Change the weights by their gradients, and count the step and its loss."""
        if self.record.first is None:
            self.record.first = float(torch.nan_to_num(loss.detach()))
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        for group in self.optimizer.param_groups if rate is not None else ():
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._loss += loss.detach().double()
        self.record.step += 1
        self.record.steps_in_loss += 1

    def work(self, stop: Callable[[], bool], *, label: str, show: bool,
             on_note: Callable[[], object] = lambda: None) -> None:
        """Do the steps that are left, or those before ``stop`` or the record says: enough.

        Parameters: stop, asked before each step; label and show of the bar; on_note, called after
        each line. Raises TrainingDiverged.
        """
        record, items = self.record, self.items
        for _ in track(range(record.step, self.steps), total=self.steps * items, label=label,
                       show=show, size=lambda step: items, unit=self.unit,
                       done=record.step * items,
                       loss=lambda: self.mean_loss() if record.steps_in_loss else self._line_loss):
            if record.stopped or stop():
                return
            self.step()
            if self.due():
                self.note()
                on_note()

    # ------------------------------------------------------------------------------ lines

    def mean_loss(self) -> float:
        """The mean loss since the last line, NaN where no step was done."""
        steps = self.record.steps_in_loss
        return float(self._loss) / steps if steps else math.nan

    def begin_line(self) -> None:
        """Count the loss from here on anew."""
        self._line_loss = self.mean_loss()
        self._loss.zero_()
        self.record.steps_in_loss = 0

    def finite(self) -> bool:
        """Whether all weights are."""
        return all(bool(p.isfinite().all()) for p in self.parameters)

    def better(self, value: float | None, *, larger: bool, patience: int | None) -> bool:
        """Keep the weights unless ``value`` is no better than before; None is always better.

        After ``patience`` lines without a better one the record is stopped. Returns whether the
        weights are kept.
        """
        record, best = self.record, self.record.best
        gain = value is None or best is None or (value > best if larger else value < best)
        if not gain:
            record.since += 1
            record.stopped = patience is not None and record.since >= patience
            return False
        record.best, record.since = None if value is None or math.isnan(value) else value, 0
        self.kept = {name: x.detach().clone() for name, x in self.model.state_dict().items()}
        return True

    def diverged(self, message: str) -> NoReturn:
        """Go back to the weights that were kept, end the run there, and raise TrainingDiverged."""
        if self.kept:
            self.model.load_state_dict(self.kept)
        self.optimizer.state.clear()
        self._loss.zero_()
        self.record.stopped = True
        raise TrainingDiverged(message)

    # ------------------------------------------------------------------------------ going on

    def arrays(self) -> dict[str, np.ndarray]:
        """Weights, those that were kept, and the moments of the optimizer, by name."""
        arrays = {f"{self.prefix}{name}": value for name, value in self.model.state_dict().items()}
        arrays |= {f"kept.{name}": value for name, value in self.kept.items()}
        for name, parameter in self.model.named_parameters():
            moments = self.optimizer.state.get(parameter, {})
            arrays |= {f"optimizer.{key}.{name}": value for key, value in moments.items()}
        return {name: value.detach().cpu().numpy().copy() for name, value in arrays.items()}

    def noted(self) -> dict[str, Any]:
        """The record as JSON; NaN is None there."""
        return _without_nan(asdict(self.record)) | {"loss": float(self._loss)}

    def restore(self, arrays: dict[str, np.ndarray], noted: dict[str, Any]) -> None:
        """Stand where `arrays` and `noted` were taken.

        Raises KeyError, RuntimeError or TypeError for those of another run.
        """
        self.model.load_state_dict(weights_of(arrays, self.prefix))
        self.kept = {name: x.to(self.device) for name, x in weights_of(arrays, "kept.").items()}
        self.optimizer.state.clear()
        for name, parameter in self.model.named_parameters():
            state = {key: torch.from_numpy(np.array(arrays[f"optimizer.{key}.{name}"]))
                     for key in MOMENTS if f"optimizer.{key}.{name}" in arrays}
            if state:                              # the fused optimizer counts on the device, too
                self.optimizer.state[parameter] = {key: x.to(parameter.device)
                                                   for key, x in state.items()}
        fields = {name: _with_nan(value) if isinstance(value, list) else value
                  for name, value in noted.items() if name != "loss"}
        self.record = type(self.record)(**fields)
        self._loss.fill_(noted["loss"])


def weights_of(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): torch.from_numpy(np.array(array))
            for name, array in arrays.items() if name.startswith(prefix)}


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _with_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_nan(item) for item in value]
    return math.nan if value is None else value


def newest_state(folders: Sequence[Path], kind: str, *,
                 verify: bool = True) -> tuple[Path, tuple[Any, Any, Any]]:
    """The newest sound one of the states of a run, which are saved into folders in turn.

    One that is damaged is left aside, with a DataWarning where it may be newer. Returns its folder,
    and what `load_model` gives. Raises DamagedFile where none is sound.
    """
    def number(folder: Path) -> float:
        try:
            extra = read_json(folder / CARD)["extra"]
            return float(extra.get("number", extra["record"]["step"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return math.inf                        # it may be the newest

    damaged: list[str] = []
    there = [folder for folder in folders if (folder / CARD).is_file()]
    for folder in sorted(there, key=number, reverse=True):
        try:
            state = load_model(folder, kind, verify=verify)
        except (DamagedFile, FileNotFoundError) as error:
            damaged.append(str(error))
            continue
        if damaged:
            warn_data(f"{damaged[0]}. The state before it is used: {folder.name}, step "
                      f"{state[2]['record']['step']:,}", stacklevel=4)
        return folder, state
    raise DamagedFile(f"{folders[0].parent} holds no sound run; begin anew in another folder. "
                      f"{' '.join(damaged)}")


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Let PyTorch draw from ``seed`` on, inside; outside its generators are as they were."""
    cuda = device.type == "cuda"
    with torch.random.fork_rng([device] if cuda else []):
        own = torch.cuda.default_generators[device.index or 0] if cuda else torch.default_generator
        own.manual_seed(seed)
        yield


@contextmanager
def on_threads(n: int | None) -> Iterator[None]:
    """Let PyTorch use n threads of the processor, inside; None changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(n or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class GradientEstimator(Estimator):
    """An estimator that learns by a `GradientRun`: one that can be interrupted, saved, resumed.

    Subclasses set ``_fitted`` (the settings) in `fit`, name in ``_may_change`` those that may be
    others when a run goes on, and write ``_hand_over(training)``, which copies what was learned so
    far into the attributes that others see.
    """

    _may_change: tuple[str, ...] = ("patience", "device", "progress")

    learning_rate = Float(1e-3, "of AdamW", above=0)
    weight_decay = Float(0.0, "of AdamW, of matrices", low=0)
    clip = Float(1.0, "norm above which a gradient is scaled down", above=0)
    patience = Int(None, "lines without a better held-out value before it stops; None: never")
    seed = Seed()
    device = Choice("auto", "cpu", "cuda", doc="where it learns; 'auto': a GPU where there is one")
    progress = Flag(False, "show a bar")

    def _hand_over(self, training: Any) -> None:
        raise NotImplementedError

    def _work(self, training: GradientRun, on_note: Callable[[Any], object] | None) -> None:
        """Train until the end or Ctrl-C, which comes out as KeyboardInterrupt after its step."""
        def tell() -> None:
            if on_note is not None:
                self._hand_over(training)
                on_note(self)

        try:
            with asked_to_stop() as asked:
                training.work(asked.is_set, label=self.name, show=self.progress, on_note=tell)
        finally:                                   # also after divergence: the last sane weights
            self._hand_over(training)
        if not training.finished:                  # this process was asked to stop, or another one
            raise KeyboardInterrupt

    def _check_patience(self, steps: int) -> None:
        """Warn of a patience that a run of so many steps cannot try."""
        if self.patience is not None:
            taken("patience", self.patience, steps, f"the run has {steps:,} steps", stacklevel=6)

    def _same_settings(self) -> dict[str, Any]:
        """The settings. Raises ValueError where they differ from those of the fit."""
        settings = self._check_settings()
        wrong = [f"{name}={shown(value)} (in fit: {shown(self._fitted[name])})"
                 for name, value in settings.items()
                 if name not in self._may_change and value != self._fitted[name]]
        if wrong:
            raise ValueError(f"settings differ from those of the fit: {', '.join(wrong)}. "
                             "Set them back, or fit anew")
        return settings
