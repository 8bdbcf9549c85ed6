"""``lessons pretrain``: number a text once, then train a LessonBERT on it, in one sitting or
several.

The two steps can be done on two machines: ``--prepare`` needs processors only, what it writes is
small enough to travel, and the machine with the GPU then begins to train at once. Started by
``torchrun``, several processes share each batch. Taught in lesson ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core import check_choice, check_int, existing_path
from .training import Stopped, read_texts

__all__ = ["pretrain"]

# 8,192 x 384 and six layers stay below 25 MB as float16
PIECES = {"smoke": 512, "laptop": 8192, "gpu": 8192}
# 64 MB, which travels to a GPU
NUMBERED = {"smoke": 60_000, "laptop": 60_000_000, "gpu": 30_000_000}
SOURCES = {"smoke": "wikipedia-sample", "laptop": "wiki", "gpu": "wiki"}
TEXTS_FOR_PIECES = 4000                                           # about ten million words

Out = Annotated[Path, typer.Option(help="folder of the model; made if need be")]
Text = Annotated[list[str] | None, typer.Option("--text", help="text file (one document in a line) "
                                                               "or dataset; default: "
                                                               "wiki", show_default=False)]
Prepared = Annotated[Path | None, typer.Option("--tokens-from", help="folder of the numbered text; "
                                                                     "default: tokens in "
                                                                     "--out", show_default=False)]


def pretrain(
    *, out: Out, scale: Annotated[str,
                                  typer.Option(help="smoke, laptop (two cores, 2.5 "
                                               "h) or gpu (minutes)")] = "laptop",
    prepare: Annotated[
        bool,
        typer.Option("--prepare", help="only number the text, for "
                     "training later or "
                     "elsewhere")] = False, text: Text = None, tokens_from: Prepared = None,
    resume: Annotated[bool,
                      typer.Option("--resume", help="go on with the run in the "
                                   "folder")] = False,
    tokens: Annotated[int | None,
                      typer.Option(help="places to read in all; more than "
                                   "before when resuming: train "
                                   "longer")] = None,
    minutes: Annotated[float | None,
                       typer.Option(help="stop after this time; --resume "
                                    "goes on")] = None,
    dropout: Annotated[float | None,
                       typer.Option(help="share of units left out in "
                                    "training")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="the highest")] = None,
    batch: Annotated[int | None,
                     typer.Option(help="rows per step, over all "
                                  "processes")] = None,
    accumulate: Annotated[int | None,
                          typer.Option(help="parts a step is worked on in, to "
                                       "save memory")] = None,
    whole_words: Annotated[bool | None,
                           typer.Option("--whole-words", help="hide words, not pieces")] = None,
    next_sentence: Annotated[
        bool | None,
        typer.Option("--next-sentence", help="teach [CLS] which halves follow each other")] = None,
    precision: Annotated[str | None,
                         typer.Option(help="float32, or bfloat16: twice as "
                                      "fast on processors with "
                                      "AVX512_BF16 or AMX")] = None,
    compiled: Annotated[bool | None,
                        typer.Option("--compiled", help="by torch.compile")] = None,
    seed: Annotated[int | None, typer.Option(help="decides every draw")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda")] = "auto",
    checkpoint_minutes: Annotated[float, typer.Option(help="between two "
                                                      "checkpoints")] = 5.0
) -> None:
    """Train a small BERT from nothing: masked pieces of Wikipedia.

    Ctrl-C keeps what was learned, --resume goes on to the same bits.
    """
    from ..contextual.pretraining import check_start
    from ..contextual.recipes import RECIPES

    given = {
        "tokens": tokens, "dropout": dropout, "learning_rate": learning_rate, "batch": batch,
        "accumulate": accumulate, "whole_words": whole_words, "next_sentence": next_sentence,
        "precision": precision, "compiled": compiled, "seed": seed
    }
    recipe = replace(RECIPES[check_choice("scale", scale, RECIPES)],
                     **{name: value for name, value in given.items() if value is not None})
    place, leader = tokens_from or out / "tokens", int(os.environ.get("RANK", "0")) == 0
    if not prepare:
        check_start(out, resume=resume, device=device, checkpoint_minutes=checkpoint_minutes,
                    stop_after_minutes=minutes)
    if tokens_from is not None and not prepare:
        existing_path(tokens_from / "model.json")
    if not (place / "model.json").exists():
        _refuse_others(place)
        stream = _numbered(text or [SOURCES[scale]], scale, recipe.seed)
        stream.save(place)
        print(f"{place}: {len(stream):,} pieces of {len(stream.tokenizer):,} kinds, "
              f"{_megabytes(place):.0f} MB")
    elif text:
        _refuse_another_text(place, text)
    if not prepare:
        _train(recipe, place, out, leader, resume=resume, device=device,
               checkpoint_minutes=checkpoint_minutes, stop_after_minutes=minutes)


def _refuse_others(place: Path) -> None:
    """Several processes would number the text several times, and write over each other."""
    if check_int("WORLD_SIZE", int(os.environ.get("WORLD_SIZE", "1"))) > 1:
        raise ValueError(f"{place} holds no numbered text; make it with one process first: lessons "
                         "pretrain --prepare")


def _refuse_another_text(place: Path, text: list[str]) -> None:
    """What is numbered already is what is trained on; a --text that is not it would be ignored."""
    from ..contextual import TokenStream

    there = TokenStream.load(place).data.get("sources", text)
    if there != text:
        raise ValueError(f"--text {' '.join(text)}: {place} holds the numbered text of "
                         f"{' '.join(map(str, there))}. Leave --text out, or use another "
                         "--out")


def _numbered(sources: list[str], scale: str, seed: int) -> Any:
    from .. import __version__
    from ..contextual import WordPiece, prepare_tokens

    texts = _sentences_in_lines(sources)
    pieces = WordPiece.train(islice(texts(), TEXTS_FOR_PIECES), size=PIECES[scale])
    about = {
        "sources": sources, "library": __version__,
        "pieces learned from": f"the first {TEXTS_FOR_PIECES:,} texts"
    } | _files(sources)
    return prepare_tokens(texts(), pieces, max_tokens=NUMBERED[scale], data=about, progress=True)


def _sentences_in_lines(sources: list[str]) -> Any:
    """A function that reads the texts anew, one sentence per line."""
    from ..text import split_sentences

    def texts() -> Iterable[str]:
        return ("\n".join(split_sentences(text)) for text in read_texts(sources))

    return texts


def _files(sources: list[str]) -> dict[str, Any]:
    """Checksums of the files of datasets among the sources."""
    from ..datasets import checksum_of, dataset_names, registered

    names = [name for name in sources if name in dataset_names()]
    files = {file.path: checksum_of(file) for name in names for file in registered(name).files}
    return {"files": files} if files else {}


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


def _train(recipe: Any, place: Path, out: Path, leader: bool, **options: Any) -> None:
    from ..contextual import TokenStream
    from ..contextual import pretrain as train

    began = time.monotonic()
    try:
        found = train(TokenStream.load(place), out, recipe=recipe, **options)
    except KeyboardInterrupt:
        raise Stopped(f"stopped; what was learned is in {out}. Go on: the same command with "
                      "--resume") from None
    if leader:
        card = found.card
        print(f"{out}: {card['steps']:,} of {card['steps planned']:,} steps, {card['tokens']:,} "
              "tokens, held-out masked accuracy "
              f"{card['held_out_accuracy']:.3f}, {time.monotonic() - began:.0f} s" +
              ("" if found.finished else ". Go on: --resume"))
