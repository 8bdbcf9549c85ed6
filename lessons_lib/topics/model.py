"""What every topic model can do once it is fitted: infer topics of new documents, be scored, show
its words, encode texts, be saved.

A model is a table p(word | topic) and a way to find p(topic | document) for a document it has not
seen. Everything else, from held-out perplexity to the `Encoder` of the leaderboard, follows from
these two and is written here once. Taught in lesson ``03_topic_models``.

How to add a model: subclass `TopicModel`, declare its settings and what it learns beyond the base,
and write ``_fit`` and ``_infer`` (their docstrings are the contract).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import Any, ClassVar, Self

import numpy as np

from ..core import (asked_to_stop, check_float, check_int, check_memory, checked_texts, shown,
                    track, warn_data)
from ..core.estimator import SavedEstimator
from ..core.learned import Array, Strings
from ..core.parameters import Int, Seed
from ..text.token_corpus import TokenCorpus
from ..text.tokenise import Tokenizer
from .coherence import coherence_of
from .counts_input import Counts, as_counts
from .evaluate import completion_perplexity

__all__ = ["LARGEST_PRIOR", "SMALLEST_PRIOR", "TopicModel", "checked_prior"]

MAX_TOPICS = 32_767                              # a topic number fits into 16 bits with sign
# float32 can multiply two of the one, and still sees a token beside the other
SMALLEST_PRIOR, LARGEST_PRIOR = 1e-12, 1e6


class TopicModel(SavedEstimator):
    """Base of `PLSA`, `GibbsLDA` and `OnlineLDA`.

    ``tokenizer`` is what cuts texts in `encode`, None for ``Tokenizer()``; set it on the object
    when the corpus was cut by another one.
    """

    n_topics = Int(20, "K", high=MAX_TOPICS, positional=1)
    seed = Seed()

    components_ = Array("n_topics", "words", dtype="f", file="components",
                        doc="p(word | topic), rows sum to 1")
    doc_topic_ = Array("documents", "n_topics", dtype="f", file="doc_topic",
                       doc="p(topic | document) of the fitted documents, rows sum to 1")
    alpha_ = Array("n_topics", dtype="f", file="alpha", doc="concentration of the prior on p(topic "
                   "| document); ones where a model has none")
    topic_share_ = Array("n_topics", dtype="f", file="topic_share",
                         doc="share of all tokens that each topic explains")
    word_counts_ = Array("words", dtype="i", file="word_counts",
                         doc="how often each word occurred in training")
    tokens_ = Strings("words", optional=True, doc="the words of the columns; None where the model "
                                                  "was fitted on a matrix without ``vocabulary``")

    name = "topics"
    tokenizer: Any = None

    # ----------------------------------------------------------------------- written by each model

    def _check_machine(self) -> None:
        """Raise BackendUnavailable where the settings' device is not here; `load` does not ask."""

    # bytes for each word and topic, and for each document and topic, that a fit needs at one time
    _bytes_needed: ClassVar[tuple[int, int]] = (4, 4)

    def _fit(self, counts: Counts, asked: Event) -> None:
        """Learn from checked counts, until the end or until somebody ``asked`` to stop, and set
        ``components_``, ``doc_topic_``, ``alpha_`` and attributes of the model's own.

        Attributes are set when all work is done, so that a `fit` that fails leaves a former one as
        it was. Documents without tokens get the mean of the prior, ``alpha_ / alpha_.sum()``.
        ``tokens_``, ``word_counts_`` and ``topic_share_`` are set by the base afterwards; a
        ``partial_fit`` calls ``self._note_corpus(counts, add=True)`` itself.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement _fit")

    def _infer(self, counts: Counts, seed: int) -> np.ndarray:
        """Return p(topic | document) of new documents with ``components_`` frozen: (D, K) float64,
        finite, rows sum to 1.

        ``counts`` has the model's V columns. A row must not depend on the other documents of the
        call (draw from a generator made anew from ``seed`` for each document); a document without
        tokens gets ``alpha_ / alpha_.sum()``. Learned attributes stay untouched.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement _infer")

    # -------------------------------------------------------------------------- learning

    def fit(self, data: Any, *, vocabulary: Any = None) -> Self:
        """Learn topics.

        Ctrl-C ends after the step that is under way and comes out as KeyboardInterrupt; the model
        holds what was learned by then, and ``resume`` goes on.

        Parameters
        ----------
        data : (D, V) counts, sparse or dense, or text.Corpus
        vocabulary : list of str, Vocabulary or mapping token -> column, optional
            The words of the columns; of a corpus, tokens outside of it are dropped.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings; what is no count (see `as_counts`).
        BackendUnavailable
            A device that is not here.
        """
        self._check_settings()
        self._check_machine()
        counts = as_counts(data, vocabulary=vocabulary)
        self._compare_sizes(counts.n_documents, counts.n_words)
        self._check_memory(counts)
        with self._learning(counts) as asked:
            self._fit(counts, asked)
        return self

    @contextmanager
    def _learning(self, counts: Counts) -> Iterator[Event]:
        """Let work end at a whole step where Ctrl-C asks for it; the model then has what was
        learned, and KeyboardInterrupt comes out."""
        with asked_to_stop() as asked:
            yield asked
            self._note_corpus(counts)
        if asked.is_set():
            raise KeyboardInterrupt

    def _check_memory(self, counts: Counts) -> None:
        """Raise MemoryError where topics of so many words and documents cannot fit."""
        (per_word, per_document), topics = self._bytes_needed, int(self.n_topics)
        check_memory(f"{topics:,} topics of {counts.n_words:,} words and {counts.n_documents:,} "
                     "documents",
                     topics * (per_word * counts.n_words + per_document * counts.n_documents),
                     f"Lower n_topics={self.n_topics}, or leave out rare words")

    def fit_transform(self, data: Any, *, vocabulary: Any = None) -> np.ndarray:
        """Learn topics and return those of the same documents as the fit found them.

        Parameters
        ----------
        data, vocabulary
            As in `fit`.

        Returns
        -------
        (D, K) float64
            p(topic | document), rows sum to 1.

        Raises
        ------
        TypeError, ValueError, BackendUnavailable
            As `fit`.
        """
        return self.fit(data, vocabulary=vocabulary).doc_topic_

    def _compare_sizes(self, n_documents: int, n_words: int) -> None:
        """Warn of more topics than the documents or the words there are."""
        if self.n_topics > min(n_documents, n_words):
            warn_data(f"n_topics={self.n_topics} is more than the {n_documents} documents or the "
                      f"{n_words} words; some topics will be alike or hold chance", stacklevel=3)

    def _note_corpus(self, counts: Counts, *, add: bool = False) -> None:
        """Keep the words and counts of the corpus, with ``add`` (partial fits) added to the former
        ones; topics then weigh as ``alpha_`` says, else by ``doc_topic_``, which is of these
        documents.
        """
        self.tokens_ = counts.tokens
        former = self.word_counts_ if add and hasattr(self, "word_counts_") else 0
        self.word_counts_ = counts.word_counts + former
        shares = self.alpha_
        if not add and len(getattr(self, "doc_topic_", ())) == counts.n_documents:
            shares = counts.document_lengths @ self.doc_topic_
        self.topic_share_ = shares / shares.sum()

    def _check_same_topics(self, what: str) -> None:
        """Raise ValueError when ``n_topics`` was changed since the fit."""
        if self.n_topics != len(self.alpha_):
            raise ValueError(f"n_topics={shown(self.n_topics)} was set after a fit with "
                             f"n_topics={len(self.alpha_)}; {what} needs the number of the "
                             f"fit. Call set_params(n_topics={len(self.alpha_)}), or fit again")

    def _ready_to_resume(self, data: Any) -> Counts:
        """The counts of data that a fit is to go on with, after a look at the settings."""
        self._check_fitted("components_")
        self._check_same_topics("resume")
        self._check_settings()
        self._check_machine()
        return self._known_counts(data)

    def _check_same_data(self, same: bool, counts: Counts) -> None:
        """Raise ValueError unless data are those of the fit."""
        if not same:
            raise ValueError(f"data has {counts.n_documents} documents and {counts.n_tokens:,} "
                             f"tokens, the fit had {len(self.doc_topic_)} and "
                             f"{self.word_counts_.sum():,}, or other words or another order; "
                             "resume needs the data of the fit")

    # -------------------------------------------------------------------------- using

    def transform(self, data: Any) -> np.ndarray:
        """Topics of new documents with the words frozen (fold-in); the same each time.

        A document without known tokens gets the mean of the prior, with one DataWarning.

        Parameters
        ----------
        data
            As in `fit`; tokens of a corpus that the model does not know are dropped.

        Returns
        -------
        (D, K) float64
            p(topic | document), rows sum to 1.

        Raises
        ------
        NotFittedError
        TypeError, ValueError
            Another number of columns; a corpus where the model was fitted on a matrix without
            ``vocabulary``, so that it cannot tell which column a word is.
        """
        self._check_fitted("components_")
        counts = self._known_counts(data)
        check_memory(f"{len(self.components_):,} topics of {counts.n_documents:,} documents",
                     8 * len(self.components_) * counts.n_documents, "Transform fewer at once")
        return self._infer(counts, self.seed)

    def _known_counts(self, data: Any) -> Counts:
        """Counts with the model's columns: words are translated, a matrix has them already."""
        n_words, named = self.components_.shape[1], _has_words(data)
        if named and self.tokens_ is None:
            raise ValueError(f"data is a {type(data).__name__}, which tells columns by their "
                             f"words, but this {type(self).__name__} was fitted on a "
                             "matrix without them. Fit it on a Corpus, or pass fit(data, "
                             "vocabulary=words)")
        counts = as_counts(data, vocabulary=self.tokens_ if named else None, n_words=n_words,
                           fitting=False)
        return counts if named or self.tokens_ is None else replace(counts, tokens=self.tokens_)

    def perplexity(self, data: Any, *, seed: int = 0) -> float:
        """How many words the model hesitates between, on average, at each held-out token.

        Lower is better; V for uniform words; infinite when the model gives a scored word
        probability 0, as pLSA does to words it has not seen.

        Parameters
        ----------
        data
            As in `transform`.
        seed : int >= 0, default 0
            Of the split of documents.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
        ValueError
            No document has two tokens; a wrong seed.

        Notes
        -----
        Document completion: a random half of each document's tokens (one more when their number is
        odd) finds p(topic | document), the other half is scored: exp(-sum log p(w) / number of
        scored tokens). Tokens are never scored with topics that they helped to find.
        [wallach2009evaluation]
        """
        self._check_fitted("components_")
        return completion_perplexity(self, self._known_counts(data), seed=seed)

    def coherence(self, data: Any, *, measure: str = "u_mass", n_words: int = 10,
                  per_topic: bool = False, window: int | None = None) -> float | np.ndarray:
        """Do the top words of a topic occur together in real text? The formulas: `coherence_of`.

        Parameters
        ----------
        data : text.Corpus, or for "u_mass" also (D, V) counts with the model's columns
            The reference; any vocabulary, for a model with words.
        measure : {'u_mass', 'npmi', 'c_v'}, default 'u_mass'
            Documents (nearer 0 is better), windows of 10 tokens (-1 to 1), windows of 110 (about 0
            to 1).
        n_words : int >= 2, default 10
            Top words per topic.
        per_topic : bool, default False
            One number per topic instead of their mean.
        window : int >= 1, optional
            Another window size.

        Returns
        -------
        float, or (K,) float64

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `coherence_of` and `transform`.
        """
        self._check_fitted("components_")
        reference = (data if self.tokens_ is not None and _has_words(data)
                     else self._known_counts(data))
        tops = self.top_columns(n_words)
        words = tops if self.tokens_ is None else self._spelled(tops)
        scores = coherence_of(words, reference, measure=measure, window=window)
        return scores if per_topic else float(scores.mean())

    def top_columns(self, n: int = 10, *, relevance: float = 1.0) -> np.ndarray:
        """Columns of the most relevant words of each topic, best first; ties by column.

        Parameters
        ----------
        n : int >= 1, default 10
        relevance : float in [0, 1], default 1.0
            The weight l below; 1 ranks by probability, 0 by lift.

        Returns
        -------
        (K, min(n, V)) int64

        Raises
        ------
        NotFittedError, TypeError, ValueError

        Notes
        -----
        l log p(w | topic) + (1 - l) log(p(w | topic) / p(w)). Words that never occurred in training
        come last. [sievert2014ldavis, Eq. 1]
        """
        self._check_fitted("components_")
        n, weight = check_int("n", n), check_float("relevance", relevance, low=0.0, high=1.0)
        with np.errstate(divide="ignore"):
            score = np.log(self.components_)
            seen = self.word_counts_ > 0
            score[:, seen] -= (1.0 - weight) * np.log(
                self.word_counts_[seen] / self.word_counts_.sum())
        score[:, ~seen] = -np.inf
        return np.argsort(-score, axis=1, kind="stable")[:, :n]

    def top_words(self, n: int = 10, *, relevance: float = 1.0) -> list[list[str]]:
        """The most relevant words of each topic, best first.

        Parameters
        ----------
        n, relevance
            As in `top_columns`.

        Returns
        -------
        list of lists of str

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `top_columns`; words have no names.
        """
        columns = self.top_columns(n, relevance=relevance)
        self._check_named("top_words")
        return self._spelled(columns)

    def _spelled(self, columns: np.ndarray) -> list[list[str]]:
        return [[self.tokens_[w] for w in row] for row in columns.tolist()]

    def _check_named(self, what: str) -> None:
        if self.tokens_ is None:
            raise ValueError(f"{what} needs the words of the columns, but this "
                             f"{type(self).__name__} was fitted on a matrix without them. "
                             "Fit it on a Corpus, or pass fit(data, vocabulary=words)")

    # -------------------------------------------------------------------------- encoder

    @property
    def dim(self) -> int:
        """Number of topics of the fitted model."""
        self._check_fitted("components_")
        return len(self.components_)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """p(topic | text) of texts, cut by ``tokenizer``; unknown words are dropped.

        The cosine of two mixtures is ruled by their largest topics; ``model | Hellinger()`` takes
        square roots first, and the cosine becomes the overlap of the two distributions.

        Parameters
        ----------
        texts, batch_size, progress
            As `core.Encoder.encode`.

        Returns
        -------
        (n, K) float32

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `transform`; not texts.
        """
        self._check_fitted("components_")
        check_int("batch_size", batch_size)
        self._check_named("encode")
        cut = self.tokenizer or Tokenizer()
        column = {token: i for i, token in enumerate(self.tokens_)}
        ids = [[column[token] for token in cut(text) if token in column]
               for text in checked_texts(texts, name="texts", allow_empty=True)]
        offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
        word_ids = np.fromiter((i for row in ids for i in row), dtype=np.int32,
                               count=int(offsets[-1]))
        counts = as_counts(Counts.from_reading(offsets, word_ids, self.tokens_), fitting=False,
                           name="texts")
        check_memory(f"{len(ids):,} vectors of {self.dim:,} numbers", 4 * len(ids) * self.dim,
                     "Encode fewer texts at once")
        vectors = np.empty((len(ids), self.dim), dtype=np.float32)
        for start in track(range(0, len(ids), batch_size), label=self.name, show=progress):
            rows = slice(start, start + batch_size)
            vectors[rows] = self._infer(counts.rows(rows), self.seed)
        return vectors

    # -------------------------------------------------------------------------- files

    def _saved_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays among the settings become lists; the tokenizer is noted beside them."""
        self._check_same_topics("save")
        self._check_settings()
        if self.tokenizer is not None and not isinstance(self.tokenizer, Tokenizer):
            raise TypeError(f"tokenizer={shown(self.tokenizer)} cannot be saved; expected a "
                            "Tokenizer. Set model.tokenizer = None, and again after load")
        card = None if self.tokenizer is None else self.tokenizer.get_params()
        settings = {name: np.asarray(value).tolist() if hasattr(value, "__array__")
                    or isinstance(value, (tuple, list)) else value
                    for name, value in self.get_params().items()}
        return settings, {"tokenizer": card, "has_documents": True}

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        if extra["tokenizer"] is not None:
            self.tokenizer = Tokenizer(**extra["tokenizer"])
            self.tokenizer("")                   # refuses wrong settings now, not at the first text


def _has_words(data: Any) -> bool:
    """Whether data say themselves which word a column stands for."""
    return isinstance(data, TokenCorpus) or (isinstance(data, Counts) and data.tokens is not None)


def checked_prior(name: str, value: Any, size: int, *, default: float | None = None,
                  whose: str = "topics") -> np.ndarray:
    """A Dirichlet concentration for each of ``size`` topics, or ``whose``: (size,) float64; one
    number stands for all, None for ``default``. Raises TypeError or ValueError for what cannot be
    one.
    """
    expected = (f"one number in [{SMALLEST_PRIOR:g}, {LARGEST_PRIOR:g}], or {size} of them (one "
                f"for each of the {whose})")
    if value is None and default is not None:
        return np.full(size, float(default))
    if not isinstance(value, (list, tuple, np.ndarray)) or np.ndim(value) == 0:
        number = value.item() if isinstance(value, np.ndarray) else value
        return np.full(size, check_float(name, number, low=SMALLEST_PRIOR, high=LARGEST_PRIOR))
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has dtype {array.dtype}; expected {expected}")
    if array.shape != (size,):
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")
    bad = np.flatnonzero(~((array >= SMALLEST_PRIOR) & (array <= LARGEST_PRIOR)))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}]={shown(array[bad[0]].item())} is out of range; "
                         f"expected {expected}")
    return array.astype(np.float64)
