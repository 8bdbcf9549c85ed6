"""Makes the course's own vectors: trains, keeps the most frequent words, measures, and writes
vectors, card and frequencies.

What is measured is what is written: the numbers of the card are those of the vectors in 8 bits of
the 50,000 words. Of STS-B only the dev part is asked.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import __version__
from ..core import DataMissing, DataWarning, cache_folder, device_report
from .training import finished, train

__all__ = ["make_course_vectors"]

WORD_SETS = ("wordsim353", "simlex999", "men", "rareword", "rg65")
PAIR_SETS = (("course-sts", "dev"), ("stsb", "dev"))


def make_course_vectors(model: str, out: Path, work: Path | None, *, shards: list[int],
                        threads: int, seed: int, resume: bool) -> Iterator[str]:
    """Train one of the two models and write its files into a data folder; yields what there is to
    say.

    Parameters: model, "skip-gram" or "glove"; out, the data folder; work, the folder of the run,
    None for one in the cache. Raises as `train`.
    """
    from ..datasets import load
    from ..vectors import read_compact, write_compact
    from ..words.course_vectors import (
        course_corpus,
        course_files,
        course_method,
        most_frequent,
        write_frequencies,
    )

    began, files = time.monotonic(), course_files(model)
    work = work or cache_folder() / "training" / f"course-{model}-{len(shards)}-{seed}"
    load("wiki", shards=shards)  # missing text is told before anything else
    method = course_method(model, seed=seed, threads=threads, progress=True)
    method, corpus = train(method, work, lambda folder: course_corpus(shards=shards, folder=folder),
                           resume=resume, given={"seed": seed, "threads": threads})
    about = _about(method, corpus, shards=shards,
                   seconds=None if resume else round(time.monotonic() - began))
    vectors = most_frequent(method.vectors_, name=f"course vectors, {model}")
    write_compact(vectors, out / files[0], about, bits=8)
    about["quality"] = measured(read_compact(out / files[0]))
    write_compact(vectors, out / files[0], about, bits=8)
    write_frequencies(corpus, out / "vectors" / "frequencies.tsv")
    yield finished(method, work, began)
    yield from (f"written: {out / name}" for name in (*files, "vectors/frequencies.tsv"))


def _about(method: Any, corpus: Any, *, shards: list[int], seconds: int | None) -> dict[str, Any]:
    """The part of a card that is known before the vectors are measured."""
    from ..datasets import checksum_of, registered

    machine = device_report(packages=("numpy", "numba"))
    settings = {name: value for name, value in method.get_params().items() if name != "progress"}
    files = [registered("wiki").files[i] for i in shards]
    data = {"dataset": "wiki", "files": {file.path: checksum_of(file) for file in files},
            "documents": len(corpus), "tokens": corpus.n_tokens,
            "distinct words": len(corpus.vocabulary),
            "words": "runs of letters, digits and underscores, lower-cased (Tokenizer()), in "
                     "articles; rarer than 10 left out"}
    return {"method": type(method).__name__, "settings": settings, "data": data,
            "history": [round(float(loss), 5) for loss in method.history_], "seconds": seconds,
            "licence": "MIT, as the project; trained on text of Wikipedia (CC BY-SA 3.0)",
            "library": __version__,
            "device": f"{machine.system}, {machine.cores} cores, Python {machine.python}",
            "versions": machine.versions,
            "limits": "English words of an encyclopedia of 2015, lower-cased; one vector for all "
                      "senses of a word; the text's biases are in them."}


def measured(vectors: Any) -> dict[str, Any]:
    """Scores of word vectors, for a card: word similarity and analogies, and the mean of vectors on
    dev parts of graded sentence pairs.

    A set that is not on this machine is left out.
    """
    from .. import evaluation
    from ..sentences import MeanEncoder

    sets = [words for name in WORD_SETS if (words := _at_hand(name)) is not None]
    pairs = {f"{name} {split}, mean of vectors": record for name, split in PAIR_SETS
             if (record := _at_hand(name, split)) is not None}
    scores: dict[str, Any] = evaluation.word_report(vectors, sets=sets, bootstrap=0).summary()
    with warnings.catch_warnings():
        # a sentence without a known word is a zero vector, and is counted as such
        warnings.simplefilter("ignore", DataWarning)
        results = evaluation.evaluate(MeanEncoder(vectors), pairs, bootstrap=0)
    return scores | {name: {"spearman": round(result.spearman, 4)}
                     for name, result in results.items()}


def _at_hand(name: str, split: str | None = None) -> Any:
    """A dataset, None where it is not on this machine."""
    from ..datasets import load

    try:
        return load(name, split)
    except DataMissing:
        return None
