"""Clouds of vectors with and without a common mean, on one thread: products this small are slower
on several.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def cloud():
    """Rows of a Gaussian, shifted by ``mean`` in every dimension."""
    def make(n: int = 60, dim: int = 8, *, mean: float = 0.0, seed: int = 0) -> np.ndarray:
        return np.random.default_rng(seed).normal(size=(n, dim)) + mean
    return make


@pytest.fixture
def rotation():
    """A random orthogonal matrix."""
    def make(dim: int = 8, *, seed: int = 9) -> np.ndarray:
        return np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0]
    return make


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that every sum is made of many."""
    from lessons_lib.isotropy import cosines, frequency, in_context, rows, spectrum, whitening

    for module in (cosines, frequency, in_context, rows, spectrum, whitening):
        monkeypatch.setattr(module, "BLOCK", 50)
