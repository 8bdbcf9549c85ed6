"""The bag that learns: vectors by hand, words never seen, files, and every trainer."""

from __future__ import annotations

import json
from copy import deepcopy

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contextual import ContextualEncoder, load_encoder
from lessons_lib.contextual.bag import NGRAM_WEIGHT
from lessons_lib.contextual.folders import save_encoder
from lessons_lib.contextual.readers import BertReader
from lessons_lib.contrastive import CoSent, SBert, SimCse, trainable_bag
from lessons_lib.contrastive.reading import Reading
from lessons_lib.core import DamagedFile, DataWarning
from lessons_lib.datasets import Triplets, load
from lessons_lib.evaluation import spearman
from lessons_lib.text.subwords import ngram_buckets
from lessons_lib.vectors import WordVectors

WORDS = ["sea", "ships", "sail", "cows", "graze", "field"]
COUNTS = dict(zip(WORDS, [50, 4, 3, 2, 1, 40], strict=True))
FAST = {"batch_size": 8, "steps": 12, "learning_rate": 0.02, "warmup": 0.0, "device": "cpu"}


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    return WordVectors(WORDS, np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32))


@pytest.fixture(scope="module")
def bag(vectors):
    """Nobody may change it."""
    return trainable_bag(vectors, COUNTS, buckets=64)


def test_words_alone_are_the_mean_with_sif_weights(vectors):
    bag = trainable_bag(vectors, COUNTS, a=0.1, buckets=0)
    share = {word: n / 100 for word, n in COUNTS.items()}
    weighted = [0.1 / (0.1 + share[word]) * vectors[word] for word in ("sea", "ships", "sea")]
    with pytest.warns(DataWarning, match="1 of 2 texts have no token"):
        found = bag.encode(["Sea, ships unseen sea!", "unseen"])
    assert np.allclose(found, [np.mean(weighted, axis=0), np.zeros(8)], atol=1e-6)


def test_a_text_is_the_mean_of_its_words_and_of_the_buckets_of_their_ngrams(bag):
    table = bag.word_table
    buckets = ngram_buckets(["ships", "zyx"], min_n=3, max_n=4, buckets=64)[1]
    rows = np.concatenate([table[[1]], NGRAM_WEIGHT * table[6 + buckets]])
    assert np.allclose(bag.encode(["ships zyx"])[0], rows.mean(axis=0), atol=1e-6)
    assert bag.encode(["zyx"]).any(), "a word without a vector has its n-grams"


def test_the_control_keeps_norms_and_nothing_else(vectors, bag):
    control = trainable_bag(vectors, COUNTS, buckets=64, random=True, seed=1)
    ours, theirs = bag.word_table[:6], control.word_table[:6]
    assert np.allclose(np.linalg.norm(ours, axis=1), np.linalg.norm(theirs, axis=1), rtol=1e-5)
    assert F.cosine_similarity(*map(torch.from_numpy, (ours, theirs))).abs().max() < 0.95
    assert control.name == "bag of random words and n-grams" != bag.name


def test_gradients_are_those_of_torch_s_embedding_bag(bag):
    texts = ["sea ships sail", "cows", "a field of cows grazes"]
    learner = Reading(bag)
    numbered = learner.number(texts)
    learner(numbered, np.arange(3)).square().sum().backward()
    table = torch.from_numpy(bag.word_table).requires_grad_(True)
    ids = torch.from_numpy(numbered.ids.astype(np.int64))
    weight = torch.where(ids < 6, 1.0, NGRAM_WEIGHT) / torch.from_numpy(
        np.repeat(numbered.lengths, numbered.lengths))
    other = F.embedding_bag(ids, table, torch.from_numpy(numbered.offsets[:-1].astype(np.int64)),
                            mode="sum", per_sample_weights=weight.float())
    other.square().sum().backward()
    assert torch.allclose(learner.model.table.grad, table.grad, atol=1e-6)


def test_a_longer_text_is_cut_with_a_warning_or_refused(vectors):
    short = trainable_bag(vectors, COUNTS, buckets=64).set_params(max_length=3)
    with pytest.warns(DataWarning, match="2 of 2 texts have more than max_length=3"):
        cut = short.encode(["sea ships sail", "zyx"])
    assert np.allclose(cut[0], short.word_table[:3].mean(axis=0), atol=1e-6)
    with pytest.raises(ValueError, match=r"texts\[0\] has .* max_length=3"):
        short.set_params(truncation="error").encode(["zyx", "ships sail"])


def test_what_asks_for_single_tokens_is_refused(bag):
    with pytest.raises(ValueError, match="pooling='max' is not possible"):
        bag.encode_each(["sea"], ["max"])
    with pytest.raises(ValueError, match="word_table"):
        bag.hidden_states(["sea"])
    with pytest.raises(ValueError, match="pooling='cls'"):
        bag.encode_each(["sea"], ["cls"])
    pytest.importorskip("sentence_transformers")
    with pytest.raises(ValueError, match="no counterpart"):
        bag.to_sentence_transformers()


def test_dropout_leaves_out_whole_tokens(bag):
    learner = Reading(bag, dropout=0.5)
    numbered = learner.number(["sea"])
    rows, whole = np.zeros(1, np.int64), learner(numbered, np.zeros(1, np.int64))
    found = torch.cat([learner(numbered, rows, seed=seed) for seed in range(400)]).detach()
    ids = numbered.ids
    parts = torch.from_numpy(bag.word_table[ids] * np.where(ids < 6, 1, NGRAM_WEIGHT)[:, None])
    kept = np.linalg.lstsq(parts.T, found.numpy().T * len(ids) / 2, rcond=None)[0]
    assert np.isin(kept.round(3), [0, 1]).all() and 0.4 < kept.mean() < 0.6
    assert torch.allclose(found.mean(dim=0), whole.detach()[0], atol=0.1)


def test_every_trainer_makes_it_climb_and_saves_what_loads(bag, texts, pairs, tmp_path):
    triplets = Triplets(pairs.sentence1, pairs.sentence1, pairs.sentence2)
    labels = [("far", "near")[int(grade > 1)] for grade in pairs.score]
    contrast = {"head": "none", "mask_equal": True, **FAST}
    runs = [(SimCse(bag, **contrast), texts), (SimCse(bag, supervised=True, **contrast), triplets),
            (SBert(bag, **FAST), (pairs.sentence1, pairs.sentence2, labels)),
            (SBert(bag, objective="cosine", **FAST), pairs),
            (SBert(bag, objective="triplet", **FAST), triplets), (CoSent(bag, **FAST), pairs)]
    before = bag.word_table
    for number, (trainer, data) in enumerate(runs):
        trainer.fit(data, pairs)
        assert np.isfinite(trainer.history_.loss[1:]).all()
        assert not np.array_equal(trainer.encoder_.word_table, before)
        trainer.save(tmp_path / str(number))
        again = load_encoder(tmp_path / str(number))
        assert np.array_equal(again.encode(texts), trainer.encode(texts))
    assert np.array_equal(bag.word_table, before), "the bag it was given stays as it is"
    dev = runs[-1][0].history_.dev
    assert dev[1:].max() > dev[0]


def test_a_stopped_run_goes_on_to_the_same_bits(bag, pairs, tmp_path):
    def stop(trainer):
        if trainer.n_steps_ == 6:
            raise KeyboardInterrupt

    settings = FAST | {"evaluate_every": 3}
    whole = CoSent(bag, **settings).fit(pairs, pairs)
    cut = CoSent(bag, **settings)
    with pytest.raises(KeyboardInterrupt):
        cut.fit(pairs, pairs, on_note=stop)
    cut.save(tmp_path / "cut")
    again = CoSent.load(tmp_path / "cut").resume(pairs, pairs)
    assert np.array_equal(again.encode(pairs.sentence1), whole.encode(pairs.sentence1))


def test_a_compact_bag_has_eight_bits_a_number_and_the_same_neighbours(bag, encoder, tmp_path):
    for name, model in (("bag", bag), ("bert", encoder)):
        save_encoder(tmp_path / name, model, card={"name": name}, compact=True)
    again, texts = load_encoder(tmp_path / "bag"), ["sea ships", "cows graze", "zyx"]
    assert json.loads((tmp_path / "bag" / "card.json").read_text())["dtype"] == "int8"
    largest = np.abs(bag.word_table).max(axis=1, keepdims=True)
    assert (np.abs(again.word_table - bag.word_table) <= largest / 254 + 1e-7).all()
    assert F.cosine_similarity(*(torch.from_numpy(x.encode(texts)) for x in (bag, again))).min() > (
        0.999)
    halved = load_encoder(tmp_path / "bert")
    assert np.allclose(halved.encode(texts), encoder.encode(texts), atol=0.01)
    assert json.loads((tmp_path / "bert" / "card.json").read_text())["dtype"] == "float16"
    wide = deepcopy(encoder.reader.model)
    with torch.no_grad():
        next(wide.parameters())[0, 0] = 1e6
    with pytest.raises(ValueError, match="65,504"):
        save_encoder(tmp_path / "wide", ContextualEncoder(BertReader(wide), encoder.tokenizer,
                                                          name="wide"), card={}, compact=True)


@pytest.mark.parametrize("harm", [
    lambda folder: (folder / "words.txt").write_text("sea\n"),
    lambda folder: (folder / "words.txt").unlink(),
    lambda folder: (folder / "config.json").write_text(json.dumps({"model_type": "bag"})),
    lambda folder: (folder / "model.safetensors").write_bytes(b"")],
    ids=["words cut", "words gone", "config empty", "weights empty"])
def test_a_damaged_folder_is_known(bag, tmp_path, harm):
    save_encoder(tmp_path, bag, card={})
    assert np.array_equal(load_encoder(tmp_path).word_table, bag.word_table)
    harm(tmp_path)
    with pytest.raises(DamagedFile, match=str(tmp_path)):
        load_encoder(tmp_path)


@pytest.mark.parametrize(("settings", "words"), [
    ({"a": 0.0}, "a=0"), ({"buckets": -1}, "buckets=-1"), ({"min_n": 5}, "min_n=5"),
    ({"seed": -1}, "seed=-1")])
def test_wrong_settings_are_named(vectors, settings, words):
    with pytest.raises(ValueError, match=words):
        trainable_bag(vectors, COUNTS, **settings)
    with pytest.raises(TypeError, match="random=1"):
        trainable_bag(vectors, COUNTS, random=1)
    with pytest.raises(TypeError, match="vectors="):
        trainable_bag({"sea": [1.0]}, COUNTS)


def test_the_course_s_bag_is_as_good_as_its_card_says(lessons_data):
    folder, pairs = load("lesson-bag"), load("stsb", split="test")
    card = json.loads((folder / "card.json").read_text("utf-8"))
    assert sum(path.stat().st_size for path in folder.rglob("*")) < 12e6 and card["limits"]
    u, v = (load_encoder("lesson-bag").encode(side) for side in (pairs.sentence1, pairs.sentence2))
    cosines = F.cosine_similarity(torch.from_numpy(u), torch.from_numpy(v)).numpy()
    assert 100 * spearman(cosines, pairs.score) == pytest.approx(card["scores"]["stsb test"],
                                                                 abs=0.1)
