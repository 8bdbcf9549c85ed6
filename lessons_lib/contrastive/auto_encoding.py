"""Auto-encoding: a sentence has to pass through one vector, and a weak decoder has to rebuild from
it what was hidden.

The encoder reads the text with few tokens hidden, the decoder with many: it is one block, so what
it cannot see nearby it has to find in the vector. No other text is needed, no pairs, no negatives.
A smaller relative of RetroMAE. Taught in ``16_outlook``. [xiao2022retromae]
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..contextual.numbering import Numbered, padded
from ..contextual.guessing import load_guesser
from ..contextual.lesson_bert import LessonBert, PredictionHead, initialise
from ..contextual.masking import MASK, uniforms
from ..contextual.ranks import Ranks
from ..contextual.readers import Group
from ..contextual.tokenizer import SPECIAL
from ..core import check_float, check_int, shown
from ..core.gradient_run import weights_of
from ..core.parameters import Choice, Float
from .examples import Column, Examples, Order, in_parts, sentences
from .history import Watch
from .reading import Reading, derived_seed
from .trainer import Trainer
from .training import DROPOUT, Objective, Training

__all__ = ["HEADS", "AutoEncoding", "hidden_places", "rebuild_loss"]

HEADS = ("pretrained", "fresh")
ENCODER, DECODER = 11, 12     # numbers of the seed: what is hidden from each of the two,
START = 13                    # and the random initialisation
AT_ONCE = 256                 # texts, when asked how well it rebuilds


def hidden_places(ids: Tensor, seen: Tensor, *, share: float, seed: int) -> Tensor:
    """Which tokens of each text are hidden: (rows, length) bool, the share of its tokens without
    the special ones, at least one where there is one; ``seen`` is False in padding.
    """
    inner = seen & (ids >= len(SPECIAL))
    counts = inner.sum(dim=1, keepdim=True)
    check_float("share", share, low=0.0, high=1.0)
    wanted = (counts * share).round().clamp(min=float(share > 0))
    rows = torch.arange(len(ids), device=ids.device)
    draws = uniforms(seed, ENCODER, rows, ids.shape[1]).masked_fill(~inner, 2.0)
    return inner & (draws.argsort(dim=1).argsort(dim=1) < wanted)


def rebuild_loss(scores: Tensor, pieces: Tensor, text: Tensor, n: int) -> Tensor:
    """How badly hidden tokens are guessed: for each of n texts the mean of -log
    softmax(scores)[token] over its hidden places, 0 where it has none. Of k places: scores (k,
    vocabulary), what stood there, and whose they are, (k,) int64.
    """
    each = F.cross_entropy(scores.float(), pieces, reduction="none")
    counts = torch.bincount(text, minlength=n).clamp(min=1)
    return each.new_zeros(n).index_add(0, text, each) / counts


class AutoEncoding(Trainer):
    """Learn sentence vectors by rebuilding the sentence with a decoder of one block.

    Notes
    -----
    Data for `fit`: a list of sentences or `Documents`. The encoder is a BERT of the course's own
    architecture.

    L = mean over texts of own_weight · L_encoder + L_decoder, each as `rebuild_loss` has it. Where
    a token is hidden from the decoder, it finds the sentence vector and the position. Decoder and
    head are thrown away after training; the decoder begins as a copy of the encoder's last block.
    RetroMAE begins with a fresh one, gives each position another context, and reads far more.
    [xiao2022retromae]
    """

    words = "auto-encoding"

    encoder_hides = Float(0.15, "share of a text's tokens that the encoder is not shown", low=0,
                          high=0.9)
    decoder_hides = Float(0.5, "share that the decoder is not shown", above=0, high=1)
    own_weight = Float(1.0, "of the loss of the encoder's own hidden tokens, which are guessed as "
                            "in pre-training", low=0)
    head = Choice(*HEADS, doc="what makes scores of the vocabulary: that of the course's BERT, or "
                  "random initialisation")

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        if not isinstance(self.encoder.reader.model, LessonBert):
            raise ValueError(f"encoder={shown(self.encoder)} is a {self.encoder.reader.kind} of "
                             "another program; expected a BERT of the course's own architecture: "
                             "load_encoder('lesson-bert'), or the folder of one that `lessons "
                             "pretrain` wrote")
        if self.head == "pretrained" and self.encoder.name != "lesson-bert":
            raise ValueError("head='pretrained' is that of lesson-bert, and encoder is "
                             f"{self.encoder.name!r}; set head='fresh'")

    def _examples(self, data: Any) -> Examples:
        return sentences(data)

    def _objective(self, learner: Reading, examples: Examples) -> RebuildObjective:
        size, seed = learner.model.size, derived_seed(START, self.seed)
        if self.head == "pretrained":
            head = load_guesser("lesson-bert").model.cls["predictions"]
        else:
            with torch.device("meta"):
                head = PredictionHead(size)
            initialise(head, seed)
        return RebuildObjective(Column(examples.columns[0], learner.number),
                                deepcopy(learner.model.encoder["layer"][-1]), head.train(),
                                hides=(self.encoder_hides, self.decoder_hides),
                                own_weight=self.own_weight)

    def _training(self, examples: Examples, order: Order, watch: Watch, ranks: Ranks) -> Training:
        return super()._training(examples, order, watch, ranks, RebuildTraining)

    @torch.inference_mode()
    def rebuilt(self, texts: Any, *, shift: int = 0) -> np.ndarray:
        """How badly the decoder guesses what was hidden from each text.

        Parameters
        ----------
        texts : list of str
        shift : int >= 0, default 0
            0: from the vector of the text itself; k: from that of the text k places on, among each
            256. If another text's vector does as well, the decoder does not look at it.

        Returns
        -------
        (n,) float32
            In nats, the mean over the hidden tokens of each text.

        Raises
        ------
        NotFittedError, TypeError, ValueError
        """
        self._check_fitted("encoder_")
        check_int("shift", shift, low=0)
        examples = self._examples(texts)
        learner = Reading(self.encoder_, dropout=0.0, max_length=self.max_length)
        objective, arrays = self._objective(learner, examples), self._state[0]
        weights = weights_of(arrays, "kept.objective.") or weights_of(arrays, "model.objective.")
        objective.load_state_dict(weights)
        objective, numbered = objective.to(learner.device).eval(), objective.columns[0].numbered
        parts = [np.arange(i, min(len(examples), i + AT_ONCE))
                 for i in range(0, len(examples), AT_ONCE)]
        losses = [objective.losses(learner, numbered, rows, seed=derived_seed(self.seed, i),
                                   shift=shift)[1] for i, rows in enumerate(parts)]
        return torch.cat(losses).float().cpu().numpy()


class RebuildObjective(Objective):
    """A decoder (a `Block`), its head, and the shares that are hidden from encoder and decoder."""

    def __init__(self, column: Column, decoder: nn.Module, head: PredictionHead, *,
                 hides: tuple[float, float], own_weight: float) -> None:
        super().__init__()
        self.columns, self.views, self.hides, self.own_weight = [column], [0], hides, own_weight
        self.decoder, self.head = decoder, head

    def losses(self, learner: Reading, numbered: Numbered, rows: np.ndarray, *, seed: int,
               shift: int = 0) -> tuple[Tensor, Tensor]:
        """What encoder and decoder guess badly in each text, (rows,) each. The seed decides what is
        hidden; the decoder gets the vector of the text ``shift`` rows further on.
        """
        # texts of one length side by side need no padding
        order = np.argsort(-numbered.lengths[rows], kind="stable")
        ids, seen = padded(numbered, rows[order], learner.device)
        hidden = [hidden_places(ids, seen, share=share, seed=derived_seed(seed, word))
                  for share, word in zip(self.hides, (ENCODER, DECODER), strict=True)]
        back = torch.from_numpy(np.argsort(order, kind="stable"))
        groups, vectors = self._read(learner, torch.where(hidden[0], MASK, ids), seen, seed=seed)
        if shift:
            vectors = vectors[back].roll(-shift, dims=0)[torch.from_numpy(order)]
        of_encoder, of_decoder = [], []
        with learner._chance(derived_seed(seed, START)):
            for group in groups:
                true, at = ids[group.rows, : group.ids.shape[1]], torch.from_numpy(group.rows)
                own, rest = (places[group.rows, : group.ids.shape[1]] for places in hidden)
                if self.own_weight:
                    of_encoder.append(_picked(group.states[learner.reader.blocks], true, own, at))
                decoded = self.decode(learner.model, vectors[group.rows], true, group.mask, rest)
                of_decoder.append(_picked(decoded, true, rest, at))
        table, n = learner.model.embeddings.word_embeddings.weight, len(ids)
        own_loss = self._guess(of_encoder, table, n) if of_encoder else vectors.new_zeros(n)
        return own_loss[back], self._guess(of_decoder, table, n)[back]

    def _read(self, learner: Reading, ids: Tensor, seen: Tensor, *,
              seed: int) -> tuple[list[Group], Tensor]:
        """Texts, sorted by length, as the encoder sees them: groups of equal length, and all
        vectors.
        """
        wanted = {*learner.pooling.states(learner.reader.blocks), learner.reader.blocks}
        lengths = seen.sum(dim=1).tolist()
        numbered = Numbered.of([row[:n] for row, n in zip(ids.tolist(), lengths, strict=True)])
        with learner._chance(seed):
            groups = list(learner.reader.read(numbered, np.arange(len(numbered)), wanted))
        return groups, torch.cat([learner._pooled(group) for group in groups])

    def decode(self, model: LessonBert, vectors: Tensor, ids: Tensor, seen: Tensor,
               hidden: Tensor) -> Tensor:
        """What one block makes of a text whose hidden places hold the sentence vector and the
        number of the place: (rows, length, dim).
        """
        embeddings = model.embeddings
        open_places = embeddings(torch.where(hidden, MASK, ids), torch.zeros_like(ids))
        places = embeddings.position_embeddings.weight[: ids.shape[1]]
        closed = embeddings.LayerNorm(vectors[:, None] + places)
        return self.decoder(torch.where(hidden[..., None], closed, open_places),
                            seen[:, None, None, :])

    def _guess(self, picked: list[tuple[Tensor, Tensor, Tensor]], table: Tensor, n: int) -> Tensor:
        """Loss of each of n texts; places that are not hidden need no product with the word table.
        """
        states, hidden, text = (torch.cat(parts) for parts in zip(*picked, strict=True))
        return rebuild_loss(self.head(states, table), hidden, text, n)


def _picked(states: Tensor, ids: Tensor, hidden: Tensor,
            text: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden places of some texts: their states (k, dim), tokens (k,), and whose they are (k,)."""
    return states[hidden], ids[hidden], text.to(ids.device)[hidden.nonzero()[:, 0]]


class RebuildTraining(Training):
    """A run whose loss needs no other text of the batch, so that every part is on its own."""

    def _backward(self, examples: np.ndarray, number: int) -> Tensor:
        n, objective, size = len(examples), self.objective, self.ranks.size
        parts = in_parts(n, chunk=self.plan.chunk, processes=size)
        total = torch.zeros((), device=self.learner.device)
        (numbered, rows), = (column.read(examples, number) for column in objective.columns)
        for i in list(range(len(parts)))[self.ranks.share(len(parts))]:
            own, rebuilt = objective.losses(self.learner, numbered, rows[parts[i]],
                                            seed=derived_seed(DROPOUT, self.plan.seed, number, i))
            loss = (objective.own_weight * own + rebuilt).sum() / n
            loss.backward()
            total += loss.detach()
        return self.ranks.total(total)
