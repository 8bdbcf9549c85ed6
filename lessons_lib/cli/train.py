"""``lessons train …``: learn word vectors or a sentence encoder from files or datasets, and make
the course's own vectors again.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import PROJECT, check_int
from .contrastive import cosent, sbert, simcse
from .training import finished, read_texts, train

__all__ = ["train_app"]

train_app = typer.Typer(help="Train word vectors, or a sentence encoder. Ctrl-C keeps what was "
                             "learned, --resume goes on.", no_args_is_help=True)

Sources = Annotated[
    list[str],
    typer.Argument(help="text files with one document in a line, or "
                   "names of datasets", metavar="TEXTFILE|DATASET…")]
Out = Annotated[Path, typer.Option(help="folder of the model; made if need be")]
Resume = Annotated[bool, typer.Option("--resume", help="go on with the run in the folder")]
Encoding = Annotated[str, typer.Option(help="of the text files")]
Dim = Annotated[int | None, typer.Option(help="numbers per vector")]
Window = Annotated[int | None, typer.Option(help="words to each side")]
MinCount = Annotated[int | None, typer.Option(help="leave out words that occur less often")]
Epochs = Annotated[int | None, typer.Option(help="passes over the text, or over its counts")]
Rate = Annotated[float | None, typer.Option(help="at the beginning")]
Seed = Annotated[int | None, typer.Option(help="decides every draw")]
Threads = Annotated[int | None, typer.Option(help="equal settings give equal bits with any one "
                                                  "number of them")]
Architecture = Annotated[str | None, typer.Option(help="skip_gram or cbow")]
Objective = Annotated[str | None, typer.Option(help="negative_sampling or hierarchical_softmax")]
Negatives = Annotated[int | None, typer.Option(help="noise words of a window")]
Sample = Annotated[float | None, typer.Option(help="threshold of subsampling; 0: none")]


@train_app.command("word2vec")
def word2vec(sources: Sources, *, out: Out, architecture: Architecture = None,
             objective: Objective = None, dim: Dim = None, window: Window = None,
             negatives: Negatives = None, min_count: MinCount = None, sample: Sample = None,
             epochs: Epochs = None, learning_rate: Rate = None, threads: Threads = None,
             seed: Seed = None, encoding: Encoding = "utf-8", resume: Resume = False) -> None:
    """Train skip-gram or CBOW."""
    _train("Word2Vec", sources, out, encoding, resume, architecture=architecture,
           objective=objective, dim=dim, window=window, negatives=negatives, min_count=min_count,
           sample=sample, epochs=epochs, learning_rate=learning_rate, threads=threads, seed=seed)


@train_app.command("glove")
def glove(sources: Sources, *, out: Out, dim: Dim = None, window: Window = None,
          x_max: Annotated[float | None,
                           typer.Option(help="count from which a pair weighs "
                                        "1")] = None,
          exponent: Annotated[float | None,
                              typer.Option(help="of the weight of rarer "
                                           "pairs")] = None, min_count: MinCount = None,
          epochs: Epochs = None, learning_rate: Rate = None, threads: Threads = None,
          seed: Seed = None, encoding: Encoding = "utf-8", resume: Resume = False) -> None:
    """Train GloVe: count pairs, then factorise their logarithms."""
    _train("GloVe", sources, out, encoding, resume, dim=dim, window=window, x_max=x_max,
           exponent=exponent, min_count=min_count, epochs=epochs, learning_rate=learning_rate,
           threads=threads, seed=seed)


@train_app.command("fasttext")
def fasttext(sources: Sources, *, out: Out, architecture: Architecture = None,
             objective: Objective = None, dim: Dim = None, window: Window = None,
             min_n: Annotated[int | None,
                              typer.Option(help="letters of the shortest parts of "
                                           "words")] = None,
             max_n: Annotated[int | None, typer.Option(help="letters of the longest")] = None,
             buckets: Annotated[int | None,
                                typer.Option(help="numbers that parts of words are "
                                             "hashed to")] = None, negatives: Negatives = None,
             min_count: MinCount = None, sample: Sample = None, epochs: Epochs = None,
             learning_rate: Rate = None, threads: Threads = None, seed: Seed = None,
             encoding: Encoding = "utf-8", resume: Resume = False) -> None:
    """Train fastText: words are made of parts, so that unknown ones have vectors too."""
    _train("FastText", sources, out, encoding, resume, architecture=architecture,
           objective=objective, dim=dim, window=window, min_n=min_n, max_n=max_n, buckets=buckets,
           negatives=negatives, min_count=min_count, sample=sample, epochs=epochs,
           learning_rate=learning_rate, threads=threads, seed=seed)


def _train(kind: str, sources: list[str], out: Path, encoding: str, resume: bool,
           **settings: Any) -> None:
    from ..text import Corpus
    from ..words.saved import METHODS

    began, given = time.monotonic(), {
        name: value for name, value in settings.items() if value is not None
    }
    method = getattr(importlib.import_module(f"..words.{METHODS[kind]}", __package__),
                     kind)(**given, progress=True)
    method._check_settings()  # before the text is read, which may take minutes
    texts = read_texts(sources, encoding=encoding)
    def make(folder):
        return Corpus.from_texts(texts, min_count=method.min_count, folder=folder
                                                )
    method, _ = train(method, out, make, resume=resume, given=given)
    print(finished(method, out, began))


@train_app.command("course-vectors")
def course_vectors(*, model: Annotated[str, typer.Option(help="skip-gram or glove")] = "skip-gram",
                   out: Annotated[Path, typer.Option(help="data folder to write into")] = PROJECT /
                   "data",
                   work: Annotated[Path | None,
                                   typer.Option(help="folder of the run; default: in "
                                                "the cache", show_default=False)] = None,
                   shards: Annotated[int,
                                     typer.Option(help="how many of the five parts of "
                                                  "Wikipedia, for a trial")] = 5,
                   threads: Annotated[int, typer.Option(help="threads")] = 1,
                   seed: Annotated[int, typer.Option(help="decides every draw")] = 0,
                   resume: Resume = False) -> None:
    """Train the vectors that come with the course, measure them, and write them with their card
    (needs the dataset wiki).
    """
    from .course_vectors import make_course_vectors

    for line in make_course_vectors(model, out, work, shards=list(
            range(check_int("shards", shards, high=5))), threads=threads, seed=seed, resume=resume):
        print(line)


for command in (simcse, sbert, cosent):
    train_app.command()(command)
