"""Contextual models: sentences through a BERT without padding, beside ``transformers``.

Both sides make the same tokens and give the mean over tokens of the last layer in float32, from the
same random initialisation, because the numbers do not change the work. Padding is a tenth of the
peer's tokens; what is gained beyond that comes from products by oneDNN, where a processor is not
Intel's (`contextual.readers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from .gates import close
from .measure import Case
from .peers import transformers
from .texts import pair_sentences

TOLERANCE = 1e-5                                # of a number; those of a vector are of size 1
MODELS = ((12, 768, 12, 1.3), (6, 384, 6, 1.05))        # layers, dimension, heads, goal


def _encoder(texts: list[str], vocab_size: int, layers: int, dim: int, heads: int) -> Any:
    """An encoder at random, its tokenizer trained on sentences of Wikipedia and the texts."""
    from ..contextual import BertSize, ContextualEncoder, LessonBert, WordPiece
    from ..contextual.numbering import Subwords
    from ..contextual.readers import BertReader
    from ..counts import named
    tokenizer = WordPiece.train([*named.sample_sentences(), *texts], size=vocab_size)
    size = BertSize(len(tokenizer), dim=dim, layers=layers, heads=heads, feed_forward=4 * dim,
                    positions=512)
    return ContextualEncoder(BertReader(LessonBert(size).eval()), Subwords(tokenizer.engine),
                             name=f"BERT {layers} x {dim}")


def cases(models: tuple = MODELS, *, sentences: int = 256,
          vocab_size: int = 8192) -> Iterator[Case]:
    """The races, one after the other."""
    texts = pair_sentences()[:sentences]
    for layers, dim, heads, goal in models:
        encoder = _encoder(texts, vocab_size, layers, dim, heads)
        theirs = partial(transformers.encoded, texts, encoder, transformers.same_bert(encoder))
        yield Case("contextual", f"BERT encode fp32, {layers} x {dim}, 1 thread",
                   f"transformers, length-sorted batches of {transformers.BATCH}",
                   partial(encoder.encode, texts), theirs, close(TOLERANCE), len(texts),
                   "sentences", goal, f"every number equal to {TOLERANCE:g}", threads=1)
