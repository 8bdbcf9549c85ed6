"""The encoder of records that must converge: a bag of words, whose table of vectors learns.

A training of it ends after seconds, so three seeds, every variant and the control can be trained
until dev stops rising. Its rows begin as the course's skip-gram, the control's as random numbers
with the same norms. Used by the entries of ``10_sbert``, ``13_cosent`` and ``14_simcse``.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor
from torch.nn import functional as F

from ..contextual import ContextualEncoder
from ..contextual.bag import WORD, BagOfParts
from ..contrastive import trainable_bag
from ..core import DataMissing
from ..datasets import load
from ..vectors import WordVectors

__all__ = ["NumberDropout", "bag", "words_of_sets"]

EVEN = 1e6  # of the SIF weights: so large that all words weigh the same
PAIRS = ("sts12", "sts13", "sts14", "sts15", "sts16", "sick")


class NumberDropout(BagOfParts):
    """A bag whose dropout leaves out single numbers of word vectors, as that of BERT does, where
    its parent leaves out whole words. The vectors of texts are the same."""

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Vectors (texts, dim), the mean of each text's words."""
        owner = torch.arange(len(lengths), device=ids.device).repeat_interleave(lengths)
        words = self.dropout(F.embedding(ids, self.table)) / lengths[owner, None]
        return words.new_zeros(len(lengths), words.shape[1]).index_add(0, owner, words)


@functools.lru_cache(maxsize=1)
def words_of_sets() -> frozenset[str]:
    """The lower-case words of all texts that these records learn from or are scored on, as far as
    they are on this machine. Another word has no part in any score, so no row is kept for it."""
    words: set[str] = set()
    wanted = [(load, "stsb", {"split": split}) for split in ("train", "dev", "test")]
    wanted += [(load, name, {}) for name in (*PAIRS, "nli", "nli-pairs")]
    for read, name, options in wanted:
        try:
            texts = read(name, **options)
        except DataMissing:
            continue
        columns = ("premise", "entailment", "contradiction") if name == "nli" else (
            "sentence1", "sentence2")
        for column in columns:
            words.update(w for text in getattr(texts, column) for w in WORD.findall(text.lower()))
    return frozenset(words)


@functools.lru_cache(maxsize=4)
def bag(*, random: bool = False, seed: int = 0) -> ContextualEncoder:
    """The mean of the course's skip-gram vectors, or of random ones, as an encoder that learns."""
    course, known = load("course-vectors"), words_of_sets()
    rows = [i for i, word in enumerate(course.tokens) if word in known]
    vectors = WordVectors([course.tokens[i] for i in rows], course.matrix[rows])
    encoder = trainable_bag(vectors, a=EVEN, buckets=0, random=random, seed=seed)
    model = encoder.reader.model
    encoder.reader.model = NumberDropout(model.table.detach(), model.n_words).eval()
    return encoder
