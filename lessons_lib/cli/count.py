"""``lessons count``: the counts of a text that many machines read, or one.

With ``--scheduler`` or ``--workers`` the shards of the text are counted by the workers of a Dask
cluster, and merged; the folder that is written is the same to the last byte. Taught in lesson
``02_bag_of_words``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import check_choice, check_int
from .options import Out, option, unknown_source, unset
from .training import read_texts

__all__ = ["Scheduler", "Workers", "count", "sharded"]

METHODS = ("bag-of-words", "tf-idf", "bm25", "inverted-index", "cooccurrence")

Scheduler = Annotated[str | None, unset("address of a Dask scheduler whose workers share the work; "
                                        "they read files under the same paths")]
Workers = Annotated[int | None, unset("share the work among so many processes of this machine")]


@contextmanager
def sharded(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A Dask client where one of the two options was given, else None."""
    if scheduler is None and workers is None:
        yield None
        return
    from ..text.shards import dask_client

    if scheduler is not None and workers is not None:
        raise ValueError(f"--scheduler {scheduler} with --workers {workers}: a scheduler has "
                         "workers of its own. Leave one of the two out")
    with dask_client(scheduler, workers=2 if workers is None else workers) as client:
        yield client


def texts_of(sources: list[str], encoding: str, client: Any) -> Iterable[str]:
    """The texts of the sources; with a client as shards: files are read by the workers, datasets
    travel. Raises as `read_texts`."""
    if client is None:
        return read_texts(sources, encoding=encoding)
    from ..datasets import dataset_names
    from ..text.shards import Shards

    for source in sources:
        if not Path(source).exists() and source not in dataset_names():
            raise unknown_source(source, dataset_names())
    parts = [part for source in sources for part in (
        Shards.of_file(source, client, encoding=encoding) if Path(source).exists()
        else Shards.of_texts(read_texts([source]), client)).parts]
    return Shards(parts, client)


def count(
    sources: Annotated[list[str], typer.Argument(
        help="text files with one document in a line, or names of datasets",
        metavar="TEXTFILE|DATASET…")],
    *, out: Out,
    method: Annotated[str, option(", ".join(METHODS))] = "bag-of-words",
    min_count: Annotated[int, option("leave out what is in fewer documents; for cooccurrence: "
                                     "rarer words")] = 1,
    longest: Annotated[int, option("words of the longest n-gram")] = 1,
    window: Annotated[int, option("of cooccurrence: words to either side")] = 15,
    weighting: Annotated[str, option("of cooccurrence: harmonic or uniform")] = "harmonic",
    encoding: Annotated[str, option("of the text files")] = "utf-8",
    scheduler: Scheduler = None, workers: Workers = None,
) -> None:
    """Count the words of a text, or pairs of neighbours, on one machine or many.

    The folder is read by the method's own `load`: counts.BagOfWords, TfIdf, BM25,
    search.InvertedIndex, counts.Cooccurrences (with its words in words.txt).
    """
    from ..counts.tally import fit_in_shards

    check_choice("method", method, METHODS)
    check_int("min_count", min_count)
    began = time.monotonic()
    with sharded(scheduler, workers) as client:
        texts = texts_of(sources, encoding, client)
        if method == "cooccurrence":
            said = _pairs(texts, client, out, min_count, window, weighting)
        else:
            model = _bag(method)(ngram_range=(1, check_int("longest", longest)), min_df=min_count)
            (model.fit(texts) if client is None else fit_in_shards(model, texts)).save(out)
            said = f"{model.dim:,} columns by {model.name}"
    print(f"{out}: {said}, {time.monotonic() - began:.0f} s")


def _bag(method: str) -> type:
    from .. import counts, search

    return {"bag-of-words": counts.BagOfWords, "tf-idf": counts.TfIdf, "bm25": counts.BM25,
            "inverted-index": search.InvertedIndex}[method]


def _pairs(texts: Any, client: Any, out: Path, min_count: int, window: int, weighting: str) -> str:
    from ..core import write_text
    from ..counts import Cooccurrences
    from ..text import Corpus
    from ..text.sharded_corpus import ShardedCorpus

    corpus = (Corpus.from_texts(texts, min_count=min_count) if client is None
              else ShardedCorpus.of(texts, min_count=min_count))
    counts = Cooccurrences.from_corpus(corpus, window, weighting=weighting, folder=out)
    write_text(out / "words.txt", "\n".join(corpus.vocabulary.tokens) + "\n")
    return f"{len(counts):,} pairs of {counts.n_words:,} words"
