"""The state of a chain of Gibbs samples: which topic each token has, and how often each word has
each topic.

Counts of words are float32, whole numbers exact below 2^24, in rows of a multiple of sixteen
columns that begin at multiples of 64 bytes: what vector instructions and 128-bit loads ask for.
Taught in ``03_topic_models``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...core import check_int, check_memory, shown
from ..layout import padded, padded_width

__all__ = ["LARGEST_PRIOR", "MAX_COUNT", "SMALLEST_PRIOR", "LdaState", "Settings", "padded"]

MAX_COUNT = 1 << 24  # of one word, and of tokens in one document: float32 counts by ones up to here
# float32 can multiply two of the one, and still sees a token beside the other
SMALLEST_PRIOR, LARGEST_PRIOR = 1e-12, 1e6


@dataclass(frozen=True)
class Settings:
    """How one sweep is drawn; checked and completed by `lda_sweep`. ``alpha``: (columns,) float32,
    0 where no topic is."""

    alpha: Tensor
    beta: float
    seed: int
    sweep: int
    at_once: int
    threads: int


def _whole(name: str, values: Any, kind: torch.dtype, device: Any) -> Tensor:
    """A copy of whole numbers as a contiguous tensor of one axis."""
    try:
        x = values.detach() if isinstance(values, Tensor) else torch.from_numpy(np.array(values))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}={shown(values)} is no array of whole numbers") from error
    if x.ndim != 1:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected one axis")
    if x.numel() and (x.dtype.is_floating_point or x.dtype.is_complex or x.dtype == torch.bool):
        raise TypeError(
            f"{name} has dtype {str(x.dtype).removeprefix('torch.')}; expected whole numbers")
    _check_held(name, x, kind)
    return x.to(device=device, dtype=kind, copy=True).contiguous()


def _check_held(name: str, x: Tensor, kind: torch.dtype) -> None:
    """Refuse whole numbers that a cast to ``kind`` would turn into other ones."""
    if not x.numel() or x.dtype == kind or x.dtype.itemsize < kind.itemsize:
        return
    numbers = x if x.dtype.is_signed else x.cpu().numpy()  # PyTorch cannot compare unsigned ones
    low, high = torch.iinfo(kind).min, torch.iinfo(kind).max
    if int(numbers.min()) < low or int(numbers.max()) > high:
        result = x.cpu().numpy()
        i = int(np.argmax((result < low) | (result > high)))
        raise ValueError(f"{name}[{i}]={int(result[i])} is out of range; expected whole numbers >= "
                         f"0 and <= {high}")


def _check_range(name: str, x: Tensor, high: int, what: str) -> None:
    if x.numel() and (int(x.min()) < 0 or int(x.max()) >= high):
        i = int(torch.nonzero((x < 0) | (x >= high))[0])
        raise ValueError(f"{name}[{i}]={int(x[i])} is no {what}; expected ints in [0, {high - 1}]")


class LdaState:
    """Tokens in documents, a topic for each, and the counts that belong to them; `lda_sweep`
    changes it in place.

    Parameters
    ----------
    words : (n,) ints in [0, V)
        Document after document.
    offsets : (d + 1,) ints
        Document i is ``words[offsets[i]:offsets[i + 1]]``.
    topics : (n,) ints in [0, K), copied
        To begin with.
    n_topics, n_words : int
        K and V.
    streams : (d,) ints >= 0, default 0, 1, 2, …
        Tell the documents' uniforms apart.
    word_topic : (V, K) numbers >= 0, default None
        Probabilities p(word | topic) that are to stay as they are (fold-in: only the documents' own
        counts move); None: count.
    device : default "cpu"

    Attributes
    ----------
    words, topics : (n,) int32
    offsets, streams : (d + 1,) and (d,) int64
    word_topic : (V, 16 ⌈K / 16⌉) float32
    totals : (16 ⌈K / 16⌉,) int64
        Tokens of each topic.
    frozen : bool

    Raises
    ------
    TypeError, ValueError
        Wrong types, shapes, numbers out of range, and a word or a document of 2^24 tokens.
    """
    def __init__(self, words: Any, offsets: Any, topics: Any, *, n_topics: int, n_words: int,
                 streams: Any = None, word_topic: Any = None, device: Any = "cpu") -> None:
        self.n_topics = check_int("n_topics", n_topics, high=32_767)
        self.n_words = check_int("n_words", n_words)
        if torch.device(device).type == "cpu":
            check_memory(f"{self.n_topics:,} topics of {self.n_words:,} words",
                         4 * self.n_topics * self.n_words,
                         f"Lower n_topics={self.n_topics} or n_words={self.n_words}")
        self.words = _whole("words", words, torch.int32, device)
        self.topics = _whole("topics", topics, torch.int32, device)
        self.offsets = _whole("offsets", offsets, torch.int64, device)
        self._check()
        numbers = torch.arange(self.n_documents) if streams is None else streams
        self.streams = _whole("streams", numbers, torch.int64, device)
        if len(self.streams) != self.n_documents or bool((self.streams < 0).any()):
            raise ValueError(f"streams={shown(streams)} is wrong; expected {self.n_documents} "
                             "whole numbers >= 0, one for each document")
        self.frozen = word_topic is not None
        self._count() if word_topic is None else self._freeze(word_topic)

    def _check(self) -> None:
        n, bounds = len(self.words), self.offsets
        if len(self.topics) != n:
            raise ValueError(f"topics has {len(self.topics)} numbers, words has {n}; expected one "
                             "topic for each token")
        ends = len(bounds) > 0 and int(bounds[0]) == 0 and int(bounds[-1]) == n
        if not ends or bool((bounds.diff() < 0).any()):
            raise ValueError(f"offsets={shown(bounds.tolist())} are wrong; expected whole numbers "
                             f"that begin with 0, never fall and end with {n}")
        _check_range("words", self.words, self.n_words, "word")
        _check_range("topics", self.topics, self.n_topics, "topic")
        if bounds.numel() > 1 and int(bounds.diff().max()) >= MAX_COUNT:
            longest = int(bounds.diff().argmax())
            raise ValueError(f"document {longest} has {int(bounds.diff().max())} tokens; expected "
                             f"fewer than {MAX_COUNT}. Split it")

    def _count(self) -> None:
        often = torch.bincount(self.words, minlength=self.n_words)
        if int(often.max()) >= MAX_COUNT:
            raise ValueError(f"word {int(often.argmax())} occurs {int(often.max())} times; "
                             f"expected fewer than {MAX_COUNT}, which float32 can count. Leave out "
                             "the most frequent words")
        columns = padded_width(self.n_topics)
        self.word_topic = padded(torch.zeros(self.n_words, columns, device=self.words.device))
        cells = self.words.long() * columns + self.topics
        self.word_topic.view(-1).index_add_(0, cells, torch.ones(len(cells), device=cells.device))
        self.totals = torch.bincount(self.topics, minlength=columns)

    def _freeze(self, word_topic: Any) -> None:
        x = torch.as_tensor(word_topic)
        if tuple(x.shape) != (self.n_words, self.n_topics):
            raise ValueError(f"word_topic has shape {tuple(x.shape)}; expected ({self.n_words}, "
                             f"{self.n_topics}), p(word | topic) of every word")
        if x.numel() and not (bool(torch.isfinite(x).all()) and bool((x >= 0).all())):
            raise ValueError(
                "word_topic holds NaN, infinity or negative numbers; expected probabilities")
        self.word_topic = padded(x.to(self.words.device))
        self.totals = torch.ones(self.word_topic.shape[1], dtype=torch.int64,
                                 device=self.words.device)  # 1 / total drops out

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.offsets) - 1

    @property
    def own(self) -> int:
        """1 where the counts hold each token itself, 0 where they are frozen probabilities."""
        return int(not self.frozen)
