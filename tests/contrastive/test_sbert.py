"""SBERT: three objectives, each the formula; what is thrown away; and what bad input hears."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contrastive import SBert
from lessons_lib.contrastive.reading import Reading
from lessons_lib.datasets import LabelledPairs, SentencePairs, Triplets

FAST = {"batch_size": 8, "learning_rate": 3e-3, "steps": 4, "device": "cpu"}


def objective(trainer, data):
    return trainer._objective(Reading(trainer.encoder, dropout=0.0), trainer._examples(data))


def rows(n, dim=16, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32))


def labels_of(pairs):
    """Three classes by the grade."""
    return [("far", "middle", "near")[int(grade > 0.5) + int(grade > 2)] for grade in pairs.score]


def test_softmax_is_the_cross_entropy_of_u_v_and_their_difference(encoder, pairs):
    data = (pairs.sentence1, pairs.sentence2, labels_of(pairs))
    trainer = SBert(encoder)
    found, u, v = objective(trainer, data), rows(5), rows(5, seed=1)
    y = torch.tensor([trainer.classes_.index(label) for label in data[2][:5]])
    wanted = F.cross_entropy(
        F.linear(torch.cat([u, v, (u - v).abs()], 1), found.head.weight, found.head.bias), y)
    assert trainer.classes_ == ("far", "middle", "near") and found.head.weight.shape == (3, 48)
    assert float(found([u, v], np.arange(5))) == pytest.approx(float(wanted), rel=1e-6)
    assert objective(SBert(encoder, features=["|u-v|"]), data).head.weight.shape == (3, 16)


def test_cosine_is_the_squared_error_of_grades_between_0_and_1(encoder, pairs):
    found, u, v = objective(SBert(encoder, objective="cosine"), pairs), rows(5), rows(5, seed=1)
    wanted = ((F.cosine_similarity(u, v) - torch.from_numpy(pairs.score[:5] / 5)) ** 2).mean()
    assert float(found([u, v], np.arange(5))) == pytest.approx(float(wanted), rel=1e-5)


def test_triplet_is_the_hinge_of_lengths(encoder, texts):
    found, (a, p, n) = objective(
        SBert(encoder, objective="triplet", margin=2.0),
        (texts[:5], texts[5:10], texts[10:15])), (rows(5, seed=i) for i in range(3))
    wanted = F.relu((a - p).norm(dim=1) - (a - n).norm(dim=1) + 2.0).mean()
    assert float(found([a, p, n], np.arange(5))) == pytest.approx(float(wanted), rel=1e-5)


@pytest.mark.slow
def test_each_objective_learns(encoder, texts, pairs):
    long = FAST | {"steps": 60, "evaluate_every": 10}
    sea, field = ([text for text in texts if (word in text)] for word in ("s", "g"))
    sea = [text for text in sea if "graze" not in text and "cows" not in text]
    n = min(len(sea), len(field)) // 2
    triplets = Triplets(sea[:n], sea[n : 2 * n], field[:n])
    labelled = LabelledPairs(sea[:n] + sea[:n], sea[n:2 * n] + field[:n],
                             ["same"] * n + ["other"] * n, ["x"] * 2 * n)
    for settings, data in [({"objective": "cosine"}, pairs), ({"objective": "triplet"}, triplets),
                           ({}, labelled)]:
        found = SBert(encoder, **settings, **long).fit(data).history_
        assert found.loss[-1] < 0.8 * found.loss[1], settings
    better = SBert(encoder, objective="cosine", **long).fit(pairs, pairs).history_
    assert better.dev[better.best] > better.dev[0] + 0.05


def test_the_classifier_can_be_looked_at_and_is_in_no_encoder(encoder, pairs, tmp_path):
    trainer = SBert(encoder, **FAST).fit((pairs.sentence1, pairs.sentence2, labels_of(pairs)))
    trainer.save(tmp_path / "m")
    loaded = SBert.load(tmp_path / "m")
    assert loaded.classes_ == ("far", "middle", "near")
    assert loaded.classifier_["weight"].shape == (3, 48)
    assert np.array_equal(loaded.classifier_["bias"], trainer.classifier_["bias"])
    assert not any("head" in name for name in trainer.encoder_.reader.model.state_dict())
    with pytest.raises(ValueError, match="no classifier"):
        SBert(encoder, objective="cosine", **FAST).fit(pairs).classifier_


def test_numbers_are_classes_too(encoder, texts):
    trainer = SBert(encoder, **FAST).fit(
        LabelledPairs(texts[:6], texts[6:12], np.array([2, 0, 2, 0, 7, 7]), ["x"] * 6))
    assert trainer.classes_ == (0, 2, 7)


def test_E03_E05_E06_E07_data_that_cannot_be(encoder, texts, pairs):
    first, second = texts[:4], texts[4:8]
    cases = [("cosine", (first, second, [0.0, 5.0, 1.0, 2.0]), "between 0 and 5; .* needs 0 to 1"),
             ("cosine", (first, second, [0.1, float("nan"), 0.2, 0.3]), r"grades\[1\] is nan"),
             ("cosine", (first, second, [0.5] * 4), "1 distinct label, 0.5"),
             ("cosine", (first, second, [0.1, 0.2]), "4 pairs and 2 labels"),
             ("cosine", (first, second[:3], [0.1, 0.2, 0.3, 0.4]), "4, 3 texts"),
             ("cosine", (first, second, ["a"] * 4), "grades has dtype"),
             ("softmax", (first, second, ["x"] * 4), "1 distinct label, 'x'"),
             ("softmax", (first, second, ["x", None, "y", "x"]), r"labels\[1\]=None"),
             ("softmax", (first, second, ["x", 1, "y", "x"]), "mixes str and int"),
             ("softmax", (first, second), "2 columns; .* needs 3"), ("softmax", pairs, "labels"),
             ("triplet", pairs, "needs 3 columns"),
             ("triplet", (first, second), "has 2 columns; .*triplet.* needs 3"),
             ("triplet", Triplets([], [], []), "0 documents")]
    for kind, data, message in cases:
        with pytest.raises((ValueError, TypeError), match=message):
            SBert(encoder, objective=kind, **FAST).fit(data)


def test_grades_of_another_scale_are_moved_to_0_1(encoder, pairs):
    other = SentencePairs(pairs.sentence1, pairs.sentence2, pairs.score * 2 - 5, scale=(-5.0, 5.0))
    first, second = (objective(SBert(encoder, objective="cosine"), data).labels
                      for data in (pairs, other))
    assert np.allclose(first, second) and first.max() <= 1
