"""Where a training run stands, so that it can stop anywhere and go on as if it had not.

The data of an epoch are worked on in parts; a part counts when all of it is done, else not at all.
Used by the methods of lessons ``04_word2vec``, ``05_glove_and_fasttext`` and ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np

from .checks import check_float, check_int
from .errors import TrainingDiverged
from .learned import Learned
from .progress import track

__all__ = ["Run", "RunState", "all_or_nothing", "run_through"]

LARGEST = 1e3                   # a number beyond it is of a run that diverges: sound ones are < 20


@dataclass(frozen=True)
class Run:
    """What is done, and what is noted on the way.

    ``epoch`` and ``part`` are the next to be done, ``before`` epochs of former runs; ``loss`` and
    ``pairs`` were noted so far in this epoch. ``rate`` is the learning rate at the beginning;
    ``text`` the `core.fingerprint` of the data; ``history`` the loss of each epoch, also of former
    runs. Frozen: a step is taken by one assignment, which no interruption can cut in two.
    """

    rate: float
    text: str
    before: int = 0
    epoch: int = 0
    part: int = 0
    loss: float = 0.0
    pairs: int = 0
    history: tuple[float, ...] = ()

    @property
    def epochs_done(self) -> int:
        """Whole epochs of this and all former runs."""
        return self.before + self.epoch

    @property
    def latest_loss(self) -> float:
        """The mean loss of this epoch so far, else of the last one; NaN where none was noted."""
        if self.pairs:
            return self.loss / self.pairs
        return self.history[-1] if self.history else float("nan")

    def another(self, rate: float, text: str) -> Self:
        """A further run of the same model, on other data."""
        return type(self)(rate, text, before=self.epochs_done, history=self.history)

    def after_part(self, loss: float, pairs: int) -> Self:
        """The run when one more part is done."""
        return replace(self, part=self.part + 1, loss=self.loss + loss, pairs=self.pairs + pairs)

    def after_epoch(self) -> Self:
        """The run when an epoch is done; its mean loss, NaN where none was noted, is history."""
        mean = self.loss / self.pairs if self.pairs else float("nan")
        return replace(self, epoch=self.epoch + 1, part=0, loss=0.0, pairs=0,
                       history=(*self.history, mean))


class RunState(Learned):
    """The `Run` of a model among what it learned: kept in its files, so that it can go on."""

    def __init__(self) -> None:
        super().__init__(file="run")

    def pack(self, value: Run) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The history as an array, the rest as JSON."""
        noted = {name: item for name, item in asdict(value).items() if name != "history"}
        return {"history": np.array(value.history, dtype=np.float64)}, {"run": noted}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> Run:
        """The run from what `pack` gave."""
        noted = extra["run"]
        whole = {name: check_int(name, noted[name], low=0)
                 for name in ("before", "epoch", "part", "pairs")}
        rate = check_float("rate", noted["rate"], low=0.0, open_low=True)
        return Run(rate, str(noted["text"]), **whole, loss=float(noted["loss"]),
                   history=tuple(map(float, arrays["history"])))


@contextmanager
def all_or_nothing(model: Any) -> Iterator[None]:
    """Give a model all its attributes back when what is done to it fails or is interrupted.

    A model that is half changed could be saved, but not loaded.
    """
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        model.__dict__ = before
        raise


def run_through(model: Any, parts: Sequence[Any], learn: Callable[[Run, Any], tuple[float, int]], *,
                tensors: Sequence[Any], hand_over: Callable[[], None],
                on_epoch: Callable[[Any], object] | None, size: Callable[[Any], int], unit: str,
                usual_rate: float, numbers: Sequence[Any] | None = None) -> None:
    """Do what is left of ``model._run``; a part counts when all of it is done.

    Parameters: model, with epochs, name, progress and ``_run``, which moves on; parts of an epoch;
    learn(run, part), which changes the tensors and returns a sum of losses and their number, NaN
    where something went wrong; tensors, taken back when a part is interrupted or diverges;
    hand_over, which copies what was learned into the model: called before on_epoch(model), and at
    the end, however it comes; size of a part in ``unit``; usual_rate, for the advice in the error;
    numbers, tensors that stay small in a sound run, None: all.
    Raises TrainingDiverged.
    """
    if model._run.part == len(parts):              # interrupted between the last part and its epoch
        model._run = model._run.after_epoch()
    epochs, per_epoch, begun = int(model.epochs), sum(map(size, parts)), model._run
    left = islice((part for _ in range(begun.epoch, epochs) for part in parts), begun.part, None)
    done = per_epoch * begun.epoch + sum(map(size, parts[:begun.part]))
    spare = [tensor.clone() for tensor in tensors]
    try:
        for part in track(left, total=per_epoch * epochs, label=model.name, show=model.progress,
                          unit=unit, size=size, done=done, loss=lambda: model._run.latest_loss):
            _do_part(model, part, learn, tensors, spare, numbers or tensors, usual_rate)
            if model._run.part == len(parts):
                model._run = model._run.after_epoch()
                if on_epoch is not None:
                    hand_over()
                    on_epoch(model)
    finally:                                       # also after Ctrl-C and divergence
        hand_over()


def _do_part(model: Any, part: Any, learn: Callable[[Run, Any], tuple[float, int]],
             tensors: Sequence[Any], spare: Sequence[Any], numbers: Sequence[Any],
             usual_rate: float) -> None:
    """Learn one part, and take it back if it was interrupted or numbers have left their range."""
    run = model._run
    for tensor, copy in zip(tensors, spare, strict=True):
        copy.copy_(tensor)
    try:
        loss, pairs = learn(run, part)
        largest = float(np.abs([float(end) for x in numbers for end in x.aminmax()]).max())
        if not largest < LARGEST or not np.isfinite(loss):             # NaN is not smaller, either
            last = f"{run.history[-1]:.4g}" if run.history else "none"
            raise TrainingDiverged(
                f"training diverged in epoch {run.epochs_done + 1}, step {run.part + 1} of it: a "
                f"number reached {largest:g}; last finite loss: {last}. The vectors are those of "
                f"before this step. Use a smaller rate: learning_rate={run.rate / 10:.3g}, or "
                f"{usual_rate:g}")
        model._run = run.after_part(loss, pairs)
    except BaseException:
        for tensor, copy in zip(tensors, spare, strict=True):
            tensor.copy_(copy)
        model._run = run
        raise
