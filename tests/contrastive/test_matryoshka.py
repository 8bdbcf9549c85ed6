"""Vectors whose beginnings are vectors: the nested loss, the trainer, and cutting short."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contrastive import CoSent, Matryoshka, SimCse, Truncation
from lessons_lib.contrastive.losses import cosent_loss, in_batch_loss
from lessons_lib.contrastive.matryoshka import nested_loss
from lessons_lib.core import Composed

U, V = torch.randn(2, 6, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
TEXTS = ([f"{a} {b} {c}" for a in ("ships", "cows") for b in ("sail", "graze", "rest")
          for c in ("far", "near", "here")])


def test_sizes_add_up_with_their_weights_and_the_whole_alone_is_the_loss_of_lesson_14():
    assert nested_loss(U, V, [8], temperature=0.2).item() == pytest.approx(
        in_batch_loss(U, V, temperature=0.2).item())
    assert nested_loss(3 * U, V / 7, [2, 8]).item() == pytest.approx(
        nested_loss(U, V, [2, 8]).item())         # norms change nothing
    parts = {m: in_batch_loss(U[:, :m], V[:, :m], temperature=0.2) for m in (2, 8)}
    assert nested_loss(U, V, [8, 2], temperature=0.2, weights=[1.0, 0.5]).item() == pytest.approx(
        (parts[8] + 0.5 * parts[2]).item())


def test_numbers_behind_the_largest_size_get_no_gradient():
    u = U.clone().requires_grad_(True)
    nested_loss(u, V, [2, 4], temperature=0.2).backward()
    assert u.grad[:, :4].abs().min() > 0 and not u.grad[:, 4:].any()
    assert torch.autograd.gradcheck(lambda u: nested_loss(u, V, [3, 8], temperature=0.5),
                                    U.clone().requires_grad_(True), fast_mode=True)


def test_with_the_whole_size_alone_the_trainer_is_simcse_without_a_head(encoder):
    settings = {"steps": 3, "batch_size": 6, "learning_rate": 1e-3, "seed": 2}
    nested = Matryoshka(encoder, sizes=[16], **settings).fit(TEXTS)
    plain = SimCse(encoder, head="none", **settings).fit(TEXTS)
    assert np.allclose(nested.encode(TEXTS), plain.encode(TEXTS), atol=1e-5)
    assert nested.name == f"{encoder.name} + Matryoshka"


def test_with_grades_every_size_is_ordered_by_cosent(encoder):
    label = torch.tensor([0.0, 2.0, 1.0, 5.0, 4.0, 3.0])
    parts = [cosent_loss(U[:, :m], V[:, :m], label, scale=5.0) for m in (2, 8)]
    assert nested_loss(U, V, [2, 8], temperature=0.2, label=label).item() == pytest.approx(
        float(sum(parts)))
    pairs = (TEXTS[:12], TEXTS[6:], np.arange(12) % 5)
    settings = {"steps": 3, "batch_size": 6, "learning_rate": 1e-3}
    nested = Matryoshka(encoder, sizes=[16], supervised=True, **settings).fit(pairs)
    plain = CoSent(encoder, **settings).fit(pairs)
    assert np.allclose(nested.encode(TEXTS), plain.encode(TEXTS), atol=1e-5)


def test_training_makes_short_vectors_tell_texts_apart(encoder):
    def loss(encoder) -> float:
        x = torch.from_numpy((encoder | Truncation(4)).encode(TEXTS))
        return in_batch_loss(x, x, temperature=0.2).item()

    trained = Matryoshka(encoder, sizes=[16, 4], steps=40, batch_size=9, learning_rate=3e-3,
                         temperature=0.2).fit(TEXTS)
    assert list(trained.sizes) == [16, 4]
    assert loss(trained.encoder_) < loss(encoder) - 0.1


def test_truncation_keeps_the_beginning_at_length_one_and_composes(encoder):
    x = np.array([[3.0, 4.0, 5.0], [0.0, 0.0, 2.0]])
    assert np.allclose(Truncation(2).transform(x), [[0.6, 0.8], [0, 0]])
    assert Truncation(2).transform(x).dtype == np.float32
    short = encoder | Truncation(5)
    assert isinstance(short, Composed) and short.dim == 5
    assert short.encode(TEXTS).shape == (len(TEXTS), 5) and short.name.endswith("first 5")
    assert np.allclose(Truncation(3).transform(Truncation(8).transform(np.abs(U.numpy()))),
                       Truncation(3).transform(np.abs(U.numpy())), atol=1e-6)
