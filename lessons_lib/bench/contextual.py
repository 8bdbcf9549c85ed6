"""Cases of contextual models: sentences through a BERT without padding, beside ``transformers`` in padded batches of about equal length.

Both sides cut the same sentences into the same pieces, sort them by length, and give the mean over tokens of the last layer in float32, from the same
weights; those are start weights, because their numbers do not change the work. One thread each. Padding is a tenth of the peer's places; what is
gained beyond that comes from products by oneDNN, where a processor is not Intel's (`contextual.linear`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core import DataMissing
from .measure import Case, Row, fixed_threads, race

__all__ = ["Sizes", "cases", "rows"]

TOLERANCE = 1e-5                                # largest difference of a number; those of a vector are of size 1
PEER_BATCH = 32                                 # texts at a time, the default of sentence-transformers
GOALS = {"base": 1.3, "small": 1.05}


@dataclass(frozen=True)
class Sizes:
    """How much is read, and by which models (name -> blocks, width, heads); tests use less."""

    sentences: int = 256
    pieces: int = 8192
    models: tuple[tuple[str, int, int, int], ...] = (("base", 12, 768, 12), ("small", 6, 384, 6))


def _sentences(n: int) -> list[str]:
    """Sentences of the STS benchmark, or of the course's own pairs where LESSONS_DATA is not set."""
    from ..datasets import load

    try:
        pairs = load("stsb")
    except DataMissing:
        pairs = load("course-sts")
    both = dict.fromkeys(text for pair in zip(pairs.sentence1, pairs.sentence2, strict=True) for text in pair)
    return list(both)[:n]


def _encoder(texts: list[str], pieces: int, shape: tuple[int, int, int]) -> Any:
    """An encoder with start weights, its tokenizer learned from sentences of Wikipedia and the texts."""
    from ..contextual import BertSize, ContextualEncoder, LessonBert, WordPiece
    from ..contextual.pieces import Pieces
    from ..contextual.readers import BertReader
    from ..counts import named

    tokenizer = WordPiece.train([*named.sample_sentences(), *texts], size=pieces)
    layers, dim, heads = shape
    model = LessonBert(BertSize(len(tokenizer), dim=dim, layers=layers, heads=heads, feed_forward=4 * dim, positions=512)).eval()
    return ContextualEncoder(BertReader(model), Pieces(tokenizer.engine), name=f"BERT {layers} x {dim}")


def _padded(texts: list[str], encoder: Any, model: Any) -> np.ndarray:
    """The usual way: sort by length, cut into batches, pad each to its longest text, mask."""
    import torch

    ids = [encoding.ids for encoding in encoder.tokenizer.engine.encode_batch_fast(texts)]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]), reverse=True)
    found = np.empty((len(ids), encoder.dim), np.float32)
    with torch.inference_mode():
        for first in range(0, len(ids), PEER_BATCH):
            rows = order[first : first + PEER_BATCH]
            longest = len(ids[rows[0]])
            batch = torch.tensor([ids[i] + [0] * (longest - len(ids[i])) for i in rows])
            mask = torch.tensor([[1] * len(ids[i]) + [0] * (longest - len(ids[i])) for i in rows])
            last = model(input_ids=batch, attention_mask=mask).last_hidden_state
            found[rows] = ((last * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)).numpy()
    return found


def _close(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return ours.shape == theirs.shape and bool(np.abs(ours - theirs).max() <= TOLERANCE)


def _on_one_thread(work: Callable[[], Any]) -> Any:
    with fixed_threads(1):
        return work()


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The races, one after the other."""
    import transformers

    sizes = sizes or Sizes()
    texts = _sentences(sizes.sentences)
    for name, *shape in sizes.models:
        encoder = _encoder(texts, sizes.pieces, tuple(shape))
        model = transformers.BertModel(transformers.BertConfig(**encoder.reader.model.size.to_config())).eval()
        model.load_state_dict(encoder.reader.model.state_dict())
        ours, theirs = partial(encoder.encode, texts), partial(_padded, texts, encoder, model)
        yield Case("contextual", f"BERT encode fp32, {shape[0]} x {shape[1]}, 1 thread", "transformers, length-sorted batches of 32",
                   partial(_on_one_thread, ours), partial(_on_one_thread, theirs), _close, len(texts), "sentences", GOALS.get(name, 1.0),
                   f"every number equal to {TOLERANCE:g}")


def rows(*, repeats: int, tell: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """The group: the races whose name holds ``only``."""
    yield from race((case for case in cases() if only in case.name), repeats=repeats, tell=tell)
