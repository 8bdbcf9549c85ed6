"""Two ways to read texts: a BERT of our own without padding, and any other encoder through
``transformers`` in batches of about equal length.

A linear map, LayerNorm and GELU see one token at a time, so they take the tokens of all texts as
one tall matrix, for which a processor is fastest. Only attention knows where a text ends: texts of
equal length lie side by side and go through it together, with no mask. Both ways give hidden states
in groups of texts of one length, so that pooling need not know which it was. Taught in lesson
``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .lesson_bert import EPS, AddAndNorm, Block, LessonBert, SelfAttention, attention
from .numbering import Numbered, padded, placed

__all__ = ["BertReader", "Group", "OtherReader", "Reader", "Run", "is_plain_bert", "linear",
           "linear_gelu", "packed_states", "padded_states", "runs_of"]

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
    """What an encoder asks of a model: ``kind`` is "bert" or as transformers calls it; ``pooler``
    makes (texts, dim) of (texts, dim), None where the model has none; without ``per_token`` its
    hidden state is one vector for the whole text, their mean.
    """

    model: nn.Module
    dim: int
    blocks: int
    positions: int
    vocabulary: int
    kind: str
    per_token: bool = True
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
    """A `LessonBert`, without padding on a processor, in padded rows on a GPU."""

    kind, pooler = "bert", None

    def __init__(self, model: LessonBert, *, has_pooler: bool = True) -> None:
        self.model, size = model, model.size
        self.dim, self.blocks = size.dim, size.layers
        self.positions, self.vocabulary = size.positions, size.vocabulary
        if has_pooler:
            self.pooler = partial(_pooled, model)

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
    """A model of ``transformers`` that gives hidden states."""

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
            self.pooler = partial(_pooled_by_another, model)

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


# Not lambdas: an encoder is pickled on its way to another process.
def _pooled(model: LessonBert, at_first: Tensor) -> Tensor:
    return torch.tanh(model.pooler["dense"](at_first))


def _pooled_by_another(model: Any, at_first: Tensor) -> Tensor:
    return model.pooler(at_first[:, None])


Run = tuple[int, int, int]  # where its tokens begin, how many texts, tokens in each


def runs_of(lengths: Sequence[int]) -> list[Run]:
    """Neighbouring texts of equal length, as (first token, number of texts, tokens in each).

    >>> runs_of([5, 3, 3])
    [(0, 1, 5), (5, 2, 3)]
    """
    result, first = [], 0
    for length, texts in groupby(lengths):
        count = len(list(texts))
        result.append((first, count, length))
        first += count * length
    return result


def packed_states(model: LessonBert, ids: Tensor, places: Tensor, lengths: Sequence[int],
                  wanted: Collection[int]) -> dict[int, Tensor]:
    """The wanted hidden states, number -> (n, dim), of n tokens, texts of equal length side by
    side: 0 is the output of the embeddings, k that of block k. Blocks above the highest are not
    run.
    """
    table, runs = model.embeddings, runs_of(lengths)
    x = F.embedding(ids, table.word_embeddings.weight)
    x = x.add_(F.embedding(places, table.position_embeddings.weight))
    x = table.dropout(table.LayerNorm(x.add_(table.token_type_embeddings.weight[0])))
    result = {0: x} if 0 in wanted else {}
    for number, block in enumerate(model.encoder["layer"][: max(wanted)], start=1):
        x = _block(block, x, runs)
        if number in wanted:
            result[number] = x
    return result


def _block(block: Block, x: Tensor, runs: list[Run]) -> Tensor:
    """One layer over the tokens (n, dim) of all texts."""
    x = _add_and_norm(block.attention["output"], _attention(block.attention["self"], x, runs), x)
    return _add_and_norm(block.output, linear_gelu(block.intermediate["dense"], x), x)


def _add_and_norm(part: AddAndNorm, x: Tensor, before: Tensor) -> Tensor:
    return part.LayerNorm(part.dropout(linear(part.dense, x)).add_(before))


def _attention(part: SelfAttention, x: Tensor, runs: list[Run]) -> Tensor:
    sizes = [count * length for _, count, length in runs]
    dropout, gathered = part.p if part.training else 0.0, []
    # the gradient of a split is one joining
    cut = (linear(layer, x).split(sizes) for layer in (part.query, part.key, part.value))
    for (_, count, length), *tokens in zip(runs, *cut, strict=True):
        heads = (t.view(count, length, part.heads, -1).transpose(1, 2) for t in tokens)
        result = attention(*heads, dropout=dropout)
        gathered.append(result.transpose(1, 2).reshape(count * length, -1))
    return torch.cat(gathered)


def padded_states(model: LessonBert, ids: Tensor, mask: Tensor,
                  wanted: Collection[int]) -> dict[int, Tensor]:
    """The same, number -> (rows, length, dim), of texts in rows of equal length, mask False in
    padding: what a GPU is fastest at.
    """
    seen = None if bool(mask.all()) else mask[:, None, None, :]
    x = model.embeddings(ids, torch.zeros_like(ids))
    result = {0: x} if 0 in wanted else {}
    for number, block in enumerate(model.encoder["layer"][: max(wanted)], start=1):
        x = block(x, seen)
        if number in wanted:
            result[number] = x
    return result


@cache
def _one_dnn() -> bool:
    """Whether oneDNN is here, on a processor with AVX-512, where it is at least as fast as MKL."""
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    return (wide and torch.backends.mkldnn.is_available()
            and hasattr(torch.ops.mkldnn, "_linear_pointwise"))


def _fits(x: Tensor) -> bool:
    """Whether oneDNN can take x; it knows no gradients."""
    return (x.device.type == "cpu" and x.dtype == torch.float32 and not torch.is_grad_enabled()
            and _one_dnn())


def linear(layer: nn.Linear, x: Tensor) -> Tensor:
    """x W' + b of tokens (n, d)."""
    if _fits(x):
        return torch.ops.mkldnn._linear_pointwise(x, layer.weight, layer.bias, "none", [], "")
    return F.linear(x, layer.weight, layer.bias)


def linear_gelu(layer: nn.Linear, x: Tensor) -> Tensor:
    """gelu(x W' + b) of tokens (n, d)."""
    if _fits(x):
        return torch.ops.mkldnn._linear_pointwise(x, layer.weight, layer.bias, "gelu", [], "none")
    return F.gelu(F.linear(x, layer.weight, layer.bias))
