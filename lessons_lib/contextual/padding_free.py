"""Hidden states of a LessonBert without padding: the tokens of many texts one after the other, so
that no place is worked on for nothing.

A linear map, LayerNorm and GELU see one token at a time, so they take the tokens of all texts as
one tall matrix, for which a processor is fastest. Only attention knows where a text ends: texts of
equal length lie side by side and go through it together, with no mask. Gradients flow and units are
left out as the model is set, so that training reads in this way too. Taught in lesson
``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

import torch
from torch import Tensor
from torch.nn import functional as F

from .lesson_bert import AddAndNorm, Block, LessonBert, SelfAttention, attention
from .linear import linear, linear_gelu

__all__ = ["Run", "packed_states", "padded_states", "runs_of"]

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
    """The wanted hidden states of texts that lie one after the other; blocks above the highest one
    are not run.

    Parameters: model; ids (n,) and places (n,), each token's token and where it stands in its text;
    lengths of the texts, n in all, equal ones side by side; wanted, 0 for the output of the
    embeddings, k for that of block k. Returns number -> (n, dim).
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
    """The same of texts in rows of equal length (rows, length), mask False where a row is padding:
    what a GPU is fastest at.

    Returns number -> (rows, length, dim).
    """
    seen = None if bool(mask.all()) else mask[:, None, None, :]
    x = model.embeddings(ids, torch.zeros_like(ids))
    result = {0: x} if 0 in wanted else {}
    for number, block in enumerate(model.encoder["layer"][: max(wanted)], start=1):
        x = block(x, seen)
        if number in wanted:
            result[number] = x
    return result
