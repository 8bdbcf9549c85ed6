"""The methods: SBERT's three objectives, CoSENT and SimCSE are each their formula; what is thrown
away; and the heads that stand on an encoder while it learns.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contextual import load_encoder
from lessons_lib.contrastive import CoSent, SBert, SimCse
from lessons_lib.contrastive.examples import Order
from lessons_lib.contrastive.heads import Classifier, MlpHead
from lessons_lib.contrastive.losses import softmax_loss
from lessons_lib.contrastive.reading import Reading
from lessons_lib.core import DataWarning
from lessons_lib.datasets import Documents, LabelledPairs, SentencePairs, Triplets

FAST = {"batch_size": 8, "learning_rate": 3e-3, "steps": 3, "device": "cpu"}
U, V = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))


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
    seen = torch.cat([u, v, (u - v).abs()], 1)
    wanted = F.cross_entropy(F.linear(seen, found.head.weight, found.head.bias), y)
    assert trainer.classes_ == ("far", "middle", "near") and found.head.weight.shape == (3, 48)
    assert float(found([u, v], np.arange(5))) == pytest.approx(float(wanted), rel=1e-6)
    assert objective(SBert(encoder, features=["|u-v|"]), data).head.weight.shape == (3, 16)


def test_cosine_is_the_squared_error_of_grades_between_0_and_1(encoder, pairs):
    found, u, v = objective(SBert(encoder, objective="cosine"), pairs), rows(5), rows(5, seed=1)
    wanted = ((F.cosine_similarity(u, v) - torch.from_numpy(pairs.score[:5] / 5)) ** 2).mean()
    assert float(found([u, v], np.arange(5))) == pytest.approx(float(wanted), rel=1e-5)
    other = SentencePairs(pairs.sentence1, pairs.sentence2, pairs.score * 2 - 5, scale=(-5.0, 5.0))
    moved = objective(SBert(encoder, objective="cosine"), other).labels
    assert np.allclose(found.labels, moved) and moved.max() <= 1


def test_triplet_is_the_hinge_of_lengths(encoder, texts):
    a, p, n = (rows(5, seed=i) for i in range(3))
    found = objective(SBert(encoder, objective="triplet", margin=2.0),
                      (texts[:5], texts[5:10], texts[10:15]))
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
    numbers = LabelledPairs(pairs.sentence1[:6], pairs.sentence2[:6], np.array([2, 0, 2, 0, 7, 7]),
                            ["x"] * 6)
    assert SBert(encoder, **FAST).fit(numbers).classes_ == (0, 2, 7)


def test_cosent_raises_the_order_of_the_pairs_it_learns_from(encoder, pairs):
    found = CoSent(encoder, **FAST | {"steps": 60, "batch_size": 16}).fit(pairs, pairs).history_
    assert found.dev[found.best] > found.dev[0] + 0.05 and found.loss[-1] < found.loss[1]


def test_only_the_order_of_labels_counts_to_cosent(encoder, pairs):
    plain, cubed, other = (CoSent(encoder, **FAST | {"batch_size": 16}).fit(
        (pairs.sentence1, pairs.sentence2, grades)).encode(pairs.sentence1[:5])
                           for grades in (pairs.score, pairs.score**3 - 7, -pairs.score))
    assert np.array_equal(plain, cubed) and not np.allclose(plain, other, atol=1e-4)


def test_cosent_is_the_formula_with_its_scale(encoder, pairs):
    u, v = rows(6), rows(6, seed=1)
    cosine, grade = F.cosine_similarity(u, v).numpy(), pairs.score[:6]
    terms = [np.exp(7.0 * (cosine[j] - cosine[i])) for i in range(6) for j in range(6)
             if grade[i] > grade[j]]
    found = objective(CoSent(encoder, scale=7.0), pairs)
    assert float(found([u, v], np.arange(6))) == pytest.approx(np.log(1 + sum(terms)), rel=1e-5)


def test_it_pulls_views_together_and_pushes_sentences_apart(encoder, texts, pairs):
    trainer = SimCse(encoder, head="none", **FAST | {"steps": 40, "batch_size": 16})
    found = trainer.fit(texts, pairs).history_
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


def test_pairs_are_triplets_without_hard_negatives(encoder, texts):
    data, (x, y) = (texts[:10], texts[10:20]), (rows(4, seed=i) for i in range(2))
    trainer = SimCse(encoder, supervised=True, head="none", temperature=0.1)
    wanted = F.cross_entropy(F.normalize(x) @ F.normalize(y).T / 0.1, torch.arange(4))
    assert float(objective(trainer, data)([x, y], np.arange(4))) == pytest.approx(float(wanted),
                                                                                rel=1e-5)
    with pytest.raises(ValueError, match="hard_weight=0.5.*data holds anchors and positives"):
        trainer.set_params(hard_weight=0.5).fit(data)
    with pytest.raises(ValueError, match="anchors, positives"):
        trainer.fit((texts[:10], "one text"))


def test_the_head_stands_between_vectors_and_loss(encoder, texts):
    with_head, without = (objective(SimCse(encoder, head=head), texts) for head in ("mlp", "none"))
    x, y = rows(4), rows(4, seed=1)
    assert sum(p.numel() for p in with_head.parameters()) == 16 * 16 + 16
    assert not list(without.parameters())
    head = with_head.head
    behind = [torch.tanh(F.linear(v, head.weight, head.bias)) for v in (x, y)]
    wanted = without(behind, np.arange(4)).item()
    assert with_head([x, y], np.arange(4)).item() == pytest.approx(wanted, rel=1e-5)


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
    for dropout in (0.0, None):                   # this model has none of its own
        with pytest.warns(DataWarning, match="both views are equal"):
            SimCse(encoder, dropout=dropout, **FAST).fit(texts)
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
    first = Order(len(texts), batch_size=8, seed=0).batch(0)
    assert sorted(seen) == sorted(texts[i] for i in first)
    assert len(columns[0].read(np.arange(3), 0)[0]) == len(texts)


def test_the_supervised_head_on_cls_stays_as_the_pooler(encoder, texts, tmp_path):
    data = Triplets(texts[:12], texts[12:24], texts[24:36])
    trainer = SimCse(encoder, supervised=True, pooling="cls", **FAST).fit(data)
    weight, bias = (trainer._state[0][f"model.objective.head.{name}"]
                    for name in ("weight", "bias"))
    wanted = np.tanh(trainer.read_by("cls").encode(texts[:3]) @ weight.T + bias)
    assert trainer.encoder_.pooling == "pooler"
    assert np.allclose(trainer.encode(texts[:3]), wanted, atol=1e-5)
    trainer.save(tmp_path / "m")
    for again in (load_encoder(tmp_path / "m", device="cpu"), SimCse.load(tmp_path / "m")):
        assert np.array_equal(again.encode(texts), trainer.encode(texts))
    for other in (SimCse(encoder, supervised=True, **FAST).fit(data),
                  SimCse(encoder, pooling="cls", **FAST).fit(texts)):
        assert other.encoder_.pooling in ("last", "cls")


def test_E09_texts_that_are_too_long_are_cut_with_one_warning_also_in_documents(encoder, texts):
    first, second = (SimCse(encoder, **FAST).fit(data).encode(texts[:2])
                     for data in (texts, Documents(texts)))
    assert np.array_equal(first, second)
    with pytest.warns(DataWarning, match=r"of 40 texts have more than max_length=6") as caught:
        SimCse(encoder, max_length=6, augment=lambda text, rng: text, **FAST).fit(texts)
    assert len(caught) == 1


def test_minus_infinity_as_weight_drops_the_own_hard_negative_and_survives_a_file(
        encoder, texts, tmp_path):
    trainer = SimCse(encoder, supervised=True, hard_weight=-math.inf, **FAST).fit(
        (texts[:12], texts[12:24], texts[24:36]))
    trainer.save(tmp_path / "m")
    assert SimCse.load(tmp_path / "m").hard_weight == -math.inf


def test_heads_are_a_linear_map_of_the_features_and_tanh_of_a_square_map():
    head = MlpHead(4, seed=2)
    assert torch.allclose(head(U), (U @ head.weight.T + head.bias).tanh(), atol=1e-6)
    assert head.weight.shape == (4, 4)
    head = Classifier(4, features=("u", "|u-v|"), classes=5)
    by_hand = torch.cat([U, (U - V).abs()], 1) @ head.weight.T + head.bias
    assert head.weight.shape == (5, 8) and torch.allclose(head(U, V), by_hand, atol=1e-6)
    label = torch.tensor([0, 1, 2, 3, 4, 0])
    assert head.loss(U, V, label) == softmax_loss(U, V, label, head.weight, head.bias,
                                                  features=head.features)


def test_59_the_classifier_begins_near_the_log_of_its_classes_and_learns():
    head, label = Classifier(4, seed=1), torch.arange(6) % 3
    optimizer, first = torch.optim.SGD(head.parameters(), lr=0.3), head.loss(U, V, label).item()
    for _ in range(60):
        optimizer.zero_grad()
        head.loss(U, V, label).backward()
        optimizer.step()
    assert abs(first - math.log(3)) < 0.7 and head.loss(U, V, label) < first / 2


@pytest.mark.parametrize("kind", [Classifier, MlpHead])
def test_random_weights_come_from_the_seed_alone(kind):
    before = torch.get_rng_state()
    a, b, c = (kind(16, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(a.weight, b.weight) and not torch.equal(a.weight, c.weight)
    assert torch.equal(torch.get_rng_state(), before)
    bound = a.weight.shape[1] ** -0.5
    assert a.weight.abs().max() <= bound
    assert a.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.15)
