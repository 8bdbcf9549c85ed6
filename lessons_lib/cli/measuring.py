"""``lessons evaluate``: an encoder by name, or word vectors from wherever they lie, on graded pairs
of sentences and of words.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import DataWarning, check_choice
from .encoding import encoder_names, encoder_of
from .show import show_table

__all__ = ["evaluate", "word_vectors"]

VECTOR_SETS = ("course-vectors", "glove-sample")


def evaluate(
    encoder: Annotated[str,
                       typer.Argument(help="one-hot, bag of words, TF-IDF, BM25, "
                                      "char n-grams or LSA; mean-, tfidf-, sif- "
                                      "or "
                                      "usif-course, -course-glove or "
                                      "-glove-sample; lesson-bert, "
                                      "lesson-bert-random or minilm; "
                                      "the folder of a BERT; or word vectors: a "
                                      "file, the folder of a trained model, "
                                      "course-vectors or glove-sample")],
    on: Annotated[str, typer.Option(help="datasets of sentence pairs, separated by "
                                    "commas")] = "course-sts",
    protocol: Annotated[str,
                        typer.Option(help="all, mean or wmean: how subsets of one "
                                     "set are put together")] = "all",
    words: Annotated[str, typer.Option(help="for word vectors: datasets of word "
                                       "pairs")] = "wordsim353,simlex999",
    model: Annotated[str | None,
                     typer.Option(help="of course-vectors: skip-gram or "
                                  "glove", show_default=False)] = None
) -> None:
    """Measure an encoder on sentence pairs (Spearman x 100 with its 95 % interval), and word
    vectors on word pairs and analogies, too.
    """
    from .. import datasets, evaluation, sentences

    check_choice("protocol", protocol, ("all", "mean", "wmean"))
    # before the encoder takes its seconds
    sets = {name: datasets.load(name) for name in _names(on)}
    if (found := encoder_of(encoder)) is not None:
        _show_pairs(encoder, protocol, evaluation.evaluate(found, sets, protocol=protocol))
        return
    vectors = word_vectors(encoder, model)
    report = evaluation.word_report(vectors, sets=[datasets.load(name) for name in _names(words)])
    title = (f"{encoder}{'' if model is None else f' ({model})'}: {report.n_words:,} words x "
             f"{report.dim}")
    show_table(title, list(report.HEADER), [list(row) for row in report.rows()],
               right=report.HEADER[1:])
    with warnings.catch_warnings():
        # the mean of a text without a known word is a zero vector
        warnings.simplefilter("ignore", DataWarning)
        _show_pairs("mean of word vectors", protocol,
                    evaluation.evaluate(sentences.MeanEncoder(vectors), sets, protocol=protocol))


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def word_vectors(source: str, model: str | None) -> Any:
    """Word vectors of a dataset, a file or a folder. Raises ValueError for a name of nothing."""
    from ..datasets import load
    from ..words.saved import load_vectors

    if source not in VECTOR_SETS and (Path(source).exists() or Path(source).name != source):
        return load_vectors(source)
    check_choice("encoder", source, (*encoder_names(), *VECTOR_SETS))
    return load(source) if model is None else load(source, model=model)


def _show_pairs(encoder: str, protocol: str, results: Any) -> None:
    rows = [[
        name, r.n_pairs, f"{100 * r.spearman:.2f}", f"{100 * r.interval[0]:.1f} to "
        f"{100 * r.interval[1]:.1f}", f"{100 * r.pearson:.2f}", f"{r.alignment:.3f}",
        f"{r.uniformity:.3f}", f"{r.seconds:.2f}"
    ] for name, r in results.items()]
    columns = [
        "dataset", "pairs", "Spearman", "95 % interval", "Pearson", "alignment", "uniformity",
        "seconds"
    ]
    show_table(f"{encoder}, protocol {protocol}", columns, rows, right=tuple(columns[1:]))
