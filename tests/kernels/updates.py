"""States of windows, parts of words and documents to be tested, and what one pass does to them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from lessons_lib import kernels
from lessons_lib.kernels.window_update.state import checked_settings

NOISE, TREE = OBJECTIVES = ("negative_sampling", "hierarchical_softmax")
MODELS = [{"model": "dbow"}, {"model": "dbow", "train_words": True}, {"model": "dm"},
          {"model": "dm", "share_error": True}, {"model": "dm", "combine": "sum"},
          {"model": "dm", "combine": "concat"}]
WORDS = [{"architecture": "skip_gram"}, {"architecture": "cbow"},
         {"architecture": "cbow", "share_error": True}]
DOCUMENTS = [*MODELS[:2], *MODELS[3:], {"model": "dm", "frozen": True}]
KINDS = [(family, options | {"objective": objective})
         for family, some in (("window", WORDS), ("subword", WORDS), ("document", DOCUMENTS))
         for options, objective in itertools.product(some, OBJECTIVES)]
EACH = pytest.mark.parametrize(("family", "options"), KINDS,
                               ids=[f"{f}-{'-'.join(map(str, o.values()))}" for f, o in KINDS])


def make(family="window", options=None, d=20, *, n_words=30, n=300, documents=10, seed=0, tags=2,
         scale=0.3, **more):
    """Zipf's words; 1 to 8 rows for each word where words have parts, tags for each document."""
    rng, options = np.random.default_rng(seed), options or {}
    words = np.minimum(rng.zipf(1.5, size=n) - 1, n_words - 1)
    side = options.get("combine") == "concat"
    tags, parts, n_tags = 1 if side else tags, 5 if side else 1, max(documents, tags)
    rows = {"window": n_words, "subword": 50, "document": n_words + 1 + n_tags}[family]
    lists = {}
    if family == "subword":
        bounds = np.concatenate([[0], np.cumsum(rng.integers(1, 9, size=n_words))])
        lists = {"rows": rng.integers(0, 50, size=bounds[-1]), "row_offsets": bounds}
    if family == "document":
        each = ([np.arange(documents)] if tags == 1 else
                [rng.choice(n_tags, size=tags, replace=False) for _ in range(documents)])
        lists = {"tags": np.concatenate(each), "tag_offsets": tags * np.arange(documents + 1)}
    return getattr(kernels, f"{family.title()}State")(
        words, np.linspace(0, n, documents + 1).astype(int), rng.normal(size=(rows, d)) * scale,
        rng.normal(size=(n_words - (options.get("objective") == TREE), d * parts)) * scale,
        np.bincount(words, minlength=n_words) + 1, **({"sample": 0.05} | lists | more))


def trained(start, family="window", options=None, **more):
    """The state after one pass, and what the pass returned."""
    settings = {"loss_every": 2, "learning_rate": (0.05, 0.01), "window": 2} | (options or {})
    return start, getattr(kernels, f"{family}_update")(start, **(settings | more))


def assert_same(a, b, *, atol=0.0, loss=1e-4):
    for name in ("inputs", "outputs"):
        torch.testing.assert_close(getattr(a[0], name), getattr(b[0], name), rtol=0, atol=atol)
    assert a[1][1] == b[1][1] and a[1][0] == pytest.approx(b[1][0], rel=loss if atol else 0.0)


def assert_as_the_textbook(made, family="window", options=None, **more):
    """``made()`` twice, learned by vector code and by the textbook; returns the pairs noted."""
    one, other = (trained(made(), family, options, backend=backend, **more)
                  for backend in ("cpu", "reference"))
    assert_same(one, other, atol=5e-6)
    return one[1][1]


def settings_of(state, **options):
    """The checked settings of a pass, as the reference reads them."""
    defaults = {"architecture": "skip_gram", "objective": NOISE, "window": 3, "negatives": 4,
                "learning_rate": (0.05, 0.01), "share_error": False, "loss_every": 2, "seed": 0,
                "epoch": 0, "pieces": None, "threads": 1, "deterministic": False}
    return checked_settings(state, **(defaults | options))


def assert_moved_by_gradients(state, loss, update, *, rate, atol, follows=(True, True)):
    """``update()``, at a tiny rate, moves the inputs and the outputs by −rate times the gradient of
    ``loss(inputs, outputs)``; returns gradients and moves."""
    wide = [getattr(state, name).double().requires_grad_() for name in ("inputs", "outputs")]
    gradients = torch.autograd.grad(loss(*wide), wide)
    update()
    moves = [(new.double() - old.detach()) / rate
             for new, old in zip((state.inputs, state.outputs), wide, strict=True)]
    for follow, moved, gradient in zip(follows, moves, gradients, strict=True):
        assert gradient.abs().max() > 0.01
        if follow:
            torch.testing.assert_close(moved, -gradient, rtol=0, atol=atol)
    return gradients, moves
