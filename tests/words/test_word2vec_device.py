"""Word2Vec where the kernel trains: what a device asks for, models that wander between machines,
and a whole run through the kernel.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import torch

from lessons_lib import kernels
from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels.interpreter import interpreting
from lessons_lib.words import Word2Vec

SMALL = [["a", "b", "c", "d"], ["b", "a", "d", "c"]]


def language(n):
    """Sentences about one of two worlds whose words never meet."""
    rng = np.random.default_rng(0)
    return [[f"{('sea', 'field')[i % 2]}{k}" for k in rng.integers(8, size=6)] for i in range(n)]


def test_a_model_of_a_gpu_is_read_without_one_and_says_so_when_it_should_train(
        tmp_path, monkeypatch):
    model = Word2Vec(dim=4, min_count=1, epochs=1).fit(SMALL)
    model.set_params(device="cuda", deterministic=False)
    model.save(tmp_path / "m")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = Word2Vec.load(tmp_path / "m")
    assert found.device == "cuda" and np.array_equal(found.vectors_.matrix, model.vectors_.matrix)
    before = found.counts_.copy()
    for train in (found.partial_fit, found.fit):
        with pytest.raises(BackendUnavailable, match='device="cuda" cannot be used.*Take '
                                                     'device="cpu"'):
            train(SMALL)
    assert np.array_equal(found.counts_, before)
    found.set_params(device="cpu").partial_fit(SMALL)


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or not interpreting(),
    reason="Triton's interpreter is off")
def test_a_run_through_the_kernel_learns_what_the_processor_learns():
    settings = {
        "dim": 5, "min_count": 1, "epochs": 2, "window": 2, "negatives": 2, "deterministic": False
    }
    expected = Word2Vec(**settings).fit(SMALL)
    with kernels.use_backend("triton"):
        found = Word2Vec(**settings).fit(SMALL)
    np.testing.assert_allclose(found.vectors_.matrix, expected.vectors_.matrix, atol=1e-6)
    np.testing.assert_allclose(found.history_, expected.history_, rtol=1e-5)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("architecture", ["skip_gram", "cbow"])
@pytest.mark.parametrize("objective", ["negative_sampling", "hierarchical_softmax"])
def test_gpu_words_of_one_world_come_together(architecture, objective, tmp_path):
    model = Word2Vec(dim=20, min_count=1, epochs=30, sample=0.0, learning_rate=0.05,
                     architecture=architecture, objective=objective, device="cuda",
                     deterministic=False).fit(language(2000))
    assert all(word.startswith("sea") for word, _ in model.vectors_.most_similar("sea3", topn=5))
    model.save(tmp_path / "m")
    Word2Vec.load(tmp_path / "m").partial_fit(language(50))
