"""``transformers``: a BERT with our weights, reading texts in padded rows, as is usual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

BATCH = 32                                      # texts at a time, as in sentence-transformers


def same_bert(encoder: Any, **options: float) -> Any:
    """``transformers.BertModel`` with the weights of our encoder; ``options`` of its config."""
    import transformers
    config = encoder.reader.model.size.to_config() | options
    model = transformers.BertModel(transformers.BertConfig(**config)).eval()
    model.load_state_dict(encoder.reader.model.state_dict())
    return model


def token_ids(encoder: Any, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of the texts, as our encoder makes them."""
    return [encoding.ids for encoding in encoder.tokenizer.engine.encode_batch_fast(texts)]


def padded(ids: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Tokens as a matrix as wide as the longest text, and a mask of what is real."""
    import torch
    longest = max(map(len, ids))
    return (torch.tensor([[*row, *[0] * (longest - len(row))] for row in ids]),
            torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids]))


def token_sums(model: Any, ids: Any, mask: Any) -> Any:
    """The last layer summed over the real tokens of each text."""
    last = model(input_ids=ids, attention_mask=mask).last_hidden_state
    return (last * mask[:, :, None]).sum(1)


def encoded(texts: Sequence[str], encoder: Any, model: Any) -> np.ndarray:
    """The usual way: sort by length, make batches, pad each to its longest text, take means."""
    import torch
    ids = token_ids(encoder, texts)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]), reverse=True)
    result = np.empty((len(ids), encoder.dim), np.float32)
    with torch.inference_mode():
        for first in range(0, len(ids), BATCH):
            rows = order[first : first + BATCH]
            batch, mask = padded([ids[i] for i in rows])
            result[rows] = (token_sums(model, batch, mask) / mask.sum(1, keepdim=True)).numpy()
    return result
