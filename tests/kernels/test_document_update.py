"""Document updates: several tags, skip-gram as a special case, the optimum of the theory, and
weights that stay frozen. What they share with windows is tested there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from lessons_lib.kernels import DocumentState, WindowState, document_update, window_update
from lessons_lib.kernels.window_update import state as window_state

from .updates import MODELS, OBJECTIVES, assert_as_the_textbook, assert_same, settings_of
from .updates import make as make_any
from .updates import trained as trained_any


def make(options=None, d=20, **more):
    return make_any("document", options, d, **({"tags": 1} | more))


def trained(start, **options):
    return trained_any(start, "document", options)


@pytest.mark.parametrize("tags", [2, 3, 7])
@pytest.mark.parametrize("negatives", [1, 5, 17])
@pytest.mark.parametrize("model", MODELS[:5])
def test_documents_with_several_tags_and_any_number_of_negatives(model, negatives, tags):
    assert_as_the_textbook(lambda: make(tags=tags), "document", model, negatives=negatives)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(5))
def test_dbow_with_one_word_per_document_is_skip_gram_with_the_document_as_context(objective, seed):
    """In the text "word, document" the first window of skip-gram has the document as its only
    context."""
    rng, rows = np.random.default_rng(seed), (7, 6 if objective == OBJECTIVES[1] else 7)
    inputs, outputs, counts = (rng.normal(size=(rows[0], 20)), rng.normal(size=(rows[1], 20)) * 0.3,
                               np.array([9, 7, 5, 3, 2, 2, 0]))
    how = {"objective": objective, "seed": seed, "learning_rate": 0.1, "loss_every": 0}
    text = WindowState([2, 6], [0, 2], inputs, outputs, counts, sample=0.0)
    window_update(text, **how)
    document = DocumentState([2], [0, 1], np.concatenate([inputs, np.zeros((1, 20)), inputs[6:]]),
                             outputs, counts, sample=0.0, tags=[0], tag_offsets=[0, 1])
    document_update(document, model="dbow", **how)
    assert torch.equal(document.documents[0], text.inputs[6])
    assert not torch.equal(text.inputs[6, :20], torch.from_numpy(inputs[6]).float())


def test_alone_with_its_word_a_document_is_its_own_mean_and_sum():
    """Where no words stand around, every model but the concatenation is PV-DBOW."""
    found = [trained(make(n=30, documents=30, sample=0.0), **model) for model in MODELS[:5]]
    for other in found[1:]:
        assert_same(found[0], other, atol=1e-6)


def test_the_document_s_row_converges_to_shifted_pointwise_mutual_information():  # methods 9.1
    """u·D = log P(w | d) / P_n(w) − log k, with the noise that the centre leaves."""
    rng, n_words, n_docs, k, n = np.random.default_rng(0), 4, 3, 2, 60_000
    p = rng.uniform(0.5, 1.5, size=(n_docs, n_words))
    words = np.concatenate([rng.choice(n_words, size=n // n_docs, p=row / row.sum()) for row in p])
    counts = np.bincount(words, minlength=n_words)
    inputs = np.concatenate([np.zeros((n_words + 1, 8)), rng.normal(size=(n_docs, 8)) * 0.3])
    order = rng.permutation(n)  # a word of one document, then of another: no row is ahead of others
    s = DocumentState(words[order], np.arange(n + 1), inputs, rng.normal(size=(n_words, 8)) * 0.1,
                      counts, sample=0.0, tags=order // (n // n_docs), tag_offsets=np.arange(n + 1))
    mean = np.zeros((n_docs, n_words))
    for epoch in range(60):
        document_update(s, model="dbow", negatives=k, learning_rate=0.05 if epoch < 20 else 5e-4,
                        epoch=epoch, loss_every=0)
        mean += (s.documents @ s.outputs.T).numpy() / 30 if epoch >= 30 else 0.0
    noise = counts**0.75 / (counts**0.75).sum()
    found = np.stack([np.bincount(part, minlength=n_words)
                      for part in words.reshape(n_docs, -1)]) / (n // n_docs)
    np.testing.assert_allclose(mean, np.log(found / (noise * k * (1 - found))), atol=0.06)


@pytest.mark.parametrize(("model", "objective"), itertools.product(MODELS, OBJECTIVES))
def test_frozen_weights_stay_bit_by_bit_and_only_documents_move(model, objective):
    s = make(model | {"objective": objective})
    before = s.inputs.clone(), s.outputs.clone()
    trained(s, objective=objective, frozen=True, **model)
    n = len(s.counts) + 1
    assert torch.equal(s.inputs[:n], before[0][:n]) and torch.equal(s.outputs, before[1])
    assert (s.documents != before[0][n:]).any(dim=1).all()


def test_new_documents_learn_the_same_in_any_company_and_order():
    s = make()
    rng, numbers = (np.random.default_rng(1),
                    np.arange(5, dtype=np.uint64) * np.uint64(2**63 + 12345))
    texts, rows = ([rng.integers(0, 30, size=n) for n in (4, 9, 0, 1, 30)],
                   rng.normal(size=(5, 20)).astype(np.float32) * 0.1)

    def learned(which, **options):
        offsets = np.concatenate([[0], np.cumsum([len(texts[i]) for i in which])])
        new = s.for_new(np.concatenate([texts[i] for i in which]), offsets, rows[which],
                        numbers[which])
        for epoch in range(3):
            document_update(new, frozen=True, epoch=epoch, window=2, **options)
        return new.documents

    for model in MODELS[:5]:
        whole = learned([0, 1, 2, 3, 4], **model)
        torch.testing.assert_close(learned([4, 2, 0], **model), whole[[4, 2, 0]], rtol=0, atol=0)
        assert torch.equal(whole[2, :20], torch.from_numpy(
            rows[2])) and not torch.equal(whole[3, :20], torch.from_numpy(rows[3]))
    with pytest.raises(ValueError, match=r"frozen=False.*expected frozen=True"):
        document_update(s.for_new(texts[0], [0, 4], rows[:1], numbers[:1]))


def test_pieces_of_a_long_document_share_its_row_and_draw_apart(monkeypatch):
    monkeypatch.setattr(window_state, "PIECE", 40)
    for backend in ("cpu", "reference"):
        s = make(documents=3)
        trained(s, backend=backend, model="dbow")
        assert (s.n_pieces == 9
                and [s.tags_of(i).tolist() for i in range(9)] == [[0]] * 3 + [[1]] * 3 + [[2]] * 3)
    new = s.for_new(s.words[:90], np.array([0, 85, 85, 90]), np.zeros((3, 20), np.float32),
                    np.array([5, 6, 70], np.uint64))
    how = settings_of(new, window=1, negatives=1)
    assert new.n_pieces == 5 and len(set(new.keys(how).tolist())) >= 4


def test_padding_stays_zero_also_between_the_parts_of_a_row():
    found = trained(make(MODELS[5]), **MODELS[5])[0]
    outputs = found.outputs.view(30, 5, 32)
    assert not outputs[:, :, 20:].any() and not found.inputs[:, 20:].any()
    assert np.array_equal(found.plain_outputs, outputs[:, :, :20].reshape(30, 100).numpy())
