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
from tests.house.saved_models import (DOCUMENTS, FOLDER, LABELLED, MODELS, PAIRS, TAGS, TEXTS,
                                      TOKENS, TRIPLETS, arrays, recipe, settings_of, stream, table)

SMALL = {"dim": 6, "min_count": 1, "epochs": 3, "window": 3}
WINDOWS = SMALL | {"sample": 0.02}                # of a text this small all would be left out
TINY = {"batch_size": 8, "steps": 6, "learning_rate": 1e-3, "evaluate_every": 2, "device": "cpu"}


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


# -------------------------------------------------------------------------------- words


def words(save: Callable[[str, Any], None]) -> None:
    """Word vectors of each method, and their runs stopped in the middle of an epoch."""
    from lessons_lib.words import glove, run

    w2v = ll.words.Word2Vec(**WINDOWS).fit(TOKENS)
    save("word2vec", w2v)
    save("word_vectors", w2v.vectors_)
    save("glove", ll.words.GloVe(**SMALL).fit(TOKENS))
    save("fasttext", ll.words.FastText(**WINDOWS, buckets=40).fit(TOKENS))
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
        write(w2v.vectors_, FOLDER / f"{kind}_vectors" / file)


def sentence_methods(save: Callable[[str, Any], None]) -> None:
    """Encoders that add up word vectors, and document vectors."""
    from lessons_lib.words import run

    vectors = ll.words.load_method(FOLDER / "word2vec").vectors_
    save("mean", ll.sentences.MeanEncoder(vectors))
    save("mean_tfidf", ll.sentences.MeanEncoder(vectors, "tfidf").fit(TEXTS))
    save("sif", ll.sentences.SIF(vectors).fit(TEXTS))
    save("usif", ll.sentences.USIF(vectors, 2, sentence_length=1.5).fit(TEXTS))
    save("doc2vec", ll.sentences.Doc2Vec(**WINDOWS).fit(TEXTS))
    cut = {"doc2vec_cut": ({"combine": "concat", "window": 2}, None),
           "doc2vec_dbow_cut": ({"model": "dbow", "train_words": True}, TAGS)}
    for name, (settings, tagged) in cut.items():
        model = ll.sentences.Doc2Vec(**WINDOWS | settings)
        with mock.patch.object(run, "TOKENS_PER_PART", 100), stopped(kernels, "document_update", 5):
            model.fit(TEXTS, tagged)
        save(name, model)


# -------------------------------------------------------------------------------- counts


def counted(save: Callable[[str, Any], None]) -> None:
    """Counting methods, the corpus, topic models."""
    counts = ll.counts
    save("one_hot", counts.OneHot().fit(TEXTS))
    save("bag_of_words", counts.BagOfWords(ngram_range=(1, 2), min_df=2).fit(TEXTS))
    save("tfidf", counts.TfIdf(sublinear_tf=True).fit(TEXTS))
    save("bm25", counts.BM25(k1=1.5).fit(TEXTS))
    save("lsa", counts.LSA(4, scale="root").fit(TEXTS))
    corpus = ll.text.Corpus.from_texts(TEXTS)
    save("corpus", corpus)
    save("cooccurrences", counts.Cooccurrences.from_corpus(corpus, 3))
    save("plsa", ll.topics.PLSA(3, n_iter=5).fit(corpus))
    save("gibbs", ll.topics.GibbsLDA(3, n_sweeps=15, burn_in=10, thin=2).fit(corpus))
    save("online_lda", ll.topics.OnlineLDA(3, n_epochs=2, batch_size=10).fit(corpus))
    save("whitening", ll.isotropy.Whitening(3).fit(table()))
    save("whitening_zca", ll.isotropy.Whitening(kind="zca", beta=0.5, gamma=0.9).fit(table()))


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
    """Flows, a pre-training, trainers."""
    from lessons_lib.contextual import training as pretraining_steps
    from lessons_lib.contextual.saved_encoder import save_encoder
    from lessons_lib.contrastive.training import Training
    from lessons_lib.isotropy.flow import training as flow_steps

    settings = {"depth": 1, "width": 4, "batch_size": 16, "epochs": 3.0, "learning_rate": 1e-3,
                "device": "cpu"}
    save("flow", ll.isotropy.Flow("realnvp", **settings).fit(table()))
    flow = ll.isotropy.Flow(**settings, held_out=0.0)         # the last weights count
    with stopped(flow_steps.Training, "step", 5):
        flow.fit(table())
    save("flow_cut", flow)

    pieces = ll.contextual.WordPiece.train(TEXTS * 3, size=110)
    (FOLDER / "word_piece").mkdir()
    pieces.save(FOLDER / "word_piece")
    save("token_stream", ll.contextual.prepare_tokens(DOCUMENTS, pieces, held_out=0.2,
                                                      data={"source": "arithmetic"}))
    options = {"recipe": recipe(), "device": "cpu", "progress": False}
    ll.contextual.pretrain(stream(), FOLDER / "pretrained", **options)
    with stopped(pretraining_steps.Training, "step", 5):
        ll.contextual.pretrain(stream(), FOLDER / "pretrained_cut", **options)
    for checkpoint in (FOLDER / "pretrained").glob("checkpoint-*"):       # the other has one
        shutil.rmtree(checkpoint)

    start = ll.contextual.load_encoder(FOLDER / "pretrained", device="cpu")
    save_encoder(FOLDER / "encoder", start.set_params(pooling="first-last"), card={"name": "tiny"})
    start = ll.contextual.load_encoder(FOLDER / "encoder", device="cpu")
    made = ll.contrastive
    save("sbert", made.SBert(start, objective="cosine", **TINY).fit(PAIRS))
    save("simcse", made.SimCse(start, **TINY).fit(TEXTS))
    cut = {"sbert_cut": (made.SBert(start, objective="triplet", **TINY), TRIPLETS, None),
           "sbert_softmax_cut": (made.SBert(start, **TINY), LABELLED, None),
           "cosent_cut": (made.CoSent(start, **TINY), PAIRS, None),
           "simcse_cut": (made.SimCse(start, **TINY), TEXTS, PAIRS),
           "auto_encoding_cut": (made.AutoEncoding(start, head="fresh", **TINY), TEXTS, None),
           "matryoshka_cut": (made.Matryoshka(start, sizes=[8, 4], **TINY), TEXTS, None)}
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
        for make in (words, sentence_methods, counted, networks):
            make(lambda name, model: model.save(FOLDER / name))
        encoded_half()
    expect()
    total = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
    assert total < 1_000_000 and np.isfinite(total), f"{total:,} bytes"


if __name__ == "__main__":
    main()
