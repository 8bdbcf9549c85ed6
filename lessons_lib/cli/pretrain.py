"""``lessons pretrain``: encode a text once, then train a LessonBERT on it, in one or more sittings.

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

from ..core import check_choice, check_int, existing_path, read_json
from .options import Out, Resume, option, setting, unset, with_settings
from .training import Stopped, read_texts

__all__ = ["pretrain"]

# 8,192 x 384 and six layers stay below 25 MB as float16
SUBWORDS = {"smoke": 512, "laptop": 8192, "gpu": 8192}
# 64 MB, which travels to a GPU
TOKENS = {"smoke": 60_000, "laptop": 80_000_000, "gpu": 30_000_000}
SOURCES = {"smoke": "wikipedia-sample", "laptop": "wiki", "gpu": "wiki"}
TEXTS_FOR_SUBWORDS = 4000                        # about ten million words
MOST_PASSES = 20                                 # over a short text, unless --tokens asks for more

SETTINGS = [
    setting("tokens", int, "places to read in all; more than before when resuming: train longer; "
            f"default: the scale's, but a short text {MOST_PASSES} times at most"),
    setting("dropout", float, "share of units left out in training"),
    setting("dropout_from", float, "share of the steps done before dropout sets in"),
    setting("layers", int, "blocks"),
    setting("dim", int, "numbers of a token's vector"),
    setting("heads", int, "of attention, in a block"),
    setting("feed_forward", int, "width of the second half of a block"),
    setting("learning_rate", float, "the highest"),
    setting("warmup", float, "share of the steps until it is reached"),
    setting("batch", int, "rows per step, over all processes"),
    setting("accumulate", int, "parts a step is worked on in, to save memory"),
    setting("whole_words", bool, "hide words, not subwords", "--whole-words"),
    setting("next_sentence", bool, "teach [CLS] which halves follow each other", "--next-sentence"),
    setting("word_table", str, "what words begin as: random, or the course's skip-gram vectors"),
    setting("precision", str, "float32, or bfloat16: twice as fast on processors with AVX512_BF16 "
            "or AMX"), setting("compiled", bool, "by torch.compile", "--compiled"),
    setting("seed", int, "decides every draw")]


def pretrain(
    *, out: Out,
    scale: Annotated[str, option("smoke, laptop (two cores, 2.5 h) or gpu (minutes)")] = "laptop",
    prepare: Annotated[bool, option("only encode the text, for training later or elsewhere",
                                    "--prepare")] = False,
    text: Annotated[list[str] | None, unset("text file (one document in a line) or dataset; "
                                            "default: wiki", "--text")] = None,
    tokens_from: Annotated[Path | None, unset("folder of the encoded text; default: tokens in "
                                              "--out", "--tokens-from")] = None,
    start: Annotated[Path | None, unset("folder of a LessonBERT, or lesson-bert: begin with its "
                                        "weights, not with random ones", "--start")] = None,
    resume: Resume = False,
    minutes: Annotated[float | None, option("stop after this time; --resume goes on")] = None,
    device: Annotated[str, option("auto, cpu or cuda")] = "auto",
    checkpoint_minutes: Annotated[float, option("between two checkpoints")] = 5.0,
    milestones: Annotated[bool, option("keep the model after 1, 2, 4, ... million tokens, too",
                                       "--milestones")] = False,
    **given: Any,
) -> None:
    """Train a small BERT from nothing: masked pieces of Wikipedia.

    Ctrl-C keeps what was learned, --resume goes on to the same bits.
    """
    from ..contextual import TokenStream
    from ..contextual.loading import lesson_bert_folder
    from ..contextual.pretraining import check_start
    from ..contextual.recipes import RECIPES

    recipe = replace(RECIPES[check_choice("scale", scale, RECIPES)], **given)
    if start is not None:
        start = lesson_bert_folder() if str(start) == "lesson-bert" else existing_path(start)
    place, leader = tokens_from or out / "tokens", int(os.environ.get("RANK", "0")) == 0
    if tokens_from is not None and not prepare:
        existing_path(tokens_from / "model.json")
    if not prepare:
        check_start(out, resume=resume, device=device, checkpoint_minutes=checkpoint_minutes,
                    stop_after_minutes=minutes)
    if not (place / "model.json").exists():
        # several processes would number the text several times, and write over each other
        if check_int("WORLD_SIZE", int(os.environ.get("WORLD_SIZE", "1"))) > 1:
            raise ValueError(f"{place} holds no numbered text; make it with one process first: "
                             "lessons pretrain --prepare")
        stream = _encoded(text or [SOURCES[scale]], scale, start)
        stream.save(place)
        megabytes = sum(file.stat().st_size for file in place.iterdir()) / 1e6
        print(f"{place}: {len(stream):,} pieces of {len(stream.tokenizer):,} kinds, "
              f"{megabytes:.0f} MB")
    elif text and (there := TokenStream.load(place).data.get("sources", text)) != text:
        raise ValueError(f"--text {' '.join(text)}: {place} holds the numbered text of "
                         f"{' '.join(map(str, there))}. Leave --text out, or use another --out")
    if not prepare:
        if "tokens" not in given:
            recipe = _planned(recipe, place, out, leader)
        _train(recipe, place, out, leader, start=start, resume=resume, device=device,
               checkpoint_minutes=checkpoint_minutes, stop_after_minutes=minutes,
               milestones=milestones)


def _encoded(sources: list[str], scale: str, start: Path | None) -> Any:
    """The text as subwords, which are those of a model or learned from its first texts; one
    sentence per line.
    """
    from .. import __version__
    from ..contextual import WordPiece, prepare_tokens
    from ..datasets import checksum_of, dataset_names, registered
    from ..text import split_sentences

    def texts() -> Iterable[str]:
        return ("\n".join(split_sentences(text)) for text in read_texts(sources))

    if start is None:
        subwords = WordPiece.train(islice(texts(), TEXTS_FOR_SUBWORDS), size=SUBWORDS[scale])
    else:
        subwords = WordPiece.load(start)
    about = {"sources": sources, "library": __version__, "pieces learned from":
             f"the first {TEXTS_FOR_SUBWORDS:,} texts" if start is None else start.name}
    if files := {file.path: checksum_of(file) for name in sources if name in dataset_names()
                 for file in registered(name).files}:
        about["files"] = files
    return prepare_tokens(texts(), subwords, max_tokens=TOKENS[scale], data=about, progress=True)


def _planned(recipe: Any, place: Path, out: Path, leader: bool) -> Any:
    """The recipe with the tokens of the run that is there, else with what the text is worth."""
    from ..contextual import TokenStream

    if (out / "card.json").is_file():
        return replace(recipe, tokens=read_json(out / "card.json")["recipe"]["tokens"])
    length = len(TokenStream.load(place))
    if length * MOST_PASSES >= recipe.tokens:
        return recipe
    if leader:
        print(f"The text has {length:,} tokens and is read {MOST_PASSES} times; --tokens asks for "
              "more or fewer")
    return replace(recipe, tokens=length * MOST_PASSES)


def _train(recipe: Any, place: Path, out: Path, leader: bool, **options: Any) -> None:
    from ..contextual import TokenStream
    from ..contextual import pretrain as train

    began = time.monotonic()
    try:
        result = train(TokenStream.load(place), out, recipe=recipe, **options)
    except KeyboardInterrupt:
        raise Stopped(f"stopped; what was learned is in {out}. Go on: the same command with "
                      "--resume") from None
    if leader:
        card, go_on = result.card, "" if result.finished else ". Go on: --resume"
        print(f"{out}: {card['steps']:,} of {card['steps planned']:,} steps, {card['tokens']:,} "
              f"tokens, held-out masked accuracy {card['held_out_accuracy']:.3f}, "
              f"{time.monotonic() - began:.0f} s{go_on}")


pretrain = with_settings(pretrain, SETTINGS)
