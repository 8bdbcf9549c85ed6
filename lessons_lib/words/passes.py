"""What methods that learn from windows over a text have in common: checks of their settings, and passes over the text that can stop and go on.

Used by the methods of lessons ``04_word2vec`` and ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import TrainingDiverged, check_choice, check_float, check_int, check_seed, fingerprint, shown, track
from .reading import Reading
from .run import Run, parts_of

if TYPE_CHECKING:
    from ..kernels import WindowState

__all__ = ["SHORT", "check_same_text", "check_window_settings", "drawn_rows", "passes"]

LARGEST = 1e3                                   # a coordinate beyond it belongs to a run that diverges: sound ones stay below 20
SHORT = 100_000                                 # tokens; of shorter texts the loss of every window is noted, of others of one in sixteen

Update = Callable[[tuple[float, float], int, tuple[int, int]], tuple[float, int]]


def check_window_settings(model: Any) -> None:
    """Check the settings that methods of windows share. Raises TypeError, ValueError."""
    for name in ("dim", "min_count", "epochs", "threads"):
        check_int(name, getattr(model, name))
    check_int("window", model.window, high=1000)
    check_choice("architecture", model.architecture, ("skip_gram", "cbow"))
    if check_choice("objective", model.objective, ("negative_sampling", "hierarchical_softmax")) == "negative_sampling":
        try:
            check_int("negatives", model.negatives, high=255)
        except ValueError as error:
            raise ValueError(f"{error} with objective='negative_sampling'. Without noise: objective='hierarchical_softmax'") from None
    check_float("sample", model.sample, low=0.0)
    check_float("noise_exponent", model.noise_exponent)
    check_float("learning_rate", model.learning_rate, low=0.0, open_low=True)
    check_seed(model.seed)
    for name in ("deterministic", "share_error", "progress"):
        if not isinstance(getattr(model, name), (bool, np.bool_)):
            raise TypeError(f"{name}={shown(getattr(model, name))} is {type(getattr(model, name)).__name__}; expected True or False")


def check_same_text(reading: Reading, run: Run, *more: np.ndarray) -> None:
    """Refuse to resume a run on another text, or with other arrays that belong to it. Raises ValueError."""
    if fingerprint(reading.offsets, reading.words, *more) != run.text:
        raise ValueError(f"corpus has {len(reading.offsets) - 1:,} documents and {len(reading.words):,} known tokens that are not those "
                         f"of the interrupted run,{' or with other tags,' if more else ''} or in another order; resume needs its corpus. "
                         "For more text: partial_fit")


def drawn_rows(rng: np.random.Generator, n: int, dim: int, *, reach: float) -> np.ndarray:
    """Start vectors (n, dim) float32, uniform within ``reach`` / dim to both sides of 0."""
    return (rng.random((n, dim), dtype=np.float32) - np.float32(0.5)) * np.float32(2 * reach / dim)


def passes(model: Any, state: WindowState, update: Update, hand_over: Callable[[], None], *, least_rate: float,
           on_epoch: Callable[[Any], object] | None) -> None:
    """Do the parts of ``model._run`` that are left; each counts when all of it is done.

    Parameters: model, with epochs, name, progress and ``_run``, which moves on; state, which ``update(rates, epochs done, pieces)`` changes,
    returning a sum of losses and the number of pairs in it; hand_over, which copies what was learned from the state into the model: called before
    on_epoch(model), and at the end, however it comes; least_rate, of the first, where the line of falling learning rates ends. Raises
    TrainingDiverged.
    """
    parts, n, run, epochs = parts_of(state.pieces), int(state.pieces[-1]), model._run, int(model.epochs)
    if run.part == len(parts):                      # interrupted between the last part and the end of its epoch
        model._run = run = run.after_epoch()
    spare = tuple(x.clone() for x in (state.inputs, state.outputs))
    todo = [(epoch, *part) for epoch in range(run.epoch, epochs) for part in parts][run.part :]
    try:
        for epoch, first, last in track(todo, total=n * epochs, label=model.name, show=model.progress, unit=" tokens",
                                        size=lambda part: int(state.pieces[part[2]] - state.pieces[part[1]]),
                                        done=n * run.epoch + int(state.pieces[parts[run.part][0]])):
            rates = tuple(max(run.rate * (1 - done / epochs), run.rate * least_rate) for done in (epoch, epoch + 1))
            _part(model, state, spare, partial(update, rates, model._run.epochs_done, (first, last)),
                  partial(_diverged, model._run, state.pieces[[first, last]], rates[0]))
            if model._run.part == len(parts):
                model._run = model._run.after_epoch()
                if on_epoch is not None:
                    hand_over()
                    on_epoch(model)
    finally:                                        # also after Ctrl-C and divergence: what has been learned so far
        hand_over()


def _part(model: Any, state: WindowState, spare: tuple[Any, ...], update: Callable[[], tuple[float, int]], about: Callable[[float], str]) -> None:
    """Train on some pieces of the text, and take it back if it was interrupted or numbers have left their range."""
    run, learned = model._run, (state.inputs, state.outputs)
    for x, room in zip(learned, spare, strict=True):
        room.copy_(x)
    try:
        found = update()
        largest = float(np.abs([float(end) for x in learned for end in x.aminmax()]).max())
        if not largest < LARGEST or not np.isfinite(found[0]):                      # NaN is not smaller, either
            raise TrainingDiverged(about(largest))
        model._run = run.after_part(*found)
    except BaseException:
        for x, room in zip(learned, spare, strict=True):
            x.copy_(room)
        model._run = run
        raise


def _diverged(run: Run, pieces: np.ndarray, rate: float, largest: float) -> str:
    last = f"{run.history[-1]:.4g}" if run.history else "none"
    return (f"training diverged in epoch {run.epochs_done + 1}, step of tokens {pieces[0]:,} to {pieces[1]:,}: a coordinate reached {largest:g}; "
            f"last finite loss: {last}. The vectors are those of before this step. "
            f"Use a smaller rate: learning_rate={rate / 10:.3g}, or 0.025")
