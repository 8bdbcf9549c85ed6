"""Rebuilding sentences from their vectors: the decoder does look at the vector."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from lessons_lib.contextual.tokenizer import SPECIAL
from lessons_lib.contrastive import AutoEncoding, SimCse
from lessons_lib.contrastive.auto_encoding import hidden_places, rebuild_loss

SEA, FIELD = ("ships", "sail", "waves", "harbour", "sea"), ("cows", "graze", "field", "talker",
                                                             "walking")
FAST = {"head": "fresh", "steps": 4, "batch_size": 4, "learning_rate": 1e-2, "dropout": 0.0}


def some_texts(n: int = 24) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(SEA if k % 2 else FIELD, size=4 + k % 4)) for k in range(n)]


@pytest.mark.parametrize("share", [0.0, 0.15, 0.5, 1.0])
def test_the_asked_share_of_every_text_is_hidden_and_never_a_special_token_or_padding(share):
    ids = torch.randint(len(SPECIAL), 60, (6, 22), generator=torch.Generator().manual_seed(0))
    ids[:, 0] = SPECIAL.index("[CLS]")
    seen = torch.arange(22) < torch.tensor([22, 21, 11, 5, 2, 1])[:, None]
    hidden = hidden_places(ids, seen, share=share, seed=3)
    inner = [21, 20, 10, 4, 1, 0]
    assert hidden.sum(dim=1).tolist() == [max(1, round(share * n)) if n and share else 0
                                          for n in inner]
    assert not hidden[:, 0].any() and not (hidden & ~seen).any()
    ids, seen = torch.full((4, 30), 40), torch.ones(4, 30, dtype=torch.bool)
    one, again, other = (hidden_places(ids, seen, share=share, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one, again) and (share in (0, 1) or not torch.equal(one, other))
    assert share in (0, 1) or not torch.equal(one[0], one[1])


def test_a_text_is_worth_as_much_as_another_however_much_of_it_is_hidden():
    scores = torch.zeros(5, 8)
    # the first guess is certain and right, the others are even
    scores[0, 3] = 50.0
    found = rebuild_loss(scores, torch.tensor([3, 1, 1, 1, 2]), torch.tensor([0, 1, 1, 1, 3]), 4)
    assert torch.allclose(found, torch.tensor([0.0, np.log(8), 0.0, np.log(8)],
                                              dtype=torch.float32), atol=1e-6)


def test_it_learns_and_its_decoder_is_thrown_away(encoder):
    model = AutoEncoding(encoder, **FAST | {"steps": 40, "learning_rate": 5e-3}).fit(some_texts())
    assert model.history_.loss[-1] < 0.9 * model.history_.loss[1]
    assert model.name == f"{encoder.name} + auto-encoding"
    assert not hasattr(model.encoder_.reader.model, "decoder")


def test_afterwards_the_decoder_needs_the_vector_of_this_text_and_no_other(encoder):
    texts = some_texts()
    model = AutoEncoding(encoder, **FAST | {"steps": 70, "batch_size": 12, "learning_rate": 1e-2,
                                         "decoder_hides": 1.0, "own_weight": 0.0}).fit(texts)
    # the neighbour is of the other world
    own, other = model.rebuilt(texts, shift=0), model.rebuilt(texts, shift=1)
    assert own.mean() < 0.8 * other.mean() and own.shape == (24,)


def test_parts_of_a_batch_give_the_loss_of_the_whole_where_nothing_is_drawn_for_them(encoder):
    settings = (FAST | {"decoder_hides": 1.0, "encoder_hides": 0.0, "own_weight": 0.0, "steps": 1,
                        "batch_size": 8})
    whole, parts = (AutoEncoding(encoder, chunk=chunk, **settings).fit(some_texts(8))
                    for chunk in (None, 3))
    assert whole.history_.loss[-1] == pytest.approx(parts.history_.loss[-1], rel=1e-5)
    for a, b in zip(whole.encoder_.reader.model.parameters(),
                    parts.encoder_.reader.model.parameters(), strict=True):
        assert torch.allclose(a, b, atol=2e-4)


def test_a_folder_gives_back_the_encoder_and_what_rebuilds(encoder, tmp_path):
    model = AutoEncoding(encoder, **FAST).fit(some_texts())
    model.save(tmp_path / "model")
    again = AutoEncoding.load(tmp_path / "model")
    assert np.allclose(again.encode(some_texts()), model.encode(some_texts()), atol=1e-6)
    assert np.allclose(again.rebuilt(some_texts()), model.rebuilt(some_texts()), atol=1e-4)


def test_the_same_seed_gives_the_same_vectors_and_another_one_others(encoder):
    vectors = [AutoEncoding(encoder, seed=seed, **FAST).fit(some_texts()).encode(some_texts())
               for seed in (0, 0, 1)]
    assert np.array_equal(vectors[0], vectors[1]) and not np.allclose(vectors[0], vectors[2])


def test_what_it_gives_can_be_trained_on(encoder):
    first = AutoEncoding(encoder, **FAST).fit(some_texts())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second = SimCse(first.encoder_, head="none", steps=2, batch_size=4).fit(some_texts())
    assert second.dim == 16 and second.name.endswith("auto-encoding + SimCSE")
