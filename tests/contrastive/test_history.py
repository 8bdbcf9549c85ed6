"""The history says what evaluation says, and NaN where nothing was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lessons_lib.contrastive import CoSent, SimCse
from lessons_lib.contrastive.history import SAMPLE, History, Watch, spearman
from lessons_lib.datasets import SentencePairs
from lessons_lib.evaluation import evaluate
from lessons_lib.isotropy import singular_spectrum

FAST = {"batch_size": 8, "learning_rate": 1e-3, "device": "cpu"}


def test_a_watch_measures_what_evaluation_does(encoder, pairs):
    found, wanted = Watch(pairs)(encoder), evaluate(encoder, pairs, bootstrap=0)[pairs.name]
    assert found["dev"] == pytest.approx(wanted.spearman, abs=1e-12)
    assert found["alignment"] == pytest.approx(wanted.alignment, rel=1e-5)
    assert found["uniformity"] == pytest.approx(wanted.uniformity, rel=1e-5)


def test_alignment_is_of_pairs_above_four_of_five(encoder, texts):
    pairs = SentencePairs(texts[:4], texts[4:8], np.array([4.0, 4.1, 0.0, 1.0]), name="four")
    u, v = (x / np.linalg.norm(x) for x in encoder.encode([texts[1], texts[5]]))
    cosine = u @ v
    assert Watch(pairs)(encoder)["alignment"] == pytest.approx(2 - 2 * cosine, rel=1e-4)
    other = replace(pairs, score=pairs.score / 5, scale=(0.0, 1.0))
    assert Watch(other)(encoder)["alignment"] == pytest.approx(Watch(pairs)(encoder)["alignment"])
    apart = replace(pairs, score=np.array([1.0, 2.0, 3.0, 4.0]))
    assert np.isnan(Watch(apart)(encoder)["alignment"])


def test_the_spectrum_is_that_of_a_fixed_sample_of_unit_vectors(encoder, pairs):
    spectrum = Watch(pairs, seed=1)(encoder)["spectrum"]
    texts = list(dict.fromkeys([*pairs.sentence1, *pairs.sentence2]))
    assert len(texts) <= SAMPLE
    vectors = encoder.encode(texts)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(spectrum, singular_spectrum(unit), atol=1e-6)
    assert spectrum[0] == 1.0 and np.all(np.diff(spectrum) <= 0)


def test_spearman_is_the_textbook_s():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 40).astype(float), rng.normal(size=40)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert np.isnan(spearman(np.ones(3), np.arange(3.0)))


def test_a_history_has_a_line_before_training(encoder, texts, pairs):
    found = CoSent(encoder, steps=4, evaluate_every=2, **FAST).fit(pairs, pairs).history_
    assert isinstance(found, History) and found.step.tolist() == [0, 2, 4]
    assert np.isnan(found.loss[0]) and np.isfinite(found.loss[1:]).all()
    before = evaluate(encoder, pairs, bootstrap=0)[pairs.name]
    assert found.dev[0] == pytest.approx(before.spearman)
    assert found.uniformity[0] == pytest.approx(before.uniformity, rel=1e-5)
    assert found.spectrum.shape == (3, 16) and len(found) == 3 and found.rate[0] == 0
    assert found.rate[2] < found.rate[1]


def test_without_dev_pairs_only_the_loss_is_noted(encoder, texts):
    found = SimCse(encoder, steps=40, **FAST | {"batch_size": 4}).fit(texts).history_
    assert len(found) == 21 and np.isfinite(found.loss[1:]).all()
    assert found.spectrum.shape == (21, 0) and found.kept == "last" and found.best == 20
    assert np.isnan(found.dev).all() and np.isnan(found.alignment).all()
    assert np.isnan(found.uniformity).all()


def test_E05_steps_with_nothing_to_order_are_counted(encoder, texts):
    pairs = (texts[:9], texts[9:18], [1.0] * 8 + [2.0])
    trainer = CoSent(encoder, steps=5, evaluate_every=1, **FAST | {"batch_size": 2})
    found = trainer.fit(pairs).history_
    assert found.idle[0] == 0 and found.idle[-1] >= 3
    assert (found.loss[1:][np.diff(found.idle) > 0] == 0).all()
