"""What the room is given wrongly: the class of the error, and the words that its message holds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from lessons_lib.contrastive import AutoEncoding, CoSent, Matryoshka, SBert, SimCse, Truncation
from lessons_lib.contrastive.augment import (back_translation, compose, delete_words, eda,
                                             insert_words, swap_words)
from lessons_lib.contrastive.examples import Order
from lessons_lib.contrastive.heads import Classifier, MlpHead
from lessons_lib.contrastive.losses import (cosent_loss, cosine_regression, in_batch_loss,
                                            pair_features, softmax_loss, triplet_loss)
from lessons_lib.contrastive.matryoshka import nested_loss
from lessons_lib.contrastive.reading import Reading
from lessons_lib.contrastive.recipes import recipe
from lessons_lib.core import DataWarning, generator
from lessons_lib.datasets import Triplets

X, Y, NAN = torch.ones(3, 2), torch.ones(2, 2), math.nan
RNG = generator(0)
V, T = ValueError, TypeError
GROUPS = ([0, 0, 1],) * 2

CALLS = [
    (lambda: delete_words(None, rng=RNG), T, ["text=None"]),
    (lambda: delete_words("a b", 1.5, rng=RNG), V, ["share=1.5"]),
    (lambda: swap_words("a b", NAN, rng=RNG), V, ["share=nan"]),
    (lambda: insert_words("a b", ["c"], rng=RNG), T, ["neighbour_synonyms"]),
    (lambda: compose(str.upper, 5), T, ["changes[1]=5"]),
    (lambda: back_translation(str.upper, None), T, ["back=None"]),
    (lambda: back_translation(str.upper, len)("a", RNG), T, ["back('A') gave int"]),
    (lambda: eda("a", {}, n=0, rng=RNG), V, ["n=0"]),
    (lambda: Order(1, batch_size=4, seed=0), V, ["n=1"]),
    (lambda: Classifier(4, classes=1), V, ["classes=1"]),
    (lambda: Classifier(0), V, ["dim=0"]),
    (lambda: Classifier(4, features="uv"), T, ["features='uv'"]),
    (lambda: MlpHead(4, seed=None), T, ["seed"]),
    (lambda: in_batch_loss(X[:1], X[:1]), V, [">= 2 pairs"]),                            # E01
    *[(lambda t=t: in_batch_loss(X, X, temperature=t), V, ["temperature="])              # E02
      for t in (0, -1, NAN, 1e-40)],
    *[(lambda t=t: in_batch_loss(X, X, temperature=t, groups=GROUPS), V, ["temperature="])
      for t in (0, -1, NAN, 1e-40)],
    (lambda: in_batch_loss(X, Y), V, ["u has 3 rows and v has 2"]),                      # E03
    (lambda: in_batch_loss(X, X, Y), V, ["hard has shape"]),
    (lambda: cosine_regression(X, Y, [0, 1, 1]), V, ["(3, 2) and v has shape (2, 2)"]),
    (lambda: cosent_loss(X, X, [1, 2]), V, ["label has shape (2,)", "(3,)"]),
    (lambda: triplet_loss(X, X, Y), V, ["n has shape"]),
    (lambda: in_batch_loss(X, X, groups=([0, 1], [0, 1, 2])), V, ["groups has 2", "3 queries"]),
    (lambda: in_batch_loss(X, X, hard_weight=1.0), V, ["hard_weight=1.0", "hard="]),
    (lambda: cosent_loss(X, X, [0.0, NAN, 1.0]), V, ["label[1] is nan"]),                # E05
    (lambda: cosine_regression(X, X, [0.0, math.inf, 1.0]), V, ["target[1] is inf"]),
    (lambda: cosine_regression(X, X, [0.0, 5.0, 2.5]), V, ["0 and 5", "0 to 1"]),        # E06
    (lambda: softmax_loss(X, X, [0, 3, 1], torch.ones(3, 6)), V, ["label[1]=3", "0 to 2"]),
    (lambda: softmax_loss(X, X, [0.0, 1.0, 1.0], torch.ones(3, 6)), T, ["whole numbers"]),
    (lambda: softmax_loss(X, X, [0, 1, 1], torch.ones(3, 5)), V, ["(3, 5)", "(classes, 6)"]),
    (lambda: pair_features(X, X, "u"), T, ["features='u'", "a list"]),
    (lambda: pair_features(X, X, ["u", "u"]), V, ["twice"]),
    (lambda: pair_features(X, X, ["u-v"]), V, ["features[0]='u-v'"]),
    (lambda: pair_features(X, X, []), V, [">= 1 name"]),
    (lambda: triplet_loss(X, X, X, margin=-1.0), V, ["margin=-1"]),
    (lambda: triplet_loss(X, X, X, distance="l1"), V, ["distance='l1'"]),
    (lambda: nested_loss(Y, Y, []), V, ["0 sizes"]),
    (lambda: nested_loss(Y, Y, [2, 2]), V, ["1 of them different"]),
    (lambda: nested_loss(Y, Y, [9]), V, ["sizes[0]=9"]),
    (lambda: nested_loss(Y, Y, 64), T, ["sizes=64 is int"]),
    (lambda: nested_loss(Y, Y, [1, 2], weights=[1.0]), V, ["weights has 1", "2 sizes"]),
    (lambda: Truncation(9).transform(np.ones((2, 3))), V, ["3 columns", "k=9"]),
    (lambda: Truncation(0).transform(np.ones((2, 3))), V, ["k=0"]),
    (lambda: Reading("lesson-bert"), T, ["expected a ContextualEncoder"]),
    (lambda: SimCse("lesson-bert").fit(["a", "b"]), T, ["encoder=", "load_encoder"]),
]

SETTINGS = [
    *[(Reading, options, error, [words]) for options, error, words in (             # E10
        ({"max_length": 2}, V, "max_length=2"), ({"max_length": 1000}, V, "max_length=1000"),
        ({"max_length": 5.0}, T, "max_length=5.0"), ({"dropout": 1.0}, V, "dropout=1.0"),
        ({"dropout": "a"}, T, "dropout"), ({"precision": "float16"}, V, "precision='float16'"),
        ({"pooling": "middle"}, V, "pooling='middle'"), ({"pooling": "last-9"}, V, "last-9"))],
    *[(SimCse, options, error, [words]) for options, error, words in (
        ({"batch_size": 1}, V, "batch_size=1"), ({"learning_rate": 0.0}, V, "learning_rate=0.0"),
        ({"warmup": 1.0}, V, "warmup=1.0"), ({"steps": 0}, V, "steps=0"),
        ({"chunk": 0}, V, "chunk=0"), ({"precision": "half"}, V, "precision='half'"),
        ({"seed": -1}, V, "seed=-1"), ({"pooling": "middle"}, V, "pooling='middle'"),
        ({"dropout": 1.5}, V, "dropout=1.5"), ({"max_length": 2}, V, "max_length=2"),
        ({"temprature": 0.1}, T, "temperature"), ({"temperature": 0.0}, V, "temperature=0.0"),
        ({"temperature": NAN}, V, "temperature=nan"), ({"temperature": 1e-40}, V, "finite"),  # E02
        ({"views": "some"}, V, "views='some'"), ({"head": "mpl"}, V, "Did you mean 'mlp'"),
        ({"augment": "crop"}, T, "augment='crop'"), ({"hard_weight": 1.0}, V, "hard negatives"),
        ({"hard_weight": NAN}, V, "hard_weight=nan"), ({"supervised": 1}, T, "supervised=1"),
        ({"supervised": True, "views": "none"}, V, "second text is given"))],
    (SBert, {"objective": "softmx"}, V, ["Did you mean 'softmax'"]),
    (SBert, {"features": "uv"}, T, ["features='uv'"]),
    (SBert, {"features": ["u", "w"]}, V, ["features[1]='w'"]),
    (SBert, {"margin": -1.0}, V, ["margin=-1.0"]),
    (CoSent, {"scale": 0.0}, V, ["scale=0"]),
    (Matryoshka, {}, V, ["sizes[0]=256"]),
    (Matryoshka, {"sizes": [8], "temperature": 0.0}, V, ["temperature=0.0"]),
    (AutoEncoding, {"head": "pretrained"}, V, ["head='pretrained'", "set head='fresh'"]),
    (AutoEncoding, {"head": "none"}, V, ["head='none'"]),
    (AutoEncoding, {"encoder_hides": 1.0}, V, ["encoder_hides"]),
    (AutoEncoding, {"decoder_hides": 0.0}, V, ["decoder_hides"]),
    (AutoEncoding, {"own_weight": -1.0}, V, ["own_weight"]),
]


def check(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_what_cannot_be_is_named_with_what_is_allowed(call, error, words):
    check(call, error, words)


@pytest.mark.parametrize(("kind", "settings", "error", "words"), SETTINGS)
def test_settings_are_checked_before_anything_is_read(encoder, kind, settings, error, words):
    def use():
        made = kind(encoder, **settings)
        made.fit(["a sea", "a field"])

    check(use, error, words)


def data_of(texts, pairs):
    """What trainers are given wrongly, and the words of their errors."""
    first, second, four = texts[:4], texts[4:8], texts[:4]
    sbert = [(SBert, {"objective": kind}, data, words) for kind, data, words in (
        ("cosine", (first, second, [0.0, 5.0, 1.0, 2.0]), ["between 0 and 5", "needs 0 to 1"]),
        ("cosine", (first, second, [0.1, NAN, 0.2, 0.3]), ["grades[1] is nan"]),
        ("cosine", (first, second, [0.5] * 4), ["1 distinct label, 0.5"]),
        ("cosine", (first, second, [0.1, 0.2]), ["4 pairs and 2 labels"]),
        ("cosine", (first, second[:3], [0.1, 0.2, 0.3, 0.4]), ["4, 3 texts"]),
        ("cosine", (first, second, ["a"] * 4), ["grades has dtype"]),
        ("softmax", (first, second, ["x"] * 4), ["1 distinct label, 'x'"]),
        ("softmax", (first, second, ["x", None, "y", "x"]), ["labels[1]=None"]),
        ("softmax", (first, second, ["x", 1, "y", "x"]), ["mixes str and int"]),
        ("softmax", (first, second), ["2 columns;", "needs 3"]), ("softmax", pairs, ["labels"]),
        ("triplet", pairs, ["needs 3 columns"]),
        ("triplet", (first, second), ["has 2 columns;", "triplet", "needs 3"]),
        ("triplet", Triplets([], [], []), ["0 documents"]))]
    simcse = [(SimCse, {"supervised": supervised}, data, words) for supervised, data, words in (
        (False, texts[:1], ["1 example;"]), (False, "one text", ["one str"]),
        (False, [], ["0 documents"]), (False, ["a", None], ["data[1]"]),
        (False, pairs, ["SentencePairs"]), (True, texts, ["columns"]),
        (True, (four,), ["1 columns; supervised SimCSE needs 3"]),
        (True, (four, texts[:3]), ["4, 3 texts"]),
        (True, (four, four, texts[:3]), ["4, 4, 3 texts"]),
        (True, pairs, ["SentencePairs, 2 columns and grades; supervised SimCSE needs 3 columns"]))]
    return [*sbert, *simcse, (CoSent, {}, (first, second, np.ones(4)), ["1 distinct label"]),
            (CoSent, {}, (first, second), ["CoSENT needs 3"])]


def test_E01_E03_E05_E06_E07_data_that_do_not_fit_the_trainer_are_named(encoder, texts, pairs):
    for kind, settings, data, words in data_of(texts, pairs):
        check(partial(kind(encoder, **settings).fit, data), (V, T), words)
    equal = replace(pairs, score=np.ones(len(pairs)))
    check(lambda: SimCse(encoder).fit(texts, texts), T, ["dev="])
    check(lambda: SimCse(encoder).fit(texts, equal), V, ["1 distinct grade;"])
    check(lambda: recipe("simcse", "labtop"), V, ["Did you mean 'laptop'"])


# ------------------------------------------------------------------------------ too much

@pytest.mark.parametrize(("settings", "error", "words"), [
    ({"steps": 10**18}, V, ["steps=1000000000000000000", "steps=10**9", "Ctrl-C"]),
    ({"epochs": 1e18}, V, ["epochs=1e+18"]), ({"batch_size": 2**63}, V, ["batch_size="]),
    ({"steps": 1, "patience": 10**9}, DataWarning, ["patience=1000000000", "1 steps"]),
    ({"steps": 1, "evaluate_every": 10**9}, DataWarning, ["evaluate_every=1000000000"])])
def test_what_goes_too_far_is_refused_or_said_at_once(encoder, texts, settings, error, words):
    check(lambda: SimCse(encoder, **{"batch_size": 8} | settings).fit(texts), error, words)


def test_heads_that_cannot_fit_are_refused(little_memory):
    check(lambda: Classifier(16, classes=10**9), MemoryError, ["Lower classes=1000000000"])
    check(lambda: MlpHead(10**9), MemoryError, ["Lower dim=1000000000"])
