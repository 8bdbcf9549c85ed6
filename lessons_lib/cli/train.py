"""``lessons train …``: word vectors, topics, a sentence encoder, the course's own vectors."""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..core import PROJECT, check_int
from .contrastive import COMMANDS
from .count import Scheduler, Workers, sharded, texts_of
from .options import Out, Resume, declared_settings, option, unchanged, unset, with_settings
from .training import Stopped, check_run, finished, read_texts, train

__all__ = ["train_app"]

OF_FILES = ("dtype", "bytes", "sha256", "files", "sums")     # what a card says of its files

WORDS = {"word2vec": ("Word2Vec", "Train skip-gram or CBOW."),
         "glove": ("GloVe", "Train GloVe: count pairs, then factorise their logarithms."),
         "fasttext": ("FastText", "Train fastText: words are made of parts, so that unknown ones "
                      "have vectors too.")}


class Methods(TyperGroup):
    """The commands of ``train``. Those of words and topics have the options that their methods
    declare, so a method is imported when it is asked for, and not by every other command."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return [*WORDS, "lda", *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command."""
        if cmd_name not in WORDS and cmd_name != "lda":
            return super().get_command(ctx, cmd_name)
        alone = typer.Typer(add_completion=False)
        alone.command(cmd_name)(_topic_command() if cmd_name == "lda"
                                else _word_command(*WORDS[cmd_name]))
        return typer.main.get_command(alone)


train_app = typer.Typer(cls=Methods, no_args_is_help=True, help="Train word vectors, or a sentence "
                        "encoder. Ctrl-C keeps what was learned, --resume goes on.")


def _word_command(kind: str, summary: str) -> Any:
    from ..words.saved import METHODS

    method = getattr(importlib.import_module(f"..words.{METHODS[kind]}", __package__), kind)

    def run(sources: Annotated[list[str], typer.Argument(
                help="text files with one document in a line, or names of datasets",
                metavar="TEXTFILE|DATASET…")], *, out: Out,
            encoding: Annotated[str, option("of the text files")] = "utf-8",
            resume: Resume = False, **settings: Any) -> None:
        from ..text import Corpus

        began, fresh = time.monotonic(), method(**settings, progress=True)
        fresh._check_settings()                   # before the text is read, which may take minutes
        texts = read_texts(sources, encoding=encoding)
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            _together(kind, fresh, texts, out, resume, began, settings)
            return
        fitted, _ = train(fresh, out, lambda folder: Corpus.from_texts(
            texts, min_count=fresh.min_count, folder=folder), resume=resume, given=settings)
        print(finished(fitted, out, began))

    run.__doc__ = summary
    return with_settings(run, declared_settings(method, without=["progress"]))


def _together(kind: str, model: Any, texts: Any, out: Path, resume: bool, began: float,
              given: Any) -> None:
    """Train with the other processes that torchrun started; the first one writes the folder, after
    each epoch.
    """
    from ..contextual.ranks import joined, together
    from ..text import Corpus

    if kind != "Word2Vec":
        raise ValueError(f"{kind} runs in one process; torchrun trains word2vec. Leave torchrun "
                         "out")
    from ..words.rotated import train_rotated

    check_run(out, resume)
    if resume:
        model = unchanged(type(model).load(out), given, out)
        model.set_params(progress=True)
    corpus = Corpus.from_texts(texts, min_count=model.min_count)
    with joined("cpu") as ranks, together(ranks):
        leader = ranks.rank == 0
        train_rotated(model, corpus, resume=resume,
                      on_epoch=lambda model: leader and model.save(out))
        if leader:
            model.save(out)
            print(finished(model, out, began))


def _topic_command() -> Any:
    from ..topics import OnlineLDA

    def run(sources: Annotated[list[str], typer.Argument(
                help="text files with one document in a line, or names of datasets",
                metavar="TEXTFILE|DATASET…")], *, out: Out,
            min_count: Annotated[int, option("leave out words that are rarer")] = 5,
            encoding: Annotated[str, option("of the text files")] = "utf-8",
            resume: Resume = False, scheduler: Scheduler = None, workers: Workers = None,
            **settings: Any) -> None:
        """Train topics by online LDA; with --scheduler or --workers many documents at a time."""
        from ..text import Corpus
        from ..text.sharded_corpus import corpus_in_shards

        began, model = time.monotonic(), OnlineLDA(**settings, progress=True)
        model._check_settings()                   # before the text is read, which may take minutes
        check_run(out, resume)
        if resume:
            model = unchanged(OnlineLDA.load(out), settings, out, free=("n_epochs", "threads"))
            model.set_params(progress=True)
        left = model.n_epochs - (len(model.bound_) if resume else 0)
        with sharded(scheduler, workers) as client:
            corpus_of = Corpus.from_texts if client is None else corpus_in_shards
            corpus = corpus_of(texts_of(sources, encoding, client), min_count=min_count)
            model.over(client)
            try:
                if not resume:
                    model.fit(corpus, on_epoch=lambda model: model.save(out))
                elif left > 0:
                    model.resume(corpus, n_epochs=left, on_epoch=lambda model: model.save(out))
            except KeyboardInterrupt:
                if not hasattr(model, "tokens_"):
                    raise
                done = len(model.bound_)
                if not done:                      # else the whole epochs are in the folder
                    model.save(out)
                raise Stopped(f"stopped in epoch {done + 1} of {model.n_epochs}; what was learned "
                              f"is in {out}. Go on: the same command with --resume") from None
        model.save(out)
        for number, words in enumerate(model.top_words(6)):
            print(f"topic {number}: {' '.join(words)}")
        print(f"{out}: {model.n_topics} topics of {len(model.tokens_):,} words, "
              f"{time.monotonic() - began:.0f} s")

    return with_settings(run, declared_settings(OnlineLDA, without=["progress"]))


@train_app.command("course-vectors")
def course_vectors(
    *, model: Annotated[str, option("skip-gram or glove")] = "skip-gram",
    out: Annotated[Path, option("data folder to write into")] = PROJECT / "data",
    work: Annotated[Path | None, unset("folder of the run; default: in the cache")] = None,
    shards: Annotated[int, option("how many of the five parts of Wikipedia, for a trial")] = 5,
    threads: Annotated[int, option("threads")] = 1,
    seed: Annotated[int, option("decides every draw")] = 0,
    resume: Resume = False,
) -> None:
    """Train the vectors that come with the course, measure them, and write them with their card
    (needs the dataset wiki).
    """
    from .course_vectors import make_course_vectors

    for line in make_course_vectors(model, out, work, shards=list(
            range(check_int("shards", shards, high=5))), threads=threads, seed=seed, resume=resume):
        print(line)


@train_app.command("compact")
def compact(folder: Annotated[Path, typer.Argument(help="of an encoder that was trained")],
            *, out: Out) -> None:
    """Write a trained encoder in few bits, to be handed on: a network in float16, a bag in 8 bits.
    """
    from ..contextual import load_encoder
    from ..contextual.folders import save_encoder

    encoder = load_encoder(folder, device="cpu", precision="float32")
    card = {name: value for name, value in (encoder.card or {}).items() if name not in OF_FILES}
    save_encoder(out, encoder, card=card, compact=True)
    megabytes = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6
    print(f"{out}: {encoder.dim} numbers a vector, {megabytes:.1f} MB. Measure: lessons evaluate "
          f"{out}")


for name, command in COMMANDS.items():
    train_app.command(name)(command)
