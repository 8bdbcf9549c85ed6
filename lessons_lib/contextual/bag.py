"""A bag: the model without context that stands beside the others. A vector for each word and,
so that no word is without one, for each bucket of character n-grams; a text is their mean.

To an encoder it is a model with no block at all: hidden state 0 is its only one, so every pooling,
trainer and file that a BERT has, it has, too. What a network adds is what it has above its bag.
Made by ``contrastive.trainable_bag``; taught in ``10_sbert``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..core import DamagedFile, check_int, write_json
from ..text.subwords import check_parts, ngram_buckets
from .model_files import WEIGHTS, check_names, read_weights
from .numbering import Numbered, Subwords, placed
from .readers import Group, Reader

__all__ = ["KIND", "BagOfParts", "BagReader", "BagTokens", "read_bag", "write_bag"]

KIND = "bag"
WORD = re.compile(r"\w+")
NGRAM_WEIGHT = 0.125      # a word has about eight n-grams: all together they weigh as much as it
MOST_TOKENS = 1 << 20     # of a text: no table of positions ends, so only memory does


class BagOfParts(nn.Module):
    """The table: a row for each word, then one for each bucket of n-grams. Dropout leaves out whole
    tokens. Raises ValueError for a table with fewer rows than words.
    """

    def __init__(self, table: Tensor, n_words: int) -> None:
        super().__init__()
        check_int("n_words", n_words, low=0, high=len(table))
        self.n_words, self.table = n_words, nn.Parameter(table)
        self.dropout = nn.Dropout(0.0)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Vectors (texts, dim), the mean of each text's tokens, those of n-grams with their weight;
        ids (tokens,) of one text after the other, lengths (texts,).
        """
        weight = torch.where(ids < self.n_words, 1.0, NGRAM_WEIGHT).to(self.table.dtype)
        share = self.dropout(weight / lengths.repeat_interleave(lengths))
        return F.embedding_bag(ids, self.table, lengths.cumsum(0) - lengths, mode="sum",
                               per_sample_weights=share)


class BagTokens(Subwords):
    """Cuts texts into lower-case words and the buckets of their n-grams, as ids, the words of a
    text first; with ``buckets`` 0 into words alone, of which those without a row are left out. No
    token stands around a text.
    """

    def __init__(self, words: Sequence[str], *, buckets: int, min_n: int = 3,
                 max_n: int = 4) -> None:
        self.buckets = check_int("buckets", buckets, low=0)
        check_parts(min_n, max_n, buckets or 1)
        self.words, self.min_n, self.max_n = list(words), min_n, max_n
        self.id_of = {word: i for i, word in enumerate(self.words)}
        self.before, self.after = [], []

    def __len__(self) -> int:
        return len(self.words) + self.buckets

    @property
    def highest(self) -> int:
        """The highest id of a text."""
        return len(self) - 1

    def strings(self, size: int) -> list[str]:
        """The words by id; "" for buckets, in which n-grams meet."""
        return (self.words + [""] * self.buckets)[:size]

    def rows(self, texts: list[str]) -> list[list[int]]:
        """The ids of texts."""
        cut = [WORD.findall(text.lower()) for text in texts]
        words = list(dict.fromkeys(word for row in cut for word in row))
        ngrams = dict(zip(words, self._ngrams(words), strict=True))
        return [[self.id_of[word] for word in row if word in self.id_of]
                + [i for word in row for i in ngrams[word]] for row in cut]

    def _ngrams(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of the n-grams of each word."""
        if not (self.buckets and words):
            return [[] for _ in words]
        bounds, numbers = ngram_buckets(words, min_n=self.min_n, max_n=self.max_n,
                                        buckets=self.buckets)
        return [part.tolist() for part in np.split(numbers + len(self.words), bounds[1:-1])]


class BagReader(Reader):
    """A bag as the model of an encoder: its only hidden state is one vector for the whole text."""

    kind, blocks, positions, pooler, per_token = KIND, 0, MOST_TOKENS, None, False

    def __init__(self, model: BagOfParts, *, has_pooler: bool = False) -> None:
        self.model = model
        self.vocabulary, self.dim = model.table.shape

    @property
    def word_table(self) -> Tensor:
        """The vectors of tokens (vocabulary, dim)."""
        return self.model.table

    def read(self, numbered: Numbered, rows: np.ndarray,
             wanted: Collection[int]) -> Iterator[Group]:
        """One group in all, of length 1."""
        ids, _ = placed(numbered, rows, self.device)
        lengths = torch.from_numpy(numbered.lengths[rows]).to(self.device)
        first = ids[lengths.cumsum(0) - lengths]
        yield Group(rows, first[:, None], torch.ones_like(first[:, None], dtype=torch.bool),
                    {0: self.model(ids, lengths)[:, None]})


def write_bag(folder: Path, model: BagOfParts, tokens: BagTokens) -> None:
    """Fill a folder with config, words and table."""
    from safetensors.torch import save_file

    table = model.table.detach().cpu().contiguous()
    write_json(folder / "config.json", {
        "model_type": KIND, "vocab_size": len(tokens), "hidden_size": table.shape[1],
        "buckets": tokens.buckets, "min_n": tokens.min_n, "max_n": tokens.max_n})
    (folder / "words.txt").write_text("".join(f"{word}\n" for word in tokens.words), "utf-8")
    save_file({"table": table}, folder / WEIGHTS, metadata={"format": "pt"})


def read_bag(folder: Path, config: dict[str, Any]) -> tuple[BagReader, BagTokens]:
    """What `write_bag` wrote, with a table of numbers or one in 8 bits. Raises DamagedFile."""
    try:
        words = (folder / "words.txt").read_text("utf-8").split("\n")[:-1]
        tokens = BagTokens(words, **{key: config[key] for key in ("buckets", "min_n", "max_n")})
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{folder} is no bag that can be read ({type(error).__name__}: {error}); "
                          "get it again") from error
    weights = read_weights(folder / WEIGHTS)
    wanted = {"table": (len(tokens), config.get("hidden_size", 0))}
    if "scale" in weights:
        wanted["scale"] = (len(tokens),)
    check_names(folder / WEIGHTS, wanted, {name: tuple(x.shape) for name, x in weights.items()})
    table = weights["table"].float()
    if "scale" in weights:
        table *= weights["scale"].float()[:, None]
    return BagReader(BagOfParts(table, len(words))), tokens
