"""Doc2vec: a document gets a vector of its own, which learns to help guess the words of the document.

PV-DBOW lets the document alone guess its words; PV-DM lets it help the words around. What the document must add is what the few words near do not
say: its subject. A new document is inferred: its vector learns, everything else stays. The steps are compiled vector code
(`kernels.document_update`). Taught in lesson ``07_doc2vec``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..core import (DamagedFile, Estimator, check_choice, check_float, check_int, fingerprint, generator, load_model, save_model, shown,
                    warn_data)
from ..text import Corpus, Tokenizer
from ..vectors import WordVectors
from ..words.passes import SHORT, check_same_text, check_window_settings, drawn_rows, passes
from ..words.reading import Reading, read, read_with
from ..words.run import Run, all_or_nothing
from .averaging import Index, encode
from .document_vectors import DocumentVectors, Tagging, packed_labels, read_tags, unpacked_labels
from .reading import as_corpus
from .saved import plain_tokenizer

if TYPE_CHECKING:
    from .inference import Inference

__all__ = ["Doc2Vec"]

LEAST_RATE = 1e-4                               # of the first: where the line of falling learning rates ends
REACH = 1.0                                     # by dim, of start vectors; with half of it a classifier of 20 Newsgroups is right 3 % less often


class Doc2Vec(Estimator):
    """Paragraph vectors: PV-DM ("distributed memory") and PV-DBOW ("distributed bag of words").

    Parameters: model, "dm" or "dbow"; dim; combine, DM only: the "mean" of the words around and the document, their "sum", or "concat", all of them
    side by side with a full window, which needs one tag per document and 1 + 2 · window times the output weights; train_words, DBOW only: train
    skip-gram beside it, else ``vectors_`` stay as they were drawn; share_error, DM with the mean only: each context gets its share of the error, the
    gradient proper, instead of the whole as in other programs; tokenizer, a `text.Tokenizer` or a function from str to a list of str that cuts texts;
    all others as in `words.Word2Vec`.
    Learned: ``document_vectors_`` (`DocumentVectors`, a vector per tag), ``vectors_`` (`WordVectors`), ``output_`` (rows, dim) float32, of words or
    of inner nodes; ``counts_`` (V,) int64; ``history_`` (epochs,) float64, mean −log p per pair of input and window. One thread is bitwise
    reproducible, several with ``deterministic`` too. [le2014distributed]

    >>> model = Doc2Vec("dbow", dim=4, min_count=1, epochs=2).fit(["a rose is a rose", "a bird is a bird"], tags=[["plant"], ["animal"]])
    >>> model.encode(["a rose"]).shape
    (1, 4)
    """

    name = "doc2vec"

    def __init__(self, model: str = "dm", dim: int = 100, *, combine: str = "mean", train_words: bool = False,
                 objective: str = "negative_sampling", window: int = 5, negatives: int = 5, min_count: int = 5, sample: float = 1e-3,
                 noise_exponent: float = 0.75, epochs: int = 10, learning_rate: float = 0.025, threads: int = 1, deterministic: bool = True,
                 seed: int = 0, share_error: bool = False, tokenizer: Any = None, progress: bool = False):
        self.model, self.dim, self.combine, self.train_words, self.objective = model, dim, combine, train_words, objective
        self.window, self.negatives, self.min_count, self.sample, self.noise_exponent = window, negatives, min_count, sample, noise_exponent
        self.epochs, self.learning_rate, self.threads, self.deterministic, self.seed = epochs, learning_rate, threads, deterministic, seed
        self.share_error, self.tokenizer, self.progress = share_error, tokenizer, progress

    def _check_settings(self) -> None:
        check_choice("model", self.model, ("dm", "dbow"))
        check_choice("combine", self.combine, ("mean", "sum", "concat"))
        if not isinstance(self.train_words, (bool, np.bool_)):
            raise TypeError(f"train_words={shown(self.train_words)} is {type(self.train_words).__name__}; expected True or False")
        check_window_settings(self)

    @property
    def architecture(self) -> str:
        """What `kernels.window_update` calls this without documents."""
        return "cbow" if self.model == "dm" else "skip_gram"

    @property
    def _tree(self) -> bool:
        return self.objective == "hierarchical_softmax"

    @property
    def _parts(self) -> int:
        """Inputs that stand side by side."""
        return 1 + 2 * int(self.window) if self.model == "dm" and self.combine == "concat" else 1

    def _how(self) -> dict[str, Any]:
        """Settings of every step, in training and in inference."""
        return {"model": self.model, "combine": self.combine, "train_words": bool(self.train_words), "objective": self.objective,
                "window": self.window, "negatives": self.negatives, "share_error": self.share_error,
                "seed": int(generator(self.seed).integers(1 << 62))}

    # -------------------------------------------------------------------------------------------- learning

    def fit(self, texts: Iterable[str] | Corpus, tags: Any = None, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn from the beginning. Returns self.

        Parameters: texts, any iterable of str, or a `text.Corpus`; tags, a list of labels (str or int) for each document, several documents may share
        one, None: their numbers 0, 1, …; on_epoch, called with the model after each epoch, for example to save it. Raises TypeError or ValueError
        (settings, texts, tags, no or one word left), TrainingDiverged: the vectors are then the last ones that were sane. After Ctrl-C, too, the
        model holds what was learned; `resume` goes on. A tag whose documents hold no known word gets zeros, with one DataWarning.
        """
        self._check_settings()
        corpus = as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
        tagging = self._tagged(tags, len(corpus))
        reading = read(corpus, min_count=self.min_count)
        words = drawn_rows(generator(self.seed), len(reading.tokens) + 1, self.dim, reach=REACH)
        outputs = np.zeros((len(reading.tokens) - self._tree, int(self.dim) * self._parts), dtype=np.float32)
        with all_or_nothing(self):
            self.counts_, self._run = reading.counts, Run(float(self.learning_rate), _fingerprint(reading, tagging))
            go_on = self._prepared(reading, tagging, np.concatenate([words, self._new_documents(reading, tagging, 0)]), outputs)
        go_on(on_epoch=on_epoch)
        return self

    def partial_fit(self, texts: Iterable[str] | Corpus, tags: Any = None, *, learning_rate: float | None = None,
                    on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with more documents for ``epochs`` epochs; tags that are known learn on, new tags and new words get vectors. Returns self.

        Parameters: texts, tags (None: numbered from the number of known tags on) and on_epoch as in `fit`; learning_rate, at the beginning, None for
        the one of the settings. ``counts_`` grow, and with them sampling and noise change. A Huffman tree cannot grow: with hierarchical softmax new
        words are left out. Before any `fit` it is one. Raises as `fit`.
        """
        self._check_settings()
        rate = float(self.learning_rate) if learning_rate is None else check_float("learning_rate", learning_rate, low=0.0, open_low=True)
        if not hasattr(self, "vectors_"):
            return self.fit(texts, tags, on_epoch=on_epoch)
        self._check_same_shape()
        corpus = as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
        former = self.document_vectors_
        tagging = self._tagged(tags, len(corpus), former.labels)
        reading = read_with(corpus, self.vectors_.tokens, min_count=self.min_count, grow=not self._tree)
        more = len(reading.tokens) - len(self.vectors_)
        added = drawn_rows(generator(int(self.seed) + len(self.vectors_)), more, self.dim, reach=REACH)
        outputs = np.concatenate([self.output_, np.zeros((more, self.output_.shape[1]), dtype=np.float32)])
        inputs = [self.vectors_.matrix, added, self._edge, former.matrix, self._new_documents(reading, tagging, len(former))]
        with all_or_nothing(self):
            if not self._tree:
                self.counts_ = np.concatenate([self.counts_, np.zeros(more, dtype=np.int64)]) + reading.counts
            self._run = Run(rate, _fingerprint(reading, tagging), before=self._run.epochs_done, history=self._run.history)
            go_on = self._prepared(reading, tagging, np.concatenate(inputs), outputs)
        go_on(on_epoch=on_epoch)
        return self

    def resume(self, texts: Iterable[str] | Corpus, tags: Any = None, *, on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Finish a `fit` or `partial_fit` that was interrupted, also after `load`; bitwise as if it had not been (``deterministic``). Returns self.

        Parameters: texts and tags, the same as before; on_epoch as in `fit`. A finished run is left as it is. Raises NotFittedError, ValueError for
        other texts or tags, or settings of another shape.
        """
        self._check_fitted("vectors_")
        self._check_settings()
        self._check_same_shape()
        if self._run.epoch < self.epochs:
            corpus = as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
            documents = self.document_vectors_
            known = documents.labels if tags is not None else documents.labels[: max(0, len(documents) - len(corpus))]
            tagging = self._tagged(tags, len(corpus), known)
            reading = read_with(corpus, self.vectors_.tokens, min_count=self.min_count, grow=False)
            check_same_text(reading, self._run, tagging.rows, tagging.offsets)
            inputs = np.concatenate([self.vectors_.matrix, self._edge, documents.matrix])
            self._prepared(reading, tagging, inputs, self.output_)(on_epoch=on_epoch)
        return self

    def _tagged(self, tags: Any, n: int, known: Sequence[Any] = ()) -> Tagging:
        tagging = read_tags(tags, n, known=known)
        if self._parts > 1 and (sizes := np.diff(tagging.offsets)).max(initial=1) > 1:
            i = int(sizes.argmax())
            raise ValueError(f"tags[{i}] holds {sizes[i]} tags; expected 1 with combine='concat', where a document has one place. Use 'mean' or "
                             "'sum'")
        return tagging

    def _check_same_shape(self) -> None:
        rows, columns = len(self.vectors_) - self._tree, int(self.dim) * self._parts
        if self.dim != self.vectors_.dim or self.output_.shape != (rows, columns):
            raise ValueError(f"dim={self.dim}, objective={self.objective!r}, combine={self.combine!r} ask for outputs ({rows}, {columns}); the fit "
                             f"has {self.output_.shape} and {self.vectors_.dim} columns; fit anew")

    def _new_documents(self, reading: Reading, tagging: Tagging, former: int) -> np.ndarray:
        """Start vectors of the tags behind the ``former`` ones; zeros for those whose documents hold no known word."""
        n = np.bincount(tagging.rows, weights=np.repeat(np.diff(reading.offsets), np.diff(tagging.offsets)), minlength=len(tagging.labels))[former:]
        empty = np.flatnonzero(n == 0)
        if len(empty):
            warn_data(f"{len(empty)} of {len(n)} tags have no known word in their documents (first: {shown(tagging.labels[former + empty[0]])}); "
                      "their vectors are zeros", stacklevel=4)
        rows = drawn_rows(generator(int(self.seed) + 7919 + former), len(n), self.dim, reach=REACH)
        rows[empty] = 0.0
        return rows

    def _state(self, words: np.ndarray, offsets: np.ndarray, inputs: np.ndarray, outputs: np.ndarray, tags: tuple[np.ndarray, np.ndarray]) -> Any:
        from ..kernels import DocumentState

        return DocumentState(words, offsets, inputs, outputs, self.counts_, sample=self.sample, noise_exponent=self.noise_exponent, tags=tags[0],
                             tag_offsets=tags[1])

    def _prepared(self, reading: Reading, tagging: Tagging, inputs: np.ndarray, outputs: np.ndarray) -> Callable[..., None]:
        """Lay out what training needs, show where it begins, and return what does the parts of the run that are left."""
        from ..kernels import document_update

        state = self._state(reading.words, reading.offsets, inputs, outputs, (tagging.rows, tagging.offsets))
        how, every = self._how(), 1 if len(reading.words) <= SHORT else 16

        def update(rates: tuple[float, float], epochs_done: int, pieces: tuple[int, int]) -> tuple[float, int]:
            return document_update(state, learning_rate=rates, epoch=epochs_done, pieces=pieces, loss_every=every, threads=self.threads,
                                   deterministic=self.deterministic, **how)

        def hand_over() -> None:
            self._own(reading.tokens, tagging.labels, state.inputs[:, : self.dim].numpy(), state.plain_outputs)
            self.history_ = np.array(self._run.history, dtype=np.float64)

        hand_over()
        return partial(passes, self, state, update, hand_over, least_rate=LEAST_RATE)

    def _own(self, tokens: list[str], labels: Sequence[Any], rows: np.ndarray, outputs: np.ndarray) -> None:
        """Keep what was learned: copies of the rows of words, of the edge and of documents, which follow each other."""
        n = len(tokens)
        words, self._edge, documents = (rows[part].copy() for part in (slice(n), slice(n, n + 1), slice(n + 1, None)))
        self.vectors_, self.output_ = WordVectors(tokens, words, name=self.name), outputs
        self.document_vectors_ = DocumentVectors(labels, documents)
        vars(self).pop("_frozen", None)

    # -------------------------------------------------------------------------------------------- new documents

    def _inference(self, epochs: int | None, learning_rate: float | None) -> Inference:
        """How new documents are inferred; the working state is made once for each fit."""
        from .inference import Inference

        self._check_fitted("vectors_")
        self._check_settings()
        self._check_same_shape()
        epochs = check_int("epochs", self.epochs if epochs is None else epochs)
        rate = check_float("learning_rate", self.learning_rate if learning_rate is None else learning_rate, low=0.0, open_low=True)
        if not hasattr(self, "_frozen"):
            inputs = np.concatenate([self.vectors_.matrix, self._edge, np.zeros((1, self.dim), dtype=np.float32)])
            nothing = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
            self._frozen = self._state(*nothing, inputs, self.output_, nothing), Index(self.vectors_.tokens)
        return Inference(self._frozen[0], self.vectors_, self._frozen[1], self._how(), epochs, rate)

    def infer(self, texts: Iterable[str] | Corpus, *, epochs: int | None = None, learning_rate: float | None = None, batch_size: int = 256,
              progress: bool = False) -> np.ndarray:
        """Vectors of new documents, (n, dim) float32: a fresh row for each learns, words and outputs stay as they are.

        The same text has the same vector each time, in any company. Parameters: texts, str or a `text.Corpus`; epochs, steps over each text, and
        learning_rate, at the beginning, from where it falls towards 0: None for those of the settings; batch_size, texts taken at a time; progress,
        show a bar. A text without a known word is zeros, with one DataWarning. Raises NotFittedError, TypeError, ValueError, TrainingDiverged.
        """
        how = self._inference(epochs, learning_rate)
        if isinstance(texts, Corpus):
            found, known = how.of_corpus(texts)
            if len(empty := np.flatnonzero(known == 0)):
                warn_data(f"{len(empty)} of {len(known)} documents have no word with a vector (first: documents[{empty[0]}]); their vectors are "
                          "zeros")
            return found
        return encode(texts, how, tokenizer=self.tokenizer, threads=self.threads, batch_size=batch_size, progress=progress, label=self.name)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256, progress: bool = False) -> np.ndarray:
        """Vectors of texts, (n, dim) float32, as `infer` finds them by the settings; the `Encoder` contract. Raises as `infer`."""
        return self.infer(texts, batch_size=batch_size, progress=progress)

    # -------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the model into a folder, from which training can go on. Raises NotFittedError, OSError, TypeError (a function as tokenizer)."""
        from ..text.string_table import Strings

        self._check_fitted("vectors_")
        strings = Strings.of(self.vectors_.tokens)
        arrays = {"words": self.vectors_.matrix, "edge": self._edge, "documents": self.document_vectors_.matrix, "outputs": self.output_,
                  "counts": self.counts_, "history": self.history_, "token_bytes": strings.arena, "token_offsets": strings.offsets}
        settings = {name: value.item() if isinstance(value, np.generic) else value for name, value in self.get_params().items()}
        tokenizer = plain_tokenizer(settings.pop("tokenizer"))
        save_model(path, "Doc2Vec", settings=settings, arrays=arrays | packed_labels(self.document_vectors_.labels),
                   extra={"run": self._run.saved(), "tokenizer": tokenizer})

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a model that `save` wrote. Raises FileNotFoundError, DamagedFile, ValueError (a newer format)."""
        settings, arrays, extra = load_model(path, "Doc2Vec")
        try:
            model = cls(**settings, tokenizer=None if extra["tokenizer"] is None else Tokenizer(**extra["tokenizer"]))
            model._check_settings()
            model._restore(path, arrays)
            model._run = Run.loaded(extra["run"], model.history_)
        except DamagedFile:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(f"{path} is a Doc2Vec that this version cannot read ({error}). Save the model again") from error
        return model

    def _restore(self, path: str | os.PathLike, arrays: dict[str, np.ndarray]) -> None:
        """What was learned, from the arrays of a file."""
        from ..counts.encoding import loaded_array
        from ..text.string_table import Strings

        tokens = Strings.checked(arrays["token_bytes"], arrays["token_offsets"], name="token_offsets").to_list()
        labels, n = unpacked_labels(arrays), len(tokens)
        shapes = {"words": (n, self.dim), "edge": (1, self.dim), "documents": (len(labels), self.dim),
                  "outputs": (n - self._tree, int(self.dim) * self._parts)}
        *rows, outputs = (loaded_array(path, arrays, name, shape=shape) for name, shape in shapes.items())
        self._own(tokens, labels, np.concatenate(rows), outputs)
        self.counts_, self.history_ = loaded_array(path, arrays, "counts", shape=(n,), kind="i"), arrays["history"]


def _fingerprint(reading: Reading, tagging: Tagging) -> str:
    return fingerprint(reading.offsets, reading.words, tagging.rows, tagging.offsets)
