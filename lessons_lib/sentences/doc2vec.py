"""Doc2vec: a document gets a vector of its own, which learns to help predict the document's words.

PV-DBOW lets the document alone predict its words; PV-DM lets it help the words around. What the
document must add is what the few words near do not say: its subject. A new document is inferred:
its vector learns, everything else stays. The steps are compiled vector code
(`kernels.document_update`). Taught in lesson ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core import check_rate, check_rounds, fingerprint, generator, shown, warn_data
from ..core.learned import Array
from ..core.parameters import Choice, Count, Flag, Int
from ..text import Corpus
from ..text.string_table import Index
from ..text.tokenise import GivenTokenizer
from ..vectors import WordVectors
from ..vectors.word_vectors import LearnedVectors
from ..words.encoded_corpus import EncodedCorpus, encode_corpus, encode_more
from ..words.window_method import WindowMethod, random_rows
from .document_vectors import DocumentVectors, LearnedDocuments, Tagging, read_tags
from .pooling import as_corpus, encode

if TYPE_CHECKING:
    from .inference import Inference

__all__ = ["Doc2Vec"]

REACH = 1.0                     # of random rows; with 0.5 a classifier of 20 Newsgroups loses 3 %


@dataclass(frozen=True, eq=False)
class EncodedDocuments(EncodedCorpus):
    """A corpus as numbers, and the tags of its documents."""

    tagging: Tagging

    @property
    def fingerprint(self) -> str:
        """By which an interrupted run knows its texts and tags again."""
        return fingerprint(self.offsets, self.words, self.tagging.rows, self.tagging.offsets)


class Doc2Vec(WindowMethod):
    """Paragraph vectors: PV-DM ("distributed memory") and PV-DBOW ("distributed bag of words").

    ``share_error`` matters to DM with the mean only. One thread is bitwise reproducible, several
    with ``deterministic`` too. [le2014distributed]

    Examples
    --------
    >>> texts, tags = ["a rose is a rose", "a bird is a bird"], [["plant"], ["animal"]]
    >>> model = Doc2Vec("dbow", dim=4, min_count=1, epochs=2).fit(texts, tags)
    >>> model.encode(["a rose"]).shape
    (1, 4)
    """

    name = "doc2vec"
    least_rate = 1e-4

    model = Choice("dm", "dbow", positional=1, doc="distributed memory, or bag of words")
    dim = Int(100, "columns of a vector", positional=2)
    combine = Choice("mean", "sum", "concat", doc="DM only: mean or sum of the context words and "
                     "the document, or all side by side with a full window, which needs one tag "
                     "per document and 1 + 2 · window times the output weights")
    train_words = Flag(False, "DBOW only: train skip-gram beside it; else ``vectors_`` stay random")
    epochs = Count(10)
    tokenizer = GivenTokenizer()

    vectors_ = LearnedVectors(file="words", doc="one vector for each word")
    document_vectors_ = LearnedDocuments(file="documents", doc="one vector for each tag")
    output_ = Array("outputs", "output columns", file="outputs", doc="of words, or of inner nodes")
    _edge = Array(1, "dim", file="edge")            # stands beyond both ends of a document

    @property
    def architecture(self) -> str:
        """What `kernels.window_update` calls this without documents."""
        return "cbow" if self.model == "dm" else "skip_gram"

    @property
    def _width(self) -> int:
        """Inputs that stand side by side."""
        side_by_side = self.model == "dm" and self.combine == "concat"
        return 1 + 2 * int(self.window) if side_by_side else 1

    def _check_memory(self, encoded: EncodedDocuments, more: int) -> None:
        super()._check_memory(encoded, more + 1 + len(encoded.tagging.labels))

    def _check_consistent(self) -> None:
        wanted = len(self.vectors_) - self._tree, int(self.dim) * self._width
        if self.dim != self.vectors_.dim or self.output_.shape != wanted:
            raise ValueError(f"dim={self.dim}, objective={self.objective!r}, combine="
                             f"{self.combine!r} ask for outputs {wanted}; the fit has "
                             f"{self.output_.shape} and {self.vectors_.dim} columns; fit anew")

    # ------------------------------------------------------------------------------ learning

    def fit(self, texts: Iterable[str] | Corpus, tags: Any = None, *,
            on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn from the beginning.

        After Ctrl-C, too, the model holds what was learned, and `resume` goes on.

        Parameters
        ----------
        texts : iterable of str, or text.Corpus
        tags : list of labels (str or int) for each document, optional
            Several documents may share one; None: their numbers 0, 1, …
        on_epoch : callable, optional
            Called with the model after each epoch, for example to save it.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, texts, tags, no word or only one left.
        TrainingDiverged
            The vectors are then the last ones that were finite.

        Warns
        -----
        DataWarning
            A tag whose documents hold no known word; its vector is zeros.
        """
        self._check_settings()
        corpus = as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
        tagging = self._tagged(tags, len(corpus))
        encoded = encode_corpus(corpus, min_count=self.min_count)
        return self._fit(EncodedDocuments(**vars(encoded), tagging=tagging), on_epoch)

    def partial_fit(self, texts: Iterable[str] | Corpus, tags: Any = None, *,
                    learning_rate: float | None = None,
                    on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with more documents for ``epochs`` epochs; before any `fit` it is one.

        Tags that are known learn on, new tags and new words get vectors. ``counts_`` grow, and with
        them sampling. A Huffman tree cannot grow: with hierarchical softmax new words are left out.

        Parameters
        ----------
        texts, on_epoch
            As in `fit`.
        tags : list of labels for each document, optional
            None: numbered from the number of known tags on.
        learning_rate : float > 0, optional
            At the beginning; None for the one of the settings.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError, TrainingDiverged
            As `fit`.
        """
        rate = self._checked_rate(learning_rate)
        if not hasattr(self, "vectors_"):
            return self.fit(texts, tags, on_epoch=on_epoch)
        self._check_consistent()
        corpus = as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
        tagging = self._tagged(tags, len(corpus), self.document_vectors_.labels)
        encoded = encode_more(corpus, self.vectors_.tokens, min_count=self.min_count,
                              grow=not self._tree)
        return self._partial_fit(EncodedDocuments(**vars(encoded), tagging=tagging), rate, on_epoch)

    def resume(self, texts: Iterable[str] | Corpus, tags: Any = None, *,
               on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` or `partial_fit` that was interrupted, also after `load`.

        The result is bitwise that of an uninterrupted run (``deterministic``). A finished run is
        left as it is.

        Parameters
        ----------
        texts, tags, on_epoch
            The same texts and tags as before; on_epoch as in `fit`.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
        ValueError
            Other texts or tags, or settings of another shape.
        """
        if self._is_left():
            corpus = as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
            known = self.document_vectors_.labels
            if tags is None:
                known = known[: max(0, len(known) - len(corpus))]
            tagging = self._tagged(tags, len(corpus), known)
            encoded = encode_more(corpus, self.vectors_.tokens, min_count=self.min_count,
                                  grow=False)
            self._resume(EncodedDocuments(**vars(encoded), tagging=tagging), on_epoch)
        return self

    def _tagged(self, tags: Any, n: int, known: Sequence[Any] = ()) -> Tagging:
        tagging = read_tags(tags, n, known=known)
        sizes = np.diff(tagging.offsets)
        if self._width > 1 and sizes.max(initial=1) > 1:
            i = int(sizes.argmax())
            raise ValueError(f"tags[{i}] holds {sizes[i]} tags; expected 1 with combine='concat', "
                             "where a document has one place. Use 'mean' or 'sum'")
        return tagging

    def _begin(self, encoded: EncodedDocuments) -> None:
        n = len(encoded.tokens)
        rows = random_rows(generator(self.seed), n + 1, self.dim, reach=REACH)
        self.output_ = np.zeros((n - self._tree, int(self.dim) * self._width), dtype=np.float32)
        self._own(encoded, np.concatenate([rows, self._new_documents(encoded, 0)]))

    def _extend(self, encoded: EncodedDocuments) -> None:
        former = len(self.vectors_)
        more = len(encoded.tokens) - former
        words = random_rows(generator(int(self.seed) + former), more, self.dim, reach=REACH)
        zeros = np.zeros((more, self.output_.shape[1]), dtype=np.float32)
        self.output_ = np.concatenate([self.output_, zeros])
        documents = self.document_vectors_.matrix
        self._own(encoded, np.concatenate([self.vectors_.matrix, words, self._edge, documents,
                                           self._new_documents(encoded, len(documents))]))

    def _new_documents(self, encoded: EncodedDocuments, former: int) -> np.ndarray:
        """Random rows of the tags behind the ``former`` ones; zeros for those without a word."""
        tagging, lengths = encoded.tagging, np.diff(encoded.offsets)
        n = np.bincount(tagging.rows, weights=np.repeat(lengths, np.diff(tagging.offsets)),
                        minlength=len(tagging.labels))[former:]
        empty = np.flatnonzero(n == 0)
        if len(empty):
            first = shown(tagging.labels[former + empty[0]])
            warn_data(f"{len(empty)} of {len(n)} tags have no known word in their documents "
                      f"(first: {first}); their vectors are zeros", stacklevel=5)
        rng = generator(int(self.seed) + 7919 + former)
        rows = random_rows(rng, len(n), self.dim, reach=REACH)
        rows[empty] = 0.0
        return rows

    def _own(self, encoded: EncodedDocuments, rows: np.ndarray) -> None:
        """Keep copies of the rows of words, of the edge and of documents, in this order."""
        n = len(encoded.tokens)
        self.vectors_ = WordVectors(encoded.tokens, rows[:n].copy(), name=self.name)
        self._edge = rows[n : n + 1].copy()
        self.document_vectors_ = DocumentVectors(encoded.tagging.labels, rows[n + 1 :].copy())
        vars(self).pop("_frozen", None)

    def _state(self, encoded: EncodedDocuments) -> Any:
        tagging = encoded.tagging
        return self._state_of(encoded.words, encoded.offsets, self.document_vectors_.matrix,
                              (tagging.rows, tagging.offsets))

    def _state_of(self, words: np.ndarray, offsets: np.ndarray, documents: np.ndarray,
                  tags: tuple[np.ndarray, np.ndarray]) -> Any:
        from ..kernels import DocumentState

        rows = np.concatenate([self.vectors_.matrix, self._edge, documents])
        return DocumentState(words, offsets, rows, self.output_, self.counts_, sample=self.sample,
                             noise_exponent=self.noise_exponent, tags=tags[0], tag_offsets=tags[1])

    def _update(self) -> Callable[..., tuple[float, int]]:
        from ..kernels import document_update

        return document_update

    def _options(self) -> dict[str, Any]:
        """What the kernel is told beside rates, epoch, parts and threads."""
        options = super()._options()
        del options["architecture"]
        return options | {"model": self.model, "combine": self.combine,
                          "train_words": bool(self.train_words)}

    def _hand_over(self, state: Any, encoded: EncodedDocuments) -> None:
        self.output_ = state.plain_outputs
        self._own(encoded, state.inputs[:, : self.dim].numpy())

    # ------------------------------------------------------------------------------ new documents

    def _inference(self, epochs: int | None, learning_rate: float | None) -> Inference:
        """How new documents are inferred; the working state is made once for each fit."""
        from .inference import Inference

        self._check_fitted("vectors_")
        self._check_settings()
        self._check_consistent()
        epochs = check_rounds("epochs", self.epochs if epochs is None else epochs)
        rate = self.learning_rate if learning_rate is None else learning_rate
        rate = check_rate("learning_rate", rate)
        if not hasattr(self, "_frozen"):
            nothing = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
            document = np.zeros((1, self.dim), dtype=np.float32)
            state = self._state_of(*nothing, document, nothing)
            self._frozen = state, Index(self.vectors_.tokens)
        state, index = self._frozen
        return Inference(self.vectors_, index, state, self._options(), epochs, rate)

    def infer(self, texts: Iterable[str] | Corpus, *, epochs: int | None = None,
              learning_rate: float | None = None, batch_size: int = 256,
              progress: bool = False) -> np.ndarray:
        """Vectors of new documents: a fresh row for each learns, words and outputs stay.

        The same text has the same vector each time, in any company.

        Parameters
        ----------
        texts : sequence of str, or text.Corpus
        epochs : int >= 1, optional
            Steps over each text; None for those of the settings.
        learning_rate : float > 0, optional
            At the beginning, from where it falls towards 0; None for the one of the settings.
        batch_size : int >= 1, default 256
            Texts taken at a time.
        progress : bool, default False

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        NotFittedError, TypeError, ValueError, TrainingDiverged

        Warns
        -----
        DataWarning
            A text without a known word; its vector is zeros.
        """
        return self._infer(texts, self._inference(epochs, learning_rate), batch_size, progress)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, as `infer` finds them by the settings; the `Encoder` contract.

        Parameters
        ----------
        texts, batch_size, progress
            As in `infer`.

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        NotFittedError, TypeError, ValueError, TrainingDiverged
            As `infer`.
        """
        return self._infer(texts, self._inference(None, None), batch_size, progress)

    def _infer(self, texts: Iterable[str] | Corpus, inference: Inference, batch_size: int,
               progress: bool) -> np.ndarray:
        if not isinstance(texts, Corpus):
            return encode(texts, inference, tokenizer=self.tokenizer, threads=self.threads,
                          batch_size=batch_size, progress=progress, label=self.name)
        parts = [(np.empty((0, inference.dim), np.float32), np.empty(0, np.int64)),
                 *inference.of_corpus(texts)]
        vectors, known = map(np.concatenate, zip(*parts, strict=True))
        empty = np.flatnonzero(known == 0)
        if len(empty):
            warn_data(f"{len(empty)} of {len(known)} documents have no word with a vector (first: "
                      f"documents[{empty[0]}]); their vectors are zeros", stacklevel=4)
        return vectors
