"""word2vec over several processes without averaging: words in K groups, K rounds, disjoint rows.

A pair of a context and an output word moves one row of each matrix. Process p keeps the inputs of
group p; the outputs of group (p + r) mod K are with it in round r and then go to its neighbour. So
every row is in one place at a time, every pair of the text is learned once, by the newest rows, and
nothing is ever averaged: copies that learn apart and are averaged, Spark's way, learn the less the
more of them there are (spark#37967). Used by ``torchrun``, see the command
``train word2vec``; word2vec itself is taught in lesson ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as processes

from ..core import TrainingDiverged, generator, track
from ..core.compiled import compiled
from ..core.run import LARGEST, Run
from ..kernels import WindowState
from ..kernels.window_update.state import Settings
from ..kernels.window_update.windows import Windows, drawn_windows
from .encoded_corpus import EncodedCorpus, encode_corpus, encode_more
from .window_method import random_rows
from .word2vec import Word2Vec

__all__ = ["Pairs", "learn_pairs", "train_rotated"]

# of all processes together, between two exchanges: so many, or as many as there are words. A part
# is learned block by block, so longer ones would put off the last block for long; shorter ones
# would pass on whole matrices for few pairs
LEAST_TOKENS = 2_000


class Pairs(NamedTuple):
    """Words of a context and rows of an output with what this should say, 1 or 0, and learning
    rates; int32 and float32."""

    contexts: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    rates: np.ndarray


@compiled(reorder=True)
def learn_pairs(inputs: np.ndarray, outputs: np.ndarray, pairs: tuple[np.ndarray, ...], group: int,
                size: int) -> float:
    """One step for each pair whose output is in the group, in order: o += lr (y - σ(o·c)) c and
    c += lr (y - σ(o·c)) o. Returns the sum of -log p. Of ``size`` groups, word w of a group is its
    row w // size."""
    contexts, rows, labels, rates = pairs
    loss = 0.0
    for i in range(contexts.size):
        if rows[i] % size != group:
            continue
        c, o, total = inputs[contexts[i] // size], outputs[rows[i] // size], np.float32(0)
        for j in range(c.size):
            total += c[j] * o[j]
        towards = total if labels[i] > 0 else -total
        loss += np.log1p(np.exp(-abs(towards))) + max(-towards, np.float32(0))
        gain = rates[i] * (labels[i] - np.float32(1) / (np.float32(1) + np.exp(-total)))
        for j in range(c.size):
            before = c[j]
            c[j] += gain * o[j]
            o[j] += gain * before
    return loss


@compiled
def _spread(contexts: np.ndarray, bounds: np.ndarray, rows: np.ndarray, labels: np.ndarray,
            begins: np.ndarray, ends: np.ndarray, rates: np.ndarray, size: int) -> tuple:
    """All pairs of some windows by the group of the context, in order within it: how many each
    group has, contexts, rows, labels and rates."""
    amounts = np.zeros(size, np.int64)
    for i in range(begins.size):
        for j in range(bounds[i], bounds[i + 1]):
            amounts[contexts[j] % size] += ends[i] - begins[i]
    total = amounts.sum()
    pairs = (np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.float32),
             np.empty(total, np.float32))
    place = np.cumsum(amounts) - amounts
    for i in range(begins.size):
        for j in range(bounds[i], bounds[i + 1]):
            group = contexts[j] % size
            for k in range(begins[i], ends[i]):
                at = place[group]
                pairs[0][at], pairs[1][at] = contexts[j], rows[k]
                pairs[2][at], pairs[3][at] = labels[k], rates[i]
                place[group] += 1
    return amounts, pairs


def train_rotated(model: Word2Vec, corpus: Any, *, resume: bool = False,
                  on_epoch: Callable[[Word2Vec], object] | None = None) -> Word2Vec:
    """`Word2Vec.fit` by all processes of the default group of ``torch.distributed``, on the CPU.

    Parameters
    ----------
    model : Word2Vec
        Skip-gram; its ``threads`` do not matter.
    corpus : text.Corpus or sequence of token lists
        The same in each process.
    resume : bool, default False
        Go on with a model that was saved after an epoch, to the bits of a run that was not
        stopped where the number of processes is the same.
    on_epoch : callable, optional
        Called in each process with the model after each epoch but the last; let one of them save
        it.

    Returns
    -------
    Word2Vec
        The model, with all vectors, in each process: the same bits for the same number of
        processes.

    Raises
    ------
    TypeError, ValueError
        As `Word2Vec.fit` and `resume`; CBOW, whose mean over contexts joins rows of several
        groups; a model that was stopped within an epoch.
    TrainingDiverged
        In all processes.

    Notes
    -----
    The windows and negative samples are those of `Word2Vec` with this seed. Only their order
    differs: within a part of the text by blocks, and within a block pair by pair, where
    `kernels.window_update` takes all products of a window before anything moves.
    """
    model._check_settings()
    if model.architecture != "skip_gram" or model.device != "cpu":
        raise ValueError(f"architecture={model.architecture!r}, device={model.device!r}: blocks of "
                         "words are rotated for 'skip_gram' on 'cpu' only. Train others in one "
                         "process")
    if resume:
        encoded, run = _left(model, corpus)
        rows = model.vectors_.matrix, model.output_
    else:
        encoded = encode_corpus(corpus, min_count=model.min_count)
        n, run = len(encoded.tokens), Run(float(model.learning_rate), encoded.fingerprint)
        rows = random_rows(generator(model.seed), n, model.dim, reach=0.5), np.empty((0, model.dim))
    own = _Own.of(*rows, processes.get_rank(), processes.get_world_size())
    state = WindowState(encoded.words, encoded.offsets, np.zeros((len(encoded.tokens), 1)),
                        np.zeros((len(encoded.tokens) - model._tree, 1)), encoded.counts,
                        sample=model.sample, noise_exponent=model.noise_exponent)
    n = max(1, len(encoded.words) // max(LEAST_TOKENS, len(encoded.tokens)))
    marks = state.pieces[-1] * np.arange(n + 1) // n
    cuts = [*np.searchsorted(state.pieces, marks[:-1]).tolist(), state.n_pieces]
    lengths, begun, latest = np.diff(state.pieces[cuts]).tolist(), run.epoch, [run.latest_loss]
    steps = [(epoch, part) for epoch in range(begun, model.epochs) for part in range(n)]
    for epoch, part in track(steps, total=sum(lengths) * model.epochs, label=model.name,
                             show=model.progress and own.rank == 0, unit=" tokens",
                             size=lambda step: lengths[step[1]], done=sum(lengths) * begun,
                             loss=lambda: latest[0]):
        rates = tuple(max(run.rate * (1 - done / model.epochs), run.rate * model.least_rate)
                      for done in (epoch, epoch + 1))
        drawn = _drawn(model, state, (cuts[part], cuts[part + 1]), rates, epoch, own)
        loss, amount, largest = own.round_trip(own.share(drawn), len(drawn.contexts))
        if not largest < LARGEST or not np.isfinite(loss):
            raise TrainingDiverged(f"training diverged in epoch {epoch + 1}: a number reached "
                                   f"{largest:g}. Use a smaller rate: "
                                   f"learning_rate={run.rate / 10:.3g}")
        run = run.after_part(loss, amount)
        latest[0] = run.latest_loss
        if part == n - 1:
            run = run.after_epoch()
            if on_epoch is not None and run.epoch < model.epochs:
                own.hand_over(model, encoded, run)
                on_epoch(model)
    own.hand_over(model, encoded, run)
    return model


def _left(model: Word2Vec, corpus: Any) -> tuple[EncodedCorpus, Run]:
    """The text and the run of a model that goes on. Raises NotFittedError, ValueError."""
    model._check_fitted("vectors_")
    model._check_consistent()
    encoded = encode_more(corpus, model.vectors_.tokens, min_count=model.min_count, grow=False)
    model._check_same_text(encoded)
    if model._run.part or model._run.before:
        raise ValueError("model was stopped within an epoch, or had more text by partial_fit; "
                         "several processes go on after whole epochs of a fit. Finish it in one "
                         "process: leave torchrun out")
    return encoded, model._run


def _drawn(model: Word2Vec, state: WindowState, part: tuple[int, int],
           rates: tuple[float, float], epoch: int, own: _Own) -> Windows:
    """The windows of this process's share of some text."""
    first, last = (part[0] + (part[1] - part[0]) * (own.rank + more) // own.size
                   for more in (0, 1))
    seed = int(generator(model.seed).integers(1 << 62))
    negatives = 0 if model._tree else model.negatives
    settings = Settings(False, model._tree, model.window, negatives, rates, False, 0, seed, epoch,
                        (first, last), 1, True)
    return drawn_windows(state, settings, (first, last))


class _Own:
    """The rows of one process: row i of group g is word i * size + g, so that each group has
    frequent words and rare ones."""

    def __init__(self, rank: int, size: int, inputs: np.ndarray, outputs: np.ndarray):
        self.rank, self.size, self.inputs, self.outputs = rank, size, inputs, outputs

    @classmethod
    def of(cls, inputs: np.ndarray, outputs: np.ndarray, rank: int, size: int) -> _Own:
        """Those of whole matrices; outputs may be fewer, the others are 0."""
        own = [np.zeros((-(-len(inputs) // size), inputs.shape[1]), dtype=np.float32)
               for _ in range(2)]
        for part, whole in zip(own, (inputs, outputs), strict=True):
            part[: len(whole[rank::size])] = whole[rank::size]
        return cls(rank, size, *own)

    def share(self, drawn: Windows) -> Pairs:
        """The pairs of all processes whose contexts are this one's, first those of process 0."""
        amounts, pairs = _spread(*(x.numpy() for x in drawn[:-1]), self.size)
        given = torch.from_numpy(amounts)
        taken = torch.empty_like(given)
        processes.all_to_all_single(taken, given)
        result = []
        for values in map(torch.from_numpy, pairs):
            received = torch.empty(int(taken.sum()), dtype=values.dtype)
            processes.all_to_all_single(received, values, taken.tolist(), given.tolist())
            result.append(received.numpy())
        return Pairs(*result)

    def round_trip(self, pairs: Pairs, amount: int) -> tuple[float, int, float]:
        """Learn the pairs, group of outputs by group, which come by and go on. Returns the sum of
        losses and of ``amount`` over all processes, and the largest number."""
        loss = 0.0
        for turn in range(self.size):
            loss += learn_pairs(self.inputs, self.outputs, tuple(pairs),
                                (self.rank + turn) % self.size, self.size)
            self._pass_on()
        total = torch.tensor([loss, amount], dtype=torch.float64)
        largest = torch.tensor(max(abs(float(end)) for x in (self.inputs, self.outputs)
                                   for end in (x.min(), x.max())))
        processes.all_reduce(total)
        processes.all_reduce(largest, processes.ReduceOp.MAX)
        return float(total[0]), int(total[1]), float(largest)

    def _pass_on(self) -> None:
        """Outputs go to the process before, and those of the one after come."""
        if self.size == 1:
            return
        sending = processes.isend(torch.from_numpy(self.outputs), (self.rank - 1) % self.size)
        coming = torch.empty(self.outputs.shape)
        processes.recv(coming, (self.rank + 1) % self.size)
        sending.wait()
        self.outputs = coming.numpy()

    def hand_over(self, model: Word2Vec, encoded: EncodedCorpus, run: Run) -> None:
        """Set what the model has learned."""
        from ..vectors import WordVectors

        n, whole = len(encoded.tokens), []
        for own in (self.inputs, self.outputs):
            parts = [torch.empty(own.shape) for _ in range(self.size)]
            processes.all_gather(parts, torch.from_numpy(own))
            whole.append(torch.stack(parts, dim=1).reshape(-1, model.dim).numpy())
        model.vectors_ = WordVectors(encoded.tokens, whole[0][:n].copy(), name=model.name)
        model.output_ = whole[1][: n - model._tree].copy()
        model.counts_, model._run = encoded.counts, run
