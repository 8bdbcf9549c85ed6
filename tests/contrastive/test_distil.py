"""Distillation: the loss by hand, the rotation that keeps dot products, and a pupil that learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lessons_lib.contrastive import Distil, bag_for
from lessons_lib.contrastive.distil import principal_rotation
from lessons_lib.contrastive.reading import Reading


@pytest.fixture(scope="module")
def teacher(texts) -> np.ndarray:
    """One number for each word of the two worlds, mixed: what a bag of words would say."""
    words = sorted({word for text in texts for word in text.split()})
    counts = np.array([[text.split().count(word) for word in words] for text in texts], float)
    return counts @ np.random.default_rng(0).normal(size=(len(words), 24))


def cosines(x: np.ndarray) -> np.ndarray:
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return unit @ unit.T


def test_the_loss_is_its_formula(encoder, texts, teacher):
    trainer = Distil(encoder, relations=3.0)
    examples = trainer._examples((texts, teacher))
    loss = trainer._objective(Reading(encoder), examples)
    u = torch.randn(4, 16, generator=torch.Generator().manual_seed(0))
    rows = np.array([5, 1, 0, 7])
    v = torch.from_numpy(examples.labels[rows])
    target = v @ torch.from_numpy(principal_rotation(examples.labels, 16))
    near = (1 - F.cosine_similarity(u, target)).mean()
    apart = torch.from_numpy(cosines(u.numpy()) - cosines(teacher[rows])).square().mean()
    assert float(loss([u], rows)) == pytest.approx(float(near + 3 * apart), rel=1e-5)


def test_the_rotation_keeps_dot_products_as_well_as_so_few_numbers_can(teacher):
    rotation = principal_rotation(teacher, 8)
    assert np.allclose(rotation.T @ rotation, np.eye(8))
    left_over = np.linalg.svd(teacher, compute_uv=False)[8:]
    error = np.linalg.norm(teacher - teacher @ rotation @ rotation.T)
    assert error == pytest.approx(np.linalg.norm(left_over), abs=1e-8)
    whole = principal_rotation(teacher, 24)
    assert np.allclose(cosines(teacher @ whole), cosines(teacher))


def test_a_pupil_comes_nearer_to_its_teacher_and_goes_on_after_a_stop(encoder, texts, teacher,
                                                                      tmp_path):
    def far(encoder) -> float:
        return np.abs(cosines(encoder.encode(texts)) - cosines(teacher)).mean()

    def stop(trainer):
        if trainer.n_steps_ == 20:
            raise KeyboardInterrupt

    settings = {"steps": 40, "batch_size": 16, "learning_rate": 3e-3, "evaluate_every": 20,
                "device": "cpu"}
    whole = Distil(encoder, **settings).fit((texts, teacher))
    assert far(whole) < 0.6 * far(encoder)
    cut = Distil(encoder, **settings)
    with pytest.raises(KeyboardInterrupt):
        cut.fit((texts, teacher), on_note=stop)
    cut.save(tmp_path)
    again = Distil.load(tmp_path).resume((texts, teacher))
    assert np.array_equal(again.encode(texts), whole.encode(texts))
    with pytest.raises(ValueError, match="other examples"):
        Distil.load(tmp_path).set_params().resume((texts, teacher[::-1]))


def test_a_bag_begins_with_the_teacher_s_words_in_the_directions_of_its_sentences(encoder, texts):
    vectors, words = encoder.encode(texts), ["sea", "cows", "field"]
    bag = bag_for(encoder, vectors, dim=8, buckets=16, words=words)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    alone = encoder.encode(words)
    wanted = cosines((alone - alone.mean(axis=0)) @ principal_rotation(unit, 8))
    assert bag.dim == 8 and np.allclose(cosines(bag.word_table[:3]), wanted, atol=1e-4)
    trainer = Distil(bag, steps=30, batch_size=16, learning_rate=0.02, warmup=0.0, device="cpu")
    trainer.fit((texts, vectors))

    def far(pupil) -> float:
        return np.abs(cosines(pupil.encode(texts)) - cosines(vectors)).mean()

    assert far(trainer) < 0.5 * far(bag)


@pytest.mark.parametrize(("data", "error", "words"), [
    (["a", "b", "c"], TypeError, "sentences, vectors"),
    ((["a", "b"], np.ones((3, 20))), ValueError, "2 sentences and 3 vectors"),
    ((["a", "b"], np.array([np.ones(20), np.zeros(20)])), ValueError, r"vectors\[1\] is zero"),
    ((["a", "b"], np.full((2, 20), np.nan)), ValueError, "vectors"),
    ((["a", "b"], np.ones((2, 8))), ValueError, "dim=16 is more than the 8")])
def test_what_no_pupil_can_learn_from_is_named(encoder, data, error, words):
    with pytest.raises(error, match=words):
        Distil(encoder).fit(data)
