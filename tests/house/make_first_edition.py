"""Made the folder ``first_edition``: small saved models of each kind, and what they gave.

This ran once, on the code of the first edition, and is kept so that the files can be understood. It
reaches into that edition to stop runs in the middle; with later code it need not run, and the files
must not be made again: they stand for the models that people have.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import torch
from safetensors.numpy import save_file

import lessons_lib as ll
from lessons_lib import kernels
from tests.house import saved_models
from tests.house.saved_models import (FITS, FLOW, FOLDER, LABELLED, MODELS, PAIRS, SMALL, TAGS,
                                      TEXTS, TINY, TOKENS, TRIPLETS, WINDOWS, arrays, recipe,
                                      settings_of, start, stream, table)


@contextmanager
def stopped(owner: Any, name: str, calls: int) -> Iterator[None]:
    """Ctrl-C after so many calls of a function."""
    plain, done = getattr(owner, name), []

    def stops(*arguments: Any, **settings: Any) -> Any:
        result = plain(*arguments, **settings)
        done.append(1)
        if len(done) == calls:
            os.kill(REAL_PID, signal.SIGINT)
        return result

    with mock.patch.object(owner, name, stops), suppress(KeyboardInterrupt):
        yield
        raise AssertionError(f"{name} was called {len(done)} times; the run was not stopped")


REAL_PID = os.getpid()
TRAINERS = ("sbert", "simcse")


# -------------------------------------------------------------------------------- words


def whole(save: Callable[[str, Any], None]) -> None:
    """What one run from the beginning gives; trainers begin with an encoder that comes later."""
    (FOLDER / "word_piece").mkdir()
    for name, fit in FITS.items():
        if name not in TRAINERS:
            save(name, fit())


def words(save: Callable[[str, Any], None]) -> None:
    """Word vectors of each method, and their runs stopped in the middle of an epoch."""
    from lessons_lib.words import glove, run

    vectors = ll.words.load_method(FOLDER / "word2vec").vectors_
    save("word_vectors", vectors)
    cut = {"word2vec_cut": (ll.words.Word2Vec(**WINDOWS), "window_update"),
           "word2vec_cbow_tree_cut": (ll.words.Word2Vec(
               **WINDOWS, architecture="cbow", objective="hierarchical_softmax"), "window_update"),
           "fasttext_cut": (ll.words.FastText(**WINDOWS, buckets=40), "subword_update")}
    for name, (model, kernel) in cut.items():
        with mock.patch.object(run, "TOKENS_PER_PART", 100), stopped(kernels, kernel, 5):
            model.fit(TOKENS)
        save(name, model)
    model = ll.words.GloVe(**SMALL)
    with mock.patch.object(glove, "COUNTS_PER_PART", 60), stopped(kernels, "glove_step", 3):
        model.fit(TOKENS)
    save("glove_cut", model)
    files = {"compact": (ll.words.write_compact, "v.safetensors"),
             "text": (ll.words.write_text, "v.txt"), "binary": (ll.words.write_binary, "v.bin")}
    for kind, (write, file) in files.items():
        (FOLDER / f"{kind}_vectors").mkdir()
        write(vectors, FOLDER / f"{kind}_vectors" / file)


def documents(save: Callable[[str, Any], None]) -> None:
    """Document vectors whose runs were stopped."""
    from lessons_lib.words import run

    cut = {"doc2vec_cut": ({"combine": "concat", "window": 2}, None),
           "doc2vec_dbow_cut": ({"model": "dbow", "train_words": True}, TAGS)}
    for name, (settings, tagged) in cut.items():
        model = ll.sentences.Doc2Vec(**WINDOWS | settings)
        with mock.patch.object(run, "TOKENS_PER_PART", 100), stopped(kernels, "document_update", 5):
            model.fit(TEXTS, tagged)
        save(name, model)


def encoded_half() -> None:
    """A file of vectors of which the first 4,096 rows are there."""
    def texts() -> Iterator[str]:
        yield from saved_models.numerals(4500)
        raise KeyboardInterrupt

    (FOLDER / "encoded_cut").mkdir()
    target = FOLDER / "encoded_cut" / "vectors.npy"
    with suppress(KeyboardInterrupt):
        ll.contextual.encode_to(saved_models.Lengths(), target, texts())
    for lock in (FOLDER / "encoded_cut").glob(".lock*"):
        lock.unlink()


# -------------------------------------------------------------------------------- networks


def networks(save: Callable[[str, Any], None]) -> None:
    """A flow, pre-trainings, trainers."""
    from lessons_lib.contextual import training as pretraining_steps
    from lessons_lib.contextual.folders import save_encoder
    from lessons_lib.contrastive.training import Training
    from lessons_lib.isotropy.flow import training as flow_steps

    flow = ll.isotropy.Flow(**FLOW, held_out=0.0)             # the last weights count
    with stopped(flow_steps.Training, "step", 5):
        flow.fit(table())
    save("flow_cut", flow)

    options = {"recipe": recipe(), "device": "cpu", "progress": False}
    ll.contextual.pretrain(stream(), FOLDER / "pretrained", **options)
    with stopped(pretraining_steps.Training, "step", 5):
        ll.contextual.pretrain(stream(), FOLDER / "pretrained_cut", **options)
    for checkpoint in (FOLDER / "pretrained").glob("checkpoint-*"):       # the other has one
        shutil.rmtree(checkpoint)

    encoder = ll.contextual.load_encoder(FOLDER / "pretrained", device="cpu")
    encoder.set_params(pooling="first-last")
    save_encoder(FOLDER / "encoder", encoder, card={"name": "tiny"})
    made = ll.contrastive
    for name in TRAINERS:
        save(name, FITS[name]())
    cut = {"sbert_cut": (made.SBert(start(), objective="triplet", **TINY), TRIPLETS, None),
           "sbert_softmax_cut": (made.SBert(start(), **TINY), LABELLED, None),
           "cosent_cut": (made.CoSent(start(), **TINY), PAIRS, None),
           "simcse_cut": (made.SimCse(start(), **TINY), TEXTS, PAIRS),
           "auto_encoding_cut": (made.AutoEncoding(start(), head="fresh", **TINY), TEXTS, None),
           "matryoshka_cut": (made.Matryoshka(start(), sizes=[8, 4], **TINY), TEXTS, None)}
    for name, (trainer, data, dev) in cut.items():
        with stopped(Training, "step", 3):
            trainer.fit(data, dev)
        save(name, trainer)


# -------------------------------------------------------------------------------- all


def expect() -> None:
    """Write what each folder gives after loading and, where a run was stopped, at its end."""
    written = {}
    for name, saved in MODELS.items():
        model = saved.load(FOLDER / name)
        found = dict(arrays(saved.outputs(model)))
        written[name] = settings_of(model)
        if saved.resume is not None:
            with tempfile.TemporaryDirectory() as scratch:
                place = Path(scratch) / name
                shutil.copytree(FOLDER / name, place)
                end = saved.resume(saved.load(place), place)
                found |= dict(arrays(saved.outputs(end), "end."))
        save_file(found, FOLDER / f"{name}.safetensors")
    saved_models.SETTINGS.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", "utf-8")


def main() -> None:
    """Make everything anew."""
    torch.set_num_threads(1)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with mock.patch.object(os, "getpid", lambda: 1):          # it stands in the names of files
        for make in (whole, words, documents, networks):
            make(lambda name, model: model.save(FOLDER / name))
        encoded_half()
    expect()
    total = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    assert total < 1_000_000 and np.isfinite(total), f"{total:,} bytes"


if __name__ == "__main__":
    main()
