"""``lessons encode`` and ``lessons evaluate``: texts into vectors, an encoder into scores."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import DataWarning, check_choice, output_folder, shown
from .count import Scheduler, Workers, sharded
from .options import option, unset
from .show import show_table
from .training import Stopped, read_texts

__all__ = ["check_model", "contextual_encoder", "encode", "encoder_named", "evaluate", "names_in",
           "word_vectors"]

VECTOR_SETS = ("course-vectors", "glove-sample", "glove-6b-50d", "glove-6b-100d")


def encode(
    encoder: Annotated[str, typer.Argument(help="as in `lessons evaluate`: a name, the folder of a "
                                           "model, or word vectors")],
    texts: Annotated[list[str],
                     typer.Argument(help="text files (one text in a line) or datasets of texts")],
    out: Annotated[Path, option("the file, ending in .npy")],
    batch_size: Annotated[int, option("texts at a time")] = 256,
    encoding: Annotated[str, option("of the text files")] = "utf-8",
    scheduler: Scheduler = None, workers: Workers = None,
) -> None:
    """Write the vectors of texts into a .npy file, a row per text.

    Ctrl-C keeps what is done; the same command goes on.
    """
    from ..contextual import encode_to

    encodes = encoder_named(encoder)
    try:
        with sharded(scheduler, workers) as client:
            vectors = encode_to(encodes, out, read_texts(texts, encoding=encoding),
                                batch_size=batch_size, progress=sys.stderr.isatty(), client=client)
    except KeyboardInterrupt:
        raise Stopped(f"stopped; what was encoded is kept beside {out}. Go on: the same "
                      "command") from None
    print(f"{out}: {vectors.shape[0]:,} texts x {vectors.shape[1]} by {encodes.name}")


def evaluate(
    encoder: Annotated[str, typer.Argument(
        help="one-hot, bag of words, TF-IDF, BM25, char n-grams or LSA; mean-, tfidf-, sif- or "
             "usif-course, -course-glove, -glove-sample, -glove-6b-50d or -glove-6b-100d; "
             "lesson-bert, lesson-bert-random or minilm; the folder of a model, also one of "
             "sentence-transformers; or word vectors: a file, the folder of a trained model, "
             "course-vectors, glove-sample, glove-6b-50d or glove-6b-100d")],
    on: Annotated[str, option("datasets of sentence pairs, or of questions (course-questions, "
                              "scifact, cranfield), separated by commas")] = "course-sts",
    protocol: Annotated[
        str, option("all, mean or wmean: how subsets of one set are put together")] = "all",
    words: Annotated[str,
                     option("for word vectors: datasets of word pairs")] = "wordsim353,simlex999",
    model: Annotated[str | None, unset("of course-vectors: skip-gram or glove")] = None,
    mteb: Annotated[bool, option("by MTEB, too, on the same pairs, whose JSON goes to your output "
                                 "folder", "--mteb")] = False,
) -> None:
    """Measure an encoder on sentence pairs (Spearman x 100 with its 95 % interval) or on questions
    (nDCG@10 x 100), and word vectors on word pairs and analogies, too.
    """
    from .. import datasets, evaluation, sentences

    check_choice("protocol", protocol, ("all", "mean", "wmean"))
    check_model(encoder, model)
    if mteb and protocol != "all":
        raise ValueError(f"--mteb with --protocol {protocol}: MTEB takes all pairs of a set "
                         "together; leave --protocol out")
    if mteb:
        from ..evaluation.mteb_run import check_package

        check_package()
    # before the encoder's seconds
    wanted = names_in("on", on)
    asked = {name: evaluation.question_set(name) for name in wanted
             if name in evaluation.QUESTION_SETS}
    sets = {name: datasets.load(name) for name in wanted if name not in asked}
    if (encodes := _encoder_of(encoder)) is not None:
        _measure(encoder, encodes, sets, asked, protocol=protocol, mteb=mteb)
        return
    vectors = word_vectors(encoder, model)
    report = evaluation.word_report(
        vectors, sets=[datasets.load(name) for name in names_in("words", words)])
    title = f"{encoder}{f' ({model})' if model else ''}: {report.n_words:,} words x {report.dim}"
    show_table(title, list(report.HEADER), [list(row) for row in report.rows()],
               right=report.HEADER[1:])
    with warnings.catch_warnings():
        # the mean of a text without a known word is a zero vector
        warnings.simplefilter("ignore", DataWarning)
        _measure("mean of word vectors", sentences.MeanEncoder(vectors), sets, asked,
                 protocol=protocol, mteb=mteb)


def _measure(name: str, encoder: Any, sets: dict, asked: dict, *, protocol: str,
             mteb: bool) -> None:
    """Tables of an encoder's scores: on pairs, on questions, and by MTEB."""
    from .. import evaluation

    pairs = evaluation.evaluate(encoder, sets, protocol=protocol) if sets else {}
    answers = {on: evaluation.evaluate_retrieval(encoder, asked[on]) for on in asked}
    if pairs:
        _show_pairs(name, protocol, pairs)
    if answers:
        _show_questions(name, answers)
    if mteb:
        ours = {on: r.spearman for on, r in pairs.items()} | {on: r.ndcg for on, r in
                                                             answers.items()}
        _show_mteb(encoder, sets, asked, ours)


def names_in(option: str, listed: str) -> list[str]:
    """The datasets that an option lists, separated by commas. Raises ValueError for none."""
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if not names:
        raise ValueError(f"--{option} {listed!r} names no dataset; expected one or more, separated "
                         "by commas. `lessons data list` names them")
    return names


def check_model(encoder: str, model: str | None) -> None:
    """Raise ValueError for a choice of vectors where there is none."""
    if model is not None and encoder != "course-vectors":
        raise ValueError(f"--model {model} with {shown(encoder)}: only course-vectors has several "
                         "models. Leave --model out")


def encoder_named(source: str) -> Any:
    """An encoder by name or folder, or the mean of word vectors. Raises ValueError for neither."""
    from ..sentences import MeanEncoder

    return _encoder_of(source) or MeanEncoder(word_vectors(source))


def _encoder_of(source: str) -> Any:
    """The encoder of a name, or of the folder of a contextual model; None for what is neither."""
    from .. import contextual, counts, sentences
    from ..contextual import hub_folder

    for known in (counts, sentences, contextual):
        if source in known.NAMED:
            return known.named_encoder(source)
    folder = Path(source)
    lists_modules = os.path.lexists(folder / "modules.json")
    if lists_modules and hub_folder.needs_package(folder):
        return hub_folder.load_sentence_transformer(folder)
    if lists_modules or (folder / "config.json").is_file():
        return contextual.load_encoder(folder)
    return None


def contextual_encoder(source: str) -> Any:
    """A contextual model by name or folder, in float32 on the CPU. Raises ValueError for others."""
    from .. import contextual

    if source in contextual.NAMED:
        return contextual.load_encoder(source, device="cpu")
    if not (Path(source) / "config.json").is_file():
        raise ValueError(f"encoder={shown(source)} is no contextual model; expected "
                         f"{', '.join(contextual.NAMED)} or the folder of one. Word vectors go "
                         "out with --to word2vec or --to glove")
    return contextual.load_encoder(Path(source), device="cpu")


def word_vectors(source: str, model: str | None = None) -> Any:
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


def _show_questions(encoder: str, results: dict[str, Any]) -> None:
    columns = ["dataset", "questions", "nDCG@10", "95 % interval", "recall@10", "MRR@10", "seconds"]
    rows = [[name, r.n_questions, f"{100 * r.ndcg:.2f}",
             f"{100 * r.ndcg_interval[0]:.1f} to {100 * r.ndcg_interval[1]:.1f}",
             f"{100 * r.recall:.2f}", f"{100 * r.mrr:.2f}", f"{r.seconds:.2f}"]
            for name, r in results.items()]
    show_table(f"{encoder}, passages that answer a question", columns, rows,
               right=tuple(columns[1:]))


def _show_mteb(encoder: Any, sets: Any, asked: Any, ours: dict[str, float]) -> None:
    """MTEB's scores beside ours, and where its JSON lies."""
    from ..evaluation.mteb_run import mteb_scores

    folder = output_folder() / "mteb"
    rows = [[name, "nDCG@10" if name in asked else "Spearman", f"{100 * score:.2f}",
             f"{100 * ours[name]:.2f}"]
            for name, score in mteb_scores(encoder, sets, folder, questions=asked).items()]
    show_table("The same texts by MTEB", ["dataset", "score", "MTEB", "ours"], rows,
               right=("MTEB", "ours"))
    print(f"{folder}: MTEB's JSON, marked as no official run")
