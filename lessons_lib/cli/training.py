"""A training run that survives Ctrl-C: what was learned is in the folder after each epoch and when
it stops, and ``--resume`` goes on.

The numbered text lies in the folder, too, until the run is finished, so that going on begins at
once and with the same text.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core import nearest_name, shown

__all__ = ["Stopped", "finished", "read_texts", "train"]

CORPUS = "corpus"


class Stopped(Exception):
    """Ctrl-C: says how far the run came, and how it goes on."""


def read_texts(sources: Iterable[str], *, encoding: str = "utf-8") -> Iterator[str]:
    """The texts of files, one in a line, and of datasets by name, one after the other.

    Every source is looked up before the first text is read. Raises FileNotFoundError (neither a
    file nor a dataset), ValueError (a dataset without texts), DataMissing.
    """
    from ..datasets import dataset_names, load
    from ..text.lines import line_batches

    def lines(path: Path) -> Iterator[str]:
        return (line for batch in line_batches(path, encoding=encoding) for line in batch)

    found: list[Iterable[str]] = []
    for source in sources:
        if Path(source).exists():
            found.append(lines(Path(source)))
            continue
        if source not in dataset_names():
            near = nearest_name(source, dataset_names())
            raise FileNotFoundError(f"{shown(source)} is neither a file nor a "
                                    f"dataset{f'; did you mean {near!r}?' if near else ''}; "
                                    "`lessons data list` names the datasets")
        texts = getattr(load(source), "texts", None)
        if texts is None:
            raise ValueError(f"{source} holds no texts; expected documents, such as "
                             "wikipedia-sample, or a text file with one document in a line")
        found.append(texts)
    return (text for part in found for text in part)


def train(method: Any, out: Path, make_corpus: Callable[[Path], Any], *, resume: bool = False,
          given: Iterable[str] = ()) -> tuple[Any, Any]:
    """Fit a method, or go on with the run that a folder holds. Returns the method and its corpus.

    Parameters: method, with ``fit``, ``resume`` and ``save``; out, the folder; make_corpus, called
    with the folder where the corpus is to lie; resume, go on; given, names of settings that were
    asked for, which an earlier run must share. Raises ValueError (the folder holds a run already,
    or none to go on with, or one with other settings), Stopped, and what the method raises; what
    was learned is saved each time.
    """
    from ..text import Corpus

    there = (out / "model.json").exists()
    if there and not resume:
        raise ValueError(f"{out} holds a model already; --resume goes on with it, another --out "
                         "begins anew")
    if resume and not (there or (out / CORPUS / "model.json").exists()):
        raise ValueError(f"{out} holds no run to go on with; leave --resume out to begin")
    if there:
        method = _same(method, out, given)
    try:
        corpus = Corpus.load(
            out /
            CORPUS) if resume and (out / CORPUS / "model.json").exists() else make_corpus(out /
                                                                                          CORPUS)
        (method.resume if there else method.fit)(corpus, on_epoch=lambda model: model.save(out))
    except KeyboardInterrupt:
        _keep(method, out)
        raise Stopped(_how_far(method, out)) from None
    except BaseException:
        # a run that went wrong at once left nothing worth keeping
        if len(getattr(method, "history_", ())):
            _keep(method, out)
        raise
    method.save(out)
    return method, corpus


def _keep(method: Any, out: Path) -> None:
    if hasattr(method, "vectors_"):
        method.save(out)


def _same(method: Any, out: Path, given: Iterable[str]) -> Any:
    """The method of a run that was begun before, which must be of the same kind and share the
    settings asked for.
    """
    before = type(method).load(out)
    for name in given:
        if getattr(before, name) != getattr(method, name):
            raise ValueError(f"{name}={shown(getattr(method, name))} cannot change on the way: the "
                             f"run in {out} has {getattr(before, name)}. "
                             "Leave it out, or begin anew with another --out")
    return before


def _how_far(method: Any, out: Path) -> str:
    if not hasattr(method, "vectors_"):
        again = "--resume spares reading the text again" if (
            out / CORPUS / "model.json").exists() else "run the same command again"
        return f"stopped before anything was learned; {again}"
    return (f"stopped in epoch {len(method.history_) + 1} of {method.epochs}; what was learned is "
            f"in {out}. Go on: the same command with --resume")


def finished(method: Any, out: Path, began: float) -> str:
    """What a run came to; the numbered text, which is not needed any more, is taken away.

    Parameters: began, by ``time.monotonic``.
    """
    shutil.rmtree(out / CORPUS, ignore_errors=True)
    loss = f", loss {method.history_[-1]:.4g}" if len(method.history_) else ""
    return (f"{out}: {len(method.vectors_):,} words x {method.vectors_.dim}{loss}, "
            f"{time.monotonic() - began:.0f} s. Measure: lessons evaluate {out}")
