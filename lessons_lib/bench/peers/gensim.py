"""gensim: word2vec, fastText and Doc2Vec from a file that its compiled code reads, and online LDA.

``corpus_file`` is its fastest way, and only ``train`` is timed, not the count of words.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure import peer_module

if TYPE_CHECKING:
    from ...topics import Counts


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings of few passes and of a start from new vectors: that is what is measured."""
    logger = logging.getLogger("gensim")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def counted(kind: str, path: Path, *, seed: int, **settings: Any) -> Any:
    """A model of ``gensim.models`` with its words counted, which no clock measures."""
    model = getattr(peer_module("gensim.models"), kind)
    model = model(window=5, min_count=1, seed=seed + 1, **settings)
    with _quiet():
        model.build_vocab(corpus_file=str(path))
    return model


def trained(model: Any, path: Path, epochs: int) -> Any:
    """The model after so many passes."""
    with _quiet():
        model.train(corpus_file=str(path), total_examples=model.corpus_count,
                    total_words=model.corpus_total_words, epochs=epochs)
    return model


def online_lda(train: Counts, start: np.ndarray, seed: int, *, batch: int, decay: float,
               offset: float, most_steps: int, tolerance: float) -> Callable[[], np.ndarray]:
    """One pass from given topics, prepared; gives Dirichlet parameters (K, V)."""
    models = peer_module("gensim.models")
    rows = [list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in train.matrix]
    names = dict(enumerate(train.tokens))

    def run() -> np.ndarray:
        with _quiet():
            model = models.LdaModel(
                num_topics=len(start), id2word=names, chunksize=batch, passes=1, decay=decay,
                offset=offset + 1,              # gensim counts steps from 0, the others from 1
                iterations=most_steps, gamma_threshold=tolerance, eval_every=0, random_state=seed)
            model.state.sstats[:] = start - model.eta
            model.sync_state()
            model.update(rows)
            return model.state.get_lambda()
    return run
