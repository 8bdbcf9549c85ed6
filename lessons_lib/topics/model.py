"""What every topic model can do once it is fitted: infer topics of new documents, be scored, show
its words, encode texts, be saved.

A model is a table p(word | topic) and a way to find p(topic | document) for a document it has not
seen. Everything else, from held-out perplexity to the `Encoder` of the leaderboard, follows from
these two and is written here once. Taught in lesson ``03_topic_models``.

How to add a model: subclass `TopicModel` and write three methods (``_check_settings``, ``_fit``,
``_infer``; their docstrings are the contract), and ``_state`` / ``_restore`` where it learns more
than the base keeps.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import (DamagedFile, Estimator, check_float, check_int, check_seed, checked_texts,
                    load_model, save_model, shown, track)
from ..counts.encoding import loaded_array
from ..text import Corpus, Tokenizer
from ..text.string_table import Strings
from .counts_input import Counts, as_counts
from .settings import MAX_TOPICS, checked_topics

__all__ = ["TopicModel"]


class TopicModel(Estimator):
    """Base of `PLSA`, `GibbsLDA` and `OnlineLDA`.

    Learned by every model: ``components_`` (K, V) float64, p(word | topic), rows sum to 1;
    ``doc_topic_`` (D, K) float64, p(topic | document) of the fitted documents, rows sum to 1;
    ``alpha_`` (K,), concentration of the prior on p(topic | document) (ones where a model has
    none); ``topic_share_`` (K,), share of all tokens that each topic explains; ``word_counts_``
    (V,) int64, how often each word occurred in training; ``tokens_``, the words of the columns,
    None where the model was fitted on a matrix without ``vocabulary``. ``tokenizer``: what cuts
    texts in `encode`, None for ``Tokenizer()``; set it on the object when the corpus was cut by
    another one.
    """

    name = "topics"
    tokenizer: Any = None
    n_topics: int
    seed: int

    # ----------------------------------------------------------------------- written by each model

    def _check_settings(self) -> None:
        """Raise TypeError or ValueError for a setting that does not depend on the data; `fit` calls
        it before it reads anything.

        The base checks ``n_topics`` and ``seed``; a model's own version calls
        ``super()._check_settings()`` and then checks its own.
        """
        check_int("n_topics", self.n_topics, high=MAX_TOPICS)
        check_seed(self.seed)

    def _check_machine(self) -> None:
        """Raise BackendUnavailable where a device that the settings name is not here; `load` does
        not ask, so that a model can be used elsewhere.
        """

    def _fit(self, counts: Counts) -> None:
        """Learn from checked counts and set ``components_``, ``doc_topic_``, ``alpha_`` (see the
        class) and attributes of the model's own.

        Attributes are set when all work is done, so that a `fit` that fails leaves a former one as
        it was. Documents without tokens get the mean of the prior, ``alpha_ / alpha_.sum()``.
        Priors of shape (K,) are checked here, by `settings.checked_prior`, before work begins.
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

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Further arrays and JSON that `save` keeps (assignments, generator state, history), beyond
        what the base keeps.
        """
        return {}, {}

    def _restore(self, arrays: dict[str, np.ndarray], extra: dict[str, Any],
                 path: str | os.PathLike) -> None:
        """Set from a loaded file what `_state` gave.

        Raises DamagedFile for arrays that do not fit (`counts.encoding.loaded_array` does).
        """

    # -------------------------------------------------------------------------- learning

    def fit(self, data: Any, *, vocabulary: Any = None) -> TopicModel:
        """Learn topics from a matrix of counts (D, V), sparse or dense, or from a `text.Corpus`.

        Parameters: data; vocabulary, the words of the columns (list, `Vocabulary`, or the
        ``vocabulary_`` of a bag of words); of a corpus, tokens outside of it are dropped. Returns
        self. Raises TypeError or ValueError for wrong settings and for what is no count (see
        `as_counts`), and BackendUnavailable for a device that is not here.
        """
        self._check_settings()
        self._check_machine()
        counts = as_counts(data, vocabulary=vocabulary)
        checked_topics(self.n_topics, n_documents=counts.n_documents, n_words=counts.n_words)
        self._fit(counts)
        self._note_corpus(counts)
        return self

    def fit_transform(self, data: Any, *, vocabulary: Any = None) -> np.ndarray:
        """Learn topics and return p(topic | document) of the same documents as the fit found it:
        (D, K) float64, rows sum to 1.
        """
        return self.fit(data, vocabulary=vocabulary).doc_topic_

    def _note_corpus(self, counts: Counts, *, add: bool = False) -> None:
        """Keep the words and counts of the corpus; with ``add`` (partial fits) counts are added to
        the former ones.

        ``topic_share_`` needs ``doc_topic_`` of exactly these documents; with ``add`` there is
        none, and topics weigh as ``alpha_`` says.
        """
        self.tokens_ = counts.tokens
        self.word_counts_ = (counts.word_counts +
                             (self.word_counts_ if add and hasattr(self, "word_counts_") else 0))
        shares = self.alpha_
        if not add and len(getattr(self, "doc_topic_", ())) == counts.n_documents:
            shares = counts.document_lengths @ self.doc_topic_
        self.topic_share_ = shares / shares.sum()

    def _check_same_topics(self, what: str) -> None:
        """Raise ValueError when ``n_topics`` was changed since the fit: what was learned cannot
        follow.
        """
        if self.n_topics != len(self.alpha_):
            raise ValueError(f"n_topics={shown(self.n_topics)} was set after a fit with "
                             f"n_topics={len(self.alpha_)}; {what} needs the number of the "
                             f"fit. Call set_params(n_topics={len(self.alpha_)}), or fit again")

    # -------------------------------------------------------------------------- using

    def transform(self, data: Any) -> np.ndarray:
        """Topics of new documents with the words frozen (fold-in): (D, K) float64, rows sum to 1;
        the same each time.

        Parameters: data as in `fit`; tokens of a corpus that the model does not know are dropped. A
        document without known tokens gets the mean of the prior, with one DataWarning. Raises
        NotFittedError, and ValueError for another number of columns, and for a corpus where the
        model was fitted on a matrix without ``vocabulary``: it cannot tell which column a word is.
        """
        self._check_fitted("components_")
        return self._infer(self._known_counts(data), self.seed)

    def _known_counts(self, data: Any) -> Counts:
        """Counts with the model's columns and their words: data with words are translated, a matrix
        without them has the model's columns.
        """
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
        """How many words the model hesitates between, on average, at each held-out token; lower is
        better, V for uniform words.

        Document completion: a random half of each document's tokens (one more when their number is
        odd) finds p(topic | document), the other half is scored: exp(-sum log p(w) / number of
        scored tokens). Tokens are never scored with topics that they helped to find. Infinite when
        the model gives a scored word probability 0, as pLSA does to words it has not seen. Raises
        NotFittedError, ValueError when no document has two tokens or for a wrong seed.
        [wallach2009evaluation]
        """
        from .evaluate import completion_perplexity

        self._check_fitted("components_")
        return completion_perplexity(self, self._known_counts(data), seed=seed)

    def coherence(self, data: Any, *, measure: str = "u_mass", n_words: int = 10,
                  per_topic: bool = False, window: int | None = None) -> float | np.ndarray:
        """Do the top words of a topic occur together in real text? The mean over topics, or one
        number per topic.

        Parameters: data, the reference: a `Corpus` (any vocabulary, for a model with words), or for
        ``"u_mass"`` also a count matrix with the model's columns; measure, ``"u_mass"`` (documents;
        nearer 0 is better), ``"npmi"`` (windows of 10 tokens; -1 to 1) or ``"c_v"`` (windows of
        110; about 0 to 1); n_words, top words per topic, >= 2; window, another window size. The
        formulas are at `coherence_of`. Raises as `coherence_of` and `transform`.
        """
        from .coherence import coherence_of

        self._check_fitted("components_")
        reference = (data
                     if self.tokens_ is not None and _has_words(data)
                     else self._known_counts(data))
        tops = self.top_columns(n_words)
        scores = coherence_of(
            tops if self.tokens_ is None else [[self.tokens_[w]
                                                for w in row]
                                               for row in tops.tolist()], reference,
            measure=measure, window=window)
        return scores if per_topic else float(scores.mean())

    def top_columns(self, n: int = 10, *, relevance: float = 1.0) -> np.ndarray:
        """Columns of the ``n`` most relevant words of each topic, best first: (K, min(n, V)) int64;
        ties by column.

        relevance: the weight l in [0, 1] of ``l log p(w | topic) + (1 - l) log(p(w | topic) /
        p(w))``; 1 ranks by probability, 0 by lift. Words that never occurred in training come last.
        Raises NotFittedError, TypeError, ValueError. [sievert2014ldavis, Eq. 1]
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
        """The ``n`` most relevant words of each topic, best first; parameters and errors as
        `top_columns`, ValueError where words have no names.
        """
        columns = self.top_columns(n, relevance=relevance)
        tokens = self._named_tokens("top_words")
        return [[tokens[w] for w in row] for row in columns.tolist()]

    def _named_tokens(self, what: str) -> list[str]:
        if self.tokens_ is None:
            raise ValueError(f"{what} needs the words of the columns, but this "
                             f"{type(self).__name__} was fitted on a matrix without them. "
                             "Fit it on a Corpus, or pass fit(data, vocabulary=words)")
        return self.tokens_

    # -------------------------------------------------------------------------- encoder

    @property
    def dim(self) -> int:
        """Number of topics of the fitted model."""
        self._check_fitted("components_")
        return len(self.components_)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """p(topic | text) of texts, (n, K) float32; the `Encoder` contract.

        Texts are cut by ``tokenizer``; words the model does not know are dropped. The cosine of two
        mixtures is ruled by their largest topics; ``model | Hellinger()`` takes square roots first,
        and the cosine becomes the overlap of the two distributions. Parameters: texts; batch_size,
        texts inferred at a time; progress, show a bar. Raises as `transform`, and as
        `core.checked_texts`.
        """
        self._check_fitted("components_")
        check_int("batch_size", batch_size)
        tokens = self._named_tokens("encode")
        cut = self.tokenizer or Tokenizer()
        column = {token: i for i, token in enumerate(tokens)}
        ids = ([[column[t]
                 for t in cut(text)
                 if t in column]
                for text in checked_texts(texts, name="texts", allow_empty=True)])
        counts = _counted(ids, tokens)
        vectors = np.empty((len(ids), self.dim), dtype=np.float32)
        for start in track(range(0, len(ids), batch_size), label=self.name, show=progress):
            vectors[start:start + batch_size] = self._infer(
                counts.rows(slice(start, start + batch_size)), self.seed)
        return vectors

    # -------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the model into a folder (numbers as safetensors, settings as JSON), atomically.

        Raises NotFittedError, OSError, and TypeError or ValueError for settings with which `load`
        could not read the folder; then nothing is written.
        """
        self._check_fitted("components_")
        self._check_same_topics("save")
        self._check_settings()
        arrays, extra = self._state()
        own = {
            "components": self.components_, "doc_topic": getattr(self, "doc_topic_",
                                                                 np.empty((0, self.dim))),
            "alpha": self.alpha_, "topic_share": self.topic_share_, "word_counts": self.word_counts_
        }
        if self.tokens_ is not None:
            strings = Strings.of(self.tokens_)
            own |= {"token_bytes": strings.arena, "token_offsets": strings.offsets}
        settings = {name: _plain(value) for name, value in self.get_params().items()}
        save_model(
            path,
            type(self).__name__, settings=settings,
            arrays=own | {f"own.{n}": a for n, a in arrays.items()}, extra={
                "tokenizer": _tokenizer_card(self.tokenizer), "has_documents": hasattr(
                    self, "doc_topic_"), "own": extra
            })

    @classmethod
    def load(cls, path: str | os.PathLike) -> Any:
        """Read a model that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        settings, arrays, extra = load_model(path, cls.__name__)
        try:
            model = cls(**settings)
            model._check_settings()
            if extra["tokenizer"] is not None:
                model.tokenizer = Tokenizer(**extra["tokenizer"])
                model.tokenizer("")  # refuses wrong settings now, not at the first text
            model._take(arrays, bool(extra["has_documents"]), path)
            model._restore(
                {n.removeprefix("own."): a for n, a in arrays.items() if n.startswith("own.")},
                extra["own"], path)
        except DamagedFile:
            raise
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise DamagedFile(f"{path} is a {cls.__name__} that this version cannot read "
                              f"({error}). Save the model again") from error
        return model

    def _take(self, arrays: dict[str, np.ndarray], has_documents: bool,
              path: str | os.PathLike) -> None:
        n_topics, n_words = (*getattr(arrays.get("components"), "shape", ()), 0, 0)[:2]
        if n_topics != self.n_topics:
            raise ValueError(f"components has {n_topics} rows, n_topics is {self.n_topics}")
        n_documents = len(arrays.get("doc_topic", ()))
        shapes = {
            "components": (n_topics, n_words), "doc_topic": (n_documents, n_topics),
            "alpha": (n_topics, ), "topic_share": (n_topics, )
        }
        loaded = {
            name: loaded_array(path, arrays, name, shape=shape) for name, shape in shapes.items()
        }
        self.components_, self.alpha_, self.topic_share_ = loaded["components"], loaded[
            "alpha"], loaded["topic_share"]
        self.word_counts_ = loaded_array(path, arrays, "word_counts", shape=(n_words,), kind="i")
        if has_documents:
            self.doc_topic_ = loaded["doc_topic"]
        self.tokens_ = None
        if "token_bytes" in arrays:
            self.tokens_ = Strings.checked(arrays["token_bytes"], arrays["token_offsets"],
                                           name="token_offsets").to_list()
            if len(self.tokens_) != n_words:
                raise ValueError(f"it holds {len(self.tokens_)} tokens for {n_words} columns")


def _has_words(data: Any) -> bool:
    """Whether data say themselves which word a column stands for."""
    return isinstance(data, Corpus) or (isinstance(data, Counts) and data.tokens is not None)


def _counted(documents: list[list[int]], tokens: list[str]) -> Counts:
    """Counts of documents given as column ids."""
    offsets = np.zeros(len(documents) + 1, dtype=np.int64)
    np.cumsum([len(ids) for ids in documents], out=offsets[1:])
    word_ids = np.fromiter((i for ids in documents for i in ids), dtype=np.int32,
                           count=int(offsets[-1]))
    return as_counts(Counts.from_reading(offsets, word_ids, tokens), fitting=False, name="texts")


def _plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, (tuple, list, np.ndarray)):
        return np.asarray(value).tolist()
    return value.item() if isinstance(value, np.generic) else value


def _tokenizer_card(tokenizer: Any) -> dict[str, Any] | None:
    if tokenizer is None or isinstance(tokenizer, Tokenizer):
        return None if tokenizer is None else tokenizer.get_params()
    raise TypeError(f"tokenizer={tokenizer!r:.60} cannot be saved; expected a Tokenizer. Set "
                    "model.tokenizer = None, and again after load")
