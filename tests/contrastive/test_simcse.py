"""SimCSE: what its views, heads and negatives are, and what bad input hears."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contextual import load_encoder
from lessons_lib.contrastive import SimCse
from lessons_lib.contrastive.reading import Reading
from lessons_lib.core import DataWarning
from lessons_lib.datasets import Documents, Triplets

FAST = {"batch_size": 8, "learning_rate": 3e-3, "steps": 3, "device": "cpu"}


def objective(trainer, data):
    return trainer._objective(Reading(trainer.encoder, dropout=0.0), trainer._examples(data))


def rows(n, dim=16, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32))


def test_it_pulls_views_together_and_pushes_sentences_apart(encoder, texts, pairs):
    found = (SimCse(encoder, head="none", **FAST | {"steps": 40, "batch_size": 16}).fit(
        texts, pairs).history_)
    assert found.loss[-1] < found.loss[1] - 0.1 and found.uniformity[-1] < found.uniformity[0] - 0.5


def test_the_loss_is_the_formula_with_hard_negatives(encoder, texts):
    data = (texts[:10], texts[10:20], texts[20:30])
    x, y, w = (rows(4, seed=i) for i in range(3))
    loss = objective(SimCse(encoder, supervised=True, head="none", temperature=0.1,
                            hard_weight=0.7), data)([x, y, w], np.arange(4))
    cosines = [F.normalize(x) @ F.normalize(side).T / 0.1 for side in (y, w)]
    cosines[1] += 0.7 * torch.eye(4)
    wanted = F.cross_entropy(torch.cat(cosines, dim=1), torch.arange(4))
    assert float(loss) == pytest.approx(float(wanted), rel=1e-5)


def test_the_head_stands_between_vectors_and_loss(encoder, texts):
    with_head, without = (objective(SimCse(encoder, head=head), texts) for head in ("mlp", "none"))
    x, y = rows(4), rows(4, seed=1)
    assert sum(p.numel() for p in with_head.parameters()) == 16 * 16 + 16
    assert not list(without.parameters())
    head = with_head.head
    behind = [torch.tanh(F.linear(v, head.weight, head.bias)) for v in (x, y)]
    assert with_head([x, y], np.arange(4)).item() == pytest.approx(
        without(behind, np.arange(4)).item(), rel=1e-5)


def test_masked_equal_texts_are_no_negatives(encoder):
    texts = ["sea sail", "ships sail", "sea sail", "cows graze"]
    x, y = rows(4), rows(4, seed=1)
    masked = objective(SimCse(encoder, head="none", mask_equal=True), texts)([x, y], np.arange(4))
    logits = F.normalize(x) @ F.normalize(y).T / 0.05
    logits[0, 2] = logits[2, 0] = -math.inf
    assert float(masked) == pytest.approx(float(F.cross_entropy(logits, torch.arange(4))), rel=1e-5)


def test_E04_equal_texts_are_warned_of_with_their_share(encoder, texts):
    repeated = texts[:20] + texts[:20]
    with pytest.warns(DataWarning, match=r"100\.0% of the examples meet an equal text.*mask_equal"):
        SimCse(encoder, **FAST | {"batch_size": 40}).fit(repeated)
    SimCse(encoder, mask_equal=True, **FAST | {"batch_size": 40}).fit(repeated)
    SimCse(encoder, **FAST).fit(texts)


def test_E08_without_dropout_both_views_are_equal(encoder, texts):
    with pytest.warns(DataWarning, match="both views are equal"):
        SimCse(encoder, dropout=0.0, **FAST).fit(texts)
    with pytest.warns(DataWarning, match="both views are equal"):
        SimCse(encoder, dropout=None, **FAST).fit(texts)  # this model has none of its own
    for views in ("none", "same dropout"):
        SimCse(encoder, views=views, **FAST).fit(texts)
    SimCse(encoder, dropout=0.0, augment=lambda text, rng: text[::-1], **FAST).fit(texts)


def test_a_changed_text_is_the_second_view_only(encoder, texts):
    seen = []

    def swap(text, rng):
        seen.append(text)
        return "cows"

    trainer = SimCse(encoder, augment=swap, **FAST | {"steps": 1}).fit(texts)
    columns = objective(trainer, texts).columns
    assert sorted(seen) == sorted(texts[i] for i in trainer_batch(texts))
    assert len(columns[0].read(np.arange(3), 0)[0]) == len(texts)


def trainer_batch(texts):
    from lessons_lib.contrastive.batches import Order

    return Order(len(texts), batch_size=8, seed=0).batch(0)


def test_the_supervised_head_on_cls_stays_as_the_pooler(encoder, texts, tmp_path):
    data = Triplets(texts[:12], texts[12:24], texts[24:36])
    trainer = SimCse(encoder, supervised=True, pooling="cls", **FAST).fit(data)
    head = trainer._state[0]
    cls = trainer.read_by("cls").encode(texts[:3])
    wanted = np.tanh(cls @ head["model.objective.head.weight"].T +
                     head["model.objective.head.bias"])
    assert trainer.encoder_.pooling == "pooler"
    assert np.allclose(trainer.encode(texts[:3]), wanted, atol=1e-5)
    trainer.save(tmp_path / "m")
    assert np.array_equal(
        load_encoder(tmp_path / "m", device="cpu").encode(texts), trainer.encode(texts))
    assert np.array_equal(SimCse.load(tmp_path / "m").encode(texts), trainer.encode(texts))
    for other in (SimCse(encoder, supervised=True,
                         **FAST).fit(data), SimCse(encoder, pooling="cls", **FAST).fit(texts)):
        assert other.encoder_.pooling in ("last", "cls")


def test_documents_and_lists_are_the_same_data(encoder, texts):
    first, second = (SimCse(encoder, **FAST).fit(data).encode(texts[:2])
                     for data in (texts, Documents(texts)))
    assert np.array_equal(first, second)


def test_E01_E03_E07_data_that_cannot_be(encoder, texts, pairs):
    for data, message in [(texts[:1], "1 example;"), ("one text", "one str"), ([], "0 documents"),
                          (["a", None], r"data\[1\]"), (pairs, "SentencePairs")]:
        with pytest.raises((ValueError, TypeError), match=message):
            SimCse(encoder, **FAST).fit(data)
    for data, message in [((texts[:4], texts[:4]), "2 columns; supervised SimCSE needs 3"),
                          ((texts[:4], texts[:4], texts[:3]), "4, 4, 3 texts"),
                          (pairs, "SentencePairs, 2 columns and grades; supervised SimCSE needs 3 "
                           "columns"), (texts, "columns")]:
        with pytest.raises((ValueError, TypeError), match=message):
            SimCse(encoder, supervised=True, **FAST).fit(data)


def test_E09_texts_that_are_too_long_are_cut_with_one_warning(encoder, texts):
    with pytest.warns(DataWarning, match=r"of 40 texts have more than max_length=6") as caught:
        SimCse(encoder, max_length=6, augment=lambda text, rng: text, **FAST).fit(texts)
    assert len(caught) == 1
    with pytest.raises(ValueError, match="max_length=2"):
        SimCse(encoder, max_length=2, **FAST).fit(texts)


def test_minus_infinity_as_weight_drops_the_own_hard_negative_and_survives_a_file(
        encoder, texts, tmp_path):
    trainer = SimCse(encoder, supervised=True, hard_weight=-math.inf, **FAST).fit(
        (texts[:12], texts[12:24], texts[24:36]))
    trainer.save(tmp_path / "m")
    assert SimCse.load(tmp_path / "m").hard_weight == -math.inf
