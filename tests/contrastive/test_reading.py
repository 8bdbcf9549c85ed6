"""A `Reading` gives what the encoder gives, gradients of transformers, masks of one number."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contextual import ContextualEncoder, Pooling
from lessons_lib.contextual.readers import OtherReader
from lessons_lib.contrastive.reading import Reading, derived_seed
from lessons_lib.core import DataWarning

POOLINGS = ("cls", "last", "max", "first-last", "static-last", "last-2", "all")


@pytest.fixture(scope="module")
def other(encoder):
    """The same weights in the model of transformers, dropout .3."""
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(**{k: v for k, v in encoder.reader.model.size.to_config().items()
                                    if k != "architectures"}, attn_implementation="eager"),
                      add_pooling_layer=True)
    model.load_state_dict(encoder.reader.model.state_dict())
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.3
    return ContextualEncoder(OtherReader(model.eval(), has_pooler=True), encoder.tokenizer,
                             name="other")


def rows_of(texts, repeats=1):
    return np.tile(np.arange(len(texts)), repeats)


def read(learner, texts, **options):
    return learner(learner.number(texts), rows_of(texts), **options)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("kind", ["encoder", "other"])
def test_without_dropout_vectors_are_those_of_the_encoder(request, texts, kind, pooling):
    encoder = request.getfixturevalue(kind)
    found = read(Reading(encoder, pooling=pooling, dropout=0.5), texts).detach().numpy()
    assert np.abs(found - encoder.encode_each(texts, [pooling])[0]).max() <= 1e-6


@pytest.mark.parametrize("pooling", POOLINGS)
def test_gradients_are_those_of_transformers(encoder, other, texts, pooling):
    found = []
    for one in (encoder, other):
        learner = Reading(one, pooling=pooling)
        weights = torch.linspace(-1, 1, learner.dim)
        (read(learner, texts) @ weights).square().sum().backward()
        found.append({name: p.grad for name, p in learner.model.named_parameters()
                      if p.grad is not None})
    scale = max(g.abs().max() for g in found[1].values())
    assert found[0].keys() == found[1].keys() and scale > 0.1
    assert max((g - found[1][name]).abs().max() for name, g in found[0].items()) <= 2e-6 * scale


def test_gradients_are_finite_differences(encoder, texts):
    learner = Reading(encoder, dropout=0.3)
    learner.model.double()
    table = learner.model.embeddings.word_embeddings.weight
    weights = torch.linspace(-1, 1, learner.dim)

    def loss():
        return (read(learner, texts[:6], seed=5).double() @ weights.double()).square().sum()

    loss().backward()
    piece, step = int(table.grad.abs().sum(1).argmax()), 1e-3
    direction = torch.zeros_like(table)
    direction[piece] = table.grad[piece] / table.grad[piece].norm()
    with torch.no_grad():
        ends = [loss() for table.data in (table.data + step * direction,
                                          table.data - step * direction)]
    assert ((ends[0] - ends[1]) / (2 * step)).item() == pytest.approx(
        (table.grad * direction).sum().item(), rel=1e-3)


@pytest.mark.parametrize("pooling", [Pooling("last", special_tokens=False),
                                     Pooling("mean", layer=1)])
def test_a_pooling_with_settings_is_read_and_handed_on(encoder, texts, pooling):
    learner = Reading(encoder, pooling=pooling)
    expected = encoder.encode_each(texts, [pooling])[0]
    assert np.abs(read(learner, texts).detach().numpy() - expected).max() <= 1e-6
    assert np.abs(learner.encoder().encode(texts) - expected).max() <= 1e-6


def test_rows_may_repeat_and_a_text_without_a_token_is_a_zero_vector(encoder, texts):
    learner = Reading(encoder)
    numbered, rows = learner.number(texts), np.array([7, 3, 3, 0, 11, 7])
    whole = learner(numbered, rows_of(texts))
    assert torch.allclose(learner(numbered, rows), whole[rows], atol=1e-6)
    numbered = learner.number(["sea", "ships"])
    some = type(numbered)(numbered.ids, numbered.places, numbered.offsets[[0, 1, 1, 2]])
    found = learner(some, np.array([0, 1, 2, 1]))
    assert not found[[1, 3]].any() and found[[0, 2]].abs().min() > 0
    (found[1].sum() + learner(some, np.array([1])).sum()).backward()
    assert not any(p.grad is not None and p.grad.any() for p in learner.parameters())


@pytest.mark.parametrize("kind", ["encoder", "other"])
def test_the_same_seed_gives_the_same_bits_and_another_gives_another_mask(request, texts, kind):
    learner = Reading(request.getfixturevalue(kind), dropout=0.2)
    a, b, c = (read(learner, texts, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(a, b) and (a - c).abs().max() > 1e-2
    twice = learner(learner.number(texts), rows_of(texts, 2), seed=0)     # each row has its own
    assert ((twice[: len(texts)] - twice[len(texts) :]).norm(dim=1) > 1e-2).all()


@pytest.mark.parametrize("kind", ["encoder", "other"])
def test_70_with_a_share_of_0_or_no_seed_both_views_are_equal(request, texts, kind):
    encoder = request.getfixturevalue(kind)
    none, full = Reading(encoder, dropout=0.0), Reading(encoder, dropout=0.2)
    assert torch.equal(read(none, texts, seed=0), read(none, texts, seed=1))
    assert torch.equal(read(none, texts, seed=0), read(full, texts, seed=None))


def test_the_share_of_the_model_is_kept_unless_another_is_given(other, texts):
    kept, set_so, changed = (Reading(other, dropout=dropout) for dropout in (None, 0.3, 0.1))
    assert torch.equal(read(kept, texts, seed=1), read(set_so, texts, seed=1))
    assert (read(kept, texts, seed=1) - read(changed, texts, seed=1)).abs().max() > 1e-2


def test_units_are_left_out_with_the_share_that_was_asked_for(encoder):
    learner, shares = Reading(encoder, pooling="static-last", dropout=0.25), []
    embeddings = learner.model.embeddings
    embeddings.LayerNorm.register_forward_hook(lambda part, given, out: torch.ones_like(out))
    embeddings.dropout.register_forward_hook(
        lambda part, given, out: shares.append((out == 0).float().mean()))
    read(learner, ["sea ships sail " * 9] * 40, seed=0)
    assert float(shares[0]) == pytest.approx(0.25, abs=0.015)


def test_torch_s_random_state_is_left_alone_and_seeds_of_different_numbers_differ(encoder, texts):
    learner, before = Reading(encoder, dropout=0.2), torch.get_rng_state()
    read(learner, texts, seed=9)
    assert torch.equal(torch.get_rng_state(), before)
    assert len({derived_seed(*numbers) for numbers in ((0,), (0, 0), (0, 1), (1, 0), (1, 1))}) == 5
    assert derived_seed(4, 7) == derived_seed(4, 7) >= 0


def test_the_encoder_is_never_changed(encoder, texts):
    before, learner = encoder.encode(texts), Reading(encoder, dropout=0.5)
    optimizer = torch.optim.SGD(learner.parameters(), lr=1.0)
    read(learner, texts, seed=0).square().sum().backward()
    optimizer.step()
    assert np.array_equal(encoder.encode(texts), before)
    assert encoder.reader.model.size.dropout == 0.0
    assert np.abs(learner.encoder().encode(texts) - before).max() > 1e-2
    frozen = learner.encoder()                    # whose copy learns all the same
    assert not any(p.requires_grad for p in frozen.reader.model.parameters())
    read(Reading(frozen), texts).sum().backward()


def test_the_encoder_with_the_weights_of_now_is_a_copy_unless_it_shall_go_along(encoder, texts):
    learner = Reading(encoder, pooling="cls", dropout=0.5)
    copy, along = learner.encoder(), learner.encoder(copy=False)
    assert np.array_equal(copy.encode(texts), along.encode(texts)) and copy.pooling == "cls"
    with torch.no_grad():
        learner.model.embeddings.LayerNorm.bias += 1.0
    assert np.abs(copy.encode(texts) - along.encode(texts)).max() > 1e-2
    assert learner.model.training
    assert not any(p.requires_grad for p in copy.reader.model.parameters())


def test_bfloat16_is_near_and_gradients_stay_float32(encoder, texts):
    exact, half = Reading(encoder), Reading(encoder, precision="bfloat16")
    vectors = read(half, texts)
    vectors.square().sum().backward()
    assert vectors.dtype == torch.float32 == half.model.embeddings.word_embeddings.weight.grad.dtype
    error = ((vectors - read(exact, texts)).norm(dim=1) / read(exact, texts).norm(dim=1)).max()
    assert 1e-5 < error < 0.03


def test_E09_a_text_that_is_too_long_is_cut_with_one_warning_or_refused(encoder):
    long = ["sea ships sail harbour waves", "sea"]
    with pytest.warns(DataWarning, match=r"1 of 2 texts .* max_length=5 .* texts\[0\]"):
        assert Reading(encoder, max_length=5).number(long).lengths.tolist() == [5, 3]
    strict = ContextualEncoder(**encoder.get_params() | {"truncation": "error"})
    with pytest.raises(ValueError, match=r"texts\[0\] has 7 tokens"):
        Reading(strict, max_length=5).number(long)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_gpu_gives_the_vectors_and_gradients_of_the_processor_and_repeats_its_masks(
        encoder, texts):
    here, there = Reading(encoder, dropout=0.2), Reading(encoder, dropout=0.2).to("cuda")
    for learner in (here, there):
        read(learner, texts).sin().sum().backward()
    for (name, p), q in zip(here.model.named_parameters(), there.model.parameters(), strict=True):
        assert p.grad is None or (
            p.grad - q.grad.cpu()).abs().max() <= 1e-3 * max(1.0, float(p.grad.abs().max())), name
    before = torch.cuda.get_rng_state()
    assert torch.equal(read(there, texts, seed=4), read(there, texts, seed=4))
    assert torch.equal(torch.cuda.get_rng_state(), before)
    assert (read(there, texts, seed=4) - read(there, texts, seed=5)).abs().max() > 1e-2
