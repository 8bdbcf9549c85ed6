"""CoSENT: only the order of labels counts, and what is trained is what is scored."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contrastive import CoSent
from lessons_lib.contrastive.reading import Reading

FAST = {"batch_size": 16, "learning_rate": 3e-3, "steps": 4, "device": "cpu"}


def test_it_raises_the_order_of_the_pairs_it_learns_from(encoder, pairs):
    found = CoSent(encoder, **FAST | {"steps": 60}).fit(pairs, pairs).history_
    assert found.dev[found.best] > found.dev[0] + 0.05 and found.loss[-1] < found.loss[1]


def test_only_the_order_of_labels_counts(encoder, pairs):
    plain, cubed = (CoSent(encoder, **FAST).fit(
        (pairs.sentence1, pairs.sentence2, grades)).encode(pairs.sentence1[:5])
                    for grades in (pairs.score, pairs.score**3 - 7))
    other = CoSent(encoder, **FAST).fit(
        (pairs.sentence1, pairs.sentence2, -pairs.score)).encode(pairs.sentence1[:5])
    assert np.array_equal(plain, cubed) and not np.allclose(plain, other, atol=1e-4)


def test_the_loss_is_the_formula_with_its_scale(encoder, pairs):
    rng = np.random.default_rng(0)
    u, v = (rng.normal(size=(6, 16)).astype(np.float32) for _ in range(2))
    cosine = (u * v).sum(1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
    grade = pairs.score[:6]
    terms = [np.exp(7.0 * (cosine[j] - cosine[i])) for i in range(6) for j in range(6)
             if grade[i] > grade[j]]
    trainer = CoSent(encoder, scale=7.0)
    objective = trainer._objective(Reading(encoder), trainer._examples(pairs))
    assert float(objective([torch.from_numpy(u), torch.from_numpy(v)],
                           np.arange(6))) == pytest.approx(np.log(1 + sum(terms)), rel=1e-5)
