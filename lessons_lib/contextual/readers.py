"""Two ways to read texts: a BERT of our own without padding, and any other encoder through
``transformers`` in batches of about equal length.

Both give hidden states in groups of texts of one length, with a mask where rows end in padding, so
that pooling need not know which it was. Used by `encoder`; taught in lesson
``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .batching import Numbered, padded, placed
from .lesson_bert import EPS, LessonBert
from .padding_free import packed_states, padded_states, runs_of

__all__ = ["BertReader", "Group", "OtherReader", "Reader", "is_plain_bert"]

PLAIN = {"model_type": "bert", "hidden_act": "gelu", "type_vocab_size": 2, "layer_norm_eps": EPS,
         "position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False}


def is_plain_bert(config: dict[str, Any]) -> bool:
    """Whether a `LessonBert` is the same model: a BERT in the form of the paper, as nearly all."""
    plain = all(config.get(key, value) == value for key, value in PLAIN.items())
    return plain and "hidden_size" in config


@dataclass(frozen=True, eq=False)
class Group:
    """Some texts: their numbers ``rows``, ``ids`` (texts, length), ``mask`` (texts, length) False
    in padding, hidden states number -> (texts, length, dim).
    """

    rows: np.ndarray
    ids: Tensor
    mask: Tensor
    states: dict[int, Tensor]


class Reader:
    """What an encoder asks of a model.

    Attributes: model, an ``nn.Module``; dim; blocks, their number; positions, the longest row;
    vocabulary; kind, "bert" or as transformers calls it; pooler, from (texts, dim) to (texts, dim),
    None where the model has none.
    """

    model: nn.Module
    dim: int
    blocks: int
    positions: int
    vocabulary: int
    kind: str
    pooler: Callable[[Tensor], Tensor] | None

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """What is calculated in."""
        return next(self.model.parameters()).dtype

    @property
    def word_table(self) -> Tensor:
        """The vectors of tokens (vocabulary, dim) before anything is added to them."""
        raise NotImplementedError

    def read(self, numbered: Numbered, rows: np.ndarray,
             wanted: Collection[int]) -> Iterator[Group]:
        """The wanted hidden states of some texts, each of which has at least one token."""
        raise NotImplementedError


class BertReader(Reader):
    """A `LessonBert`, without padding on a processor, in padded rows on a GPU.

    Parameters: model; has_pooler, whether its pooler was trained.
    """

    kind, pooler = "bert", None

    def __init__(self, model: LessonBert, *, has_pooler: bool = True) -> None:
        self.model, size = model, model.size
        self.dim, self.blocks = size.dim, size.layers
        self.positions, self.vocabulary = size.positions, size.vocabulary
        if has_pooler:
            self.pooler = lambda at_first: torch.tanh(model.pooler["dense"](at_first))

    @property
    def word_table(self) -> Tensor:
        """The vectors of tokens (vocabulary, dim)."""
        return self.model.embeddings.word_embeddings.weight

    def read(self, numbered: Numbered, rows: np.ndarray,
             wanted: Collection[int]) -> Iterator[Group]:
        """One group per length without padding; one group in all with it."""
        if self.device.type != "cpu":
            ids, mask = padded(numbered, rows, self.device)
            yield Group(rows, ids, mask, padded_states(self.model, ids, mask, wanted))
            return
        ids, places = placed(numbered, rows, self.device)
        lengths, first = numbered.lengths[rows].tolist(), 0
        states, runs = packed_states(self.model, ids, places, lengths, wanted), runs_of(lengths)
        sizes = [count * length for _, count, length in runs]
        cut = {number: state.split(sizes) for number, state in states.items()}
        for i, (token, count, length) in enumerate(runs):
            shape = (count, length)
            of_run = {number: parts[i].view(*shape, -1) for number, parts in cut.items()}
            yield Group(rows[first : first + count], ids[token : token + sizes[i]].view(shape),
                        torch.ones(shape, dtype=torch.bool), of_run)
            first += count


class OtherReader(Reader):
    """A model of ``transformers`` that gives hidden states.

    Parameters: model; has_pooler, whether its pooler was trained.
    """

    def __init__(self, model: Any, *, has_pooler: bool) -> None:
        self.model, config = model, model.config
        self.kind, self.dim = config.model_type, config.hidden_size
        self.blocks, self.pad = config.num_hidden_layers, config.pad_token_id or 0
        self.vocabulary, self.pooler = self.word_table.shape[0], None
        table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
        self.positions = int(getattr(config, "max_position_embeddings", 512))
        padding = getattr(table, "padding_idx", None)
        if padding is not None:          # RoBERTa and its like count positions from behind it
            self.positions -= padding + 1
        if has_pooler and getattr(model, "pooler", None) is not None:
            self.pooler = lambda at_first: model.pooler(at_first[:, None])

    @property
    def word_table(self) -> Tensor:
        """The vectors of tokens (vocabulary, dim)."""
        return self.model.get_input_embeddings().weight

    def read(self, numbered: Numbered, rows: np.ndarray,
             wanted: Collection[int]) -> Iterator[Group]:
        """One group in all, padded to its longest text."""
        ids, mask = padded(numbered, rows, self.device, pad=self.pad)
        states = self.model(input_ids=ids, attention_mask=mask.long(),
                            output_hidden_states=True).hidden_states
        yield Group(rows, ids, mask, {number: states[number] for number in wanted})
