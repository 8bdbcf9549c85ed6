"""A training run that survives Ctrl-C: what was learned is in the folder after each epoch and when
it stops, and ``--resume`` goes on.

The encoded corpus lies in the folder, too, until the run is finished, so that going on begins at
once and with the same text.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .options import unchanged, unknown_source

__all__ = ["Stopped", "check_run", "finished", "read_texts", "train"]

CORPUS = "corpus"


class Stopped(Exception):
    """Ctrl-C: says how far the run came, and how it goes on."""


def read_texts(sources: Iterable[str], *, encoding: str = "utf-8") -> Iterator[str]:
    """The texts of files, one in a line, and of datasets by name, one after the other.

    Every source is looked up before the first text is read. Raises FileNotFoundError (neither a
    file nor a dataset), ValueError (a dataset without texts), DataMissing.
    """
    from ..datasets import dataset_names, load
    from ..text.corpus import line_batches

    def lines(path: Path) -> Iterator[str]:
        return (line for batch in line_batches(path, encoding=encoding) for line in batch)

    parts: list[Iterable[str]] = []
    for source in sources:
        if Path(source).exists():
            parts.append(lines(Path(source)))
            continue
        if source not in dataset_names():
            raise unknown_source(source, dataset_names())
        texts = getattr(load(source), "texts", None)
        if texts is None:
            raise ValueError(f"{source} holds no texts; expected documents, such as "
                             "wikipedia-sample, or a text file with one document in a line")
        parts.append(texts)
    return (text for part in parts for text in part)


def check_run(out: Path, resume: bool, *, encoded: bool = False) -> None:
    """Raise ValueError where a folder holds a model already, or none to go on with."""
    there = (out / "model.json").exists()
    if there and not resume:
        raise ValueError(f"{out} holds a model already; --resume goes on with it, another --out "
                         "begins anew")
    if resume and not (there or encoded):
        raise ValueError(f"{out} holds no run to go on with; leave --resume out to begin")


def train(method: Any, out: Path, make_corpus: Callable[[Path], Any], *, resume: bool = False,
          given: Mapping[str, Any] | None = None) -> tuple[Any, Any]:
    """Fit a method, or go on with the run in the folder ``out``. Returns the method and its corpus.

    ``make_corpus`` is called with the folder where the corpus is to lie; ``given`` are the settings
    that were asked for, which an earlier run must share. Raises ValueError (the folder holds a run
    already, or none to go on with, or one with other settings), Stopped, and what the method
    raises; what was learned is saved each time.
    """
    from ..text import Corpus

    there, encoded = ((folder / "model.json").exists() for folder in (out, out / CORPUS))
    check_run(out, resume, encoded=encoded)
    if there:
        method = unchanged(type(method).load(out), given or {}, out)
    try:
        load = Corpus.load if resume and encoded else make_corpus
        corpus = load(out / CORPUS)
        (method.resume if there else method.fit)(corpus, on_epoch=lambda model: model.save(out))
    except BaseException as error:
        learned, stopped = hasattr(method, "vectors_"), isinstance(error, KeyboardInterrupt)
        # a run that went wrong at once left nothing worth keeping
        if learned and (stopped or len(getattr(method, "history_", ()))):
            method.save(out)
        if not stopped:
            raise
        if learned:
            how_far = (f"stopped in epoch {len(method.history_) + 1} of {method.epochs}; what was "
                       f"learned is in {out}. Go on: the same command with --resume")
        else:
            spared = (out / CORPUS / "model.json").exists()
            again = ("--resume spares reading the text again" if spared
                     else "run the same command again")
            how_far = f"stopped before anything was learned; {again}"
        raise Stopped(how_far) from None
    method.save(out)
    return method, corpus


def finished(method: Any, out: Path, began: float) -> str:
    """What a run that ``began`` then came to; the encoded corpus is taken away."""
    shutil.rmtree(out / CORPUS, ignore_errors=True)
    loss = f", loss {method.history_[-1]:.4g}" if len(method.history_) else ""
    return (f"{out}: {len(method.vectors_):,} words x {method.vectors_.dim}{loss}, "
            f"{time.monotonic() - began:.0f} s. Measure: lessons evaluate {out}")
