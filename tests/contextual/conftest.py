"""A text of two worlds, its pieces, and a recipe that is done in a second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lessons_lib.contextual import TokenStream, WordPiece, prepare_tokens
from lessons_lib.contextual.recipes import RECIPES

WORDS = ("sea", "field", "ships", "sail", "cows", "graze", "unbelievable", "walking", "talker", "harbour")


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Models this small are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def texts() -> list[str]:
    rng = np.random.default_rng(0)
    return ["\n".join(" ".join(rng.choice(WORDS, size=rng.integers(3, 40))) + "." for _ in range(10)) for _ in range(40)]


@pytest.fixture(scope="package")
def pieces(texts) -> WordPiece:
    return WordPiece.train(texts, size=80)


@pytest.fixture(scope="package")
def stream(texts, pieces) -> TokenStream:
    return prepare_tokens(texts, pieces, held_out=0.2, data={"source": "two worlds"})


@pytest.fixture
def recipe():
    return replace(RECIPES["smoke"], dim=16, feed_forward=32, batch=4, tokens=4 * 32 * 12)
