"""``lessons encode`` and ``lessons evaluate``: texts into vectors, an encoder into scores."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import DataWarning, check_choice
from .options import option, unset
from .show import show_table
from .training import Stopped, read_texts

__all__ = ["encode", "evaluate"]

VECTOR_SETS = ("course-vectors", "glove-sample", "glove-6b-50d", "glove-6b-100d")


def encode(
    encoder: Annotated[str, typer.Argument(help="as in `lessons evaluate`: a name, the folder of a "
                                           "model, or word vectors")],
    texts: Annotated[list[str],
                     typer.Argument(help="text files (one text in a line) or datasets of texts")],
    out: Annotated[Path, option("the file, ending in .npy")],
    batch_size: Annotated[int, option("texts at a time")] = 256,
    encoding: Annotated[str, option("of the text files")] = "utf-8",
) -> None:
    """Write the vectors of texts into a .npy file, a row per text.

    Ctrl-C keeps what is done; the same command goes on.
    """
    from ..contextual import encode_to
    from ..sentences import MeanEncoder

    encodes = _encoder_of(encoder) or MeanEncoder(_word_vectors(encoder))
    try:
        vectors = encode_to(encodes, out, read_texts(texts, encoding=encoding),
                            batch_size=batch_size, progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        raise Stopped(f"stopped; what was encoded is kept beside {out}. Go on: the same "
                      "command") from None
    print(f"{out}: {vectors.shape[0]:,} texts x {vectors.shape[1]} by {encodes.name}")


def evaluate(
    encoder: Annotated[str, typer.Argument(
        help="one-hot, bag of words, TF-IDF, BM25, char n-grams or LSA; mean-, tfidf-, sif- or "
             "usif-course, -course-glove, -glove-sample, -glove-6b-50d or -glove-6b-100d; "
             "lesson-bert, lesson-bert-random or "
             "minilm; the folder of a BERT; or word vectors: a file, the folder of a trained "
             "model, course-vectors, glove-sample, glove-6b-50d or glove-6b-100d")],
    on: Annotated[str, option("datasets of sentence pairs, separated by commas")] = "course-sts",
    protocol: Annotated[
        str, option("all, mean or wmean: how subsets of one set are put together")] = "all",
    words: Annotated[str,
                     option("for word vectors: datasets of word pairs")] = "wordsim353,simlex999",
    model: Annotated[str | None, unset("of course-vectors: skip-gram or glove")] = None,
) -> None:
    """Measure an encoder on sentence pairs (Spearman x 100 with its 95 % interval), and word
    vectors on word pairs and analogies, too.
    """
    from .. import datasets, evaluation, sentences

    def names(listed: str) -> list[str]:
        return [name.strip() for name in listed.split(",") if name.strip()]

    check_choice("protocol", protocol, ("all", "mean", "wmean"))
    sets = {name: datasets.load(name) for name in names(on)}       # before the encoder's seconds
    if (encodes := _encoder_of(encoder)) is not None:
        _show_pairs(encoder, protocol, evaluation.evaluate(encodes, sets, protocol=protocol))
        return
    vectors = _word_vectors(encoder, model)
    report = evaluation.word_report(vectors, sets=[datasets.load(name) for name in names(words)])
    title = f"{encoder}{f' ({model})' if model else ''}: {report.n_words:,} words x {report.dim}"
    show_table(title, list(report.HEADER), [list(row) for row in report.rows()],
               right=report.HEADER[1:])
    with warnings.catch_warnings():
        # the mean of a text without a known word is a zero vector
        warnings.simplefilter("ignore", DataWarning)
        results = evaluation.evaluate(sentences.MeanEncoder(vectors), sets, protocol=protocol)
    _show_pairs("mean of word vectors", protocol, results)


def _encoder_of(source: str) -> Any:
    """The encoder of a name, or of the folder of a contextual model; None for what is neither."""
    from .. import contextual, counts, sentences

    for known in (counts, sentences, contextual):
        if source in known.NAMED:
            return known.named_encoder(source)
    is_model = (Path(source) / "config.json").is_file()
    return contextual.load_encoder(Path(source)) if is_model else None


def _word_vectors(source: str, model: str | None = None) -> Any:
    """Word vectors of a dataset, a file or a folder. Raises ValueError for a name of nothing."""
    from .. import contextual, counts, sentences
    from ..datasets import load
    from ..words.saved import load_vectors

    if source not in VECTOR_SETS and (Path(source).exists() or Path(source).name != source):
        return load_vectors(source)
    check_choice("encoder", source,
                 (*counts.NAMED, *sentences.NAMED, *contextual.NAMED, *VECTOR_SETS))
    return load(source) if model is None else load(source, model=model)


def _show_pairs(encoder: str, protocol: str, results: Any) -> None:
    columns = ["dataset", "pairs", "Spearman", "95 % interval", "Pearson", "alignment",
               "uniformity", "seconds"]
    rows = [[name, r.n_pairs, f"{100 * r.spearman:.2f}",
             f"{100 * r.interval[0]:.1f} to {100 * r.interval[1]:.1f}", f"{100 * r.pearson:.2f}",
             f"{r.alignment:.3f}", f"{r.uniformity:.3f}", f"{r.seconds:.2f}"]
            for name, r in results.items()]
    show_table(f"{encoder}, protocol {protocol}", columns, rows, right=tuple(columns[1:]))
