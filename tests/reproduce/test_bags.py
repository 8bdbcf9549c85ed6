"""The bag that converges: which words it has, what its dropout leaves out, and its control."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contextual.bag import BagOfParts
from lessons_lib.contrastive import SimCse
from lessons_lib.core import DataMissing
from lessons_lib.datasets import Triplets
from lessons_lib.datasets.records import SentencePairs
from lessons_lib.reproduce import bags, trained
from lessons_lib.reproduce.bags import NumberDropout
from lessons_lib.reproduce.models import RANDOM, control_of, model_of
from lessons_lib.vectors import WordVectors

WORDS = ["a", "dog", "runs", "cat", "sleeps", "zebra"]


@pytest.fixture
def small(monkeypatch):
    """Six word vectors, of which the sets know five; two sets are here, the others are not."""
    rng = np.random.default_rng(0)
    vectors = WordVectors(WORDS, rng.normal(size=(6, 4)).astype(np.float32))
    triplets = Triplets(["A dog."], ["It sleeps"], ["A CAT"])

    def load(name, split=None, dataset=None):
        if name == "course-vectors":
            return vectors
        if name == "nli":
            return triplets
        if name in ("stsb", "nli-pairs"):
            first = {"test": ["the end", "a dog.", "new"], "train": ["dog runs"] * 3}.get(split, [])
            second = ["x y", "less" if split == "train" else "more", "it sleeps"][:len(first)]
            return SentencePairs(first or ["new"], second or ["New"], np.arange(len(first) or 1.0))
        raise DataMissing(name)

    for module in (bags, trained):
        monkeypatch.setattr(module, "load", load)
    caches = bags.words_of_sets, bags.bag, trained.unseen_pairs
    for cache in caches:
        cache.cache_clear()
    yield vectors
    for cache in caches:
        cache.cache_clear()


def test_a_bag_has_the_words_of_the_sets_and_is_the_mean_of_their_vectors(small):
    encoder = model_of("bag")
    assert encoder.tokenizer.words == WORDS[:5] and encoder.dim == 4
    mean = small.matrix[[0, 1, 2]].mean(axis=0)
    assert np.allclose(encoder.encode(["A dog runs, zebra!"])[0], mean, atol=1e-4)
    control, other = control_of("bag", 1), model_of("bag" + RANDOM, 2)
    table, drawn = (e.reader.model.table.detach().numpy() for e in (encoder, control))
    assert np.allclose(*(np.linalg.norm(x, axis=1) for x in (table, drawn)), rtol=1e-5)
    assert not np.allclose(table, drawn)
    assert not np.allclose(drawn, other.reader.model.table.detach().numpy())


def test_dropout_leaves_out_numbers_and_not_words():
    table, ids, lengths = torch.ones(5, 1000), torch.tensor([0, 3, 1]), torch.tensor([2, 0, 1])
    model, parent = NumberDropout(table, 5), BagOfParts(table, 5)
    assert torch.equal(model.eval()(ids, lengths), parent.eval()(ids, lengths))
    model.dropout.p = 0.5
    torch.manual_seed(0)
    one = model.train()(ids, lengths)
    assert not one[1].any() and set(one[2].tolist()) == {0.0, 2.0}
    assert 400 < int((one[2] == 0).sum()) < 600 and set(one[0].tolist()) == {0.0, 1.0, 2.0}


def test_a_trainer_learns_on_it_and_leaves_it_as_it_was(small):
    encoder = model_of("bag")
    before = encoder.encode(WORDS[:5])
    model = SimCse(encoder, head="none", dropout=0.3, batch_size=4, steps=3, learning_rate=0.01)
    learned = model.fit(WORDS[:4]).encoder_
    assert isinstance(learned.reader.model, NumberDropout)
    assert np.array_equal(encoder.encode(WORDS[:5]), before)
    assert not np.allclose(learned.encode(WORDS[:4]), before[:4])
    assert np.array_equal(learned.encode(["sleeps"]), before[4:])     # what is not met stays


def test_unseen_pairs_have_no_sentence_of_a_training_set(small):
    pairs = trained.unseen_pairs()
    # "x y" is a second sentence of the train part, "new" one of NLI
    assert list(zip(pairs.sentence1, pairs.sentence2, strict=True)) == [("a dog.", "more")]
