"""The step of contrastive training is raced on a few sentences, and its gate sees gradients that differ."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.bench import contrastive, suite
from lessons_lib.bench.measure import measure


@pytest.fixture(scope="module")
def sides():
    texts = contrastive._sentences(6)
    ours = contrastive._Ours(texts)
    return ours, contrastive._Plain(ours.encoder, texts)


def test_a_step_is_timed_beside_the_peer_and_judged():
    row, = (measure(case, repeats=1) for case in contrastive.cases(sizes=contrastive.Sizes(batch=4)))
    assert row.name == "SimCSE step fp32, 4 sentences twice, 4 x 256, 1 thread" and row.items == 8 and row.value > 0


def test_the_gate_sees_other_weights_and_a_missing_gradient(sides, monkeypatch):
    ours, theirs = sides
    assert contrastive._same(ours, theirs)
    with torch.no_grad():
        theirs.model.encoder.layer[3].output.dense.weight *= 1.01
    assert not contrastive._same(ours, theirs)
    with torch.no_grad():
        theirs.model.encoder.layer[3].output.dense.weight /= 1.01
    monkeypatch.setattr(type(ours), "gradients", lambda self: {})
    assert not contrastive._same(ours, theirs)


def test_a_step_changes_nothing_so_that_every_run_is_the_same(sides):
    before = sides[0].encoder.encode(["a sentence"])
    assert sides[0].step() == sides[0].step() > 0
    assert np.array_equal(sides[0].reading.encoder().encode(["a sentence"]), before)


def test_reading_in_parts_gives_the_loss_of_the_same_masks_without_caching(sides):
    texts = contrastive._sentences(6)
    whole, parts = sides[0], contrastive._Ours(texts, part=5)
    assert parts.loss_and_gradients(dropout=False) == pytest.approx(whole.loss_and_gradients(dropout=False), rel=1e-5)
    for work in (contrastive.cached_step, contrastive.direct_step):
        assert work(3)() == 0


def test_it_is_a_group_of_the_suite():
    assert "contrastive" in suite.groups()
